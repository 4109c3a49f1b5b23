//! Collects the results of a job, or of the jobs of a group that are reported as one.

use results::{
    CellRecord, ErrnoCount, GoalKind, MissedGoal, RunRecord, SteadyReadings, WorkerFigures,
};

use super::super::apply::VERIFY_ERROR;
use super::super::{ByDirection, Direction, Engine, FioJob, JobSet, MixedResults};
use super::samples::LatencySamples;
use super::series::{RateSeries, rates};

/// Measurements of one direction.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct DirectionResult {
    pub(super) count: u64,
    pub(super) bytes: u64,
    pub(super) short_count: u64,
    /// Run time of the slowest worker in nanoseconds; 0 without requests.
    pub(super) run_time_ns: u64,
    /// Submission latency; empty if it is not timed.
    pub(super) slat: LatencySamples,
    /// Completion latency: from the submission if that is timed, else the whole latency.
    pub(super) clat: LatencySamples,
    /// Latency from the scheduled start of a request if the job has a rate, else from the start of
    /// its submission.
    pub(super) lat: LatencySamples,
    /// In KiB per second.
    pub(super) bandwidth: RateSeries,
    pub(super) iops: RateSeries,
}

/// An error of a job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JobFailure<'a> {
    pub(super) errno: i32,
    pub(super) message: &'a str,
}

/// The result of a job or group.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReportedJob<'a> {
    /// The first job, which gives the result its name.
    pub(super) job: &'a FioJob,
    /// The last job, whose options are printed.
    pub(super) last_job: &'a FioJob,
    pub(super) job_count: usize,
    directions: ByDirection<DirectionResult>,
    /// All directions combined.
    mixed: DirectionResult,
    /// fsync, fdatasync and sync_file_range together.
    pub(super) sync: LatencySamples,
    /// Latencies of all data transfers, for the distribution over classes.
    pub(super) latencies: LatencySamples,
    /// Start of the first job, in milliseconds since 1970.
    pub(super) began_ms: Option<i64>,
    /// Sum over all workers.
    pub(super) run_time_ns: u64,
    pub(super) user_ns: u64,
    pub(super) system_ns: u64,
    pub(super) context_switches: u64,
    pub(super) major_faults: u64,
    pub(super) minor_faults: u64,
    /// The first error that ended a job, or, if none did, the first error.
    pub(super) failure: Option<JobFailure<'a>>,
    /// Number of errors, including ignored ones.
    pub(super) error_count: u64,
    /// The first error, including ignored ones.
    pub(super) first_error: Option<JobFailure<'a>>,
    /// Queue depth; with `latency_target`, the last one in use.
    pub(super) depth: u32,
    /// Steady-state readings; `None` if no steady state ends the jobs.
    pub(super) steady: Option<&'a SteadyReadings>,
    /// `true` if no job had more than one request in flight.
    pub(super) is_one_at_a_time: bool,
}

/// Names of the directions, in fio's order.
pub(super) const DIRECTION_NAMES: [&str; 3] = ["read", "write", "trim"];

impl<T> ByDirection<T> {
    /// The values of all directions, in fio's order.
    pub(super) fn each(&self) -> [&T; 3] {
        [&self.read, &self.write, &self.trim]
    }

    fn each_mut(&mut self) -> [&mut T; 3] {
        [&mut self.read, &mut self.write, &mut self.trim]
    }
}

impl DirectionResult {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Run time in milliseconds, rounded up.
    pub(super) fn run_time_ms(&self) -> u64 {
        self.run_time_ns.div_ceil(1_000_000)
    }

    pub(super) fn iops(&self) -> f64 {
        results::per_second(self.count, self.run_time_ns)
    }

    pub(super) fn bytes_per_second(&self) -> f64 {
        results::per_second(self.bytes, self.run_time_ns)
    }

