//! Start times of requests: after the previous request, or when they are due.

use engine::{Clock, Completion, Engine, EngineError, OperationSet, Request, Wait};
use generate::{
    Content, DueQueue, DueTimes, DueWindow, Generator, OpenLoopGenerator, RecordedTurns, Timing,
    TraceReplay,
};

use crate::RunError;
use crate::batch::Batch;
use crate::measure::Loop;
use crate::outcome::WorkerOutcome;
use crate::recorder::Recorder;

/// Time before a due time in which the clock is polled, in nanoseconds: sleeping threads wake up
/// about ten microseconds late.
const SPIN_NS: u64 = 100_000;

/// Parts of a loop other than requests and contents.
pub(crate) struct LoopParts<E, K> {
    pub engine: E,
    pub recorder: Recorder,
    pub clock: K,
    pub batch: Batch,
}

/// Rule for the start of a lane's requests, chosen once.
pub(crate) trait Pace {
    /// Runs the loop.
    fn run<E: Engine, G: Generator, C: Content, K: Clock>(
        self,
        parts: LoopParts<E, K>,
        generator: G,
        content: C,
    ) -> Result<WorkerOutcome, RunError>;
}

/// Each request starts after the previous one in its slot.
pub(crate) struct ClosedLoop;

impl Pace for ClosedLoop {
    fn run<E: Engine, G: Generator, C: Content, K: Clock>(
        self,
        parts: LoopParts<E, K>,
        generator: G,
        content: C,
    ) -> Result<WorkerOutcome, RunError> {
        let mut closed = Loop {
            engine: parts.engine,
            generator,
            content,
            clock: parts.clock,
            recorder: parts.recorder,
            batch: parts.batch,
        };
        let before_ns = storage::thread_cpu_ns();
        closed.run()?;
        Ok(WorkerOutcome {
            loop_cpu_ns: storage::thread_cpu_ns() - before_ns,
            ..closed.recorder.into_outcome()
        })
    }
}

/// As [`ClosedLoop`], but the clock is polled before the times that the stream itself sets.
pub(crate) struct PollingClosedLoop {
    poll_ns: u64,
}

impl PollingClosedLoop {
    /// Only sleeps; never polls the clock.
    pub const SLEEP_ONLY: Self = Self { poll_ns: 0 };

    /// Polls the clock if there is more than one CPU.
    pub fn where_possible() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            // On a single CPU, polling would take time from the kernel's own threads.
            poll_ns: if processors > 1 { SPIN_NS } else { 0 },
        }
    }
}

impl Pace for PollingClosedLoop {
    fn run<E: Engine, G: Generator, C: Content, K: Clock>(
        self,
        parts: LoopParts<E, K>,
        generator: G,
        content: C,
    ) -> Result<WorkerOutcome, RunError> {
        let parts = LoopParts {
            engine: PollingEngine {
                engine: parts.engine,
                poll_ns: self.poll_ns,
            },
            recorder: parts.recorder,
            clock: parts.clock,
            batch: parts.batch,
        };
        ClosedLoop.run(parts, generator, content)
    }
}

/// Requests start when they are due.
#[derive(Debug, Clone)]
pub(crate) struct OpenLoopPace {
    pub due: DueTimes,
    /// Length of the time span whose due requests are measured, in nanoseconds.
    pub window_ns: u64,
    /// Time after the end during which due requests may still start, in nanoseconds.
    pub drain_max_ns: u64,
    /// `true` if there are enough CPUs to poll the clock instead of sleeping.
    pub polls_clock: bool,
}

impl Pace for OpenLoopPace {
    fn run<E: Engine, G: Generator, C: Content, K: Clock>(
        self,
        mut parts: LoopParts<E, K>,
        generator: G,
        content: C,
    ) -> Result<WorkerOutcome, RunError> {
        let timing = self.timing(&mut parts.recorder, &parts.clock);
        let slot_count = parts.engine.slot_count();
        let punctual = Loop {
            engine: self.punctual(parts.engine),
            generator: OpenLoopGenerator::new(generator, self.due, timing, slot_count),
            content,
            clock: parts.clock,
            recorder: parts.recorder,
            batch: parts.batch,
        };
        Ok(punctual.run_open(self.drain_max_ns)?.outcome)
    }
}

/// Replays a trace: its requests start when they are due, or without due times, as soon as a slot
/// is free.
pub(crate) fn replay<E: Engine, C: Content, K: Clock>(
    pace: Option<OpenLoopPace>,
    (turns, operations): (RecordedTurns, OperationSet),
    mut parts: LoopParts<E, K>,
    content: C,
) -> Result<WorkerOutcome, RunError> {
    let slot_count = parts.engine.slot_count();
    let Some(pace) = pace else {
        let generator = TraceReplay::<false>::new(turns, operations, Timing::ANY, slot_count);
        return ClosedLoop.run(parts, generator, content);
    };
    let timing = pace.timing(&mut parts.recorder, &parts.clock);
    let punctual = Loop {
        engine: pace.punctual(parts.engine),
        generator: TraceReplay::<true>::new(turns, operations, timing, slot_count),
        content,
        clock: parts.clock,
        recorder: parts.recorder,
        batch: parts.batch,
    };
    Ok(punctual.run_open(pace.drain_max_ns)?.outcome)
}

impl OpenLoopPace {
    /// Queue for a stream that holds back its own rounds until they are due.
    pub fn queue(&self, recorder: &mut Recorder, clock: &impl Clock, slots: u32) -> DueQueue {
        DueQueue::new(self.due.clone(), self.timing(recorder, clock), slots)
    }

    /// Engine that polls the clock before due times if there are enough CPUs.
    pub fn punctual<E: Engine>(&self, engine: E) -> impl Engine + use<E> {
        PollingEngine {
            engine,
            poll_ns: if self.polls_clock { SPIN_NS } else { 0 },
        }
    }

    // Once per worker; inlined, it would be in the program for each kind of stream.
    #[inline(never)]
    fn timing(&self, recorder: &mut Recorder, clock: &impl Clock) -> Timing {
        let now_ns = clock.now_ns();
        recorder.catch_up_from(now_ns);
        let (start_ns, measure_ns) = recorder.start_times_ns();
        Timing {
            start_ns,
            now_ns,
            window: DueWindow {
                start_ns: measure_ns,
                length_ns: self.window_ns,
            },
        }
    }
}

/// Engine that polls during the last part of a wait instead of sleeping.
struct PollingEngine<E> {
    engine: E,
    poll_ns: u64,
}

impl<E: Engine> Engine for PollingEngine<E> {
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
            Wait::One { timeout_ns } if timeout_ns > self.poll_ns => Wait::One {
                timeout_ns: timeout_ns - self.poll_ns,
            },
            // A poll returns immediately, and the loop reads the clock again.
            Wait::One { timeout_ns } if timeout_ns > 0 => Wait::Poll,
            wait => wait,
        };
        self.engine.reap(wait, done)
    }
}
