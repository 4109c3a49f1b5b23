//! Jobs as work: a cell for those that run beside each other.

mod files;
mod goals;
mod remembered;
mod replays;
mod stream;
mod undone;

use std::collections::HashMap;
use std::path::PathBuf;

use description::Workload;
use description::model::OneOrMany;
use plan::Diagnostic;
use plan::job::{
    BuiltJob, BuiltJobs, DurableWrites, IoPriority, JobFile, JobFiles, JobPlan, JobThread,
    JobsBefore,
};
use plan::{CacheMode, ContentPlan, EngineKind, FrontOrigin, RingOptions};

use super::jobs::{Job, JobSet, PlacesOfOption, WrittenOption};
use super::settings::{Checksum, CpuPolicy, Engine, MemoryKind, Settings, SyncOpen};
use super::table::Verdict;
use crate::{CommandLine, Difference, DifferenceKind, FileAccess, FrontWork, MadePart};
use files::FileTable;
pub(super) use remembered::Remembered;

/// The class of priorities where none is said.
const BEST_EFFORT: u32 = 2;

/// Requests that go out with one call where nobody says.
const BATCH_DEFAULT: u32 = 32;

/// The jobs as work; `letter` does as fio does where it slips, the command line gives logs to
/// replay and tells which files are there.
///
/// # Errors
/// The first thing that is refused, or not done.
pub(super) fn work(
    set: &JobSet,
    name: &str,
    letter: bool,
    line: &CommandLine<'_>,
) -> Result<FrontWork, Diagnostic> {
    if let Some(refusal) = set.refusal() {
        return Err(refusal);
    }
    undone::check(set)?;
    files::check_count(set)?;
    let ends_others = set.jobs.iter().any(|job| job.settings.grouping.ends_others);
    let mut places = Places {
        set,
        filenames: set.places_of("filename"),
        table: FileTable::new(set, line.files),
        letter,
        access: line.files,
    };
    let mut cells = Vec::new();
    for (index, wave) in set.waves.iter().enumerate() {
        let jobs = &set.jobs[wave.jobs.clone()];
        let mut built = wave_of(jobs, &mut places)?;
        // Whoever says it says it for all, as in fio.
        for job in &mut built.jobs {
            job.plan.ends_others |= ends_others;
        }
        let is_null = built
            .jobs
            .iter()
            .all(|job| job.plan.engine == EngineKind::Null);
        cells.push(Workload {
            name: Some(name_of(name, index, set.waves.len())),
            title: Some(title(jobs)),
            engine: is_null.then_some(EngineKind::Null),
            jobs: Some(Box::new(built)),
            ..Workload::default()
        });
    }
    let directories = places.table.directories();
    // Where files have no directory of their own, the target is anybody's choice.
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
        false => plainly(set),
    };
    Ok(FrontWork {
        made: made(set, &directories),
        directories,
        differences: differences(set, letter),
        of_text: of_text(set),
        warnings,
        ..FrontWork::new(cells)
    })
}

/// fio makes missing directories of `filename` but none of `directory`.
fn made(set: &JobSet, directories: &[PathBuf]) -> MadePart {
    let mut jobs = set.jobs.iter();
    let is_by_name = jobs.all(|job| job.settings.files.directories.is_empty());
    // What is missing there is a device.
    let is_device = |path: &PathBuf| path.starts_with("/dev") && !path.starts_with("/dev/shm");
    match is_by_name && !directories.iter().any(is_device) {
        true => MadePart::All,
        false => MadePart::Nothing,
    }
}

fn name_of(name: &str, index: usize, count: usize) -> String {
    match count {
        1 => name.to_owned(),
        _ => format!("{name}-{}", index + 1),
    }
}

/// The names of the sections that run together.
fn title(jobs: &[Job]) -> String {
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

/// What all jobs have in common while they become work.
struct Places<'a> {
    set: &'a JobSet,
    filenames: PlacesOfOption<'a>,
    table: FileTable<'a>,
    letter: bool,
    access: FileAccess<'a>,
}

