//! Queue of due transactions, which are taken one by one, and their results.

use crate::recorded_turns::RecordedTurns;
use crate::{Arrivals, DueCounts, DueWindow, SharedArrivals};

/// Due time of an idle slot.
pub(crate) const IDLE_NS: u64 = u64::MAX;
/// Longest wait of a stream whose phase other threads may end, in nanoseconds.
// At the lowest rate, the next due time is minutes away.
const WATCHED_WAIT_NS: u64 = 10_000_000;

/// Due times of a thread's transactions.
#[derive(Debug, Clone)]
pub enum DueTimes {
    /// Arrivals of this thread alone.
    Own(Arrivals),
    /// Arrivals shared by the threads of a worker.
    Shared(SharedArrivals),
    /// Requests of a trace, shared by the threads of a worker.
    Recorded(RecordedTurns),
}

impl DueTimes {
    #[inline]
    pub(crate) fn take_ns(&mut self) -> u64 {
        match self {
            Self::Own(arrivals) => arrivals.next_due_ns(),
            Self::Shared(arrivals) => arrivals.take_ns(),
            Self::Recorded(turns) => turns.take().map_or(u64::MAX, |it| it.due_ns),
        }
    }

    /// The due times that no thread has taken, without taking them.
    pub(crate) fn left(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        match self {
            Self::Own(arrivals) => {
                let mut arrivals = arrivals.clone();
                Box::new(std::iter::from_fn(move || Some(arrivals.next_due_ns())))
            }
            Self::Shared(arrivals) => arrivals.left(),
            Self::Recorded(turns) => Box::new(turns.left_ns()),
        }
    }

    pub(crate) fn count_until(&self, end_ns: u64) -> u64 {
        match self {
            Self::Own(arrivals) => arrivals.count_until(end_ns),
            Self::Shared(arrivals) => arrivals.count_until(end_ns),
            Self::Recorded(turns) => turns.count_until(end_ns),
        }
    }
}

/// Reference times of a loop, in nanoseconds of the worker's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Origin of the due times, the same for all workers.
    pub start_ns: u64,
    /// Current time of the thread; earlier due times are skipped.
    pub now_ns: u64,
    /// Response times and lateness are recorded for requests due in this window.
    pub window: DueWindow,
}

impl Timing {
    /// For a loop without due times.
    pub const ANY: Self = Self {
        start_ns: 0,
        now_ns: 0,
        window: DueWindow {
            start_ns: 0,
            length_ns: 0,
        },
    };
}

/// Due transactions of one thread. A due time is taken when a slot is free, and the transaction
/// starts then.
#[derive(Debug, Clone)]
pub struct DueQueue {
    due: DueTimes,
    start_ns: u64,
    /// Due time that was taken but not started, in nanoseconds of the worker's clock.
    pending_ns: Option<u64>,
    /// Transactions due at or after this time do not start.
    close_ns: u64,
    /// Due time of the transaction in progress in each slot.
    due_by_slot_ns: Box<[u64]>,
    counts: DueCounts,
}

/// Next step of a due queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueStep {
    /// Start the transaction that was due at this time.
    Due(u64),
    /// Nothing is due before this time.
    Wait(u64),
    /// No more transactions.
    Finished,
}

impl DueQueue {
    /// A queue of the transactions due from `timing` on.
    #[must_use]
    // Once per worker; inlined, it would be in the program for each kind of stream and engine.
    #[inline(never)]
    pub fn new(mut due: DueTimes, timing: Timing, slot_count: u32) -> Self {
        let start_ns = timing.start_ns;
        let mut pending_ns = start_ns.saturating_add(due.take_ns());
        // The thread could not start them in time, because it did not run yet.
        while pending_ns < timing.now_ns {
            pending_ns = start_ns.saturating_add(due.take_ns());
        }
        Self {
            due,
            start_ns,
            pending_ns: Some(pending_ns),
            close_ns: u64::MAX,
            due_by_slot_ns: vec![IDLE_NS; slot_count as usize].into(),
            counts: DueCounts::new(timing.window),
        }
    }

