//! Requests of a job: directions, sizes, offsets, order and rates.

use description::model::defaults::BLOCK_DEFAULT;
use description::model::{
    BlockSizeChoice, ByteZone, DirectionTable, DistributionChoice, FileOrderSetting, FilesChoice,
    JobTable, SizeShare, TrimSetting, ZoneChoice,
};
use plan::Diagnostic;
use plan::job::RunDirection;
use units::{Bytes, Percent, Rate};

use super::section::{WrittenSection, pair, size};

const REQUEST_SIZE_DEFAULT: BlockSizeChoice = BlockSizeChoice::Fixed(BLOCK_DEFAULT);

/// Keys of each direction in use; its own keys override the job's.
pub(super) struct Directions {
    pub reads: Option<DirectionTable>,
    pub writes: Option<DirectionTable>,
}

impl Directions {
    pub fn of(table: &JobTable) -> Self {
        let read = read_of(table).0;
        let is_mixed = table.mixed == Some(true);
        Self {
            reads: (is_mixed || read > 0.0).then(|| with_job_defaults(table, table.reads.as_ref())),
            writes: (is_mixed || read < 100.0)
                .then(|| with_job_defaults(table, table.writes.as_ref())),
        }
    }

    fn each(&self) -> impl Iterator<Item = &DirectionTable> {
        self.reads.iter().chain(&self.writes)
    }

    /// The value of an option with one part per direction in use.
    fn pair<E>(
        &self,
        value: impl Fn(&DirectionTable) -> Result<Option<String>, E>,
    ) -> Result<Option<String>, E> {
        let of = |own: &Option<DirectionTable>| match own {
            Some(own) => value(own),
            None => Ok(None),
        };
        Ok(pair(of(&self.reads)?, of(&self.writes)?))
    }

    /// The same for numbers, with 0 for a direction without one.
    fn numbers(&self, value: impl Fn(&DirectionTable) -> Option<String>) -> Option<String> {
        let is_given = self.each().any(|own| value(own).is_some());
        let filled = |own: &Option<DirectionTable>| {
            let own = own.as_ref().filter(|_| is_given)?;
            Some(value(own).unwrap_or_else(|| "0".to_owned()))
        };
        pair(filled(&self.reads), filled(&self.writes))
    }
}

fn read_of(table: &JobTable) -> Percent {
    let default = match table.trim {
        Some(_) => 0.0,
        None => 100.0,
    };
    table.read.unwrap_or(Percent(default))
}

/// The keys of a direction, with the keys of the job as defaults.
fn with_job_defaults(table: &JobTable, own: Option<&DirectionTable>) -> DirectionTable {
    let own = own.cloned().unwrap_or_default();
    // A rate of the direction in either unit replaces both rates of the job.
    let has_rate = own.rate.is_some() || own.byte_rate.is_some();
    let has_floor = own.rate_min.is_some() || own.byte_rate_min.is_some();
    DirectionTable {
        random: own.random.or(table.random),
        block_size: own.block_size.or_else(|| table.block_size.clone()),
        block_unit: own.block_unit.or(table.block_unit),
        align: own.align.or(table.align),
        distribution: own.distribution.or_else(|| table.distribution.clone()),
        byte_zones: match own.byte_zones.is_empty() {
            true => table.byte_zones.clone(),
            false => own.byte_zones,
        },
        rate: own.rate.or(table.rate.filter(|_| !has_rate)),
        byte_rate: own.byte_rate.or(table.byte_rate.filter(|_| !has_rate)),
        rate_min: own.rate_min.or(table.rate_min.filter(|_| !has_floor)),
        byte_rate_min: own
            .byte_rate_min
            .or(table.byte_rate_min.filter(|_| !has_floor)),
        latency_max: own.latency_max.or(table.latency_max),
    }
}

/// Writes all options of requests.
pub(super) fn put(
    it: &mut WrittenSection,
    table: &JobTable,
    directions: &Directions,
) -> Result<(), Diagnostic> {
    let is_random = directions.each().any(|own| random_of(own).0 > 0.0);
    put_direction(it, table, directions, is_random)?;
    put_blocks(it, directions)?;
    if is_random {
        put_places(it, directions)?;
    }
    put_order(it, table)?;
    put_rates(it, directions)
}

