//! What became of the goals of a job.

use plan::job::SteadyGoal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::real::Real;

/// What became of the goals of a job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GoalFigures {
    /// The goal that it missed, which ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<MissedGoal>,
    /// The queue depth, where it was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<FoundDepth>,
    /// Whether its figures were steady; of jobs that are judged together, the last one has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyReadings>,
}

/// A goal that a job missed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissedGoal {
    /// Which.
    pub goal: GoalKind,
    /// The operation that missed it.
    pub operation: String,
    /// The least rate a second, or the largest latency in nanoseconds, that was asked for.
    pub wanted: u64,
    /// What there was.
    pub seen: u64,
    /// When, in nanoseconds from the beginning of the job's measurement.
    pub at_ns: u64,
    /// The request that took too long, where a single one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<LateRequest>,
}

/// Which goal of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GoalKind {
    /// A least bandwidth.
    Bandwidth,
    /// A least rate of requests.
    Iops,
    /// A largest latency.
    Latency,
    /// A latency that the queue depth was looked for with.
    DepthLatency,
}

/// A request that took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LateRequest {
    /// Which of the job's files.
    pub file_index: u32,
    /// First byte.
    pub offset_bytes: u64,
    /// How many.
    pub length_bytes: u32,
}

/// The queue depth of a job that had it looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundDepth {
    /// The one in use when the job ended.
    pub iodepth: u32,
    /// Whether enough requests kept within the latency when a depth was tried last; none where
    /// none was tried for its whole time.
    pub kept: Option<bool>,
}

impl FoundDepth {
    /// Whether not even a depth of 1 kept the latency.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        (self.iodepth, self.kept) == (1, Some(false))
    }
}

/// The readings by which a job, or several, were judged to be steady or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyReadings {
    /// What was asked for.
    pub goal: SteadyGoal,
    /// Whether it was reached, which ended the jobs.
    pub is_reached: bool,
    /// What was compared with the limit last: a slope or a deviation, in percent of the mean where
    /// the limit is; 0 before there were readings enough.
    #[serde(with = "Real")]
    pub criterion: f64,
    /// The largest distance of a reading from the mean, where that is looked at.
    #[serde(with = "Real")]
    pub deviation: f64,
    /// The slope of the readings, from one to the next, where that is looked at.
    #[serde(with = "Real")]
    pub slope: f64,
    /// The last readings, up to as many as are judged together, the oldest first.
    pub readings: Vec<SteadyReading>,
}

/// What jobs did in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SteadyReading {
    /// Requests a second.
    pub iops: u64,
    /// Bytes a second.
    pub bytes_per_second: u64,
    /// Mean latency, in nanoseconds; 0 without requests.
    pub latency_ns: u64,
}

impl MissedGoal {
    /// What happened, about a job of that name.
    #[must_use]
    pub fn sentence(&self, job: &str) -> String {
        let Self { wanted, seen, .. } = self;
        let (job, operation) = (units::printable(job), units::printable(&self.operation));
        let time = units::format::latency_ns;
        let after = time(self.at_ns);
        let why = match self.goal {
            GoalKind::Bandwidth => format!(
                "{operation}s came to {}/s, and {}/s were asked for",
                units::format::size(*seen),
                units::format::size(*wanted)
            ),
            GoalKind::Iops => {
                format!("{operation}s came to {seen}/s, and {wanted}/s were asked for")
            }
            GoalKind::Latency => format!(
                "a {operation} took {}, and {} was the most",
                time(*seen),
                time(*wanted)
            ),
            GoalKind::DepthLatency => format!(
                "a {operation} took {} at a queue depth of 1, and {} was the most",
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
    fn what_was_missed_is_said_in_the_units_of_the_goal() {
        let missed = |goal, wanted, seen| MissedGoal {
            goal,
            operation: "read".to_owned(),
            wanted,
            seen,
            at_ns: 3_000_000_000,
            request: None,
        };
        let said = |goal, wanted, seen| missed(goal, wanted, seen).sentence("a");
        let begin = "the job `a` was ended after 3.00 s: ";
        assert_eq!(
            said(GoalKind::Iops, 1000, 91),
            format!("{begin}reads came to 91/s, and 1000/s were asked for")
        );
        assert_eq!(
            said(GoalKind::Bandwidth, 1 << 20, 4096),
            format!("{begin}reads came to 4 KiB/s, and 1 MiB/s were asked for")
        );
        assert_eq!(
            said(GoalKind::Latency, 1000, 2_000_000),
            format!("{begin}a read took 2.00 ms, and 1.00 µs was the most")
        );
        assert_eq!(
            said(GoalKind::DepthLatency, 1000, 2_000_000),
            format!("{begin}a read took 2.00 ms at a queue depth of 1, and 1.00 µs was the most")
        );
    }
}
