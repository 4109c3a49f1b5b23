//! Replay of a trace: each request starts at its recorded time, or as soon as a slot is free.

use engine::{Completion, Operation, OperationSet, Request};
use plan::job::{RecordedKind, RecordedRequest};
use stats::Histogram;

use crate::due_queue::{Backlog, DueTimes, IDLE_NS, Timing};
use crate::recorded_turns::RecordedTurns;
use crate::slots::TRANSACTION;
use crate::{DueCounts, Flow, Generator, OpenStream, RESPONSE_KINDS, Step, named};

/// Replays a trace. With `IS_PACED`, requests start when they are due, and the only transaction
/// kind is `response`, from the due time to the completion. Otherwise, the requests keep their
/// order, and each starts as soon as a slot is free.
///
/// Unlike in [`crate::OpenLoopGenerator`], a sync is a request with its own due time.
#[derive(Debug)]
pub struct TraceReplay<const IS_PACED: bool> {
    turns: RecordedTurns,
    operations: OperationSet,
    /// Origin of the due times, in nanoseconds of the worker's clock.
    start_ns: u64,
    /// Request that was taken but not started.
    pending: Option<RecordedRequest>,
    /// Requests due at or after this time do not start.
    close_ns: u64,
    /// Due time of the request in flight in each slot.
    due_by_slot_ns: Box<[u64]>,
    counts: DueCounts,
}

impl<const IS_PACED: bool> TraceReplay<IS_PACED> {
    /// A replay by one thread with `slot_count` slots.
    // A request that was due before this thread was ready starts late. It is never left out: the
    // stream must be complete.
    #[must_use]
    pub fn new(
        turns: RecordedTurns,
        operations: OperationSet,
        timing: Timing,
        slot_count: u32,
    ) -> Self {
        let mut counts = DueCounts::new(timing.window);
        counts.lateness = IS_PACED.then(Histogram::new);
        Self {
            turns,
            operations,
            start_ns: timing.start_ns,
            pending: None,
            close_ns: u64::MAX,
            due_by_slot_ns: vec![IDLE_NS; slot_count as usize].into(),
            counts,
        }
    }

    /// The next request if it may start now.
    #[inline]
    fn turn(&mut self, now_ns: u64) -> Result<(RecordedRequest, u64), Step> {
        let next = self.pending.take().or_else(|| self.turns.take());
        let Some(request) = next else {
            return Err(Step::Finished);
        };
        if !IS_PACED {
            return Ok((request, IDLE_NS));
        }
        let due_ns = self.start_ns.saturating_add(request.due_ns);
        if due_ns < self.close_ns && due_ns <= now_ns {
            return Ok((request, due_ns));
        }
        // A request that was taken cannot be given back.
        self.pending = Some(request);
        Err(match due_ns < self.close_ns {
            true => Step::Wait { until_ns: due_ns },
            false => Step::Finished,
        })
    }
}

impl<const IS_PACED: bool> Generator for TraceReplay<IS_PACED> {
    fn operations(&self) -> OperationSet {
        self.operations
    }

    fn transaction_kinds(&self) -> Vec<String> {
        match IS_PACED {
            true => named(RESPONSE_KINDS),
            false => named(TRANSACTION),
        }
    }

    #[inline]
    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        let (request, due_ns) = match self.turn(now_ns) {
            Ok(due) => due,
            Err(step) => return step,
        };
        if IS_PACED {
            self.due_by_slot_ns[slot as usize] = due_ns;
            self.counts.begun(due_ns, now_ns);
            if self.counts.has(due_ns) {
                if let Some(lateness) = &mut self.counts.lateness {
                    lateness.record(now_ns.saturating_sub(due_ns));
                }
                // Only work from before the end starts after `close`: this counts the backlog.
                self.counts.left_count += u64::from(self.close_ns < u64::MAX);
            }
        }
        Step::Issue(Request {
            operation: operation(request.kind),
            fileset: 0,
            handle: 0,
            slot,
            file_index: request.part_index,
            length_bytes: request.length_bytes,
            offset_bytes: request.offset_bytes,
        })
    }

    #[inline]
    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        if !IS_PACED {
            return Flow::Done(0);
        }
        let slot = completion.slot as usize;
        let start_ns = std::mem::replace(&mut self.due_by_slot_ns[slot], IDLE_NS);
        self.counts.ended(start_ns, now_ns, completion.result);
        Flow::TransactionDone { kind: 0, start_ns }
    }
}

impl OpenStream for TraceReplay<true> {
    fn close(&mut self, end_ns: u64) {
        self.close_ns = end_ns;
    }

    fn backlog(&self) -> Option<Backlog> {
        let pending = self.pending.as_ref();
        let begun_ns = self.due_by_slot_ns.iter().copied();
        Some(Backlog {
            counts: self.counts.clone(),
            pending_ns: pending.map(|it| self.start_ns.saturating_add(it.due_ns)),
            begun_ns: begun_ns.filter(|due_ns| *due_ns != IDLE_NS).collect(),
            start_ns: self.start_ns,
            due: DueTimes::Recorded(self.turns.clone()),
        })
    }
}

