//! The request stream of a job.

use plan::Diagnostic;
use plan::job::{
    BlockRule, FileOrder as PlanFileOrder, JobFile, OffsetOrder, PaceRule, PerDirection, ReadBack,
    ReadWriteMix, RunDirection, SizeRule, StreamEnd, StreamPlan, SyncRule, ThinkRule, WeightedSize,
    ZoneRule,
};
use plan::{ArrivalKind, Distribution as PlanDistribution, Zone};

use super::super::jobs::FioJob;
use super::super::settings::{
    ByDirection, Direction, DirectionRates, FioSettings, JobBlockSizes, JobFileOrder, Sequencer,
    SizeAmount, ZoneMode,
};
use super::super::values::{RandomDistribution, ZoneShare};

/// The request stream of the job on these parts of files.
///
/// # Errors
/// Requests larger than 1 GiB.
pub(super) fn stream(
    job: &FioJob,
    parts: &[JobFile],
    is_to_the_letter: bool,
) -> Result<StreamPlan, Diagnostic> {
    let settings = &*job.settings;
    let access = &settings.access;
    let mix = mix_of(settings);
    let share = |percent: u32| match access.is_random {
        true => f64::from(percent),
        false => 0.0,
    };
    Ok(StreamPlan {
        mix,
        random_percent: access
            .random_percent
            .map(|it| share(*it))
            .planned(access.trims()),
        run_length: access.run_length.max(1),
        wrap: match access.sequencer {
            Sequencer::Sequential => RunDirection::Onward,
            Sequencer::Identical => RunDirection::Same,
        },
        step_bytes: access.step_bytes,
        blocks: blocks(job)?,
        visits: visits(settings, mix),
        file_order: match &settings.files.order {
            // With one open file, the next is opened after the previous one is finished.
            _ if settings.files.open_count == 1 => PlanFileOrder::Sequential,
            JobFileOrder::RoundRobin => PlanFileOrder::RoundRobin,
            JobFileOrder::Sequential => PlanFileOrder::Sequential,
            JobFileOrder::Drawn(law) => PlanFileOrder::Drawn {
                distribution: law_of(law, mix),
            },
        },
        requests_per_file: settings.files.requests_per_turn.max(1),
        zones: zones(settings),
        end: end(job, parts),
        sync: SyncRule {
            fsync_each: settings.durability.fsync,
            fdatasync_each: settings.durability.fdatasync,
            // fio syncs at the end only in jobs that write (`should_fsync`).
            fsync_at_end: mix.writes()
                && !settings.verify.skips_writes
                && (settings.durability.fsync_at_end || settings.durability.fsync_on_close),
            range: Some(settings.durability.ranges).filter(|it| it.write_count > 0),
        },
        think: think(settings),
        pace: pace(&settings.rates).planned(mix == ReadWriteMix::Trim),
        read_back: read_back(settings, mix),
        is_to_the_letter,
    })
}

fn mix_of(settings: &FioSettings) -> ReadWriteMix {
    match settings.access.direction {
        Direction::Write => ReadWriteMix::Write,
        Direction::Mixed => ReadWriteMix::Both {
            read_percent: settings.access.read_percent.into(),
        },
        Direction::Trim => ReadWriteMix::Trim,
        Direction::TrimAndWrite => ReadWriteMix::TrimAndWrite,
        // Work on whole files does not use the mix.
        _ => ReadWriteMix::Read,
    }
}

