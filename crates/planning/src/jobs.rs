//! Plans cells of jobs: assigns their files to targets and fills in sizes that depend on the
//! targets.

mod errors;

use std::collections::{BTreeMap, BTreeSet};

use description::model::defaults::SIZE_DEFAULT;
use description::model::{OneOrMany, Workload};
use plan::job::{
    ConvertedJobs, FileShare, JobFiles, JobPlan, Layout as FileLayout, NamedFile, RecordedPlan,
    UnplannedJob,
};
use plan::{
    CacheMode, Cell, CursorKind, EngineKind, PositionRule, RingOptions, SpanPlan, TargetKind, Work,
    WorkerPlan,
};
use plan::{Diagnostic, Severity};

use errors::{missing_size_error, missing_target, smaller_than_block, too_short};

use super::lines::alignment_advice;
use super::method::{JobMethod, Method};
use super::ranks::copy_for_each_process;
use super::repetition::RepetitionMode;
use super::resolver::Resolver;
use super::seeds::SEED_DEFAULT;
use super::space::SECTOR_BYTES;
use super::targets::ResolvedTarget;
use super::{
    Context, WEIGHT_MAX, limits, note_targets, note_workers, plan_too_large, rounds, weight,
};
use plan::worker_seed;

/// Sizes of files that fill the free space are multiples of this.
const FILL_SECTOR_BYTES: u64 = 4096;

/// Planned cells of jobs.
pub(super) struct JobCells {
    pub repetition_mode: RepetitionMode,
    pub seed: u64,
    pub cells: Vec<Cell>,
}

/// The jobs of a workload; `None` if it has none.
///
/// # Errors
/// If a table is invalid.
pub(super) fn of(workload: &Workload) -> Result<Option<ConvertedJobs>, Diagnostic> {
    description::check::jobs(workload).map_err(|flaw| flaw.diagnostic(""))
}

/// The cells of a workload with these jobs: one per queue depth and rate.
pub(super) fn of_workload(
    workload: &Workload,
    workload_index: usize,
    built: ConvertedJobs,
    context: &mut Context,
) -> Result<JobCells, Diagnostic> {
    let r = &mut Resolver {
        name: workload.name_or_default(),
        overrides: context.overrides,
        settings: &mut context.settings,
    };
    let depths: BTreeSet<u32> = built.jobs.iter().map(|job| job.plan.iodepth).collect();
    let depths: Vec<String> = depths.iter().map(u32::to_string).collect();
    let own = (&depths[..], engine_of(&built.jobs));
    let JobMethod { method, iodepths } = r.method_of_jobs(workload, own)?;
    let targets = context.targets.of_worker(workload_index, None).to_vec();
    let job_count = built.jobs.len();
    let mut layout = JobPlanner {
        context,
        name: workload.name_or_default(),
        targets: &targets,
        method: &method,
    };
    let mut cells = Vec::new();
    for depth in iodepths {
        let built = match depth {
            None => built.clone(),
            Some(_) => {
                let iodepth = depth.map(OneOrMany::One);
                let workload = workload.clone();
                of(&Workload {
                    iodepth,
                    ..workload
                })?
                .unwrap_or_default()
            }
        };
        cells.extend(layout.cells(built)?);
    }
    note_workers(workload, job_count, context)?;
    note_targets(workload_index, workload, context);
    Ok(JobCells {
        repetition_mode: method.repetition_mode,
        seed: method.seed,
        cells,
    })
}

/// The engine of the cell: the one of the first job that accesses a target.
fn engine_of(jobs: &[UnplannedJob]) -> EngineKind {
    let mut engines = jobs.iter().map(|job| job.plan.engine);
    let touching = engines.find(|engine| *engine != EngineKind::Null);
    touching.unwrap_or(EngineKind::Null)
}

/// Index of the first job that uses each file.
fn owners(jobs: &[UnplannedJob], file_count: usize) -> Vec<Option<usize>> {
    let mut owners = vec![None; file_count];
    for (job_index, job) in jobs.iter().enumerate() {
        for part in &job.plan.files {
            owners[part.file_index as usize].get_or_insert(job_index);
        }
    }
    owners
}

