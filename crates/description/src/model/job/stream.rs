//! Requests of a job, in both directions.

use units::{Bytes, Percent, Rate};

use super::blocks::{blocks, put_blocks, put_visits, visits};
use super::{DirectionTable, FileOrderSetting, JobTable, SyncRangeFlag, TrimSetting, differing};
use crate::check::access;
use crate::flaw::ValueError;
use crate::model::keys::keys;
use crate::model::{DistributionChoice, OneOrMany};
use plan::job::{
    FileOrder, PaceRule, PerDirection, RangeSync, ReadBack, ReadWriteMix, StreamEnd, StreamPlan,
    ThinkRule, ZoneRule,
};
use plan::{ArrivalKind, Distribution};

keys! {
    read_stream, write_stream: JobTable => StreamPlan {
        run_length => run_length,
        run_place => wrap,
        requests_per_file => requests_per_file,
        fsync_each => sync.fsync_each,
        fdatasync_each => sync.fdatasync_each,
        fsync_at_end => sync.fsync_at_end,
        fio_compat => is_to_the_letter,
    }
}

keys! {
    read_zones, write_zones: JobTable => ZoneRule {
        zone_size => zone_bytes,
        zone_used => used_bytes,
        zone_skip => skip_bytes,
    }
}

keys! {
    read_think, write_think: JobTable => ThinkRule {
        delay => pause_ns,
        burst => requests,
        burst_time => time_ns,
        burst_counts_issued => counts_issued,
    }
}

keys! {
    read_read_back, write_read_back: JobTable => ReadBack {
        read_back_each => backlog,
        read_back_batch => batch,
        read_back_only => skips_writes,
    }
}

/// Defaults of zones, for this zone size.
const fn default_zones(zone_bytes: u64) -> ZoneRule {
    ZoneRule {
        used_bytes: zone_bytes,
        zone_bytes: 0,
        skip_bytes: 0,
    }
}

/// Defaults of pauses.
const THINK_DEFAULT: ThinkRule = ThinkRule {
    pause_ns: 0,
    requests: 1,
    time_ns: 0,
    counts_issued: false,
};

/// The request stream of a table, for files of `all_bytes` in total; `moved_bytes` is the default
/// amount of a loop.
pub(super) fn stream(
    table: &JobTable,
    all_bytes: u64,
    moved_bytes: u64,
    loops: Option<u64>,
) -> Result<StreamPlan, ValueError> {
    let mix = mix(table)?;
    let none = DirectionTable::default();
    let reads = table.reads.as_ref().unwrap_or(&none);
    let writes = table.writes.as_ref().unwrap_or(&none);
    let random = |own: &DirectionTable| own.random.or(table.random).map_or(0.0, |it| it.0);
    let bytes = table.bytes.map_or(moved_bytes, |it| it.0);
    let mut end = StreamEnd {
        bytes,
        requests: table.operations,
        loops,
        starts_over: false,
    };
    let usual = starts_over(&end, all_bytes, table.zone_size.is_some());
    end.starts_over = table.starts_over.unwrap_or(usual);
    let blocks = PerDirection {
        read: blocks(table, "reads", reads)?,
        write: blocks(table, "writes", writes)?,
    };
    let mut stream = StreamPlan {
        random_percent: PerDirection {
            read: random(reads),
            write: random(writes),
        },
        step_bytes: step(table)?,
        visits: visits(table, reads, writes)?,
        file_order: file_order(table)?,
        zones: table
            .zone_size
            .map(|size| read_zones(table, default_zones(size.0))),
        think: table.delay.map(|_| read_think(table, THINK_DEFAULT)),
        pace: PerDirection {
            read: pace(table, "reads", reads)?,
            write: pace(table, "writes", writes)?,
        },
        read_back: (table.read_back == Some(true))
            .then(|| read_read_back(table, ReadBack::default())),
        ..read_stream(table, StreamPlan::sequential(mix, blocks.read.clone(), end))
    };
    stream.blocks = blocks;
    stream.sync.range = range(table);
    Ok(stream)
}

/// Writes a stream to a table.
pub(super) fn put(stream: &StreamPlan, table: &mut JobTable) {
    let mut reads = DirectionTable::default();
    let mut writes = DirectionTable::default();
    // Mix, blocks and end are the same on both sides, because other functions write them.
    let usual = StreamPlan::sequential(stream.mix, stream.blocks.read.clone(), stream.end);
    write_stream(stream, &usual, table);
    put_mix(stream, table);
    // Values that both directions share go to the job; otherwise the main direction's do.
    let is_write = !stream.mix.reads();
    let other = if is_write { &mut reads } else { &mut writes };
    let (main, rest) = ordered(&stream.random_percent, is_write);
    table.random = differing(Percent(*main), Percent(0.0));
    other.random = differing(Percent(*rest), Percent(*main));
    let (main, rest) = ordered(&stream.blocks, is_write);
    put_blocks(main, rest, table, other);
    put_visits(&stream.visits, table, &mut reads, &mut writes);
    put_pace(&stream.pace, table, &mut reads, &mut writes);
    put_order(stream, table);
    if let Some(zones) = &stream.zones {
        write_zones(zones, &default_zones(zones.zone_bytes), table);
    }
    if let Some(range) = &stream.sync.range {
        table.sync_range_each = Some(range.write_count);
        table.sync_range = differing(words(range), OneOrMany::One(SyncRangeFlag::Write));
    }
    if let Some(think) = &stream.think {
        write_think(think, &THINK_DEFAULT, table);
    }
    if let Some(read_back) = &stream.read_back {
        table.read_back = Some(true);
        write_read_back(read_back, &ReadBack::default(), table);
    }
    table.reads = differing(reads, DirectionTable::default());
    table.writes = differing(writes, DirectionTable::default());
}

