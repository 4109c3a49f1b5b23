//! Merges the records that several processes made of a cell, as if all workers had run in one
//! process.

mod intervals;
mod lost;
mod phases;

pub use intervals::MergedInterval;

use std::collections::BTreeMap;

use stats::Histogram;

use crate::parts::{CpuFigures, DeviceFigures, TargetFigures};
use crate::{
    CellCluster, CellRecord, ClockOffset, ErrnoCount, Latency, OpenLoopFigures, OperationFigures,
    Operations, RankFigures, RoundRecord, Status, SteadyRecord, TransactionFigures, per_second,
};

/// One process's results of a cell.
#[derive(Debug, Clone)]
pub struct RankCell {
    /// Rank of the process, 0-based.
    pub rank: u32,
    /// Host that it ran on.
    pub host: String,
    /// Its record, with only its own workers.
    pub record: CellRecord,
    /// Start of its first worker, in nanoseconds of the leader's clock after the agreed start.
    pub begin_ns: i64,
    /// Clock of the process.
    pub clock: ClockOffset,
}

/// The results of all processes together; `None` if there is no process.
///
/// Counters and histograms are added bucket by bucket, so percentiles are exact over all samples.
/// Intervals and steps have coarser counts: percentiles of intervals are up to 10 % off, and
/// percentiles of steps are dropped if there are several processes.
#[must_use]
pub fn merged(parts: &[RankCell]) -> Option<CellRecord> {
    let mut record = parts.first()?.record.clone();
    let records = || parts.iter().map(|part| &part.record);
    record.ranks = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    record.workers = total_u32(records().map(|it| it.workers));
    record.status = worst(records().map(|it| it.status));
    record.started_at = records().filter_map(|it| it.started_at).min();
    record.run_time_ns = run_time_ns(parts);
    let time_ns = record.run_time_ns;
    record.operations = operations(records().map(|it| &it.operations), time_ns);
    record.transactions = transactions(records().map(|it| &it.transactions), time_ns);
    record.total = operation(records().map(|it| &it.total), time_ns);
    record.open_loop = open_loop(records().filter_map(|it| it.open_loop.as_ref()));
    record.steady = steady(records().filter_map(|it| it.steady.as_ref()));
    record.errors = errors(records().flat_map(|it| &it.errors));
    record.standstills = records().flat_map(|it| it.standstills.clone()).collect();
    record.first_done_ns = records().filter_map(|it| it.first_done_ns).min();
    record.last_done_ns = records().filter_map(|it| it.last_done_ns).max();
    record.cpu = cpu(parts);
    record.device = device(parts);
    // Costs are per operation, so they are averaged, not added.
    record.own_cost_ns_per_operation = mean(records().map(|it| it.own_cost_ns_per_operation));
    record.user_cost_ns_per_operation = mean(records().map(|it| it.user_cost_ns_per_operation));
    record.intervals = intervals::merged(parts);
    record.worker_figures = records().flat_map(|it| it.worker_figures.clone()).collect();
    // The intervals list their workers in this order, too.
    record.worker_figures.sort_by_key(|it| it.worker_index);
    record.target_figures = targets(records().flat_map(|it| &it.target_figures), time_ns);
    record.phase_figures = phases::merged(records().map(|it| it.phase_figures.as_ref()));
    // The values of one process do not hold for all; they are calculated from the merged intervals.
    record.within = None;
    record.cluster = Some(Box::new(cluster(parts, &record)));
    Some(record)
}

/// One process's failure or interruption applies to the whole cell.
fn worst(of: impl Iterator<Item = Status>) -> Status {
    let badness = |status: &Status| match status {
        Status::Complete => 0,
        Status::Interrupted => 1,
        Status::Failed => 2,
    };
    of.max_by_key(badness).unwrap_or(Status::Complete)
}

