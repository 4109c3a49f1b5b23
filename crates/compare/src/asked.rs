//! What a cell was asked to do, apart from where and when.

use results::{CellRecord, RunRecord, target_indexes};
use serde_json::Value;
use workload::plan::{CacheMode, Cell, EngineKind};

/// Keys of a planned cell that change how long or how often it is measured, but not what.
const NOT_ASKED: [&str; 4] = ["index", "repetition", "run_time_ns", "ramp_time_ns"];
/// Keys of a worker that are chance, a name or a place.
const NOT_ASKED_OF_WORKERS: [&str; 3] = ["name", "seed", "cpu"];
/// Keys of a span that belong to the target.
const NOT_ASKED_OF_SPANS: [&str; 2] = ["target_index", "sector_bytes"];

/// What people see of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    pub workload: String,
    pub access_spec: Option<String>,
    pub phase: String,
    pub engine: EngineKind,
    pub cache: CacheMode,
    pub iodepth: u32,
    pub workers: u32,
    pub ranks: u32,
    /// Which of the plan's targets, by their place in it.
    pub targets: Vec<usize>,
    /// Tells apart cells of one repetition that are otherwise alike.
    pub occurrence: usize,
}

/// A question with every detail of the plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub question: Question,
    /// The planned cell without what is no part of the question; null where the plan has none.
    pub work: Value,
}

/// How far two questions agree, strictest first.
pub(crate) const LIKENESSES: [fn(&Asked, &Asked) -> bool; 5] = [
    |a, b| a == b,
    |a, b| a.question == b.question,
    |a, b| names_agree(a, b) && depth_agrees(a, b) && a.workers() == b.workers(),
    |a, b| names_agree(a, b) && depth_agrees(a, b),
    names_agree,
];

impl Asked {
    /// What was asked of a cell, as the first of its kind.
    pub(crate) fn of(cell: &CellRecord, run: &RunRecord) -> Self {
        let planned = run
            .plan
            .cells
            .iter()
            .find(|planned| planned.index == cell.index);
        Self {
            question: Question {
                workload: cell.workload.clone(),
                access_spec: cell.access_spec.clone(),
                phase: cell.phase.text().into_owned(),
                engine: cell.engine,
                cache: cell.cache,
                iodepth: cell.iodepth,
                workers: cell.workers,
                ranks: cell.ranks,
                targets: targets(cell, run, planned),
                occurrence: 0,
            },
            work: planned.map_or(Value::Null, work),
        }
    }

    fn workers(&self) -> (u32, u32) {
        (self.question.workers, self.question.ranks)
    }
}

fn names_agree(a: &Asked, b: &Asked) -> bool {
    let (a, b) = (&a.question, &b.question);
    a.workload == b.workload && a.access_spec == b.access_spec && a.phase == b.phase
}

fn depth_agrees(a: &Asked, b: &Asked) -> bool {
    a.question.iodepth == b.question.iodepth
}

/// The places in the plan of the targets that a cell uses.
fn targets(cell: &CellRecord, run: &RunRecord, planned: Option<&Cell>) -> Vec<usize> {
    let used: Vec<usize> = planned
        .map(target_indexes)
        .unwrap_or_default()
        .into_iter()
        .map(|index| index as usize)
        .collect();
    if !used.is_empty() {
        return used;
    }
    let place = |target: &&str| {
        run.plan
            .targets
            .iter()
            .position(|planned| planned.path.to_string_lossy() == *target)
    };
    cell.target.split(", ").filter_map(|t| place(&t)).collect()
}

/// A planned cell without what is no part of the question.
pub(crate) fn work(cell: &Cell) -> Value {
    let Ok(mut work) = serde_json::to_value(cell) else {
        return Value::Null;
    };
    remove(&mut work, &NOT_ASKED);
    for worker in entries(&mut work, "workers") {
        remove(worker, &NOT_ASKED_OF_WORKERS);
        for span in entries(worker, "spans") {
            remove(span, &NOT_ASKED_OF_SPANS);
        }
    }
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
