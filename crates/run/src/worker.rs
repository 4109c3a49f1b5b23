//! One lane's thread: everything is chosen here, once, before the loop.

use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;

use engine::clock::Clock;
use engine::{
    Engine, IoUring, Mmap, MmapOptions, Null, Operation, Psync, PsyncOptions, Reopen, TscClock,
    UringOptions,
};
use generate::{Connections, Content, ContentSource, Exclusive, Generator, Stripes};
use results::EngineNotes;
use workload::plan::{CacheMode, Cell, EngineKind};

use crate::RunError;
use crate::cell::Ready;
use crate::gate::{Gate, Signal};
use crate::lane::{Lane, Requests};
use crate::measure::Loop;
use crate::recorder::{Outbox, Outcome, Recorder, Sample, Schedule};

/// What a lane's thread is given.
pub(crate) struct Kit<'a> {
    pub lane: &'a Lane,
    pub requests: Requests,
    pub cell: &'a Cell,
    /// One a span of the lane's plan; none for the `null` engine.
    pub files: Vec<OwnedFd>,
    /// How each file is opened again between connections; empty where they stay open.
    pub reopen: Vec<Reopen>,
    pub contents: Contents,
    pub sample: Box<Sample>,
    pub outbox: Outbox,
    /// Without the start, which the gate tells.
    pub schedule: Schedule,
    pub clock: TscClock,
    pub gate: &'a Gate,
    pub stop: Arc<AtomicBool>,
    /// Told once, when the thread can begin; dropped without a word when it cannot.
    pub ready: Sender<Ready>,
}

/// Where written bytes come from.
#[derive(Clone)]
pub(crate) struct Contents {
    pub source: ContentSource,
    /// Where reads are checked.
    pub verify: Option<Verify>,
}

/// What checking of reads needs.
#[derive(Clone)]
pub(crate) struct Verify {
    /// Seeds of the lane's files.
    pub file_seeds: Vec<u64>,
    /// Length of stamped blocks.
    pub block_bytes: u32,
    /// What is in flight in the lane's files.
    pub stripes: Vec<Stripes>,
}

/// Makes the engine, waits for the others, runs the loop. `None` when the gate said to abandon.
pub(crate) fn work(mut kit: Kit<'_>) -> Result<Option<Outcome>, RunError> {
    pin(kit.lane.plan.cpu)?;
    // Delays and waits otherwise end up to 50 us late. Where it cannot be set, they do.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let slot_count = kit.lane.slot_count();
    let buffer_bytes = kit.lane.buffer_bytes();
    let files = std::mem::take(&mut kit.files);
    let reopen = std::mem::take(&mut kit.reopen);
    let dontcache = kit.cell.cache == CacheMode::Dontcache;
    match kit.cell.engine {
        EngineKind::IoUring => {
            let ring = kit.cell.ring;
            let options = UringOptions {
                sqpoll: ring.sqpoll,
                iopoll: ring.iopoll,
                dontcache,
            };
            let mut engine = IoUring::new(files, slot_count, buffer_bytes, options)?;
            if !reopen.is_empty() {
                engine.set_reopen(reopen)?;
            }
            let notes = ring_notes(engine.setup());
            with_engine(engine, notes, kit)
        }
        EngineKind::Psync => {
            let options = PsyncOptions { dontcache };
            let mut engine = Psync::new(files, slot_count, buffer_bytes, options)?;
            if !reopen.is_empty() {
                engine.set_reopen(reopen)?;
            }
            with_engine(engine, EngineNotes::default(), kit)
        }
        EngineKind::Mmap => {
            let write = kit.requests.operations().contains(Operation::Write);
            let mut engine = Mmap::new(files, slot_count, buffer_bytes, MmapOptions { write })?;
            if !reopen.is_empty() {
                engine.set_reopen(reopen)?;
            }
            with_engine(engine, EngineNotes::default(), kit)
        }
        EngineKind::Null => {
            let engine = Null::new(slot_count, buffer_bytes)?;
            with_engine(engine, EngineNotes::default(), kit)
        }
    }
}

