//! Work of a job's thread, with its own engine, start and end.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use engine::clock::Clock;
use engine::{
    Engine, FileEngineOptions, Fileset, OpenMode, Operation, PsyncFiles, SpaceCall,
    SubmissionTimes, TimedSubmission,
};
use generate::job::{
    GoalLimited, GoalProgress, JobStream, LatencySplitter, RequestLogger, SplitLatencies,
};
use generate::{
    CheckedContent, Content, ContentSource, Exclusive, Generator, PlainContent, Stripes,
};
use plan::job::{JobPlan, LoggedRequest, SpaceWork};
use plan::{CacheMode, Cell};
use results::EngineNotes;
use rustix::fs::OFlags;

use crate::RunError;
use crate::engines::{self, EngineSpec, EngineWork, LaneOutcome, OpenFiles};
use crate::gate::{JobEnd, JobEndGuard};
use crate::lane::Lane;
use crate::outcome::WorkerOutcome;
use crate::pace::{ClosedLoop, LoopParts, Pace, PollingClosedLoop, replay};
use crate::recorder::Counting;
use crate::schedule::Schedule;
use crate::spans::{Contents, Verify};
use crate::start::Start;
use crate::thread::{arrange, thread_usage};
use crate::times;

/// Work of a lane for its job.
pub(crate) struct JobTask {
    pub stream: JobStream,
    /// Files in the order of the plan; empty for the `null` engine.
    pub files: Vec<OwnedFd>,
    /// The files by name, if the job works on names.
    pub names: Option<Arc<Fileset>>,
    pub contents: Contents,
    /// Content of the job itself instead of `contents`, if it has a pattern or headers.
    pub own_content: Option<JobContent>,
    /// Receiver of the requests if they are noted; set when the job starts.
    pub request_log: Option<mpsc::Sender<Vec<LoggedRequest>>>,
    /// Receiver of latencies split at the submission, as for `request_log`.
    pub split: Option<mpsc::Sender<Vec<SplitLatencies>>>,
    /// Progress towards the goals, if there are any.
    pub progress: Option<Arc<GoalProgress>>,
    /// Ends of the jobs that this job starts after.
    pub predecessors: Vec<Arc<JobEnd>>,
    /// End of this job, for the jobs that start after it.
    pub end: Option<JobEndGuard>,
}

/// Content of a job that writes a pattern, or blocks with headers.
pub(crate) struct JobContent {
    pub content: CheckedContent,
    /// Requests in flight on the job's files, if reads are verified.
    pub stripes: Option<Vec<Stripes>>,
}

/// Times of a job in the cell, and its maximum number of requests.
pub(crate) fn schedule(job: &JobPlan, cell: &Cell, operations: u64) -> Schedule {
    let ends_for_all = cell.rate.is_some() || cell.steady.is_some();
    Schedule {
        start_ns: 0,
        ramp_ns: job.ramp_time_ns,
        run_ns: match cell.steady {
            // A cell that is measured in rounds ends all of its jobs at the same time.
            Some(_) => times::measure_ns(cell),
            None => job.run_time_ns,
        },
        interval_ns: times::interval_ns(cell),
        operations,
        // As in `times::grace_ns`; a job with its own pace also ends on time.
        grace_ns: match job.is_paced() || ends_for_all {
            true => 0,
            false => times::grace_of(job.run_time_ns),
        },
    }
}

