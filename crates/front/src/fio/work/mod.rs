//! Turns jobs into work: one cell for each wave of jobs that run in parallel, and one before it if
//! some of them only lay out files.

mod block_check;
mod files;
mod goals;
mod job_engine;
mod remembered;
mod replays;
mod stream;
mod unsupported;

use std::collections::HashMap;
use std::path::PathBuf;

use description::Workload;
use description::model::OneOrMany;
use plan::Diagnostic;
use plan::job::{
    ConvertedJobs, DurableWrites, IoPriority, JobFile, JobFiles, JobPlan, JobRange, JobThread,
    UnplannedJob,
};
use plan::{ContentPlan, EngineKind, FrontOrigin};

use super::jobs::{FioJob, JobSet, OptionPositions, WrittenOption};
use super::settings::{CpuPolicy, FioSettings, MemoryKind, SyncOpen};
use super::table::OptionSupport;
use crate::{
    CommandLine, CreateMissing, DifferenceKind, FileAccess, FrontWork, OriginalDifference,
};
use files::FileTable;
use job_engine::{cache, engine, ring};
pub(super) use remembered::ParserInputs;

/// Default I/O priority class.
const BEST_EFFORT: u32 = 2;

/// Turns jobs into work. `letter` reproduces fio's quirks; `line` gives access to logs to replay
/// and to the sizes of existing files.
///
/// # Errors
/// Options or values that pgmeter refuses, or jobs that cannot run.
pub(super) fn work(
    set: &JobSet,
    name: &str,
    letter: bool,
    line: &CommandLine<'_>,
) -> Result<FrontWork, Diagnostic> {
    if let Some(refusal) = set.refusal() {
        return Err(refusal);
    }
    unsupported::check(set)?;
    files::check_count(set)?;
    let ends_others = set.jobs.iter().any(|job| job.settings.grouping.ends_others);
    let mut context = JobContext {
        set,
        filenames: set.places_of("filename"),
        table: FileTable::new(set, line.files),
        is_fio_exact: letter,
        access: line.files,
    };
    let mut cells = Vec::new();
    let parts = set.cells();
    for (index, jobs) in parts.iter().enumerate() {
        let mut built = build_wave(jobs, &mut context)?;
        // As in fio, `exitall` of one job applies to all.
        for job in &mut built.jobs {
            job.plan.ends_others |= ends_others;
        }
        let is_null = built
            .jobs
            .iter()
            .all(|job| job.plan.engine == EngineKind::Null);
        cells.push(Workload {
            name: Some(name_of(name, index, parts.len())),
            title: Some(title(jobs)),
            engine: is_null.then_some(EngineKind::Null),
            jobs: Some(Box::new(built)),
            ..Workload::default()
        });
    }
    let directories = context.table.directories();
    // Without a named directory, the user may choose any target.
    let is_named = directories.iter().any(|it| it.as_os_str() != ".");
    if is_named {
        let names: Vec<String> = directories
            .iter()
            .map(|it| it.display().to_string())
            .collect();
        for cell in &mut cells {
            cell.targets = Some(OneOrMany::Many(names.clone()));
        }
    }
    let warnings = match letter {
        true => Vec::new(),
        false => fio_compat_warnings(set),
    };
    Ok(FrontWork {
        create_missing: made(set, &directories),
        directories,
        differences: differences(set, letter),
        text_differences: of_text(set),
        warnings,
        ..FrontWork::new(cells)
    })
}

/// fio creates missing directories in `filename`, but not those in `directory`.
fn made(set: &JobSet, directories: &[PathBuf]) -> CreateMissing {
    let mut jobs = set.jobs.iter();
    let is_by_name = jobs.all(|job| job.settings.files.directories.is_empty());
    // A missing path below /dev is a device, not a directory to create.
    let is_device = |path: &PathBuf| path.starts_with("/dev") && !path.starts_with("/dev/shm");
    match is_by_name && !directories.iter().any(is_device) {
        true => CreateMissing::All,
        false => CreateMissing::None,
    }
}

fn name_of(name: &str, index: usize, count: usize) -> String {
    match count {
        1 => name.to_owned(),
        _ => format!("{name}-{}", index + 1),
    }
}

