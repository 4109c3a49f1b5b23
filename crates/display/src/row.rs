//! A cell in the list: its distinguishing properties, and its results once it is done.

use std::collections::BTreeMap;

use plan::{Cell, CurvePart, Plan};
use results::{CellNames, CellRecord, OperationFigures, Status, target_indexes};

use crate::printable::printable;

/// A cell in the list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CellRow {
    /// Short description of the cell.
    pub description: String,
    /// Only its access specification or workload.
    pub name: String,
    /// Queue depth, number of workers if it varies, and part of the curve: `QD8`, `Q8T2`, `QD8
    /// 50%`.
    pub tag: String,
    /// Its target, if the run has several.
    pub target: Option<String>,
    /// Number of the repetition, from 1; `None` if cells are not repeated.
    pub repetition: Option<u32>,
    /// Index of the cell that this one repeats, or of the peak that it belongs to.
    pub first_index: u32,
    /// Its part of a curve or of a search.
    pub part: Option<CurvePart>,
    /// `true` if the run skips the cell when earlier cells already answer the question.
    pub is_optional: bool,
    /// Planned duration, in nanoseconds; `None` if the cell does not end by time.
    pub planned_ns: Option<u64>,
    /// Actual duration including the time before it, in nanoseconds.
    pub took_ns: Option<u64>,
    /// Its results, once it is done.
    pub done: Option<DoneCell>,
}

/// Results of a completed cell.
#[derive(Debug, Clone, PartialEq)]
pub struct DoneCell {
    /// Operations per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Median latency, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the latency, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// Failed operations.
    pub errors: u64,
    /// Outcome of the cell.
    pub status: Status,
    /// Measured time in nanoseconds.
    pub run_time_ns: u64,
    /// Results by operation.
    pub operations: BTreeMap<String, DoneOperation>,
}

/// Results of an operation in a completed cell.
#[derive(Debug, Clone, PartialEq)]
pub struct DoneOperation {
    /// Operations per second.
    pub per_second: f64,
    /// Latencies in nanoseconds: mean, p50, p99, p99.9 and maximum.
    pub latencies_ns: [Option<u64>; 5],
}

impl DoneCell {
    pub(crate) fn of(record: &CellRecord) -> Self {
        let total = &record.total;
        let operations = record.operations.iter();
        let operations = operations.filter(|(_, it)| it.count > 0);
        Self {
            iops: total.per_second,
            bytes_per_second: total.bytes_per_second,
            p50_ns: total.latency.percentiles_ns.p50,
            p99_ns: total.latency.percentiles_ns.p99,
            errors: total.errors,
            status: record.status,
            run_time_ns: record.run_time_ns,
            operations: operations
                .map(|(name, it)| (printable(name), DoneOperation::of(it)))
                .collect(),
        }
    }
}

impl DoneOperation {
    fn of(figures: &OperationFigures) -> Self {
        let latency = &figures.latency;
        let percentiles = &latency.percentiles_ns;
        Self {
            per_second: figures.per_second,
            latencies_ns: [
                latency.mean_ns.map(|ns| ns as u64),
                percentiles.p50,
                percentiles.p99,
                percentiles.p99_9,
                latency.max_ns,
            ],
        }
    }
}

/// The rows of planned or added cells; `descriptions` has a short description for each.
pub fn rows<'a>(
    cells: &'a [Cell],
    descriptions: impl IntoIterator<Item = String>,
    (names, plan): (&CellNames, &'a Plan),
) -> Vec<CellRow> {
    let all = || plan.cells.iter().chain(cells);
    let has_workers = all().any(|cell| cell.workers.len() != all_workers(cells));
    // With a rule, the run may add repetitions to cells that have none yet.
    let is_repeated = plan.repetition_rule.is_some() || all().any(|cell| cell.repetition > 0);
    let row = |(cell, what): (&Cell, String)| CellRow {
        description: printable(&what),
        name: printable(&names.planned(cell)),
        tag: tag(cell, has_workers, cells),
        target: (plan.targets.len() > 1).then(|| target(cell, plan)),
        repetition: is_repeated.then(|| cell.repetition.saturating_add(1)),
        first_index: cell.first_index.unwrap_or(cell.index),
        part: cell.curve,
        // A search for a depth stops early if deeper queues gain nothing.
        is_optional: cell.find_depth,
        planned_ns: planned_ns(cell),
        ..CellRow::default()
    };
    cells.iter().zip(descriptions).map(row).collect()
}

fn all_workers(cells: &[Cell]) -> usize {
    cells.first().map_or(0, |cell| cell.workers.len())
}

fn tag(cell: &Cell, has_workers: bool, cells: &[Cell]) -> String {
    let is_deep = !cell.work.is_acts() || cell.iodepth > 1;
    let depth = match (is_deep, has_workers) {
        // The notation of KDiskMark for queues and threads.
        (true, true) => Some(format!("Q{}T{}", cell.iodepth, cell.workers.len())),
        (true, false) => Some(format!("QD{}", cell.iodepth)),
        (false, true) => Some(format!("T{}", cell.workers.len())),
        (false, false) => None,
    };
    let part = match cell.curve {
        // In a search, the position already says `peak`.
        Some(CurvePart::Peak) => {
            let mut own = cells.iter().filter(|it| it.first_index == cell.first_index);
            let is_point = |it: &Cell| matches!(it.curve, Some(CurvePart::Point { .. }));
            own.any(is_point).then(|| "peak".to_owned())
        }
        Some(CurvePart::Point { percent, .. }) => Some(format!("{percent}%")),
        Some(CurvePart::Trial { .. }) | None => None,
    };
    let parts: Vec<String> = depth.into_iter().chain(part).collect();
    parts.join(" ")
}

fn target(cell: &Cell, plan: &Plan) -> String {
    match target_indexes(cell).as_slice() {
        [index] => {
            let target = plan.targets.get(*index as usize);
            let path = target.map(|target| target.path.to_string_lossy());
            printable(&path.unwrap_or_default())
        }
        several => format!("{} targets", several.len()),
    }
}

/// Planned duration of a cell that ends by time.
fn planned_ns(cell: &Cell) -> Option<u64> {
    // All other ends depend on the target's speed.
    let ends_by_time = cell.run_time_ns > 0
        && cell.operations.is_none()
        && cell.steady.is_none()
        && !cell.work.is_acts();
    ends_by_time.then(|| cell.ramp_time_ns.saturating_add(cell.run_time_ns))
}