    fn add(&mut self, job: &FioJob, worker: &WorkerFigures, name: &str) {
        let (operation, blocks) = reported_operation(job, name);
        let Some(figures) = worker.operations.get(operation).filter(|it| it.count > 0) else {
            return;
        };
        self.count = self
            .count
            .saturating_add(figures.count.saturating_mul(blocks.count));
        let bytes = figures.count.saturating_mul(blocks.bytes);
        self.bytes = self
            .bytes
            .saturating_add(figures.bytes)
            .saturating_add(bytes);
        self.short_count = self.short_count.saturating_add(figures.short_count);
        // As in fio, the longest run time of a group counts, not the sum.
        self.run_time_ns = self.run_time_ns.max(worker.run_time_ns);
        let settings = &job.settings.results;
        let split = worker.split_latencies.get(operation);
        if let Some(split) = split.filter(|_| settings.slat) {
            self.slat.add(&split.submission);
        }
        if settings.clat {
            let completion = split.map(|it| &it.completion);
            self.clat.add(completion.unwrap_or(&figures.latency));
        }
        if settings.lat {
            // A worker keeps a single latency from the scheduled start. If it used several
            // directions, the latency cannot be split between them.
            let moved = |it: &&&str| worker.operations.get(**it).is_some_and(|it| it.count > 0);
            let is_only = DIRECTION_NAMES.iter().filter(moved).count() == 1;
            let due = worker.transaction_latency.as_ref().filter(|_| is_only);
            self.lat.add(due.unwrap_or(&figures.latency));
        }
        if settings.bandwidth {
            let logs = &job.settings.logs;
            let windows_ms = [logs.bandwidth_window_ms, logs.iops_window_ms];
            let [bandwidth, iops] = rates(&worker.intervals, operation, windows_ms);
            self.bandwidth.add(&bandwidth);
            self.iops.add(&iops);
        }
    }
}

/// What one call on a file counts as.
struct CountedBlocks {
    count: u64,
    /// Bytes to count in addition to those transferred.
    bytes: u64,
}

/// The operation that is reported as a direction. As in fio, creating, statting or deleting a file
/// counts the blocks of the file as requests, although nothing is transferred.
fn reported_operation<'a>(job: &FioJob, direction: &'a str) -> (&'a str, CountedBlocks) {
    let settings = &job.settings;
    let operation = match settings.engine.engine {
        Engine::FileCreate => "create",
        Engine::FileStat | Engine::DirectoryStat => "stat",
        Engine::FileDelete => "unlink",
        Engine::DirectoryCreate => "mkdir",
        Engine::DirectoryDelete => "rmdir",
        _ => return (direction, CountedBlocks { count: 1, bytes: 0 }),
    };
    let side = match settings.access.direction {
        Direction::Write => "write",
        _ => "read",
    };
    let bytes = job.bytes_of_file().map_or(0, |(least, _)| least);
    let sizes = settings.blocks.sizes();
    let block = if side == "read" {
        sizes.read
    } else {
        sizes.write
    };
    // A call counts at least as one request, also if the size of the files is unknown.
    let count = (bytes / block.min().max(1)).max(1);
    let operation = if side == direction {
        operation
    } else {
        direction
    };
    (operation, CountedBlocks { count, bytes })
}

impl<'a> ReportedJob<'a> {
    fn new(job: &'a FioJob) -> Self {
        Self {
            job,
            last_job: job,
            job_count: 0,
            directions: ByDirection::default(),
            mixed: DirectionResult::default(),
            sync: LatencySamples::default(),
            latencies: LatencySamples::default(),
            began_ms: None,
            run_time_ns: 0,
            user_ns: 0,
            system_ns: 0,
            context_switches: 0,
            major_faults: 0,
            minor_faults: 0,
            failure: None,
            error_count: 0,
            first_error: None,
            depth: 0,
            steady: None,
            is_one_at_a_time: true,
        }
    }
    /// The results to show with their names: separate directions, all combined, or both.
    pub(super) fn shown(&self) -> Vec<(&'static str, &DirectionResult)> {
        let mixed = ("mixed", &self.mixed);
        let separate = DIRECTION_NAMES.into_iter().zip(self.directions.each());
        match self.job.settings.results.mixed {
            MixedResults::Apart => separate.collect(),
            MixedResults::Together => vec![mixed],
            MixedResults::Both => separate.chain([mixed]).collect(),
        }
    }

    /// The results of all directions, whether shown or not.
    pub(super) fn directions(&self) -> [&DirectionResult; 3] {
        self.directions.each()
    }

    /// `true` if syncs are shown.
    pub(super) fn shows_sync(&self) -> bool {
        self.job.settings.results.mixed != MixedResults::Together
    }

    /// `true` if some errors do not end the job.
    pub(super) fn tolerates_errors(&self) -> bool {
        let borne = &self.job.settings.errors;
        borne.tolerates_reads || borne.tolerates_writes || borne.tolerates_verify
    }