/// If the cell ends by time, all processes measure for that time plus or minus a request. Their
/// mean keeps the sum of all rates. Other work lasts until the last process is done.
fn run_time_ns(parts: &[RankCell]) -> u64 {
    let times = parts.iter().map(|part| part.record.run_time_ns);
    let is_timed = parts[0].record.planned_run_time_ns > 0;
    if !is_timed {
        return times.max().unwrap_or(0);
    }
    // By workers, because the measured time of a process is the mean over its own.
    let weighed = parts.iter().map(|part| {
        let workers = u128::from(part.record.workers.max(1));
        (u128::from(part.record.run_time_ns) * workers, workers)
    });
    let (sum, workers) = weighed.fold((0, 0), |all, it| (all.0 + it.0, all.1 + it.1));
    u64::try_from(sum / workers.max(1)).unwrap_or(u64::MAX)
}

/// Saturates, because counts from other processes may be too large to add.
fn total(of: impl Iterator<Item = u64>) -> u64 {
    of.fold(0, u64::saturating_add)
}

fn total_u32(of: impl Iterator<Item = u32>) -> u32 {
    of.fold(0, u32::saturating_add)
}

fn latency<'a>(of: impl Iterator<Item = &'a Latency>) -> Latency {
    let mut all = Histogram::new();
    of.for_each(|latency| all.merge(&latency.histogram()));
    Latency::of(&all)
}

fn operation<'a>(
    of: impl Iterator<Item = &'a OperationFigures> + Clone,
    time_ns: u64,
) -> OperationFigures {
    let sum = |value: fn(&OperationFigures) -> u64| total(of.clone().map(value));
    let (count, bytes) = (sum(|it| it.count), sum(|it| it.bytes));
    OperationFigures {
        count,
        errors: sum(|it| it.errors),
        bytes,
        short_count: sum(|it| it.short_count),
        per_second: per_second(count, time_ns),
        bytes_per_second: per_second(bytes, time_ns),
        latency: latency(of.map(|it| &it.latency)),
    }
}

fn operations<'a>(of: impl Iterator<Item = &'a Operations>, time_ns: u64) -> Operations {
    let mut by_name: BTreeMap<&str, Vec<&OperationFigures>> = BTreeMap::new();
    for (name, figures) in of.flatten() {
        by_name.entry(name).or_default().push(figures);
    }
    let merged = by_name.into_iter().map(|(name, figures)| {
        let all = operation(figures.iter().copied(), time_ns);
        (name.to_owned(), all)
    });
    merged.collect()
}

fn transactions<'a>(
    of: impl Iterator<Item = &'a BTreeMap<String, TransactionFigures>>,
    time_ns: u64,
) -> BTreeMap<String, TransactionFigures> {
    let mut by_name: BTreeMap<&str, Vec<&TransactionFigures>> = BTreeMap::new();
    for (name, figures) in of.flatten() {
        by_name.entry(name).or_default().push(figures);
    }
    let merged = by_name.into_iter().map(|(name, figures)| {
        let count = total(figures.iter().map(|it| it.count));
        let all = TransactionFigures {
            count,
            errors: total(figures.iter().map(|it| it.errors)),
            per_second: per_second(count, time_ns),
            latency: latency(figures.iter().map(|it| &it.latency)),
        };
        (name.to_owned(), all)
    });
    merged.collect()
}

fn open_loop<'a>(of: impl Iterator<Item = &'a OpenLoopFigures> + Clone) -> Option<OpenLoopFigures> {
    let sum = |value: fn(&OpenLoopFigures) -> u64| total(of.clone().map(value));
    let most = |value: fn(&OpenLoopFigures) -> u64| of.clone().map(value).max().unwrap_or(0);
    let first = of.clone().next()?.clone();
    Some(OpenLoopFigures {
        achieved_per_second: of.clone().map(|it| it.achieved_per_second).sum(),
        response: latency(of.clone().map(|it| &it.response)),
        errors: sum(|it| it.errors),
        censored_count: sum(|it| it.censored_count),
        censored_min_ns: of.clone().filter_map(|it| it.censored_min_ns).min(),
        // All processes drain at the same time.
        drain_ns: most(|it| it.drain_ns),
        late_count: sum(|it| it.late_count),
        lateness_max_ns: most(|it| it.lateness_max_ns),
        lateness: first
            .lateness
            .is_some()
            .then(|| latency(of.clone().filter_map(|it| it.lateness.as_ref()))),
        backlog_end: sum(|it| it.backlog_end),
        // The requested rate is that of all processes together and is the same in each.
        ..first
    })
}

