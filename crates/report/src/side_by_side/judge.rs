//! Which differences between columns are more than chance, over all rows of a table together.
//!
//! Of twenty rows that do not differ, one has an interval beside 1 as a rule. All columns of all
//! rows are compared with each other, and the p-values are corrected by Holm.

use results::Better;
use stats::{Estimate, Ratio};

use super::Section;
use super::rows::{Beyond, Row};

/// The chance that anything is called different in a table in which nothing is.
const LEVEL: f64 = 0.05;

/// Two columns of a row against each other.
struct Test {
    section: usize,
    row: usize,
    /// The columns, and which of them has the better mean.
    columns: [usize; 2],
    better: usize,
    p_value: f64,
}

/// Marks what is more than chance in all rows; returns how many pairs of columns that took.
pub(super) fn judge(sections: &mut [Section]) -> usize {
    let mut tests = Vec::new();
    for (section, rows) in sections.iter().map(|it| &it.rows).enumerate() {
        for (row, it) in rows.iter().enumerate() {
            tests.extend(of_row(it, [section, row]));
        }
    }
    let p_values: Vec<f64> = tests.iter().map(|test| test.p_value).collect();
    let corrected = stats::holm(&p_values);
    for (test, p) in tests.iter().zip(corrected) {
        if p < LEVEL {
            let row = &mut sections[test.section].rows[test.row];
            row.beyond_chance.push(Beyond {
                columns: test.columns,
                better: test.better,
            });
        }
    }
    tests.len()
}

impl Row {
    /// Whether two columns differ by more than chance.
    pub fn differ(&self, one: usize, other: usize) -> bool {
        let columns = [one.min(other), one.max(other)];
        self.beyond_chance.iter().any(|it| it.columns == columns)
    }

    /// Whether a column differs from the first that has the figure by more than chance.
    pub fn differs_from_first(&self, place: usize) -> bool {
        let first = self.values.iter().position(Option::is_some);
        first.is_some_and(|first| self.differ(first, place))
    }

    /// The column that is better than every other one by more than chance.
    pub fn best(&self) -> Option<usize> {
        let known = |place: &usize| self.values[*place].is_some();
        let places: Vec<usize> = (0..self.values.len()).filter(known).collect();
        let beats_all = |place: &&usize| {
            let wins = self.beyond_chance.iter().filter(|it| it.better == **place);
            places.len() > 1 && wins.count() == places.len() - 1
        };
        places.iter().find(beats_all).copied()
    }

    /// The ratio of two figures of the row, its error no smaller than the rounding of both.
    pub fn ratio_of(&self, of: &Estimate, to: &Estimate) -> Option<Ratio> {
        Some(Ratio::of_estimates(to, of)?.widened(self.rounding))
    }
}

/// All pairs of a row's columns of which something tells how sure they are.
fn of_row(row: &Row, [section, place]: [usize; 2]) -> Vec<Test> {
    if row.better == Better::Neither {
        return Vec::new();
    }
    let estimates: Vec<(usize, Estimate)> = row
        .values
        .iter()
        .enumerate()
        .filter_map(|(column, value)| Some((column, value.as_ref()?.estimate?)))
        .collect();
    let mut tests = Vec::new();
    for (index, (one, a)) in estimates.iter().enumerate() {
        for (other, b) in &estimates[index + 1..] {
            let certainty = row.ratio_of(b, a).and_then(|ratio| ratio.certainty);
            let Some(certainty) = certainty else { continue };
            let is_higher_better = row.better == Better::Higher;
            tests.push(Test {
                section,
                row: place,
                columns: [*one, *other],
                better: match (b.mean > a.mean) == is_higher_better {
                    true => *other,
                    false => *one,
                },
                p_value: certainty.p_value,
            });
        }
    }
    tests
}
