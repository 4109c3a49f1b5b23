//! Transactions that begin when they are due, whatever the target does.

use engine::{Completion, OperationSet, Request};

use crate::{Arrivals, DueCounts, DueWindow, Flow, Generator, SharedArrivals, Step, named};

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
    /// What was due in it is told when the loop has ended.
    pub window: DueWindow,
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
    pub(crate) due: DueTimes,
    pub(crate) start_ns: u64,
    /// The arrival that was taken and has not begun, in nanoseconds of the worker's clock.
    pub(crate) pending_ns: Option<u64>,
    /// When the transaction in each slot was due.
    slot_due_ns: Box<[u64]>,
    pub(crate) counts: DueCounts,
}

impl<G: Generator> OpenLoop<G> {
    /// Lets the transactions of `transactions`, which have no delays and no replies, begin when
    /// `due` says.
    #[must_use]
    pub fn new(transactions: G, mut due: DueTimes, timing: Timing, slot_count: u32) -> Self {
        let Timing {
            start_ns,
            now_ns,
            window,
        } = timing;
        let mut pending_ns = start_ns.saturating_add(due.take_ns());
        while pending_ns < now_ns {
            pending_ns = start_ns.saturating_add(due.take_ns());
        }
        Self {
            transactions,
            due,
            start_ns,
            pending_ns: Some(pending_ns),
            slot_due_ns: vec![0; slot_count as usize].into(),
            counts: DueCounts::new(window),
        }
    }

    /// When the next transaction is due, which is taken by that.
    ///
    /// It is taken only when a slot is free for it: while a thread is busy, another may take it.
    #[inline]
    pub(crate) fn due_next_ns(&mut self) -> u64 {
        let due_ns = match self.pending_ns {
            Some(due_ns) => due_ns,
            None => self.start_ns.saturating_add(self.due.take_ns()),
        };
        self.pending_ns = Some(due_ns);
        due_ns
    }

    #[inline]
    fn begin(&mut self, request: Request, due_ns: u64, now_ns: u64) {
        self.pending_ns = None;
        self.slot_due_ns[request.slot as usize] = due_ns;
        self.counts.begun(due_ns, now_ns);
    }
}

impl<G: Generator> Generator for OpenLoop<G> {
    fn operations(&self) -> OperationSet {
        self.transactions.operations()
    }

    fn transaction_kinds(&self) -> Vec<String> {
        named(RESPONSE_KINDS)
    }

    #[inline]
    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        let due_ns = self.due_next_ns();
        if now_ns < due_ns {
            return Step::Wait { until_ns: due_ns };
        }
        let step = self.transactions.next(slot, now_ns);
        // A sync belongs to earlier writes and takes no due time.
        if let Step::Issue(request) = step
            && !request.operation.is_sync()
        {
            self.begin(request, due_ns, now_ns);
        }
        step
    }

    #[inline]
    fn expected_bytes(&self, request: &Request, result: i32) -> u32 {
        self.transactions.expected_bytes(request, result)
    }

    #[inline]
    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        match self.transactions.complete(completion, now_ns) {
            Flow::Done(_) => {
                let start_ns = self.slot_due_ns[completion.slot as usize];
                self.counts.ended(start_ns, now_ns, completion.result);
                let kind = RESPONSE;
                Flow::Spanned { kind, start_ns }
            }
            other => other,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use engine::Operation;

    use super::*;

    pub const NOW: Timing = Timing {
        start_ns: 0,
        now_ns: 0,
        window: DueWindow {
            start_ns: 0,
            length_ns: u64::MAX,
        },
    };

    /// A request whenever it is asked, in any slot.
    pub struct Always;

    impl Generator for Always {
        fn operations(&self) -> OperationSet {
            OperationSet::EMPTY
        }

        fn transaction_kinds(&self) -> Vec<String> {
            named(&["transaction"])
        }

        fn next(&mut self, slot: u32, _now_ns: u64) -> Step {
            Step::Issue(Request {
                operation: Operation::Read,
                fileset: 0,
                handle: 0,
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

    pub fn thousand(timing: Timing, slot_count: u32) -> OpenLoop<Always> {
        let due = DueTimes::Own(Arrivals::uniform(1000.0, 0, 1).unwrap());
        OpenLoop::new(Always, due, timing, slot_count)
    }

    pub fn begins(open: &mut OpenLoop<Always>, slot: u32, now_ns: u64) -> bool {
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
        let counts = open.counts;
        assert_eq!((counts.late_count, counts.lateness_ns_max), (0, 20_000));
        assert_eq!(counts.responses.latency().max_ns(), Some(500_000));
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
        let counts = open.counts;
        assert_eq!((counts.late_count, counts.responses.count()), (10, 10));
        assert_eq!(counts.lateness_ns_max, 10_500_000);
    }

    #[test]
    fn a_failed_transaction_has_no_response_time() {
        let mut open = thousand(NOW, 1);
        assert!(begins(&mut open, 0, 0));
        let result = -5;
        open.complete(Completion { slot: 0, result }, 100);
        let responses = open.counts.responses;
        assert_eq!((responses.count(), responses.errors()), (0, 1));
    }

    #[test]
    fn what_was_due_before_the_thread_was_there_is_left_out() {
        let timing = Timing {
            start_ns: 5_000_000_000,
            now_ns: 5_002_500_000,
            ..NOW
        };
        let until_ns = 5_003_000_000;
        let mut open = thousand(timing, 1);
        assert_eq!(open.next(0, timing.now_ns), Step::Wait { until_ns });
    }

    #[test]
    fn what_was_due_in_the_ramp_counts_nowhere() {
        let mut timing = NOW;
        timing.window.start_ns = 500_000;
        let mut open = thousand(timing, 1);
        for now_ns in [800_000, 1_000_000] {
            assert!(begins(&mut open, 0, now_ns));
            open.complete(Completion { slot: 0, result: 0 }, now_ns + 100_000);
        }
        let counts = open.counts;
        assert_eq!((counts.late_count, counts.responses.count()), (0, 1));
        assert_eq!(counts.responses.latency().max_ns(), Some(100_000));
    }
}
