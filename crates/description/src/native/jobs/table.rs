//! Tables of jobs: clones that differ in nothing but what clones differ in are one.

use units::{Bytes, Percent, Span};

use crate::check::{FileState, Flaw, LooseJob, LoosePart, clones_of, with_defaults};
use crate::model::defaults::{
    NAMED_SIZE_DEFAULT, RAMP_TIME_DEFAULT, RUN_TIME_DEFAULT, SIZE_DEFAULT,
};
use crate::model::{
    ContentChoice, CpuList, FilesChoice, IoClassWord, JobFileChoice, JobFileTable, JobTable,
    OneOrMany, Seed, Workload,
};
use plan::job::{BuiltJob, DurableWrites, FileCache};
use plan::{CacheMode, ContentPlan, EngineKind, RingOptions};

use super::names::pattern;
use super::{differing, goals, stream};

/// Tables that stand for the jobs; so many jobs stand before them in the file.
pub(super) fn tables(jobs: &[LooseJob], before_count: u64, workload: &Workload) -> Vec<JobTable> {
    let mut tables = Vec::new();
    let mut alike: &[LooseJob] = &[];
    let mut index = 0;
    while let Some(first) = jobs.get(index) {
        if alike.is_empty() {
            alike = &jobs[index..][..alike_count(&jobs[index..])];
        }
        let number = before_count + index as u64 + 1;
        let (mut table, count) = clones(alike, number, workload)
            .unwrap_or_else(|| (table(first, None, number, workload), 1));
        // Which jobs of a wave those are is known where all of them are read.
        let after = first.job.plan.after.as_ref();
        let after = after.and_then(|it| jobs.get(it.first_index as usize));
        table.after = after.map(|it| it.job.name.clone());
        tables.push(table);
        alike = &alike[count..];
        index += count;
    }
    tables
}

/// How many of the first jobs differ in nothing but what clones differ in.
fn alike_count(jobs: &[LooseJob]) -> usize {
    let first = jobs.first().map(likeness);
    let alike = jobs.iter().take_while(|it| Some(likeness(it)) == first);
    alike.count()
}

/// A table whose clones are the first of jobs that are alike, and how many they are; none where
/// it has no clones.
fn clones(alike: &[LooseJob], number: u64, workload: &Workload) -> Option<(JobTable, usize)> {
    let mut count = alike.len();
    while count > 1 {
        let run = &alike[..count];
        let table = cloned(run, number, workload);
        // Most tables that are tried differ in the first clones already.
        let is_same = |(read, wanted): (Result<LooseJob, Flaw>, &LooseJob)| {
            read.is_ok_and(|mut read| {
                read.job.plan.after = wanted.job.plan.after;
                read == *wanted
            })
        };
        let whole = with_defaults(&table, workload);
        let read = clones_of(&whole, 0, number - 1);
        if read.is_ok_and(|read| read.zip(run).all(is_same)) {
            return Some((table, count));
        }
        count = next_count(run, count);
    }
    None
}

/// The next number of clones to try: where the first clone's own files come again, else half.
fn next_count(run: &[LooseJob], count: usize) -> usize {
    let own = run[0].parts.first().map(|it| (&it.name, it.start_bytes));
    let again = run
        .iter()
        .skip(1)
        .position(|it| it.parts.first().map(|it| (&it.name, it.start_bytes)) == own);
    match again.map(|at| at + 1) {
        Some(at) if at < count => at,
        _ => count / 2,
    }
}

/// What clones have in common.
fn likeness(it: &LooseJob) -> LooseJob {
    let mut it = it.clone();
    it.job.seed = 0;
    it.job.cpu = None;
    for part in &mut it.parts {
        part.name = part.name.as_ref().map(|_| String::new());
        part.start_bytes = 0;
        part.target_index = 0;
    }
    it
}

/// The table of jobs that may be clones.
fn cloned(run: &[LooseJob], number: u64, workload: &Workload) -> JobTable {
    // The clone of index 1 is the last.
    let second = &run[run.len() - 1];
    let mut table = table(&run[0], Some(second), number, workload);
    table.count = Some(run.len() as u32);
    let start = |it: &LooseJob| it.parts.first().map_or(0, |part| part.start_bytes);
    let step = start(second).saturating_sub(start(&run[0]));
    table.start_step = differing(Bytes(step), Bytes(0));
    // Clones by their index.
    let by_index = || run[..1].iter().chain(run[1..].iter().rev());
    let cpus: Option<Vec<u32>> = by_index().map(|it| it.job.cpu).collect();
    table.cpus = cpus.map(|cpus| CpuList(period(cpus)));
    let targets = by_index().map(|it| it.parts.first().map_or(1, |part| part.target_index + 1));
    let targets = period(targets.collect());
    table.target = match targets[..] {
        [1] => None,
        [only] => Some(OneOrMany::One(only)),
        _ => Some(OneOrMany::Many(targets)),
    };
    table
}

