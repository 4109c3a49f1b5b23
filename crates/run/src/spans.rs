//! Requests on one large file or device per target.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::clock::{Clock, TscClock};
use engine::{Engine, Operation, Reopen};
use generate::{
    Connections, ContentSource, Exclusive, Generator, PlainContent, Stripes, UnchangedContent,
    slot_spans,
};
use network::Peer;
use plan::{CacheMode, Cell, EngineKind};
use results::EngineNotes;

use crate::RunError;
use crate::engines::{self, EngineSpec, EngineWork, LaneOutcome, OpenFiles};
use crate::lane::{Lane, Requests};
use crate::outcome::WorkerOutcome;
use crate::pace::{ClosedLoop, LoopParts, Pace};
use crate::recorder::Counting;
use crate::start::Start;

/// Work of a lane on its spans.
pub(crate) struct SpanTask {
    pub requests: Requests,
    /// Files, one per span of the lane's plan; empty for the `null` engine.
    pub files: Vec<OwnedFd>,
    /// Used instead of `files`; the thread that started the lane closes them after the lane's
    /// thread has ended.
    pub shared_files: Arc<[OwnedFd]>,
    /// Peers, one per span, if the lane's targets are TCP peers.
    pub peers: Vec<Arc<Peer>>,
    /// How to reopen each file between connections; empty if the files stay open.
    pub reopen: Vec<Reopen>,
    pub contents: Contents,
}

/// Source of the data that is written.
#[derive(Clone)]
pub(crate) struct Contents {
    pub source: ContentSource,
    /// Verification of reads, if enabled.
    pub verify: Option<Verify>,
}

/// Parameters of verifying reads.
#[derive(Clone)]
pub(crate) struct Verify {
    /// Seeds of the lane's files.
    pub file_seeds: Vec<u64>,
    /// Length of the stamped blocks.
    pub block_bytes: u32,
    /// Requests in flight on the lane's files.
    pub stripes: Vec<Stripes>,
}

/// Creates the engine, waits for the other workers and runs the loop. `None` if the gate's signal
/// was to abandon the cell.
pub(crate) fn work(mut task: SpanTask, lane: &Lane, cell: &Cell, start: Start<'_>) -> LaneOutcome {
    let spec = EngineSpec {
        kind: cell.engine,
        slot_count: lane.slot_count(),
        buffer_bytes: lane.buffer_bytes(),
        operations: task.requests.operations(),
        ring: cell.ring,
        space: None,
    };
    if lane.plan.network {
        // One connection per slot.
        let spans = slot_spans(&lane.plan.spans).into_iter();
        let peers = match cell.engine {
            EngineKind::Null => Vec::new(),
            _ => spans
                .map(|it| Arc::clone(&task.peers[it as usize]))
                .collect(),
        };
        let connects = lane.plan.transactions_per_connection.is_none();
        return engines::run_on_peers(spec, peers, connects, MessageLoop { task, lane, start });
    }
    let open = OpenFiles {
        files: std::mem::take(&mut task.files),
        shared_files: std::mem::take(&mut task.shared_files),
        reopen: std::mem::take(&mut task.reopen),
        dontcache: cell.cache == CacheMode::Dontcache,
        nowait: false,
    };
    engines::on_files(spec, open, SpanLoop { task, lane, start })
}

/// The loop on files.
struct SpanLoop<'a> {
    task: SpanTask,
    lane: &'a Lane,
    start: Start<'a>,
}

impl EngineWork for SpanLoop<'_> {
    fn run<E: Engine>(self, engine: E, notes: EngineNotes) -> LaneOutcome {
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

impl EngineWork for MessageLoop<'_> {
    fn run<E: Engine>(self, engine: E, notes: EngineNotes) -> LaneOutcome {
        let Some(parts) = begun(self.start, engine, notes) else {
            return Ok(None);
        };
        with_messages(parts, self.task.requests, self.lane, &self.task.contents).map(Some)
    }
}

fn begun<E>(start: Start<'_>, engine: E, notes: EngineNotes) -> Option<LoopParts<E, TscClock>> {
    let (clock, batch) = (start.clock.clone(), start.batch);
    Some(LoopParts {
        engine,
        recorder: start.begin(notes, Counting::BySpan)?,
        clock,
        batch,
    })
}

/// Runs the loop with the lane's generator, pace and contents.
pub(crate) fn with_requests<E: Engine, K: Clock>(
    parts: LoopParts<E, K>,
    requests: Requests,
    lane: &Lane,
    contents: &Contents,
) -> Result<WorkerOutcome, RunError> {
    match requests {
        Requests::Transfer(generator) => with_connections(parts, generator, lane, contents),
        Requests::SharedTransfer(generator) => with_connections(parts, generator, lane, contents),
        Requests::Iometer(generator) => with_connections(parts, generator, lane, contents),
        Requests::SharedIometer(generator) => with_connections(parts, generator, lane, contents),
        Requests::Messages(_) => unreachable!("a lane of peers uses `with_messages`"),
    }
}

/// As [`with_requests`], for a lane whose targets are TCP peers. Separate functions keep the code
/// for connections out of loops on files, and the other way round.
pub(crate) fn with_messages<E: Engine, K: Clock>(
    mut parts: LoopParts<E, K>,
    requests: Requests,
    lane: &Lane,
    contents: &Contents,
) -> Result<WorkerOutcome, RunError> {
    let Requests::Messages(generator) = requests else {
        unreachable!("a lane of files uses `with_requests`");
    };
    let mut plain = contents.source.plain(lane.plan.seed);
    // Once per connection, because the sink discards the bytes. Renewing 1 MiB before each send
    // took a fifth of its time.
    prepare_buffers(&mut parts.engine, &mut plain);
    match lane.pace.clone() {
        None => ClosedLoop.run(parts, generator, UnchangedContent),
        Some(pace) => pace.run(parts, generator, UnchangedContent),
    }
}

fn with_connections<E: Engine, G: Generator, K: Clock>(
    parts: LoopParts<E, K>,
    generator: G,
    lane: &Lane,
    contents: &Contents,
) -> Result<WorkerOutcome, RunError> {
    match (lane.plan.transactions_per_connection, lane.pace.clone()) {
        (None, None) => with_contents(parts, generator, lane, contents, ClosedLoop),
        (None, Some(pace)) => with_contents(parts, generator, lane, contents, pace),
        // Planning rejects a rate together with connections.
        (Some(each), _) => {
            let generator = Connections::new(generator, &lane.plan, each);
            with_contents(parts, generator, lane, contents, ClosedLoop)
        }
    }
}

fn with_contents<E: Engine, G: Generator, K: Clock>(
    mut parts: LoopParts<E, K>,
    generator: G,
    lane: &Lane,
    contents: &Contents,
    pace: impl Pace,
) -> Result<WorkerOutcome, RunError> {
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
    // A read that overlaps a write in flight could return half of each version.
    let generator = Exclusive::new(generator, verify.stripes.clone(), slot_count);
    pace.run(parts, generator, verified)
}

// Once per worker; inlined, it would be in the program for each kind of stream.
#[inline(never)]
fn prepare_buffers(engine: &mut impl Engine, content: &mut PlainContent) {
    for slot in 0..engine.slot_count() {
        content.prepare_buffer(engine.buffer(slot));
    }
}
