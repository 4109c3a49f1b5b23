//! The end of a measurement: waiting for requests in flight. An open loop also starts the requests
//! that became due before the end.
//!
//! Nothing here counts for the rates of the measurement, which has ended. The generator of an open
//! loop counts the requests that were due, whenever they are done. Of other loops, only requests
//! that fail now are counted.

use engine::{Clock, Completion, Engine, EngineError, Wait};
use generate::{Content, Generator, OpenStream};

use crate::measure::Loop;
use crate::outcome::{OpenLoopEnd, WorkerOutcome};
use crate::schedule::Schedule;
use crate::slots::LoopState;
use crate::thread::thread_cpu;

/// Outcome of an open loop, and the parts that it ran on.
pub(crate) struct FinishedLoop<E, G, C, K> {
    pub outcome: WorkerOutcome,
    pub engine: E,
    pub generator: G,
    pub content: C,
    pub clock: K,
}

impl<E: Engine, G: OpenStream, C: Content, K: Clock> Loop<E, G, C, K> {
    /// Runs ramp and measurement, then starts the requests that were due, for at most
    /// `drain_max_ns`.
    pub fn run_open(mut self, drain_max_ns: u64) -> Result<FinishedLoop<E, G, C, K>, EngineError> {
        let mut turns = LoopState::new(self.engine.slot_count());
        self.turn(&mut turns)?;
        let end_ns = self.recorder.due_end_ns();
        let schedule = Schedule {
            start_ns: self.clock.now_ns(),
            ramp_ns: 0,
            run_ns: drain_max_ns,
            // No interval ends here. A quarter of the maximum can still be added to a time.
            interval_ns: u64::MAX / 4,
            operations: u64::MAX,
            grace_ns: 0,
        };
        let unmeasured = self.recorder.discarding_copy(schedule);
        let mut outcome = self.recorder.into_outcome();
        // Before the drain, which may last for seconds, so that the monitor gets the last interval.
        outcome.hand_over_rest();
        // The drain's CPU time is not part of the measurement.
        outcome.cpu_at_end = thread_cpu();
        let finish_ns = outcome.finish_ns;
        // Without an end, no work was left, so nothing may start during the drain.
        self.generator.close(end_ns.unwrap_or(0));
        let mut rest = Loop {
            engine: self.engine,
            generator: self.generator,
            content: self.content,
            clock: self.clock,
            recorder: unmeasured,
            batch: self.batch,
        };
        let mut quit_ns = finish_ns;
        if end_ns.is_some() && !outcome.stopped {
            rest.turn(&mut turns)?;
            // The clock of another core may be late.
            quit_ns = rest.clock.now_ns().max(finish_ns);
        }
        let done_ns = rest.finish(&mut turns, quit_ns)?;
        let unmeasured = rest.recorder.into_outcome();
        // Reads during the drain are verified too.
        outcome.mismatch_count += unmeasured.mismatch_count;
        outcome.first_mismatch = outcome.first_mismatch.or(unmeasured.first_mismatch);
        outcome.open_loop_end = rest.generator.backlog().map(|backlog| OpenLoopEnd {
            backlog,
            end_ns,
            issue_end_ns: quit_ns,
            done_ns,
        });
        Ok(FinishedLoop {
            outcome,
            engine: rest.engine,
            generator: rest.generator,
            content: rest.content,
            clock: rest.clock,
        })
    }
}

impl<E: Engine, G: Generator, C: Content, K: Clock> Loop<E, G, C, K> {
    /// Waits for requests in flight. A request that succeeds now is not part of the measurement.
    /// One that fails is counted: otherwise a target that never answers would seem to have no
    /// failures.
    #[cold]
    pub fn drain(&mut self, turns: &mut LoopState) -> Result<(), EngineError> {
        while turns.in_flight > 0 {
            // 0 means no limit: the kernel may still write to the buffers of these requests.
            let wait = Wait::One { timeout_ns: 0 };
            self.engine.reap(wait, turns.clear_done())?;
            let now_ns = self.clock.now_ns();
            let done = std::mem::take(&mut turns.done);
            for &Completion { slot, result } in done.iter() {
                let flight = turns.reaped(slot);
                let expected_bytes = self.generator.expected_bytes(&flight.request, result);
                let latency_ns = now_ns.saturating_sub(flight.issued_ns);
                self.recorder
                    .record_late(&flight.request, (expected_bytes, result), latency_ns);
            }
            turns.done = done;
        }
        Ok(())
    }

    /// Waits for requests in flight, which the kernel does not let a thread abandon. Returns the
    /// time of the last completion.
    fn finish(&mut self, turns: &mut LoopState, since_ns: u64) -> Result<u64, EngineError> {
        let mut now_ns = since_ns;
        while turns.in_flight > 0 {
            let wait = Wait::One { timeout_ns: 0 };
            self.engine.reap(wait, turns.clear_done())?;
            now_ns = self.clock.now_ns().max(now_ns);
            self.complete_all(turns, now_ns);
        }
        Ok(now_ns)
    }
}