/// The shortest list that comes again and again.
fn period(mut all: Vec<u32>) -> Vec<u32> {
    let comes_again = |length: usize| (length..all.len()).all(|at| all[at] == all[at % length]);
    let length = (1..all.len()).find(|length| comes_again(*length));
    all.truncate(length.unwrap_or(all.len()));
    all
}

/// The table of a job, whose files may be those of clones.
fn table(
    it: &LooseJob,
    next_clone: Option<&LooseJob>,
    number: u64,
    workload: &Workload,
) -> JobTable {
    let LooseJob { job, parts, state } = it;
    let plan = &job.plan;
    let mut table = JobTable {
        name: Some(job.name.clone()),
        start_delay: differing(Span(plan.start_delay_ns), Span(0)),
        ends_others: differing(plan.ends_others, false),
        ends_others_on_error: differing(plan.ends_others_on_error, false),
        goes_on_after_errors: differing(plan.goes_on_after_errors, false),
        ends_on_mismatch: differing(plan.ends_on_mismatch, false),
        iodepth: differing(plan.iodepth, 1),
        sqpoll: differing(plan.ring.sqpoll, false),
        iopoll: differing(plan.ring.iopoll, false),
        batch: (plan.ring.batch_fixed || plan.ring.batch != RingOptions::default().batch)
            .then_some(plan.ring.batch),
        durable: differing(plan.durable, DurableWrites::No),
        names: plan.names,
        seed: differing(Seed(job.seed), Seed(number)),
        cpus: job.cpu.map(|cpu| CpuList(vec![cpu])),
        cpu_set: differing(CpuList(plan.thread.cpus.clone()), CpuList::default()),
        nice: differing(plan.thread.nice, 0),
        ..JobTable::default()
    };
    put_chosen(job, workload, &mut table);
    if let Some(priority) = plan.thread.io_priority {
        let class = IoClassWord::ALL.get(usize::from(priority.class)).copied();
        table.io_class = class;
        table.io_priority = differing(priority.level, 0);
    }
    put_files(it, next_clone, &mut table);
    put_state(*state, &mut table);
    stream::put(&plan.stream, &mut table);
    goals::put(&plan.goals, &mut table);
    let all = parts
        .iter()
        .fold(0_u64, |sum, it| sum.saturating_add(it.size_bytes));
    put_end(job, all, workload, &mut table);
    table
}

/// What the workload may say for all of its jobs.
fn put_chosen(job: &BuiltJob, workload: &Workload, table: &mut JobTable) {
    let plan = &job.plan;
    let (engine, cache) = match (plan.names, plan.engine) {
        (Some(_), _) => (EngineKind::Psync, CacheMode::Buffered),
        (None, EngineKind::Mmap) => (EngineKind::IoUring, CacheMode::Buffered),
        (None, _) => (EngineKind::IoUring, CacheMode::Direct),
    };
    let says = workload.engine.is_some() || plan.engine != engine;
    table.engine = says.then_some(plan.engine);
    let says = workload.cache.is_some() || plan.cache != cache;
    table.cache = says.then_some(plan.cache);
    let says = workload.content.is_some() || job.content != ContentPlan::Incompressible;
    table.content = says.then(|| ContentChoice::from(job.content));
    let says = workload.verify.is_some() || job.verify;
    table.verify = says.then_some(job.verify);
}

fn put_files(it: &LooseJob, next_clone: Option<&LooseJob>, table: &mut JobTable) {
    let Some(first) = it.parts.first() else {
        return;
    };
    let default = match (&first.name, it.job.plan.names) {
        (None, _) => 0,
        (Some(_), None) => SIZE_DEFAULT,
        (Some(_), Some(_)) => NAMED_SIZE_DEFAULT,
    };
    table.size = differing(Bytes(first.size_bytes), Bytes(default));
    table.start = differing(Bytes(first.start_bytes), Bytes(0));
    table.target = differing(first.target_index, 0).map(|index| OneOrMany::One(index + 1));
    let count = it.parts.len() as u32;
    match counted(&it.parts, next_clone) {
        Some(_) if first.name.is_none() => table.files = Some(FilesChoice::Count(0)),
        Some(pattern) => {
            let usual = format!("{}.{{clone}}.{{file}}", it.job.name);
            table.file_names = differing(pattern, usual);
            table.files = differing(FilesChoice::Count(count), FilesChoice::Count(1));
        }
        None => {
            let files = it.parts.iter().map(|part| file(part, first));
            table.files = Some(FilesChoice::Each(files.collect()));
        }
    }
}

