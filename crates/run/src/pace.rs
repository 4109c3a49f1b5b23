//! When requests begin: each as the one before is done, or when it is due.

use engine::{Clock, Completion, Engine, EngineError, Request, Wait};
use generate::{Content, DueQueue, DueTimes, DueWindow, Generator, OpenLoop, Timing};

use crate::RunError;
use crate::batch::Batch;
use crate::measure::Loop;
use crate::outcome::Outcome;
use crate::recorder::Recorder;

/// The end of a wait for a due time is spent looking at the clock, in nanoseconds: sleeping
/// threads wake up some ten microseconds late.
const LOOK_NS: u64 = 100_000;

/// What a loop needs besides requests and contents.
pub(crate) struct Parts<E, K> {
    pub engine: E,
    pub recorder: Recorder,
    pub clock: K,
    pub batch: Batch,
}

/// When a lane's requests begin, chosen once.
pub(crate) trait Pace {
    /// Runs the loop.
    fn run<E: Engine, G: Generator, C: Content, K: Clock>(
        self,
        parts: Parts<E, K>,
        generator: G,
        content: C,
    ) -> Result<Outcome, RunError>;
}

/// Each request follows the one before it in its slot.
pub(crate) struct Closed;

impl Pace for Closed {
    fn run<E: Engine, G: Generator, C: Content, K: Clock>(
        self,
        parts: Parts<E, K>,
        generator: G,
        content: C,
    ) -> Result<Outcome, RunError> {
        let mut closed = Loop {
            engine: parts.engine,
            generator,
            content,
            clock: parts.clock,
            recorder: parts.recorder,
            batch: parts.batch,
        };
        let before_ns = target::thread_cpu_ns();
        closed.run()?;
        Ok(Outcome {
            loop_cpu_ns: target::thread_cpu_ns() - before_ns,
            ..closed.recorder.into_outcome()
        })
    }
}

/// Each request follows the one before it or is due when its stream says, which is not slept
/// through.
pub(crate) struct Punctually {
    look_ns: u64,
}

impl Punctually {
    /// By nothing but sleep.
    pub const BY_SLEEP: Self = Self { look_ns: 0 };

    /// By looking at the clock where there is a processor to spare for it.
    pub fn where_possible() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            look_ns: if processors > 1 { LOOK_NS } else { 0 },
        }
    }
}

impl Pace for Punctually {
    fn run<E: Engine, G: Generator, C: Content, K: Clock>(
        self,
        parts: Parts<E, K>,
        generator: G,
        content: C,
    ) -> Result<Outcome, RunError> {
        let parts = Parts {
            engine: Punctual {
                engine: parts.engine,
                look_ns: self.look_ns,
            },
            recorder: parts.recorder,
            clock: parts.clock,
            batch: parts.batch,
        };
        Closed.run(parts, generator, content)
    }
}

/// Requests begin when they are due.
#[derive(Debug, Clone)]
pub(crate) struct Paced {
    pub due: DueTimes,
    /// For how long what is due is measured, in nanoseconds.
    pub window_ns: u64,
    /// How long what was due may still begin after the end, in nanoseconds.
    pub drain_max_ns: u64,
    /// Whether there are processors enough for looking at the clock instead of sleeping.
    pub looks: bool,
}

impl Pace for Paced {
    fn run<E: Engine, G: Generator, C: Content, K: Clock>(
        self,
        parts: Parts<E, K>,
        generator: G,
        content: C,
    ) -> Result<Outcome, RunError> {
        let timing = self.timing(&parts.recorder, &parts.clock);
        let slot_count = parts.engine.slot_count();
        let punctual = Loop {
            engine: self.punctual(parts.engine),
            generator: OpenLoop::new(generator, self.due, timing, slot_count),
            content,
            clock: parts.clock,
            recorder: parts.recorder,
            batch: parts.batch,
        };
        Ok(punctual.run_open(self.drain_max_ns)?.outcome)
    }
}

impl Paced {
    /// The queue for a stream that holds its own rounds back until they are due.
    pub fn queue(&self, recorder: &Recorder, clock: &impl Clock, slot_count: u32) -> DueQueue {
        DueQueue::new(self.due.clone(), self.timing(recorder, clock), slot_count)
    }

    /// An engine that does not sleep through due times, where there are processors for that.
    pub fn punctual<E: Engine>(&self, engine: E) -> impl Engine + use<E> {
        Punctual {
            engine,
            look_ns: if self.looks { LOOK_NS } else { 0 },
        }
    }

    fn timing(&self, recorder: &Recorder, clock: &impl Clock) -> Timing {
        let (start_ns, measure_ns) = recorder.begins_ns();
        Timing {
            start_ns,
            now_ns: clock.now_ns(),
            window: DueWindow {
                start_ns: measure_ns,
                length_ns: self.window_ns,
            },
        }
    }
}

/// An engine that does not sleep through the end of a wait.
struct Punctual<E> {
    engine: E,
    look_ns: u64,
}

impl<E: Engine> Engine for Punctual<E> {
    fn slot_count(&self) -> u32 {
        self.engine.slot_count()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.engine.buffer(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        self.engine.push(request);
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        let wait = match wait {
            Wait::One { timeout_ns } if timeout_ns > self.look_ns => Wait::One {
                timeout_ns: timeout_ns - self.look_ns,
            },
            Wait::One { timeout_ns } if timeout_ns > 0 => Wait::Poll,
            wait => wait,
        };
        self.engine.reap(wait, done)
    }
}
