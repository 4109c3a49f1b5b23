//! The rounds of a cell that was measured until it was steady.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{SteadyRule, SteadyVerdict, SteadyWindow};

use crate::real::Real;

/// The rounds of a cell that was measured until it was steady; its figures are those of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyRecord {
    /// What counts as steady.
    pub rule: SteadyRule,
    /// Whether it was; `not-yet` where someone ended it before.
    pub verdict: SteadyVerdict,
    /// All rounds, in the order of measuring.
    pub rounds: Vec<RoundRecord>,
    /// The last rounds with what the verdict rests on, of `per_second`; none where there were
    /// fewer.
    pub window: Option<SteadyWindow>,
}

impl SteadyRecord {
    /// The largest distance of two rounds of the window, and that of the fitted line's ends, as
    /// shares of their mean; none without a window, or a mean of 0.
    #[must_use]
    pub fn shares(&self) -> Option<(f64, f64)> {
        let window = self.window.as_ref().filter(|it| it.average > 0.0)?;
        let share = |value: f64| value / window.average;
        Some((share(window.range), share(window.excursion)))
    }
}

/// A round.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RoundRecord {
    /// Where it starts, in nanoseconds from the start of the measurement.
    pub at_ns: u64,
    /// How long the workers measured, in nanoseconds: their mean.
    pub length_ns: u64,
    /// Operations that succeeded, of those that the cell's total counts.
    pub count: u64,
    /// Operations that failed, of all.
    pub errors: u64,
    /// `count` for each second.
    #[serde(with = "Real")]
    pub per_second: f64,
    /// Bytes for each second.
    #[serde(with = "Real")]
    pub bytes_per_second: f64,
    /// Mean latency, in nanoseconds.
    pub latency_mean_ns: Option<f64>,
    /// 99th percentile of the latency, in nanoseconds.
    pub latency_p99_ns: Option<u64>,
}
