//! Writes the section of a job: every key of its table as options of fio.

use description::model::defaults::{RAMP_TIME_DEFAULT, RUN_TIME_DEFAULT};
use description::model::{ContentChoice, JobTable, OneOrMany, SyncRangeFlag, UntilSteadyTable};
use plan::Diagnostic;
use plan::job::{BlockCheckKind, DurableWrites, GoalMeasure, MetadataWork, SpaceWork};
use plan::{ArrivalKind, CacheMode, EngineKind};
use units::{Percent, Span};

use super::files::{self, Targets};
use super::requests::{self, Directions};
use super::section::{WrittenSection, size};

/// fio's grace period before a minimum rate applies, which cannot be changed.
const GRACE_PERIOD: Span = Span::from_secs(2);

/// The section for a table that already includes the workload's keys.
///
/// # Errors
/// The first key without an equivalent in fio.
pub(super) fn section(
    table: &JobTable,
    targets: Targets<'_>,
) -> Result<WrittenSection, Diagnostic> {
    let mut section = WrittenSection::new(table.name.as_deref().unwrap_or_default());
    let it = &mut section;
    check_name(it)?;
    it.waits = table.waits.unwrap_or(false);
    let directions = Directions::of(table);
    put_engine(it, table)?;
    files::put(it, table, targets, &directions)?;
    requests::put(it, table, &directions)?;
    put_end(it, table)?;
    put_durability(it, table, &directions);
    put_pauses(it, table)?;
    put_goals(it, table)?;
    put_content(it, table, &directions)?;
    put_verify(it, table, &directions);
    put_process(it, table);
    put_grouping(it, table)?;
    Ok(section)
}

/// Checks that the name can be the header of a section; `global` is reserved.
fn check_name(it: &WrittenSection) -> Result<(), Diagnostic> {
    let has_comment = it.name.contains([';', '#', ']', '$']);
    if has_comment || it.name.trim() != it.name || it.name.starts_with("global") {
        let reason = "it is not the name of a section in a job file";
        let help =
            "choose a `name` without `;`, `#`, `]` and `$` that does not begin with `global`";
        return Err(it.refuse("name", reason, help));
    }
    Ok(())
}

fn put_engine(it: &mut WrittenSection, table: &JobTable) -> Result<(), Diagnostic> {
    let is_dropped = table.cache == Some(CacheMode::Dontcache);
    let never_waits = table.nowait == Some(true);
    let engine = match (table.names, table.engine.unwrap_or(EngineKind::IoUring)) {
        (Some(MetadataWork::Create), _) => "filecreate",
        (Some(MetadataWork::Stat), _) => "filestat",
        (Some(MetadataWork::Delete), _) => "filedelete",
        (Some(MetadataWork::Mkdir), _) => "dircreate",
        (Some(MetadataWork::StatDirectory), _) => "dirstat",
        (Some(MetadataWork::Rmdir), _) => "dirdelete",
        _ if table.space == Some(SpaceWork::Allocate) => "falloc",
        _ if table.space == Some(SpaceWork::Truncate) => "ftruncate",
        (None, EngineKind::IoUring) => "io_uring",
        // psync has no flags of requests, which `uncached` and `nowait` need.
        (None, EngineKind::Psync) if is_dropped || never_waits => "pvsync2",
        (None, EngineKind::Psync) => "psync",
        (None, EngineKind::Mmap) => "mmap",
        (None, EngineKind::Null) => "null",
    };
    it.put("ioengine", engine);
    let depth = table.iodepth.unwrap_or(1);
    if depth > 1 && matches!(engine, "psync" | "pvsync2" | "mmap") {
        let reason = format!("fio's `{engine}` has one request in flight, not {depth}");
        let help = "write `engine = \"io_uring\"`, or clones with `count` and `start_step`";
        return Err(it.refuse("iodepth", &reason, help));
    }
    let is_cached = !table.moves_data() || table.engine == Some(EngineKind::Mmap);
    let default = if is_cached {
        CacheMode::Buffered
    } else {
        CacheMode::Direct
    };
    match table.cache.unwrap_or(default) {
        CacheMode::Direct => it.put("direct", 1),
        CacheMode::Buffered => {}
        CacheMode::Dontcache => it.put("uncached", 1),
    }
    it.put_some("iodepth", Some(depth).filter(|depth| *depth > 1));
    it.put_some("iodepth_batch", table.batch.filter(|batch| *batch > 1));
    it.flag("sqthread_poll", table.sqpoll == Some(true));
    it.flag("hipri", table.iopoll == Some(true));
    it.flag("nowait", never_waits && engine != "null");
    let async_each = table.force_async_each.filter(|each| *each > 0);
    it.put_some("force_async", async_each.filter(|_| engine == "io_uring"));
    Ok(())
}