/// The operation that replays a request of this kind.
pub(crate) fn operation(kind: RecordedKind) -> Operation {
    match kind {
        RecordedKind::Read => Operation::Read,
        RecordedKind::Write => Operation::Write,
        RecordedKind::Fsync => Operation::Fsync,
        RecordedKind::Fdatasync => Operation::Fdatasync,
        RecordedKind::Trim => Operation::Trim,
        RecordedKind::Other => unreachable!("logs to be replayed have no other calls"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_loop::tests::{START, run_to_end};

    /// Requests of all kinds, of which the k-th is due after k * k * 100 us.
    fn requests(count: u64) -> Vec<RecordedRequest> {
        use RecordedKind::{Fdatasync, Read, Trim, Write};
        let request = |index: u64| RecordedRequest {
            due_ns: index * index * 100_000,
            kind: [Read, Write, Fdatasync, Trim][index as usize % 4],
            part_index: (index % 3) as u32,
            length_bytes: 512 * (index as u32 % 7 + 1),
            offset_bytes: index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24,
        };
        (0..count).map(request).collect()
    }

    fn replay<const IS_PACED: bool>(count: u64, slot_count: u32) -> TraceReplay<IS_PACED> {
        let turns = RecordedTurns::new(requests(count).into());
        TraceReplay::new(turns, OperationSet::EMPTY, START, slot_count)
    }

    #[test]
    fn every_request_is_issued_exactly_and_in_order() {
        let count = 10_000;
        let mut replay = replay::<false>(count, 4);
        for (index, wanted) in requests(count).iter().enumerate() {
            let slot = (index % 4) as u32;
            let Step::Issue(request) = replay.next(slot, 0) else {
                panic!("request {index} must start");
            };
            let place = (
                request.file_index,
                request.offset_bytes,
                request.length_bytes,
            );
            let wanted_place = (wanted.part_index, wanted.offset_bytes, wanted.length_bytes);
            assert_eq!((request.slot, place), (slot, wanted_place));
            assert_eq!(request.operation, operation(wanted.kind));
            let result = request.length_bytes as i32;
            let flow = replay.complete(Completion { slot, result }, 0);
            assert_eq!(flow, Flow::Done(0));
        }
        assert_eq!(replay.next(0, u64::MAX), Step::Finished);
    }

    #[test]
    fn requests_start_at_their_own_times_and_are_timed_from_them() {
        let mut replay = replay::<true>(3, 2);
        assert!(matches!(replay.next(0, 0), Step::Issue(_)));
        let until_ns = 100_000;
        assert_eq!(replay.next(1, 10), Step::Wait { until_ns });
        assert!(matches!(replay.next(1, 130_000), Step::Issue(_)));
        let flow = replay.complete(Completion { slot: 1, result: 0 }, 150_000);
        let start_ns = 100_000;
        assert_eq!(flow, Flow::TransactionDone { kind: 0, start_ns });
        let until_ns = 400_000;
        assert_eq!(replay.next(1, 150_000), Step::Wait { until_ns });
        let backlog = replay.backlog().unwrap();
        let lateness = backlog.counts().lateness.as_ref().unwrap();
        assert_eq!((lateness.count(), lateness.max_ns()), (2, Some(30_000)));
        let unended: Vec<u64> = backlog.unended_ns().collect();
        assert_eq!(unended, [400_000, 0]);
        assert_eq!(backlog.untaken_count(u64::MAX), 0);
    }

    /// The file system of `run_to_end` answers nothing from 1 s to 3 s.
    #[test]
    fn a_stall_leaves_the_schedule_unchanged_and_counts_from_the_due_time() {
        let every_ms = |index: u64| RecordedRequest {
            due_ns: index * 1_000_000,
            kind: RecordedKind::Read,
            part_index: 0,
            length_bytes: 512,
            offset_bytes: index * 512,
        };
        let requests: Vec<RecordedRequest> = (0..4000).map(every_ms).collect();
        let turns = RecordedTurns::new(requests.into());
        let mut replay = TraceReplay::<true>::new(turns, OperationSet::EMPTY, START, 1);
        let counts = run_to_end(&mut replay, u64::MAX);
        assert_eq!(counts.responses.count(), 4000);
        // The request that is due at 1 s waits for the whole stall.
        assert_eq!(counts.responses.latency().max_ns(), Some(2_000_100_000));
        let lateness = counts.lateness.unwrap();
        assert_eq!(lateness.count(), 4000);
        assert_eq!(lateness.percentile(20.0), Some(0));
        assert_eq!(counts.left_count, 0);
    }

    #[test]
    fn threads_take_each_request_once() {
        let turns = RecordedTurns::new(requests(1000).into());
        let take = |turns: RecordedTurns| std::iter::from_fn(move || turns.take()).count();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let turns = turns.clone();
                std::thread::spawn(move || take(turns))
            })
            .collect();
        let counts = threads.into_iter().map(|thread| thread.join().unwrap());
        assert_eq!(counts.sum::<usize>(), 1000);
        assert_eq!(turns.left_ns().count(), 0);
    }

    #[test]
    fn a_closed_replay_starts_only_what_was_due() {
        let mut replay = replay::<true>(5, 1);
        replay.close(150_000);
        for _ in 0..2 {
            assert!(matches!(replay.next(0, 10_000_000), Step::Issue(_)));
            replay.complete(Completion { slot: 0, result: 0 }, 10_000_000);
        }
        assert_eq!(replay.next(0, 10_000_000), Step::Finished);
        let backlog = replay.backlog().unwrap();
        assert_eq!(backlog.counts().left_count, 2);
        assert_eq!(
            backlog.untaken_ns().collect::<Vec<_>>(),
            [900_000, 1_600_000]
        );
    }
}