/// All processes judged the rounds of all together. Their results add up except for percentiles.
fn steady<'a>(of: impl Iterator<Item = &'a SteadyRecord>) -> Option<SteadyRecord> {
    let all: Vec<&SteadyRecord> = of.collect();
    let (first, others) = all.split_first()?;
    let mut sum = (*first).clone();
    for (index, round) in sum.rounds.iter_mut().enumerate() {
        for other in others.iter().filter_map(|it| it.rounds.get(index)) {
            let weighed = |it: &RoundRecord| Some(it.latency_mean_ns? * it.count as f64);
            let latencies_ns = weighed(round).unwrap_or(0.0) + weighed(other).unwrap_or(0.0);
            round.count = round.count.saturating_add(other.count);
            round.errors = round.errors.saturating_add(other.errors);
            round.per_second += other.per_second;
            round.bytes_per_second += other.bytes_per_second;
            let mean_ns = latencies_ns / round.count as f64;
            round.latency_mean_ns = (round.count > 0).then_some(mean_ns);
            // Percentiles of several processes cannot be combined without their distributions.
            round.latency_p99_ns = None;
        }
    }
    Some(sum)
}

fn errors<'a>(of: impl Iterator<Item = &'a ErrnoCount>) -> Vec<ErrnoCount> {
    let mut all: Vec<ErrnoCount> = Vec::new();
    for found in of {
        let same = |it: &&mut ErrnoCount| {
            (&it.operation, it.errno, &it.message)
                == (&found.operation, found.errno, &found.message)
        };
        match all.iter_mut().find(same) {
            Some(known) => known.count = known.count.saturating_add(found.count),
            None => all.push(found.clone()),
        }
    }
    all
}

/// CPU time adds up. Values of a whole machine are kept only if there is a single host.
fn cpu(parts: &[RankCell]) -> CpuFigures {
    let figures = || parts.iter().map(|part| &part.record.cpu);
    let first = &parts[0].record.cpu;
    let is_one_host = parts.iter().all(|part| part.host == parts[0].host);
    let most = |it: fn(&CpuFigures) -> Option<f64>| figures().filter_map(it).reduce(f64::max);
    let threads = total_u32(figures().map(|it| it.threads));
    // By threads, because the share is one of the time of all threads.
    let waiting = figures().map(|it| Some(it.waiting? * f64::from(it.threads)));
    CpuFigures {
        user_ns: total(figures().map(|it| it.user_ns)),
        system_ns: total(figures().map(|it| it.system_ns)),
        utilization: figures().map(|it| it.utilization).sum(),
        threads,
        // One process without the counter makes the sum unknown.
        waited_ns: figures().try_fold(0_u64, |sum, it| Some(sum.saturating_add(it.waited_ns?))),
        waiting: waiting
            .sum::<Option<f64>>()
            .map(|it| it / f64::from(threads.max(1))),
        pressure: most(|it| it.pressure),
        throttled: most(|it| it.throttled),
        usable: match is_one_host {
            true => first.usable.clone(),
            false => Vec::new(),
        },
        machine: first.machine.filter(|_| is_one_host),
        processors: match is_one_host {
            true => first.processors.clone(),
            false => Vec::new(),
        },
    }
}

/// `true` if all processes read the same counters: on one host, of the same devices. Other counters
/// cannot be added.
fn have_same_devices(parts: &[RankCell]) -> bool {
    let devices = || parts.iter().filter_map(|part| part.record.device.as_ref());
    let first = devices().next().map(|it| &it.source);
    let is_one_host = parts.iter().all(|part| part.host == parts[0].host);
    is_one_host && devices().all(|it| Some(&it.source) == first)
}

