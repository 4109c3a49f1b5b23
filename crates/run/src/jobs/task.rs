//! What the thread of a job does: its own engine, its own beginning and end.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use engine::clock::Clock;
use engine::{Engine, FileOptions, Fileset, OpenMode, Operation, PsyncFiles};
use generate::job::{GoalBoard, JobStream, Noted, Watched};
use generate::{Content, ContentSource, Exclusive, Generator, PlainContent};
use plan::job::{JobPlan, NotedRequest};
use plan::{CacheMode, Cell};
use results::EngineNotes;
use rustix::fs::OFlags;

use crate::RunError;
use crate::engines::{self, Done, EngineSpec, OnEngine, OpenFiles};
use crate::gate::{EndOfJob, JobEnd};
use crate::lane::Lane;
use crate::outcome::Outcome;
use crate::pace::{Closed, Pace, Parts, Punctually};
use crate::recorder::{Counting, Schedule};
use crate::spans::{Contents, Verify};
use crate::start::Start;
use crate::thread::{arrange, thread_usage};
use crate::times;

/// What a lane does for its job.
pub(crate) struct JobTask {
    pub stream: JobStream,
    /// One for each file of the plan; none for the `null` engine.
    pub files: Vec<OwnedFd>,
    /// The files by name, where a job works on them as such.
    pub names: Option<Arc<Fileset>>,
    pub contents: Contents,
    /// Where its requests go, if they are taken down; set when the job begins.
    pub notes: Option<mpsc::Sender<Vec<NotedRequest>>>,
    /// Where it stands with its goals, if it has any.
    pub board: Option<Arc<GoalBoard>>,
    /// The ends of jobs that it begins behind.
    pub before: Vec<Arc<JobEnd>>,
    /// Its own, for those that begin behind it.
    pub end: Option<EndOfJob>,
}

/// How long a job of the cell takes, and how many requests it makes at most.
pub(crate) fn schedule(job: &JobPlan, cell: &Cell, operations: u64) -> Schedule {
    let ends_for_all = cell.rate.is_some() || cell.steady.is_some();
    Schedule {
        start_ns: 0,
        ramp_ns: job.ramp_time_ns,
        run_ns: match cell.steady {
            Some(_) => times::measure_ns(cell),
            None => job.run_time_ns,
        },
        interval_ns: times::interval_ns(cell),
        operations,
        grace_ns: match job.is_paced() || ends_for_all {
            true => 0,
            false => times::grace_of(job.run_time_ns),
        },
    }
}

/// Makes the engine, waits for the others, runs the loop. `None` when the gate said to abandon.
pub(crate) fn work(mut task: JobTask, lane: &Lane, job: &JobPlan, start: Start<'_>) -> Done {
    // Whoever waits for it begins when all of it is done.
    let _end = task.end.take();
    arrange(&job.thread)?;
    let files = std::mem::take(&mut task.files);
    let synced = match job.stream.sync.fsync_at_end {
        true => duplicates(&files)?,
        false => Vec::new(),
    };
    let end = Arc::clone(&start.stop);
    let clock = start.clock.clone();
    let (sender, noted) = mpsc::channel();
    task.notes = job.is_noted.then_some(sender);
    let failed = Arc::new(AtomicBool::new(false));
    if job.ends_others_on_error {
        task.stream.tell_failure_to(Arc::clone(&failed));
    }
    let board = task.board.clone();
    let kit = Kit {
        task,
        lane,
        job,
        start,
    };
    let outcome = by_engine(kit, files);
    let Some(mut outcome) = outcome? else {
        return Ok(None);
    };
    let has_failed = || {
        failed.load(Ordering::Relaxed)
            || outcome.mismatch_count > 0
            || board.is_some_and(|it| it.missed().is_some())
    };
    if job.ends_others || job.ends_others_on_error && has_failed() {
        end.store(true, Ordering::Relaxed);
    }
    sync_rest(&mut outcome, &synced, &clock)?;
    outcome.noted = noted.try_iter().flatten().collect();
    outcome.usage = thread_usage();
    Ok(Some(outcome))
}

/// Makes the engine on these files, and runs the loop on it.
fn by_engine(mut kit: Kit<'_>, files: Vec<OwnedFd>) -> Done {
    if let Some(names) = kit.task.names.take() {
        return with_names(names, kit);
    }
    let (job, lane) = (kit.job, kit.lane);
    let spec = EngineSpec {
        kind: job.engine,
        slot_count: lane.slot_count(),
        buffer_bytes: lane.buffer_bytes(),
        operations: kit.task.stream.operations(),
        ring: job.ring,
    };
    let open = OpenFiles {
        files,
        lent: Arc::default(),
        reopen: Vec::new(),
        dontcache: job.cache == CacheMode::Dontcache,
    };
    engines::on_files(spec, open, kit)
}

struct Kit<'a> {
    task: JobTask,
    lane: &'a Lane,
    job: &'a JobPlan,
    start: Start<'a>,
}

