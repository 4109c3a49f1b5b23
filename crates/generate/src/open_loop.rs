//! Open loop: transactions begin when they are due, independent of the target.

use engine::{Completion, OperationSet, Request};

use crate::due_queue::{Backlog, DueQueue, DueStep, DueTimes, Timing};
use crate::{Flow, Generator, Step, named};

/// Transaction kinds of an open loop, by number.
pub const RESPONSE_KINDS: &[&str] = &["response"];
const RESPONSE: u8 = 0;

/// A stream whose requests or rounds begin when they are due. After it is closed, it works off its
/// backlog.
pub trait OpenStream: Generator {
    /// Prevents the start of transactions due at `end_ns` or later, in nanoseconds of the worker's
    /// clock.
    fn close(&mut self, end_ns: u64);

    /// Results so far, and what has not ended or started; `None` until due times are known.
    fn backlog(&self) -> Option<Backlog>;
}

/// Transactions of another generator, each started when it is due or as soon afterwards as a slot
/// is free.
///
/// The only transaction kind is `response`: it lasts from the due time to the completion of the
/// transaction's last request. The number of free slots limits the requests in flight. Further due
/// transactions wait, and the wait is part of the response time.
///
/// A transaction here is a single request: a slot that waits for a due time has nothing in flight.
#[derive(Debug)]
pub struct OpenLoopGenerator<G> {
    transactions: G,
    queue: DueQueue,
}

impl<G: Generator> OpenLoopGenerator<G> {
    /// Starts each transaction of `transactions` at a time from `due`. They must have no delays and
    /// no replies.
    #[must_use]
    pub fn new(transactions: G, due: DueTimes, timing: Timing, slot_count: u32) -> Self {
        Self {
            transactions,
            queue: DueQueue::new(due, timing, slot_count),
        }
    }
}

impl<G: Generator> OpenStream for OpenLoopGenerator<G> {
    fn close(&mut self, end_ns: u64) {
        self.queue.close(end_ns);
    }

    fn backlog(&self) -> Option<Backlog> {
        Some(self.queue.backlog())
    }
}

impl<G: Generator> Generator for OpenLoopGenerator<G> {
    fn operations(&self) -> OperationSet {
        self.transactions.operations()
    }

    fn transaction_kinds(&self) -> Vec<String> {
        named(RESPONSE_KINDS)
    }

    fn enter(&mut self) -> bool {
        self.transactions.enter()
    }

    fn begin(&mut self) {
        self.transactions.begin();
    }

    fn leave(&mut self) -> bool {
        self.transactions.leave()
    }