/// Names of the jobs of a cell, at most four.
fn title(jobs: &[&FioJob]) -> String {
    let mut names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    names.dedup();
    let more = names.len().saturating_sub(4);
    names.truncate(4);
    let mut text = plan::printable(&names.join(", "));
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

/// State shared by all jobs while they are turned into work.
struct JobContext<'a> {
    set: &'a JobSet,
    filenames: OptionPositions<'a>,
    table: FileTable<'a>,
    is_fio_exact: bool,
    access: FileAccess<'a>,
}

fn build_wave(jobs: &[&FioJob], context: &mut JobContext<'_>) -> Result<ConvertedJobs, Diagnostic> {
    context.table.begin_wave();
    let mut files = JobFiles {
        is_layout_only: jobs.iter().all(|job| job.settings.files.is_layout_only),
        ..JobFiles::default()
    };
    let mut built: Vec<UnplannedJob> = Vec::new();
    // Index of the first job of each name.
    let mut first_indexes = HashMap::new();
    for job in jobs {
        let mut one = one(job, context, &mut files)?;
        let waited = job.settings.grouping.waits_for.as_deref();
        let first = waited.and_then(|name| first_indexes.get(name));
        one.plan.after = first.and_then(|first| before(&built, *first));
        first_indexes.entry(one.name.clone()).or_insert(built.len());
        built.push(one);
    }
    Ok(ConvertedJobs {
        origin: FrontOrigin::default(),
        jobs: built,
        files,
    })
}

/// The consecutive jobs with the name of the job at `first`.
fn before(built: &[UnplannedJob], first: usize) -> Option<JobRange> {
    let name = &built.get(first)?.name;
    let same_name = built[first..].iter().take_while(|it| it.name == *name);
    Some(JobRange {
        first_index: u32::try_from(first).ok()?,
        count: u32::try_from(same_name.count()).ok()?,
    })
}

fn one(
    job: &FioJob,
    context: &mut JobContext<'_>,
    files: &mut JobFiles,
) -> Result<UnplannedJob, Diagnostic> {
    let settings = &*job.settings;
    let replayed = replays::of(job, context.set, context.access)?;
    let parts = match &replayed {
        Some(log) => log.parts(job, &mut context.table, files)?,
        None => context.table.parts(job, files)?,
    };
    let names = files::name_work(settings);
    if names.is_some() {
        check_same_directory(job, &parts, files)?;
    }
    let mut stream = stream::stream(job, &parts, context.is_fio_exact)?;
    let recorded = replayed.map(|log| log.attach(&mut stream));
    let blocks = block_check::of(job, &stream, context)?;
    let verifies = blocks.check.is_some();
    let (time, errors) = (&settings.time, &settings.errors);
    let (delay_least, delay_most) = time.start_delay_us;
    let delay_us = delay_least + drawn(job, delay_most.saturating_sub(delay_least));
    // A replayed log gives the offsets, so percentages do not apply.
    let share = job.share().filter(|_| settings.replay.read.is_none());
    Ok(UnplannedJob {
        name: job.name.clone(),
        plan: JobPlan {
            engine: engine(settings.engine.engine),
            cache: cache(settings),
            ring: ring(settings),
            nowait: settings.engine.never_waits,
            durable: match settings.durability.open {
                SyncOpen::None => DurableWrites::No,
                SyncOpen::Sync => DurableWrites::Sync,
                SyncOpen::DataSync => DurableWrites::DataSync,
            },
            iodepth: settings.engine.depth().max(1),
            files: parts,
            start_delay_ns: delay_us.saturating_mul(1000),
            ramp_time_ns: time.ramp_us.saturating_mul(1000),
            run_time_ns: time.runtime_us.saturating_mul(1000),
            after: None,
            ends_others: settings.grouping.ends_others,
            ends_others_on_error: settings.grouping.ends_all_on_error,
            goes_on_after_errors: errors.tolerates_reads || errors.tolerates_writes,
            ends_on_mismatch: verifies && !errors.tolerates_verify,
            check: blocks.check,
            pattern: blocks.pattern,
            stream,
            recorded,
            names,
            space: files::space_work(settings),
            thread: thread(job),
            goals: goals::of(job)?,
            is_noted: settings.replay.write.is_some() || settings.logs.has_requests(),
            times_submission: settings.times_submission(),
        },
        share: share.filter(|_| settings.space.file_size.is_none()),
        content: content(settings),
        verify: verifies,
        seed: seed(job),
        cpu: cpu(job),
        fills: settings.space.fills_device,
        location: context.filenames.of(job).of_job(),
    })
}

