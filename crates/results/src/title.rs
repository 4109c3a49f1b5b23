//! A cell in a few words.

use workload::plan::{Cell, CurvePart, Plan};

/// A cell in a few words: its access specification or workload, and what tells it from the
/// plan's other cells.
#[must_use]
pub fn cell_title(cell: &Cell, plan: &Plan) -> String {
    let mut parts = vec![name(cell)];
    if cell.files.is_none() || cell.iodepth > 1 {
        parts.push(format!("iodepth {}", cell.iodepth));
    }
    match cell.curve {
        Some(CurvePart::Peak) => parts.push("peak".to_owned()),
        Some(CurvePart::Point { percent, .. }) => {
            parts.push(format!("{percent} % of the peak"));
        }
        None => {}
    }
    if plan.cells.iter().any(|other| other.workers.len() != 1) {
        let count = cell.workers.len();
        parts.push(format!(
            "{count} {}",
            if count == 1 { "worker" } else { "workers" }
        ));
    }
    if plan.targets.len() > 1 {
        parts.push(targets(cell, plan));
    }
    if plan.cells.iter().any(|other| other.repetition > 0) {
        parts.push(format!("repetition {}", cell.repetition.saturating_add(1)));
    }
    parts.join(", ")
}

fn name(cell: &Cell) -> String {
    cell.access_spec
        .clone()
        .unwrap_or_else(|| cell.workload.clone())
}

fn targets(cell: &Cell, plan: &Plan) -> String {
    let indexes = target_indexes(cell);
    match indexes.as_slice() {
        [index] => plan
            .targets
            .get(*index as usize)
            .map_or_else(String::new, |target| {
                target.path.to_string_lossy().into_owned()
            }),
        several => format!("{} targets", several.len()),
    }
}

/// The targets that a cell's workers use, in rising order, each once.
#[must_use]
pub fn target_indexes(cell: &Cell) -> Vec<u32> {
    let mut indexes: Vec<u32> = cell
        .workers
        .iter()
        .flat_map(|worker| worker.spans.iter().map(|span| span.target_index))
        .collect();
    indexes.sort_unstable();
    indexes.dedup();
    indexes
}

/// The path of a target as text.
pub fn target_path(plan: &Plan, target_index: u32) -> String {
    plan.targets
        .get(target_index as usize)
        .map_or_else(String::new, |target| {
            target.path.to_string_lossy().into_owned()
        })
}
