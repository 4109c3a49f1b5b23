//! What a lane does with many files: its stream, where the files lie, what is in them.

use std::sync::Arc;
use std::time::Duration;

use engine::clock::Clock;
use engine::{
    Engine, FileHandles, FileOptions, Fileset, Filesets, Null, Operation, OperationSet, PsyncFiles,
    UringFiles, Wait, with_own_descriptors,
};
use generate::pool::TextContent;
use generate::program::{Interpreter, Straight};
use generate::{Content, ContentSource, FileStamp, Generator, PlainContent, Step};
use plan::{Cell, ContentPlan, EngineKind, WorkerPlan};
use results::EngineNotes;

use crate::RunError;
use crate::batch::Batch;
use crate::drain::Ended;
use crate::lane::Lane;
use crate::measure::Loop;
use crate::outcome::Outcome;
use crate::pace::Paced;
use crate::recorder::{Counting, Recorder};
use crate::start::{Start, ring_notes};

use super::requests::FileRequests;

/// What a lane does with many files.
pub(crate) struct FileTask {
    pub requests: FileRequests,
    /// None for the `null` engine.
    pub field: Option<Field>,
    pub contents: FileContents,
    /// Bytes of the largest request.
    pub buffer_bytes: u32,
}

/// Where files lie and how they are opened.
#[derive(Clone)]
pub(crate) struct Field {
    pub fileset: Arc<Fileset>,
    /// Filesets besides, which requests say by number.
    pub others: Arc<[Arc<Fileset>]>,
    pub options: FileOptions,
}

impl Field {
    /// One fileset.
    pub fn of(fileset: Arc<Fileset>, options: FileOptions) -> Self {
        Self {
            fileset,
            others: Arc::new([]),
            options,
        }
    }

    fn filesets(&self) -> Filesets {
        Filesets::new(Arc::clone(&self.fileset), &self.others)
    }
}

/// Where the bytes that each worker of a cell writes come from.
pub(super) fn contents(cell: &Cell) -> Result<Vec<ContentSource>, RunError> {
    let is_zero = |worker: &WorkerPlan| worker.content == ContentPlan::Zero;
    let are_all_zero = cell.workers.iter().all(is_zero);
    let of_worker = |worker: &WorkerPlan| {
        let mut source = ContentSource::new(&worker.content)?;
        if are_all_zero {
            source.set_reads_zeros();
        }
        Ok(source)
    };
    cell.workers.iter().map(of_worker).collect()
}

/// What is written.
#[derive(Clone)]
pub(crate) enum FileContents {
    Plain(ContentSource),
    /// What pools are written with.
    Text(TextContent),
    /// The same, for an engine that keeps it in its buffers.
    Kept(TextContent),
    /// What can be checked wherever it is read.
    Stamp(FileStamp),
}

/// Makes the engine, waits for the others, runs the loop. `None` when the gate said to abandon.
pub(crate) fn work(
    mut task: FileTask,
    lane: &Lane,
    cell: &Cell,
    start: Start<'_>,
) -> Result<Option<Outcome>, RunError> {
    let is_program = matches!(task.requests, FileRequests::Program(_));
    let is_checked = matches!(task.contents, FileContents::Stamp(_));
    let is_trace = matches!(task.requests, FileRequests::Trace(_));
    if lane.pace.is_some() || is_trace || is_program && is_checked {
        return with_any_engine(task, lane, cell.engine, start, lane.pace.clone());
    }
    if let FileRequests::Program(interpreter) = task.requests {
        let written = (task.contents, lane);
        return match Straight::of(*interpreter) {
            Ok(straight) => program(straight, task.field, written, cell.engine, start),
            Err(interpreter) => program(*interpreter, task.field, written, cell.engine, start),
        };
    }
    let (slots, bytes) = (lane.slot_count(), task.buffer_bytes);
    match (task.field.take(), cell.engine) {
        (None, _) | (_, EngineKind::Null) => {
            let engine = Null::new(slots, bytes)?;
            with_engine(engine, EngineNotes::default(), task, lane, start)
        }
        (Some(field), EngineKind::IoUring) => {
            let engine = UringFiles::new(field.fileset, slots, bytes, field.options)?;
            let notes = EngineNotes {
                notes: engine.notes(task.requests.operations()),
                ..ring_notes(engine.setup())
            };
            with_engine(engine, notes, task, lane, start)
        }
        (Some(field), EngineKind::Psync | EngineKind::Mmap) => {
            with_own_descriptors(|| with_psync(field, (slots, bytes), task, lane, start))
        }
    }
}

