//! The jobs of one table.

use units::{Bytes, Percent, Span};

use crate::model::defaults::{RAMP_TIME_DEFAULT, RUN_TIME_DEFAULT};
use crate::model::{DirectionTable, IoClassWord, JobTable, Seed};
use plan::job::{
    BuiltJob, DurableWrites, FileShare, IoPriority, JobPlace, JobPlan, JobThread, StreamPlan,
};
use plan::{CacheMode, ContentPlan, EngineKind, RingOptions};

use super::super::Flaw;
use super::super::values::{IODEPTH_MAX, TIME_MAX, content, iodepth, position};
use super::super::values::{range, time};
use super::JOBS_MAX;
use super::files::{FileState, LooseJob, LoosePart, parts};
use super::goals::goals;
use super::stream::stream;

/// The most requests or loops: positions of files are no larger.
const COUNT_MAX: u64 = i64::MAX as u64;

/// The clones of a table that says all that the workload says for it; it is the `index`-th of the
/// file, and so many jobs stand before them.
///
/// # Errors
/// What it cannot be, with the way to it from the table.
pub(crate) fn clones_of(
    table: &JobTable,
    index: usize,
    before_count: u64,
) -> Result<impl Iterator<Item = Result<LooseJob, Flaw>>, Flaw> {
    values(table)?;
    times(table)?;
    useless(table)?;
    let count = table.count.unwrap_or(1);
    let name = match &table.name {
        Some(name) => name.clone(),
        None => format!("job-{}", index + 1),
    };
    if name.is_empty() || name.contains(char::is_control) {
        let message = "`name` is not one line of text";
        return Err(Flaw::new("name", message, "leave `name` out"));
    }
    let first = match table.seed {
        Some(Seed(seed)) => seed,
        None => before_count + 1,
    };
    // As other programs make clones: the first, then the others from the last on.
    let order = (0..count.min(1)).chain((1..count).rev());
    Ok((0..).zip(order).map(move |(position, clone_index)| {
        let parts = parts(table, &name, clone_index)?;
        let mut job = one(table, &name, &parts)?;
        job.seed = first.wrapping_add(position);
        let cpus = table.cpus.as_ref();
        job.cpu = cpus.map(|cpus| cpus.0[clone_index as usize % cpus.0.len()]);
        let state = FileState::of(table);
        Ok(LooseJob { job, parts, state })
    }))
}

/// A job without files, seed and CPU.
fn one(table: &JobTable, name: &str, parts: &[LoosePart]) -> Result<BuiltJob, Flaw> {
    let all_bytes = parts
        .iter()
        .fold(0_u64, |sum, it| sum.saturating_add(it.size_bytes));
    let loops = match table.loops {
        Some(0) => None,
        Some(loops) => Some(loops),
        None => has_an_end(table).then_some(1),
    };
    let percent = table.bytes_percent.map_or(100, |it| it.0 as u64);
    let moved = FileShare {
        moved_percent: percent,
        ..FileShare::WHOLE
    };
    let stream = stream(table, all_bytes, moved.moved_bytes(all_bytes), loops)?;
    let verify = table.verify.unwrap_or(false);
    if stream.read_back.is_some() && !verify {
        let message = "`read_back` reads what is checked, and nothing is";
        return Err(Flaw::new("read_back", message, "add `verify = true`"));
    }
    let share = share(table, parts, &stream)?;
    let engine = engine(table);
    let default = |span: Span| if loops.is_none() { span } else { Span(0) };
    Ok(BuiltJob {
        name: name.to_owned(),
        plan: JobPlan {
            cache: cache(table, engine)?,
            ring: RingOptions {
                sqpoll: table.sqpoll.unwrap_or(false),
                iopoll: table.iopoll.unwrap_or(false),
                batch: table.batch.unwrap_or(RingOptions::default().batch),
                batch_fixed: table.batch.is_some(),
            },
            durable: table.durable.unwrap_or(DurableWrites::No),
            iodepth: table.iodepth.unwrap_or(1),
            start_delay_ns: table.start_delay.map_or(0, |it| it.0),
            // Known where the jobs above it are.
            after: None,
            ramp_time_ns: table.ramp_time.unwrap_or(default(RAMP_TIME_DEFAULT)).0,
            run_time_ns: table.run_time.unwrap_or(default(RUN_TIME_DEFAULT)).0,
            ends_others: table.ends_others.unwrap_or(false),
            ends_others_on_error: table.ends_others_on_error.unwrap_or(false),
            goes_on_after_errors: table.goes_on_after_errors.unwrap_or(false),
            ends_on_mismatch: table.ends_on_mismatch.unwrap_or(false),
            names: table.names,
            thread: thread(table),
            goals: goals(table)?,
            ..JobPlan::new(engine, stream)
        },
        share,
        content: table
            .content
            .as_ref()
            .map_or(ContentPlan::Incompressible, ContentPlan::from),
        verify,
        seed: 0,
        cpu: None,
        fills: false,
        place: JobPlace::default(),
    })
}

