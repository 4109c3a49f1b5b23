//! Transactions that begin when they are due, whatever the target does.

use engine::{Completion, OperationSet, Request};

use crate::{Arrivals, Flow, Generator, SharedArrivals, Step};

/// A transaction is late when it begins longer than this after it was due, in nanoseconds.
pub const LATE_NS: u64 = 50_000;

/// The transaction kinds of an open loop, by number.
pub const RESPONSE_KINDS: &[&str] = &["response"];
const RESPONSE: u8 = 0;

/// When the transactions of a thread are due.
#[derive(Debug, Clone)]
pub enum DueTimes {
    /// A stream of its own.
    Own(Arrivals),
    /// One of which the worker's other threads take their share.
    Shared(SharedArrivals),
}

impl DueTimes {
    #[inline]
    fn take_ns(&mut self) -> u64 {
        match self {
            Self::Own(arrivals) => arrivals.next_due_ns(),
            Self::Shared(arrivals) => arrivals.take_ns(),
        }
    }

    fn peek_ns(&self) -> u64 {
        match self {
            Self::Own(arrivals) => arrivals.peek_ns(),
            Self::Shared(arrivals) => arrivals.peek_ns(),
        }
    }

    fn count_until(&self, end_ns: u64) -> u64 {
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
    /// From here on it counts which transactions are late.
    pub measure_ns: u64,
}

/// Another generator's transactions, each begun when it is due or as soon after as a slot is free.
///
/// The only transaction kind is `response`: it lasts from the due time to the completion of the
/// transaction's last request. The free slots decide how much is in flight at most; what is due
/// beyond that waits, and its wait is part of the response time.
///
/// A transaction here is one request: in a slot that waits for a due time, nothing goes on.
#[derive(Debug)]
pub struct OpenLoop<G> {
    transactions: G,
    due: DueTimes,
    start_ns: u64,
    measure_ns: u64,
    /// The arrival that was taken and has not begun, in nanoseconds of the worker's clock.
    pending_ns: Option<u64>,
    /// When the transaction in each slot was due.
    slot_due_ns: Box<[u64]>,
    late_count: u64,
    lateness_ns_max: u64,
}

/// What an open loop leaves behind: what was late, and what never began.
#[derive(Debug, Clone)]
pub struct Arrears {
    /// Transactions of the measurement that began more than [`LATE_NS`] after they were due.
    pub late_count: u64,
    /// The longest time from due to begun of those that began in the measurement.
    pub lateness_ns_max: u64,
    pending_ns: Option<u64>,
    start_ns: u64,
    due: DueTimes,
}

impl<G: Generator> OpenLoop<G> {
    /// Lets the transactions of `transactions`, which have no delays and no replies, begin when
    /// `due` says.
    #[must_use]
    pub fn new(transactions: G, mut due: DueTimes, timing: Timing, slot_count: u32) -> Self {
        let Timing {
            start_ns,
            now_ns,
            measure_ns,
        } = timing;
        let mut pending_ns = start_ns.saturating_add(due.take_ns());
        while pending_ns < now_ns {
            pending_ns = start_ns.saturating_add(due.take_ns());
        }
        Self {
            transactions,
            due,
            start_ns,
            measure_ns,
            pending_ns: Some(pending_ns),
            slot_due_ns: vec![0; slot_count as usize].into(),
            late_count: 0,
            lateness_ns_max: 0,
        }
    }

    /// What is left when the loop has ended.
    #[must_use]
    pub fn into_arrears(self) -> Arrears {
        Arrears {
            late_count: self.late_count,
            lateness_ns_max: self.lateness_ns_max,
            pending_ns: self.pending_ns,
            start_ns: self.start_ns,
            due: self.due,
        }
    }

    #[inline]
    fn begin(&mut self, request: Request, due_ns: u64, now_ns: u64) {
        self.pending_ns = None;
        self.slot_due_ns[request.slot as usize] = due_ns;
        if now_ns >= self.measure_ns {
            let lateness_ns = now_ns - due_ns;
            self.late_count += u64::from(lateness_ns > LATE_NS);
            self.lateness_ns_max = self.lateness_ns_max.max(lateness_ns);
        }
    }
}

impl<G: Generator> Generator for OpenLoop<G> {
    fn operations(&self) -> OperationSet {
        self.transactions.operations()
    }

    fn transaction_kinds(&self) -> &'static [&'static str] {
        RESPONSE_KINDS
    }

    #[inline]
    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        // It is taken only now: while a thread is busy, another one may take it.
        let due_ns = match self.pending_ns {
            Some(due_ns) => due_ns,
            None => self.start_ns.saturating_add(self.due.take_ns()),
        };
        self.pending_ns = Some(due_ns);
        if now_ns < due_ns {
            return Step::Wait { until_ns: due_ns };
        }
        let step = self.transactions.next(slot, now_ns);
        if let Step::Issue(request) = step {
            self.begin(request, due_ns, now_ns);
        }
        step
    }

    #[inline]
    fn expected_bytes(&self, request: &Request) -> u32 {
        self.transactions.expected_bytes(request)
    }

    #[inline]
    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        match self.transactions.complete(completion, now_ns) {
            Flow::Done(_) => Flow::Spanned {
                kind: RESPONSE,
                start_ns: self.slot_due_ns[completion.slot as usize],
            },
            other => other,
        }
    }
}

