//! Rankings, with the places that chance decides.

use results::BetterDirection;
use stats::WelchTest;

use crate::{BoardTable, CheckedSubmission, MeasuredValue};

/// Probability of a difference by chance below which two means differ.
const SIGNIFICANCE: f64 = 0.05;

/// The ranking of one table, the best first. Refused submissions are not ranked.
#[derive(Debug, Clone, PartialEq)]
pub struct BoardRanking<'a> {
    /// The table.
    pub table: &'a BoardTable,
    /// The ranked submissions.
    pub places: Vec<RankedPlace<'a>>,
}

/// A submission in a ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedPlace<'a> {
    /// The submission.
    pub submission: &'a CheckedSubmission,
    /// The value that ranks.
    pub value: &'a MeasuredValue,
    /// Best and worst place that it may have: chance alone may decide between them.
    pub range: [usize; 2],
}

impl<'a> BoardRanking<'a> {
    /// Ranks the submissions that have values in a table.
    #[must_use]
    pub fn of(table: &'a BoardTable, submissions: &'a [CheckedSubmission]) -> Self {
        let accepted = submissions.iter().filter(|it| !it.is_refused());
        let ranked = accepted.filter_map(|submission| {
            let values = submission.values.iter().find(|it| it.table == table.name)?;
            let value = values.columns.get(&table.rank_by)?;
            Some((submission, value))
        });
        let mut ranked: Vec<(&CheckedSubmission, &MeasuredValue)> = ranked.collect();
        let order = |a: f64, b: f64| match table.better() {
            BetterDirection::Lower => a.total_cmp(&b),
            _ => b.total_cmp(&a),
        };
        // The name decides between equal values, so that the order depends on nothing else.
        ranked.sort_by(|a, b| order(a.1.mean, b.1.mean).then_with(|| a.0.slug.cmp(&b.0.slug)));
        let mut ranges = vec![[1, ranked.len()]; ranked.len()];
        // Each pair once: a test per pair is most of the work for a thousand systems.
        for (better, (_, value)) in ranked.iter().enumerate() {
            for (worse, (_, other)) in ranked.iter().enumerate().skip(better + 1) {
                if !is_tied(value, other) {
                    ranges[worse][0] += 1;
                    ranges[better][1] -= 1;
                }
            }
        }
        let places = ranked.into_iter().zip(ranges);
        let places = places.map(|((submission, value), range)| RankedPlace {
            submission,
            value,
            range,
        });
        let places = places.collect();
        Self { table, places }
    }

    /// Returns the place of a submission.
    #[must_use]
    pub fn place(&self, slug: &str) -> Option<(usize, &RankedPlace<'a>)> {
        let mut places = self.places.iter().enumerate();
        places.find(|(_, it)| it.submission.slug == slug)
    }

    /// Describes the places that chance may decide, in one sentence per group.
    #[must_use]
    pub fn ties(&self) -> Vec<String> {
        let mut groups: Vec<[usize; 2]> = Vec::new();
        for place in &self.places {
            let [first, last] = place.range;
            if first < last && !groups.contains(&place.range) {
                groups.push(place.range);
            }
        }
        // A group within another one says nothing new.
        let is_within = |a: &[usize; 2], b: &[usize; 2]| a != b && a[0] >= b[0] && a[1] <= b[1];
        let all = groups.clone();
        groups.retain(|it| !all.iter().any(|other| is_within(it, other)));
        let sentence = |[first, last]: [usize; 2]| {
            let number = if last == first + 1 { "and" } else { "to" };
            format!("Places {first} {number} {last} cannot be told apart.")
        };
        groups.into_iter().map(sentence).collect()
    }

    /// Describes the place of a submission, such as "4th of 23 by IOPS (120), between A and B".
    #[must_use]
    pub fn standing(&self, slug: &str) -> Option<String> {
        let (index, place) = self.place(slug)?;
        let name = |index: usize| {
            self.places
                .get(index)
                .map(|it| it.submission.title.as_str())
        };
        let ahead = index.checked_sub(1).and_then(name);
        let between = match (ahead, name(index + 1)) {
            (Some(ahead), Some(behind)) => format!("between {ahead} and {behind}"),
            (None, Some(behind)) => format!("ahead of {behind}"),
            (Some(ahead), None) => format!("behind {ahead}"),
            (None, None) => "alone".to_owned(),
        };
        let tied = self
            .places
            .iter()
            .enumerate()
            .filter(|(other, it)| *other != index && is_tied(place.value, it.value));
        let tied: Vec<&str> = tied.map(|(_, it)| it.submission.title.as_str()).collect();
        let tied = match tied.as_slice() {
            [] => String::new(),
            [first, second, third, rest @ ..] if !rest.is_empty() => {
                format!(
                    ", tied with {first}, {second}, {third} and {} more",
                    rest.len()
                )
            }
            all => format!(", tied with {}", all.join(", ")),
        };
        Some(format!(
            "{} of {} by {} ({}), {between}{tied}",
            units::format::ordinal(index + 1),
            self.places.len(),
            self.table.rank_by,
            place.value.text(),
        ))
    }
}