/// Checks that all files of a job that creates, stats or deletes files are in one directory.
fn check_same_directory(
    job: &FioJob,
    parts: &[JobFile],
    files: &JobFiles,
) -> Result<(), Diagnostic> {
    let file = |part: &JobFile| &files.files[part.file_index as usize];
    let first = parts.first().map(file);
    let is_same_directory = parts.iter().map(file).all(|file| {
        let is_same = first.is_some_and(|first| first.target_index == file.target_index);
        is_same && file.name.is_some()
    });
    match is_same_directory {
        true => Ok(()),
        false => {
            let message = "the files of a job that works on whole files are in several directories";
            let error = job.position.error(message);
            Err(error.help("use `directory=` and names below it"))
        }
    }
}

fn content(settings: &FioSettings) -> ContentPlan {
    let content = &settings.content;
    let (compress, dedupe) = (content.compress_percent, content.dedupe_percent);
    if content.is_zero {
        return ContentPlan::Zero;
    }
    if compress.is_some() || dedupe.is_some() {
        return ContentPlan::Reducible {
            compress_percent: compress.unwrap_or(0).into(),
            dedupe_percent: dedupe.unwrap_or(0).into(),
        };
    }
    ContentPlan::Incompressible
}

/// A different seed for each job, the same in every run.
pub(super) fn seed(job: &FioJob) -> u64 {
    let base = job.settings.order.seed.unwrap_or(0);
    // The factor is odd, so a written job file can recover the `randseed`.
    base.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(u64::from(job.number))
}

/// Seed of the values that are drawn once for a job: its start delay and the sizes of its files.
pub(super) fn draw_seed(job: &FioJob) -> u64 {
    seed(job).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// A pseudorandom number from 0 to `most`, derived from the job's seed.
fn drawn(job: &FioJob, most: u64) -> u64 {
    let mixed = draw_seed(job);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed >> 11) % most.saturating_add(1).max(1)
}

/// The only CPU of a job; `None` if it may use several.
fn cpu(job: &FioJob) -> Option<u32> {
    // As in fio, the turn depends on the number among the jobs of all sections.
    let turn = job.number.saturating_sub(1) as usize;
    let process = &job.settings.process;
    match (process.cpu_policy, &process.cpus[..]) {
        (_, []) => None,
        (CpuPolicy::Split, cpus) => Some(cpus[turn % cpus.len()]),
        (CpuPolicy::Shared, [only]) => Some(*only),
        (CpuPolicy::Shared, _) => None,
    }
}

/// CPUs and priorities of a clone's thread.
fn thread(job: &FioJob) -> JobThread {
    let process = &job.settings.process;
    let is_set = process.io_class.is_some() || process.io_priority.is_some();
    JobThread {
        cpus: match cpu(job) {
            Some(_) => Vec::new(),
            None => process.cpus.clone(),
        },
        nice: process.nice,
        io_priority: is_set.then(|| IoPriority {
            // Both fit, because their ranges were checked when they were read.
            class: process.io_class.unwrap_or(BEST_EFFORT) as u8,
            level: process.io_priority.unwrap_or(0) as u8,
        }),
    }
}

/// Warnings about jobs whose requests would differ with `--fio-compat`, which is not set.
fn fio_compat_warnings(set: &JobSet) -> Vec<String> {
    let mut warnings: Vec<String> = Vec::new();
    for jobs in set.sections() {
        let Some(job) = jobs.first() else {
            continue;
        };
        let name = plan::printable(&job.name);
        if is_cut(&job.settings) {
            warnings.push(format!(
                "job `{name}`: random requests keep their full size; fio shortens them at \
                 blocks already visited, as `--fio-compat` does"
            ));
        }
        let rates = &job.settings.rates;
        if rates.is_poisson && is_paced(&job.settings) {
            warnings.push(format!(
                "job `{name}`: requests form a Poisson process; fio's come on a grid, and more \
                 often than requested, as with `--fio-compat`"
            ));
        }
    }
    warnings
}

