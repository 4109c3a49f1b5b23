//! What a job asks of its files, from its table.

use units::{Bytes, Percent};

use crate::model::defaults::BLOCK_DEFAULT;
use crate::model::{
    BlockSizeChoice, ByteZone, DirectionTable, DistributionChoice, FileOrderWord, JobTable,
    OneOrMany, SyncRangeWord,
};
use plan::job::{
    BlockRule, FileOrder, Mix, PaceRule, PerDirection, RangeSync, ReadBack, ShareOfSize, SizeRule,
    StreamEnd, StreamPlan, SyncRule, ThinkRule, Visits, Wrap, ZoneRule,
};
use plan::{ArrivalKind, Distribution};

use super::super::access::{self, SHARE_ERROR_MAX};
use super::super::{Flaw, Step};

/// The stream of a table, in all of its files' bytes; `moved_bytes` are those of a loop.
pub(super) fn stream(
    table: &JobTable,
    all_bytes: u64,
    moved_bytes: u64,
    loops: Option<u64>,
) -> Result<StreamPlan, Flaw> {
    let mix = mix(table)?;
    let none = DirectionTable::default();
    let reads = table.reads.as_ref().unwrap_or(&none);
    let writes = table.writes.as_ref().unwrap_or(&none);
    let random = |own: &DirectionTable| own.random.or(table.random).map_or(0.0, |it| it.0);
    let bytes = table.bytes.map_or(moved_bytes, |it| it.0);
    Ok(StreamPlan {
        mix,
        random_percent: PerDirection {
            read: random(reads),
            write: random(writes),
        },
        run_length: table.run_length.unwrap_or(1),
        wrap: table.run_place.unwrap_or(Wrap::Onward),
        step_bytes: step(table)?,
        blocks: PerDirection {
            read: blocks(table, reads).map_err(|flaw| below("reads", flaw, &reads.block_size))?,
            write: blocks(table, writes)
                .map_err(|flaw| below("writes", flaw, &writes.block_size))?,
        },
        visits: visits(table, reads, writes)?,
        file_order: file_order(table)?,
        requests_per_file: table.requests_per_file.unwrap_or(1),
        zones: table.zone_size.map(|size| ZoneRule {
            used_bytes: table.zone_used.unwrap_or(size).0,
            zone_bytes: size.0,
            skip_bytes: table.zone_skip.unwrap_or_default().0,
        }),
        end: StreamEnd {
            bytes,
            requests: table.operations,
            loops,
            starts_over: table
                .starts_over
                .unwrap_or(bytes > all_bytes || loops.is_none() || table.zone_size.is_some()),
        },
        sync: SyncRule {
            fsync_each: table.fsync_each.unwrap_or(0),
            fdatasync_each: table.fdatasync_each.unwrap_or(0),
            fsync_at_end: table.fsync_at_end.unwrap_or(false),
            range: range(table),
        },
        think: table.delay.map(|delay| ThinkRule {
            pause_ns: delay.0,
            requests: table.burst.unwrap_or(1),
            time_ns: table.burst_time.map_or(0, |it| it.0),
            counts_issued: table.burst_counts_issued.unwrap_or(false),
        }),
        pace: PerDirection {
            read: pace(table, "reads", reads)?,
            write: pace(table, "writes", writes)?,
        },
        read_back: table.read_back.unwrap_or(false).then(|| ReadBack {
            backlog: table.read_back_each.unwrap_or(0),
            batch: table.read_back_batch.unwrap_or(0),
        }),
        is_to_the_letter: table.fio_compat.unwrap_or(false),
    })
}

/// None where ranges are never written out.
fn range(table: &JobTable) -> Option<RangeSync> {
    let write_count = table.sync_range_each.filter(|each| *each > 0)?;
    let said = table.sync_range.as_ref().map(OneOrMany::as_slice);
    let said = said.unwrap_or(&[SyncRangeWord::Write]);
    Some(RangeSync {
        write_count,
        waits_before: said.contains(&SyncRangeWord::WaitBefore),
        writes: said.contains(&SyncRangeWord::Write),
        waits_after: said.contains(&SyncRangeWord::WaitAfter),
    })
}