impl OnEngine for Kit<'_> {
    fn run<E: Engine + 'static>(self, engine: E, notes: EngineNotes) -> Done {
        let Kit {
            task,
            lane,
            job,
            start,
        } = self;
        let (clock, batch) = (start.clock.clone(), start.batch);
        let counting = match lane.plan.spans.len() {
            0 | 1 => Counting::Together,
            _ => Counting::BySpan,
        };
        let Some(mut recorder) =
            start.begin_after(job.start_delay_ns, &task.before, notes, counting)
        else {
            return Ok(None);
        };
        if job.stream.end.loops.is_some() {
            recorder.count_short_work();
        }
        if let Some(board) = task.board.as_ref().filter(|_| job.goals.searches_first()) {
            recorder.measure_found(Arc::clone(board));
        }
        let mut parts = Parts {
            engine,
            recorder,
            clock,
            batch,
        };
        let mut plain = task.contents.source.plain(lane.plan.seed);
        if task.stream.operations().contains(Operation::Write) {
            for slot in 0..parts.engine.slot_count() {
                plain.prepare_buffer(parts.engine.buffer(slot));
            }
        }
        let verify = task.contents.verify;
        match (verify, task.board) {
            (None, None) if lane.pace.is_none() && task.notes.is_none() => match job.is_paced() {
                false => Closed.run(parts, task.stream, plain),
                true => punctually(job).run(parts, task.stream, plain),
            },
            (verify, board) => {
                let source = task.contents.source;
                let checked = verify.map(|verify| (source, verify));
                let slot_count = parts.engine.slot_count();
                with_more(
                    boxed(parts),
                    Noted::new(task.stream, task.notes, slot_count),
                    plain,
                    (checked, board, job, lane),
                )
            }
        }
        .map(Some)
    }
}

/// The rest of such a job: how its reads are checked, its goals, its plan and its lane.
type More<'a> = (
    Option<(ContentSource, Verify)>,
    Option<Arc<GoalBoard>>,
    &'a JobPlan,
    &'a Lane,
);

/// Runs the loop of a job that has goals, checks its reads, follows the rate of its cell or has its
/// requests taken down. A virtual call costs little compared with that, so these loops are compiled
/// once for all engines.
fn with_more<K: Clock>(
    parts: Parts<Box<dyn Engine>, K>,
    stream: Noted<JobStream>,
    plain: PlainContent,
    (checked, board, job, lane): More<'_>,
) -> Result<Outcome, RunError> {
    let of = (job, lane);
    let Some((source, verify)) = checked else {
        return match board {
            None => at_pace(parts, stream, plain, of),
            Some(board) => at_pace(parts, Watched::new(stream, job, board), plain, of),
        };
    };
    let verified = source.verified(
        lane.plan.seed,
        lane.plan.worker_index,
        verify.file_seeds,
        verify.block_bytes,
    )?;
    let slot_count = parts.engine.slot_count();
    let stream = Exclusive::new(stream, verify.stripes, slot_count);
    match board {
        None => at_pace(parts, stream, verified, of),
        Some(board) => at_pace(parts, Watched::new(stream, job, board), verified, of),
    }
}

fn boxed<E: Engine + 'static, K>(parts: Parts<E, K>) -> Parts<Box<dyn Engine>, K> {
    Parts {
        engine: Box::new(parts.engine),
        recorder: parts.recorder,
        clock: parts.clock,
        batch: parts.batch,
    }
}

/// Runs the loop at the rate of the cell, if there is one, or at the job's own pace.
fn at_pace<G: Generator, C: Content, K: Clock>(
    parts: Parts<Box<dyn Engine>, K>,
    generator: G,
    content: C,
    (job, lane): (&JobPlan, &Lane),
) -> Result<Outcome, RunError> {
    match lane.pace.clone() {
        Some(pace) => pace.run(parts, generator, content),
        None => punctually(job).run(parts, generator, content),
    }
}

/// What is due is not slept through; nothing else is looked at the clock for.
fn punctually(job: &JobPlan) -> Punctually {
    // Nobody is kept from a turn that comes within microseconds.
    match job.is_paced() || job.goals.flow.is_some() {
        true => Punctually::where_possible(),
        false => Punctually::BY_SLEEP,
    }
}

/// Work on names: one call at a time, nothing checked, nothing due.
fn with_names(names: Arc<Fileset>, kit: Kit<'_>) -> Done {
    let Kit {
        task,
        lane,
        job,
        start,
    } = kit;
    let made = OFlags::RDWR | OFlags::CREATE;
    let options = FileOptions {
        // A file that is there already is opened, in a second loop for one.
        ways: vec![OpenMode {
            takes_existing: true,
            ..OpenMode::new(made.bits().cast_signed(), 0o600)
        }],
        ..FileOptions::default()
    };
    let engine = PsyncFiles::new(names, lane.slot_count(), lane.buffer_bytes(), options)?;
    let (clock, batch) = (start.clock.clone(), start.batch);
    let (notes, delay_ns) = (EngineNotes::default(), job.start_delay_ns);
    let Some(recorder) = start.begin_after(delay_ns, &task.before, notes, Counting::Together)
    else {
        return Ok(None);
    };
    let parts = Parts {
        engine,
        recorder,
        clock,
        batch,
    };
    let plain = task.contents.source.plain(lane.plan.seed);
    Closed.run(parts, task.stream, plain).map(Some)
}

fn duplicates(files: &[OwnedFd]) -> Result<Vec<OwnedFd>, RunError> {
    let duplicate = |file: &OwnedFd| {
        rustix::io::fcntl_dupfd_cloexec(file.as_fd(), 0).map_err(|errno| RunError::System {
            what: "open a file of a job again".to_owned(),
            source: errno.into(),
        })
    };
    files.iter().map(duplicate).collect()
}

/// Makes durable what was written where time ended the job before it could do so itself; that time
/// belongs to the job's.
fn sync_rest(outcome: &mut Outcome, files: &[OwnedFd], clock: &impl Clock) -> Result<(), RunError> {
    if files.is_empty() || outcome.measured_ns == 0 {
        return Ok(());
    }
    let before_ns = clock.now_ns();
    for file in files {
        rustix::fs::fsync(file).map_err(|errno| RunError::System {
            what: "make a file of a job durable".to_owned(),
            source: errno.into(),
        })?;
    }
    let took_ns = clock.now_ns().saturating_sub(before_ns);
    outcome.finish_ns += took_ns;
    outcome.measured_ns += took_ns;
    outcome.rest.length_ns += took_ns;
    Ok(())
}
