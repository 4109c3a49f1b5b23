//! A metric over the intervals of one run.

use results::{
    CellRecord, EvenRates, IntervalFigures, IntervalRecord, percentile_is_supported, uncertain_rate,
};
use stats::UncertainMean;

use crate::figure::{Figure, Scope};

/// Operations that move bytes. If there are any, only they count for the total.
const DATA_OPERATIONS: [&str; 3] = ["read", "read_whole", "write"];
/// The last interval counts only if it has at least this share of the longest one.
const LAST_SHARE_MIN: f64 = 0.5;

/// Returns the mean of a metric over the intervals, with its uncertainty; `None` if the intervals
/// cannot show it.
pub(crate) fn uncertain_mean(
    cell: &CellRecord,
    scope: &Scope,
    figure: Figure,
) -> Option<UncertainMean> {
    let names = names(cell, scope)?;
    let rate = |amount: fn(&IntervalFigures) -> u64| {
        let counts = names.iter().filter_map(|name| cell.operation(name));
        let count = counts.map(|figures| figures.count).sum();
        uncertain_rate(cell, &EvenRates::of(&cell.intervals, &names, amount), count)
    };
    match figure {
        Figure::PerSecond => rate(|figures| figures.count),
        Figure::BytesPerSecond => rate(|figures| figures.bytes),
        // Intervals record neither sums of latencies nor transactions.
        Figure::LatencyMean | Figure::TransactionsPerSecond => None,
        Figure::LatencyP99 => {
            let intervals = full_intervals(&cell.intervals);
            // All or none: intervals with too few operations are the slowest, and skipping them
            // would flatter the run.
            let p99: Option<Vec<f64>> = intervals.map(|it| percentile(it, &names)).collect();
            UncertainMean::of_series(&p99?)
        }
    }
}

/// Returns the operations of a scope; `None` for transactions, which intervals do not record.
fn names<'a>(cell: &'a CellRecord, scope: &'a Scope) -> Option<Vec<&'a str>> {
    match scope {
        Scope::Transaction(_) => None,
        Scope::Operation(name) => Some(vec![name]),
        Scope::Total => {
            let all: Vec<&str> = cell.operations.keys().map(String::as_str).collect();
            let moving: Vec<&str> = all
                .iter()
                .copied()
                .filter(|name| DATA_OPERATIONS.contains(name))
                .collect();
            // The same choice as for the cell's total, to which this series belongs.
            Some(if moving.is_empty() { all } else { moving })
        }
    }
}

/// Returns the intervals without a short last one.
fn full_intervals(intervals: &[IntervalRecord]) -> impl Iterator<Item = &IntervalRecord> {
    let longest_ns = intervals.iter().map(|interval| interval.length_ns).max();
    // The last interval ends with the measurement, so it may contain only a few operations.
    let at_least_ns = longest_ns.unwrap_or_default() as f64 * LAST_SHARE_MIN;
    intervals
        .iter()
        .filter(move |interval| interval.length_ns > 0 && interval.length_ns as f64 >= at_least_ns)
}

/// Returns the percentile of an interval with enough operations. Percentiles of several operations
/// cannot be combined.
fn percentile(interval: &IntervalRecord, names: &[&str]) -> Option<f64> {
    let [name] = names else { return None };
    let figures = interval.operations.get(*name)?;
    let p99_ns = figures.p99_ns?;
    percentile_is_supported(figures.count, 99.0).then_some(p99_ns as f64)
}
