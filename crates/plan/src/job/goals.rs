//! Goals of a job, and conditions that end it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PerDirection;

/// Goals of a job, and conditions that end it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JobGoals {
    /// Minimum rates; the job ends with an error below them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_floor: Option<RateFloor>,
    /// Maximum latencies in nanoseconds; the job ends with an error above them.
    pub latency_ns_max: PerDirection<Option<u64>>,
    /// Latency target for which the queue depth is searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth_target: Option<DepthTarget>,
    /// Criteria for steady results, which end the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyGoal>,
    /// Share of the job in the requests of several jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowShare>,
}

/// Share of a job in the requests of several jobs; a job that is ahead of its share pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FlowShare {
    /// Jobs of the cell with the same group number share.
    pub group: u32,
    /// Weight relative to the other jobs of the group; above 0.
    pub weight: u32,
    /// Length of a pause when the job is ahead, in nanoseconds; 0 pauses until it is no longer
    /// ahead.
    pub pause_ns: u64,
}

/// Minimum rates of a job, which ends with an error below them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RateFloor {
    /// Minimum rate per direction; `None` for no limit.
    pub least: PerDirection<Option<MinRate>>,
    /// Averaging window of a rate, in nanoseconds.
    pub window_ns: u64,
    /// Grace period before the minimum applies, in nanoseconds from the start of the measurement.
    pub settle_ns: u64,
}

/// A minimum rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MinRate {
    /// Requests or bytes per second.
    pub per_second: u64,
    /// `true` if the rate is in bytes.
    pub is_of_bytes: bool,
}

/// Target of a search for the largest queue depth at which enough requests stay within a latency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DepthTarget {
    /// The latency, in nanoseconds.
    pub latency_ns: u64,
    /// Minimum time that each depth is tried, in nanoseconds.
    pub window_ns: u64,
    /// Share of the requests that must stay within the latency, in percent.
    pub percentile: f64,
    /// `true` if the job continues to search after the depth is found. Otherwise the found depth is
    /// measured for one more window.
    pub goes_on: bool,
}

/// Criteria for steady results of a job, or of several jobs together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyGoal {
    /// Quantity to judge.
    pub measure: GoalMeasure,
    /// `true` to judge the slope from one reading to the next; `false` to judge the largest
    /// deviation of a reading from the mean.
    pub is_slope: bool,
    /// Upper limit of the slope or deviation.
    pub limit: f64,
    /// `true` if the limit is in percent of the mean.
    pub is_percent: bool,
    /// Length of the time that is judged, in nanoseconds.
    pub window_ns: u64,
    /// Time at the start of the measurement that is not judged, in nanoseconds.
    pub ramp_ns: u64,
    /// Length of one reading, in nanoseconds.
    pub interval_ns: u64,
    /// Jobs of the cell with the same number are judged together; `None` for a job on its own.
    pub group_index: Option<u32>,
}

/// Quantity that must be steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GoalMeasure {
    /// Requests per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// Mean latency.
    Latency,
}

impl JobGoals {
    /// `true` if there are no goals.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// `true` if the goals have no result to report at the end.
    #[must_use]
    pub fn are_silent(&self) -> bool {
        let judged = Self {
            // A share of a flow only delays requests, so it is neither met nor missed.
            flow: None,
            ..self.clone()
        };
        judged.is_empty()
    }

    /// `true` if the depth is found before the measurement starts.
    #[must_use]
    pub fn searches_first(&self) -> bool {
        self.depth_target.is_some_and(|it| !it.goes_on)
    }
}

impl SteadyGoal {
    /// Number of readings that are judged together, at least 1.
    #[must_use]
    pub fn reading_count(&self) -> usize {
        let count = self.window_ns / self.interval_ns.max(1);
        usize::try_from(count.max(1)).unwrap_or(usize::MAX)
    }
}