fn blocks(job: &FioJob) -> Result<PerDirection<BlockRule>, Diagnostic> {
    let settings = &job.settings;
    let sizes = settings.used_sizes();
    let sizes = match (settings.blocks.is_seq_rand, settings.access.is_random) {
        (false, _) => (sizes.read, sizes.write),
        (true, true) => (sizes.write.clone(), sizes.write),
        (true, false) => (sizes.read.clone(), sizes.read),
    };
    let rule = |sizes: &JobBlockSizes, align: Option<u64>| {
        let narrow = |bytes: u64| {
            let narrow = u32::try_from(bytes).ok().filter(|it| *it <= 1 << 30);
            narrow.ok_or_else(|| {
                let message = format!("its requests of {bytes} bytes exceed 1 GiB");
                job.position.error(message).help("use a smaller `bs`")
            })
        };
        let unit = match settings.blocks.is_unaligned {
            true => 1,
            false => sizes.min(),
        };
        Ok::<_, Diagnostic>(BlockRule {
            align_bytes: narrow(align.filter(|it| *it > 0).unwrap_or(sizes.min()))?,
            sizes: match sizes {
                JobBlockSizes::Fixed(bytes) => SizeRule::Fixed {
                    bytes: narrow(*bytes)?,
                },
                JobBlockSizes::Range(least, most) => SizeRule::Range {
                    min_bytes: narrow(*least)?,
                    max_bytes: narrow(*most)?,
                    unit_bytes: narrow(unit)?,
                },
                JobBlockSizes::Split(shares) => SizeRule::Split {
                    shares: shares
                        .iter()
                        // If the shares exceed 100 in total, the last ones may be cut to 0.
                        .filter(|it| it.percent > 0)
                        .map(|it| {
                            Ok(WeightedSize {
                                bytes: narrow(it.size)?,
                                percent: it.percent.into(),
                            })
                        })
                        .collect::<Result<_, Diagnostic>>()?,
                },
            },
        })
    };
    let align = settings.blocks.align.planned(settings.access.trims());
    Ok(PerDirection {
        read: rule(&sizes.0, align.read)?,
        write: rule(&sizes.1, align.write)?,
    })
}

fn visits(settings: &FioSettings, mix: ReadWriteMix) -> OffsetOrder {
    let order = &settings.order;
    match &order.distribution {
        // fio turns its map off for all other distributions, so `norandommap` matters only here.
        RandomDistribution::Uniform if order.is_with_replacement => OffsetOrder::Drawn {
            distribution: PlanDistribution::Uniform,
        },
        RandomDistribution::Uniform => OffsetOrder::Once,
        RandomDistribution::ZonedBytes(zones) => {
            let shares = |zones: &Vec<ZoneShare>| {
                let shares = zones.iter();
                let share = |it: &ZoneShare| (f64::from(it.requests_percent), it.size);
                shares.map(share).collect::<Vec<_>>()
            };
            OffsetOrder::DrawnZones {
                zones: zones.map(shares).planned(mix.trims()),
            }
        }
        RandomDistribution::Zoned(zones)
            if zones.read != zones.write && mix.reads() && mix.writes() =>
        {
            OffsetOrder::DrawnByDirection {
                distributions: PerDirection {
                    read: zone_distribution(&zones.read),
                    write: zone_distribution(&zones.write),
                },
            }
        }
        // As in fio, these distributions do not remember which blocks have been visited.
        law => OffsetOrder::Drawn {
            distribution: law_of(law, mix),
        },
    }
}

/// The distribution for reads if there are any, else for trims or writes.
fn law_of(law: &RandomDistribution, mix: ReadWriteMix) -> PlanDistribution {
    match law {
        // With an exponent of 0, all ranks are equally likely.
        RandomDistribution::Zipf(theta, _) if *theta > 0.0 => {
            PlanDistribution::Zipf { theta: *theta }
        }
        RandomDistribution::Pareto(h, _) => PlanDistribution::Pareto { h: *h },
        RandomDistribution::Normal(deviation, _) => PlanDistribution::Normal {
            deviation_percent: normal_deviation_percent(*deviation),
        },
        RandomDistribution::Zoned(zones) if mix.reads() => zone_distribution(&zones.read),
        RandomDistribution::Zoned(zones) if mix.trims() => zone_distribution(&zones.trim),
        RandomDistribution::Zoned(zones) => zone_distribution(&zones.write),
        _ => PlanDistribution::Uniform,
    }
}