/// Whether the table says how much is done in all.
const fn has_an_end(table: &JobTable) -> bool {
    table.bytes.is_some()
        || table.bytes_percent.is_some()
        || table.operations.is_some()
        || table.names.is_some()
}

fn engine(table: &JobTable) -> EngineKind {
    let default = match table.names {
        Some(_) => EngineKind::Psync,
        None => EngineKind::IoUring,
    };
    table.engine.unwrap_or(default)
}

fn cache(table: &JobTable, engine: EngineKind) -> Result<CacheMode, Flaw> {
    let is_mapped = engine == EngineKind::Mmap;
    let written = table.cache;
    if is_mapped && written.is_some_and(|it| it != CacheMode::Buffered) {
        let message = "the engine `mmap` goes through the page cache";
        return Err(Flaw::new("cache", message, "write `cache = \"buffered\"`"));
    }
    let default = match is_mapped || table.names.is_some() {
        true => CacheMode::Buffered,
        false => CacheMode::Direct,
    };
    Ok(written.unwrap_or(default))
}

fn thread(table: &JobTable) -> JobThread {
    let is_asked = table.io_class.is_some() || table.io_priority.is_some();
    let class = table.io_class.unwrap_or(IoClassWord::BestEffort);
    JobThread {
        cpus: table.cpu_set.clone().unwrap_or_default().0,
        nice: table.nice.unwrap_or(0),
        io_priority: is_asked.then(|| IoPriority {
            // In the order of the kernel's numbers.
            class: class as u8,
            level: table.io_priority.unwrap_or(0),
        }),
    }
}

/// What is said in percent of the targets themselves.
fn share(
    table: &JobTable,
    parts: &[LoosePart],
    stream: &StreamPlan,
) -> Result<Option<FileShare>, Flaw> {
    let percents = [
        ("start_percent", table.start_percent, 0),
        ("size_percent", table.size_percent, 100),
        ("bytes_percent", table.bytes_percent, 100),
    ];
    let has_names = parts.iter().any(|it| it.name.is_some());
    let mut values = [0; 3];
    for (value, (key, written, default)) in values.iter_mut().zip(percents) {
        let percent = written.unwrap_or(Percent(default.into()));
        if percent.0.fract() != 0.0 || !(0.0..=100.0).contains(&percent.0) {
            let message = format!("`{key}` is {percent}, not a whole number of percent");
            let help = format!("write `{key} = {}`", percent.0.clamp(0.0, 100.0) as u64);
            return Err(Flaw::new(key, message, help));
        }
        if written.is_some() && has_names && key != "bytes_percent" {
            let message =
                format!("`{key}` is of the target itself, and the job has files of its own");
            let help = "write `files = 0`, or a size in bytes";
            return Err(Flaw::new(key, message, help));
        }
        *value = percent.0 as u64;
    }
    let both = [
        ("size", table.size, "size_percent", table.size_percent),
        ("bytes", table.bytes, "bytes_percent", table.bytes_percent),
    ];
    let twice = both.iter().find(|it| it.1.is_some() && it.3.is_some());
    if let Some((key, _, percent, _)) = twice {
        let message = format!("there are both `{key}` and `{percent}`");
        return Err(Flaw::new(percent, message, "leave one of them out"));
    }
    let [start_percent, size_percent, moved_percent] = values;
    let blocks = &stream.blocks;
    let least = blocks
        .read
        .sizes
        .min_bytes()
        .min(blocks.write.sizes.min_bytes());
    let is_asked = values != [0, 100, 100];
    Ok(is_asked.then(|| FileShare {
        start_percent,
        size_percent,
        moved_percent,
        start_unit_bytes: table.start_align.map_or(u64::from(least), |it| it.0),
        size_unit_bytes: least.into(),
    }))
}