/// As [`work`], of a program: its engines have registers, and what it writes is plain. The loop is
/// compiled for nothing else, as each further one has tens of thousands of bytes.
fn program<G: Generator + AsRef<Interpreter> + Into<FileRequests>>(
    generator: G,
    field: Option<Field>,
    (contents, lane): (FileContents, &Lane),
    kind: EngineKind,
    start: Start<'_>,
) -> Result<Option<Outcome>, RunError> {
    let FileContents::Plain(source) = contents else {
        unreachable!("what programs write is plain");
    };
    let (slots, bytes) = (lane.slot_count(), generator.as_ref().buffer_bytes());
    let count = generator.as_ref().register_count();
    let written = (source, lane);
    match (field, kind) {
        (None, _) | (_, EngineKind::Null) => {
            let engine = Null::new(slots, bytes)?;
            with_plain(engine, EngineNotes::default(), generator, written, start)
        }
        (Some(field), EngineKind::IoUring) => {
            let (filesets, options) = (field.filesets(), field.options);
            let engine = UringFiles::with_registers(filesets, slots, bytes, options, count)?;
            let notes = EngineNotes {
                notes: engine.notes(generator.operations()),
                ..ring_notes(engine.setup())
            };
            with_plain(engine, notes, generator, written, start)
        }
        (Some(field), EngineKind::Psync | EngineKind::Mmap) => with_own_descriptors(|| {
            let (filesets, options) = (field.filesets(), field.options);
            let engine = PsyncFiles::with_registers(filesets, slots, bytes, options, count)?;
            with_plain(engine, EngineNotes::default(), generator, written, start)
        }),
    }
}

/// As [`work`], by an engine that is called through a table, so that the loop is compiled once for
/// all of them.
fn with_any_engine(
    task: FileTask,
    lane: &Lane,
    kind: EngineKind,
    start: Start<'_>,
    pace: Option<Paced>,
) -> Result<Option<Outcome>, RunError> {
    let slots = lane.slot_count();
    let FileTask {
        requests,
        field,
        contents,
        buffer_bytes: bytes,
    } = task;
    let operations = requests.operations();
    let registers = requests.register_count();
    let keep_open = requests.kept_open_max();
    let run = |engine: Box<dyn Engine>, notes| {
        let mut engine = engine;
        let content = boxed(contents, &mut *engine, operations, lane);
        match pace {
            Some(pace) => run_paced(engine, notes, requests, content, (pace, start)),
            None => match requests {
                FileRequests::Pool(_) => unreachable!("pools have loops of their own"),
                FileRequests::Program(it) => run(engine, notes, *it, content, start),
                FileRequests::Trace(it) => run(engine, notes, *it, content, start),
            },
        }
    };
    match (field, kind) {
        (None, _) | (_, EngineKind::Null) => {
            run(Box::new(Null::new(slots, bytes)?), EngineNotes::default())
        }
        (Some(field), EngineKind::IoUring) => {
            let (filesets, options) = (field.filesets(), field.options);
            let engine = match registers {
                Some(count) => UringFiles::with_registers(filesets, slots, bytes, options, count)?,
                None => UringFiles::new(field.fileset, slots, bytes, options)?,
            };
            let notes = EngineNotes {
                notes: engine.notes(operations),
                ..ring_notes(engine.setup())
            };
            run(Box::new(engine), notes)
        }
        (Some(field), EngineKind::Psync | EngineKind::Mmap) => with_own_descriptors(|| {
            let Some(count) = registers else {
                return psync(field, (slots, bytes), keep_open, run);
            };
            let (filesets, options) = (field.filesets(), field.options);
            let engine = PsyncFiles::with_registers(filesets, slots, bytes, options, count)?;
            run(Box::new(engine), EngineNotes::default())
        }),
    }
}

