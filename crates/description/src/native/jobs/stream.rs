//! What a job asks of its files, as keys of its table.

use units::{Bytes, Percent, Rate, Span};

use crate::model::defaults::BLOCK_DEFAULT;
use crate::model::{
    BlockSizeChoice, ByteZone, DirectionTable, DistributionChoice, FileOrderWord, JobTable,
    OneOrMany, SizeShare, SyncRangeWord,
};
use plan::job::{
    BlockRule, FileOrder, Mix, PaceRule, PerDirection, RangeSync, ReadBack, ShareOfSize, SizeRule,
    StreamPlan, ThinkRule, Visits, Wrap,
};
use plan::{ArrivalKind, Distribution};

use super::differing;

/// Puts it into a table.
pub(super) fn put(stream: &StreamPlan, table: &mut JobTable) {
    let mut reads = DirectionTable::default();
    let mut writes = DirectionTable::default();
    put_mix(stream, table);
    // What both have is the job's; else that of the direction that there is.
    let is_write = matches!(stream.mix, Mix::Write);
    let other = if is_write { &mut reads } else { &mut writes };
    let (main, rest) = ordered(&stream.random_percent, is_write);
    table.random = differing(Percent(*main), Percent(0.0));
    other.random = differing(Percent(*rest), Percent(*main));
    let (main, rest) = ordered(&stream.blocks, is_write);
    put_blocks(main, rest, table, other);
    put_visits(&stream.visits, table, &mut reads, &mut writes);
    put_pace(&stream.pace, table, &mut reads, &mut writes);
    put_order(stream, table);
    put_rest(stream, table);
    table.reads = differing(reads, DirectionTable::default());
    table.writes = differing(writes, DirectionTable::default());
}

fn ordered<T>(both: &PerDirection<T>, is_write: bool) -> (&T, &T) {
    match is_write {
        true => (&both.write, &both.read),
        false => (&both.read, &both.write),
    }
}

fn put_mix(stream: &StreamPlan, table: &mut JobTable) {
    match stream.mix {
        Mix::Read => {}
        Mix::Write => table.read = Some(Percent(0.0)),
        Mix::Both { read_percent } => {
            table.read = differing(Percent(read_percent), Percent(100.0));
            let is_between = read_percent > 0.0 && read_percent < 100.0;
            table.mixed = (!is_between).then_some(true);
        }
    }
}

fn put_blocks(
    main: &BlockRule,
    rest: &BlockRule,
    table: &mut JobTable,
    other: &mut DirectionTable,
) {
    let least = |rule: &BlockRule| rule.sizes.min_bytes();
    let sizes = choice(&main.sizes);
    let default = BlockSizeChoice::Fixed(BLOCK_DEFAULT);
    table.align = differing(bytes(main.align_bytes), bytes(least(main)));
    table.block_unit = unit(&main.sizes).filter(|unit| *unit != bytes(least(main)));
    if main != rest {
        let other_sizes = choice(&rest.sizes);
        let align = table.align.unwrap_or(bytes(least(rest)));
        other.align = differing(bytes(rest.align_bytes), align);
        let inherited = table.block_unit.unwrap_or(bytes(least(rest)));
        other.block_unit = unit(&rest.sizes).filter(|unit| *unit != inherited);
        other.block_size = differing(other_sizes, sizes.clone());
    }
    table.block_size = differing(sizes, default);
}

const fn bytes(bytes: u32) -> Bytes {
    Bytes(bytes as u64)
}

fn unit(sizes: &SizeRule) -> Option<Bytes> {
    match sizes {
        SizeRule::Range { unit_bytes, .. } => Some(bytes(*unit_bytes)),
        _ => None,
    }
}

fn choice(sizes: &SizeRule) -> BlockSizeChoice {
    match sizes {
        SizeRule::Fixed { bytes: size } => BlockSizeChoice::Fixed(bytes(*size)),
        SizeRule::Range {
            min_bytes,
            max_bytes,
            ..
        } => BlockSizeChoice::Range(bytes(*min_bytes), bytes(*max_bytes)),
        SizeRule::Split { shares } => {
            let share = |it: &ShareOfSize| SizeShare {
                size: bytes(it.bytes),
                share: Percent(it.percent),
            };
            BlockSizeChoice::Split(shares.iter().map(share).collect())
        }
    }
}

