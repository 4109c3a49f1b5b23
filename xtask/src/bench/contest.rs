//! Interleaved rounds, medians, and ratios with their requirements.

use std::fmt::Write as _;

use super::Interrupt;
use crate::error::Failure;

/// A program that is measured.
pub struct ComparedProgram<'a> {
    /// Name in the table.
    pub name: &'static str,
    /// Measures once and returns the result; higher is better.
    pub measure: Box<dyn FnMut() -> Result<f64, Failure> + 'a>,
}

/// A requirement on the first contestant's results relative to another's.
#[derive(Debug, Clone, Copy)]
pub struct Requirement {
    /// Name of the other contestant.
    pub against: &'static str,
    /// Minimum for the median of the rounds' ratios.
    pub ratio_min: f64,
}

/// Maximum number of rounds, as a multiple of the requested number, while the result is undecided.
const ROUNDS_FACTOR: usize = 3;

/// Contestants that run alternately, forward and backward: A B C, C B A, A B C, ...
pub struct ProgramComparison<'a> {
    /// Title of the table.
    pub title: &'static str,
    /// Unit of the results.
    pub unit: &'static str,
    /// The contestants; the requirements are on the first one.
    pub contestants: Vec<ComparedProgram<'a>>,
    /// Requirements that the results must meet.
    pub requirements: Vec<Requirement>,
}

/// All results of a contest.
#[derive(Debug)]
pub struct ProgramComparisonResults {
    /// Name of each contestant, and its results, one per round.
    pub rows: Vec<(&'static str, Vec<f64>)>,
}

impl ProgramComparison<'_> {
    /// Measures all rounds, prints the table and returns the number of missed requirements.
    ///
    /// If the confidence interval of a ratio contains its requirement, the result is undecided.
    /// Then there are up to three times as many rounds.
    pub fn hold(mut self, rounds_count: usize, interrupt: &Interrupt) -> Result<usize, Failure> {
        println!("\n{} ({})", self.title, self.unit);
        let standing = self.measure(rounds_count, interrupt)?;
        println!("  medians of {} rounds", standing.rounds_count());
        for line in standing.table() {
            println!("  {line}");
        }
        let mut missed_count = 0;
        for ask in &self.requirements {
            let (line, is_met) = standing.judge(*ask);
            println!("  {line}");
            missed_count += usize::from(!is_met);
        }
        Ok(missed_count)
    }

    fn measure(
        &mut self,
        rounds: usize,
        interrupt: &Interrupt,
    ) -> Result<ProgramComparisonResults, Failure> {
        let rows: Vec<(&'static str, Vec<f64>)> = self
            .contestants
            .iter()
            .map(|contestant| (contestant.name, Vec::new()))
            .collect();
        let mut standing = ProgramComparisonResults { rows };
        for round in 0..rounds * ROUNDS_FACTOR {
            // Decided results need no more rounds; the usual ones always run.
            if round >= rounds && !self.requirements.iter().any(|ask| standing.is_open(*ask)) {
                break;
            }
            let mut turns: Vec<_> = self
                .contestants
                .iter_mut()
                .zip(&mut standing.rows)
                .collect();
            // Alternating directions, so that the after-effects of each contestant affect all
            // others equally.
            if round % 2 == 1 {
                turns.reverse();
            }
            for (contestant, row) in turns {
                interrupt.check()?;
                let figure = (contestant.measure)();
                // A child that Ctrl-C ended has no result; this reports the reason instead.
                interrupt.check()?;
                row.1.push(figure?);
            }
            // Shows progress during long measurements.
            eprintln!("  {}", standing.last_round());
        }
        Ok(standing)
    }
}

impl ProgramComparisonResults {
    fn rounds_count(&self) -> usize {
        self.rows.first().map_or(0, |row| row.1.len())
    }