fn zone_distribution(zones: &[ZoneShare]) -> PlanDistribution {
    if zones.is_empty() {
        return PlanDistribution::Uniform;
    }
    let zone = |it: &ZoneShare| Zone {
        access_percent: it.requests_percent.into(),
        size_percent: it.size as f64,
    };
    PlanDistribution::Zones {
        zones: zones.iter().map(zone).collect(),
    }
}

/// The standard deviation of fio's `normal`, in percent of the space.
///
/// Source: fio 3.42, `lib/gauss.c`. It adds the mean of 12 uniform draws over the space, with a
/// standard deviation of a twelfth of the space, and a uniform draw over the given width, at most
/// half of the space.
fn normal_deviation_percent(width_percent: f64) -> f64 {
    let width = width_percent.min(50.0);
    (100.0_f64.powi(2) / 144.0 + width.powi(2) / 12.0).sqrt()
}

fn zones(settings: &FioSettings) -> Option<ZoneRule> {
    let space = &settings.space;
    (space.zone_mode == ZoneMode::Strided && space.zone_size > 0).then(|| ZoneRule {
        used_bytes: space.zone_size,
        zone_bytes: match space.zone_range {
            0 => space.zone_size,
            range => range,
        },
        skip_bytes: space.zone_skip.bytes().unwrap_or(0),
    })
}

fn end(job: &FioJob, parts: &[JobFile]) -> StreamEnd {
    let settings = &job.settings;
    let all: u64 = parts.iter().map(|it| it.size_bytes).sum();
    // A zone or gap cut off by the end of the file ends the loop, unless `io_size` is given.
    let has_gaps = zones(settings).is_some() || settings.access.step_bytes != 0;
    let goes_on = has_gaps && settings.space.io_size.is_some();
    let is_timed = settings.time.is_time_based && settings.time.runtime_us > 0;
    // Nothing is issued before the end of the loop, so it must have one.
    let is_endless = is_timed && !settings.verify.skips_writes;
    let bytes = job.bytes_to_move().unwrap_or_else(|| {
        // Files of random sizes may be larger than `size` in total.
        let used = match settings.space.size {
            Some(SizeAmount::Bytes(size)) => size.min(all),
            _ => all,
        };
        job.share().map_or(used, |it| it.moved_bytes(used))
    });
    let mut loops = u64::from(settings.time.loops.max(1));
    if let Some(passes) = passes(job, bytes, loops).filter(|_| !is_endless) {
        return passes;
    }
    let mut bytes = whole_passes(job, parts, bytes);
    let mut requests = settings.space.request_count;
    let largest = largest_block(settings);
    let is_short = bytes < all || (requests > 0 && requests.saturating_mul(largest) < all);
    let is_repeated = loops > 1 && !is_endless;
    if is_repeated && is_short && read_back(settings, mix_of(settings)).is_none() {
        // If a loop ends before the end of the files, the next one continues from there.
        bytes = bytes.saturating_mul(loops);
        requests = requests.saturating_mul(loops);
        loops = 1;
    }
    StreamEnd {
        bytes,
        starts_over: bytes > all || is_endless || goes_on,
        requests: Some(requests).filter(|it| *it > 0),
        loops: match is_endless {
            true => None,
            false => Some(loops),
        },
    }
}

/// Bytes of a job whose `io_size` needs more than one pass over its files. fio starts another pass
/// only if the remainder holds a block of the largest size.
fn whole_passes(job: &FioJob, parts: &[JobFile], io_bytes: u64) -> u64 {
    let settings = &job.settings;
    let block = largest_block(settings).max(1);
    let sizes = settings.used_sizes();
    // With several block sizes, the number of bytes in a pass is not known in advance.
    let is_fixed = sizes.read.min().min(sizes.write.min()) == block;
    let pass: u64 = parts.iter().map(|it| it.size_bytes / block * block).sum();
    if !is_fixed || pass == 0 || io_bytes <= pass || !ends_with_files(settings, false) {
        return io_bytes;
    }
    match io_bytes % pass {
        rest if rest < block => io_bytes - rest,
        _ => io_bytes,
    }
}