/// Numbers that have bounds, and texts.
fn values(table: &JobTable) -> Result<(), Flaw> {
    range("count", table.count, 1, JOBS_MAX as u32)?;
    table.iodepth.map_or(Ok(()), iodepth)?;
    let engine = engine(table);
    if engine.is_one_at_a_time()
        && table.names.is_none()
        && let Some(depth) = table.iodepth.filter(|depth| *depth > 1)
        && let Some(reason) = undivided(table)
    {
        let word = units::text_of(&engine);
        let message =
            format!("`iodepth` is {depth}, which `{word}` takes threads for, and {reason}");
        let help = "use `io_uring`, or a `count` of clones";
        return Err(Flaw::new("iodepth", message, help));
    }
    range("batch", table.batch, 1, IODEPTH_MAX)?;
    let counts = [
        ("run_length", table.run_length.map(u64::from), "1"),
        (
            "requests_per_file",
            table.requests_per_file.map(u64::from),
            "1",
        ),
        ("operations", table.operations, "100000"),
        ("burst", table.burst, "1"),
        ("bytes", table.bytes.map(|it| it.0), "\"1g\""),
        ("zone_size", table.zone_size.map(|it| it.0), "\"1m\""),
        ("zone_used", table.zone_used.map(|it| it.0), "\"1m\""),
        ("start_align", table.start_align.map(|it| it.0), "\"4k\""),
        ("delay", table.delay.map(|it| it.0), "\"10ms\""),
    ];
    for (key, value, example) in counts {
        if value == Some(0) {
            let help = format!("leave `{key}` out, or write `{key} = {example}`");
            return Err(Flaw::new(key, format!("`{key}` is 0"), help));
        }
    }
    let numbers = [
        ("operations", table.operations),
        ("loops", table.loops),
        ("burst", table.burst),
    ];
    if let Some((key, _)) = numbers
        .iter()
        .find(|(_, it)| it.is_some_and(|it| it > COUNT_MAX))
    {
        let message = format!("`{key}` is more than any run does");
        return Err(Flaw::new(key, message, format!("leave `{key}` out")));
    }
    if let Some(nice) = table.nice.filter(|nice| !(-20..=19).contains(nice)) {
        let message = format!("`nice` is {nice}, not from -20 to 19");
        let help = format!("write `nice = {}`", nice.clamp(-20, 19));
        return Err(Flaw::new("nice", message, help));
    }
    range("io_priority", table.io_priority.map(u32::from), 0, 7)?;
    for (key, cpus) in [("cpus", &table.cpus), ("cpu_set", &table.cpu_set)] {
        if cpus.as_ref().is_some_and(|cpus| cpus.0.is_empty()) {
            let message = format!("`{key}` is an empty list");
            return Err(Flaw::new(key, message, format!("leave `{key}` out")));
        }
    }
    if table.cpus.is_some() && table.cpu_set.is_some() {
        let message = "there are both `cpus` and a `cpu_set`";
        return Err(Flaw::new("cpu_set", message, "leave one of them out"));
    }
    content(table.content.as_ref())
}

/// Why a job cannot be divided among threads. Names are worked on one by one whatever its depth.
fn undivided(table: &JobTable) -> Option<&'static str> {
    let has_floor = table.rate_min.is_some() || table.byte_rate_min.is_some();
    let has_own_floor = |side: &DirectionTable| {
        side.rate_min.is_some() || side.byte_rate_min.is_some() || side.latency_max.is_some()
    };
    let sides = [&table.reads, &table.writes];
    let reasons = [
        (
            table.latency_target.is_some(),
            "the depth that is looked for would be theirs together",
        ),
        (
            table.until_steady.is_some(),
            "what is to be steady would be theirs together",
        ),
        (
            table.flow_weight.is_some(),
            "the flow counts jobs, not threads",
        ),
        (
            has_floor
                || table.latency_max.is_some()
                || sides.into_iter().flatten().any(has_own_floor),
            "what it is to keep to would be theirs together",
        ),
    ];
    let mut found = reasons.into_iter().filter(|(is_so, _)| *is_so);
    found.next().map(|(_, reason)| reason)
}