/// `true` if fio shortens random requests that reach blocks already visited.
fn is_cut(settings: &FioSettings) -> bool {
    let sizes = settings.used_sizes();
    let is_fixed = |size: &super::JobBlockSizes| matches!(size, super::JobBlockSizes::Fixed(_));
    let order = &settings.order;
    let has_map =
        !order.is_with_replacement && order.distribution == super::RandomDistribution::Uniform;
    has_map && settings.access.is_random && !(is_fixed(&sizes.read) && is_fixed(&sizes.write))
}

fn is_paced(settings: &FioSettings) -> bool {
    let rates = &settings.rates;
    rates.iops != super::ByDirection::default()
        || rates.bytes_per_second != super::ByDirection::default()
}

fn differences(set: &JobSet, letter: bool) -> Vec<OriginalDifference> {
    let mut differences = Vec::new();
    for written in &set.written {
        if written.support != OptionSupport::Differs {
            continue;
        }
        let note = written.explanation.trim_end_matches('.');
        let mut note = note.to_owned();
        if let Some(first) = note.get(..1).map(str::to_lowercase) {
            note.replace_range(..1, &first);
        }
        let option = format!("`{}`", plan::printable(&written.text()));
        let difference = OriginalDifference::differs(&option, &note);
        differences.push(match written.position.line {
            0 => difference,
            line => difference.at(line),
        });
    }
    differences.extend(ignored_options(set));
    let any = |is: &dyn Fn(&FioSettings) -> bool| set.jobs.iter().any(|job| is(&job.settings));
    let own = [
        (
            true,
            "place of the files",
            "in a work directory, and removed at the end",
        ),
        (
            !letter && any(&is_cut),
            "sizes of random requests",
            "always the full size; `--fio-compat` shortens them at blocks already visited, as fio \
             does",
        ),
        (
            any(&is_paced),
            "latencies at a rate",
            "in jobs of one direction, from when requests were due, so stalls are included",
        ),
        (
            any(&|it| it.engine.memory != MemoryKind::Heap),
            "memory of buffers",
            "always pgmeter's own kind",
        ),
        (
            any(&|it| it.logs.latency.is_some()),
            "`write_lat_log`",
            "windows have medians, and no submission latency",
        ),
    ];
    let done = own.into_iter().filter(|(is_so, ..)| *is_so);
    differences.extend(done.map(|(_, what, note)| OriginalDifference::differs(what, note)));
    differences
}

/// Supported options that also affect fio's own output.
const OUTPUT_OPTIONS: [&str; 3] = ["new_group", "group_reporting", "write_iolog"];

/// Differences for options that affect only fio's own output and logs.
fn of_text(set: &JobSet) -> Vec<OriginalDifference> {
    let is_of_text = |it: &&WrittenOption| {
        it.support == OptionSupport::OutputOnly || OUTPUT_OPTIONS.contains(&it.name.as_str())
    };
    let differences = set.written.iter().filter(is_of_text).map(|it| {
        let option = format!("`{}`", plan::printable(&it.text()));
        let note = "it affects only fio's output or logs, and is ignored";
        let difference = OriginalDifference::new(DifferenceKind::NoEffect, option, note);
        match it.position.line {
            0 => difference,
            line => difference.at(line),
        }
    });
    differences.collect()
}

/// Options that have no effect in a job that replays a log.
const REPLAY_IGNORES: &str = "bs bsrange bssplit ba size io_size filesize offset offset_increment \
    number_ios rwmixread rwmixwrite nrfiles filename random_distribution percentage_random \
    norandommap zonemode zonesize fsync fdatasync";

/// Differences for these options in sections that replay a log.
fn ignored_options(set: &JobSet) -> Vec<OriginalDifference> {
    let replays = |section: &str| {
        let mut jobs = set.jobs.iter();
        jobs.any(|job| *job.section == *section && job.settings.replay.read.is_some())
    };
    let written = set.written.iter().filter(|it| {
        let mut names = REPLAY_IGNORES.split_ascii_whitespace();
        replays(&it.section) && names.any(|name| name == it.name)
    });
    let differences = written.map(|it| {
        let option = format!("`{}`", plan::printable(&it.text()));
        let difference = OriginalDifference::differs(&option, "no effect; the log determines it");
        match it.position.line {
            0 => difference,
            line => difference.at(line),
        }
    });
    differences.collect()
}