/// Returns `true` if nothing shows that two values differ. A value without repetitions has no known
/// interval: it is tied only with an equal one, and with an interval that contains it.
#[must_use]
pub fn is_tied(a: &MeasuredValue, b: &MeasuredValue) -> bool {
    // Disjoint intervals need no test, and most pairs of a long table have them.
    if let (Some([a_low, a_high]), Some([b_low, b_high])) = (a.interval, b.interval)
        && (a_high < b_low || b_high < a_low)
    {
        return false;
    }
    if let (Some(a), Some(b)) = (&a.estimate, &b.estimate)
        && let Some(test) = WelchTest::of(a, b)
    {
        return test.p_value >= SIGNIFICANCE;
    }
    let contains = |it: &MeasuredValue, mean: f64| {
        it.interval
            .is_some_and(|[low, high]| (low..=high).contains(&mean))
    };
    a.mean == b.mean || contains(a, b.mean) || contains(b, a.mean)
}

#[cfg(test)]
mod tests {
    use stats::Estimate;

    use super::*;
    use crate::{BoardConfig, BoardError, Values};

    fn measured(samples: &[f64]) -> MeasuredValue {
        let estimate = Estimate::from_samples(samples).unwrap();
        MeasuredValue {
            mean: estimate.mean,
            n: estimate.n,
            interval: estimate
                .ci95_low
                .zip(estimate.ci95_high)
                .map(<[f64; 2]>::from),
            printed: None,
            estimate: Some(estimate),
        }
    }

    fn submission(slug: &str, value: MeasuredValue) -> CheckedSubmission {
        let error = BoardError::Record {
            file: String::new(),
            message: String::new(),
        };
        let mut it = CheckedSubmission::unreadable(slug, &error);
        it.findings.clear();
        it.title = slug.to_uppercase();
        it.values.push(Values {
            table: "t".to_owned(),
            work: None,
            columns: [("IOPS".to_owned(), value)].into(),
        });
        it
    }

    fn config(better: &str) -> BoardConfig {
        let text = format!(
            "format = \"pgmeter-board/1\"\ntitle = \"T\"\nrules_edition = 1\n[[table]]\n\
             name = \"t\"\n\
             title = \"t\"\ncommand = \"c\"\nwork = \"0\"\nrank_by = \"IOPS\"\n[[table.column]]\n\
             name = \"IOPS\"\nbetter = \"{better}\"\n"
        );
        BoardConfig::read("board.toml", &text).unwrap()
    }

    #[test]
    fn overlapping_repetitions_are_ties_and_distant_ones_are_not() {
        let all = [
            submission("a", measured(&[100.0, 101.0, 99.0])),
            submission("b", measured(&[100.5, 99.5, 100.0])),
            submission("c", measured(&[50.0, 50.1, 49.9])),
            submission("d", measured(&[100.2])),
        ];
        let config = config("higher");
        let ranking = BoardRanking::of(&config.tables[0], &all);
        let ranges: Vec<[usize; 2]> = ranking.places.iter().map(|it| it.range).collect();
        assert_eq!(ranges, [[1, 3], [1, 3], [1, 3], [4, 4]]);
        assert_eq!(ranking.ties(), ["Places 1 to 3 cannot be told apart."]);
        let standing = ranking.standing("c").unwrap();
        assert_eq!(standing, "4th of 4 by IOPS (50.00), behind B");
        assert!(ranking.standing("a").unwrap().contains("tied with D, B"));
        assert_eq!(ranking.standing("x"), None);
    }

    #[test]
    fn lower_values_can_be_better_and_refused_submissions_are_left_out() {
        let mut all = vec![
            submission("a", measured(&[2.0])),
            submission("b", measured(&[1.0])),
            submission("c", measured(&[0.5])),
        ];
        all[2].add(crate::BoardRule::Rates, "cell 0", "1", "2".to_owned());
        let config = config("lower");
        let ranking = BoardRanking::of(&config.tables[0], &all);
        let slugs: Vec<&str> = ranking
            .places
            .iter()
            .map(|it| it.submission.slug.as_str())
            .collect();
        assert_eq!(slugs, ["b", "a"]);
        assert!(ranking.ties().is_empty());
    }
}