/// The content for any loop.
fn boxed(
    contents: FileContents,
    engine: &mut dyn Engine,
    operations: OperationSet,
    lane: &Lane,
) -> Box<dyn Content> {
    match contents {
        FileContents::Plain(source) => Box::new(plain(source, engine, operations, lane)),
        FileContents::Kept(content) => Box::new(kept(&content, engine)),
        FileContents::Text(content) => Box::new(content),
        FileContents::Stamp(content) => Box::new(content),
    }
}

/// Content that nobody checks, with the buffers prepared where anything is written.
fn plain<E: Engine + ?Sized>(
    source: ContentSource,
    engine: &mut E,
    operations: OperationSet,
    lane: &Lane,
) -> PlainContent {
    let reads = operations.contains(Operation::Read);
    let mut content = source.plain_beside_reads(lane.plan.seed, reads);
    if operations.contains(Operation::Write) {
        for slot in 0..engine.slot_count() {
            content.prepare_buffer(engine.buffer(slot));
        }
    }
    content
}

/// A pool's text, which the engine keeps in its buffers.
fn kept<E: Engine + ?Sized>(content: &TextContent, engine: &mut E) -> TextContent {
    for slot in 0..engine.slot_count() {
        content.prepare_buffer(engine.buffer(slot));
    }
    TextContent::prepared()
}

fn with_psync(
    field: Field,
    (slots, bytes): (u32, u32),
    task: FileTask,
    lane: &Lane,
    start: Start<'_>,
) -> Result<Option<Outcome>, RunError> {
    let keep_open = task.requests.kept_open_max();
    if keep_open > 0 {
        let (engine, notes) = keeping_open(field, (slots, bytes), keep_open)?;
        return with_engine(engine, notes, task, lane, start);
    }
    let Field {
        fileset, options, ..
    } = field;
    let engine = PsyncFiles::new(fileset, slots, bytes, options)?;
    with_engine(engine, EngineNotes::default(), task, lane, start)
}

/// As [`with_psync`], by an engine that is called through a table.
fn psync(
    field: Field,
    (slots, bytes): (u32, u32),
    keep_open: u32,
    run: impl FnOnce(Box<dyn Engine>, EngineNotes) -> Result<Option<Outcome>, RunError>,
) -> Result<Option<Outcome>, RunError> {
    if keep_open > 0 {
        let (engine, notes) = keeping_open(field, (slots, bytes), keep_open)?;
        return run(Box::new(engine), notes);
    }
    let engine = PsyncFiles::new(field.fileset, slots, bytes, field.options)?;
    run(Box::new(engine), EngineNotes::default())
}

/// An engine whose files may stay open behind their requests, up to `keep_open` of them.
fn keeping_open(
    field: Field,
    (slots, bytes): (u32, u32),
    keep_open: u32,
) -> Result<(PsyncFiles<FileHandles>, EngineNotes), RunError> {
    let notes = EngineNotes {
        notes: vec![format!(
            "up to {keep_open} files stay open in the transactions; closing what is left is not \
             timed"
        )],
        ..EngineNotes::default()
    };
    // Each slot may also have one that is being closed.
    let files_max = keep_open.saturating_add(slots);
    let (fileset, options) = (field.fileset, field.options);
    let engine = PsyncFiles::keeping_open(fileset, slots, bytes, options, files_max)?;
    Ok((engine, notes))
}

