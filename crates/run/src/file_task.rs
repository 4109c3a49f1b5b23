//! Work of a lane on many files: its stream, its files and their contents.

use std::sync::mpsc;
use std::time::Duration;

use engine::clock::Clock;
use engine::{Engine, Operation, OperationSet, Wait};
use generate::job::RequestLogger;
use generate::pool::TextContent;
use generate::program::{FastPath, Interpreter};
use generate::{Content, ContentSource, FileStamp, Generator, PlainContent, Step};
use plan::{Cell, ContentPlan, EngineKind, RingOptions, WorkerPlan};
use results::EngineNotes;

use crate::RunError;
use crate::batch::Batch;
use crate::drain::FinishedLoop;
use crate::engines::{self, DynEngineWork, EngineSpec, EngineWork, LaneOutcome};
use crate::file_requests::FileRequests;
use crate::lane::Lane;
use crate::measure::Loop;
use crate::open_fileset::OpenFileset;
use crate::pace::OpenLoopPace;
use crate::recorder::{Counting, Recorder};
use crate::start::Start;

/// Work of a lane on many files.
pub(crate) struct FileTask {
    pub requests: FileRequests,
    /// `None` for the `null` engine.
    pub open_fileset: Option<OpenFileset>,
    pub contents: FileContents,
    /// Size of the largest request, in bytes.
    pub buffer_bytes: u32,
    /// `true` to log the calls of a program.
    pub logs_calls: bool,
}

/// Sources of the data that each worker of a cell writes.
pub(crate) fn contents(cell: &Cell) -> Result<Vec<ContentSource>, RunError> {
    let is_zero = |worker: &WorkerPlan| worker.content == ContentPlan::Zero;
    let are_all_zero = cell.workers.iter().all(is_zero);
    let to_source = |worker: &WorkerPlan| {
        let mut source = ContentSource::new(&worker.content)?;
        // Reads then leave zeros in the buffers, which need not be prepared again for writes.
        if are_all_zero {
            source.set_reads_zeros();
        }
        Ok(source)
    };
    cell.workers.iter().map(to_source).collect()
}

/// Data that is written.
#[derive(Clone)]
pub(crate) enum FileContents {
    Plain(ContentSource),
    /// Text of pools.
    Text(TextContent),
    /// The same text, for an engine that keeps it in its buffers.
    BufferedText(TextContent),
    /// Content that can be verified wherever it is read.
    Stamp(FileStamp),
}

/// Creates the engine, waits for the other workers and runs the loop. `None` if the gate's signal
/// was to abandon the cell.
pub(crate) fn work(mut task: FileTask, lane: &Lane, cell: &Cell, start: Start<'_>) -> LaneOutcome {
    let is_program = matches!(task.requests, FileRequests::Program(_));
    let is_checked = matches!(task.contents, FileContents::Stamp(_));
    let is_trace = matches!(task.requests, FileRequests::Trace(_));
    let is_special = is_checked || task.logs_calls;
    // A virtual call per request is cheap compared with this work, so these loops are compiled once
    // for all engines.
    if lane.pace.is_some() || is_trace || is_program && is_special {
        return with_any_engine(task, lane, cell.engine, start, lane.pace.clone());
    }
    if let FileRequests::Program(interpreter) = task.requests {
        let written = (task.contents, lane);
        // Decided before the loop, so that the fast path needs no check per request.
        return match FastPath::of(*interpreter) {
            Ok(straight) => program(straight, task.open_fileset, written, cell.engine, start),
            Err(interpreter) => {
                program(*interpreter, task.open_fileset, written, cell.engine, start)
            }
        };
    }
    let spec = spec(
        lane,
        cell.engine,
        task.buffer_bytes,
        task.requests.operations(),
    );
    let (fileset, keep_open) = (task.open_fileset.take(), task.requests.kept_open_max());
    engines::on_pool(spec, fileset, keep_open, PoolLoop { task, lane, start })
}

fn spec(lane: &Lane, kind: EngineKind, buffer_bytes: u32, operations: OperationSet) -> EngineSpec {
    EngineSpec {
        kind,
        slot_count: lane.slot_count(),
        buffer_bytes,
        operations,
        ring: RingOptions::default(),
        space: None,
    }
}

/// As [`work`], for a program: its engines have registers, and its data is plain. The loop is
/// compiled for no other case, because each copy takes tens of thousands of bytes.
fn program<G: Generator + AsRef<Interpreter> + Into<FileRequests>>(
    generator: G,
    field: Option<OpenFileset>,
    (contents, lane): (FileContents, &Lane),
    kind: EngineKind,
    start: Start<'_>,
) -> LaneOutcome {
    let FileContents::Plain(source) = contents else {
        unreachable!("programs write plain content");
    };
    let bytes = generator.as_ref().buffer_bytes();
    let count = generator.as_ref().register_count();
    let spec = spec(lane, kind, bytes, generator.operations());
    let work = ProgramLoop {
        generator,
        source,
        lane,
        start,
    };
    engines::on_registers(spec, field, count, work)
}

