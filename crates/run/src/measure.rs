//! The measurement loop: fill, issue, reap, record.
//!
//! Between the ramp and the end, the loop itself neither allocates, locks nor makes system calls.
//! It does not check the configuration either: the types were chosen once, per worker.

use engine::clock::Clock;
use engine::{Engine, EngineError, Operation, Request, Wait};
use generate::{Content, Generator, Step};

use crate::batch::Batch;
use crate::recorder::{Recorder, Tick};
use crate::slots::LoopState;

/// Parts that one worker runs on.
pub(crate) struct Loop<E, G, C, K> {
    pub engine: E,
    pub generator: G,
    pub content: C,
    pub clock: K,
    pub recorder: Recorder,
    pub batch: Batch,
}

impl<E: Engine, G: Generator, C: Content, K: Clock> Loop<E, G, C, K> {
    /// Runs ramp and measurement, then waits for the requests in flight, of which failures count.
    pub fn run(&mut self) -> Result<(), EngineError> {
        let mut turns = LoopState::new(self.engine.slot_count());
        self.turn(&mut turns)?;
        self.drain(&mut turns)
    }

    /// Runs turns from the start of the ramp to the end of the measurement.
    pub fn turn(&mut self, turns: &mut LoopState) -> Result<(), EngineError> {
        let mut now_ns = self.clock.now_ns();
        self.recorder.start(now_ns);
        loop {
            let resume_ns = self.fill(turns, now_ns);
            let may_issue = !turns.ready.is_empty() && self.recorder.budget() > 0;
            if turns.in_flight == 0 && !may_issue {
                break;
            }
            let wait = self.wait(may_issue, resume_ns, now_ns);
            self.engine.reap(wait, turns.clear_done())?;
            now_ns = self.clock.now_ns().max(now_ns); // Another core's clock may be late.
            self.complete_all(turns, now_ns);
            // A single comparison per turn covers phases, intervals and the stop flag.
            let due = now_ns >= self.recorder.tick_ns();
            if due && self.recorder.tick(now_ns, turns) == Tick::End {
                break;
            }
        }
        self.recorder.finish(now_ns);
        Ok(())
    }

    /// Pushes up to a batch of requests. Returns the end of the delay if one started, else 0.
    #[inline]
    fn fill(&mut self, turns: &mut LoopState, now_ns: u64) -> u64 {
        let limit = self.batch.limit(turns.in_flight, self.recorder.budget());
        let (mut issued, mut resume_ns) = (0, 0);
        while issued < limit && resume_ns == 0 && !turns.ready.is_empty() {
            match self.generator.next(turns.ready.first(), now_ns) {
                Step::Issue(request) => {
                    turns.issue(request, now_ns);
                    self.push(request);
                    issued += 1;
                }
                Step::Wait { until_ns } => resume_ns = until_ns,
                Step::Park => turns.park(),
                // The generator took a while, so the loop reads the clock and checks for the end
                // before it asks again.
                Step::Again => break,
                Step::Finished => turns.ready.pop(),
            }
        }
        self.recorder.issued(issued);
        resume_ns
    }

    #[inline]
    fn push(&mut self, request: Request) {
        if request.operation == Operation::Write {
            let buffer = &mut self.engine.buffer(request.slot)[..request.length_bytes as usize];
            self.content.fill(buffer, &request);
        }
        self.engine.push(request);
    }

    /// Polls if there is more to issue, else waits for a completion, the end of a delay or a tick.
    #[inline]
    fn wait(&self, may_issue: bool, resume_ns: u64, now_ns: u64) -> Wait {
        // Waiting would leave free slots idle.
        if may_issue && resume_ns == 0 {
            return Wait::Poll;
        }
        let resume_ns = if resume_ns == 0 { u64::MAX } else { resume_ns };
        let until_ns = self.recorder.wake_ns().min(resume_ns);
        // 0 would mean no limit.
        let timeout_ns = until_ns.saturating_sub(now_ns).max(1);
        Wait::One { timeout_ns }
    }
}