    /// Each contestant's result in the last round.
    fn last_round(&self) -> String {
        let mut line = format!("round {}:", self.rounds_count());
        for (name, figures) in &self.rows {
            let figure = figures.last().copied().unwrap_or(f64::NAN);
            let _ = write!(line, "  {name} {figure:.1}");
        }
        line
    }

    /// Ratios of the first contestant's results to another's, round by round. A temporary slowdown
    /// of the machine affects both. Empty if there is no such contestant.
    fn ratios_to(&self, name: &str) -> Vec<f64> {
        let other = self.rows.iter().find(|row| row.0 == name);
        let (Some(first), Some(other)) = (self.rows.first(), other) else {
            return Vec::new();
        };
        let pairs = first.1.iter().zip(&other.1);
        pairs.map(|(first, other)| first / other).collect()
    }

    /// One line per contestant: name, median, minimum, maximum, and the first contestant's ratio to
    /// it.
    fn table(&self) -> Vec<String> {
        let line = |(name, figures): &(&str, Vec<f64>)| {
            let low = figures.iter().copied().fold(f64::INFINITY, f64::min);
            let high = figures.iter().copied().fold(0.0, f64::max);
            let middle = median(figures);
            // The median of the ratios, not the ratio of the medians, which may come from different
            // rounds.
            let ratio = median(&self.ratios_to(name));
            format!("{name:<14} {middle:>14.1}  ({low:.1} to {high:.1})  ratio {ratio:.3}")
        };
        self.rows.iter().map(line).collect()
    }

    /// `true` if more rounds could change the verdict on a requirement.
    fn is_open(&self, ask: Requirement) -> bool {
        interval(&self.ratios_to(ask.against))
            .is_some_and(|(low, high)| low < ask.ratio_min && ask.ratio_min <= high)
    }

    /// Whether a requirement is met, with a line that reports it.
    fn judge(&self, ask: Requirement) -> (String, bool) {
        let Requirement { against, ratio_min } = ask;
        let ratios = self.ratios_to(against);
        let ratio = median(&ratios);
        let is_met = ratio >= ratio_min;
        let mut line = format!(
            "{} at least {ratio_min} x {against}: {ratio:.3}",
            word(is_met)
        );
        if let Some((low, high)) = interval(&ratios) {
            let _ = write!(line, " ({low:.3} to {high:.3})");
        }
        (line, is_met)
    }
}

/// A 95 % confidence interval of the median for any distribution, from order statistics (as in the
/// sign test). With fewer than six values, it is their whole range; for five values, its confidence
/// is 94 %. `None` for fewer than two.
fn interval(figures: &[f64]) -> Option<(f64, f64)> {
    let count = figures.len();
    if count < 2 {
        return None;
    }
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    // Probability of at most `rank` values below the median.
    let (mut rank, mut term) = (0, 0.5_f64.powi(count as i32));
    let mut below = term;
    loop {
        term *= (count - rank) as f64 / (rank + 1) as f64;
        below += term;
        // Half of the 5 % may lie beyond each end.
        if below > 0.025 {
            break;
        }
        rank += 1;
    }
    Some((sorted[rank], sorted[count - 1 - rank]))
}

/// Text of a verdict.
pub fn word(is_met: bool) -> &'static str {
    if is_met { "pass" } else { "MISS" }
}

/// The median; for an even number of values, the mean of the middle two; not a number if empty.
pub fn median(figures: &[f64]) -> f64 {
    stats::median(figures).unwrap_or(f64::NAN)
}

/// Compares results with true values, and prints a line with a verdict for each.
pub struct TruthCheck {
    pub missed_count: usize,
}

impl TruthCheck {
    pub fn new() -> TruthCheck {
        TruthCheck { missed_count: 0 }
    }