fn random_of(own: &DirectionTable) -> Percent {
    own.random.unwrap_or(Percent(0.0))
}

fn put_direction(
    it: &mut WrittenSection,
    table: &JobTable,
    directions: &Directions,
    is_random: bool,
) -> Result<(), Diagnostic> {
    let random = if is_random { "rand" } else { "" };
    let word = match (table.trim, &directions.reads, &directions.writes) {
        (Some(TrimSetting::Only), ..) => "trim",
        (Some(TrimSetting::BeforeWrites), ..) => "trimwrite",
        (None, Some(_), Some(_)) => "rw",
        (None, Some(_), None) => "read",
        (None, None, _) => "write",
    };
    let steps = [
        ("skip", table.skip.filter(|skip| skip.0 > 0), ""),
        ("back", table.back.filter(|back| back.0 > 0), "-"),
    ];
    let mut suffix = String::new();
    for (key, bytes, sign) in steps {
        let Some(bytes) = bytes else { continue };
        if is_random {
            let reason = "fio supports it only in jobs without random requests";
            return Err(it.refuse(key, reason, "write `random = 0`"));
        }
        suffix = format!(":{sign}{}", size(bytes));
    }
    if let Some(length) = table.run_length.filter(|length| *length > 1 && is_random) {
        suffix = format!(":{length}");
    }
    it.put("rw", format!("{random}{word}{suffix}"));
    if table.trim.is_some() && table.files != Some(FilesChoice::Count(0)) {
        it.warn("trim", "fio trims only devices, not files");
    }
    if table.run_place == Some(RunDirection::Same) {
        it.put("rw_sequencer", "identical");
    }
    if directions.reads.is_some() && directions.writes.is_some() {
        it.put("rwmixread", it.percent("read", read_of(table))?);
    }
    let shares = directions.pair(|own| {
        let share = it.percent("random", random_of(own))?;
        Ok::<_, Diagnostic>(Some(share.to_string()))
    })?;
    it.put_some(
        "percentage_random",
        shares.filter(|it| is_random && it != "100"),
    );
    Ok(())
}

fn sizes_of(own: &DirectionTable) -> &BlockSizeChoice {
    own.block_size.as_ref().unwrap_or(&REQUEST_SIZE_DEFAULT)
}

fn put_blocks(it: &mut WrittenSection, directions: &Directions) -> Result<(), Diagnostic> {
    let has = |is: fn(&BlockSizeChoice) -> bool| directions.each().any(|own| is(sizes_of(own)));
    let has_split = has(|sizes| matches!(sizes, BlockSizeChoice::Split(_)));
    let has_range = has(|sizes| matches!(sizes, BlockSizeChoice::Range(..)));
    if has_split && has_range {
        let reason = "one direction has a range of sizes and the other has shares";
        return Err(it.refuse("block_size", reason, "write a `[[job]]` for each direction"));
    }
    let (option, value) = match (has_split, has_range) {
        (true, _) => ("bssplit", directions.pair(|own| shares(it, sizes_of(own)))?),
        (_, true) => (
            "bsrange",
            directions.pair(|own| Ok(Some(range(sizes_of(own)))))?,
        ),
        _ => {
            let fixed = |own: &DirectionTable| Ok(Some(size(sizes_of(own).ends().0)));
            ("bs", directions.pair(fixed)?)
        }
    };
    it.put_some(option, value);
    if has_range {
        put_unit(it, directions)?;
    }
    if directions.each().any(has_other_alignment) {
        let align = |own: &DirectionTable| {
            let align = own.align.unwrap_or(sizes_of(own).ends().0);
            Ok(Some(size(align)))
        };
        it.put_some("blockalign", directions.pair(align)?);
    }
    Ok(())
}

/// `true` if random offsets are aligned to anything other than the smallest size.
fn has_other_alignment(own: &DirectionTable) -> bool {
    own.align
        .is_some_and(|align| align != sizes_of(own).ends().0)
}