    /// CPU time in user mode, in percent of the run time.
    pub(super) fn user_percent(&self) -> f64 {
        results::share_of_time(self.user_ns, self.run_time_ns) * 100.0
    }

    /// CPU time in the kernel, in percent of the run time.
    pub(super) fn system_percent(&self) -> f64 {
        results::share_of_time(self.system_ns, self.run_time_ns) * 100.0
    }

    /// Percentages of requests at depths 1, 2, 4, 8, 16, 32, and 64 or more. Known only if no more
    /// than one request is ever in flight, else 0.
    pub(super) fn depth_percents(&self) -> [f64; 7] {
        let is_known = self.is_one_at_a_time && !self.mixed.is_empty();
        let first = if is_known { 100.0 } else { 0.0 };
        [first, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    }

    /// Adds a job; `measured` is `None` if the job was never measured.
    fn add(&mut self, job: &'a FioJob, measured: Option<(&'a CellRecord, &'a WorkerFigures)>) {
        self.job_count += 1;
        self.last_job = job;
        self.is_one_at_a_time &= job.settings.engine.depth() <= 1;
        let Some((cell, worker)) = measured else {
            return;
        };
        self.depth = job.settings.engine.depth();
        for (direction, name) in self.directions.each_mut().into_iter().zip(DIRECTION_NAMES) {
            direction.add(job, worker, name);
            self.mixed.add(job, worker, name);
        }
        self.add_latencies(job, worker);
        self.add_costs(worker);
        let tolerated = self.add_errors(job, cell, worker);
        self.add_mismatch(worker);
        self.add_goals(worker);
        // As in fio, a job that no error ended has the number of its first error.
        if let Some(failure) = tolerated {
            self.failure.get_or_insert(failure);
        }
        let began_ms = cell.started_at.map(|at| {
            let after_ns = worker.begin_ns.unwrap_or_default();
            let after_ms = i64::try_from(after_ns / 1_000_000).unwrap_or(i64::MAX);
            at.as_millisecond().saturating_add(after_ms)
        });
        self.began_ms = match (self.began_ms, began_ms) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }

    fn add_latencies(&mut self, job: &FioJob, worker: &WorkerFigures) {
        let of = |name: &str| worker.operations.get(name).map(|it| &it.latency);
        // fio does not count the final syncs unless there are others, from `fsync` or a log.
        let settings = &job.settings;
        let durable = &settings.durability;
        let has_fsync = durable.fsync > 0
            || settings.replay.read.is_some()
            || !(durable.fsync_at_end || durable.fsync_on_close);
        let syncs = [
            ("fsync", has_fsync),
            ("fdatasync", true),
            ("sync_file_range", true),
        ];
        let reported = syncs.into_iter().filter(|(_, is_reported)| *is_reported);
        for latency in reported.filter_map(|(name, _)| of(name)) {
            self.sync.add(latency);
        }
        // If there are others, the final syncs are those that exceed the number due after writes.
        // fio does not count them either.
        if let (Some(syncs), true) = (of("fsync"), durable.fsync > 0) {
            let writes = worker.operations.get("write").map_or(0, |it| it.count);
            let due_count = writes.saturating_sub(1) / u64::from(durable.fsync);
            let surplus = syncs.count.saturating_sub(due_count);
            let is_synced_at_end = durable.fsync_at_end || durable.fsync_on_close;
            if is_synced_at_end && surplus <= u64::from(job.file_count()) {
                self.sync.count -= surplus;
            }
        }
        match &worker.transaction_latency {
            Some(due) => self.latencies.add(due),
            None => {
                let names = DIRECTION_NAMES
                    .into_iter()
                    .chain(["create", "stat", "unlink"]);
                for latency in names.filter_map(of) {
                    self.latencies.add(latency);
                }
            }
        }
    }

    fn add_costs(&mut self, worker: &WorkerFigures) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.run_time_ns, worker.run_time_ns);
        add(&mut self.user_ns, worker.user_ns);
        add(&mut self.system_ns, worker.system_ns);
        let usage = worker.usage.unwrap_or_default();
        add(&mut self.context_switches, usage.voluntary_switches);
        add(&mut self.context_switches, usage.involuntary_switches);
        add(&mut self.major_faults, usage.major_faults);
        add(&mut self.minor_faults, usage.minor_faults);
    }

    fn add_goals(&mut self, worker: &'a WorkerFigures) {
        let Some(goals) = &worker.goals else {
            return;
        };
        if let Some(missed) = &goals.missed {
            self.failure.get_or_insert(failure(missed));
        }
        self.depth = goals.depth.map_or(self.depth, |it| it.iodepth);
        self.steady = goals.steady.as_ref().or(self.steady);
    }

    /// Counts reads that did not verify as an error of the job, even if they did not end it.
    fn add_mismatch(&mut self, worker: &WorkerFigures) {
        let Some(mismatch) = &worker.mismatch else {
            return;
        };
        self.error_count = self.error_count.saturating_add(mismatch.count);
        let failure = JobFailure {
            errno: VERIFY_ERROR,
            // The C library's text for `EILSEQ`, which fio prints.
            message: "Invalid or incomplete multibyte or wide character",
        };
        self.first_error.get_or_insert(failure.clone());
        self.failure.get_or_insert(failure);
    }

    /// Adds the errors of a worker. Only the whole cell has error numbers, so the first one with
    /// the same operation is used. Returns the first error that did not end the job.
    fn add_errors(
        &mut self,
        job: &FioJob,
        cell: &'a CellRecord,
        worker: &WorkerFigures,
    ) -> Option<JobFailure<'a>> {
        let borne = &job.settings.errors;
        let mut tolerated = None;
        for (name, figures) in worker.operations.iter().filter(|(_, it)| it.errors > 0) {
            self.error_count = self.error_count.saturating_add(figures.errors);
            let mut errors = cell.errors.iter();
            let Some(ErrnoCount { errno, message, .. }) = errors.find(|it| it.operation == *name)
            else {
                continue;
            };
            let failure = JobFailure {
                errno: *errno,
                message,
            };
            self.first_error.get_or_insert(failure.clone());
            let is_borne = match name.as_str() {
                "read" => borne.tolerates_reads || borne.ignored.read.contains(errno),
                // All calls other than reads count as writes, also syncs.
                _ => borne.tolerates_writes || borne.ignored.write.contains(errno),
            };
            match is_borne {
                true => tolerated.get_or_insert(failure),
                false => self.failure.get_or_insert(failure),
            };
        }
        tolerated
    }
}