/// As [`work`], with an engine as `dyn Engine`: the loop is compiled once for all engines.
fn with_any_engine(
    task: FileTask,
    lane: &Lane,
    kind: EngineKind,
    start: Start<'_>,
    pace: Option<OpenLoopPace>,
) -> LaneOutcome {
    let FileTask {
        requests,
        open_fileset: field,
        contents,
        buffer_bytes,
        logs_calls,
    } = task;
    let operations = requests.operations();
    let registers = requests.register_count();
    let keep_open = requests.kept_open_max();
    let spec = spec(lane, kind, buffer_bytes, operations);
    let work = DynEngineWork(|mut engine: Box<dyn Engine>, notes| {
        let content = boxed(contents, &mut *engine, operations, lane);
        match pace {
            Some(pace) => run_paced(engine, notes, requests, content, (pace, start)),
            None => match requests {
                FileRequests::Pool(_) => unreachable!("pools have their own loop"),
                FileRequests::Program(it) if logs_calls => {
                    run_logged(engine, notes, *it, content, start)
                }
                FileRequests::Program(it) => run(engine, notes, *it, content, start),
                FileRequests::Trace(it) => run(engine, notes, *it, content, start),
            },
        }
    });
    match registers {
        Some(count) => engines::on_registers(spec, field, count, work),
        None => engines::on_pool(spec, field, keep_open, work),
    }
}

/// Content for any loop.
fn boxed(
    contents: FileContents,
    engine: &mut dyn Engine,
    operations: OperationSet,
    lane: &Lane,
) -> Box<dyn Content> {
    match contents {
        FileContents::Plain(source) => Box::new(plain(source, engine, operations, lane)),
        FileContents::BufferedText(content) => Box::new(kept(&content, engine)),
        FileContents::Text(content) => Box::new(content),
        FileContents::Stamp(content) => Box::new(content),
    }
}

/// Content that is not verified; prepares the buffers if anything is written.
fn plain<E: Engine + ?Sized>(
    source: ContentSource,
    engine: &mut E,
    operations: OperationSet,
    lane: &Lane,
) -> PlainContent {
    let reads = operations.contains(Operation::Read);
    let mut content = source.plain_with_reads(lane.plan.seed, reads);
    if operations.contains(Operation::Write) {
        for slot in 0..engine.slot_count() {
            content.prepare_buffer(engine.buffer(slot));
        }
    }
    content
}

/// Text of a pool that the engine keeps in its buffers.
fn kept<E: Engine + ?Sized>(content: &TextContent, engine: &mut E) -> TextContent {
    for slot in 0..engine.slot_count() {
        content.prepare_buffer(engine.buffer(slot));
    }
    TextContent::prepared()
}

struct PoolLoop<'a> {
    task: FileTask,
    lane: &'a Lane,
    start: Start<'a>,
}

impl EngineWork for PoolLoop<'_> {
    #[inline(always)]
    fn run<E: Engine + 'static>(self, engine: E, notes: EngineNotes) -> LaneOutcome {
        let FileRequests::Pool(play) = self.task.requests else {
            unreachable!("programs have their own engine");
        };
        let written = (self.task.contents, self.lane);
        with_contents(engine, notes, *play, written, self.start)
    }
}

struct ProgramLoop<'a, G> {
    generator: G,
    source: ContentSource,
    lane: &'a Lane,
    start: Start<'a>,
}

impl<G: Generator + Into<FileRequests>> EngineWork for ProgramLoop<'_, G> {
    #[inline(always)]
    fn run<E: Engine + 'static>(self, mut engine: E, notes: EngineNotes) -> LaneOutcome {
        let operations = self.generator.operations();
        let content = plain(self.source, &mut engine, operations, self.lane);
        run(engine, notes, self.generator, content, self.start)
    }
}

fn with_contents<E: Engine, G: Generator + Into<FileRequests>>(
    mut engine: E,
    notes: EngineNotes,
    generator: G,
    (contents, lane): (FileContents, &Lane),
    start: Start<'_>,
) -> LaneOutcome {
    match contents {
        FileContents::Plain(source) => {
            let content = plain(source, &mut engine, generator.operations(), lane);
            run(engine, notes, generator, content, start)
        }
        FileContents::BufferedText(content) => {
            let content = kept(&content, &mut engine);
            run(engine, notes, generator, content, start)
        }
        FileContents::Text(content) => run(engine, notes, generator, content, start),
        FileContents::Stamp(content) => run(engine, notes, generator, content, start),
    }
}

