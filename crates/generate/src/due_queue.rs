//! What is due, taken one by one, and what became of it.

use crate::{Arrivals, DueCounts, DueWindow, SharedArrivals};

/// The due time of an idle slot.
const NOTHING_NS: u64 = u64::MAX;
/// The longest wait of a stream that others may stop, in nanoseconds.
const WATCHED_WAIT_NS: u64 = 10_000_000;

/// When the transactions of a thread are due.
#[derive(Debug, Clone)]
pub enum DueTimes {
    /// The thread has these arrivals to itself.
    Own(Arrivals),
    /// The threads of a worker share these arrivals.
    Shared(SharedArrivals),
}

impl DueTimes {
    #[inline]
    pub(crate) fn take_ns(&mut self) -> u64 {
        match self {
            Self::Own(arrivals) => arrivals.next_due_ns(),
            Self::Shared(arrivals) => arrivals.take_ns(),
        }
    }

    /// Those that nobody has taken, without taking them.
    pub(crate) fn left(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        match self {
            Self::Own(arrivals) => {
                let mut arrivals = arrivals.clone();
                Box::new(std::iter::from_fn(move || Some(arrivals.next_due_ns())))
            }
            Self::Shared(arrivals) => arrivals.left(),
        }
    }

    pub(crate) fn count_until(&self, end_ns: u64) -> u64 {
        match self {
            Self::Own(arrivals) => arrivals.count_until(end_ns),
            Self::Shared(arrivals) => arrivals.count_until(end_ns),
        }
    }
}

/// The moments from which a loop counts, in nanoseconds of the worker's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Due times count from here, the same for all workers.
    pub start_ns: u64,
    /// What was due before the thread was there is left out.
    pub now_ns: u64,
    /// Response times and lateness are those of requests due in this window.
    pub window: DueWindow,
}

/// What is due of one thread: each due time is taken when a slot is free for it and begins then.
#[derive(Debug, Clone)]
pub struct DueQueue {
    due: DueTimes,
    start_ns: u64,
    /// The due time that was taken and has not begun, in nanoseconds of the worker's clock.
    pending_ns: Option<u64>,
    /// Nothing that is due from here on begins.
    close_ns: u64,
    /// When what each slot has in progress was due.
    slots_ns: Box<[u64]>,
    counts: DueCounts,
}

/// Whether something may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// What was due at this time.
    Due(u64),
    /// Nothing before this time.
    Wait(u64),
    /// Nothing more.
    Over,
}

impl DueQueue {
    /// What is due from `timing` on.
    #[must_use]
    pub fn new(mut due: DueTimes, timing: Timing, slot_count: u32) -> Self {
        let start_ns = timing.start_ns;
        let mut pending_ns = start_ns.saturating_add(due.take_ns());
        while pending_ns < timing.now_ns {
            pending_ns = start_ns.saturating_add(due.take_ns());
        }
        Self {
            due,
            start_ns,
            pending_ns: Some(pending_ns),
            close_ns: u64::MAX,
            slots_ns: vec![NOTHING_NS; slot_count as usize].into(),
            counts: DueCounts::new(timing.window),
        }
    }

    /// Whether anything may begin now. A due time is taken only when a slot is free for it: while
    /// a thread is busy, another may take it.
    #[inline]
    pub fn turn(&mut self, now_ns: u64) -> Turn {
        let due_ns = match self.pending_ns {
            Some(due_ns) => due_ns,
            None => self.start_ns.saturating_add(self.due.take_ns()),
        };
        self.pending_ns = Some(due_ns);
        if due_ns >= self.close_ns {
            Turn::Over
        } else if now_ns < due_ns {
            Turn::Wait(due_ns)
        } else {
            Turn::Due(due_ns)
        }
    }

    /// As [`Self::turn`], for a stream that must check now and then whether its phase has ended: it
    /// waits 10 ms at most.
    #[inline]
    pub fn watched_turn(&mut self, now_ns: u64) -> Turn {
        match self.turn(now_ns) {
            Turn::Wait(until_ns) => Turn::Wait(until_ns.min(now_ns + WATCHED_WAIT_NS)),
            turn => turn,
        }
    }

    /// Begins what was due at `due_ns` in a slot.
    #[inline]
    pub fn begin(&mut self, slot: usize, due_ns: u64, now_ns: u64) {
        self.pending_ns = None;
        self.slots_ns[slot] = due_ns;
        self.counts.begun(due_ns, now_ns);
        if self.close_ns < u64::MAX && self.counts.has(due_ns) {
            self.counts.left_count += 1;
        }
    }

    /// Counts the end of what a slot has in progress, which has failed where `result` is negative;
    /// when that was due.
    #[inline]
    pub fn end(&mut self, slot: usize, now_ns: u64, result: i32) -> u64 {
        let due_ns = std::mem::replace(&mut self.slots_ns[slot], NOTHING_NS);
        self.counts.ended(due_ns, now_ns, result);
        due_ns
    }

    /// Lets nothing begin any more that is due at `end_ns` or later, in nanoseconds of the worker's
    /// clock.
    pub fn close(&mut self, end_ns: u64) {
        self.close_ns = end_ns;
    }

    /// What became of all that was due so far.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        let is_begun = |ns: &u64| *ns != NOTHING_NS;
        Backlog {
            counts: self.counts.clone(),
            pending_ns: self.pending_ns,
            begun_ns: self.slots_ns.iter().copied().filter(is_begun).collect(),
            start_ns: self.start_ns,
            due: self.due.clone(),
        }
    }
}

/// What a loop leaves behind: what became of what was due, and what never began or never ended.
#[derive(Debug, Clone)]
pub struct Backlog {
    counts: DueCounts,
    pending_ns: Option<u64>,
    begun_ns: Vec<u64>,
    start_ns: u64,
    due: DueTimes,
}

impl Backlog {
    /// What became of what was due.
    #[must_use]
    pub fn counts(&self) -> &DueCounts {
        &self.counts
    }

    /// When that was due which was taken and has not ended, in nanoseconds of the worker's clock.
    pub fn unended_ns(&self) -> impl Iterator<Item = u64> + '_ {
        self.pending_ns.iter().chain(&self.begun_ns).copied()
    }

    /// The due times that nobody has taken, rising and without end, in nanoseconds of the
    /// worker's clock. Threads that share a stream all know the same.
    pub fn untaken_ns(&self) -> impl Iterator<Item = u64> + '_ {
        let due = self.due.left();
        due.map(|due_ns| self.start_ns.saturating_add(due_ns))
    }

    /// How many of these lie before `end_ns`; beyond ten million the rest of a Poisson process is
    /// the mean number in the time left.
    #[must_use]
    pub fn untaken_count(&self, end_ns: u64) -> u64 {
        match end_ns.checked_sub(self.start_ns + 1) {
            Some(last_ns) => self.due.count_until(last_ns),
            None => 0,
        }
    }
}
