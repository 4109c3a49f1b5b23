//! Outcome of the goals of a job.

use plan::job::SteadyGoal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::real::Real;

/// Outcome of the goals of a job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GoalFigures {
    /// The missed goal that ended the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<MissedGoal>,
    /// The queue depth, if the job searched for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<FoundDepth>,
    /// Readings of the steadiness goal. Of jobs that are judged together, the last one has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyReadings>,
}

/// A goal that a job missed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissedGoal {
    /// Kind of the goal.
    pub goal: GoalKind,
    /// The operation that missed it.
    pub operation: String,
    /// The minimum rate per second, or the maximum latency in nanoseconds.
    pub wanted: u64,
    /// The measured value, in the same unit.
    pub seen: u64,
    /// Time of the miss, in nanoseconds from the start of the job's measurement.
    pub at_ns: u64,
    /// The request that took too long, if a single request did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<LateRequest>,
}

/// Kind of a job's goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GoalKind {
    /// A minimum bandwidth.
    Bandwidth,
    /// A minimum request rate.
    Iops,
    /// A maximum latency.
    Latency,
    /// The latency limit of the search for a queue depth.
    DepthLatency,
}

/// A request that took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LateRequest {
    /// Index into the job's files.
    pub file_index: u32,
    /// Offset of the request in the file, in bytes.
    pub offset_bytes: u64,
    /// Length of the request, in bytes.
    pub length_bytes: u32,
}

/// The queue depth that a job searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundDepth {
    /// Queue depth in use when the job ended.
    pub iodepth: u32,
    /// `true` if enough requests met the latency limit at the last depth tested. None if no depth
    /// was tested for its whole time.
    pub kept: Option<bool>,
}

impl FoundDepth {
    /// `true` if not even a queue depth of 1 met the latency limit.
    #[must_use]
    pub fn has_no_valid_depth(&self) -> bool {
        (self.iodepth, self.kept) == (1, Some(false))
    }
}

/// The readings that decided whether a job, or several, were steady.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyReadings {
    /// The requested limit.
    pub goal: SteadyGoal,
    /// `true` if the limit was reached, which ended the jobs.
    pub is_reached: bool,
    /// Value last compared with the limit: a slope or a deviation, in percent of the mean if the
    /// limit is in percent. 0 until there are enough readings.
    #[serde(with = "Real")]
    pub criterion: f64,
    /// Largest distance of a reading from the mean, for a goal on the deviation.
    #[serde(with = "Real")]
    pub deviation: f64,
    /// Slope of the readings, from one to the next, for a goal on the slope.
    #[serde(with = "Real")]
    pub slope: f64,
    /// The last readings that were judged together, oldest first.
    pub readings: Vec<SteadyReading>,
}

/// Rates and latency of jobs in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SteadyReading {
    /// Requests per second.
    pub iops: u64,
    /// Bytes per second.
    pub bytes_per_second: u64,
    /// Mean latency, in nanoseconds; 0 without requests.
    pub latency_ns: u64,
}

impl MissedGoal {
    /// A sentence about the miss, for the job of this name.
    #[must_use]
    pub fn sentence(&self, job: &str) -> String {
        let Self { wanted, seen, .. } = self;
        let (job, operation) = (units::printable(job), units::printable(&self.operation));
        let time = units::format::latency_ns;
        let after = time(self.at_ns);
        let why = match self.goal {
            GoalKind::Bandwidth => format!(
                "{operation}s reached {}/s, but {}/s were required",
                units::format::size(*seen),
                units::format::size(*wanted)
            ),
            GoalKind::Iops => {
                format!("{operation}s reached {seen}/s, but {wanted}/s were required")
            }
            GoalKind::Latency => format!(
                "a {operation} took {}, but the limit is {}",
                time(*seen),
                time(*wanted)
            ),
            GoalKind::DepthLatency => format!(
                "a {operation} took {} at a queue depth of 1, but the limit is {}",
                time(*seen),
                time(*wanted)
            ),
        };
        format!("the job `{job}` was ended after {after}: {why}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_goal_is_described_in_the_units_of_the_goal() {
        let missed = |goal, wanted, seen| MissedGoal {
            goal,
            operation: "read".to_owned(),
            wanted,
            seen,
            at_ns: 3_000_000_000,
            request: None,
        };
        let sentence = |goal, wanted, seen| missed(goal, wanted, seen).sentence("a");
        let begin = "the job `a` was ended after 3.00 s: ";
        assert_eq!(
            sentence(GoalKind::Iops, 1000, 91),
            format!("{begin}reads reached 91/s, but 1000/s were required")
        );
        assert_eq!(
            sentence(GoalKind::Bandwidth, 1 << 20, 4096),
            format!("{begin}reads reached 4 KiB/s, but 1 MiB/s were required")
        );
        assert_eq!(
            sentence(GoalKind::Latency, 1000, 2_000_000),
            format!("{begin}a read took 2.00 ms, but the limit is 1.00 µs")
        );
        assert_eq!(
            sentence(GoalKind::DepthLatency, 1000, 2_000_000),
            format!("{begin}a read took 2.00 ms at a queue depth of 1, but the limit is 1.00 µs")
        );
    }
}