/// Creates the engine, waits for the other workers and runs the loop. `None` if the gate's signal
/// was to abandon the cell.
pub(crate) fn work(mut task: JobTask, lane: &Lane, job: &JobPlan, start: Start<'_>) -> LaneOutcome {
    // Dropped when the whole job is done, so that the jobs that wait for it start only then.
    let _end = task.end.take();
    arrange(&job.thread)?;
    let files = std::mem::take(&mut task.files);
    // The engine closes its files at the end of the loop, and the sync comes after that.
    let synced = match job.stream.sync.fsync_at_end {
        true => duplicates(&files)?,
        false => Vec::new(),
    };
    // All jobs of the cell share this flag.
    let end = Arc::clone(&start.stop);
    let clock = start.clock.clone();
    // Without a limit, because nothing is received before the job has ended.
    let (sender, noted) = mpsc::channel();
    task.request_log = job.is_noted.then_some(sender);
    let (sender, split) = mpsc::channel();
    task.split = job.times_submission.then_some(sender);
    let failed = Arc::new(AtomicBool::new(false));
    if job.ends_others_on_error {
        task.stream.set_failure_flag(Arc::clone(&failed));
    }
    let board = task.progress.clone();
    let context = JobLane {
        task,
        lane,
        job,
        start,
    };
    let outcome = run_with_engine(context, files);
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
    outcome.logged = noted.try_iter().flatten().collect();
    outcome.split = split.try_iter().flatten().collect();
    // Last, to include the sync.
    outcome.usage = thread_usage();
    Ok(Some(outcome))
}

/// Creates the engine on these files, and runs the loop on it.
fn run_with_engine(mut context: JobLane<'_>, files: Vec<OwnedFd>) -> LaneOutcome {
    if let Some(names) = context.task.names.take() {
        return run_on_names(names, context);
    }
    let (job, lane) = (context.job, context.lane);
    let spec = EngineSpec {
        kind: job.engine,
        slot_count: lane.slot_count(),
        buffer_bytes: lane.buffer_bytes(),
        operations: context.task.stream.operations(),
        ring: job.ring,
        space: job.space.map(|space| match space {
            SpaceWork::Allocate => SpaceCall::Fallocate,
            SpaceWork::Truncate => SpaceCall::Ftruncate,
        }),
    };
    let open = OpenFiles {
        files,
        shared_files: Arc::default(),
        reopen: Vec::new(),
        dontcache: job.cache == CacheMode::Dontcache,
        nowait: job.nowait,
    };
    engines::on_files(spec, open, context)
}

struct JobLane<'a> {
    task: JobTask,
    lane: &'a Lane,
    job: &'a JobPlan,
    start: Start<'a>,
}

impl EngineWork for JobLane<'_> {
    fn run<E: Engine + 'static>(self, mut engine: E, notes: EngineNotes) -> LaneOutcome {
        let JobLane {
            task,
            lane,
            job,
            start,
        } = self;
        let (clock, batch) = (start.clock.clone(), start.batch);
        let mut plain = task.contents.source.plain(lane.plan.seed);
        // Also for verified content: some kinds of content fill a buffer only here. Large buffers
        // take milliseconds, by which the first requests would be late.
        if task.stream.operations().contains(Operation::Write) {
            for slot in 0..engine.slot_count() {
                plain.prepare_buffer(engine.buffer(slot));
            }
        }
        // Jobs whose files are all on one target have one span, whatever the number of files.
        let counting = match lane.plan.spans.len() {
            0 | 1 => Counting::SingleSpan,
            _ => Counting::BySpan,
        };
        let Some(mut recorder) =
            start.begin_after(job.start_delay_ns, &task.predecessors, notes, counting)
        else {
            return Ok(None);
        };
        if job.stream.end.loops.is_some() {
            // fio measures such a job even if it ends within its ramp time.
            recorder.count_short_work();
        }
        if let Some(board) = task
            .progress
            .as_ref()
            .filter(|_| job.goals.searches_first())
        {
            recorder.measure_after_search(Arc::clone(board));
        }
        let mut parts = LoopParts {
            engine,
            recorder,
            clock,
            batch,
        };
        if let Some(turns) = lane.recorded.clone() {
            let requests = (turns, task.stream.operations());
            return replay(lane.pace.clone(), requests, boxed(parts), plain).map(Some);
        }
        let (engine, contents) = (&mut parts.engine, &task.contents);
        let special = special_content(engine, task.own_content, contents, lane)?;
        let slot_count = parts.engine.slot_count();
        let is_watched = task.request_log.is_some() || task.split.is_some();
        match (special, task.progress) {
            // Only the loop of plain jobs is compiled for each engine.
            (None, None) if lane.pace.is_none() && !is_watched => match job.is_paced() {
                false => ClosedLoop.run(parts, task.stream, plain),
                true => clock_polling(job).run(parts, task.stream, plain),
            },
            (special, board) => {
                let stream = RequestLogger::new(task.stream, task.request_log, slot_count);
                let (parts, splitter) = splitting(boxed(parts), task.split);
                let stream = stream.splitting(splitter);
                run_with_extras(parts, stream, plain, (special, board, job, lane))
            }
        }
        .map(Some)
    }
}