/// fio's error for a missed goal.
const fn failure(missed: &MissedGoal) -> JobFailure<'static> {
    match missed.goal {
        // `EIO`, from fio's `check_min_rate`.
        GoalKind::Bandwidth | GoalKind::Iops => JobFailure {
            errno: 5,
            message: "Input/output error",
        },
        // `ETIMEDOUT`, from fio's `lat_fatal`.
        GoalKind::Latency | GoalKind::DepthLatency => JobFailure {
            errno: 110,
            message: "Connection timed out",
        },
    }
}

/// The results of all jobs in order; groups with `group_reporting` have a single result.
pub(super) fn reported<'a>(set: &'a JobSet, record: &'a RunRecord) -> Vec<ReportedJob<'a>> {
    let mut found: Vec<ReportedJob<'a>> = Vec::new();
    // As in fio, a job with `stats=0` is left out of its group, too.
    let jobs = set.jobs.iter().enumerate();
    for (index, job) in jobs.filter(|(_, job)| job.settings.results.is_reported) {
        // The jobs of a group are consecutive, so only the last result can be the one of the same
        // group.
        let last_group = found.last().map(|it| it.job.group_index);
        let is_together = job.settings.grouping.is_reported_together;
        if !is_together || last_group != Some(job.group_index) {
            found.push(ReportedJob::new(job));
        }
        if let Some(last) = found.last_mut() {
            last.add(job, measured(set, &record.cells, index));
        }
    }
    found
}

/// The worker of a job, with its cell; `None` if the job was never measured.
pub(super) fn measured<'a>(
    set: &JobSet,
    cells: &'a [CellRecord],
    index: usize,
) -> Option<(&'a CellRecord, &'a WorkerFigures)> {
    let job = set.jobs.get(index)?;
    let mut indexed = set.cells().into_iter().enumerate();
    let (cell_index, worker_index) = indexed.find_map(|(cell_index, jobs)| {
        let worker_index = jobs.iter().position(|it| std::ptr::eq(*it, job))?;
        Some((cell_index, worker_index))
    })?;
    // A cell that only lays out files is not measured, so cells can be missing.
    let cell = cells.iter().find(|it| it.index as usize == cell_index)?;
    let mut workers = cell.worker_figures.iter();
    let worker = workers.find(|it| it.worker_index as usize == worker_index)?;
    Some((cell, worker))
}
