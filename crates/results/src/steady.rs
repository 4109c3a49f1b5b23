//! The rounds of a cell that is measured until it is steady.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{SteadyRule, SteadyVerdict, SteadyWindow};

use crate::real::Real;

/// The rounds of a cell that is measured until it is steady. The cell's results are from the
/// window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyRecord {
    /// Definition of steady.
    pub rule: SteadyRule,
    /// Whether the rule was met; `not-yet` if the run was stopped before a decision.
    pub verdict: SteadyVerdict,
    /// All rounds, in order.
    pub rounds: Vec<RoundRecord>,
    /// The last rounds, on whose `per_second` the verdict is based; none if there were fewer.
    pub window: Option<SteadyWindow>,
}

impl SteadyRecord {
    /// Range of the window's rounds, and change of the line fitted through them, as shares of their
    /// mean. `None` without a window, or if the mean is 0.
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
    /// Start of the round, in nanoseconds from the start of the measurement.
    pub at_ns: u64,
    /// Measured time in nanoseconds: mean over the workers.
    pub length_ns: u64,
    /// Successful operations, counted as in the cell's `total`.
    pub count: u64,
    /// Failed operations of all kinds.
    pub errors: u64,
    /// `count` per second.
    #[serde(with = "Real")]
    pub per_second: f64,
    /// Bytes per second.
    #[serde(with = "Real")]
    pub bytes_per_second: f64,
    /// Mean latency, in nanoseconds.
    pub latency_mean_ns: Option<f64>,
    /// 99th percentile of the latency, in nanoseconds.
    pub latency_p99_ns: Option<u64>,
}
