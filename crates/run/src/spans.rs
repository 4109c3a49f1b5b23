//! Requests on one large file or device a target.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::clock::{Clock, TscClock};
use engine::{
    Engine, IoUring, Mmap, MmapOptions, Null, Operation, Psync, PsyncNetwork, PsyncOptions, Reopen,
    UringNetwork, UringOptions, with_own_files,
};
use generate::{
    Connections, ContentSource, Exclusive, Generator, PlainContent, Stripes, Unchanged, slot_spans,
};
use network::Peer;
use plan::{CacheMode, Cell, EngineKind};
use results::EngineNotes;

use crate::RunError;
use crate::lane::{Lane, Requests};
use crate::outcome::Outcome;
use crate::pace::{Closed, Pace, Parts};
use crate::recorder::Counting;
use crate::start::{Start, ring_notes};

/// What a lane does on its spans.
pub(crate) struct SpanTask {
    pub requests: Requests,
    /// One a span of the lane's plan; none for the `null` engine.
    pub files: Vec<OwnedFd>,
    /// In place of `files`, those that whoever started the lane closes when its thread is gone.
    pub lent: Arc<[OwnedFd]>,
    /// As `files`, of a lane whose targets are TCP peers.
    pub peers: Vec<Arc<Peer>>,
    /// How each file is opened again between connections; empty where they stay open.
    pub reopen: Vec<Reopen>,
    pub contents: Contents,
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
pub(crate) fn work(
    mut task: SpanTask,
    lane: &Lane,
    cell: &Cell,
    start: Start<'_>,
) -> Result<Option<Outcome>, RunError> {
    let slot_count = lane.slot_count();
    let buffer_bytes = lane.buffer_bytes();
    if !task.peers.is_empty() {
        return work_with_peers(task, lane, cell, start);
    }
    let files = std::mem::take(&mut task.files);
    let lent = std::mem::take(&mut task.lent);
    let reopen = std::mem::take(&mut task.reopen);
    let dontcache = cell.cache == CacheMode::Dontcache;
    let kit = Kit { task, lane, start };
    match cell.engine {
        EngineKind::IoUring => {
            let ring = cell.ring;
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
            kit.run(engine, notes, with_requests)
        }
        EngineKind::Psync if !lent.is_empty() => with_own_files(&lent, |files| {
            let options = PsyncOptions { dontcache };
            let engine = Psync::new(files, slot_count, buffer_bytes, options)?;
            kit.run(engine, EngineNotes::default(), with_requests)
        })
        .map_err(|source| RunError::System {
            what: "open a file again".to_owned(),
            source,
        })?,
        EngineKind::Psync => {
            let options = PsyncOptions { dontcache };
            let mut engine = Psync::new(files, slot_count, buffer_bytes, options)?;
            if !reopen.is_empty() {
                engine.set_reopen(reopen)?;
            }
            kit.run(engine, EngineNotes::default(), with_requests)
        }
        EngineKind::Mmap => {
            let write = kit.task.requests.operations().contains(Operation::Write);
            let mut engine = Mmap::new(files, slot_count, buffer_bytes, MmapOptions { write })?;
            if !reopen.is_empty() {
                engine.set_reopen(reopen)?;
            }
            kit.run(engine, EngineNotes::default(), with_requests)
        }
        EngineKind::Null => {
            let engine = Null::new(slot_count, buffer_bytes)?;
            let notes = EngineNotes::default();
            match lane.plan.network {
                true => kit.run(engine, notes, with_messages),
                false => kit.run(engine, notes, with_requests),
            }
        }
    }
}

/// As [`work`], on connections: one a slot.
fn work_with_peers(
    mut task: SpanTask,
    lane: &Lane,
    cell: &Cell,
    start: Start<'_>,
) -> Result<Option<Outcome>, RunError> {
    let peers = std::mem::take(&mut task.peers);
    let of_span = |span_index: u32| Arc::clone(&peers[span_index as usize]);
    let peers = slot_spans(&lane.plan.spans).into_iter().map(of_span);
    let peers = peers.collect();
    let connects = lane.plan.transactions_per_connection.is_none();
    let buffer_bytes = lane.buffer_bytes();
    let kit = Kit { task, lane, start };
    if cell.engine != EngineKind::IoUring {
        let engine = PsyncNetwork::new(peers, buffer_bytes, connects)?;
        return kit.run(engine, EngineNotes::default(), with_messages);
    }
    let options = UringOptions {
        sqpoll: cell.ring.sqpoll,
        ..UringOptions::default()
    };
    let engine = UringNetwork::new(peers, buffer_bytes, options, connects)?;
    let notes = ring_notes(engine.setup());
    kit.run(engine, notes, with_messages)
}

struct Kit<'a> {
    task: SpanTask,
    lane: &'a Lane,
    start: Start<'a>,
}

