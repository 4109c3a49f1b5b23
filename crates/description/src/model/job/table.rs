//! Converts between a table and its job.

use units::Span;

use super::files::{FileState, UnresolvedJob, UnresolvedPart, parts, put_files};
use super::goals::{self, goals};
use super::stream::{self, stream};
use super::{IoClass, JobTable, block_check, differing, values};
use crate::flaw::ValueError;
use crate::model::defaults::{RAMP_TIME_DEFAULT, RUN_TIME_DEFAULT};
use crate::model::keys::keys;
use crate::model::{ContentChoice, CpuList, Seed, Workload};
use plan::job::{FileShare, IoPriority, JobLocation, JobPlan, StreamPlan, UnplannedJob};
use plan::{CacheMode, ContentPlan, EngineKind, RingOptions};

keys! {
    read_plan, write_plan: JobTable => JobPlan {
        start_delay => start_delay_ns,
        ends_others => ends_others,
        ends_others_on_error => ends_others_on_error,
        goes_on_after_errors => goes_on_after_errors,
        ends_on_mismatch => ends_on_mismatch,
        iodepth => iodepth,
        sqpoll => ring.sqpoll,
        iopoll => ring.iopoll,
        force_async_each => ring.force_async_each,
        nowait => nowait,
        durable => durable,
        cpu_set => thread.cpus,
        nice => thread.nice,
    }
}

keys! {
    read_share, write_share: JobTable => FileShare {
        start_percent => start_percent,
        size_percent => size_percent,
        bytes_percent => moved_percent,
        start_align => start_unit_bytes,
    }
}

/// All of a file, with starts and sizes rounded to multiples of this many bytes.
const fn all_of_file(unit_bytes: u64) -> FileShare {
    FileShare {
        start_unit_bytes: unit_bytes,
        size_unit_bytes: unit_bytes,
        ..FileShare::WHOLE
    }
}

/// The clones of a table that has all defaults of the workload filled in. It is the `index`-th
/// table of the file, and `before_count` jobs precede it.
///
/// # Errors
/// If a key is invalid, with the path to it from the table.
pub(crate) fn clones_of(
    table: &JobTable,
    index: usize,
    before_count: u64,
) -> Result<impl Iterator<Item = Result<UnresolvedJob, ValueError>>, ValueError> {
    values::check(table, engine(table))?;
    let count = table.count.unwrap_or(1);
    let name = match &table.name {
        Some(name) => name.clone(),
        None => format!("job-{}", index + 1),
    };
    if name.is_empty() || name.contains(char::is_control) {
        return Err(ValueError::leave_out(
            "name",
            "`name` is not one line of text",
        ));
    }
    let first = match table.seed {
        Some(Seed(seed)) => seed,
        None => before_count + 1,
    };
    // Clones run in the order in which fio creates them: the first, then from the last backward.
    let order = (0..count.min(1)).chain((1..count).rev());
    Ok((0..).zip(order).map(move |(position, clone_index)| {
        let parts = parts(table, &name, clone_index)?;
        let mut job = one(table, &name, &parts)?;
        // A seed may be the largest number of 64 bits.
        job.seed = first.wrapping_add(position);
        let cpus = table.cpus.as_ref();
        // `values::check` has refused empty lists.
        job.cpu = cpus.map(|cpus| cpus.0[clone_index as usize % cpus.0.len()]);
        let state = FileState::of(table);
        Ok(UnresolvedJob { job, parts, state })
    }))
}

