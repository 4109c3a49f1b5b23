//! What a job is to keep to, and what ends it when it is reached.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PerDirection;

/// What a job is to keep to, and what ends it when it is reached.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JobGoals {
    /// The rates below which it ends with an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_floor: Option<RateFloor>,
    /// The latencies above which it ends with an error, in nanoseconds.
    pub latency_ns_max: PerDirection<Option<u64>>,
    /// The latency that the queue depth is looked for with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth_target: Option<DepthTarget>,
    /// When its figures are steady, which ends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyGoal>,
    /// Its share of the requests of several jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowShare>,
}

/// The share of a job in the requests of several, none of which gets ahead of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FlowShare {
    /// The jobs of the cell with the same number share.
    pub group: u32,
    /// Its part of their weights together; above 0.
    pub weight: u32,
    /// How long it pauses where it is ahead, in nanoseconds; 0 for until it is not.
    pub pause_ns: u64,
}

/// The rates below which a job ends with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RateFloor {
    /// By direction; none where any rate will do.
    pub least: PerDirection<Option<LeastRate>>,
    /// The time that a rate is of, in nanoseconds.
    pub window_ns: u64,
    /// For so long no rate is judged, in nanoseconds from the beginning of the measurement.
    pub settle_ns: u64,
}

/// A rate below which a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeastRate {
    /// Requests or bytes a second.
    pub per_second: u64,
    /// Whether bytes are meant.
    pub is_of_bytes: bool,
}

/// The latency that a queue depth is looked for with: the largest depth at which enough requests
/// keep within it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DepthTarget {
    /// The latency, in nanoseconds.
    pub latency_ns: u64,
    /// For so long at least a depth is tried, in nanoseconds.
    pub window_ns: u64,
    /// The share of requests that keep within it, in percent.
    pub percentile: f64,
    /// Whether the job goes on when the depth was found, and looks further. Where it does not, it
    /// is measured for one window more.
    pub goes_on: bool,
}

/// When the figures of a job, or of several together, are steady.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyGoal {
    /// What is looked at.
    pub measure: GoalMeasure,
    /// Whether its slope is to be small, from one reading to the next; else how far any reading
    /// is from the mean.
    pub is_slope: bool,
    /// What that is to be below.
    pub limit: f64,
    /// Whether the limit is in percent of the mean.
    pub is_percent: bool,
    /// The time that is judged, in nanoseconds.
    pub window_ns: u64,
    /// What is not judged at the beginning of the measurement, in nanoseconds.
    pub ramp_ns: u64,
    /// The time that one reading is of, in nanoseconds.
    pub interval_ns: u64,
    /// The jobs of the cell with the same number are judged together; none for a job by itself.
    pub group_index: Option<u32>,
}

/// What is to be steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GoalMeasure {
    /// Requests a second.
    Iops,
    /// Bytes a second.
    Bandwidth,
    /// The mean latency.
    Latency,
}

impl JobGoals {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether there is nothing to tell of them at the end.
    #[must_use]
    pub fn are_silent(&self) -> bool {
        let told = Self {
            flow: None,
            ..self.clone()
        };
        told.is_empty()
    }

    /// Whether the depth is found before anything is measured.
    #[must_use]
    pub fn searches_first(&self) -> bool {
        self.depth_target.is_some_and(|it| !it.goes_on)
    }
}

impl SteadyGoal {
    /// How many readings are judged together.
    #[must_use]
    pub fn reading_count(&self) -> usize {
        let count = self.window_ns / self.interval_ns.max(1);
        usize::try_from(count.max(1)).unwrap_or(usize::MAX)
    }
}