/// The flaw of a direction's own value stands in its table.
fn below(key: &'static str, mut flaw: Flaw, own: &Option<BlockSizeChoice>) -> Flaw {
    if own.is_some() {
        flaw.path.insert(0, Step::Key(key));
    }
    flaw
}

fn mix(table: &JobTable) -> Result<Mix, Flaw> {
    let read = table.read.unwrap_or(Percent(100.0));
    let is_mixed = table.mixed.unwrap_or(false);
    let is_both = read.0 > 0.0 && read.0 < 100.0;
    if is_both && table.mixed == Some(false) {
        let message = format!("`mixed` is false, and `read` is {read}");
        return Err(Flaw::new("mixed", message, "leave `mixed` out"));
    }
    Ok(match is_both || is_mixed {
        true => Mix::Both {
            read_percent: read.0,
        },
        false if read.0 > 0.0 => Mix::Read,
        false => Mix::Write,
    })
}

fn step(table: &JobTable) -> Result<i64, Flaw> {
    let narrow = |bytes: Bytes| i64::try_from(bytes.0).unwrap_or(i64::MAX);
    match (table.skip, table.back) {
        (Some(_), Some(_)) => Err(Flaw::new(
            "back",
            "there are both `skip` and `back`",
            "leave one of them out",
        )),
        (skip, None) => Ok(narrow(skip.unwrap_or_default())),
        (None, Some(back)) => Ok(-narrow(back)),
    }
}

fn blocks(table: &JobTable, own: &DirectionTable) -> Result<BlockRule, Flaw> {
    let fixed = BlockSizeChoice::Fixed(BLOCK_DEFAULT);
    let choice = own.block_size.as_ref().or(table.block_size.as_ref());
    let choice = choice.unwrap_or(&fixed);
    let (least, most) = choice.ends();
    access::at_most_a_request("block_size", Some(most))?;
    if least.0 == 0 {
        let help = "write `block_size = \"4k\"`";
        return Err(Flaw::new("block_size", "a request has 0 bytes", help));
    }
    let align = own.align.or(table.align).unwrap_or(least);
    let unit = own.block_unit.or(table.block_unit).unwrap_or(least);
    for (key, value) in [("align", align), ("block_unit", unit)] {
        access::at_most_a_request(key, Some(value))?;
        if value.0 == 0 {
            let message = format!("`{key}` is 0");
            return Err(Flaw::new(key, message, format!("leave `{key}` out")));
        }
    }
    // All of them are below 2 GiB.
    let narrow = |bytes: Bytes| bytes.0 as u32;
    Ok(BlockRule {
        sizes: match choice {
            BlockSizeChoice::Fixed(bytes) => SizeRule::Fixed {
                bytes: narrow(*bytes),
            },
            BlockSizeChoice::Range(least, most) => SizeRule::Range {
                min_bytes: narrow(*least),
                max_bytes: narrow(*most),
                unit_bytes: narrow(unit),
            },
            BlockSizeChoice::Split(shares) => SizeRule::Split {
                shares: shares
                    .iter()
                    .map(|it| ShareOfSize {
                        bytes: narrow(it.size),
                        percent: it.share.0,
                    })
                    .collect(),
            },
        },
        align_bytes: narrow(align),
    })
}

fn visits(
    table: &JobTable,
    reads: &DirectionTable,
    writes: &DirectionTable,
) -> Result<Visits, Flaw> {
    let zones = |own: &DirectionTable| match own.byte_zones.is_empty() {
        true => of_zones(&table.byte_zones),
        false => of_zones(&own.byte_zones),
    };
    let has_zones = [&table.byte_zones, &reads.byte_zones, &writes.byte_zones];
    let has_zones = has_zones.iter().any(|it| !it.is_empty());
    let own = (&reads.distribution, &writes.distribution);
    let is_own = own.0.is_some() || own.1.is_some();
    match (&table.distribution, has_zones) {
        _ if is_own && has_zones => Err(Flaw::new(
            "byte_zones",
            "there are both a `distribution` and `byte_zones`",
            "leave one of them out",
        )),
        _ if is_own => Ok(Visits::DrawnByDirection {
            distributions: PerDirection {
                read: own_law("reads", &reads.distribution, table)?,
                write: own_law("writes", &writes.distribution, table)?,
            },
        }),
        (Some(_), true) => Err(Flaw::new(
            "byte_zones",
            "there are both a `distribution` and `byte_zones`",
            "leave one of them out",
        )),
        (None, true) => Ok(Visits::DrawnZones {
            zones: PerDirection {
                read: zones(reads)?,
                write: zones(writes)?,
            },
        }),
        (None | Some(DistributionChoice::NoRepeat), false) => Ok(Visits::Once),
        (Some(choice), false) => {
            access::distribution(choice)?;
            let distribution = Distribution::from(choice);
            Ok(Visits::Drawn { distribution })
        }
    }
}

