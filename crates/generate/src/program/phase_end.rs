//! Coordinates the end of a phase among all of its workers.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Signal to a worker that asks whether to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Signal {
    Continue,
    /// The first worker is done: record the progress so far.
    Record,
    /// Leave the body.
    Stop,
}

/// Reports the largest number of rounds of a worker in this process to other processes.
pub type MaxRoundsReporter = Box<dyn Fn(u64) + Send + Sync>;

/// Shared state of the workers of a phase, needed to end it.
pub struct PhaseEnd {
    signal: AtomicU8,
    /// Number of workers that have not reported their rounds since time was up.
    awaited_count: AtomicU32,
    /// Largest number of rounds reported so far.
    max_rounds: AtomicU64,
    /// Set if other processes have workers of the phase; these count as one more worker.
    reporter: Option<MaxRoundsReporter>,
}

impl fmt::Debug for PhaseEnd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PhaseEnd")
            .field("signal", &self.signal)
            .field("awaited", &self.awaited_count)
            .field("most_rounds", &self.max_rounds)
            .finish_non_exhaustive()
    }
}

impl PhaseEnd {
    /// For `worker_count` workers of all groups.
    #[must_use]
    pub const fn new(worker_count: u32) -> Self {
        Self {
            signal: AtomicU8::new(Signal::Continue as u8),
            awaited_count: AtomicU32::new(worker_count),
            max_rounds: AtomicU64::new(0),
            reporter: None,
        }
    }

    /// For `worker_count` workers here, and more in other processes. `report` is called once all
    /// workers here have reported their rounds; without workers, immediately. Call
    /// [`hear_of_others`](Self::hear_of_others) when the other processes' workers have reported
    /// theirs.
    #[must_use]
    pub fn with_others(worker_count: u32, report: MaxRoundsReporter) -> Self {
        if worker_count == 0 {
            report(0);
        }
        Self {
            reporter: Some(report),
            ..Self::new(worker_count.saturating_add(1))
        }
    }

    /// Records the largest number of rounds in other processes, after all of their workers have
    /// reported.
    pub fn hear_of_others(&self, rounds: u64) {
        self.max_rounds.fetch_max(rounds, Ordering::Relaxed);
        // Release, so that a worker that sees 0 also sees the largest number.
        self.awaited_count.fetch_sub(1, Ordering::Release);
    }

    /// `true` if there is no signal.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.signal.load(Ordering::Relaxed) == Signal::Continue as u8
    }

    pub(super) fn signal(&self) -> Signal {
        match self.signal.load(Ordering::Relaxed) {
            it if it == Signal::Stop as u8 => Signal::Stop,
            it if it == Signal::Record as u8 => Signal::Record,
            _ => Signal::Continue,
        }
    }

    /// Signals all workers to leave their bodies.
    pub(crate) fn stop(&self) {
        self.tell(Signal::Stop);
    }

    /// Signals all workers; a stop is not replaced by a note.
    pub(super) fn tell(&self, signal: Signal) {
        // Relaxed, because the signal guards no other memory.
        self.signal.fetch_max(signal as u8, Ordering::Relaxed);
    }

    /// Records that a worker has begun `rounds` rounds. It begins no more until all workers have
    /// reported.
    pub(super) fn arrive(&self, rounds: u64) {
        self.max_rounds.fetch_max(rounds, Ordering::Relaxed);
        // Acquire, so that the last worker sees the numbers of all others.
        let awaited = self.awaited_count.fetch_sub(1, Ordering::AcqRel);
        // The last worker here has reported; the other processes count as one more worker.
        if let (2, Some(tell)) = (awaited, &self.reporter) {
            tell(self.max_rounds.load(Ordering::Relaxed));
        }
    }

    /// Number of rounds that each worker is to reach; `None` until all have reported.
    pub(super) fn level(&self) -> Option<u64> {
        let is_known = self.awaited_count.load(Ordering::Acquire) == 0;
        is_known.then(|| self.max_rounds.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn the_level_is_the_largest_round_count() {
        let end = PhaseEnd::new(3);
        end.arrive(5);
        end.arrive(9);
        assert_eq!(end.level(), None);
        end.arrive(2);
        assert_eq!(end.level(), Some(9));
    }

    #[test]
    fn workers_of_other_processes_are_awaited_as_one() {
        let reported = Arc::new(AtomicU64::new(0));
        let note = Arc::clone(&reported);
        let end = PhaseEnd::with_others(2, Box::new(move |rounds| note.store(rounds, Relaxed)));
        end.arrive(5);
        assert_eq!(reported.load(Relaxed), 0);
        end.arrive(3);
        assert_eq!((reported.load(Relaxed), end.level()), (5, None));
        end.hear_of_others(8);
        assert_eq!(end.level(), Some(8));
    }

    #[test]
    fn a_stop_signal_is_not_overwritten() {
        let end = PhaseEnd::new(2);
        assert!(end.is_quiet());
        end.tell(Signal::Stop);
        end.tell(Signal::Record);
        assert_eq!(end.signal(), Signal::Stop);
    }
}
