//! Steady-state detection over measured rounds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::describe;
use crate::line::FittedLine;

/// Criteria for a steady state.
///
/// Source: SNIA, "Solid State Storage Performance Test Specification", 2.0.2, 2020: definition of
/// steady state, and the limit of 25 rounds in its tests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyRule {
    /// Number of last rounds that are judged.
    pub window_count: usize,
    /// Largest allowed difference between the largest and the smallest value, as a share of the
    /// average.
    pub range_max: f64,
    /// Largest allowed difference between the ends of the fitted line, as a share of the average.
    pub excursion_max: f64,
    /// Rounds after which the search for a steady state ends.
    pub rounds_max: usize,
}

impl Default for SteadyRule {
    fn default() -> Self {
        Self {
            window_count: 5,
            range_max: 0.20,
            excursion_max: 0.10,
            rounds_max: 25,
        }
    }
}

/// Values of the rounds so far, judged by a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyState {
    rule: SteadyRule,
    values: Vec<f64>,
}

/// Verdict on the rounds so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyVerdict {
    /// Another round is needed.
    NotYet,
    /// Both criteria are met in the last window.
    Steady,
    /// All rounds were measured and the last window is not steady.
    NotSteady,
}

/// The last rounds, with all values that the verdict depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyWindow {
    /// 0-based index of the first round of the window.
    pub first_round_index: usize,
    /// Values of the rounds.
    pub values: Vec<f64>,
    /// Average of the values.
    pub average: f64,
    /// Largest minus smallest value.
    pub range: f64,
    /// Largest range that counts as steady: `range_max` of the average.
    pub range_limit: f64,
    /// Change of the least-squares line per round.
    pub slope_per_round: f64,
    /// Value of the line at the first round of the window.
    pub line_first: f64,
    /// Value of the line at the last round of the window.
    pub line_last: f64,
    /// Absolute difference between the ends of the line.
    pub excursion: f64,
    /// Largest excursion that counts as steady: `excursion_max` of the average.
    pub excursion_limit: f64,
}

impl SteadyWindow {
    /// `true` if the range of the values is within its limit.
    #[must_use]
    pub fn is_range_within_limit(&self) -> bool {
        self.range <= self.range_limit
    }

    /// `true` if the excursion of the line is within its limit.
    #[must_use]
    pub fn is_excursion_within_limit(&self) -> bool {
        self.excursion <= self.excursion_limit
    }

    /// `true` if both criteria are met.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.is_range_within_limit() && self.is_excursion_within_limit()
    }

    fn of(rule: &SteadyRule, values: &[f64]) -> Option<Self> {
        let first_round_index = values.len().checked_sub(rule.window_count)?;
        let window = &values[first_round_index..];
        if !window.iter().all(|value| value.is_finite()) {
            return None;
        }
        let average = describe::mean(window)?;
        let line = FittedLine::through(window)?;
        let largest = window.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = window.iter().copied().fold(f64::INFINITY, f64::min);
        Some(Self {
            first_round_index,
            values: window.to_vec(),
            average,
            range: largest - smallest,
            range_limit: rule.range_max * average.abs(),
            slope_per_round: line.slope,
            line_first: line.first,
            line_last: line.last,
            excursion: line.excursion(),
            excursion_limit: rule.excursion_max * average.abs(),
        })
    }
}

impl SteadyState {
    /// No rounds yet; `rule` judges those to come.
    #[must_use]
    pub fn new(rule: SteadyRule) -> Self {
        Self {
            rule,
            values: Vec::new(),
        }
    }

    /// Adds the value of one round. Returns the verdict on the rounds so far.
    pub fn push(&mut self, value: f64) -> SteadyVerdict {
        self.values.push(value);
        self.verdict()
    }

    /// The verdict on the rounds so far.
    #[must_use]
    pub fn verdict(&self) -> SteadyVerdict {
        // A window that becomes steady in the last round still counts.
        if self.window().is_some_and(|window| window.is_steady()) {
            SteadyVerdict::Steady
        } else if self.values.len() >= self.rule.rounds_max {
            SteadyVerdict::NotSteady
        } else {
            SteadyVerdict::NotYet
        }
    }

    /// The last rounds; `None` if they do not fill a window yet or a value is not finite.
    #[must_use]
    pub fn window(&self) -> Option<SteadyWindow> {
        SteadyWindow::of(&self.rule, &self.values)
    }

