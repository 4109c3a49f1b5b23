//! Times of submissions, for jobs that report them apart from completions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Clock, Completion, Engine, EngineError, Request, Wait};

/// When the request of each slot was submitted, in nanoseconds of the worker's clock. Clones share
/// the times: the engine sets them, and the stream reads them.
#[derive(Debug, Clone)]
pub struct SubmissionTimes(Arc<[AtomicU64]>);

impl SubmissionTimes {
    /// Times for this many slots, all 0.
    #[must_use]
    pub fn new(slot_count: u32) -> Self {
        Self((0..slot_count).map(|_| AtomicU64::new(0)).collect())
    }

    /// Time at which the last request of the slot was submitted.
    #[inline]
    #[must_use]
    pub fn of(&self, slot: u32) -> u64 {
        // Engine and stream are on the same thread; the atomics only allow sharing.
        self.0[slot as usize].load(Ordering::Relaxed)
    }

    /// Sets the time at which the request of the slot was submitted.
    #[inline]
    pub fn set(&self, slot: u32, now_ns: u64) {
        self.0[slot as usize].store(now_ns, Ordering::Relaxed);
    }
}

/// An engine that submits requests by one call and waits for completions by another, and reads the
/// clock in between.
///
/// A separate type, so that other engines do both with one call and without that clock.
#[derive(Debug)]
pub struct TimedSubmission<E, K> {
    engine: E,
    clock: K,
    times: SubmissionTimes,
    /// Slots of the requests that have not been submitted.
    pushed: Vec<u32>,
}

impl<E: Engine, K: Clock> TimedSubmission<E, K> {
    /// Sets the `times` of requests of this engine, which must have one time per slot.
    pub fn new(engine: E, clock: K, times: SubmissionTimes) -> Self {
        let slot_count = engine.slot_count() as usize;
        Self {
            engine,
            clock,
            times,
            pushed: Vec::with_capacity(slot_count),
        }
    }
}

impl<E: Engine, K: Clock> Engine for TimedSubmission<E, K> {
    fn slot_count(&self) -> u32 {
        self.engine.slot_count()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.engine.buffer(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        self.pushed.push(request.slot);
        self.engine.push(request);
    }

    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        if !self.pushed.is_empty() {
            let before = done.len();
            self.engine.reap(Wait::Poll, done)?;
            let now_ns = self.clock.now_ns();
            for slot in self.pushed.drain(..) {
                self.times.set(slot, now_ns);
            }
            if done.len() > before || wait == Wait::Poll {
                return Ok(());
            }
        }
        self.engine.reap(wait, done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Null, StepClock};

    #[test]
    fn a_request_has_the_time_of_the_reap_that_submits_it() {
        let times = SubmissionTimes::new(2);
        let clock = StepClock::new();
        let null = Null::new(2, 4096).unwrap();
        let mut engine = TimedSubmission::new(null, clock.clone(), times.clone());
        let mut done = Vec::with_capacity(2);
        for slot in [1, 0] {
            engine.push(Request {
                slot,
                length_bytes: 4096,
                ..Request::EMPTY
            });
            clock.advance(10);
            engine.reap(Wait::One { timeout_ns: 0 }, &mut done).unwrap();
        }
        let slots: Vec<u32> = done.iter().map(|it| it.slot).collect();
        assert_eq!(slots, [1, 0], "each completes in the reap that submits it");
        assert_eq!((times.of(1), times.of(0)), (10, 20));
        // Without a new request, there is only the wait, and no time changes.
        clock.advance(10);
        engine.reap(Wait::Poll, &mut done).unwrap();
        assert_eq!((times.of(1), times.of(0)), (10, 20));
    }
}