struct JobPlanner<'a, 'b> {
    context: &'a mut Context<'b>,
    name: &'a str,
    targets: &'a [u32],
    method: &'a Method,
}

impl JobPlanner<'_, '_> {
    /// The cells of jobs at one queue depth.
    fn cells(&mut self, built: ConvertedJobs) -> Result<Vec<Cell>, Diagnostic> {
        let built = copy_for_each_process(built, self.context.shares.replica_count());
        let (seed, cpus) = (self.method.seed, &self.method.cpus);
        let mut jobs = built.jobs;
        for (index, job) in (0_u32..).zip(&mut jobs) {
            if !cpus.is_empty() {
                job.cpu = Some(cpus[index as usize % cpus.len()]);
            }
            if seed != SEED_DEFAULT {
                job.seed = worker_seed(seed ^ job.seed, index);
            }
        }
        if self.method.steady.is_some() {
            rounds::share(&mut jobs)?;
        }
        jobs.iter().try_for_each(limits::check)?;
        limits::check_buffers(&jobs, self.context)?;
        let files = self.files(built.files, &mut jobs)?;
        jobs.iter().try_for_each(limits::check_shares)?;
        self.check(&jobs, &files)?;
        limits::check_names(&files, self.context)?;
        self.take_space(&files, &jobs);
        let cell = self.cell(&jobs, files);
        let mut cells = self.method.spread(cell)?;
        // Last, because a rate of the workload is refused above.
        for cell in &mut cells {
            let mut recorded = jobs.iter().filter_map(|job| job.plan.recorded.as_ref());
            cell.rate = cell
                .rate
                .or_else(|| recorded.find_map(RecordedPlan::open_loop));
        }
        self.context.weight += cells.iter().map(|it| weight(&it.workers)).sum::<usize>();
        match self.context.weight > WEIGHT_MAX {
            true => Err(plan_too_large()),
            false => Ok(cells),
        }
    }

    /// Number of files per process; the files of the first process come first.
    fn files_per_process(&self, files: &JobFiles) -> usize {
        files.files.len() / self.context.shares.replica_count().max(1) as usize
    }

    fn target(&self, file: &NamedFile) -> u32 {
        self.targets[file.target_index as usize % self.targets.len()]
    }

    /// Assigns the files to targets, and fills in the size of whole devices.
    fn files(
        &self,
        mut files: JobFiles,
        jobs: &mut [UnplannedJob],
    ) -> Result<JobFiles, Diagnostic> {
        let owners = owners(jobs, files.files.len());
        for (index, file) in (0_u32..).zip(&mut files.files) {
            let target_index = self.target(file);
            let entry = &self.context.targets.entries[target_index as usize];
            file.target_index = target_index;
            match entry.facts.kind {
                // The target is a directory instead of the file that the job names.
                TargetKind::Directory if file.name.is_none() => {
                    file.name = Some(format!("file-{index}"));
                }
                TargetKind::Directory | TargetKind::Null => {}
                TargetKind::File if !entry.facts.exists => {}
                TargetKind::File | TargetKind::Device | TargetKind::Endless => file.name = None,
                TargetKind::Network => {
                    let path = plan::printable(&entry.facts.path);
                    let message = format!("`{path}` is a TCP peer, but jobs work on files");
                    let help = "name a directory, a file or a block device with `--target`";
                    return Err(Diagnostic::error("", message).help(help));
                }
            }
            if file.name.is_none() && entry.is_known {
                let owner = owners[index as usize];
                let location = owner.map(|job_index| &jobs[job_index].location);
                file.size_bytes = present(entry, file.size_bytes)
                    .map_err(|error| location.map_or(error.clone(), |it| it.put(error)))?;
            } else if let Some(name) = file.name.as_ref().filter(|_| file.size_bytes == 0) {
                // An earlier cell creates the file.
                let known = self.context.job_files.get(&(target_index, name.clone()));
                file.size_bytes = known.copied().unwrap_or_default();
            }
        }
        self.check_one_file_per_target(&files)?;
        self.fill(&mut files, jobs);
        for job in jobs {
            let location = job.location.clone();
            self.place_parts(job, &files)
                .map_err(|error| location.put(error))?;
        }
        Ok(files)
    }

