//! Validates job tables: limits, and keys that need other keys.

use units::Bytes;

use super::{DirectionTable, JobTable};
use crate::check::values::{IODEPTH_MAX, content, iodepth, position, range};
use crate::flaw::ValueError;
use crate::model::keyed::Keyed;
use crate::model::limits::time;
use plan::EngineKind;
use plan::job::SpaceWork;

/// Maximum number of jobs in a file, clones included; larger plans are too large for any run.
pub(super) const JOBS_MAX: u64 = 100_000;

/// Maximum number of requests or loops: file offsets are no larger.
const COUNT_MAX: u64 = i64::MAX as u64;

/// Validates a table on its own, for the engine that it uses.
pub(super) fn check(table: &JobTable, engine: EngineKind) -> Result<(), ValueError> {
    values(table, engine)?;
    calls(table, engine)?;
    times(table)?;
    useless(table)
}

/// Checks keys that only some calls have.
fn calls(table: &JobTable, engine: EngineKind) -> Result<(), ValueError> {
    let is_mapped = engine == EngineKind::Mmap;
    if table.nowait == Some(true) && (is_mapped || table.names.is_some()) {
        let message = match is_mapped {
            true => "the engine `mmap` makes no calls that could fail instead of waiting",
            false => "`nowait` does not apply to work on `names`",
        };
        return Err(ValueError::leave_out("nowait", message));
    }
    if table.trim.is_some() && table.names.is_some() {
        return Err(ValueError::idle("trim", "names"));
    }
    table
        .space
        .map_or(Ok(()), |space| space_calls(table, space, engine))
}

/// Checks a job whose requests are calls on the space of files.
fn space_calls(table: &JobTable, space: SpaceWork, engine: EngineKind) -> Result<(), ValueError> {
    if table.names.is_some() {
        return Err(ValueError::idle("space", "names"));
    }
    if !matches!(engine, EngineKind::Psync | EngineKind::Null) {
        let message = "only the engine `psync` makes the calls of `space`";
        return Err(ValueError::new(
            "engine",
            message,
            "write `engine = \"psync\"`",
        ));
    }
    let has_data = [
        ("verify", table.verify == Some(true)),
        ("nowait", table.nowait == Some(true)),
        ("pattern", table.pattern.is_some()),
    ];
    if let Some((key, _)) = has_data.iter().find(|(_, is_set)| *is_set) {
        return Err(ValueError::idle(key, "space"));
    }
    let is_all_writes = table.trim.is_none() && table.read.is_some_and(|it| it.0 == 0.0);
    if space == SpaceWork::Truncate && !is_all_writes {
        let message = "`space = \"truncate\"` has only writes";
        return Err(ValueError::new(
            "space",
            message,
            "write `read = 0`, without `trim`",
        ));
    }
    Ok(())
}

/// Checks limits of numbers and texts.
fn values(table: &JobTable, engine: EngineKind) -> Result<(), ValueError> {
    range("count", table.count, 1, JOBS_MAX as u32)?;
    table.iodepth.map_or(Ok(()), iodepth)?;
    if engine.is_synchronous()
        && table.names.is_none()
        && let Some(depth) = table.iodepth.filter(|depth| *depth > 1)
        && let Some(indivisible) = indivisible_key(table)
    {
        let word = units::text_of(&engine);
        let message = format!(
            "{indivisible} needs one queue, but `{word}` uses {depth} threads for \
             `iodepth = {depth}`"
        );
        let help = format!("use `engine = \"io_uring\"`, or `count = {depth}` with `iodepth = 1`");
        return Err(ValueError::new("iodepth", message, help));
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
            return Err(ValueError::new(key, format!("`{key}` is 0"), help));
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
        let message = format!("`{key}` is too large for any run");
        return Err(ValueError::leave_out(key, message));
    }
    if let Some(nice) = table.nice.filter(|nice| !(-20..=19).contains(nice)) {
        let message = format!("`nice` is {nice}, not from -20 to 19");
        let help = format!("write `nice = {}`", nice.clamp(-20, 19));
        return Err(ValueError::new("nice", message, help));
    }
    range("io_priority", table.io_priority.map(u32::from), 0, 7)?;
    for (key, cpus) in [("cpus", &table.cpus), ("cpu_set", &table.cpu_set)] {
        if cpus.as_ref().is_some_and(|cpus| cpus.0.is_empty()) {
            let message = format!("`{key}` is an empty list");
            return Err(ValueError::leave_out(key, message));
        }
    }
    if table.cpus.is_some() && table.cpu_set.is_some() {
        let message = "there are both `cpus` and a `cpu_set`";
        return Err(ValueError::new("cpu_set", message, "leave one of them out"));
    }
    content(table.content.as_ref())
}