/// Content other than the plain one, with the requests in flight if reads are verified.
type SpecialContent = (Box<dyn Content>, Option<Vec<Stripes>>);

/// The job's own content, or stamped content; `None` if the plain one is enough.
fn special_content(
    engine: &mut impl Engine,
    own: Option<JobContent>,
    contents: &Contents,
    lane: &Lane,
) -> Result<Option<SpecialContent>, RunError> {
    if let Some(mut own) = own {
        for slot in 0..engine.slot_count() {
            own.content.prepare_buffer(engine.buffer(slot));
        }
        return Ok(Some((Box::new(own.content), own.stripes)));
    }
    let verify = contents.verify.clone();
    let stamped = verify.map(|verify| stamped(&contents.source, verify, lane));
    stamped.transpose()
}

/// Content that is verified by the stamps of this run.
fn stamped(
    source: &ContentSource,
    verify: Verify,
    lane: &Lane,
) -> Result<SpecialContent, RunError> {
    let verified = source.verified(
        lane.plan.seed,
        lane.plan.worker_index,
        verify.file_seeds,
        verify.block_bytes,
    )?;
    Ok((Box::new(verified), Some(verify.stripes)))
}

/// Options of a job with more than a plain loop: content, goals, plan and lane.
type JobExtras<'a> = (
    Option<SpecialContent>,
    Option<Arc<GoalProgress>>,
    &'a JobPlan,
    &'a Lane,
);

/// Runs the loop of a job that has goals, verifies reads, writes a pattern, follows the rate of its
/// cell or notes its requests. Compared with that, a virtual call is cheap, so these loops are
/// compiled once for all engines.
fn run_with_extras<K: Clock>(
    parts: LoopParts<Box<dyn Engine>, K>,
    stream: RequestLogger<JobStream>,
    plain: PlainContent,
    (special, board, job, lane): JobExtras<'_>,
) -> Result<WorkerOutcome, RunError> {
    let of = (job, lane);
    match special {
        None => run_towards_goals(parts, stream, plain, (board, of)),
        Some((content, None)) => run_towards_goals(parts, stream, content, (board, of)),
        Some((content, Some(stripes))) => {
            let slot_count = parts.engine.slot_count();
            let stream = Exclusive::new(stream, stripes, slot_count);
            run_towards_goals(parts, stream, content, (board, of))
        }
    }
}

/// Runs the loop, and ends or limits the job by its goals if it has any.
fn run_towards_goals<G: Generator, C: Content, K: Clock>(
    parts: LoopParts<Box<dyn Engine>, K>,
    stream: G,
    content: C,
    (board, (job, lane)): (Option<Arc<GoalProgress>>, (&JobPlan, &Lane)),
) -> Result<WorkerOutcome, RunError> {
    let of = (job, lane);
    match board {
        None => run_at_pace(parts, stream, content, of),
        Some(board) => run_at_pace(parts, GoalLimited::new(stream, job, board), content, of),
    }
}

fn boxed<E: Engine + 'static, K>(parts: LoopParts<E, K>) -> LoopParts<Box<dyn Engine>, K> {
    LoopParts {
        engine: Box::new(parts.engine),
        recorder: parts.recorder,
        clock: parts.clock,
        batch: parts.batch,
    }
}