    /// Files that fill the free space share it, except for what must stay free.
    fn fill(&self, files: &mut JobFiles, jobs: &[UnplannedJob]) {
        let filling = jobs.iter().filter(|job| job.fills);
        let parts = filling.flat_map(|job| &job.plan.files);
        let indexes: BTreeSet<usize> = parts
            .map(|part| part.file_index as usize)
            .filter(|index| files.files[*index].name.is_some())
            .filter(|index| files.files[*index].size_bytes == 0)
            .collect();
        let target = |index: usize| files.files[index].target_index;
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        for index in &indexes {
            *counts.entry(target(*index)).or_default() += 1;
        }
        let room_of = |target_index: u32| {
            let entries = &self.context.targets.entries;
            let entry = &entries[target_index as usize];
            let sharing = counts.iter().filter(|(other, _)| {
                let other = **other as usize;
                entries[other].shares_space_with(entry)
            });
            let count: u64 = sharing.map(|(_, count)| count).sum();
            self.room(entry) / count.max(1)
        };
        let rooms: BTreeMap<u32, u64> = counts.keys().map(|it| (*it, room_of(*it))).collect();
        let rooms: Vec<(usize, u64)> = indexes
            .iter()
            .map(|index| (*index, rooms[&target(*index)]))
            .collect();
        for (index, room) in rooms {
            files.files[index].size_bytes = room / FILL_SECTOR_BYTES * FILL_SECTOR_BYTES;
        }
    }

    /// Bytes that files may still take on a target.
    fn room(&self, entry: &ResolvedTarget) -> u64 {
        let entries = self.context.targets.entries.iter();
        let sharers = entries.filter(|other| other.shares_space_with(entry));
        let taken = sharers.fold(0_u64, |sum, it| sum.saturating_add(it.files_bytes));
        match entry.usable_bytes() {
            Some(usable) => usable.saturating_sub(taken),
            None => SIZE_DEFAULT,
        }
    }

    /// Fills in offsets and sizes that depend on the target: shares of a file, all of a device.
    fn place_parts(&self, job: &mut UnplannedJob, files: &JobFiles) -> Result<(), Diagnostic> {
        let largest = u64::from(job.plan.buffer_bytes());
        let share = job.share.unwrap_or(FileShare::WHOLE);
        let mut all_bytes = 0_u64;
        for part in &mut job.plan.files {
            if part.size_bytes == 0 || share.start_percent > 0 {
                let file = &files.files[part.file_index as usize];
                let target = &self.context.targets.entries[file.target_index as usize];
                if !target.is_known && file.size_bytes == 0 {
                    return Err(missing_target(&target.facts.path));
                }
                let file_bytes = match target.facts.kind {
                    // The null target has data after any offset.
                    TargetKind::Null => part.start_bytes.saturating_add(SIZE_DEFAULT),
                    _ if file.size_bytes == 0 => return Err(missing_size_error(&job.name)),
                    _ => file.size_bytes,
                };
                part.start_bytes = share.start_bytes(part.start_bytes, file_bytes);
                if part.size_bytes == 0 {
                    part.size_bytes = share.size_bytes(part.start_bytes, file_bytes);
                }
                let end = part.start_bytes.saturating_add(part.size_bytes);
                if part.size_bytes < largest {
                    let path = file.name.as_ref().unwrap_or(&target.facts.path);
                    return Err(smaller_than_block(&job.name, path, part, largest));
                }
                if end > file_bytes {
                    return Err(too_short(&target.facts.path, file_bytes, end));
                }
            }
            all_bytes = all_bytes.saturating_add(part.size_bytes);
        }
        let end = &mut job.plan.stream.end;
        if end.bytes == 0 {
            end.bytes = share.moved_bytes(all_bytes);
        }
        Ok(())
    }