/// The pattern of files that are alike but for their names, which it tells; that of the target
/// itself is nothing.
fn counted(parts: &[LoosePart], next_clone: Option<&LooseJob>) -> Option<String> {
    let first = parts.first()?;
    let bare = |part: &LoosePart| LoosePart {
        name: None,
        ..part.clone()
    };
    let is_alike = parts.iter().all(|part| bare(part) == bare(first));
    let Some(name) = first.name.as_deref() else {
        return (is_alike && parts.len() == 1).then(String::new);
    };
    // One job alone with one file, or several of the same names: a list says it better.
    let shares =
        next_clone.is_some_and(|next| next.parts.first().map(|it| &it.name) == Some(&first.name));
    let of_next = next_clone.and_then(|it| it.parts.first());
    let of_next = of_next.and_then(|it| it.name.as_deref());
    let next = parts.get(1).and_then(|it| it.name.as_deref());
    let pattern = match (next_clone.is_some(), next) {
        (false, None) => alone(name)?,
        (false, Some(next)) => alone_with(name, next)?,
        (true, next) if !shares => pattern(name, of_next, next)?,
        (true, _) => return None,
    };
    let is_told = |(index, part): (usize, &LoosePart)| {
        let told = pattern
            .replace("{clone}", "0")
            .replace("{file}", &index.to_string());
        part.name.as_deref() == Some(told.as_str())
    };
    (is_alike && parts.iter().enumerate().all(is_told)).then_some(pattern)
}

/// The usual pattern of a job alone whose only file is named by it.
fn alone(name: &str) -> Option<String> {
    name.strip_suffix(".0.0")
        .map(|job| format!("{job}.{{clone}}.{{file}}"))
}

/// The pattern of a job alone with several files.
fn alone_with(name: &str, next: &str) -> Option<String> {
    alone(name).or_else(|| pattern(name, None, Some(next)))
}

/// A file with what is different from the first.
fn file(part: &LoosePart, first: &LoosePart) -> JobFileChoice {
    let of_file = JobFileTable {
        name: part.name.clone(),
        target: differing(part.target_index, first.target_index).map(|it| it + 1),
        start: differing(Bytes(part.start_bytes), Bytes(first.start_bytes)),
        size: differing(Bytes(part.size_bytes), Bytes(first.size_bytes)),
    };
    let bare = JobFileTable {
        name: of_file.name.clone(),
        ..JobFileTable::default()
    };
    match (&part.name, of_file == bare) {
        (Some(name), true) => JobFileChoice::Name(name.clone()),
        _ => JobFileChoice::Table(Box::new(of_file)),
    }
}

fn put_state(state: FileState, table: &mut JobTable) {
    let default = FileState::of(&JobTable {
        names: table.names,
        ..JobTable::default()
    });
    table.layout = differing(state.layout, default.layout);
    table.page_cache = differing(state.cache, FileCache::Dropped);
    table.remove = differing(state.is_removed, false);
    table.layout_only = differing(state.is_layout_only, false);
}

/// How much is done, and how long it is measured.
fn put_end(job: &BuiltJob, all_bytes: u64, workload: &Workload, table: &mut JobTable) {
    let plan = &job.plan;
    let end = &plan.stream.end;
    let mut moved_bytes = all_bytes;
    if let Some(share) = &job.share {
        let percent =
            |value: u64, default: u64| differing(Percent(value as f64), Percent(default as f64));
        table.start_percent = percent(share.start_percent, 0);
        table.size_percent = percent(share.size_percent, 100);
        table.bytes_percent = percent(share.moved_percent, 100);
        table.start_align = differing(Bytes(share.start_unit_bytes), Bytes(share.size_unit_bytes));
        moved_bytes = share.moved_bytes(all_bytes);
    }
    table.bytes = differing(Bytes(end.bytes), Bytes(moved_bytes));
    let has_an_end = table.bytes.is_some()
        || table.bytes_percent.is_some()
        || table.operations.is_some()
        || table.names.is_some();
    table.loops = match (end.loops, has_an_end) {
        (Some(1), true) | (None, false) => None,
        (loops, _) => Some(loops.unwrap_or(0)),
    };
    let has_zones = job.plan.stream.zones.is_some();
    let starts_over = end.bytes > all_bytes || end.loops.is_none() || has_zones;
    table.starts_over = differing(end.starts_over, starts_over);
    let is_endless = end.loops.is_none();
    let default = |span| if is_endless { span } else { Span(0) };
    let run_time = Span(plan.run_time_ns);
    let says = workload.run_time.is_some() || run_time != default(RUN_TIME_DEFAULT);
    table.run_time = says.then_some(run_time);
    let ramp_time = Span(plan.ramp_time_ns);
    let says = workload.ramp_time.is_some() || ramp_time != default(RAMP_TIME_DEFAULT);
    table.ramp_time = says.then_some(ramp_time);
}