/// The distribution of a direction, which is drawn by it.
fn own_law(
    key: &'static str,
    own: &Option<DistributionChoice>,
    table: &JobTable,
) -> Result<Distribution, Flaw> {
    let is_own = own.is_some();
    let at = |mut flaw: Flaw| {
        if is_own {
            flaw.path.insert(0, Step::Key(key));
        }
        flaw
    };
    let Some(choice) = own.as_ref().or(table.distribution.as_ref()) else {
        return Ok(Distribution::Uniform);
    };
    if *choice == DistributionChoice::NoRepeat {
        let message = "`no-repeat` holds for both directions or for none";
        let help = "write another `distribution` for each direction";
        return Err(at(Flaw::new("distribution", message, help)));
    }
    access::distribution(choice).map_err(at)?;
    Ok(Distribution::from(choice))
}

fn of_zones(zones: &[ByteZone]) -> Result<Vec<(f64, u64)>, Flaw> {
    let sum: f64 = zones.iter().map(|it| it.access.0).sum();
    if !zones.is_empty() && (sum - 100.0).abs() > SHARE_ERROR_MAX {
        let message = format!(
            "`access` of the zones adds up to {} %, not 100 %",
            access::rounded(sum)
        );
        let help = "change the shares of the zones";
        return Err(Flaw::new("byte_zones", message, help));
    }
    if zones.iter().any(|it| it.size.0 == 0) {
        let help = "give the zone a `size`";
        return Err(Flaw::new("byte_zones", "a zone has no size", help));
    }
    Ok(zones.iter().map(|it| (it.access.0, it.size.0)).collect())
}

fn file_order(table: &JobTable) -> Result<FileOrder, Flaw> {
    let order = table.file_order.unwrap_or(FileOrderWord::RoundRobin);
    let law = table.file_distribution.as_ref();
    match (order, law) {
        (FileOrderWord::Drawn, Some(DistributionChoice::NoRepeat)) => Err(Flaw::new(
            "file_distribution",
            "files are not drawn by `no-repeat`",
            "write `file_order = \"round-robin\"`",
        )),
        (FileOrderWord::Drawn, law) => {
            let uniform = DistributionChoice::Uniform;
            let choice = law.unwrap_or(&uniform);
            access::distribution(choice).map_err(|mut flaw| {
                flaw.path = vec![Step::Key("file_distribution")];
                flaw
            })?;
            let distribution = Distribution::from(choice);
            Ok(FileOrder::Drawn { distribution })
        }
        (_, Some(_)) => Err(Flaw::new(
            "file_distribution",
            "`file_distribution` does not apply to files that are not drawn",
            "write `file_order = \"drawn\"`",
        )),
        (FileOrderWord::RoundRobin, None) => Ok(FileOrder::RoundRobin),
        (FileOrderWord::Sequential, None) => Ok(FileOrder::Sequential),
    }
}

fn pace(
    table: &JobTable,
    key: &'static str,
    own: &DirectionTable,
) -> Result<Option<PaceRule>, Flaw> {
    let is_own = own.rate.is_some() || own.byte_rate.is_some();
    let (rate, byte_rate) = match is_own {
        true => (own.rate, own.byte_rate),
        false => (table.rate, table.byte_rate),
    };
    let (per_second, is_of_bytes) = match (rate, byte_rate) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            let message = "there are both a `rate` and a `byte_rate`";
            let mut flaw = Flaw::new("byte_rate", message, "leave one of them out");
            if is_own {
                flaw.path.insert(0, Step::Key(key));
            }
            return Err(flaw);
        }
        (Some(rate), None) => (rate.0, false),
        (None, Some(Bytes(0))) => {
            let help = "leave `byte_rate` out for no rate";
            return Err(Flaw::new("byte_rate", "`byte_rate` is 0", help));
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
