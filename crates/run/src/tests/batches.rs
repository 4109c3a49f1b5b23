//! Number of requests per call, on engines that count them.

use engine::{Completion, Engine, EngineError, Request, Wait};

use super::*;

const SLOT_COUNT: u32 = 32;

/// Requests issued by one call: their number, and the number that were in flight before.
type Call = (u32, u32);

/// Completes everything immediately, or with `is_slow` only in a wait, and then all but one.
struct Counted<'a> {
    engine: engine::Null,
    calls: &'a mut Vec<Call>,
    in_flight: Vec<Completion>,
    pushed_count: u32,
    is_slow: bool,
}

impl Engine for Counted<'_> {
    fn slot_count(&self) -> u32 {
        SLOT_COUNT
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.engine.buffer(slot)
    }

    fn push(&mut self, request: Request) {
        self.pushed_count += 1;
        self.in_flight.push(Completion {
            slot: request.slot,
            result: request.length_bytes as i32,
        });
    }

    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        let before_count = self.in_flight.len() as u32 - self.pushed_count;
        self.calls.push((self.pushed_count, before_count));
        self.pushed_count = 0;
        let count = match (self.is_slow, wait) {
            (false, _) => self.in_flight.len(),
            (true, Wait::Poll) => 0,
            (true, Wait::One { .. }) => (self.in_flight.len() - 1).max(1),
        };
        done.extend(self.in_flight.drain(..count));
        Ok(())
    }
}

/// The calls of a run of 20,000 requests.
fn calls(is_slow: bool, ring: RingOptions) -> Vec<Call> {
    let mut cell = cell(
        SLOT_COUNT,
        vec![worker(0, SLOT_COUNT, vec![line(4096, 100.0, 100.0)])],
    );
    cell.operations = Some(20_000);
    let (lane, recorder) = scripted(&cell, 0, 0);
    let mut calls = Vec::new();
    let parts = LoopParts {
        engine: Counted {
            engine: engine::Null::new(SLOT_COUNT, lane.buffer_bytes()).unwrap(),
            calls: &mut calls,
            in_flight: Vec::new(),
            pushed_count: 0,
            is_slow,
        },
        recorder,
        clock: StepClock::new(),
        batch: Batch::of(ring, SLOT_COUNT),
    };
    with_requests(parts, lane.requests().unwrap(), &lane, &contents()).unwrap();
    calls
}

fn ring(batch: u32, batch_fixed: bool) -> RingOptions {
    RingOptions {
        batch,
        batch_fixed,
        ..RingOptions::default()
    }
}

#[test]
fn requests_that_complete_immediately_are_issued_in_full_batches() {
    let calls = calls(false, ring(32, false));
    assert_eq!(calls.len(), 20_000 / 32, "{calls:?}");
    assert!(calls.iter().all(|call| *call == (32, 0)), "{calls:?}");
}

#[test]
fn a_slow_device_does_not_wait_for_a_full_batch() {
    let calls = calls(true, ring(32, false));
    // With nothing in flight, collecting the first batch delays no completion.
    assert_eq!(calls[0], (32, 0));
    assert!(calls[1..].iter().all(|(count, _)| *count <= 4), "{calls:?}");
    assert!(calls.len() > 20_000 / 8, "{}", calls.len());
}

#[test]
fn a_requested_batch_size_is_used() {
    for count in [1, 3, 32] {
        let calls = calls(true, ring(count, true));
        let largest = calls.iter().map(|call| call.0).max();
        assert_eq!(largest, Some(count));
        // Of the first waves; the last one has less to issue.
        let mut busy = calls[1..100].iter().filter(|call| call.1 == 1);
        assert!(busy.all(|call| call.0 == count.min(31)), "{calls:?}");
    }
}

#[test]
fn a_small_queue_issues_single_requests_while_busy() {
    for (slot_count, busy) in [(1, 1), (8, 1), (31, 1), (32, 4), (128, 16), (1024, 32)] {
        let batch = Batch::of(ring(32, false), slot_count);
        assert_eq!((batch.limit(0, 99), batch.limit(1, 99)), (32, busy));
        assert_eq!((batch.limit(0, 1), batch.limit(1, 1)), (1, 1));
    }
}