/// Writes when a stream ends, if it differs from the default of `moved_bytes` per loop.
pub(super) fn put_end(stream: &StreamPlan, all_bytes: u64, moved_bytes: u64, table: &mut JobTable) {
    let end = &stream.end;
    table.operations = end.requests;
    table.bytes = differing(Bytes(end.bytes), Bytes(moved_bytes));
    let usual = starts_over(end, all_bytes, stream.zones.is_some());
    table.starts_over = differing(end.starts_over, usual);
}

/// Default of `starts_over`.
fn starts_over(end: &StreamEnd, all_bytes: u64, has_zones: bool) -> bool {
    end.bytes > all_bytes || end.loops.is_none() || has_zones
}

/// `None` if `sync_file_range` is never called.
fn range(table: &JobTable) -> Option<RangeSync> {
    let write_count = table.sync_range_each.filter(|each| *each > 0)?;
    let flags = table.sync_range.as_ref().map(OneOrMany::as_slice);
    let flags = flags.unwrap_or(&[SyncRangeFlag::Write]);
    Some(RangeSync {
        write_count,
        waits_before: flags.contains(&SyncRangeFlag::WaitBefore),
        writes: flags.contains(&SyncRangeFlag::Write),
        waits_after: flags.contains(&SyncRangeFlag::WaitAfter),
    })
}

fn mix(table: &JobTable) -> Result<ReadWriteMix, ValueError> {
    if let Some(trim) = table.trim {
        return trims(table, trim);
    }
    let read = table.read.unwrap_or(Percent(100.0));
    let is_mixed = table.mixed.unwrap_or(false);
    let is_both = read.0 > 0.0 && read.0 < 100.0;
    if is_both && table.mixed == Some(false) {
        let message = format!("`mixed` is false, and `read` is {read}");
        return Err(ValueError::new("mixed", message, "leave `mixed` out"));
    }
    Ok(match is_both || is_mixed {
        true => ReadWriteMix::Both {
            read_percent: read.0,
        },
        false if read.0 > 0.0 => ReadWriteMix::Read,
        false => ReadWriteMix::Write,
    })
}

/// Jobs that trim have no reads.
fn trims(table: &JobTable, trim: TrimSetting) -> Result<ReadWriteMix, ValueError> {
    if let Some(read) = table.read.filter(|read| read.0 > 0.0) {
        let message = format!("there are both `trim` and a `read` of {read}");
        let help = "leave `read` out, or write a `[[job]]` for the reads";
        return Err(ValueError::new("read", message, help));
    }
    if table.mixed == Some(true) {
        let message = "there are both `trim` and `mixed`";
        return Err(ValueError::leave_out("mixed", message));
    }
    Ok(match trim {
        TrimSetting::Only => ReadWriteMix::Trim,
        TrimSetting::BeforeWrites => ReadWriteMix::TrimAndWrite,
    })
}

fn step(table: &JobTable) -> Result<i64, ValueError> {
    // `values::check` has limited both keys to what a signed number holds.
    let narrow = |bytes: Bytes| i64::try_from(bytes.0).unwrap_or(i64::MAX);
    match (table.skip, table.back) {
        (Some(_), Some(_)) => {
            let message = "there are both `skip` and `back`";
            Err(ValueError::new("back", message, "leave one of them out"))
        }
        (skip, None) => Ok(narrow(skip.unwrap_or_default())),
        (None, Some(back)) => Ok(-narrow(back)),
    }
}

fn file_order(table: &JobTable) -> Result<FileOrder, ValueError> {
    let key = "file_distribution";
    let law = table.file_distribution.as_ref();
    match (table.file_order, law) {
        (Some(FileOrderSetting::Drawn), Some(DistributionChoice::NoRepeat)) => {
            let help = "write `file_order = \"round-robin\"`";
            let message = "files are not drawn by `no-repeat`";
            Err(ValueError::new(key, message, help))
        }
        (Some(FileOrderSetting::Drawn), law) => {
            let choice = law.unwrap_or(&DistributionChoice::Uniform);
            let flaw = |flaw: ValueError| ValueError::new(key, flaw.message, flaw.help);
            access::distribution(choice).map_err(flaw)?;
            let distribution = Distribution::from(choice);
            Ok(FileOrder::Drawn { distribution })
        }
        (_, Some(_)) => {
            let message = "`file_distribution` does not apply to files that are not drawn";
            Err(ValueError::new(
                key,
                message,
                "write `file_order = \"drawn\"`",
            ))
        }
        (None | Some(FileOrderSetting::RoundRobin), None) => Ok(FileOrder::RoundRobin),
        (Some(FileOrderSetting::Sequential), None) => Ok(FileOrder::Sequential),
    }
}

