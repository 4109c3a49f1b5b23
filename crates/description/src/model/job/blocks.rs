//! Sizes and offsets of a job's requests, in both directions.

use units::{Bytes, Percent};

use super::{ByteZone, DirectionTable, JobTable, differing};
use crate::check::access::{self, SHARE_ERROR_MAX};
use crate::flaw::ValueError;
use crate::model::defaults::BLOCK_DEFAULT;
use crate::model::{BlockSizeChoice, DistributionChoice, SizeShare};
use plan::Distribution;
use plan::job::{BlockRule, OffsetOrder, PerDirection, SizeRule, WeightedSize};

/// The block rule of a direction, whose own keys are in the table under `key`.
pub(super) fn blocks(
    table: &JobTable,
    key: &'static str,
    own: &DirectionTable,
) -> Result<BlockRule, ValueError> {
    let fixed = BlockSizeChoice::Fixed(BLOCK_DEFAULT);
    let choice = own.block_size.as_ref().or(table.block_size.as_ref());
    let choice = choice.unwrap_or(&fixed);
    let (least, most) = choice.ends();
    let at = |flaw: ValueError| flaw.under_own(key, own.block_size.is_some());
    access::check_request_limit("block_size", Some(most)).map_err(at)?;
    if least.0 == 0 {
        let help = "write `block_size = \"4k\"`";
        return Err(at(ValueError::new(
            "block_size",
            "a request has 0 bytes",
            help,
        )));
    }
    // As fio, whose `blockalign` defaults to the smallest block size.
    let align = step("align", key, own.align, table.align)?.unwrap_or(least);
    // As fio, which draws multiples of the smallest size unless `bs_unaligned` is set.
    let unit = step("block_unit", key, own.block_unit, table.block_unit)?.unwrap_or(least);
    // The sizes were checked to be below 2 GiB.
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
            BlockSizeChoice::Split(shares) => {
                let shares = shares.iter().map(|it| WeightedSize {
                    bytes: narrow(it.size),
                    percent: it.share.0,
                });
                SizeRule::Split {
                    shares: shares.collect(),
                }
            }
        },
        align_bytes: narrow(align),
    })
}

/// A step of a direction, whose own keys are in the table under `side`: its own, or the job's.
fn step(
    key: &'static str,
    side: &'static str,
    own: Option<Bytes>,
    inherited: Option<Bytes>,
) -> Result<Option<Bytes>, ValueError> {
    let value = own.or(inherited);
    let checked = match value {
        Some(Bytes(0)) => Err(ValueError::leave_out(key, format!("`{key}` is 0"))),
        value => access::check_request_limit(key, value),
    };
    checked.map_err(|flaw| flaw.under_own(side, own.is_some()))?;
    Ok(value)
}

/// The order of random offsets.
pub(super) fn visits(
    table: &JobTable,
    reads: &DirectionTable,
    writes: &DirectionTable,
) -> Result<OffsetOrder, ValueError> {
    let zones = |key, own: &DirectionTable| match own.byte_zones.is_empty() {
        true => of_zones(&table.byte_zones),
        false => of_zones(&own.byte_zones).map_err(|flaw| flaw.under(key)),
    };
    let (of_job, of_reads) = (!table.byte_zones.is_empty(), !reads.byte_zones.is_empty());
    let has_zones = of_job || of_reads || !writes.byte_zones.is_empty();
    let is_own = reads.distribution.is_some() || writes.distribution.is_some();
    if has_zones && (is_own || table.distribution.is_some()) {
        let message = "there are both a `distribution` and `byte_zones`";
        let flaw = ValueError::new("byte_zones", message, "leave one of them out");
        let side = if of_reads { "reads" } else { "writes" };
        return Err(flaw.under_own(side, !of_job));
    }
    Ok(match &table.distribution {
        _ if is_own => OffsetOrder::DrawnByDirection {
            distributions: PerDirection {
                read: direction_distribution("reads", &reads.distribution, table)?,
                write: direction_distribution("writes", &writes.distribution, table)?,
            },
        },
        _ if has_zones => OffsetOrder::DrawnZones {
            zones: PerDirection {
                read: zones("reads", reads)?,
                write: zones("writes", writes)?,
            },
        },
        None | Some(DistributionChoice::NoRepeat) => OffsetOrder::Once,
        Some(choice) => {
            access::distribution(choice)?;
            let distribution = Distribution::from(choice);
            OffsetOrder::Drawn { distribution }
        }
    })
}

