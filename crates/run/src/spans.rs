//! Requests on one large file or device a target.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::clock::{Clock, TscClock};
use engine::{Engine, Operation, Reopen};
use generate::{
    Connections, ContentSource, Exclusive, Generator, PlainContent, Stripes, Unchanged, slot_spans,
};
use network::Peer;
use plan::{CacheMode, Cell, EngineKind};
use results::EngineNotes;

use crate::RunError;
use crate::engines::{self, Done, EngineSpec, OnEngine, OpenFiles};
use crate::lane::{Lane, Requests};
use crate::outcome::Outcome;
use crate::pace::{Closed, Pace, Parts};
use crate::recorder::Counting;
use crate::start::Start;

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
pub(crate) fn work(mut task: SpanTask, lane: &Lane, cell: &Cell, start: Start<'_>) -> Done {
    let spec = EngineSpec {
        kind: cell.engine,
        slot_count: lane.slot_count(),
        buffer_bytes: lane.buffer_bytes(),
        operations: task.requests.operations(),
        ring: cell.ring,
    };
    if lane.plan.network {
        // One a slot.
        let spans = slot_spans(&lane.plan.spans).into_iter();
        let peers = match cell.engine {
            EngineKind::Null => Vec::new(),
            _ => spans
                .map(|it| Arc::clone(&task.peers[it as usize]))
                .collect(),
        };
        let connects = lane.plan.transactions_per_connection.is_none();
        return engines::on_peers(spec, peers, connects, MessageLoop { task, lane, start });
    }
    let open = OpenFiles {
        files: std::mem::take(&mut task.files),
        lent: std::mem::take(&mut task.lent),
        reopen: std::mem::take(&mut task.reopen),
        dontcache: cell.cache == CacheMode::Dontcache,
    };
    engines::on_files(spec, open, SpanLoop { task, lane, start })
}

/// The loop on files.
struct SpanLoop<'a> {
    task: SpanTask,
    lane: &'a Lane,
    start: Start<'a>,
}

impl OnEngine for SpanLoop<'_> {
    fn run<E: Engine>(self, engine: E, notes: EngineNotes) -> Done {
        let Some(parts) = begun(self.start, engine, notes) else {
            return Ok(None);
        };
        with_requests(parts, self.task.requests, self.lane, &self.task.contents).map(Some)
    }
}

/// The loop on connections.
struct MessageLoop<'a> {
    task: SpanTask,
    lane: &'a Lane,
    start: Start<'a>,
}

impl OnEngine for MessageLoop<'_> {
    fn run<E: Engine>(self, engine: E, notes: EngineNotes) -> Done {
        let Some(parts) = begun(self.start, engine, notes) else {
            return Ok(None);
        };
        with_messages(parts, self.task.requests, self.lane, &self.task.contents).map(Some)
    }
}

fn begun<E>(start: Start<'_>, engine: E, notes: EngineNotes) -> Option<Parts<E, TscClock>> {
    let (clock, batch) = (start.clock.clone(), start.batch);
    Some(Parts {
        engine,
        recorder: start.begin(notes, Counting::BySpan)?,
        clock,
        batch,
    })
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