/// Writes the unit of sizes in a range; fio supports only the smallest size and 1.
fn put_unit(it: &mut WrittenSection, directions: &Directions) -> Result<(), Diagnostic> {
    let units = directions.each().filter_map(|own| {
        let unit = own.block_unit?;
        (unit != sizes_of(own).ends().0).then_some(unit)
    });
    let units: Vec<Bytes> = units.collect();
    match &units[..] {
        [] => Ok(()),
        units if units.iter().all(|unit| unit.0 == 1) => {
            it.put("bs_unaligned", 1);
            Ok(())
        }
        _ => {
            let reason = "sizes of fio's ranges are multiples of the smallest size or of 1";
            Err(it.refuse("block_unit", reason, "leave `block_unit` out"))
        }
    }
}

fn range(sizes: &BlockSizeChoice) -> String {
    let (least, most) = sizes.ends();
    format!("{}-{}", size(least), size(most))
}

fn shares(it: &WrittenSection, sizes: &BlockSizeChoice) -> Result<Option<String>, Diagnostic> {
    let shares = match sizes {
        BlockSizeChoice::Split(shares) => shares.clone(),
        other => vec![SizeShare {
            size: other.ends().0,
            share: Percent(100.0),
        }],
    };
    let shares = shares.iter().filter(|it| it.share.0 > 0.0).map(|share| {
        let percent = it.percent("block_size", share.share)?;
        Ok(format!("{}/{percent}", size(share.size)))
    });
    let shares: Vec<String> = shares.collect::<Result<_, Diagnostic>>()?;
    Ok(Some(shares.join(":")))
}

fn put_places(it: &mut WrittenSection, directions: &Directions) -> Result<(), Diagnostic> {
    let zones = directions.pair(|own| byte_zones(it, &own.byte_zones))?;
    if let Some(zones) = zones {
        it.put("random_distribution", format!("zoned_abs:{zones}"));
        return Ok(());
    }
    let laws: Vec<Option<&DistributionChoice>> = directions
        .each()
        .map(|own| own.distribution.as_ref())
        .collect();
    let is_of_zones = |law: &Option<&_>| matches!(law, Some(DistributionChoice::Zones(_)));
    if laws.iter().all(is_of_zones) {
        let zones = directions.pair(|own| match &own.distribution {
            Some(DistributionChoice::Zones(zones)) => zones_of(it, zones),
            _ => Ok(None),
        })?;
        it.put_some(
            "random_distribution",
            zones.map(|zones| format!("zoned:{zones}")),
        );
        return Ok(());
    }
    if laws.windows(2).any(|laws| laws[0] != laws[1]) {
        let reason = "reads and writes have different ones, which fio supports only for zones";
        return Err(it.refuse(
            "distribution",
            reason,
            "write a `[[job]]` for each direction",
        ));
    }
    match laws.first().copied().flatten() {
        None | Some(DistributionChoice::NoRepeat) if directions.each().any(has_other_alignment) => {
            let reason = "with `align`, fio uses places again before all have been used";
            let help = "leave `align` out, or write `distribution = \"uniform\"`";
            return Err(it.refuse("distribution", reason, help));
        }
        None | Some(DistributionChoice::NoRepeat) => {}
        // By default, fio visits each block once before it repeats any.
        Some(DistributionChoice::Uniform) => it.put("norandommap", 1),
        Some(law) => it.put("random_distribution", law_of(it, "distribution", law)?),
    }
    Ok(())
}

fn byte_zones(it: &WrittenSection, zones: &[ByteZone]) -> Result<Option<String>, Diagnostic> {
    let zones = zones.iter().map(|zone| {
        let access = it.percent("byte_zones", zone.access)?;
        Ok(format!("{access}/{}", size(zone.size)))
    });
    let zones: Vec<String> = zones.collect::<Result<_, Diagnostic>>()?;
    Ok((!zones.is_empty()).then(|| zones.join(":")))
}

fn zones_of(it: &WrittenSection, zones: &[ZoneChoice]) -> Result<Option<String>, Diagnostic> {
    let zones = zones.iter().map(|zone| {
        let access = it.percent("distribution", zone.access)?;
        Ok(format!(
            "{access}/{}",
            it.percent("distribution", zone.size)?
        ))
    });
    let zones: Vec<String> = zones.collect::<Result<_, Diagnostic>>()?;
    Ok(Some(zones.join(":")))
}