/// Sizes and times that have bounds.
fn times(table: &JobTable) -> Result<(), Flaw> {
    for (key, value) in [
        ("run_time", table.run_time),
        ("ramp_time", table.ramp_time),
        ("start_delay", table.start_delay),
        ("delay", table.delay),
        ("burst_time", table.burst_time),
    ] {
        if value > Some(TIME_MAX) {
            time(key, value)?;
        }
    }
    let sizes: [(&'static str, Option<Bytes>); 10] = [
        ("size", table.size),
        ("start", table.start),
        ("start_step", table.start_step),
        ("start_align", table.start_align),
        ("skip", table.skip),
        ("back", table.back),
        ("zone_size", table.zone_size),
        ("zone_used", table.zone_used),
        ("zone_skip", table.zone_skip),
        ("bytes", table.bytes),
    ];
    sizes
        .into_iter()
        .try_for_each(|(key, value)| position(key, value))
}

/// A key, whether it is written, whether there is what it is about, and what that is.
type About = (&'static str, bool, bool, &'static str);

/// Keys without what they are about.
fn useless(table: &JobTable) -> Result<(), Flaw> {
    let rows = about_pauses(table).into_iter().chain(about_rest(table));
    let rows = rows.chain(about_goals(table));
    let mut useless = rows.filter(|(_, is_written, has_it, _)| *is_written && !has_it);
    match useless.next() {
        None => Ok(()),
        Some((key, _, _, wanted)) => {
            let message = format!("`{key}` needs `{wanted}`");
            let help = format!("add `{wanted}`, or leave `{key}` out");
            Err(Flaw::new(key, message, help))
        }
    }
}

fn about_pauses(table: &JobTable) -> [About; 5] {
    let own = table.reads.iter().chain(&table.writes);
    let mut own = own.map(|it| it.rate.is_some() || it.byte_rate.is_some());
    let is_paced = table.rate.is_some() || table.byte_rate.is_some() || own.any(|it| it);
    let has_delay = table.delay.is_some();
    let counts = table.burst_counts_issued.is_some();
    let moves = table.delay_moves_rate.is_some();
    [
        ("burst", table.burst.is_some(), has_delay, "delay"),
        ("burst_time", table.burst_time.is_some(), has_delay, "delay"),
        ("burst_counts_issued", counts, has_delay, "delay"),
        ("arrivals", table.arrivals.is_some(), is_paced, "rate"),
        ("delay_moves_rate", moves, is_paced, "rate"),
    ]
}

fn about_goals(table: &JobTable) -> [About; 8] {
    let own = table.reads.iter().chain(&table.writes);
    let mut own = own.map(|it| it.rate_min.is_some() || it.byte_rate_min.is_some());
    let has_floor = table.rate_min.is_some() || table.byte_rate_min.is_some() || own.any(|it| it);
    let has_target = table.latency_target.is_some();
    let has_flow = table.flow_weight.is_some();
    let floor = |key, is_written| (key, is_written, has_floor, "rate_min");
    let target = |key, is_written| (key, is_written, has_target, "latency_target");
    let flow = |key, is_written| (key, is_written, has_flow, "flow_weight");
    let has_ranges = table.sync_range_each.is_some_and(|each| each > 0);
    [
        floor("rate_min_window", table.rate_min_window.is_some()),
        floor("rate_min_settle", table.rate_min_settle.is_some()),
        target(
            "latency_target_window",
            table.latency_target_window.is_some(),
        ),
        target(
            "latency_target_percent",
            table.latency_target_percent.is_some(),
        ),
        target(
            "latency_target_goes_on",
            table.latency_target_goes_on.is_some(),
        ),
        flow("flow_group", table.flow_group.is_some()),
        flow("flow_pause", table.flow_pause.is_some()),
        (
            "sync_range",
            table.sync_range.is_some(),
            has_ranges,
            "sync_range_each",
        ),
    ]
}

fn about_rest(table: &JobTable) -> [About; 5] {
    let has_zones = table.zone_size.is_some();
    let reads_back = table.read_back == Some(true);
    let (each, batch) = (
        table.read_back_each.is_some(),
        table.read_back_batch.is_some(),
    );
    let percents = [table.start_percent, table.size_percent, table.bytes_percent];
    let has_percent = percents.iter().any(Option::is_some);
    let aligns = table.start_align.is_some();
    [
        (
            "zone_used",
            table.zone_used.is_some(),
            has_zones,
            "zone_size",
        ),
        (
            "zone_skip",
            table.zone_skip.is_some(),
            has_zones,
            "zone_size",
        ),
        ("read_back_each", each, reads_back, "read_back"),
        ("read_back_batch", batch, reads_back, "read_back"),
        ("start_align", aligns, has_percent, "start_percent"),
    ]
}
