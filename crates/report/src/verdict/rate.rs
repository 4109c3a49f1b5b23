//! A rate with what is known of its uncertainty.

use crate::group::{Group, Metric};
use crate::numbers::digits;

/// What a figure without any interval is taken to be known to, as a share.
const UNKNOWN_SHARE: f64 = 0.1;

/// A rate with what is known of its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rate {
    /// Per second.
    pub mean: f64,
    /// The lowest and the highest that it may well be.
    pub ends: [f64; 2],
    basis: Basis,
}

/// Where the ends come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Basis {
    /// So many repetitions, with 95 % confidence.
    Repetitions(u32),
    /// The scatter within a single run.
    WithinRun,
    /// Nothing: it was measured once, for too short a time to tell.
    Nothing,
}

impl Rate {
    /// The metric of a group, which is a rate.
    pub fn of(group: &Group, metric: Metric) -> Option<Self> {
        let figure = group.figure(metric)?;
        let mean = figure.mean;
        if mean <= 0.0 {
            return None;
        }
        let within = match group.cells.as_slice() {
            [only] => only.within.as_ref().and_then(results::WithinRun::precision),
            _ => None,
        };
        let around = |share: f64| [mean * (1.0 - share).max(0.0), mean * (1.0 + share)];
        let (ends, basis) = match (figure.interval, within) {
            (Some(ends), _) => (ends, Basis::Repetitions(figure.n)),
            (None, Some(share)) => (around(share), Basis::WithinRun),
            (None, None) => (around(UNKNOWN_SHARE), Basis::Nothing),
        };
        Some(Self { mean, ends, basis })
    }

    /// A rate of which nothing else is known.
    #[cfg(test)]
    pub fn bare(mean: f64) -> Self {
        Self {
            mean,
            ends: [mean, mean],
            basis: Basis::Nothing,
        }
    }

    /// The same, known to a share by repetitions.
    #[cfg(test)]
    pub fn known_to(mean: f64, share: f64) -> Self {
        Self {
            mean,
            ends: [mean * (1.0 - share), mean * (1.0 + share)],
            basis: Basis::Repetitions(5),
        }
    }

    /// How sure it is, in words.
    pub fn sure(&self) -> String {
        let [low, high] = self.ends;
        let percent = digits_of(100.0 * (high - low) / 2.0 / self.mean);
        match self.basis {
            Basis::Repetitions(count) => {
                format!("±{percent} % with 95 % confidence, {count} repetitions")
            }
            Basis::WithinRun => format!("measured once, ±{percent} % within the run"),
            Basis::Nothing => "measured once".to_owned(),
        }
    }
}

/// Percent with as many digits as a sentence bears.
pub(super) fn digits_of(percent: f64) -> String {
    match percent {
        10.0.. => format!("{percent:.0}"),
        0.1.. => format!("{percent:.1}"),
        _ => digits(percent),
    }
}