fn put_visits(
    visits: &Visits,
    table: &mut JobTable,
    reads: &mut DirectionTable,
    writes: &mut DirectionTable,
) {
    match visits {
        Visits::Once => {}
        Visits::Drawn { distribution } => table.distribution = Some(distribution.into()),
        Visits::DrawnByDirection { distributions } => {
            reads.distribution = Some((&distributions.read).into());
            writes.distribution = Some((&distributions.write).into());
        }
        Visits::DrawnZones { zones } => {
            let of = |zones: &[(f64, u64)]| {
                let zone = |(percent, size): &(f64, u64)| ByteZone {
                    access: Percent(*percent),
                    size: Bytes(*size),
                };
                zones.iter().map(zone).collect::<Vec<_>>()
            };
            if zones.read == zones.write {
                table.byte_zones = of(&zones.read);
            } else {
                reads.byte_zones = of(&zones.read);
                writes.byte_zones = of(&zones.write);
            }
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
        true => (None, Some(Bytes(rule.per_second as u64))),
        false => (Some(Rate(rule.per_second)), None),
    };
    let Some(first) = pace.read.as_ref().or(pace.write.as_ref()) else {
        return;
    };
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
        FileOrder::Sequential => table.file_order = Some(FileOrderWord::Sequential),
        FileOrder::Drawn { distribution } => {
            table.file_order = Some(FileOrderWord::Drawn);
            if *distribution != Distribution::Uniform {
                table.file_distribution = Some(DistributionChoice::from(distribution));
            }
        }
    }
    table.requests_per_file = differing(stream.requests_per_file, 1);
    table.run_length = differing(stream.run_length, 1);
    table.run_place = differing(stream.wrap, Wrap::Onward);
    let step = Bytes(stream.step_bytes.unsigned_abs());
    match stream.step_bytes {
        0 => {}
        1.. => table.skip = Some(step),
        _ => table.back = Some(step),
    }
    if let Some(zones) = &stream.zones {
        table.zone_size = Some(Bytes(zones.zone_bytes));
        table.zone_used = differing(Bytes(zones.used_bytes), Bytes(zones.zone_bytes));
        table.zone_skip = differing(Bytes(zones.skip_bytes), Bytes(0));
    }
}

fn put_rest(stream: &StreamPlan, table: &mut JobTable) {
    table.operations = stream.end.requests;
    let sync = &stream.sync;
    table.fsync_each = differing(sync.fsync_each, 0);
    table.fdatasync_each = differing(sync.fdatasync_each, 0);
    table.fsync_at_end = differing(sync.fsync_at_end, false);
    if let Some(range) = &sync.range {
        table.sync_range_each = Some(range.write_count);
        table.sync_range = differing(words(range), OneOrMany::One(SyncRangeWord::Write));
    }
    if let Some(ThinkRule {
        pause_ns,
        requests,
        time_ns,
        counts_issued,
    }) = stream.think
    {
        table.delay = Some(Span(pause_ns));
        table.burst = differing(requests, 1);
        table.burst_time = differing(Span(time_ns), Span(0));
        table.burst_counts_issued = differing(counts_issued, false);
    }
    if let Some(ReadBack { backlog, batch }) = stream.read_back {
        table.read_back = Some(true);
        table.read_back_each = differing(backlog, 0);
        table.read_back_batch = differing(batch, 0);
    }
    table.fio_compat = differing(stream.is_to_the_letter, false);
}

/// What is done with ranges.
fn words(range: &RangeSync) -> OneOrMany<SyncRangeWord> {
    let all = [
        (range.waits_before, SyncRangeWord::WaitBefore),
        (range.writes, SyncRangeWord::Write),
        (range.waits_after, SyncRangeWord::WaitAfter),
    ];
    let asked = all.into_iter().filter(|(is_asked, _)| *is_asked);
    OneOrMany::from(asked.map(|(_, word)| word).collect::<Vec<_>>())
}
