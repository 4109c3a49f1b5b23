//! A figure over several repetitions.

use plan::{CacheMode, CurvePart, EngineKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Phase;
use crate::real::Real;

/// A figure over several repetitions, with its uncertainty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EstimateRecord {
    /// `index` of the cell that was repeated, in its first repetition: see
    /// [`CellKey`](crate::CellKey).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_index: Option<u32>,
    /// Name of the workload.
    pub workload: String,
    /// Name of the access specification, when all workers used the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_spec: Option<String>,
    /// The target's path; several are separated by `, `.
    pub target: String,
    /// Which engine issued the I/O.
    pub engine: EngineKind,
    /// How the page cache was used.
    pub cache: CacheMode,
    /// Requests each worker kept in flight on each of its targets.
    pub iodepth: u32,
    /// How many workers took part.
    pub workers: u32,
    /// Requests due each second, where they began when they were due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_second: Option<f64>,
    /// What the cells belong to.
    #[serde(default, skip_serializing_if = "Phase::is_measure")]
    pub phase: Phase,
    /// Which part of a response-time curve they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<CurvePart>,
    /// The operation, or `total`.
    pub operation: String,
    /// What was estimated: `per_second`, `bytes_per_second`, `latency_mean`, `latency_p50`,
    /// `latency_p99`, `latency_p99_9`; of PostMark's transactions also `transactions_per_second`,
    /// each of which is a pair of operations.
    pub metric: String,
    /// The metric's unit: `1/s`, `B/s`, `ns`.
    pub unit: String,
    /// How many repetitions were measured.
    pub n: u32,
    /// Mean over the repetitions; of percentiles with a bootstrap interval, the percentile of all
    /// repetitions' latencies together.
    #[serde(with = "Real")]
    pub mean: f64,
    /// Lower end of the 95 % confidence interval of the mean; none with one repetition.
    pub ci95_low: Option<f64>,
    /// Upper end of the 95 % confidence interval of the mean; none with one repetition.
    pub ci95_high: Option<f64>,
    /// Standard deviation over the repetitions; none with one repetition.
    pub stddev: Option<f64>,
    /// How the interval was found; none without interval, and in records before it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalKind>,
    /// The smallest difference between two such means that a test would find in 80 of 100 cases,
    /// in the unit of the mean; none of percentiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_difference: Option<f64>,
    /// Why there were no more repetitions, where they went on until a precision was reached; with
    /// the figures that are to have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<PrecisionVerdict>,
}

/// How a confidence interval was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalKind {
    /// From Student's t.
    T,
    /// From resampled repetitions.
    Bootstrap,
}

/// Why a cell was not repeated once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrecisionVerdict {
    /// The figure is as precise as asked for.
    PrecisionReached,
    /// Another repetition would not have fit into the budget.
    BudgetSpent,
    /// It was repeated as often as it may be.
    RepetitionsSpent,
    /// The run was ended from outside, or failed.
    Interrupted,
}

impl PrecisionVerdict {
    /// The verdict in words.
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