fn wave_of(jobs: &[Job], places: &mut Places<'_>) -> Result<BuiltJobs, Diagnostic> {
    places.table.begin_wave();
    let mut files = JobFiles {
        is_layout_only: jobs.iter().all(|job| job.settings.files.is_layout_only),
        ..JobFiles::default()
    };
    let mut built: Vec<BuiltJob> = Vec::new();
    // By name, where jobs of it begin.
    let mut first_indexes = HashMap::new();
    let is_layout_only = files.is_layout_only;
    for job in jobs {
        if job.settings.files.is_layout_only && !is_layout_only {
            continue;
        }
        let mut one = one(job, places, &mut files)?;
        let waited = job.settings.grouping.waits_for.as_deref();
        let first = waited.and_then(|name| first_indexes.get(name));
        one.plan.after = first.and_then(|first| before(&built, *first));
        first_indexes.entry(one.name.clone()).or_insert(built.len());
        built.push(one);
    }
    Ok(BuiltJobs {
        origin: FrontOrigin::default(),
        jobs: built,
        files,
    })
}

/// The jobs of the same name from there on.
fn before(built: &[BuiltJob], first: usize) -> Option<JobsBefore> {
    let name = &built.get(first)?.name;
    let of_name = built[first..].iter().take_while(|it| it.name == *name);
    Some(JobsBefore {
        first_index: u32::try_from(first).ok()?,
        count: u32::try_from(of_name.count()).ok()?,
    })
}

fn one(job: &Job, places: &mut Places<'_>, files: &mut JobFiles) -> Result<BuiltJob, Diagnostic> {
    let settings = &*job.settings;
    let replayed = replays::of(job, places.set, places.access)?;
    let parts = match &replayed {
        Some(log) => log.parts(job, &mut places.table, files)?,
        None => places.table.parts(job, files)?,
    };
    let names = files::name_work(settings);
    if names.is_some() {
        together(job, &parts, files)?;
    }
    let verifies = settings.verify.checksum != Checksum::None;
    let mut stream = stream::stream(job, &parts, places.letter)?;
    let recorded = replayed.map(|log| log.attach(&mut stream));
    let time = &settings.time;
    let (delay_least, delay_most) = time.start_delay_us;
    let delay_us = delay_least + drawn(job, delay_most.saturating_sub(delay_least));
    let errors = &settings.errors;
    // A log says where its requests are.
    let share = job.share().filter(|_| settings.replay.read.is_none());
    Ok(BuiltJob {
        name: job.name.clone(),
        plan: JobPlan {
            engine: engine(settings.engine.engine),
            cache: cache(settings),
            ring: RingOptions {
                sqpoll: settings.engine.is_submitted_by_kernel,
                iopoll: settings.engine.is_polled,
                batch: match settings.engine.batch {
                    0 | 1 => BATCH_DEFAULT,
                    batch => batch,
                },
                batch_fixed: settings.engine.batch > 1,
            },
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
            goes_on_after_errors: errors.bears_reads || errors.bears_writes,
            ends_on_mismatch: verifies && !errors.bears_verify,
            stream,
            recorded,
            names,
            thread: thread(job),
            goals: goals::of(job)?,
            is_noted: settings.replay.write.is_some() || settings.logs.has_requests(),
        },
        share: share.filter(|_| settings.space.file_size.is_none()),
        content: content(settings),
        verify: verifies && settings.verify.checksum != Checksum::Null,
        seed: seed(job),
        cpu: cpu(job),
        fills: settings.space.fills_device,
        place: places.filenames.of(job).of_job(),
    })
}