fn put_end(it: &mut WrittenSection, table: &JobTable) -> Result<(), Diagnostic> {
    it.put_some("io_size", table.bytes.map(size));
    if let Some(percent) = table.bytes_percent {
        it.put(
            "io_size",
            format!("{}%", it.percent("bytes_percent", percent)?),
        );
    }
    put_whole_zones(it, table);
    it.put_some("number_ios", table.operations);
    it.put_some("loops", table.loops.filter(|loops| *loops > 1));
    let has_end = table.loops.is_some_and(|loops| loops > 0)
        || table.loops.is_none()
            && (table.bytes.is_some()
                || table.bytes_percent.is_some()
                || table.operations.is_some()
                || table.names.is_some());
    let default = |span| if has_end { Span(0) } else { span };
    let run_time = table.run_time.unwrap_or(default(RUN_TIME_DEFAULT));
    let ramp_time = table.ramp_time.unwrap_or(default(RAMP_TIME_DEFAULT));
    if !has_end && run_time == Span(0) {
        let reason = "it is 0 in a job without an end, and fio would end it after its `size`";
        return Err(it.refuse("run_time", reason, "write a `run_time`, or `loops = 1`"));
    }
    // pgmeter repeats a job without an end until its time is over. fio does so only with this
    // option.
    it.flag("time_based", !has_end);
    for (option, key, span) in [
        ("runtime", "run_time", run_time),
        ("ramp_time", "ramp_time", ramp_time),
    ] {
        if span > Span(0) {
            it.put(option, it.time(key, span)?);
        }
    }
    Ok(())
}

/// Adds an `io_size` for zones and gaps. They cover less than the files, and fio starts over only
/// if `io_size` is given.
fn put_whole_zones(it: &mut WrittenSection, table: &JobTable) {
    let has_amount = table.bytes.is_some() || table.bytes_percent.is_some();
    let starts_over = table.starts_over.unwrap_or(table.zone_size.is_some());
    let has_gaps = table.zone_size.is_some() || table.skip.is_some() || table.back.is_some();
    if starts_over && has_gaps && !has_amount {
        let mut options = it.options.iter();
        let size = options
            .find(|(name, _)| *name == "size")
            .map(|(_, value)| value.clone());
        it.put("io_size", size.unwrap_or_else(|| "100%".to_owned()));
    }
}

fn put_durability(it: &mut WrittenSection, table: &JobTable, directions: &Directions) {
    let positive = |count: Option<u32>| count.filter(|count| *count > 0);
    it.put_some("fsync", positive(table.fsync_each));
    let is_mixed = directions.reads.is_some() && directions.writes.is_some();
    if is_mixed && positive(table.fsync_each).is_some() {
        // fio 3.33 counts reads as writes here.
        it.warn(
            "fsync_each",
            "fio syncs more often if reads are mixed with writes",
        );
    }
    it.put_some("fdatasync", positive(table.fdatasync_each));
    it.flag("end_fsync", table.fsync_at_end == Some(true));
    match table.durable {
        None | Some(DurableWrites::No) => {}
        Some(DurableWrites::Sync) => it.put("sync", "sync"),
        Some(DurableWrites::DataSync) => it.put("sync", "dsync"),
    }
    if let Some(count) = positive(table.sync_range_each) {
        let words = table.sync_range.as_ref().map(OneOrMany::as_slice);
        let words = words.unwrap_or(&[SyncRangeFlag::Write]).iter();
        let words: Vec<&str> = words
            .map(|word| match word {
                SyncRangeFlag::WaitBefore => "wait_before",
                SyncRangeFlag::Write => "write",
                SyncRangeFlag::WaitAfter => "wait_after",
            })
            .collect();
        it.put("sync_file_range", format!("{}:{count}", words.join(",")));
    }
}

