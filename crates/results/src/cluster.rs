//! Several processes that share a run, on one machine or on many.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Environment;
use crate::real::Real;
use crate::zero::is_zero;

/// The processes that shared a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClusterRecord {
    /// Connection to the leading process: `mpi` (MPI library) or `ssh` (command).
    pub carrier: String,
    /// Number of processes.
    pub ranks: u32,
    /// The hosts that they ran on.
    pub hosts: Vec<HostRecord>,
}

impl ClusterRecord {
    /// Number of processes and their hosts, such as `4 processes on 2 hosts`. A single host is
    /// given by name, if known.
    #[must_use]
    pub fn place(&self) -> String {
        let processes = match self.ranks {
            1 => "1 process".to_owned(),
            count => format!("{count} processes"),
        };
        match self.hosts.as_slice() {
            [] => processes,
            [host] if host.name.is_empty() => format!("{processes} on 1 host"),
            [host] => format!("{processes} on {}", host.name),
            hosts => format!("{processes} on {} hosts", hosts.len()),
        }
    }
}

/// A host that took part in a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostRecord {
    /// Host name.
    pub name: String,
    /// Ranks of the processes on this host, 0-based.
    pub ranks: Vec<u32>,
    /// Hardware and operating system.
    pub environment: Environment,
}

/// Results per process in a cell, and the accuracy of their common time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CellCluster {
    /// Time from the start of the first process to the start of the last, in nanoseconds of the
    /// leader's clock.
    pub start_spread_ns: u64,
    /// Largest possible error of a clock offset to the leader, in nanoseconds: half of the shortest
    /// round trip.
    pub offset_bound_ns: u64,
    /// Largest clock drift, in parts per billion; none if it was not measured.
    pub drift_ppb: Option<f64>,
    /// Time from the first process that was done to the last, in nanoseconds.
    pub tail_ns: u64,
    /// Idle share of all processes' time until the last was done, from 0 to 1.
    #[serde(with = "Real")]
    pub tail_share: f64,
    /// Headline operations per second until the first process was done, so while all were working.
    pub first_done_per_second: Option<f64>,
    /// Headline operations per second until the last process was done.
    pub last_done_per_second: Option<f64>,
    /// Results per process, by rank.
    pub ranks: Vec<RankFigures>,
}

impl CellCluster {
    /// Median of the processes' rates, without lost processes; `None` if all were lost.
    #[must_use]
    pub fn median_per_second(&self) -> Option<f64> {
        // The results of a lost process are unknown, and its zeros would lower the median.
        let present = self.ranks.iter().filter(|it| it.lost_ns.is_none());
        let mut rates: Vec<f64> = present.map(|it| it.per_second).collect();
        rates.sort_by(f64::total_cmp);
        let [lower, upper] = [rates.len().checked_sub(1)? / 2, rates.len() / 2];
        Some(f64::midpoint(rates[lower], rates[upper]))
    }
}

/// Offset of a process's clock to the leader's clock, measured by round trips.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClockOffset {
    /// Nanoseconds to subtract from the process's clock.
    pub offset_ns: i64,
    /// Largest possible error of the offset, in nanoseconds: half of the shortest round trip.
    pub bound_ns: u64,
    /// Clock drift during the cell, in parts per billion; none if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift_ppb: Option<f64>,
}

/// Results of one process in a cell.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RankFigures {
    /// Rank of the process, 0-based.
    pub rank: u32,
    /// Name of its host.
    pub host: String,
    /// Successful operations, counted as in the cell's `total`.
    pub count: u64,
    /// Operations that failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// `count` per second of the process's measured time.
    #[serde(with = "Real")]
    pub per_second: f64,
    /// Median of the latency, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the latency, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// Start of the process, in nanoseconds of the leader's clock after the agreed start.
    pub begin_ns: i64,
    /// When the process was done, in nanoseconds from the start of the measurement.
    pub done_ns: u64,
    /// Clock of the process.
    pub clock: ClockOffset,
    /// When the process was lost, in nanoseconds from the start of the measurement. Its results are
    /// unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_ns: Option<u64>,
}