    #[inline]
    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        let due_ns = match self.queue.turn(now_ns) {
            DueStep::Due(due_ns) => due_ns,
            DueStep::Wait(until_ns) => return Step::Wait { until_ns },
            DueStep::Finished => return Step::Finished,
        };
        let step = self.transactions.next(slot, now_ns);
        // A sync belongs to earlier writes and does not use a due time.
        if let Step::Issue(request) = step
            && !request.operation.is_sync()
        {
            self.queue.begin(request.slot as usize, due_ns, now_ns);
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
                let slot = completion.slot as usize;
                let start_ns = self.queue.end(slot, now_ns, completion.result);
                let kind = RESPONSE;
                Flow::TransactionDone { kind, start_ns }
            }
            // A sync has no due time and ends no transaction.
            other => other,
        }
    }

    fn on_mismatch(&mut self) {
        self.transactions.on_mismatch();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use engine::Operation;
    use stats::Counter;

    use super::*;
    use crate::{Arrivals, DueCounts, DueWindow};

    pub const START: Timing = Timing {
        start_ns: 0,
        now_ns: 0,
        window: DueWindow {
            start_ns: 0,
            length_ns: u64::MAX,
        },
    };

    /// Generator that issues a request in every slot at any time.
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

    pub fn thousand(timing: Timing, slot_count: u32) -> OpenLoopGenerator<Always> {
        let due = DueTimes::Own(Arrivals::uniform(1000.0, 0, 1).unwrap());
        OpenLoopGenerator::new(Always, due, timing, slot_count)
    }

    pub fn begins(open: &mut OpenLoopGenerator<Always>, slot: u32, now_ns: u64) -> bool {
        matches!(open.next(slot, now_ns), Step::Issue(_))
    }

    /// A file system that answers each call after 100 us, but nothing from 1 s to 3 s.
    pub fn answered_ns(now_ns: u64) -> u64 {
        const STALL_NS: std::ops::Range<u64> = 1_000_000_000..3_000_000_000;
        match STALL_NS.contains(&now_ns) {
            true => STALL_NS.end + 100_000,
            false => now_ns + 100_000,
        }
    }

    /// Runs a stream of one slot until `end_ns`, and then completes the requests that were due.
    pub fn run_to_end(stream: &mut dyn OpenStream, end_ns: u64) -> DueCounts {
        let mut now_ns = 0;
        loop {
            if now_ns >= end_ns {
                stream.close(end_ns);
            }
            match stream.next(0, now_ns) {
                Step::Issue(request) => {
                    now_ns = answered_ns(now_ns);
                    let result = match request.operation.moves_bytes() {
                        true => request.length_bytes as i32,
                        false => 0,
                    };
                    stream.complete(Completion { slot: 0, result }, now_ns);
                }
                Step::Wait { until_ns } => now_ns = until_ns.max(now_ns + 1),
                Step::Park | Step::Again => now_ns += 1,
                Step::Finished => return stream.backlog().unwrap().counts().clone(),
            }
        }
    }

    /// Calculated response times of rounds that are due `per_second` times a second until `end_ns`
    /// (Lindley 1952). `calls` returns the number of calls of the next round.
    pub fn expected_counter(
        per_second: u64,
        end_ns: u64,
        mut calls: impl FnMut() -> u32,
    ) -> Counter {
        let mut all = Counter::new();
        let mut free_ns = 0;
        for due_ns in (0..).map(|it| it * 1_000_000_000 / per_second) {
            if due_ns >= end_ns {
                return all;
            }
            free_ns = (0..calls()).fold(due_ns.max(free_ns), |now_ns, _| answered_ns(now_ns));
            all.record(0, free_ns - due_ns);
        }
        all
    }

    /// Checks that both have the same count and maximum, and about the same p99.
    pub fn assert_alike(actual: &Counter, wanted: &Counter) {
        let of = |it: &Counter| (it.count(), it.latency().max_ns());
        assert_eq!(of(actual), of(wanted));
        let p99 = |it: &Counter| it.latency().percentile(99.0).unwrap() as f64;
        let ratio = p99(actual) / p99(wanted);
        assert!((0.99..1.01).contains(&ratio), "p99 is off by {ratio}");
    }

    #[test]
    fn a_transaction_waits_for_its_due_time_and_is_timed_from_it() {
        let mut open = thousand(START, 2);
        assert!(begins(&mut open, 0, 0));
        let until_ns = 1_000_000;
        assert_eq!(open.next(1, 10), Step::Wait { until_ns });
        assert_eq!(open.next(1, 999_999), Step::Wait { until_ns });
        assert!(begins(&mut open, 1, 1_020_000));
        let flow = open.complete(Completion { slot: 1, result: 0 }, 1_500_000);
        let start_ns = 1_000_000;
        assert_eq!(flow, Flow::TransactionDone { kind: 0, start_ns });
        let backlog = open.queue.backlog();
        let counts = backlog.counts();
        assert_eq!((counts.late_count, counts.lateness_ns_max), (0, 20_000));
        assert_eq!(counts.responses.latency().max_ns(), Some(500_000));
    }

    #[test]
    fn transactions_due_while_no_slot_is_free_begin_late_and_in_order() {
        let mut open = thousand(START, 1);
        for due_ns in (0..10).map(|k| k * 1_000_000) {
            assert!(begins(&mut open, 0, 10_500_000));
            let flow = open.complete(Completion { slot: 0, result: 0 }, 10_500_000);
            let start_ns = due_ns;
            assert_eq!(flow, Flow::TransactionDone { kind: 0, start_ns });
        }
        let backlog = open.queue.backlog();
        let counts = backlog.counts();
        assert_eq!((counts.late_count, counts.responses.count()), (10, 10));
        assert_eq!(counts.lateness_ns_max, 10_500_000);
    }

    #[test]
    fn a_failed_transaction_has_no_response_time() {
        let mut open = thousand(START, 1);
        assert!(begins(&mut open, 0, 0));
        let result = -5;
        open.complete(Completion { slot: 0, result }, 100);
        let backlog = open.queue.backlog();
        let responses = &backlog.counts().responses;
        assert_eq!((responses.count(), responses.errors()), (0, 1));
    }

    #[test]
    fn transactions_due_before_the_thread_started_are_skipped() {
        let timing = Timing {
            start_ns: 5_000_000_000,
            now_ns: 5_002_500_000,
            ..START
        };
        let until_ns = 5_003_000_000;
        let mut open = thousand(timing, 1);
        assert_eq!(open.next(0, timing.now_ns), Step::Wait { until_ns });
    }

    #[test]
    fn transactions_due_in_the_ramp_are_not_counted() {
        let mut timing = START;
        timing.window.start_ns = 500_000;
        let mut open = thousand(timing, 1);
        for now_ns in [800_000, 1_000_000] {
            assert!(begins(&mut open, 0, now_ns));
            open.complete(Completion { slot: 0, result: 0 }, now_ns + 100_000);
        }
        let backlog = open.queue.backlog();
        let counts = backlog.counts();
        assert_eq!((counts.late_count, counts.responses.count()), (0, 1));
        assert_eq!(counts.responses.latency().max_ns(), Some(100_000));
    }

    #[test]
    fn only_transactions_due_before_the_end_still_begin() {
        let mut open = thousand(START, 2);
        assert!(begins(&mut open, 0, 0));
        open.close(3_000_000);
        for (slot, due_ns) in [(1, 1_000_000), (0, 2_000_000)] {
            assert!(matches!(open.next(slot, 3_500_000), Step::Issue(_)));
            let start_ns = due_ns;
            let flow = open.complete(Completion { slot, result: 0 }, 3_600_000);
            assert_eq!(flow, Flow::TransactionDone { kind: 0, start_ns });
        }
        assert_eq!(open.next(1, 3_700_000), Step::Finished);
        let backlog = open.queue.backlog();
        let counts = backlog.counts();
        assert_eq!((counts.left_count, counts.late_count), (2, 2));
        assert_eq!(counts.lateness_ns_max, 2_500_000);
        assert_eq!(counts.responses.latency().max_ns(), Some(2_600_000));
        // It was taken to see that it is due too late.
        assert_eq!(backlog.unended_ns().collect::<Vec<_>>(), [3_000_000]);
        assert_eq!(backlog.untaken_ns().next(), Some(4_000_000));
        assert_eq!(backlog.untaken_count(4_000_000), 0);
        assert_eq!(backlog.untaken_count(4_000_001), 1);
    }

    #[test]
    fn remaining_due_times_can_be_listed_without_consuming_them() {
        let own = |arrivals: Arrivals| DueTimes::Own(arrivals);
        let shared = |arrivals: Arrivals| DueTimes::Shared(arrivals.shared_by(3).remove(1));
        for make in [own, shared] {
            for mut due in [
                make(Arrivals::uniform(7777.7, 0, 2).unwrap()),
                make(Arrivals::poisson(7777.7, 2, 5).unwrap()),
            ] {
                assert!((0..10).all(|_| due.take_ns() < u64::MAX));
                let left: Vec<u64> = due.left().take(100).collect();
                let taken: Vec<u64> = (0..100).map(|_| due.take_ns()).collect();
                assert_eq!(left, taken);
            }
        }
    }
}
