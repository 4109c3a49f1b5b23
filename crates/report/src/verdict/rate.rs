//! A rate with its uncertainty.

use crate::group::{Metric, RepeatedCell};
use crate::numbers::digits;

/// Assumed relative uncertainty of a rate without a confidence interval.
const DEFAULT_UNCERTAINTY: f64 = 0.1;

/// A rate with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct UncertainRate {
    /// Per second.
    pub mean: f64,
    /// Lowest and highest likely value.
    pub bounds: [f64; 2],
    basis: RateBasis,
}

/// Source of the uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RateBasis {
    /// This number of repetitions, with 95 % confidence.
    Repetitions(u32),
    /// The scatter within a single run.
    WithinRun,
    /// None: it was measured once, and too briefly to estimate the scatter.
    None,
}

impl UncertainRate {
    /// Returns a metric of a group that is a rate; `None` if it is 0.
    pub fn of(group: &RepeatedCell, metric: Metric) -> Option<Self> {
        let figure = group.figure(metric)?;
        let mean = figure.mean;
        if mean <= 0.0 {
            return None;
        }
        let around = |share: f64| [mean * (1.0 - share), mean * (1.0 + share)];
        let within = group.interval_within_run(metric);
        // Repetitions have precedence, because they also show what varies only between runs.
        let (ends, basis) = match (figure.interval, within) {
            (Some(ends), _) => (ends, RateBasis::Repetitions(figure.n)),
            (None, Some(ends)) => (ends, RateBasis::WithinRun),
            (None, None) => (around(DEFAULT_UNCERTAINTY), RateBasis::None),
        };
        Some(Self {
            mean,
            bounds: ends,
            basis,
        })
    }

    /// Creates a rate without uncertainty.
    #[cfg(test)]
    pub fn bare(mean: f64) -> Self {
        Self {
            mean,
            bounds: [mean, mean],
            basis: RateBasis::None,
        }
    }

    /// Creates a rate with this relative uncertainty, based on repetitions.
    #[cfg(test)]
    pub fn with_uncertainty(mean: f64, share: f64) -> Self {
        Self {
            mean,
            bounds: [mean * (1.0 - share), mean * (1.0 + share)],
            basis: RateBasis::Repetitions(5),
        }
    }

    /// Describes the uncertainty.
    pub fn uncertainty_sentence(&self) -> String {
        let [low, high] = self.bounds;
        // The lower end of an interval of more than ±100 % is cut off at 0.
        let half = match low > 0.0 {
            true => (high - low) / 2.0,
            false => high - self.mean,
        };
        let percent = digits_of(100.0 * half / self.mean);
        match self.basis {
            RateBasis::Repetitions(count) => {
                format!("±{percent} % with 95 % confidence, {count} repetitions")
            }
            RateBasis::WithinRun => format!("measured once, ±{percent} % within the run"),
            RateBasis::None => "measured once".to_owned(),
        }
    }
}

/// Formats percent with the digits that suit a sentence.
pub(super) fn digits_of(percent: f64) -> String {
    match percent {
        10.0.. => format!("{percent:.0}"),
        0.1.. => format!("{percent:.1}"),
        _ => digits(percent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_is_cut_off_at_0_keeps_its_width() {
        let mut rate = UncertainRate::bare(100.0);
        (rate.bounds, rate.basis) = ([0.0, 326.0], RateBasis::WithinRun);
        let sentence = rate.uncertainty_sentence();
        assert_eq!(sentence, "measured once, ±226 % within the run");
    }
}