    /// A target that is itself a file or a device can be used as one file only.
    fn check_one_file_per_target(&self, files: &JobFiles) -> Result<(), Diagnostic> {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        let entries = &self.context.targets.entries;
        let touched = |file: &&NamedFile| {
            let kind = entries[file.target_index as usize].facts.kind;
            file.name.is_none() && kind != TargetKind::Null
        };
        // Other processes use the same targets, but each has its own directory there.
        let own_count = self.files_per_process(files);
        for file in files.files.iter().take(own_count).filter(touched) {
            let count = counts.entry(file.target_index).or_default();
            *count += 1;
            if *count > 1 {
                let path = &entries[file.target_index as usize].facts.path;
                let message = format!("the jobs have several files, and `{path}` is a single one");
                let help = "name a directory with `--target`";
                return Err(Diagnostic::error("", message).help(help));
            }
        }
        Ok(())
    }

    /// Refuses jobs that devices without a size or direct I/O cannot do.
    fn check(&mut self, jobs: &[UnplannedJob], files: &JobFiles) -> Result<(), Diagnostic> {
        for job in jobs {
            limits::check_endless(job, files, self.context)?;
            if job.plan.cache != CacheMode::Direct || job.plan.engine == EngineKind::Null {
                continue;
            }
            for part in &job.plan.files {
                let file = &files.files[part.file_index as usize];
                let entry = &self.context.targets.entries[file.target_index as usize];
                let Some(error) = unaligned(job, part.start_bytes, entry) else {
                    continue;
                };
                if entry.is_known {
                    return Err(error);
                }
                let severity = Severity::Warning;
                self.context.warnings.push(Diagnostic { severity, ..error });
                break;
            }
        }
        Ok(())
    }

    /// Reserves space. Files of the same name are one file, also in later jobs. If jobs end by time
    /// and need no data, the size of a file is only a limit.
    fn take_space(&mut self, files: &JobFiles, jobs: &[UnplannedJob]) {
        let mut all_are_timed = vec![true; files.files.len()];
        for job in jobs.iter().filter(|job| job.plan.run_time_ns == 0) {
            for part in &job.plan.files {
                all_are_timed[part.file_index as usize] = false;
            }
        }
        // Files of other processes have the same names, in other directories.
        let processes = self.context.shares.replica_count();
        let own_count = self.files_per_process(files);
        for (file, is_timed) in files.files.iter().zip(all_are_timed).take(own_count) {
            let Some(name) = &file.name else { continue };
            let key = (file.target_index, name.clone());
            let counted_bytes = self.context.job_files.entry(key).or_default();
            let more = file.size_bytes.saturating_sub(*counted_bytes);
            *counted_bytes += more;
            let more = more.saturating_mul(processes.into());
            let is_limit = is_timed && file.layout != FileLayout::Written;
            let entry = &mut self.context.targets.entries[file.target_index as usize];
            entry.files_max_bytes = entry.files_max_bytes.saturating_add(more);
            if !is_limit {
                entry.files_bytes = entry.files_bytes.saturating_add(more);
            }
        }
    }

    fn cell(&self, jobs: &[UnplannedJob], files: JobFiles) -> Cell {
        let first = jobs.first().map(|job| &job.plan);
        let workers = (0..).zip(jobs).map(|(index, job)| WorkerPlan {
            rank: self.context.shares.rank_of(index as usize, None),
            ..worker(index, job, &files)
        });
        let workers: Vec<WorkerPlan> = workers.collect();
        let cache = first.map_or(CacheMode::Buffered, |it| it.cache);
        let engine = (engine_of(jobs), cache);
        let ramps = jobs.iter().map(|job| job.plan.ramp_time_ns);
        let work = Work::Requests(Box::new(files));
        Cell {
            access_spec: Some(self.name.to_owned()),
            run_time_ns: run_time_ns(jobs),
            ramp_time_ns: ramps.min().unwrap_or(0),
            ring: first.map_or_else(RingOptions::default, |it| it.ring),
            ..self.method.cell(self.name, engine, work, workers)
        }
    }
}

