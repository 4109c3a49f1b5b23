//! Reads of storage that was never written to.

use std::collections::BTreeMap;
use std::path::Path;

use plan::{Cell, EngineKind, Plan, TargetKind};
use results::{Warning, WarningCode, target_indexes};
use storage::{Prepared, UnwrittenPart};

/// Minimum share of blank storage that is worth a warning.
const BLANK_SHARE_MIN: f64 = 0.01;

/// Warnings for a cell that reads parts of devices that were never written to. Test files need no
/// check because they are written before they are read.
#[must_use]
pub fn blank_storage(plan: &Plan, cell: &Cell) -> Vec<Warning> {
    if cell.engine == EngineKind::Null || !cell.work.is_access() {
        return Vec::new();
    }
    let doubted = target_indexes(cell).into_iter().filter_map(|target_index| {
        let target = plan.targets.get(target_index as usize)?;
        let blank = (target.kind == TargetKind::Device)
            .then(|| storage::blank(&target.path, read_bytes(cell, target_index)?))??;
        warning(cell, &target.path, &blank)
    });
    doubted.collect()
}

/// Warnings for a cell that reads parts of existing files that were never written to.
pub(crate) fn blank_files(targets: &BTreeMap<u32, Prepared>, cell: &Cell) -> Vec<Warning> {
    let doubted = target_indexes(cell).into_iter().filter_map(|target_index| {
        let prepared = targets.get(&target_index)?;
        let blank = prepared.blank(read_bytes(cell, target_index)?)?;
        warning(cell, &prepared.path(), &blank)
    });
    doubted.collect()
}

fn warning(cell: &Cell, path: &Path, blank: &UnwrittenPart) -> Option<Warning> {
    if blank.share() < BLANK_SHARE_MIN {
        return None;
    }
    let where_it_is = match blank.backing == path {
        true => String::new(),
        false => format!(" (backing file `{}`)", blank.backing.display()),
    };
    let message = format!(
        "{:.0} % of the data read from `{}` was never written{where_it_is}, so these reads do not \
         reach the medium",
        (blank.share() * 100.0).max(1.0),
        path.display()
    );
    Some(Warning::of_cell(
        WarningCode::BlankStorage,
        cell.index,
        message,
    ))
}

/// Byte range of a target that the cell's readers use; `None` if no worker reads it.
fn read_bytes(cell: &Cell, target_index: u32) -> Option<std::ops::Range<u64>> {
    let reads = |worker: &&plan::WorkerPlan| {
        let mut lines = worker.lines.iter();
        // A request and its reply go in opposite directions, so a write with a reply also reads.
        lines.any(|line| line.read_percent > 0.0 || line.reply_bytes > 0)
    };
    let spans = cell.workers.iter().filter(reads).flat_map(|it| &it.spans);
    let spans = spans.filter(|span| span.target_index == target_index);
    spans
        .map(|span| span.start_bytes..span.start_bytes.saturating_add(span.size_bytes))
        .reduce(|one, other| one.start.min(other.start)..one.end.max(other.end))
}