fn run<E: Engine, G: Generator + Into<FileRequests>, C: Content>(
    mut engine: E,
    notes: EngineNotes,
    mut generator: G,
    mut content: C,
    start: Start<'_>,
) -> LaneOutcome {
    let (clock, batch) = (start.clock.clone(), start.batch);
    enter(&mut engine, &mut generator, &mut content, &clock)?;
    // Here, `file_index` numbers the files of a fileset and not the spans of the lane.
    let Some(recorder) = start.begin(notes, Counting::SingleSpan) else {
        return Ok(None);
    };
    let (recorder, generator) = turn(engine, generator, content, (clock, batch), recorder)?;
    let mut outcome = recorder.into_outcome();
    outcome.requests = Some(generator.into());
    Ok(Some(outcome))
}

/// As [`run`], with a log of the measured calls.
fn run_logged(
    engine: Box<dyn Engine>,
    notes: EngineNotes,
    interpreter: Interpreter,
    content: Box<dyn Content>,
    start: Start<'_>,
) -> LaneOutcome {
    // Without a limit, because nothing is received before the worker is done.
    let (sender, logged) = mpsc::channel();
    let stream = RequestLogger::new(interpreter, Some(sender), engine.slot_count());
    let mut outcome = run(engine, notes, stream, content, start)?;
    if let Some(outcome) = &mut outcome {
        outcome.logged = logged.try_iter().flatten().collect();
    }
    Ok(outcome)
}

/// As [`run`], with transactions that start when they are due.
fn run_paced(
    mut engine: Box<dyn Engine>,
    notes: EngineNotes,
    mut requests: FileRequests,
    mut content: Box<dyn Content>,
    (pace, start): (OpenLoopPace, Start<'_>),
) -> LaneOutcome {
    let (clock, batch) = (start.clock.clone(), start.batch);
    enter(&mut engine, &mut requests, &mut content, &clock)?;
    let Some(mut recorder) = start.begin(notes, Counting::SingleSpan) else {
        return Ok(None);
    };
    requests.set_due_queue(pace.queue(&mut recorder, &clock, engine.slot_count()));
    let engine: Box<dyn Engine> = Box::new(pace.punctual(engine));
    let measuring = Loop {
        engine,
        generator: requests,
        content,
        clock,
        recorder,
        batch,
    };
    let FinishedLoop {
        mut outcome,
        mut engine,
        mut generator,
        mut content,
        clock,
    } = measuring.run_open(pace.drain_max_ns)?;
    if !outcome.stopped && generator.leave() {
        aside(&mut engine, &mut generator, &mut content, &clock)?;
    }
    outcome.requests = Some(generator);
    Ok(Some(outcome))
}

fn turn<E: Engine, G: Generator, C: Content, K: Clock>(
    engine: E,
    generator: G,
    content: C,
    (clock, batch): (K, Batch),
    recorder: Recorder,
) -> Result<(Recorder, G), RunError> {
    let mut measuring = Loop {
        engine,
        generator,
        content,
        clock,
        recorder,
        batch,
    };
    measuring.run()?;
    let Loop {
        mut engine,
        mut generator,
        mut content,
        clock,
        recorder,
        ..
    } = measuring;
    // After a stop, the files left are removed during cleanup.
    if !recorder.is_stopped() && generator.leave() {
        aside(&mut engine, &mut generator, &mut content, &clock)?;
    }
    Ok((recorder, generator))
}

/// Runs the requests before the measurement, then switches to the measured ones.
fn enter<E: Engine, G: Generator, C: Content, K: Clock>(
    engine: &mut E,
    generator: &mut G,
    content: &mut C,
    clock: &K,
) -> Result<(), RunError> {
    if generator.enter() {
        aside(engine, generator, content, clock)?;
    }
    generator.begin();
    Ok(())
}

/// Runs one request after the other, outside of the measurement.
fn aside<E: Engine, G: Generator, C: Content, K: Clock>(
    engine: &mut E,
    generator: &mut G,
    content: &mut C,
    clock: &K,
) -> Result<(), RunError> {
    let mut done = Vec::with_capacity(engine.slot_count() as usize);
    loop {
        let request = match generator.next(0, clock.now_ns()) {
            Step::Issue(request) => request,
            Step::Wait { until_ns } => {
                let span_ns = until_ns.saturating_sub(clock.now_ns());
                std::thread::sleep(Duration::from_nanos(span_ns));
                continue;
            }
            Step::Again => continue,
            // Nothing is in flight here, so no completion could wake a parked slot.
            Step::Park | Step::Finished => return Ok(()),
        };
        if request.operation == Operation::Write {
            let buffer = &mut engine.buffer(request.slot)[..request.length_bytes as usize];
            content.fill(buffer, &request);
        }
        engine.push(request);
        // A signal may end a wait before the request is done.
        while done.is_empty() {
            engine.reap(Wait::One { timeout_ns: 0 }, &mut done)?;
        }
        for completion in done.drain(..) {
            generator.complete(completion, clock.now_ns());
        }
    }
}