    /// The values of all rounds.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The rule that judges the rounds.
    #[must_use]
    pub fn rule(&self) -> &SteadyRule {
        &self.rule
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(values: &[f64]) -> (SteadyVerdict, Option<SteadyWindow>) {
        let mut state = SteadyState::new(SteadyRule::default());
        values.iter().for_each(|value| {
            state.push(*value);
        });
        (state.verdict(), state.window())
    }

    #[test]
    fn four_rounds_are_not_a_window() {
        assert_eq!(after(&[100.0; 4]), (SteadyVerdict::NotYet, None));
        assert_eq!(after(&[100.0; 5]).0, SteadyVerdict::Steady);
    }

    #[test]
    fn values_exactly_at_both_limits_are_steady() {
        // Average 100, range exactly 20, line flat.
        let (verdict, window) = after(&[90.0, 110.0, 100.0, 110.0, 90.0]);
        assert_eq!(
            (verdict, window.unwrap().range),
            (SteadyVerdict::Steady, 20.0)
        );
        // Average 100, line from 95 to 105: an excursion of exactly 10.
        let (verdict, window) = after(&[95.0, 97.5, 100.0, 102.5, 105.0]);
        let window = window.unwrap();
        assert_eq!((window.line_first, window.line_last), (95.0, 105.0));
        assert_eq!((window.slope_per_round, window.excursion), (2.5, 10.0));
        assert_eq!(verdict, SteadyVerdict::Steady);
    }

    #[test]
    fn a_wide_range_is_not_steady_even_if_the_line_is_flat() {
        let (verdict, window) = after(&[89.0, 110.0, 102.0, 110.0, 89.0]);
        let window = window.unwrap();
        assert!(window.is_excursion_within_limit() && !window.is_range_within_limit());
        assert_eq!(verdict, SteadyVerdict::NotYet);
    }

    #[test]
    fn a_sloping_line_is_not_steady_even_if_the_range_is_small() {
        let (verdict, window) = after(&[94.0, 97.0, 100.0, 103.0, 106.0]);
        let window = window.unwrap();
        assert!(window.is_range_within_limit() && !window.is_excursion_within_limit());
        assert_eq!(verdict, SteadyVerdict::NotYet);
    }

    #[test]
    fn a_fresh_device_becomes_steady_when_its_rate_stops_falling() {
        let mut state = SteadyState::new(SteadyRule::default());
        let fall = |round: i32| 20.0 + 80.0 * 0.6_f64.powi(round);
        let verdicts: Vec<SteadyVerdict> = (0..14).map(|round| state.push(fall(round))).collect();
        let first = verdicts
            .iter()
            .position(|verdict| *verdict == SteadyVerdict::Steady);
        // Rounds 8 to 12: average 20.6 with the line falling by 1.2; one earlier still falls by 2.
        assert_eq!(first, Some(11));
        assert_eq!(state.window().unwrap().first_round_index, 9);
    }

    #[test]
    fn the_search_for_a_steady_state_ends_after_25_rounds() {
        let rounds: Vec<f64> = (0..25).map(|round| f64::from(round % 2) + 1.0).collect();
        assert_eq!(after(&rounds[..24]).0, SteadyVerdict::NotYet);
        assert_eq!(after(&rounds).0, SteadyVerdict::NotSteady);
    }

    #[test]
    fn a_window_with_nan_is_not_steady() {
        let (verdict, window) = after(&[1.0, 1.0, f64::NAN, 1.0, 1.0]);
        assert_eq!((verdict, window), (SteadyVerdict::NotYet, None));
    }

    #[test]
    fn rounds_of_zero_are_steady() {
        let (verdict, window) = after(&[0.0; 5]);
        assert_eq!(
            (verdict, window.unwrap().range_limit),
            (SteadyVerdict::Steady, 0.0)
        );
    }

    #[test]
    fn verdict_and_window_survive_storage() {
        let (verdict, window) = after(&[95.0, 97.5, 100.0, 102.5, 105.0]);
        let text = serde_json::to_string(&(verdict, &window)).unwrap();
        assert!(text.contains("\"steady\""));
        assert_eq!(
            serde_json::from_str::<(_, _)>(&text).ok(),
            Some((verdict, window))
        );
    }
}