/// A job without files, seed and CPU.
fn one(table: &JobTable, name: &str, parts: &[UnresolvedPart]) -> Result<UnplannedJob, ValueError> {
    let all_bytes = bytes_of(parts);
    let loops = match table.loops {
        Some(0) => None,
        Some(loops) => Some(loops),
        None => has_work_limit(table).then_some(1),
    };
    let moved = FileShare {
        // The cast loses nothing, because `share` refuses fractions.
        moved_percent: table.bytes_percent.map_or(100, |it| it.0 as u64),
        ..FileShare::WHOLE
    };
    let stream = stream(table, all_bytes, moved.moved_bytes(all_bytes), loops)?;
    let verify = table.verify.unwrap_or(false);
    if stream.read_back.is_some() && !verify {
        let message = "`read_back` has no effect without `verify`";
        return Err(ValueError::new("read_back", message, "add `verify = true`"));
    }
    let share = share(table, parts, &stream)?;
    let engine = engine(table);
    let cache = cache(table, engine)?;
    let (run_time, ramp_time) = default_times(loops);
    let mut plan = read_plan(table, JobPlan::new(engine, stream));
    plan.cache = cache;
    plan.ring.batch = table.batch.unwrap_or(plan.ring.batch);
    plan.ring.batch_fixed = table.batch.is_some();
    plan.ramp_time_ns = table.ramp_time.unwrap_or(ramp_time).0;
    plan.run_time_ns = table.run_time.unwrap_or(run_time).0;
    plan.names = table.names;
    plan.space = table.space;
    if table.io_class.is_some() || table.io_priority.is_some() {
        // `ioprio_set` returns EINVAL for a level without a class.
        let class = table.io_class.unwrap_or(IoClass::BestEffort);
        plan.thread.io_priority = Some(IoPriority {
            // The variants are in the order of the kernel's class numbers.
            class: class as u8,
            level: table.io_priority.unwrap_or(0),
        });
    }
    plan.goals = goals(table)?;
    plan.pattern = block_check::pattern(table)?;
    plan.check = block_check::check(table, &plan.stream)?;
    Ok(UnplannedJob {
        name: name.to_owned(),
        plan,
        share,
        content: table
            .content
            .as_ref()
            .map_or(ContentPlan::Incompressible, ContentPlan::from),
        verify,
        seed: 0,
        cpu: None,
        fills: false,
        location: JobLocation::default(),
    })
}

/// Total size of the parts in bytes.
fn bytes_of(parts: &[UnresolvedPart]) -> u64 {
    let sizes = parts.iter().map(|it| it.size_bytes);
    sizes.fold(0, u64::saturating_add)
}

/// Whether the table limits the total amount of work.
const fn has_work_limit(table: &JobTable) -> bool {
    table.bytes.is_some()
        || table.bytes_percent.is_some()
        || table.operations.is_some()
        || table.names.is_some()
}

/// Default run time and ramp time of a job with this number of loops.
fn default_times(loops: Option<u64>) -> (Span, Span) {
    match loops {
        None => (RUN_TIME_DEFAULT, RAMP_TIME_DEFAULT),
        Some(_) => (Span(0), Span(0)),
    }
}

/// The engine of a table, or its default.
fn engine(table: &JobTable) -> EngineKind {
    table.engine.unwrap_or(match table.moves_data() {
        false => EngineKind::Psync,
        true => EngineKind::IoUring,
    })
}

fn cache(table: &JobTable, engine: EngineKind) -> Result<CacheMode, ValueError> {
    let is_mapped = engine == EngineKind::Mmap;
    if is_mapped && table.cache.is_some_and(|it| it != CacheMode::Buffered) {
        let message = "the engine `mmap` always uses the page cache";
        return Err(ValueError::new(
            "cache",
            message,
            "write `cache = \"buffered\"`",
        ));
    }
    Ok(table.cache.unwrap_or(match table.moves_data() {
        true if !is_mapped => CacheMode::Direct,
        _ => CacheMode::Buffered,
    }))
}

/// Settings in percent of the targets, if there are any.
fn share(
    table: &JobTable,
    parts: &[UnresolvedPart],
    stream: &StreamPlan,
) -> Result<Option<FileShare>, ValueError> {
    let percents = [
        ("start_percent", table.start_percent),
        ("size_percent", table.size_percent),
        ("bytes_percent", table.bytes_percent),
    ];
    let has_names = parts.iter().any(|it| it.name.is_some());
    for (key, percent) in percents {
        let Some(percent) = percent else { continue };
        if percent.0.fract() != 0.0 || !(0.0..=100.0).contains(&percent.0) {
            let message = format!("`{key}` is {percent}, not a whole number of percent");
            let help = format!("write `{key} = {}`", percent.0.clamp(0.0, 100.0) as u64);
            return Err(ValueError::new(key, message, help));
        }
        // The amount may be a percentage of the job's own files, because their sizes are known.
        if has_names && key != "bytes_percent" {
            let message =
                format!("`{key}` applies to the target itself, but the job has its own files");
            let help = "write `files = 0`, or a size in bytes";
            return Err(ValueError::new(key, message, help));
        }
    }
    let both = [
        ("size", table.size, "size_percent", table.size_percent),
        ("bytes", table.bytes, "bytes_percent", table.bytes_percent),
    ];
    let twice = both.iter().find(|it| it.1.is_some() && it.3.is_some());
    if let Some((key, _, percent, _)) = twice {
        let message = format!("there are both `{key}` and `{percent}`");
        return Err(ValueError::new(percent, message, "leave one of them out"));
    }
    // fio rounds by the smallest block of both directions, too.
    let least = stream.blocks.read.sizes.min_bytes();
    let least = least.min(stream.blocks.write.sizes.min_bytes());
    let share = read_share(table, all_of_file(least.into()));
    Ok((!share.is_whole()).then_some(share))
}