/// The distribution of a direction: its own, or the job's.
fn direction_distribution(
    key: &'static str,
    own: &Option<DistributionChoice>,
    table: &JobTable,
) -> Result<Distribution, ValueError> {
    let at = |flaw: ValueError| flaw.under_own(key, own.is_some());
    let Some(choice) = own.as_ref().or(table.distribution.as_ref()) else {
        return Ok(Distribution::Uniform);
    };
    if *choice == DistributionChoice::NoRepeat {
        let message = "`no-repeat` holds for both directions or for none";
        let help = "write another `distribution` for each direction";
        return Err(at(ValueError::new("distribution", message, help)));
    }
    access::distribution(choice).map_err(at)?;
    Ok(Distribution::from(choice))
}

fn of_zones(zones: &[ByteZone]) -> Result<Vec<(f64, u64)>, ValueError> {
    let sum: f64 = zones.iter().map(|it| it.access.0).sum();
    if !zones.is_empty() && (sum - 100.0).abs() > SHARE_ERROR_MAX {
        let message = format!(
            "`access` of the zones adds up to {} %, not 100 %",
            access::rounded(sum)
        );
        let help = "change the shares of the zones";
        return Err(ValueError::new("byte_zones", message, help));
    }
    if zones.iter().any(|it| it.size.0 == 0) {
        let help = "give the zone a `size`";
        return Err(ValueError::new("byte_zones", "a zone has no size", help));
    }
    Ok(zones.iter().map(|it| (it.access.0, it.size.0)).collect())
}

/// Writes the rule of the main direction, and keys of the other direction that differ from it.
pub(super) fn put_blocks(
    main: &BlockRule,
    other_rule: &BlockRule,
    table: &mut JobTable,
    other: &mut DirectionTable,
) {
    let least = |rule: &BlockRule| rule.sizes.min_bytes();
    let sizes = choice(&main.sizes);
    let default = BlockSizeChoice::Fixed(BLOCK_DEFAULT);
    table.align = differing(bytes(main.align_bytes), bytes(least(main)));
    table.block_unit = unit(&main.sizes).filter(|unit| *unit != bytes(least(main)));
    if main != other_rule {
        let other_sizes = choice(&other_rule.sizes);
        // An `align` of the job also applies to this direction; without one, its own smallest size
        // does.
        let align = table.align.unwrap_or(bytes(least(other_rule)));
        other.align = differing(bytes(other_rule.align_bytes), align);
        let inherited = table.block_unit.unwrap_or(bytes(least(other_rule)));
        other.block_unit = unit(&other_rule.sizes).filter(|unit| *unit != inherited);
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
            let share = |it: &WeightedSize| SizeShare {
                size: bytes(it.bytes),
                share: Percent(it.percent),
            };
            BlockSizeChoice::Split(shares.iter().map(share).collect())
        }
    }
}

/// Writes the order of random offsets.
pub(super) fn put_visits(
    visits: &OffsetOrder,
    table: &mut JobTable,
    reads: &mut DirectionTable,
    writes: &mut DirectionTable,
) {
    match visits {
        OffsetOrder::Once => {}
        OffsetOrder::Drawn { distribution } => table.distribution = Some(distribution.into()),
        OffsetOrder::DrawnByDirection { distributions } => {
            reads.distribution = Some((&distributions.read).into());
            writes.distribution = Some((&distributions.write).into());
        }
        OffsetOrder::DrawnZones { zones } => {
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