fn put_pauses(it: &mut WrittenSection, table: &JobTable) -> Result<(), Diagnostic> {
    if let Some(delay) = table.delay {
        it.put("thinktime", it.time("delay", delay)?);
        it.put_some("thinktime_blocks", table.burst.filter(|burst| *burst > 1));
        if table.burst_counts_issued == Some(true) {
            it.put("thinktime_blocks_type", "issue");
        }
        if let Some(time) = table.burst_time.filter(|time| time.0 > 0) {
            it.put("thinktime_iotime", it.time("burst_time", time)?);
        }
    }
    if table.arrivals == Some(ArrivalKind::Poisson) {
        it.put("rate_process", "poisson");
    }
    it.flag(
        "rate_ignore_thinktime",
        table.delay_moves_rate == Some(true),
    );
    Ok(())
}

fn put_goals(it: &mut WrittenSection, table: &JobTable) -> Result<(), Diagnostic> {
    if let Some(window) = table.rate_min_window {
        if !window.0.is_multiple_of(1_000_000) {
            let reason = format!("it is {window}, and fio takes whole milliseconds");
            return Err(it.refuse("rate_min_window", &reason, "round the time"));
        }
        it.put("rate_cycle", window.0 / 1_000_000);
    }
    if table
        .rate_min_settle
        .is_some_and(|time| time != GRACE_PERIOD)
    {
        let reason = "fio's grace period is always 2 s";
        return Err(it.refuse("rate_min_settle", reason, "leave `rate_min_settle` out"));
    }
    if let Some(latency) = table.latency_target {
        it.put("latency_target", it.time("latency_target", latency)?);
        let window = table.latency_target_window.unwrap_or_default();
        it.put("latency_window", it.time("latency_target_window", window)?);
        let percent = table.latency_target_percent.unwrap_or(Percent(100.0));
        it.put("latency_percentile", format!("{:?}", percent.0));
        it.flag("latency_run", table.latency_target_goes_on == Some(true));
    }
    if let Some(goal) = &table.until_steady {
        put_steady(it, goal)?;
    }
    it.put_some("flow", table.flow_weight);
    it.put_some("flow_id", table.flow_group.filter(|group| *group > 0));
    if let Some(pause) = table.flow_pause.filter(|pause| pause.0 > 0) {
        // Rounded up, because 0 would mean no pause.
        it.put("flow_sleep", pause.0.div_ceil(1000));
    }
    Ok(())
}

fn put_steady(it: &mut WrittenSection, goal: &UntilSteadyTable) -> Result<(), Diagnostic> {
    let measure = match goal.measure {
        None | Some(GoalMeasure::Iops) => "iops",
        Some(GoalMeasure::Bandwidth) => "bw",
        Some(GoalMeasure::Latency) => "lat",
    };
    let slope = if goal.slope == Some(true) {
        "_slope"
    } else {
        ""
    };
    let limit = match goal.limit {
        Some(limit) => limit.to_string(),
        None => format!("{}%", goal.percent.map_or(1.0, |it| it.0)),
    };
    it.put("steadystate", format!("{measure}{slope}:{limit}"));
    it.put("ss_dur", it.time("until_steady.window", goal.window)?);
    if let Some(ramp) = goal.ramp.filter(|ramp| ramp.0 > 0) {
        it.put("ss_ramp", it.time("until_steady.ramp", ramp)?);
    }
    // fio before 3.37 lacks this option and always uses one second, so omit the default.
    let interval = goal.interval.unwrap_or(Span::from_secs(1));
    if interval != Span::from_secs(1) {
        it.put("ss_interval", it.time("until_steady.interval", interval)?);
    }
    it.flag("group_reporting", goal.group.is_some());
    Ok(())
}

fn put_content(
    it: &mut WrittenSection,
    table: &JobTable,
    directions: &Directions,
) -> Result<(), Diagnostic> {
    if directions.writes.is_none() {
        return Ok(());
    }
    match table.content.as_ref() {
        // By default, fio writes the same random buffer again and changes it only slightly.
        None | Some(ContentChoice::Incompressible) => it.put("refill_buffers", 1),
        Some(ContentChoice::Zero) => it.put("zero_buffers", 1),
        // Without scrambling, fio fills buffers once and writes them repeatedly.
        Some(ContentChoice::Constant | ContentChoice::PseudoRandom) => {
            it.put("scramble_buffers", 0);
        }
        Some(ContentChoice::Repeating) => {
            it.put("buffer_pattern", "0xa5");
            it.warn("content", "fio repeats the same byte in all requests");
        }
        Some(ContentChoice::FullRandom) => {
            it.put("refill_buffers", 1);
            it.warn(
                "content",
                "fio writes new random bytes, not windows of 16 MiB of them",
            );
        }
        Some(ContentChoice::Reducible(shares)) => {
            it.put("refill_buffers", 1);
            for (option, key, share) in [
                ("buffer_compress_percentage", "compress", shares.compress),
                ("dedupe_percentage", "dedupe", shares.dedupe),
            ] {
                if let Some(share) = share {
                    it.put(option, it.percent(key, share)?);
                }
            }
        }
    }
    Ok(())
}

