//! Merges the intervals of several processes, which all cut at the same times.

use std::collections::BTreeMap;

use super::{RankCell, have_same_devices, total};
use crate::interval::{IntervalFigures, IntervalRecord, PartFigures};

/// The merged intervals. Each interval is added to the merged interval that contains its middle.
pub(super) fn merged(parts: &[RankCell]) -> Vec<IntervalRecord> {
    let all = || parts.iter().flat_map(|part| &part.record.intervals);
    // The median, because the last interval may be cut short and late ones are longer.
    let length_ns = parts.iter().filter_map(|part| {
        let mut lengths: Vec<u64> = part
            .record
            .intervals
            .iter()
            .map(|it| it.length_ns)
            .collect();
        lengths.sort_unstable();
        lengths.get(lengths.len() / 2).copied()
    });
    // The length divides below, so it must not be 0.
    let length_ns = length_ns.max().unwrap_or(1).max(1);
    let share_devices = have_same_devices(parts);
    let mut by_index: BTreeMap<u64, IntervalRecord> = BTreeMap::new();
    for interval in all() {
        let index = interval_index(interval, length_ns);
        match by_index.get_mut(&index) {
            Some(known) => add(known, interval),
            None => {
                // `add_worker_results` adds the workers again, at their places among all processes.
                let parts_apart = IntervalRecord {
                    workers: Vec::new(),
                    targets: Vec::new(),
                    device: interval.device.filter(|_| share_devices),
                    ..interval.clone()
                };
                by_index.insert(index, parts_apart);
            }
        }
    }
    // A single process keeps its own percentiles, which are more exact than percentiles from the
    // coarse counts.
    if parts.len() > 1 {
        by_index.values_mut().for_each(set_percentiles);
    }
    add_worker_results(parts, &mut by_index, length_ns);
    by_index.into_values().collect()
}

/// Index of the interval that contains its middle, if all have length `length_ns`.
const fn interval_index(interval: &IntervalRecord, length_ns: u64) -> u64 {
    interval.at_ns.saturating_add(interval.length_ns / 2) / length_ns
}

/// One interval, merged from the reports of several processes that cut at the same times.
#[derive(Debug, Clone)]
pub struct MergedInterval {
    sum: IntervalRecord,
    is_sum: bool,
}

impl MergedInterval {
    /// Starts with the report of the first process.
    #[must_use]
    pub const fn of(sum: IntervalRecord) -> Self {
        let is_sum = false;
        Self { sum, is_sum }
    }

    /// Adds the report of another process.
    pub fn add(&mut self, other: &IntervalRecord) {
        add(&mut self.sum, other);
        self.is_sum = true;
    }

    /// The merged interval; the first report unchanged if there is no other.
    #[must_use]
    pub fn together(mut self) -> IntervalRecord {
        if self.is_sum {
            // The lists of several processes cannot be matched here.
            (self.sum.workers, self.sum.targets) = (Vec::new(), Vec::new());
            set_percentiles(&mut self.sum);
        }
        self.sum
    }
}

/// Adds the results of the same interval from another process.
fn add(sum: &mut IntervalRecord, other: &IntervalRecord) {
    let end_of = |it: &IntervalRecord| it.at_ns.saturating_add(it.length_ns);
    let end_ns = end_of(sum).max(end_of(other));
    sum.at_ns = sum.at_ns.min(other.at_ns);
    sum.length_ns = end_ns - sum.at_ns;
    // A sum without the unknown part would look like less waiting.
    let both = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
    sum.waited_ns = both(sum.waited_ns, other.waited_ns);
    sum.ran_ns = both(sum.ran_ns, other.ran_ns);
    // Pressure is the value of a machine: processes on one host report the same one.
    sum.pressure_ns = sum.pressure_ns.max(other.pressure_ns);
    for (name, figures) in &other.operations {
        let total = sum.operations.entry(name.clone()).or_default();
        total.count = total.count.saturating_add(figures.count);
        total.bytes = total.bytes.saturating_add(figures.bytes);
        total.errors = total.errors.saturating_add(figures.errors);
        total.max_ns = total.max_ns.max(figures.max_ns);
    }
    for (name, counts) in &other.latencies {
        sum.latencies.entry(name.clone()).or_default().merge(counts);
    }
}

