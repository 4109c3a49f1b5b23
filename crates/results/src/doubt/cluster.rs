//! Warnings about the common results of several processes.

use std::collections::BTreeSet;

use units::format;

use crate::{
    CellCluster, CellRecord, ClusterRecord, Environment, RankFigures, Warning, WarningCode,
};

/// Maximum clock error as a share of an interval, and maximum spread of the starts as a share of
/// the measured time.
const SKEW_SHARE_MAX: f64 = 0.01;
/// Below this share of the median rate, a process is slow.
const SLOW_SHARE: f64 = 0.8;
/// Firmware and kernel reserve different amounts of memory on identical machines, but not more than
/// this.
const MEMORY_RATIO_MAX: f64 = 1.02;
/// Maximum number of names or values in a message.
const LISTED_MAX: usize = 4;

/// All warnings about the common results of several processes in a cell.
#[must_use]
pub fn doubt_cluster(cell: &CellRecord) -> Vec<Warning> {
    let Some(cluster) = &cell.cluster else {
        return Vec::new();
    };
    let findings = [
        (WarningCode::ClockOffset, clocks(cell, cluster)),
        (WarningCode::StartSpread, start(cell, cluster)),
        (WarningCode::RankImbalance, imbalance(cluster)),
    ];
    let found = findings.into_iter().filter_map(|(code, message)| {
        let message = message?;
        Some(Warning::of_cell(code, cell.index, message))
    });
    found.collect()
}

fn clocks(cell: &CellRecord, cluster: &CellCluster) -> Option<String> {
    let lengths = cell.intervals.iter().map(|it| it.length_ns);
    // The longest, because the last interval may be cut short.
    let interval_ns = lengths.max().filter(|it| *it > 0)?;
    let is_far = cluster.offset_bound_ns as f64 > interval_ns as f64 * SKEW_SHARE_MAX;
    is_far.then(|| {
        let bound_ms = cluster.offset_bound_ns as f64 / 1e6;
        format!(
            "the clocks of the hosts are known within {bound_ms:.3} ms only: more than 1 % of an \
             interval"
        )
    })
}

fn start(cell: &CellRecord, cluster: &CellCluster) -> Option<String> {
    let is_wide = cluster.start_spread_ns as f64 > cell.run_time_ns as f64 * SKEW_SHARE_MAX;
    is_wide.then(|| {
        let spread_ms = cluster.start_spread_ns as f64 / 1e6;
        format!("the processes began within {spread_ms:.1} ms: more than 1 % of the measured time")
    })
}

/// With two processes, it is not known which one is unusual, so at least three are needed.
fn imbalance(cluster: &CellCluster) -> Option<String> {
    let median = cluster.median_per_second()?;
    let is_slow = |it: &&RankFigures| it.lost_ns.is_none() && it.per_second < SLOW_SHARE * median;
    let mut slow: Vec<&RankFigures> = cluster.ranks.iter().filter(is_slow).collect();
    // The slowest first, because a message names only a few.
    slow.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
    let is_reported = cluster.ranks.len() > 2 && !slow.is_empty();
    is_reported.then(|| {
        let names = slow.iter().map(|it| format!("{} on {}", it.rank, it.host));
        format!(
            "{} of {} processes reached less than 80 % of the median rate: {}",
            slow.len(),
            cluster.ranks.len(),
            few(names, ", ")
        )
    })
}

/// Warning about hosts that differ in kernel, CPU model or memory.
#[must_use]
pub fn host_difference_warning(cluster: &ClusterRecord) -> Option<Warning> {
    let of = |property: fn(&Environment) -> String| {
        let values = cluster.hosts.iter().map(|host| property(&host.environment));
        let distinct: BTreeSet<String> = values.collect();
        (distinct.len() > 1).then(|| few(distinct.into_iter(), " and "))
    };
    let differing = [
        of(|it| it.kernel.clone()),
        of(|it| it.cpu.model.clone()),
        memory(cluster),
    ];
    let differing: Vec<String> = differing.into_iter().flatten().collect();
    (!differing.is_empty()).then(|| {
        let message = format!("the hosts are not alike: {}", differing.join("; "));
        Warning::of_run(WarningCode::UnequalHosts, message)
    })
}

fn memory(cluster: &ClusterRecord) -> Option<String> {
    let sizes = cluster
        .hosts
        .iter()
        .map(|host| host.environment.memory_bytes);
    let (least, most) = (sizes.clone().min()?, sizes.max()?);
    let is_more = most as f64 > least as f64 * MEMORY_RATIO_MAX;
    is_more.then(|| {
        let [least, most] = [least, most].map(format::size);
        format!("{least} to {most} of memory")
    })
}

/// The first values, followed by the number of further ones.
fn few(texts: impl ExactSizeIterator<Item = String>, between: &str) -> String {
    let more = texts.len().saturating_sub(LISTED_MAX);
    let mut listed: Vec<String> = texts.take(LISTED_MAX).collect();
    if more > 0 {
        listed.push(format!("{more} more"));
    }
    listed.join(between)
}
