//! Results over several repetitions.

use plan::{CacheMode, CurvePart, EngineKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Phase;
use crate::real::Real;

/// A result over several repetitions, with its uncertainty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EstimateRecord {
    /// `index` of the first repetition of the repeated cell: see [`CellKey`](crate::CellKey).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_index: Option<u32>,
    /// Name of the workload.
    pub workload: String,
    /// Name of the access specification, if all workers used the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_spec: Option<String>,
    /// The target's path; several are separated by `, `.
    pub target: String,
    /// Engine that issued the I/O.
    pub engine: EngineKind,
    /// Use of the page cache.
    pub cache: CacheMode,
    /// Requests each worker kept in flight on each of its targets.
    pub iodepth: u32,
    /// Number of workers.
    pub workers: u32,
    /// Requests due per second in an open loop; none for a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_second: Option<f64>,
    /// The phase that was measured.
    #[serde(default, skip_serializing_if = "Phase::is_measure")]
    pub phase: Phase,
    /// Part of a response-time curve that the cells measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<CurvePart>,
    /// Name of the operation, or `total`.
    pub operation: String,
    /// Name of the estimated value: `per_second`, `bytes_per_second`, `latency_mean`,
    /// `latency_p50`, `latency_p99`, `latency_p99_9`. For PostMark also `transactions_per_second`,
    /// where each transaction is a pair of operations.
    pub metric: String,
    /// Unit of the value: `1/s`, `B/s`, `ns`.
    pub unit: String,
    /// Number of repetitions.
    pub n: u32,
    /// Mean over the repetitions. For percentiles with a bootstrap interval, the percentile over
    /// the latencies of all repetitions.
    #[serde(with = "Real")]
    pub mean: f64,
    /// Lower end of the 95 % confidence interval of the mean; none with one repetition.
    pub ci95_low: Option<f64>,
    /// Upper end of the 95 % confidence interval of the mean; none with one repetition.
    pub ci95_high: Option<f64>,
    /// Standard deviation over the repetitions; none with one repetition.
    pub stddev: Option<f64>,
    /// Method that gave the confidence interval; none without an interval and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalKind>,
    /// Smallest difference between two such means that a test would detect in 80 of 100 cases, in
    /// the unit of the mean; none for percentiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_difference: Option<f64>,
    /// Why repeating stopped, if the cell was repeated until a precision was reached. Only on the
    /// values that must reach the precision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<PrecisionVerdict>,
}

/// Method that gave a confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalKind {
    /// Student's t distribution.
    T,
    /// Bootstrap: resampled repetitions.
    Bootstrap,
}

/// Reason for not repeating a cell again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrecisionVerdict {
    /// The value has the requested precision.
    PrecisionReached,
    /// Another repetition would have exceeded the time budget.
    BudgetSpent,
    /// The maximum number of repetitions was reached.
    RepetitionsSpent,
    /// The run was interrupted or failed.
    Interrupted,
}

impl PrecisionVerdict {
    /// The verdict as text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PrecisionReached => "precision reached",
            Self::BudgetSpent => "budget spent",
            Self::RepetitionsSpent => "repetitions spent",
            Self::Interrupted => "interrupted",
        }
    }
}
