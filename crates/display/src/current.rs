//! What goes on now: the cell that is being measured, and the target that is being prepared.

use results::{IntervalRecord, Phase, RunEvent};

use crate::history::History;
use crate::printable::printable;

/// The cell that is being measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Current {
    /// 0-based.
    pub index: u32,
    /// How many cells there are, as far as that is known.
    pub count: u32,
    /// Until when repetitions are added, in nanoseconds of the display's time; none where `count`
    /// is all there are.
    pub budget_end_ns: Option<u64>,
    /// When it began, in nanoseconds of the display's time.
    pub since_ns: u64,
    /// The cell in a few words.
    pub what: String,
    /// The round that it is in, where it is measured until it is steady.
    pub round: Option<String>,
    /// Ramp or measure; none before the first figures.
    pub phase: Option<Phase>,
    /// Time spent in the phase, in nanoseconds.
    pub elapsed_ns: u64,
    /// The phase's length in nanoseconds; 0 when not known.
    pub total_ns: u64,
    /// Operations per second, lately.
    pub iops: f64,
    /// Bytes per second, lately.
    pub bytes_per_second: f64,
    /// Median of the latency, lately, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the latency, lately, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// Failed operations so far.
    pub errors: u64,
    /// What there was over the cell's time, ramp included.
    pub past: Past,
    /// The last complete interval.
    pub interval: Option<IntervalRecord>,
}

/// What there was over a cell's time, ramp included, oldest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Past {
    /// When it begins, in nanoseconds of the display's time; none before the first figures.
    pub since_ns: Option<u64>,
    /// Operations per second.
    pub iops: History,
    /// Bytes per second.
    pub bandwidth: History,
    /// Medians of the latency in nanoseconds; 0 where there is none.
    pub p50_ns: History,
    /// 99th percentiles of the latency in nanoseconds; 0 where there is none.
    pub p99_ns: History,
    /// How many latencies lie in each octave of nanoseconds.
    pub octaves: History<Vec<u64>>,
}

impl Current {
    pub(crate) fn new(index: u32, count: u32, what: &str, now_ns: u64) -> Self {
        Self {
            index,
            count,
            budget_end_ns: None,
            since_ns: now_ns,
            what: printable(what),
            round: None,
            phase: None,
            elapsed_ns: 0,
            total_ns: 0,
            iops: 0.0,
            bytes_per_second: 0.0,
            p50_ns: None,
            p99_ns: None,
            errors: 0,
            past: Past::default(),
            interval: None,
        }
    }

    /// The share of the phase that is over, from 0 to 1; none when its length is not known.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        share(self.elapsed_ns, self.total_ns)
    }

    /// How long it still takes where it takes so long in all, in nanoseconds.
    pub(crate) fn left_ns(&self, expected_ns: u64, now_ns: u64) -> u64 {
        let in_phase_ns = match self.phase {
            Some(Phase::Measure) => self.total_ns.saturating_sub(self.elapsed_ns),
            _ => 0,
        };
        let spent_ns = now_ns.saturating_sub(self.since_ns);
        expected_ns.saturating_sub(spent_ns).max(in_phase_ns)
    }

    /// Takes the figures of [`RunEvent::Progress`].
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
        let past = &mut self.past;
        past.since_ns.get_or_insert(now_ns);
        // The casts saturate and make 0 of what is no number.
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
    /// When it began, in nanoseconds of the display's time.
    pub since_ns: u64,
    /// Bytes that were there when it began, which say nothing about the speed.
    pub(crate) first_bytes: u64,
}

impl Preparation {
    /// The share that is done, from 0 to 1; none when there is nothing to do.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        share(self.done_bytes, self.total_bytes)
    }

    /// Bytes per second since the beginning; none at the beginning.
    #[must_use]
    pub fn bytes_per_second(&self, now_ns: u64) -> Option<f64> {
        let elapsed_ns = now_ns.saturating_sub(self.since_ns);
        let written = self.done_bytes.saturating_sub(self.first_bytes);
        (elapsed_ns > 0 && written > 0).then(|| written as f64 * 1e9 / elapsed_ns as f64)
    }

    /// Time until all is done at the speed so far, in nanoseconds; none at the beginning.
    #[must_use]
    pub fn left_ns(&self, now_ns: u64) -> Option<u64> {
        let rate = self.bytes_per_second(now_ns)?;
        let left = self.total_bytes.saturating_sub(self.done_bytes);
        Some((left as f64 * 1e9 / rate) as u64)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| (part as f64 / whole as f64).clamp(0.0, 1.0))
}