impl Arrears {
    /// Whether an arrival that was due at `end_ns` or before was taken and never begun.
    #[must_use]
    pub fn holds_one(&self, end_ns: u64) -> bool {
        self.pending_ns.is_some_and(|due_ns| due_ns <= end_ns)
    }

    /// How many arrivals were due at `end_ns` or before and never taken. Threads that share a
    /// stream all know the same number.
    #[must_use]
    pub fn untaken_count(&self, end_ns: u64) -> u64 {
        match end_ns.checked_sub(self.start_ns) {
            Some(length_ns) => self.due.count_until(length_ns),
            None => 0,
        }
    }

    /// The longest time from due to begun, or to `end_ns` where it had not begun by then.
    #[must_use]
    pub fn lateness_ns_max_until(&self, end_ns: u64) -> u64 {
        let untaken_ns = self.start_ns.saturating_add(self.due.peek_ns());
        let first_ns = self.pending_ns.unwrap_or(u64::MAX).min(untaken_ns);
        self.lateness_ns_max.max(end_ns.saturating_sub(first_ns))
    }
}

#[cfg(test)]
mod tests {
    use engine::Operation;

    use super::*;

    const NOW: Timing = Timing {
        start_ns: 0,
        now_ns: 0,
        measure_ns: 0,
    };

    /// A request whenever it is asked, in any slot.
    struct Always;

    impl Generator for Always {
        fn operations(&self) -> OperationSet {
            OperationSet::EMPTY
        }

        fn transaction_kinds(&self) -> &'static [&'static str] {
            &["transaction"]
        }

        fn next(&mut self, slot: u32, _now_ns: u64) -> Step {
            Step::Issue(Request {
                operation: Operation::Read,
                slot,
                file_index: 0,
                length_bytes: 512,
                offset_bytes: 0,
            })
        }

        fn complete(&mut self, _completion: Completion, _now_ns: u64) -> Flow {
            Flow::Done(0)
        }
    }

    fn thousand(timing: Timing, slot_count: u32) -> OpenLoop<Always> {
        let due = DueTimes::Own(Arrivals::uniform(1000.0, 0, 1).unwrap());
        OpenLoop::new(Always, due, timing, slot_count)
    }

    fn begins(open: &mut OpenLoop<Always>, slot: u32, now_ns: u64) -> bool {
        matches!(open.next(slot, now_ns), Step::Issue(_))
    }

    #[test]
    fn a_transaction_waits_for_its_due_time_and_answers_from_it() {
        let mut open = thousand(NOW, 2);
        assert!(begins(&mut open, 0, 0));
        let until_ns = 1_000_000;
        assert_eq!(open.next(1, 10), Step::Wait { until_ns });
        assert_eq!(open.next(1, 999_999), Step::Wait { until_ns });
        assert!(begins(&mut open, 1, 1_020_000));
        let flow = open.complete(Completion { slot: 1, result: 0 }, 1_500_000);
        let start_ns = 1_000_000;
        assert_eq!(flow, Flow::Spanned { kind: 0, start_ns });
        let arrears = open.into_arrears();
        assert_eq!((arrears.late_count, arrears.lateness_ns_max), (0, 20_000));
    }

    #[test]
    fn what_was_due_while_no_slot_was_free_begins_late_and_in_order() {
        let mut open = thousand(NOW, 1);
        for due_ns in (0..10).map(|k| k * 1_000_000) {
            assert!(begins(&mut open, 0, 10_500_000));
            let flow = open.complete(Completion { slot: 0, result: 0 }, 10_500_000);
            let start_ns = due_ns;
            assert_eq!(flow, Flow::Spanned { kind: 0, start_ns });
        }
        let arrears = open.into_arrears();
        assert_eq!(arrears.late_count, 10);
        assert_eq!(arrears.lateness_ns_max, 10_500_000);
        assert!(!arrears.holds_one(10_500_000));
        assert_eq!(arrears.untaken_count(10_500_000), 1);
        assert_eq!(arrears.untaken_count(12_000_000), 3);
        assert_eq!(arrears.lateness_ns_max_until(12_000_000), 10_500_000);
        assert_eq!(arrears.lateness_ns_max_until(22_000_000), 12_000_000);
    }

    #[test]
    fn an_arrival_that_was_taken_and_never_begun_is_in_arrears() {
        let mut open = thousand(NOW, 1);
        assert!(begins(&mut open, 0, 0) && !begins(&mut open, 0, 1));
        let arrears = open.into_arrears();
        assert!(!arrears.holds_one(999_999) && arrears.holds_one(1_000_000));
        assert_eq!(arrears.untaken_count(1_000_000), 0);
        assert_eq!(arrears.lateness_ns_max_until(1_700_000), 700_000);
    }

    #[test]
    fn what_was_due_before_the_thread_was_there_is_left_out() {
        let timing = Timing {
            start_ns: 5_000_000_000,
            now_ns: 5_002_500_000,
            measure_ns: 0,
        };
        let until_ns = 5_003_000_000;
        let mut open = thousand(timing, 1);
        assert_eq!(open.next(0, timing.now_ns), Step::Wait { until_ns });
    }

    #[test]
    fn lateness_of_the_ramp_does_not_count() {
        let mut open = thousand(
            Timing {
                measure_ns: 900_000_000,
                ..NOW
            },
            1,
        );
        assert!(begins(&mut open, 0, 800_000_000));
        let arrears = open.into_arrears();
        assert_eq!((arrears.late_count, arrears.lateness_ns_max), (0, 0));
    }
}