/// The end of a job whose `io_size` exceeds its size, if fio ends each pass with the last block of
/// the files: at least `loops` passes, and more until `io_size` is reached.
fn passes(job: &FioJob, io_bytes: u64, loops: u64) -> Option<StreamEnd> {
    let settings = &job.settings;
    let size = job
        .bytes_of_all()
        .filter(|size| *size > 0 && io_bytes > *size)?;
    let is_verified = read_back(settings, mix_of(settings)).is_some();
    let is_alone = loops == 1 && !is_verified;
    if is_alone || settings.space.request_count > 0 || !ends_with_files(settings, is_verified) {
        return None;
    }
    let read_again = match settings.access.direction {
        _ if !is_verified => 0,
        // Only the part that was written is read back.
        Direction::Mixed => size * u64::from(100 - settings.access.read_percent.min(100)) / 100,
        _ => size,
    };
    let largest = largest_block(settings);
    // A remainder smaller than the largest request does not start another pass.
    let needed = io_bytes.saturating_sub(largest.saturating_sub(1)).max(1);
    Some(StreamEnd {
        bytes: size,
        starts_over: false,
        requests: None,
        loops: Some(loops.max(needed.div_ceil(size.saturating_add(read_again)))),
    })
}

/// The largest request of either direction, in bytes.
fn largest_block(settings: &FioSettings) -> u64 {
    let sizes = settings.used_sizes();
    sizes.read.max().max(sizes.write.max())
}

/// `true` if fio's pass ends when every block has been visited, whatever `io_size` is.
fn ends_with_files(settings: &FioSettings, is_verified: bool) -> bool {
    let (access, order) = (&settings.access, &settings.order);
    // The cases below follow the counts of fio 3.42.
    let has_map = !order.is_with_replacement && order.distribution == RandomDistribution::Uniform;
    let is_mixed = access.direction == Direction::Mixed;
    match (access.is_random, !settings.engine.engine.waits()) {
        (true, true) => has_map || !access.writes(),
        (true, false) => has_map,
        (false, _) if is_mixed => is_verified,
        (false, true) => true,
        (false, false) => access.step_bytes == 0 && settings.space.zone_mode == ZoneMode::None,
    }
}

fn think(settings: &FioSettings) -> Option<ThinkRule> {
    let pauses = &settings.pauses;
    (pauses.pause_us > 0).then(|| ThinkRule {
        pause_ns: pauses.pause_us.saturating_mul(1000),
        requests: pauses.request_count.max(1),
        time_ns: pauses.io_time_us.saturating_mul(1000),
        counts_issued: pauses.counts_submitted,
    })
}

fn pace(rates: &DirectionRates) -> ByDirection<Option<PaceRule>> {
    let rule = |iops: u64, bytes: u64| {
        let (per_second, is_of_bytes) = match (iops, bytes) {
            (0, 0) => return None,
            (0, bytes) => (bytes, true),
            (iops, _) => (iops, false),
        };
        Some(PaceRule {
            per_second: per_second as f64,
            is_of_bytes,
            arrivals: match rates.is_poisson {
                true => ArrivalKind::Poisson,
                false => ArrivalKind::Uniform,
            },
            ignores_pauses: rates.ignores_pauses,
        })
    };
    let (iops, bytes) = (&rates.iops, &rates.bytes_per_second);
    ByDirection {
        read: rule(iops.read, bytes.read),
        write: rule(iops.write, bytes.write),
        trim: rule(iops.trim, bytes.trim),
    }
}

fn read_back(settings: &FioSettings, mix: ReadWriteMix) -> Option<ReadBack> {
    let verify = &settings.verify;
    let is_enabled = verify.kind().is_some() && verify.reads_back && mix.writes();
    is_enabled.then(|| ReadBack {
        backlog: verify.backlog,
        batch: verify.backlog_batch.into(),
        skips_writes: verify.skips_writes,
    })
}