    /// Prints the deviation of `measured` from `wanted`, and counts a miss.
    pub fn compare(&mut self, label: &str, measured: f64, wanted: f64, percent_max: f64) {
        let percent = 100.0 * (measured / wanted - 1.0);
        // Written so that a result that is not a number is a miss.
        let is_met = percent.abs() <= percent_max;
        let verdict = word(is_met);
        println!("  {verdict} {label}: {measured:.1} for {wanted:.1} ({percent:+.2} %)");
        self.missed_count += usize::from(!is_met);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn standing() -> ProgramComparisonResults {
        ProgramComparisonResults {
            rows: vec![
                ("ours", vec![10.0, 30.0, 20.0]),
                ("theirs", vec![10.0, 10.0, 10.0]),
            ],
        }
    }

    fn theirs(ratio_min: f64) -> Requirement {
        Requirement {
            against: "theirs",
            ratio_min,
        }
    }

    #[test]
    fn medians_are_exact() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn a_requirement_is_judged_by_the_median_of_ratios() {
        let judge = |ratio_min| standing().judge(theirs(ratio_min));
        let line = "pass at least 2 x theirs: 2.000 (1.000 to 3.000)";
        assert_eq!(judge(2.0), (line.to_owned(), true));
        assert!(!judge(2.1).1);
    }

    #[test]
    fn a_requirement_is_undecided_while_the_interval_contains_it() {
        assert!(standing().is_open(theirs(1.5)) && standing().is_open(theirs(3.0)));
        assert!(!standing().is_open(theirs(1.0)) && !standing().is_open(theirs(3.1)));
    }

    #[test]
    fn intervals_match_the_sign_test() {
        let figures: Vec<f64> = (1..=15).map(f64::from).collect();
        assert_eq!(interval(&figures), Some((4.0, 12.0)));
        assert_eq!(interval(&figures[..6]), Some((1.0, 6.0)));
        assert_eq!(interval(&figures[..9]), Some((2.0, 8.0)));
        assert_eq!(interval(&figures[..2]), Some((1.0, 2.0)));
        assert_eq!(interval(&figures[..1]), None);
    }

    #[test]
    fn rounds_continue_until_every_requirement_is_decided() {
        for (own, rounds_count) in [(2.0, 2), (1.0, 6)] {
            let count = RefCell::new(0);
            let varying = ComparedProgram {
                name: "ours",
                measure: Box::new(|| {
                    *count.borrow_mut() += 1;
                    Ok(own + f64::from(*count.borrow() % 2) / 10.0)
                }),
            };
            let steady = ComparedProgram {
                name: "theirs",
                measure: Box::new(|| Ok(1.0)),
            };
            let contest = ProgramComparison {
                title: "rounds",
                unit: "1",
                contestants: vec![varying, steady],
                requirements: vec![theirs(1.05)],
            };
            contest.hold(2, &Interrupt::default()).unwrap();
            assert_eq!(*count.borrow(), rounds_count);
        }
    }

    #[test]
    fn a_requirement_against_a_missing_contestant_fails() {
        assert!(
            !standing()
                .judge(Requirement {
                    against: "nobody",
                    ratio_min: 0.0
                })
                .1
        );
    }

    #[test]
    fn contestants_run_alternately() {
        let order = RefCell::new(String::new());
        let contestant = |name: &'static str| ComparedProgram {
            name,
            measure: Box::new(|| {
                order.borrow_mut().push_str(name);
                Ok(1.0)
            }),
        };
        let contestants = vec![contestant("a"), contestant("b"), contestant("c")];
        let contest = ProgramComparison {
            title: "order",
            unit: "1",
            contestants,
            requirements: Vec::new(),
        };
        assert_eq!(contest.hold(2, &Interrupt::default()).unwrap(), 0);
        assert_eq!(*order.borrow(), "abccba");
    }

    #[test]
    fn a_round_prints_the_figure_of_every_contestant() {
        assert_eq!(standing().last_round(), "round 3:  ours 20.0  theirs 10.0");
    }

    #[test]
    fn the_table_lists_every_contestant_with_its_ratio() {
        let table = standing().table();
        assert!(table[1].starts_with("theirs"), "{}", table[1]);
        assert!(table[1].ends_with("ratio 2.000"), "{}", table[1]);
    }
}