/// Runs the loop on a generator's requests.
type Way<E> = fn(Parts<E, TscClock>, Requests, &Lane, &Contents) -> Result<Outcome, RunError>;

impl Kit<'_> {
    fn run<E: Engine>(
        self,
        engine: E,
        notes: EngineNotes,
        way: Way<E>,
    ) -> Result<Option<Outcome>, RunError> {
        let (clock, batch) = (self.start.clock.clone(), self.start.batch);
        let Some(recorder) = self.start.begin(notes, Counting::BySpan) else {
            return Ok(None);
        };
        let parts = Parts {
            engine,
            recorder,
            clock,
            batch,
        };
        way(parts, self.task.requests, self.lane, &self.task.contents).map(Some)
    }
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
        Requests::Messages(_) => unreachable!("a lane whose targets are peers has its own way"),
    }
}

/// As [`with_requests`], of a lane whose targets are TCP peers: loops on files and loops on
/// connections are made of what they may meet only.
pub(crate) fn with_messages<E: Engine, K: Clock>(
    mut parts: Parts<E, K>,
    requests: Requests,
    lane: &Lane,
    contents: &Contents,
) -> Result<Outcome, RunError> {
    let Requests::Messages(generator) = requests else {
        unreachable!("a lane whose targets are files has its own way");
    };
    let mut plain = contents.source.plain(lane.plan.seed);
    prepare_buffers(&mut parts.engine, &mut plain);
    match lane.pace.clone() {
        None => Closed.run(parts, generator, Unchanged),
        Some(pace) => pace.run(parts, generator, Unchanged),
    }
}

fn with_connections<E: Engine, G: Generator, K: Clock>(
    parts: Parts<E, K>,
    generator: G,
    lane: &Lane,
    contents: &Contents,
) -> Result<Outcome, RunError> {
    match (lane.plan.transactions_per_connection, lane.pace.clone()) {
        (None, None) => with_contents(parts, generator, lane, contents, Closed),
        (None, Some(pace)) => with_contents(parts, generator, lane, contents, pace),
        // Planning lets no connections have a rate.
        (Some(each), _) => {
            let generator = Connections::new(generator, &lane.plan, each);
            with_contents(parts, generator, lane, contents, Closed)
        }
    }
}

fn with_contents<E: Engine, G: Generator, K: Clock>(
    mut parts: Parts<E, K>,
    generator: G,
    lane: &Lane,
    contents: &Contents,
    pace: impl Pace,
) -> Result<Outcome, RunError> {
    let plan = &lane.plan;
    let mut plain = contents.source.plain(plan.seed);
    if generator.operations().contains(Operation::Write) {
        prepare_buffers(&mut parts.engine, &mut plain);
    }
    let Some(verify) = &contents.verify else {
        return pace.run(parts, generator, plain);
    };
    let verified = contents.source.verified(
        plan.seed,
        plan.worker_index,
        verify.file_seeds.clone(),
        verify.block_bytes,
    )?;
    let slot_count = parts.engine.slot_count();
    let generator = Exclusive::new(generator, verify.stripes.clone(), slot_count);
    pace.run(parts, generator, verified)
}

fn prepare_buffers(engine: &mut impl Engine, content: &mut PlainContent) {
    for slot in 0..engine.slot_count() {
        content.prepare_buffer(engine.buffer(slot));
    }
}