/// fio's word for a kind of verification.
fn option_word(kind: BlockCheckKind) -> String {
    match kind {
        BlockCheckKind::Header => "meta".to_owned(),
        BlockCheckKind::PatternHeader => "pattern_hdr".to_owned(),
        kind => units::text_of(&kind),
    }
}

fn put_pattern(it: &mut WrittenSection, table: &JobTable, verifies: bool) {
    let Some(text) = &table.pattern else { return };
    let parts = text.split("%o").map(|digits| match digits {
        "" => String::new(),
        digits => format!("0x{digits}"),
    });
    let text = parts.collect::<Vec<_>>().join("%o");
    match verifies {
        true => it.put("verify_pattern", text),
        false => it.put("buffer_pattern", text),
    }
    let interval = table.pattern_interval.filter(|it| it.0 > 0);
    it.put_some("verify_pattern_interval", interval.map(|it| it.0));
}

fn put_verify(it: &mut WrittenSection, table: &JobTable, directions: &Directions) {
    let verifies = table.verify == Some(true);
    put_pattern(it, table, verifies);
    if verifies {
        let kind = table.verify_with.unwrap_or(BlockCheckKind::Crc32c);
        it.put("verify", option_word(kind));
        it.put_some("verify_interval", table.verify_interval.map(|it| it.0));
        let offset = table.verify_offset.filter(|it| it.0 > 0);
        it.put_some("verify_offset", offset.map(|it| it.0));
        it.flag("verify_only", table.read_back_only == Some(true));
        // fio reads back by default, and pgmeter does not.
        if directions.writes.is_some() && table.read_back != Some(true) {
            it.put("do_verify", 0);
        }
        it.put_some(
            "verify_backlog",
            table.read_back_each.filter(|each| *each > 0),
        );
        let batch = table.read_back_batch.filter(|batch| *batch > 0);
        it.put_some("verify_backlog_batch", batch);
    }
    let goes_on = table.goes_on_after_errors == Some(true);
    let counts_mismatches = verifies && table.ends_on_mismatch != Some(true);
    match (goes_on, counts_mismatches) {
        (true, true) => it.put("continue_on_error", "all"),
        (true, false) => it.put("continue_on_error", "io"),
        (false, true) => it.put("continue_on_error", "verify"),
        (false, false) => {}
    }
}

fn put_process(it: &mut WrittenSection, table: &JobTable) {
    let list = |cpus: &[u32]| {
        let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
        cpus.join(",")
    };
    if let Some(cpus) = &table.cpus {
        // A job without clones uses only the first, whatever its number in the file.
        let own = match table.count {
            Some(2..) => &cpus.0[..],
            _ => cpus.0.get(..1).unwrap_or_default(),
        };
        it.put("cpus_allowed", list(own));
        // fio deals the CPUs in turn by the number of the job in the file.
        it.put("cpus_allowed_policy", "split");
    }
    it.put_some("cpus_allowed", table.cpu_set.as_ref().map(|it| list(&it.0)));
    it.put_some("nice", table.nice.filter(|nice| *nice != 0));
    // The enumeration has the kernel's class numbers.
    it.put_some("prioclass", table.io_class.map(|class| class as u8));
    it.put_some("prio", table.io_priority);
    it.put_some("randseed", table.seed.map(|seed| seed.0));
}

fn put_grouping(it: &mut WrittenSection, table: &JobTable) -> Result<(), Diagnostic> {
    it.put_some("numjobs", table.count.filter(|count| *count > 1));
    it.put_some("wait_for", table.after.as_ref());
    if let Some(delay) = table.start_delay.filter(|delay| delay.0 > 0) {
        it.put("startdelay", it.time("start_delay", delay)?);
    }
    it.flag("exitall", table.ends_others == Some(true));
    it.flag("exitall_on_error", table.ends_others_on_error == Some(true));
    Ok(())
}