    /// Determines whether a transaction may start now. A due time is taken only when a slot is
    /// free: while this thread is busy, another may take it.
    #[inline]
    pub fn turn(&mut self, now_ns: u64) -> DueStep {
        let due_ns = match self.pending_ns {
            Some(due_ns) => due_ns,
            None => self.start_ns.saturating_add(self.due.take_ns()),
        };
        // A due time that was taken cannot be given back, so it stays pending until it begins.
        self.pending_ns = Some(due_ns);
        if due_ns >= self.close_ns {
            DueStep::Finished
        } else if now_ns < due_ns {
            DueStep::Wait(due_ns)
        } else {
            DueStep::Due(due_ns)
        }
    }

    /// As [`Self::turn`], for a stream that must check regularly whether its phase has ended: it
    /// waits at most 10 ms.
    #[inline]
    pub fn turn_with_short_wait(&mut self, now_ns: u64) -> DueStep {
        match self.turn(now_ns) {
            DueStep::Wait(until_ns) => DueStep::Wait(until_ns.min(now_ns + WATCHED_WAIT_NS)),
            turn => turn,
        }
    }

    /// Starts the transaction that was due at `due_ns` in a slot.
    #[inline]
    pub fn begin(&mut self, slot: usize, due_ns: u64, now_ns: u64) {
        self.pending_ns = None;
        self.due_by_slot_ns[slot] = due_ns;
        self.counts.begun(due_ns, now_ns);
        // Only work from before the end starts after `close`, so this counts the backlog.
        if self.close_ns < u64::MAX && self.counts.has(due_ns) {
            self.counts.left_count += 1;
        }
    }

    /// Counts the end of a slot's transaction; a negative `result` is a negated errno. Returns the
    /// transaction's due time.
    #[inline]
    pub fn end(&mut self, slot: usize, now_ns: u64, result: i32) -> u64 {
        let due_ns = std::mem::replace(&mut self.due_by_slot_ns[slot], IDLE_NS);
        self.counts.ended(due_ns, now_ns, result);
        due_ns
    }

    /// Prevents the start of transactions due at `end_ns` or later, in nanoseconds of the worker's
    /// clock.
    pub fn close(&mut self, end_ns: u64) {
        self.close_ns = end_ns;
    }

    /// Results so far, and the transactions that have not ended or started.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        let is_begun = |ns: &u64| *ns != IDLE_NS;
        Backlog {
            counts: self.counts.clone(),
            pending_ns: self.pending_ns,
            begun_ns: self
                .due_by_slot_ns
                .iter()
                .copied()
                .filter(is_begun)
                .collect(),
            start_ns: self.start_ns,
            due: self.due.clone(),
        }
    }
}

/// Results of a loop, and the transactions that never started or never ended.
#[derive(Debug, Clone)]
pub struct Backlog {
    pub(crate) counts: DueCounts,
    pub(crate) pending_ns: Option<u64>,
    pub(crate) begun_ns: Vec<u64>,
    pub(crate) start_ns: u64,
    pub(crate) due: DueTimes,
}

impl Backlog {
    /// Results of the transactions that were due.
    #[must_use]
    pub fn counts(&self) -> &DueCounts {
        &self.counts
    }

    /// Due times of transactions that were taken and have not ended, in nanoseconds of the worker's
    /// clock.
    pub fn unended_ns(&self) -> impl Iterator<Item = u64> + '_ {
        self.pending_ns.iter().chain(&self.begun_ns).copied()
    }

    /// Due times that no thread has taken, ascending and without end, in nanoseconds of the
    /// worker's clock. All threads that share a stream return the same.
    pub fn untaken_ns(&self) -> impl Iterator<Item = u64> + '_ {
        let due = self.due.left();
        due.map(|due_ns| self.start_ns.saturating_add(due_ns))
    }

    /// Number of untaken due times before `end_ns`. Beyond ten million, the rest of a Poisson
    /// process is estimated by its mean.
    #[must_use]
    pub fn untaken_count(&self, end_ns: u64) -> u64 {
        // `count_until` includes its end; `end_ns` is exclusive.
        match end_ns.checked_sub(self.start_ns + 1) {
            Some(last_ns) => self.due.count_until(last_ns),
            None => 0,
        }
    }
}
