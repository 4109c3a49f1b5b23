//! Several processes that share a run, on one machine or on many.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Environment;
use crate::real::Real;
use crate::zero::is_zero;

/// The processes that shared a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CrewRecord {
    /// How they spoke with the one that led: `mpi`, with the library, or `ssh`, with the command.
    pub carrier: String,
    /// How many there were.
    pub ranks: u32,
    /// Where they were.
    pub hosts: Vec<HostRecord>,
}

impl CrewRecord {
    /// How many there were and where, such as `4 processes on 2 hosts`; a host that is alone by its
    /// name, as it calls itself.
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

/// A machine that took part.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostRecord {
    /// Its name.
    pub name: String,
    /// The numbers of the processes there, 0-based.
    pub ranks: Vec<u32>,
    /// The machine and its system.
    pub environment: Environment,
}

/// What each of several processes did in a cell, and how well they agreed on the time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CellCrew {
    /// From the first process that began to the last, in nanoseconds of the leader's clock.
    pub start_spread_ns: u64,
    /// How far the leader's idea of another's clock may be off, at most, in nanoseconds: half of
    /// the shortest round trip.
    pub offset_bound_ns: u64,
    /// How fast the clocks ran apart at most, in parts of a billion; none where that was not
    /// measured.
    pub drift_ppb: Option<f64>,
    /// From when the first process was done to when the last was, in nanoseconds.
    pub tail_ns: u64,
    /// The share of all processes' time, up to the last one's end, in which they had nothing left
    /// to do: from 0 to 1.
    #[serde(with = "Real")]
    pub tail_share: f64,
    /// Operations a second, as the headline counts them, until the first was done: all were at
    /// work.
    pub first_done_per_second: Option<f64>,
    /// The same until the last was done.
    pub last_done_per_second: Option<f64>,
    /// Each process, by its number.
    pub ranks: Vec<RankFigures>,
}

impl CellCrew {
    /// The median of the rates of those that were not lost; none where all were.
    #[must_use]
    pub fn median_per_second(&self) -> Option<f64> {
        let there = self.ranks.iter().filter(|it| it.lost_ns.is_none());
        let mut rates: Vec<f64> = there.map(|it| it.per_second).collect();
        rates.sort_by(f64::total_cmp);
        let [lower, upper] = [rates.len().checked_sub(1)? / 2, rates.len() / 2];
        Some(f64::midpoint(rates[lower], rates[upper]))
    }
}

/// How far a process's clock is ahead of the leader's, as round trips tell.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClockOffset {
    /// What is to be taken off its clock, in nanoseconds.
    pub offset_ns: i64,
    /// How far that may be off, in nanoseconds: half of the shortest round trip.
    pub bound_ns: u64,
    /// How fast it ran away in the cell, in parts of a billion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift_ppb: Option<f64>,
}

/// What one of several processes did in a cell.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RankFigures {
    /// Its number, 0-based.
    pub rank: u32,
    /// The machine.
    pub host: String,
    /// Operations that succeeded, as the headline counts them.
    pub count: u64,
    /// Operations that failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// `count` for each second that it measured.
    #[serde(with = "Real")]
    pub per_second: f64,
    /// Median of the latency, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the latency, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// When it began, in nanoseconds of the leader's clock from the agreed start.
    pub begin_ns: i64,
    /// When it was done, in nanoseconds from the start of the measurement.
    pub done_ns: u64,
    /// Its clock.
    pub clock: ClockOffset,
    /// When it was lost, in nanoseconds from the start of the measurement; what it did is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_ns: Option<u64>,
}