/// Files whose names are worked on lie below one directory.
fn together(job: &Job, parts: &[JobFile], files: &JobFiles) -> Result<(), Diagnostic> {
    let file = |part: &JobFile| &files.files[part.file_index as usize];
    let first = parts.first().map(file);
    let is_together = parts.iter().map(file).all(|file| {
        let is_there = first.is_some_and(|first| first.target_index == file.target_index);
        is_there && file.name.is_some()
    });
    match is_together {
        true => Ok(()),
        false => {
            let message = "the files of a job that works on names lie in several directories";
            let error = job.place.error(message);
            Err(error.help("use `directory=` and names below it"))
        }
    }
}

fn engine(engine: Engine) -> EngineKind {
    match engine {
        Engine::IoUring | Engine::Libaio | Engine::PosixAio => EngineKind::IoUring,
        Engine::Mmap => EngineKind::Mmap,
        Engine::Null => EngineKind::Null,
        _ => EngineKind::Psync,
    }
}

fn cache(settings: &Settings) -> CacheMode {
    let is_direct = settings.engine.is_direct || settings.engine.is_atomic;
    match () {
        () if settings.engine.engine == Engine::Mmap => CacheMode::Buffered,
        () if is_direct => CacheMode::Direct,
        () if settings.engine.is_uncached => CacheMode::Dontcache,
        () => CacheMode::Buffered,
    }
}

fn content(settings: &Settings) -> ContentPlan {
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
    match content.pattern {
        Some(_) => ContentPlan::Repeating,
        None => ContentPlan::Incompressible,
    }
}

/// Every clone has another order, and the same in each run.
fn seed(job: &Job) -> u64 {
    let said = job.settings.order.seed.unwrap_or(0);
    said.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(u64::from(job.number))
}

/// A number from 0 to `most` that follows from the job's seed.
fn drawn(job: &Job, most: u64) -> u64 {
    let mixed = seed(job).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed >> 11) % most.saturating_add(1).max(1)
}

/// The CPU of a clone; none where it may have several.
fn cpu(job: &Job) -> Option<u32> {
    let process = &job.settings.process;
    match (process.cpu_policy, &process.cpus[..]) {
        (_, []) => None,
        (CpuPolicy::Split, cpus) => Some(cpus[job.clone_index as usize % cpus.len()]),
        (CpuPolicy::Shared, [only]) => Some(*only),
        (CpuPolicy::Shared, _) => None,
    }
}

/// What the thread of a clone asks of the schedulers.
fn thread(job: &Job) -> JobThread {
    let process = &job.settings.process;
    let is_asked = process.io_class.is_some() || process.io_priority.is_some();
    JobThread {
        cpus: match cpu(job) {
            Some(_) => Vec::new(),
            None => process.cpus.clone(),
        },
        nice: process.nice,
        io_priority: is_asked.then(|| IoPriority {
            // Checked against their ranges when they were read.
            class: process.io_class.unwrap_or(BEST_EFFORT) as u8,
            level: process.io_priority.unwrap_or(0) as u8,
        }),
    }
}

/// What is plainly done where fio slips: what `--fio-compat` changes.
fn plainly(set: &JobSet) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for jobs in set.sections() {
        let Some(job) = jobs.first() else {
            continue;
        };
        let name = plan::printable(&job.name);
        if is_cut(&job.settings) {
            told.push(format!(
                "job `{name}`: random requests have the sizes that are asked for; fio cuts them \
                 where blocks were met before, as `--fio-compat` does"
            ));
        }
        let rates = &job.settings.rates;
        if rates.is_poisson && is_paced(&job.settings) {
            told.push(format!(
                "job `{name}`: requests come as a Poisson process; fio's come on a grid, and more \
                 often than asked, as with `--fio-compat`"
            ));
        }
    }
    told
}

/// Whether fio cuts random requests where blocks were met before.
fn is_cut(settings: &Settings) -> bool {
    let sizes = settings.blocks.sizes();
    let is_fixed = |size: &super::BlockSizes| matches!(size, super::BlockSizes::Fixed(_));
    let order = &settings.order;
    let has_map = !order.is_with_replacement && order.distribution == super::Distribution::Uniform;
    has_map && settings.access.is_random && !(is_fixed(&sizes.read) && is_fixed(&sizes.write))
}

