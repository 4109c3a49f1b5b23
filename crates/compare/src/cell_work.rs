//! The work of a cell, independent of where and when it was measured.

use std::collections::HashMap;

use plan::{CacheMode, Cell, EngineKind};
use results::{CellRecord, ImportedResult, RunRecord, target_indexes};
use serde_json::Value;

/// Keys of a planned cell that change how long or how often it is measured, but not its work.
const IGNORED_KEYS: [&str; 6] = [
    // A run with further workloads gives other numbers to equal cells.
    "index",
    "first_index",
    "workload_index",
    "repetition",
    "run_time_ns",
    "ramp_time_ns",
];
/// Keys of a worker that are random, or that only name or place it.
const IGNORED_WORKER_KEYS: [&str; 3] = ["name", "seed", "cpu"];
/// Keys of a span that depend on the target.
// The sector follows the unit of the device, so equal work may have another one elsewhere.
const IGNORED_SPAN_KEYS: [&str; 2] = ["target_index", "sector_bytes"];

/// The visible properties of a cell's work. Imported results lack those that the source does not
/// state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CellWork {
    pub workload: String,
    pub access_spec: Option<String>,
    pub phase: String,
    pub engine: Option<EngineKind>,
    pub cache: Option<CacheMode>,
    pub iodepth: Option<u32>,
    pub workers: Option<u32>,
    pub ranks: Option<u32>,
    /// Indexes of the targets in the plan.
    pub targets: Vec<usize>,
}

/// The work of a cell with all details of the plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlannedCellWork {
    pub properties: CellWork,
    /// The planned cell without keys that do not affect its work; null if the plan lacks the cell.
    pub work: Value,
    /// Number of earlier cells in the plan that are equal in all of this.
    pub occurrence: usize,
    /// Number of earlier records of the same cell, phase and repetition.
    pub record_index: usize,
}

/// From this index on, [`SIMILARITY_LEVELS`] only relate similar cells.
pub(crate) const FIRST_SIMILAR: usize = 2;

/// Levels of similarity between two cells, strictest first.
pub(crate) const SIMILARITY_LEVELS: [fn(&PlannedCellWork, &PlannedCellWork) -> bool; 5] = [
    |a, b| a == b,
    // Such pairs prevent a comparison, because one name stands for different work.
    |a, b| a.properties == b.properties,
    |a, b| names_agree(a, b) && depth_agrees(a, b) && a.workers() == b.workers(),
    |a, b| names_agree(a, b) && depth_agrees(a, b),
    names_agree,
];

/// The planned work of all cells of a run.
#[derive(Debug)]
pub(crate) struct RunWork<'a> {
    run: &'a RunRecord,
    by_index: HashMap<u32, &'a Cell>,
    /// Keyed by the index of the cell in the first repetition.
    occurrences: HashMap<u32, usize>,
}

impl<'a> RunWork<'a> {
    pub(crate) fn of(run: &'a RunRecord) -> Self {
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut occurrences = HashMap::new();
        // Later repetitions do the same work again, so they must not count as further occurrences.
        for cell in run.plan.first_repetition() {
            let count = counts.entry(work(cell).to_string()).or_default();
            occurrences.insert(cell.index, *count);
            *count += 1;
        }
        Self {
            run,
            by_index: run.plan.cells.iter().map(|it| (it.index, it)).collect(),
            occurrences,
        }
    }

    /// Returns the work of a measured cell. In runs of the same plan, only cells of the same key
    /// have equal work.
    pub(crate) fn planned_work(&self, cell: &CellRecord) -> PlannedCellWork {
        let planned = self.by_index.get(&cell.index).copied();
        let first_index = cell.first_index.unwrap_or(cell.index);
        PlannedCellWork {
            properties: CellWork {
                workload: cell.workload.clone(),
                access_spec: cell.access_spec.clone(),
                phase: cell.phase.text().into_owned(),
                engine: Some(cell.engine),
                cache: Some(cell.cache),
                iodepth: Some(cell.iodepth),
                workers: Some(cell.workers),
                ranks: Some(cell.ranks),
                targets: targets(cell, self.run, planned),
            },
            work: planned.map_or(Value::Null, work),
            occurrence: self.occurrences.get(&first_index).copied().unwrap_or(0),
            record_index: 0,
        }
    }
}