/// The key for which a job cannot be divided among threads. Work on `names` is done by one thread
/// at any depth.
fn indivisible_key(table: &JobTable) -> Option<&'static str> {
    let has_floor = table.rate_min.is_some() || table.byte_rate_min.is_some();
    let has_own_floor = |side: &DirectionTable| {
        side.rate_min.is_some() || side.byte_rate_min.is_some() || side.latency_max.is_some()
    };
    let has_own_rate = |side: &DirectionTable| side.rate.is_some() || side.byte_rate.is_some();
    let has_rate = table.rate.is_some() || table.byte_rate.is_some();
    let sides = [&table.reads, &table.writes];
    let reasons = [
        (
            has_rate || sides.into_iter().flatten().any(has_own_rate),
            "a rate",
        ),
        (table.latency_target.is_some(), "`latency_target`"),
        (table.until_steady.is_some(), "`until_steady`"),
        (table.flow_weight.is_some(), "`flow_weight`"),
        (
            has_floor
                || table.latency_max.is_some()
                || sides.into_iter().flatten().any(has_own_floor),
            "a limit of the rate or latency",
        ),
    ];
    let mut found = reasons.into_iter().filter(|(is_so, _)| *is_so);
    found.next().map(|(_, reason)| reason)
}

/// Checks limits of sizes and times.
fn times(table: &JobTable) -> Result<(), ValueError> {
    for (key, value) in [
        ("run_time", table.run_time),
        ("ramp_time", table.ramp_time),
        ("start_delay", table.start_delay),
        ("delay", table.delay),
        ("burst_time", table.burst_time),
    ] {
        time(key, value)?;
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

/// Keys that have no effect without another key, and that key.
const REQUIRED_KEYS: [(&str, &str); 23] = [
    ("burst", "delay"),
    ("burst_time", "delay"),
    ("burst_counts_issued", "delay"),
    ("arrivals", "rate"),
    ("delay_moves_rate", "rate"),
    ("zone_used", "zone_size"),
    ("zone_skip", "zone_size"),
    ("read_back_each", "read_back"),
    ("read_back_batch", "read_back"),
    ("read_back_only", "read_back"),
    ("verify_with", "verify"),
    ("verify_interval", "verify_with"),
    ("verify_offset", "verify_with"),
    ("pattern_interval", "pattern"),
    ("start_align", "start_percent"),
    ("rate_min_window", "rate_min"),
    ("rate_min_settle", "rate_min"),
    ("latency_target_window", "latency_target"),
    ("latency_target_percent", "latency_target"),
    ("latency_target_goes_on", "latency_target"),
    ("flow_group", "flow_weight"),
    ("flow_pause", "flow_weight"),
    ("sync_range", "sync_range_each"),
];

/// Refuses keys without effect.
fn useless(table: &JobTable) -> Result<(), ValueError> {
    let written = table.written();
    let is_written = |keys: &[&str]| keys.iter().any(|key| written.contains(key));
    let own = || table.reads.iter().chain(&table.writes);
    let has = |wanted: &str| match wanted {
        "rate" => {
            is_written(&["rate", "byte_rate"])
                || own().any(|it| it.rate.is_some() || it.byte_rate.is_some())
        }
        "rate_min" => {
            is_written(&["rate_min", "byte_rate_min"])
                || own().any(|it| it.rate_min.is_some() || it.byte_rate_min.is_some())
        }
        // fio's `offset_align` is kept with any percentage, so each of the three allows the key.
        "start_percent" => is_written(&["start_percent", "size_percent", "bytes_percent"]),
        "read_back" => table.read_back == Some(true),
        "sync_range_each" => table.sync_range_each.is_some_and(|each| each > 0),
        wanted => is_written(&[wanted]),
    };
    let mut rows = REQUIRED_KEYS.into_iter();
    match rows.find(|(key, wanted)| is_written(&[key]) && !has(wanted)) {
        None => Ok(()),
        Some((key, wanted)) => {
            let message = format!("`{key}` needs `{wanted}`");
            let help = format!("add `{wanted}`, or leave `{key}` out");
            Err(ValueError::new(key, message, help))
        }
    }
}