fn is_paced(settings: &Settings) -> bool {
    let rates = &settings.rates;
    rates.iops != super::ByDirection::default()
        || rates.bytes_per_second != super::ByDirection::default()
}

fn differences(set: &JobSet, letter: bool) -> Vec<Difference> {
    let mut told = Vec::new();
    for written in &set.written {
        if written.verdict != Verdict::Differs {
            continue;
        }
        let note = written.sentence.trim_end_matches('.');
        let mut note = note.to_owned();
        if let Some(first) = note.get(..1).map(str::to_lowercase) {
            note.replace_range(..1, &first);
        }
        let what = format!("`{}`", plan::printable(&written.text()));
        let difference = Difference::differs(&what, &note);
        told.push(match written.place.line {
            0 => difference,
            line => difference.at(line),
        });
    }
    told.extend(without_effect(set));
    let any = |is: &dyn Fn(&Settings) -> bool| set.jobs.iter().any(|job| is(&job.settings));
    let own = [
        (true, "files", "in a work directory, and removed at the end"),
        (
            !letter && any(&is_cut),
            "sizes of random requests",
            "only those that are asked for, each place by itself; `--fio-compat` cuts them as fio \
             does where blocks were met before",
        ),
        (
            any(&is_paced),
            "latencies at a rate",
            "of jobs of one direction: from when requests were due, so that stalls show",
        ),
        (
            any(&|it| it.engine.memory != MemoryKind::Heap),
            "memory of buffers",
            "of our own kind",
        ),
        (
            any(&|it| it.logs.latency.is_some()),
            "`write_lat_log`",
            "there is no slat log, as submission latency is not measured, and logs of windows have \
             medians",
        ),
    ];
    let done = own.into_iter().filter(|(is_so, ..)| *is_so);
    told.extend(done.map(|(_, what, note)| Difference::differs(what, note)));
    told
}

/// Options that are done, and say how fio tells of it.
const OF_RESULTS: [&str; 3] = ["new_group", "group_reporting", "write_iolog"];

/// Options of fio's own texts and logs, where they stand.
fn of_text(set: &JobSet) -> Vec<Difference> {
    let is_of_text = |it: &&WrittenOption| {
        it.verdict == Verdict::Reporting || OF_RESULTS.contains(&it.name.as_str())
    };
    let told = set.written.iter().filter(is_of_text).map(|it| {
        let what = format!("`{}`", plan::printable(&it.text()));
        let note = "it concerns what fio prints or logs, and is left out";
        let told = Difference::new(DifferenceKind::NoEffect, what, note);
        match it.place.line {
            0 => told,
            line => told.at(line),
        }
    });
    told.collect()
}

/// Options of requests that a log leaves nothing to say.
const OF_REQUESTS: &str = "bs bsrange bssplit ba size io_size filesize offset offset_increment \
    number_ios rwmixread rwmixwrite nrfiles filename random_distribution percentage_random \
    norandommap zonemode zonesize fsync fdatasync";

/// Those of them that stand in sections with a log.
fn without_effect(set: &JobSet) -> Vec<Difference> {
    let replays = |section: &str| {
        let mut jobs = set.jobs.iter();
        jobs.any(|job| *job.section == *section && job.settings.replay.read.is_some())
    };
    let written = set.written.iter().filter(|it| {
        let mut names = OF_REQUESTS.split_ascii_whitespace();
        replays(&it.section) && names.any(|name| name == it.name)
    });
    let told = written.map(|it| {
        let what = format!("`{}`", plan::printable(&it.text()));
        let difference = Difference::differs(&what, "without effect: the log says it");
        match it.place.line {
            0 => difference,
            line => difference.at(line),
        }
    });
    told.collect()
}