/// The I/O of the devices, if all processes read the same counters. Each process also counts its
/// own bytes, which add up.
fn device(parts: &[RankCell]) -> Option<DeviceFigures> {
    let devices = parts.iter().map(|part| part.record.device.as_ref());
    let first = devices.clone().flatten().next();
    let first = first.filter(|_| have_same_devices(parts))?;
    // A sum without the unknown part would look like I/O of other programs.
    let sum = |own: fn(&DeviceFigures) -> Option<u64>| {
        let mut all = devices.clone();
        all.try_fold(0_u64, |sum, it| Some(sum.saturating_add(own(it?)?)))
    };
    Some(DeviceFigures {
        own_read_bytes: sum(|it| it.own_read_bytes),
        own_write_bytes: sum(|it| it.own_write_bytes),
        ..first.clone()
    })
}

fn mean(of: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = of.flatten().collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn targets<'a>(of: impl Iterator<Item = &'a TargetFigures>, time_ns: u64) -> Vec<TargetFigures> {
    let mut by_index: BTreeMap<u32, Vec<&TargetFigures>> = BTreeMap::new();
    for figures in of {
        by_index
            .entry(figures.target_index)
            .or_default()
            .push(figures);
    }
    let merged = by_index.into_values().map(|all| {
        let latencies = all.iter().filter_map(|it| it.connection_latency.as_ref());
        let connections = latency(latencies);
        TargetFigures {
            transactions: total(all.iter().map(|it| it.transactions)),
            connections: total(all.iter().map(|it| it.connections)),
            connection_latency: Some(connections).filter(|it| it.count > 0),
            operations: operations(all.iter().map(|it| &it.operations), time_ns),
            ..all[0].clone()
        }
    });
    merged.collect()
}

fn cluster(parts: &[RankCell], record: &CellRecord) -> CellCluster {
    let begins = || parts.iter().map(|part| part.begin_ns);
    let spread_ns = begins()
        .max()
        .unwrap_or(0)
        .abs_diff(begins().min().unwrap_or(0));
    let done_ns = |part: &RankCell| part.record.last_done_ns.unwrap_or(part.record.run_time_ns);
    let dones = || parts.iter().map(done_ns);
    let (first_ns, last_ns) = (dones().min().unwrap_or(0), dones().max().unwrap_or(0));
    let idle_ns: u128 = dones().map(|it| u128::from(last_ns - it)).sum();
    let all_ns = u128::from(last_ns) * parts.len() as u128;
    let drifts = parts.iter().filter_map(|part| part.clock.drift_ppb);
    let ranks = parts.iter().map(|part| {
        let total = &part.record.total;
        RankFigures {
            rank: part.rank,
            host: part.host.clone(),
            count: total.count,
            errors: total.errors,
            bytes: total.bytes,
            per_second: total.per_second,
            p50_ns: total.latency.percentiles_ns.p50,
            p99_ns: total.latency.percentiles_ns.p99,
            begin_ns: part.begin_ns,
            done_ns: done_ns(part),
            clock: part.clock,
            lost_ns: None,
        }
    });
    CellCluster {
        start_spread_ns: spread_ns,
        offset_bound_ns: parts.iter().map(|it| it.clock.bound_ns).max().unwrap_or(0),
        // Drift in either direction separates the clocks.
        drift_ppb: drifts.map(f64::abs).reduce(f64::max),
        tail_ns: last_ns - first_ns,
        tail_share: idle_ns as f64 / all_ns.max(1) as f64,
        first_done_per_second: intervals::rate_until(
            &record.intervals,
            record.total.count,
            first_ns,
        ),
        last_done_per_second: (last_ns > 0).then(|| per_second(record.total.count, last_ns)),
        ranks: ranks.collect(),
    }
}

#[cfg(test)]
mod tests;