/// Settings of other programs that change where, how long or how often they measure, or only name
/// the job, but not the work. `filename` and the others are options of fio.
pub const IGNORED_SETTINGS: [&str; 7] = [
    "name",
    "filename",
    "directory",
    "runtime",
    "ramp_time",
    "time_based",
    "randseed",
];

impl PlannedCellWork {
    /// Returns the work of an imported result, as far as its source states it.
    pub(crate) fn imported(result: &ImportedResult) -> Self {
        let settings = result.settings.iter();
        let settings = settings.filter(|it| !IGNORED_SETTINGS.contains(&it.name.as_str()));
        let settings = settings.map(|it| (it.name.clone(), Value::from(it.value.as_str())));
        Self {
            properties: CellWork {
                workload: result.name.clone(),
                access_spec: None,
                phase: "measure".to_owned(),
                engine: None,
                cache: None,
                iodepth: result.iodepth,
                workers: result.workers,
                ranks: None,
                targets: Vec::new(),
            },
            work: Value::Object(settings.collect()),
            occurrence: 0,
            record_index: 0,
        }
    }

    fn workers(&self) -> (Option<u32>, Option<u32>) {
        (self.properties.workers, self.properties.ranks)
    }
}

fn names_agree(a: &PlannedCellWork, b: &PlannedCellWork) -> bool {
    let (a, b) = (&a.properties, &b.properties);
    a.workload == b.workload && a.access_spec == b.access_spec && a.phase == b.phase
}

fn depth_agrees(a: &PlannedCellWork, b: &PlannedCellWork) -> bool {
    a.properties.iodepth == b.properties.iodepth
}

/// Returns the indexes of the targets in the plan that a cell uses.
fn targets(cell: &CellRecord, run: &RunRecord, planned: Option<&Cell>) -> Vec<usize> {
    let used: Vec<usize> = planned
        .map(target_indexes)
        .unwrap_or_default()
        .into_iter()
        .map(|index| index as usize)
        .collect();
    // The plan comes first: the text of the record joins paths by `, `, which a path may contain.
    if !used.is_empty() {
        return used;
    }
    let index_of = |target: &&str| {
        run.plan
            .targets
            .iter()
            .position(|planned| planned.path.to_string_lossy() == *target)
    };
    cell.target
        .split(", ")
        .filter_map(|t| index_of(&t))
        .collect()
}

/// Returns a planned cell without keys that do not affect its work.
#[must_use]
pub fn work(cell: &Cell) -> Value {
    // As JSON, so that a field that is added to the plan counts without a change here.
    let Ok(mut work) = units::json_value(cell) else {
        return Value::Null;
    };
    remove(&mut work, &IGNORED_KEYS);
    for worker in entries(&mut work, "workers") {
        remove(worker, &IGNORED_WORKER_KEYS);
        for span in entries(worker, "spans") {
            remove(span, &IGNORED_SPAN_KEYS);
        }
    }
    // Files that outlast a run are where the target is.
    if let Some(lasting) = work.pointer_mut("/files/lasting") {
        remove(lasting, &["directory"]);
    }
    // The settings show the targets.
    if let Some(jobs) = work.get_mut("jobs") {
        entries(jobs, "files").for_each(|file| remove(file, &["target_index"]));
    }
    // Jobs and pools have their own seeds, deeper in the plan.
    remove_everywhere(&mut work, "seed");
    work
}

fn entries<'a>(value: &'a mut Value, key: &str) -> impl Iterator<Item = &'a mut Value> {
    value
        .get_mut(key)
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
}

fn remove(value: &mut Value, keys: &[&str]) {
    if let Some(object) = value.as_object_mut() {
        object.retain(|key, _| !keys.contains(&key.as_str()));
    }
}

fn remove_everywhere(value: &mut Value, key: &str) {
    match value {
        Value::Object(object) => {
            object.remove(key);
            object
                .values_mut()
                .for_each(|value| remove_everywhere(value, key));
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| remove_everywhere(value, key)),
        _ => {}
    }
}