fn set_percentiles(interval: &mut IntervalRecord) {
    for (name, figures) in &mut interval.operations {
        let counts = interval.latencies.get(name);
        let at = |percent| counts.and_then(|counts| counts.percentile(percent));
        (figures.p50_ns, figures.p99_ns) = (at(50.0), at(99.0));
    }
}

/// Adds the results of each worker, if there are few enough workers.
fn add_worker_results(
    parts: &[RankCell],
    by_index: &mut BTreeMap<u64, IntervalRecord>,
    length_ns: u64,
) {
    let workers = parts.iter().map(|part| part.record.workers as usize);
    let count: usize = workers.sum();
    if !IntervalRecord::lists_separately(count) {
        return;
    }
    let mut indexes: Vec<u32> = parts.iter().flat_map(worker_indexes).collect();
    indexes.sort_unstable();
    // Another process may send more or fewer results than it has workers.
    let are_known = indexes.len() == count;
    let mut first = 0;
    for part in parts {
        let own = part.record.workers as usize;
        // In the order of the workers' results; one process after another if indexes overlap.
        let place_of = |index| indexes.binary_search(&index).ok();
        let mut part_indexes: Vec<usize> = worker_indexes(part).filter_map(place_of).collect();
        if !are_known || part_indexes.len() != own {
            part_indexes = (first..first + own).collect();
        }
        for interval in &part.record.intervals {
            let Some(sum) = by_index.get_mut(&interval_index(interval, length_ns)) else {
                continue;
            };
            sum.workers.resize(count, PartFigures::default());
            let figures: Vec<PartFigures> = match interval.workers.len() {
                // With several processes, each one reports all workers of the cell.
                all if all == count => part_indexes
                    .iter()
                    .map(|it| interval.workers[*it])
                    .collect(),
                all if all == own => interval.workers.clone(),
                // A process with one worker lists none, so all of its operations are that worker's.
                _ => vec![sum_of_operations(&interval.operations)],
            };
            for (index, worker) in part_indexes.iter().zip(&figures) {
                sum.workers[*index].merge(worker);
            }
        }
        first += own;
    }
}

/// Indexes of the cell's workers that ran in a process.
fn worker_indexes(part: &RankCell) -> impl Iterator<Item = u32> {
    part.record.worker_figures.iter().map(|it| it.worker_index)
}

fn sum_of_operations(operations: &BTreeMap<String, IntervalFigures>) -> PartFigures {
    let mut all = PartFigures::default();
    for figures in operations.values() {
        all.merge(&PartFigures {
            count: figures.count,
            bytes: figures.bytes,
            errors: figures.errors,
            max_ns: figures.max_ns.unwrap_or(0),
        });
    }
    all
}

/// Rate in operations per second until `end_ns`, of `total_count` headline operations; `None`
/// without intervals. Intervals count every operation and no transactions. This assumes that the
/// headline's operations have the same distribution over time.
pub(super) fn rate_until(
    intervals: &[IntervalRecord],
    total_count: u64,
    end_ns: u64,
) -> Option<f64> {
    let (mut until, mut all) = (0.0, 0.0);
    for interval in intervals {
        let counts = interval.operations.values().map(|it| it.count);
        let count = total(counts) as f64;
        let within_ns = end_ns
            .saturating_sub(interval.at_ns)
            .min(interval.length_ns);
        until += count * within_ns as f64 / interval.length_ns.max(1) as f64;
        all += count;
    }
    let is_known = end_ns > 0 && all > 0.0;
    is_known.then(|| total_count as f64 * until / all * 1e9 / end_ns as f64)
}