/// A distribution in fio's notation.
fn law_of(it: &WrittenSection, key: &str, law: &DistributionChoice) -> Result<String, Diagnostic> {
    match law {
        DistributionChoice::Zipf(theta) => Ok(format!("zipf:{theta}")),
        DistributionChoice::Pareto(h) => Ok(format!("pareto:{h}")),
        DistributionChoice::Normal(deviation) => Ok(format!("normal:{}", width(it, *deviation)?)),
        DistributionChoice::Zones(zones) => Ok(format!(
            "zoned:{}",
            zones_of(it, zones)?.unwrap_or_default()
        )),
        DistributionChoice::Uniform | DistributionChoice::NoRepeat => {
            let reason = "fio has no such distribution";
            Err(it.refuse(key, reason, "write another distribution"))
        }
    }
}

/// fio's parameter for a normal distribution with this deviation in percent of the space; the
/// inverse of the conversion for reading job files.
fn width(it: &WrittenSection, deviation: Percent) -> Result<f64, Diagnostic> {
    // fio adds the mean of twelve uniform draws over the space and one draw over the width.
    let variance = deviation.0.powi(2) - 100.0_f64.powi(2) / 144.0;
    let width = (variance * 12.0).max(0.0).sqrt();
    let width = (width * 1e9).round() / 1e9;
    // The tolerance covers the rounding of a deviation that came from a job file.
    if variance < -1e-9 || width > 50.0 {
        let reason =
            format!("fio's normal law has a deviation from 8.34 % to 16.66 %, not {deviation}");
        let help = "write `{ normal = 10 }`";
        return Err(it.refuse("distribution", &reason, help));
    }
    Ok(width)
}

fn put_order(it: &mut WrittenSection, table: &JobTable) -> Result<(), Diagnostic> {
    let turn = table.requests_per_file.filter(|count| *count > 1);
    let turn = turn.map_or_else(String::new, |count| format!(":{count}"));
    match table.file_order.unwrap_or(FileOrderSetting::RoundRobin) {
        FileOrderSetting::RoundRobin if turn.is_empty() => {}
        FileOrderSetting::RoundRobin => it.put("file_service_type", format!("roundrobin{turn}")),
        FileOrderSetting::Sequential => it.put("file_service_type", format!("sequential{turn}")),
        FileOrderSetting::Drawn => match &table.file_distribution {
            None | Some(DistributionChoice::Uniform) => {
                it.put("file_service_type", format!("random{turn}"));
            }
            Some(law) if turn.is_empty() => {
                it.put("file_service_type", law_of(it, "file_distribution", law)?);
            }
            Some(_) => {
                let reason = "fio supports it only for files drawn uniformly";
                let help = "leave `file_distribution` out";
                return Err(it.refuse("requests_per_file", reason, help));
            }
        },
    }
    if let Some(zone) = table.zone_size {
        it.put("zonemode", "strided");
        // fio's `zonesize` is the part of a zone in use, and `zonerange` is its length.
        it.put("zonesize", size(table.zone_used.unwrap_or(zone)));
        it.put("zonerange", size(zone));
        it.put_some(
            "zoneskip",
            table.zone_skip.filter(|skip| skip.0 > 0).map(size),
        );
    }
    Ok(())
}

fn put_rates(it: &mut WrittenSection, directions: &Directions) -> Result<(), Diagnostic> {
    for own in directions.each() {
        // Only checks that fio can express the numbers; they are written below.
        for (key, rate) in [("rate", own.rate), ("rate_min", own.rate_min)] {
            it.rate(key, rate.map_or(1.0, |rate| rate.0))?;
        }
        it.time("latency_max", own.latency_max.unwrap_or_default())?;
    }
    let integer = |rate: Option<Rate>| rate.map(|rate| (rate.0 as u64).to_string());
    let bytes = |rate: Option<Bytes>| rate.map(size);
    it.put_some("rate_iops", directions.numbers(|own| integer(own.rate)));
    it.put_some("rate", directions.numbers(|own| bytes(own.byte_rate)));
    it.put_some(
        "rate_iops_min",
        directions.numbers(|own| integer(own.rate_min)),
    );
    it.put_some(
        "rate_min",
        directions.numbers(|own| bytes(own.byte_rate_min)),
    );
    let latency = |own: &DirectionTable| {
        let latency = own.latency_max?;
        Some(format!("{}us", latency.0 / 1000))
    };
    it.put_some("max_latency", directions.numbers(latency));
    Ok(())
}