/// The table for a job, which may be one of several clones.
pub(super) fn table(
    it: &UnresolvedJob,
    next_clone: Option<&UnresolvedJob>,
    number: u64,
    workload: &Workload,
) -> JobTable {
    let UnresolvedJob { job, parts, state } = it;
    let plan = &job.plan;
    let ring = plan.ring;
    let mut table = JobTable {
        name: Some(job.name.clone()),
        batch: (ring.batch_fixed || ring.batch != RingOptions::default().batch)
            .then_some(ring.batch),
        names: plan.names,
        space: plan.space,
        seed: differing(Seed(job.seed), Seed(number)),
        cpus: job.cpu.map(|cpu| CpuList(vec![cpu])),
        ..JobTable::default()
    };
    let usual = JobPlan::new(plan.engine, plan.stream.clone());
    write_plan(plan, &usual, &mut table);
    put_chosen(job, workload, &mut table);
    if let Some(priority) = plan.thread.io_priority {
        let class = IoClass::ALL.get(usize::from(priority.class)).copied();
        table.io_class = class;
        table.io_priority = differing(priority.level, 0);
    }
    put_files(it, next_clone, &mut table);
    state.put(&mut table);
    stream::put(&plan.stream, &mut table);
    goals::put(&plan.goals, &mut table);
    block_check::put(plan, &mut table);
    put_end(job, bytes_of(parts), workload, &mut table);
    table
}

/// Writes keys that the workload may set for all of its jobs.
fn put_chosen(job: &UnplannedJob, workload: &Workload, table: &mut JobTable) {
    let plan = &job.plan;
    // If the workload has the key, a job without it would get the workload's value.
    let says = workload.engine.is_some() || plan.engine != engine(table);
    let usual_cache = cache(table, plan.engine);
    table.engine = says.then_some(plan.engine);
    let says = workload.cache.is_some() || usual_cache != Ok(plan.cache);
    table.cache = says.then_some(plan.cache);
    let says = workload.content.is_some() || job.content != ContentPlan::Incompressible;
    table.content = says.then(|| ContentChoice::from(job.content));
    let says = workload.verify.is_some() || job.verify;
    table.verify = says.then_some(job.verify);
}

/// Writes the amount of work and the measured time.
fn put_end(job: &UnplannedJob, all_bytes: u64, workload: &Workload, table: &mut JobTable) {
    let plan = &job.plan;
    let end = &plan.stream.end;
    let mut moved_bytes = all_bytes;
    if let Some(share) = &job.share {
        write_share(share, &all_of_file(share.size_unit_bytes), table);
        moved_bytes = share.moved_bytes(all_bytes);
    }
    // Before the loops, because `has_work_limit` reads the keys that this writes.
    stream::put_end(&plan.stream, all_bytes, moved_bytes, table);
    table.loops = match (end.loops, has_work_limit(table)) {
        (Some(1), true) | (None, false) => None,
        (loops, _) => Some(loops.unwrap_or(0)),
    };
    let (run_time, ramp_time) = default_times(end.loops);
    let written = Span(plan.run_time_ns);
    let says = workload.run_time.is_some() || written != run_time;
    table.run_time = says.then_some(written);
    let written = Span(plan.ramp_time_ns);
    let says = workload.ramp_time.is_some() || written != ramp_time;
    table.ramp_time = says.then_some(written);
}
