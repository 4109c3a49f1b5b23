//! The record of a cell whose run was killed, from its intervals.

use plan::{Cell, Plan};
use stats::Interval;

use crate::names::DATA_OPERATIONS;
use crate::{
    CellRecord, CounterNames, IntervalFigures, IntervalRecord, Latency, OperationFigures, Status,
    per_second,
};

impl CellRecord {
    /// The record of a cell that was not completed, from the intervals it reported.
    ///
    /// Counts, bytes and maximum latencies come from the intervals. Other latencies, transactions
    /// and all values that are measured once per cell are empty.
    #[must_use]
    pub fn of_intervals(cell: &Cell, plan: &Plan, intervals: Vec<IntervalRecord>) -> Self {
        let ends = intervals
            .iter()
            .map(|interval| interval.at_ns.saturating_add(interval.length_ns));
        let run_time_ns = ends.max().unwrap_or(0);
        // The totals passed below are empty, so no counter needs a name.
        let names = CounterNames {
            operations: &[],
            transactions: &[],
        };
        let mut record = Self::of(cell, plan, &Interval::default(), run_time_ns, names);
        record.status = Status::Interrupted;
        for (name, figures) in intervals.iter().flat_map(|interval| &interval.operations) {
            add(record.operations.entry(name.clone()).or_default(), figures);
        }
        for figures in record.operations.values_mut() {
            set_rates(figures, run_time_ns);
        }
        record.total = total(&record, run_time_ns);
        record.intervals = intervals;
        record
    }
}

fn add(sum: &mut OperationFigures, part: &IntervalFigures) {
    sum.count = sum.count.saturating_add(part.count);
    sum.errors = sum.errors.saturating_add(part.errors);
    sum.bytes = sum.bytes.saturating_add(part.bytes);
    sum.latency.max_ns = sum.latency.max_ns.max(part.max_ns);
}

fn set_rates(figures: &mut OperationFigures, run_time_ns: u64) {
    figures.per_second = per_second(figures.count, run_time_ns);
    figures.bytes_per_second = per_second(figures.bytes, run_time_ns);
    // Each success has one latency, so their number is known without a histogram.
    figures.latency.count = figures.count;
}

/// The operations that move bytes, or all if none does; errors of all operations.
fn total(record: &CellRecord, run_time_ns: u64) -> OperationFigures {
    let moves = |name: &str| DATA_OPERATIONS.contains(&name);
    let any_moves = record.operations.keys().any(|name| moves(name));
    let mut total = OperationFigures::default();
    for (name, figures) in &record.operations {
        total.errors = total.errors.saturating_add(figures.errors);
        if any_moves && !moves(name) {
            continue;
        }
        total.count = total.count.saturating_add(figures.count);
        total.bytes = total.bytes.saturating_add(figures.bytes);
        total.latency = Latency {
            max_ns: total.latency.max_ns.max(figures.latency.max_ns),
            // Intervals have only the maximum; percentiles of intervals cannot be combined.
            ..Latency::default()
        };
    }
    set_rates(&mut total, run_time_ns);
    total
}
