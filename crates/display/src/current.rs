//! The current activity: the cell that is being measured or the target that is being prepared.

use results::{IntervalRecord, Phase, RunEvent};

use crate::history::History;
use crate::printable::printable;

/// Minimum time between two write speeds of a preparation.
const POINT_NS: u64 = 200_000_000;

/// The cell that is being measured.
#[derive(Debug, Clone, PartialEq)]
pub struct CurrentCell {
    /// 0-based.
    pub index: u32,
    /// Number of cells, as far as it is known.
    pub count: u32,
    /// Time until which repetitions are added, in nanoseconds of the display's time; `None` if
    /// `count` is final.
    pub budget_end_ns: Option<u64>,
    /// Start of the cell, in nanoseconds of the display's time.
    pub since_ns: u64,
    /// Short description of the cell.
    pub description: String,
    /// The current round, if the cell is measured until it is steady.
    pub round: Option<String>,
    /// Ramp or measure; `None` before the first results.
    pub phase: Option<Phase>,
    /// Time spent in the phase, in nanoseconds.
    pub elapsed_ns: u64,
    /// Length of the phase in nanoseconds; 0 if unknown.
    pub total_ns: u64,
    /// Current operations per second.
    pub iops: f64,
    /// Current bytes per second.
    pub bytes_per_second: f64,
    /// Current median latency, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// Current 99th percentile of the latency, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// Failed operations so far.
    pub errors: u64,
    /// Earlier values of the cell, including the ramp time.
    pub history: CellHistory,
    /// The last complete interval.
    pub interval: Option<IntervalRecord>,
}

/// Earlier values of a cell, including the ramp time, or of a preparation, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CellHistory {
    /// Time of the first values, in nanoseconds of the display's time; `None` before them.
    pub since_ns: Option<u64>,
    /// Operations per second.
    pub iops: History,
    /// Bytes per second.
    pub bandwidth: History,
    /// Median latencies in nanoseconds; 0 if unknown.
    pub p50_ns: History,
    /// 99th percentiles of the latency in nanoseconds; 0 if unknown.
    pub p99_ns: History,
    /// Number of latencies in each octave: entry `i` counts 2^i up to 2^(i+1) nanoseconds.
    pub octaves: History<Vec<u64>>,
}

impl CurrentCell {
    pub(crate) fn new(index: u32, count: u32, description: &str, now_ns: u64) -> Self {
        Self {
            index,
            count,
            budget_end_ns: None,
            since_ns: now_ns,
            description: printable(description),
            round: None,
            phase: None,
            elapsed_ns: 0,
            total_ns: 0,
            iops: 0.0,
            bytes_per_second: 0.0,
            p50_ns: None,
            p99_ns: None,
            errors: 0,
            history: CellHistory::default(),
            interval: None,
        }
    }

    /// Completed share of the phase, from 0 to 1; `None` if its length is unknown.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        share(self.elapsed_ns, self.total_ns)
    }

    /// Remaining time in nanoseconds of a cell that takes `expected_ns` in total.
    pub(crate) fn left_ns(&self, expected_ns: u64, now_ns: u64) -> u64 {
        let in_phase_ns = match self.phase {
            Some(Phase::Measure) => self.total_ns.saturating_sub(self.elapsed_ns),
            _ => 0,
        };
        let spent_ns = now_ns.saturating_sub(self.since_ns);
        // A cell that is later than expected still needs the rest of its phase.
        expected_ns.saturating_sub(spent_ns).max(in_phase_ns)
    }

    /// Updates the values from [`RunEvent::Progress`] and ignores other events.
    pub(crate) fn progress(&mut self, event: &RunEvent, now_ns: u64) {
        let RunEvent::Progress {
            phase,
            elapsed_ns,
            total_ns,
            iops,
            bytes_per_second,
            p50_ns,
            p99_ns,
            octaves,
            errors,
            ..
        } = event
        else {
            return;
        };
        self.phase = Some(phase.clone());
        (self.elapsed_ns, self.total_ns) = (*elapsed_ns, *total_ns);
        (self.iops, self.bytes_per_second) = (*iops, *bytes_per_second);
        (self.p50_ns, self.p99_ns, self.errors) = (*p50_ns, *p99_ns, *errors);
        // Before the first results, the rates are NaN. They would be a gap in the charts.
        if iops.is_nan() {
            return;
        }
        let past = &mut self.history;
        past.since_ns.get_or_insert(now_ns);
        // The casts saturate.
        past.iops.push(*iops as u64);
        past.bandwidth.push(*bytes_per_second as u64);
        past.p50_ns.push(p50_ns.unwrap_or(0));
        past.p99_ns.push(p99_ns.unwrap_or(0));
        past.octaves.push(octaves.clone());
    }
}

/// A target that is being prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preparation {
    /// The target's path.
    pub target: String,
    /// Bytes written so far.
    pub done_bytes: u64,
    /// Bytes to write.
    pub total_bytes: u64,
    /// Start of the preparation, in nanoseconds of the display's time.
    pub since_ns: u64,
    /// Earlier write speeds.
    pub history: CellHistory,
    /// Bytes that were already written at the start; they do not count for the speed.
    initial_bytes: u64,
    /// Time and bytes written at the last point of the history.
    last_point: (u64, u64),
}

impl Preparation {
    pub(crate) fn new(target: String, done_bytes: u64, now_ns: u64) -> Self {
        Self {
            target,
            done_bytes,
            total_bytes: 0,
            since_ns: now_ns,
            history: CellHistory {
                since_ns: Some(now_ns),
                ..CellHistory::default()
            },
            initial_bytes: done_bytes,
            last_point: (now_ns, done_bytes),
        }
    }

    pub(crate) fn progress(&mut self, done_bytes: u64, total_bytes: u64, now_ns: u64) {
        (self.done_bytes, self.total_bytes) = (done_bytes, total_bytes);
        let (last_ns, last_bytes) = self.last_point;
        let elapsed_ns = now_ns.saturating_sub(last_ns);
        if elapsed_ns < POINT_NS {
            return;
        }
        let written = done_bytes.saturating_sub(last_bytes);
        let rate = written as f64 * 1e9 / elapsed_ns as f64;
        self.history.bandwidth.push(rate as u64);
        self.last_point = (now_ns, done_bytes);
    }

    /// Completed share, from 0 to 1; `None` if there is nothing to write.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        share(self.done_bytes, self.total_bytes)
    }

    /// Mean write speed since the start, in bytes per second; `None` until data is written.
    #[must_use]
    pub fn bytes_per_second(&self, now_ns: u64) -> Option<f64> {
        let elapsed_ns = now_ns.saturating_sub(self.since_ns);
        // What an earlier run left in the test file costs no time, so it must not raise the speed.
        let written = self.done_bytes.saturating_sub(self.initial_bytes);
        (elapsed_ns > 0 && written > 0).then(|| written as f64 * 1e9 / elapsed_ns as f64)
    }

    /// Estimated remaining time at that speed, in nanoseconds; `None` until data is written.
    #[must_use]
    pub fn left_ns(&self, now_ns: u64) -> Option<u64> {
        let rate = self.bytes_per_second(now_ns)?;
        let left = self.total_bytes.saturating_sub(self.done_bytes);
        Some((left as f64 * 1e9 / rate) as u64)
    }
}

fn share(part: u64, total: u64) -> Option<f64> {
    (total > 0).then(|| (part as f64 / total as f64).clamp(0.0, 1.0))
}