/// Longest run time of the cell; 0 if one of its jobs ends before a time limit.
fn run_time_ns(jobs: &[UnplannedJob]) -> u64 {
    let time_ns = |plan: &JobPlan| {
        let is_endless = plan.stream.end.loops.is_none();
        (plan.run_time_ns > 0 && is_endless && plan.after.is_none())
            .then(|| plan.start_delay_ns.saturating_add(plan.run_time_ns))
    };
    let times: Option<Vec<u64>> = jobs.iter().map(|job| time_ns(&job.plan)).collect();
    times.and_then(|it| it.into_iter().max()).unwrap_or(0)
}

fn worker(worker_index: u32, job: &UnplannedJob, files: &JobFiles) -> WorkerPlan {
    WorkerPlan {
        worker_index,
        rank: 0,
        name: job.name.clone(),
        access_spec: job.name.clone(),
        lines: Vec::new(),
        spans: spans(&job.plan, files),
        seed: job.seed,
        position: PositionRule::Uniform,
        cursor: CursorKind::Worker,
        content: job.content,
        verify: job.verify && job.plan.check.is_none() && job.plan.engine != EngineKind::Null,
        transactions_per_connection: None,
        network: false,
        cpu: job.cpu,
        job: Some(Box::new(JobPlan {
            // This engine returns no data that could be verified.
            check: job
                .plan
                .check
                .filter(|_| job.plan.engine != EngineKind::Null),
            ..job.plan.clone()
        })),
    }
}

/// One span for all files of a job if they are on one target; otherwise one per file, so that
/// results are counted per target.
fn spans(plan: &JobPlan, files: &JobFiles) -> Vec<SpanPlan> {
    let span = |target_index: u32, start_bytes: u64, size_bytes: u64| SpanPlan {
        target_index,
        iodepth: plan.iodepth,
        start_bytes,
        size_bytes,
        sector_bytes: SECTOR_BYTES,
    };
    let target = |index: u32| files.files[index as usize].target_index;
    let first = plan.files.first().map_or(0, |it| target(it.file_index));
    if plan.files.iter().all(|it| target(it.file_index) == first) {
        let bytes = plan.files.iter().map(|it| it.size_bytes);
        let start_bytes = match &plan.files[..] {
            [only] => only.start_bytes,
            _ => 0,
        };
        return vec![span(first, start_bytes, bytes.sum())];
    }
    let parts = plan.files.iter();
    parts
        .map(|it| span(target(it.file_index), it.start_bytes, it.size_bytes))
        .collect()
}

/// Size of a target that is itself the file; an error if it does not exist or is smaller than
/// `wanted`. The null target and endless devices have any size.
fn present(entry: &ResolvedTarget, wanted: u64) -> Result<u64, Diagnostic> {
    let present = entry.facts.size_bytes;
    match entry.facts.kind {
        TargetKind::Null | TargetKind::Endless => Ok(wanted.max(present)),
        _ if !entry.facts.exists => Err(missing_target(&entry.facts.path)),
        _ if present < wanted => Err(too_short(&entry.facts.path, present, wanted)),
        _ => Ok(present),
    }
}

/// Error if direct I/O on the target is not possible with the job's sizes.
fn unaligned(job: &UnplannedJob, start_bytes: u64, entry: &ResolvedTarget) -> Option<Diagnostic> {
    let unit = entry.facts.direct_unit().max(1);
    let blocks = &job.plan.stream.blocks;
    let mix = job.plan.stream.mix;
    let rules = [(mix.reads(), &blocks.read), (mix.modifies(), &blocks.write)];
    let used = rules.into_iter().filter(|(is_used, _)| *is_used);
    let sizes = used.flat_map(|(_, rule)| {
        let sizes = rule.sizes.all_bytes();
        sizes.into_iter().chain([rule.align_bytes])
    });
    let mut values = sizes.map(u64::from).chain([start_bytes]);
    let bytes = values.find(|bytes| !bytes.is_multiple_of(u64::from(unit)))?;
    let message = format!(
        "direct I/O on `{}` needs multiples of {unit} bytes, and the job `{}` has {bytes} bytes",
        entry.facts.path,
        plan::printable(&job.name)
    );
    Some(Diagnostic::error("", message).help(alignment_advice(bytes, unit.into())))
}
