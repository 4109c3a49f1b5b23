//! How a phase ends for all of its workers: who stops whom, and who waits for whom.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// What a worker finds when it asks whether it may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Signal {
    /// It may.
    GoOn,
    /// The first worker is done: how far it is now is to be noted.
    Note,
    /// It leaves what it repeats.
    Stop,
}

/// Tells other processes how many rounds any worker here has done at most.
pub type TellRounds = Box<dyn Fn(u64) + Send + Sync>;

/// How far all workers of a phase are, as far as each has to know.
pub struct PhaseEnd {
    signal: AtomicU8,
    /// Workers that have not yet said how many rounds they have done when time is up.
    awaited: AtomicU32,
    /// The most that any of the others has.
    most_rounds: AtomicU64,
    /// Where other processes have workers of the phase, who count as one more.
    others: Option<TellRounds>,
}

impl fmt::Debug for PhaseEnd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PhaseEnd")
            .field("signal", &self.signal)
            .field("awaited", &self.awaited)
            .field("most_rounds", &self.most_rounds)
            .finish_non_exhaustive()
    }
}

impl PhaseEnd {
    /// For so many workers, those of all groups.
    #[must_use]
    pub const fn new(worker_count: u32) -> Self {
        Self {
            signal: AtomicU8::new(Signal::GoOn as u8),
            awaited: AtomicU32::new(worker_count),
            most_rounds: AtomicU64::new(0),
            others: None,
        }
    }

    /// For so many workers here, and some elsewhere: `tell` is called once all here have said how
    /// many rounds they have done, at once where there are none, and
    /// [`hear_of_others`](Self::hear_of_others) is to be when those have.
    #[must_use]
    pub fn with_others(worker_count: u32, tell: TellRounds) -> Self {
        if worker_count == 0 {
            tell(0);
        }
        Self {
            others: Some(tell),
            ..Self::new(worker_count.saturating_add(1))
        }
    }

    /// So many rounds at most were done elsewhere, by all who are there.
    pub fn hear_of_others(&self, rounds: u64) {
        self.most_rounds.fetch_max(rounds, Ordering::Relaxed);
        self.awaited.fetch_sub(1, Ordering::Release);
    }

    /// Whether there is anything to be heeded.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.signal.load(Ordering::Relaxed) == Signal::GoOn as u8
    }

    pub(super) fn signal(&self) -> Signal {
        match self.signal.load(Ordering::Relaxed) {
            it if it == Signal::Stop as u8 => Signal::Stop,
            it if it == Signal::Note as u8 => Signal::Note,
            _ => Signal::GoOn,
        }
    }

    /// Tells all workers to leave what they repeat.
    pub(crate) fn stop(&self) {
        self.tell(Signal::Stop);
    }

    /// Tells all workers; one that was told to stop is not told to note any more.
    pub(super) fn tell(&self, signal: Signal) {
        self.signal.fetch_max(signal as u8, Ordering::Relaxed);
    }

    /// A worker has begun so many rounds and begins no more until all have said so.
    pub(super) fn arrive(&self, rounds: u64) {
        self.most_rounds.fetch_max(rounds, Ordering::Relaxed);
        let awaited = self.awaited.fetch_sub(1, Ordering::AcqRel);
        if let (2, Some(tell)) = (awaited, &self.others) {
            tell(self.most_rounds.load(Ordering::Relaxed));
        }
    }

    /// How many rounds each is to do, once all have said how many they have.
    pub(super) fn level(&self) -> Option<u64> {
        let is_known = self.awaited.load(Ordering::Acquire) == 0;
        is_known.then(|| self.most_rounds.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn the_level_is_the_most_of_all() {
        let end = PhaseEnd::new(3);
        end.arrive(5);
        end.arrive(9);
        assert_eq!(end.level(), None);
        end.arrive(2);
        assert_eq!(end.level(), Some(9));
    }

    #[test]
    fn workers_elsewhere_are_waited_for_as_one() {
        let told = Arc::new(AtomicU64::new(0));
        let note = Arc::clone(&told);
        let end = PhaseEnd::with_others(2, Box::new(move |rounds| note.store(rounds, Relaxed)));
        end.arrive(5);
        assert_eq!(told.load(Relaxed), 0);
        end.arrive(3);
        assert_eq!((told.load(Relaxed), end.level()), (5, None));
        end.hear_of_others(8);
        assert_eq!(end.level(), Some(8));
    }

    #[test]
    fn who_is_told_to_stop_is_not_told_to_go_on() {
        let end = PhaseEnd::new(2);
        assert!(end.is_quiet());
        end.tell(Signal::Stop);
        end.tell(Signal::Note);
        assert_eq!(end.signal(), Signal::Stop);
    }
}