fn with_engine<E: Engine>(
    engine: E,
    notes: EngineNotes,
    task: FileTask,
    lane: &Lane,
    start: Start<'_>,
) -> Result<Option<Outcome>, RunError> {
    match task.requests {
        FileRequests::Pool(play) => {
            with_contents(engine, notes, *play, (task.contents, lane), start)
        }
        FileRequests::Program(_) | FileRequests::Trace(_) => {
            unreachable!("programs have engines of their own")
        }
    }
}

fn with_contents<E: Engine, G: Generator + Into<FileRequests>>(
    mut engine: E,
    notes: EngineNotes,
    generator: G,
    (contents, lane): (FileContents, &Lane),
    start: Start<'_>,
) -> Result<Option<Outcome>, RunError> {
    match contents {
        FileContents::Plain(source) => with_plain(engine, notes, generator, (source, lane), start),
        FileContents::Kept(content) => {
            let content = kept(&content, &mut engine);
            run(engine, notes, generator, content, start)
        }
        FileContents::Text(content) => run(engine, notes, generator, content, start),
        FileContents::Stamp(content) => run(engine, notes, generator, content, start),
    }
}

fn with_plain<E: Engine, G: Generator + Into<FileRequests>>(
    mut engine: E,
    notes: EngineNotes,
    generator: G,
    (source, lane): (ContentSource, &Lane),
    start: Start<'_>,
) -> Result<Option<Outcome>, RunError> {
    let content = plain(source, &mut engine, generator.operations(), lane);
    run(engine, notes, generator, content, start)
}

fn run<E: Engine, G: Generator + Into<FileRequests>, C: Content>(
    mut engine: E,
    notes: EngineNotes,
    mut generator: G,
    mut content: C,
    start: Start<'_>,
) -> Result<Option<Outcome>, RunError> {
    let (clock, batch) = (start.clock.clone(), start.batch);
    enter(&mut engine, &mut generator, &mut content, &clock)?;
    let Some(recorder) = start.begin(notes, Counting::Together) else {
        return Ok(None);
    };
    let (recorder, generator) = turn(engine, generator, content, (clock, batch), recorder)?;
    let mut outcome = recorder.into_outcome();
    outcome.requests = Some(generator.into());
    Ok(Some(outcome))
}

/// As [`run`], where transactions begin when they are due.
fn run_paced(
    mut engine: Box<dyn Engine>,
    notes: EngineNotes,
    mut requests: FileRequests,
    mut content: Box<dyn Content>,
    (pace, start): (Paced, Start<'_>),
) -> Result<Option<Outcome>, RunError> {
    let (clock, batch) = (start.clock.clone(), start.batch);
    enter(&mut engine, &mut requests, &mut content, &clock)?;
    let Some(recorder) = start.begin(notes, Counting::Together) else {
        return Ok(None);
    };
    requests.begin_when_due(pace.queue(&recorder, &clock, engine.slot_count()));
    let engine: Box<dyn Engine> = Box::new(pace.punctual(engine));
    let measuring = Loop {
        engine,
        generator: requests,
        content,
        clock,
        recorder,
        batch,
    };
    let Ended {
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
    // Whoever is stopped leaves the rest to cleaning up.
    if !recorder.is_stopped() && generator.leave() {
        aside(&mut engine, &mut generator, &mut content, &clock)?;
    }
    Ok((recorder, generator))
}

/// Does what comes before the measurement, and goes to what is measured.
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

/// Carries out one request after the other outside of the measurement.
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
            Step::Park | Step::Finished => return Ok(()),
        };
        if request.operation == Operation::Write {
            let buffer = &mut engine.buffer(request.slot)[..request.length_bytes as usize];
            content.fill(buffer, &request);
        }
        engine.push(request);
        while done.is_empty() {
            engine.reap(Wait::One { timeout_ns: 0 }, &mut done)?;
        }
        for completion in done.drain(..) {
            generator.complete(completion, clock.now_ns());
        }
    }
}