fn pace(
    table: &JobTable,
    key: &'static str,
    own: &DirectionTable,
) -> Result<Option<PaceRule>, ValueError> {
    let is_own = own.rate.is_some() || own.byte_rate.is_some();
    let (rate, byte_rate) = match is_own {
        true => (own.rate, own.byte_rate),
        false => (table.rate, table.byte_rate),
    };
    let (per_second, is_of_bytes) = match (rate, byte_rate) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            let message = "there are both a `rate` and a `byte_rate`";
            let flaw = ValueError::new("byte_rate", message, "leave one of them out");
            return Err(flaw.under_own(key, is_own));
        }
        (Some(rate), None) => (rate.0, false),
        (None, Some(Bytes(0))) => {
            let help = "leave `byte_rate` out for no rate";
            let flaw = ValueError::new("byte_rate", "`byte_rate` is 0", help);
            return Err(flaw.under_own(key, is_own));
        }
        (None, Some(bytes)) => (bytes.0 as f64, true),
    };
    Ok(Some(PaceRule {
        per_second,
        is_of_bytes,
        arrivals: table.arrivals.unwrap_or(ArrivalKind::Uniform),
        ignores_pauses: table.delay_moves_rate.unwrap_or(false),
    }))
}

fn ordered<T>(both: &PerDirection<T>, is_write: bool) -> (&T, &T) {
    match is_write {
        true => (&both.write, &both.read),
        false => (&both.read, &both.write),
    }
}

fn put_mix(stream: &StreamPlan, table: &mut JobTable) {
    match stream.mix {
        ReadWriteMix::Read => {}
        ReadWriteMix::Write => table.read = Some(Percent(0.0)),
        ReadWriteMix::Trim => table.trim = Some(TrimSetting::Only),
        ReadWriteMix::TrimAndWrite => table.trim = Some(TrimSetting::BeforeWrites),
        ReadWriteMix::Both { read_percent } => {
            table.read = differing(Percent(read_percent), Percent(100.0));
            let is_between = read_percent > 0.0 && read_percent < 100.0;
            table.mixed = (!is_between).then_some(true);
        }
    }
}

fn put_pace(
    pace: &PerDirection<Option<PaceRule>>,
    table: &mut JobTable,
    reads: &mut DirectionTable,
    writes: &mut DirectionTable,
) {
    let of = |rule: &PaceRule| match rule.is_of_bytes {
        // A fraction is lost here, but `to_tables` compares the jobs and reports it.
        true => (None, Some(Bytes(rule.per_second as u64))),
        false => (Some(Rate(rule.per_second)), None),
    };
    let Some(first) = pace.read.as_ref().or(pace.write.as_ref()) else {
        return;
    };
    // One key sets the arrivals of both directions.
    table.arrivals = differing(first.arrivals, ArrivalKind::Uniform);
    table.delay_moves_rate = differing(first.ignores_pauses, false);
    if pace.read == pace.write {
        (table.rate, table.byte_rate) = of(first);
        return;
    }
    for (rule, own) in [(&pace.read, reads), (&pace.write, writes)] {
        if let Some(rule) = rule {
            (own.rate, own.byte_rate) = of(rule);
        }
    }
}

fn put_order(stream: &StreamPlan, table: &mut JobTable) {
    match &stream.file_order {
        FileOrder::RoundRobin => {}
        FileOrder::Sequential => table.file_order = Some(FileOrderSetting::Sequential),
        FileOrder::Drawn { distribution } => {
            table.file_order = Some(FileOrderSetting::Drawn);
            if *distribution != Distribution::Uniform {
                table.file_distribution = Some(DistributionChoice::from(distribution));
            }
        }
    }
    let step = Bytes(stream.step_bytes.unsigned_abs());
    match stream.step_bytes {
        0 => {}
        1.. => table.skip = Some(step),
        _ => table.back = Some(step),
    }
}

/// Flags of the range sync, as words.
fn words(range: &RangeSync) -> OneOrMany<SyncRangeFlag> {
    let all = [
        (range.waits_before, SyncRangeFlag::WaitBefore),
        (range.writes, SyncRangeFlag::Write),
        (range.waits_after, SyncRangeFlag::WaitAfter),
    ];
    let enabled = all.into_iter().filter(|(is_asked, _)| *is_asked);
    OneOrMany::from(enabled.map(|(_, word)| word).collect::<Vec<_>>())
}
