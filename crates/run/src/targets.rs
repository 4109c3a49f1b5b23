//! Targets that were prepared: opened for lanes, what they hold, and whether they were lost.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use engine::{Operation, OperationSet, Reopen};
use generate::verify_block_bytes;
use plan::{Cell, EngineKind, Plan};
use results::{Warning, WarningCode, target_indexes};
use target::Prepared;

use crate::RunError;

/// A target opened for a lane.
pub(crate) struct OpenFile {
    pub file: OwnedFd,
    /// Where the lane opens and closes it, how.
    pub reopen: Option<Reopen>,
}

/// Opens a target for one lane and notes doubts about direct I/O, one a target.
pub(crate) fn open(
    targets: &BTreeMap<u32, Prepared>,
    cell: &Cell,
    target_index: u32,
    operations: OperationSet,
    doubts: &std::cell::RefCell<BTreeMap<u32, Warning>>,
) -> Result<OpenFile, RunError> {
    let prepared = targets
        .get(&target_index)
        .expect("every target of a cell that does I/O was prepared");
    let writes = operations.contains(Operation::Write);
    let reads = operations.contains(Operation::Read);
    // A shared mapping that is written needs both.
    let reads = reads || cell.engine == EngineKind::Mmap;
    let opened = prepared.open(cell.cache, reads, writes)?;
    if let Some(cause) = opened.doubt {
        let warning = direct_doubt(&cause, cell);
        doubts.borrow_mut().entry(target_index).or_insert(warning);
    }
    let reopen = match operations.contains(Operation::Open) {
        true => Some(prepared.reopen(cell.cache, reads, writes)?),
        false => None,
    };
    Ok(OpenFile {
        file: opened.file,
        reopen,
    })
}

/// That direct I/O may not be direct.
pub(crate) fn direct_doubt(doubt: &target::DirectDoubt, cell: &Cell) -> Warning {
    Warning::of_cell(direct_code(doubt.cause), cell.index, doubt.to_string())
}

fn direct_code(cause: target::DirectCause) -> WarningCode {
    match cause {
        target::DirectCause::WritesBuffered | target::DirectCause::AllBuffered => {
            WarningCode::DirectFallsBack
        }
        _ => WarningCode::DirectNotHonored,
    }
}

/// Says which targets of a cell do not lead to what was measured any more.
pub(crate) fn losses(targets: &BTreeMap<u32, Prepared>, cell: &Cell) -> Vec<Warning> {
    let indexes = target_indexes(cell).into_iter();
    let losses = indexes.filter_map(|index| targets.get(&index)?.loss());
    let warning = |loss: target::Loss| {
        let message = format!("{loss}; the figures may be those of a deleted file");
        Warning::of_cell(WarningCode::TargetLost, cell.index, message)
    };
    losses.map(warning).collect()
}

/// Length of stamped blocks, the same for all cells, so that one checks what another wrote.
pub(crate) fn stamp_bytes(plan: &Plan) -> Result<u32, RunError> {
    let cells = plan.cells.iter().filter(|cell| !cell.work.is_acts());
    let workers = cells.flat_map(|cell| &cell.workers);
    Ok(verify_block_bytes(workers.filter(|worker| worker.verify))?)
}

/// The seed of a target's content.
pub(crate) fn file_seed(seed: u64, target_index: u32) -> u64 {
    generate::mix(seed ^ generate::mix(u64::from(target_index) + 1))
}