/// Parts of a loop on an engine that tells when it submits requests, if there is a receiver of
/// split latencies.
fn splitting<K: Clock + Clone + 'static>(
    parts: LoopParts<Box<dyn Engine>, K>,
    receiver: Option<mpsc::Sender<Vec<SplitLatencies>>>,
) -> (LoopParts<Box<dyn Engine>, K>, Option<LatencySplitter>) {
    let Some(receiver) = receiver else {
        return (parts, None);
    };
    let slot_count = parts.engine.slot_count();
    let times = SubmissionTimes::new(slot_count);
    let (_, measure_ns) = parts.recorder.start_times_ns();
    let splitter = LatencySplitter::new(times.clone(), slot_count, measure_ns, receiver);
    let engine = TimedSubmission::new(parts.engine, parts.clock.clone(), times);
    let parts = LoopParts {
        engine: Box::new(engine) as Box<dyn Engine>,
        ..parts
    };
    (parts, Some(splitter))
}

/// Runs the loop at the cell's rate if there is one, or at the job's pace.
fn run_at_pace<G: Generator, C: Content, K: Clock>(
    parts: LoopParts<Box<dyn Engine>, K>,
    generator: G,
    content: C,
    (job, lane): (&JobPlan, &Lane),
) -> Result<WorkerOutcome, RunError> {
    match lane.pace.clone() {
        Some(pace) => pace.run(parts, generator, content),
        None => clock_polling(job).run(parts, generator, content),
    }
}

/// Polls the clock before due times if the job has any, and otherwise sleeps.
fn clock_polling(job: &JobPlan) -> PollingClosedLoop {
    // Turns of a flow may come within microseconds, so a job with a flow polls too.
    match job.is_paced() || job.goals.flow.is_some() {
        true => PollingClosedLoop::where_possible(),
        false => PollingClosedLoop::SLEEP_ONLY,
    }
}

/// Works on names: one call at a time, without verification or due times.
fn run_on_names(names: Arc<Fileset>, context: JobLane<'_>) -> LaneOutcome {
    let JobLane {
        task,
        lane,
        job,
        start,
    } = context;
    let create = OFlags::RDWR | OFlags::CREATE;
    let options = FileEngineOptions {
        // In a second loop, the file already exists and is opened.
        open_modes: vec![OpenMode {
            takes_existing: true,
            ..OpenMode::new(create.bits().cast_signed(), 0o600)
        }],
        ..FileEngineOptions::default()
    };
    let engine = PsyncFiles::new(names, lane.slot_count(), lane.buffer_bytes(), options)?;
    let (clock, batch) = (start.clock.clone(), start.batch);
    let (notes, delay_ns) = (EngineNotes::default(), job.start_delay_ns);
    let Some(recorder) =
        start.begin_after(delay_ns, &task.predecessors, notes, Counting::SingleSpan)
    else {
        return Ok(None);
    };
    let parts = LoopParts {
        engine,
        recorder,
        clock,
        batch,
    };
    let plain = task.contents.source.plain(lane.plan.seed);
    ClosedLoop.run(parts, task.stream, plain).map(Some)
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

/// Syncs a job's files if time ended the job before it could do so itself. The sync counts as part
/// of the job's time.
fn sync_rest(
    outcome: &mut WorkerOutcome,
    files: &[OwnedFd],
    clock: &impl Clock,
) -> Result<(), RunError> {
    if files.is_empty() || outcome.measured_ns == 0 {
        return Ok(());
    }
    let before_ns = clock.now_ns();
    for file in files {
        rustix::fs::fsync(file).map_err(|errno| RunError::System {
            what: "sync a file of a job".to_owned(),
            source: errno.into(),
        })?;
    }
    let took_ns = clock.now_ns().saturating_sub(before_ns);
    outcome.finish_ns += took_ns;
    outcome.measured_ns += took_ns;
    // The last interval ends with the measurement.
    outcome.last_sample.length_ns += took_ns;
    Ok(())
}