fn with_engine<E: Engine>(
    engine: E,
    notes: EngineNotes,
    mut kit: Kit<'_>,
) -> Result<Option<Outcome>, RunError> {
    let thread_id = rustix::thread::gettid().as_raw_nonzero().get();
    // Nobody listens any more once another thread has failed; the gate tells.
    let _ = kit.ready.send(Ready { notes, thread_id });
    drop(kit.ready);
    let Signal::Start { start_ns } = kit.gate.wait() else {
        return Ok(None);
    };
    kit.schedule.start_ns = start_ns;
    let batch = kit.cell.ring.batch.max(1);
    let recorder = Recorder::new(kit.sample, kit.outbox, kit.schedule, kit.stop);
    let parts = Parts {
        engine,
        recorder,
        clock: kit.clock,
        batch,
    };
    let mut outcome = with_requests(parts, kit.requests, kit.lane, &kit.contents)?;
    outcome.cpu_at_end = target::CpuSample::of_thread_id(thread_id);
    Ok(Some(outcome))
}

/// What a loop needs besides requests and contents.
pub(crate) struct Parts<E, K> {
    pub engine: E,
    pub recorder: Recorder,
    pub clock: K,
    pub batch: u32,
}

/// Runs the loop on what is left to choose.
pub(crate) fn with_requests<E: Engine, K: Clock>(
    parts: Parts<E, K>,
    requests: Requests,
    lane: &Lane,
    contents: &Contents,
) -> Result<Outcome, RunError> {
    match requests {
        Requests::Transfer(generator) => with_connections(parts, generator, lane, contents),
        Requests::SharedTransfer(generator) => with_connections(parts, generator, lane, contents),
        Requests::Iometer(generator) => with_connections(parts, generator, lane, contents),
        Requests::SharedIometer(generator) => with_connections(parts, generator, lane, contents),
    }
}

fn with_connections<E: Engine, G: Generator, K: Clock>(
    parts: Parts<E, K>,
    generator: G,
    lane: &Lane,
    contents: &Contents,
) -> Result<Outcome, RunError> {
    match lane.plan.transactions_per_connection {
        None => with_contents(parts, generator, lane, contents),
        Some(each) => {
            let generator = Connections::new(generator, &lane.plan, each);
            with_contents(parts, generator, lane, contents)
        }
    }
}

fn with_contents<E: Engine, G: Generator, K: Clock>(
    mut parts: Parts<E, K>,
    generator: G,
    lane: &Lane,
    contents: &Contents,
) -> Result<Outcome, RunError> {
    let plan = &lane.plan;
    let mut plain = contents.source.plain(plan.seed);
    if generator.operations().contains(Operation::Write) {
        for slot in 0..parts.engine.slot_count() {
            plain.prepare_buffer(parts.engine.buffer(slot));
        }
    }
    let Some(verify) = &contents.verify else {
        return run(parts, generator, plain);
    };
    let verified = contents.source.verified(
        plan.seed,
        plan.worker_index,
        verify.file_seeds.clone(),
        verify.block_bytes,
    )?;
    let slot_count = parts.engine.slot_count();
    let generator = Exclusive::new(generator, verify.stripes.clone(), slot_count);
    run(parts, generator, verified)
}

fn run<E: Engine, G: Generator, C: Content, K: Clock>(
    parts: Parts<E, K>,
    generator: G,
    content: C,
) -> Result<Outcome, RunError> {
    let Parts {
        engine,
        recorder,
        clock,
        batch,
    } = parts;
    let recorder = Loop {
        engine,
        generator,
        content,
        clock,
        recorder,
        batch,
    }
    .run()?;
    Ok(recorder.into_outcome())
}

fn pin(cpu: Option<u32>) -> Result<(), RunError> {
    let Some(cpu) = cpu else { return Ok(()) };
    let mut set = rustix::thread::CpuSet::new();
    let limit = rustix::thread::CpuSet::MAX_CPU as u32;
    if cpu < limit {
        set.set(cpu as usize);
    }
    rustix::thread::sched_setaffinity(None, &set).map_err(|errno| RunError::System {
        what: format!("run a worker on CPU {cpu}"),
        source: errno.into(),
    })
}

fn ring_notes(setup: &engine::RingSetup) -> EngineNotes {
    let names = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_owned()).collect();
    EngineNotes {
        ring: Some(results::RingSetup {
            flags: names(&setup.granted),
            missing: names(&setup.refused),
            registered_ring: setup.registered_ring,
            registered_files: true,
            registered_buffers: true,
        }),
        notes: setup.notes(),
    }
}
