//! The work of cells: its hash, and values of cells for tables of any work.

use compare::work;
use plan::Cell;
use results::{CellRecord, RunRecord};
use serde_json::Value;

use crate::hash::hash_of;

/// Bytes of a mebibyte.
const MIB: f64 = 1_048_576.0;

/// A column of tables of any work: name with unit, and the value of a cell.
type WorkFigure = (&'static str, fn(&CellRecord) -> Option<f64>);

const WORK_FIGURES: [WorkFigure; 6] = [
    ("IOPS", |cell| Some(cell.total.per_second)),
    ("MiB/s", |cell| Some(cell.total.bytes_per_second / MIB)),
    ("mean latency, µs", |cell| {
        Some(cell.total.latency.mean_ns? / 1e3)
    }),
    ("p50 latency, µs", |cell| {
        Some(cell.total.latency.percentiles_ns.p50? as f64 / 1e3)
    }),
    ("p99 latency, µs", |cell| {
        Some(cell.total.latency.percentiles_ns.p99? as f64 / 1e3)
    }),
    ("transactions/s", CellRecord::transactions_per_second),
];

/// Returns the value of a cell in a column of a table of any work.
pub(crate) fn work_figure(column: &str, cell: &CellRecord) -> Option<f64> {
    let (_, of) = WORK_FIGURES.iter().find(|(name, _)| *name == column)?;
    of(cell)
}

/// Returns the names of the columns that a cell has values for.
pub(crate) fn work_columns(cell: &CellRecord) -> Vec<&'static str> {
    let figures = WORK_FIGURES.iter();
    let present = figures.filter(|(_, of)| of(cell).is_some_and(|it| it > 0.0));
    present.map(|(name, _)| *name).collect()
}

/// Returns the hashes of the work of a record's cells, each once, in running order.
#[must_use]
pub(crate) fn works(record: &RunRecord) -> Vec<String> {
    let mut hashes: Vec<String> = Vec::new();
    for cell in &record.plan.cells {
        let hash = work_hash(cell);
        if !hashes.contains(&hash) {
            hashes.push(hash);
        }
    }
    hashes
}

/// Returns the hash of the work of a planned cell. Names, seeds, targets and the exact time do not
/// count, but the order of magnitude of the time does.
pub(crate) fn work_hash(cell: &Cell) -> String {
    let mut value = work(cell);
    let names = |value: &mut Value, keys: &[&str]| {
        if let Some(object) = value.as_object_mut() {
            object.retain(|key, _| !keys.contains(&key.as_str()));
        }
    };
    names(&mut value, &["workload", "access_spec", "rank"]);
    let workers = value.get_mut("workers").and_then(Value::as_array_mut);
    for worker in workers.into_iter().flatten() {
        names(worker, &["access_spec"]);
    }
    if let Some(object) = value.as_object_mut() {
        let class = time_class(cell.run_time_ns);
        object.insert("time".to_owned(), class.into());
    }
    hash_of(&value)
}

/// Returns the class of a run time: a longer run of the same class is the same work.
const fn time_class(run_time_ns: u64) -> &'static str {
    match run_time_ns / 1_000_000_000 {
        0 if run_time_ns == 0 => "until done",
        0..10 => "below 10 s",
        10..60 => "10 s to 1 min",
        60..300 => "1 to 5 min",
        _ => "5 min or more",
    }
}
