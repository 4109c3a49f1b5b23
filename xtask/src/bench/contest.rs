//! Interleaved rounds, medians, ratios and what is asked of them.

use super::Interrupt;
use crate::error::Failure;

/// Somebody who is measured.
pub struct Contestant<'a> {
    /// For the table.
    pub name: &'static str,
    /// Measures once and returns the figure; higher is better.
    pub measure: Box<dyn FnMut() -> Result<f64, Failure> + 'a>,
}

/// What is asked: the first contestant's median against another's.
#[derive(Debug, Clone, Copy)]
pub struct Ask {
    /// The other contestant's name.
    pub against: &'static str,
    /// The first one's median over the other's, at least.
    pub ratio_min: f64,
}

/// Contestants who take turns: A B C, A B C, ...
pub struct Contest<'a> {
    /// For the table.
    pub title: &'static str,
    /// What the figures count.
    pub unit: &'static str,
    /// The first is the one of whom something is asked.
    pub contestants: Vec<Contestant<'a>>,
    /// What is asked.
    pub asks: Vec<Ask>,
}

/// All figures of a contest.
#[derive(Debug)]
pub struct Standing {
    /// Each contestant's name and figures, one a round.
    pub rows: Vec<(&'static str, Vec<f64>)>,
}

impl Contest<'_> {
    /// Measures all rounds, prints the table and returns how many asks were missed.
    pub fn hold(mut self, rounds_count: usize, interrupt: &Interrupt) -> Result<usize, Failure> {
        println!("\n{} ({}, median of {rounds_count})", self.title, self.unit);
        let standing = self.measure(rounds_count, interrupt)?;
        for line in standing.table() {
            println!("  {line}");
        }
        let mut missed_count = 0;
        for ask in &self.asks {
            let (line, is_met) = standing.judge(*ask);
            println!("  {line}");
            missed_count += usize::from(!is_met);
        }
        Ok(missed_count)
    }

    fn measure(&mut self, rounds: usize, interrupt: &Interrupt) -> Result<Standing, Failure> {
        let mut rows: Vec<(&'static str, Vec<f64>)> = self
            .contestants
            .iter()
            .map(|contestant| (contestant.name, Vec::new()))
            .collect();
        for _ in 0..rounds {
            for (contestant, row) in self.contestants.iter_mut().zip(&mut rows) {
                interrupt.check()?;
                let figure = (contestant.measure)();
                // A child that Ctrl-C ended has no figure; say why instead.
                interrupt.check()?;
                row.1.push(figure?);
            }
        }
        Ok(Standing { rows })
    }
}

impl Standing {
    /// The median figure of a contestant; nothing if there is none of that name.
    pub fn median_of(&self, name: &str) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.0 == name)?;
        (!row.1.is_empty()).then(|| median(&row.1))
    }

    /// One line a contestant: name, median, smallest, largest, first contestant's ratio to it.
    fn table(&self) -> Vec<String> {
        let first = self.rows.first().map_or(0.0, |row| median(&row.1));
        let line = |(name, figures): &(&str, Vec<f64>)| {
            let low = figures.iter().copied().fold(f64::INFINITY, f64::min);
            let high = figures.iter().copied().fold(0.0, f64::max);
            let middle = median(figures);
            let ratio = first / middle;
            format!("{name:<14} {middle:>14.1}  ({low:.1} to {high:.1})  ratio {ratio:.3}")
        };
        self.rows.iter().map(line).collect()
    }

    /// Whether an ask is met, with a line that says so.
    fn judge(&self, ask: Ask) -> (String, bool) {
        let Ask { against, ratio_min } = ask;
        let first = self.rows.first().map_or(0.0, |row| median(&row.1));
        let ratio = self
            .median_of(against)
            .map_or(f64::NAN, |other| first / other);
        let is_met = ratio >= ratio_min;
        (
            format!(
                "{} at least {ratio_min} x {against}: {ratio:.3}",
                word(is_met)
            ),
            is_met,
        )
    }
}

/// How a verdict is printed.
pub fn word(is_met: bool) -> &'static str {
    if is_met { "pass" } else { "MISS" }
}

/// The median; the mean of the middle two of an even number; not a number of nothing.
pub fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn standing() -> Standing {
        Standing {
            rows: vec![
                ("ours", vec![10.0, 30.0, 20.0]),
                ("theirs", vec![10.0, 10.0]),
            ],
        }
    }

    #[test]
    fn medians_are_exact() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn an_ask_is_judged_by_medians() {
        let judge = |ratio_min| {
            standing().judge(Ask {
                against: "theirs",
                ratio_min,
            })
        };
        assert_eq!(
            judge(2.0),
            ("pass at least 2 x theirs: 2.000".to_owned(), true)
        );
        assert!(!judge(2.1).1);
    }

    #[test]
    fn an_ask_against_nobody_is_missed() {
        assert!(
            !standing()
                .judge(Ask {
                    against: "nobody",
                    ratio_min: 0.0
                })
                .1
        );
    }

    #[test]
    fn contestants_take_turns() {
        let order = RefCell::new(String::new());
        let contestant = |name: &'static str| Contestant {
            name,
            measure: Box::new(|| {
                order.borrow_mut().push_str(name);
                Ok(1.0)
            }),
        };
        let contestants = vec![contestant("a"), contestant("b"), contestant("c")];
        let contest = Contest {
            title: "order",
            unit: "1",
            contestants,
            asks: Vec::new(),
        };
        assert_eq!(contest.hold(2, &Interrupt::default()).unwrap(), 0);
        assert_eq!(*order.borrow(), "abcabc");
    }

    #[test]
    fn the_table_names_everybody_with_the_ratio() {
        let table = standing().table();
        assert!(table[1].starts_with("theirs"), "{}", table[1]);
        assert!(table[1].ends_with("ratio 2.000"), "{}", table[1]);
    }
}
