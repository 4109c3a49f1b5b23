//! Prepared targets: opened for lanes, with their contents and their loss.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use engine::{Operation, OperationSet, Reopen};
use generate::verify_block_bytes;
use plan::{CacheMode, Cell, EngineKind, Plan};
use results::{Warning, WarningCode, target_indexes};
use storage::Prepared;

use crate::RunError;

/// A target opened for a lane.
pub(crate) struct OpenFile {
    pub file: OwnedFd,
    /// How to reopen the target, if the lane opens and closes it.
    pub reopen: Option<Reopen>,
}

/// Opens a target for one lane. Stores at most one warning about direct I/O per target in
/// `warnings`.
pub(crate) fn open(
    targets: &BTreeMap<u32, Prepared>,
    cell: &Cell,
    target_index: u32,
    operations: OperationSet,
    warnings: &std::cell::RefCell<BTreeMap<u32, Warning>>,
) -> Result<OpenFile, RunError> {
    let prepared = targets
        .get(&target_index)
        .expect("every target of a cell that does I/O was prepared");
    let writes = operations.contains(Operation::Write);
    let reads = operations.contains(Operation::Read);
    // A shared mapping that is written to needs read access too.
    let reads = reads || cell.engine == EngineKind::Mmap;
    let opened = prepared.open(cell.cache, reads, writes)?;
    if let Some(cause) = opened.doubt {
        let warning = direct_doubt(&cause, cell);
        warnings.borrow_mut().entry(target_index).or_insert(warning);
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

/// Warning that direct I/O may not be direct.
pub(crate) fn direct_doubt(doubt: &storage::DirectDoubt, cell: &Cell) -> Warning {
    Warning::of_cell(direct_code(doubt.cause), cell.index, doubt.to_string())
}

fn direct_code(cause: storage::DirectCause) -> WarningCode {
    match cause {
        storage::DirectCause::WritesBuffered | storage::DirectCause::AllBuffered => {
            WarningCode::DirectFallsBack
        }
        _ => WarningCode::DirectNotHonored,
    }
}

/// Doubts that direct I/O on many files is direct, one per target of the cell.
pub(crate) fn direct_io_warnings(
    targets: &BTreeMap<u32, Prepared>,
    cell: &Cell,
    writes: bool,
) -> Vec<Warning> {
    if cell.cache != CacheMode::Direct {
        return Vec::new();
    }
    let prepared = target_indexes(cell).into_iter();
    let prepared = prepared.filter_map(|index| targets.get(&index));
    let warnings = prepared.filter_map(|it| it.direct_doubt(writes));
    warnings.map(|doubt| direct_doubt(&doubt, cell)).collect()
}

/// Warnings for targets of a cell whose paths no longer lead to the measured files.
pub(crate) fn losses(targets: &BTreeMap<u32, Prepared>, cell: &Cell) -> Vec<Warning> {
    let indexes = target_indexes(cell).into_iter();
    let losses = indexes.filter_map(|index| targets.get(&index)?.loss());
    let warning = |loss: storage::LostFile| {
        let message = format!("{loss}; the results may be from a deleted file");
        Warning::of_cell(WarningCode::TargetLost, cell.index, message)
    };
    losses.map(warning).collect()
}

/// Length of the stamped blocks, the same for all cells, so that one can verify what another wrote.
pub(crate) fn stamp_bytes(plan: &Plan) -> Result<u32, RunError> {
    let cells = plan.cells.iter().filter(|cell| !cell.work.is_acts());
    let workers = cells.flat_map(|cell| &cell.workers);
    Ok(verify_block_bytes(workers.filter(|worker| worker.verify))?)
}

/// `true` if the files stay after the run.
pub(crate) fn keeps_files(plan: &Plan) -> bool {
    let mut settings = plan.settings.iter();
    settings.any(|it| it.key == "keep" && it.value == "true")
}

/// Seed of a target's content.
pub(crate) fn file_seed(seed: u64, target_index: u32) -> u64 {
    generate::mix(seed ^ generate::mix(u64::from(target_index) + 1))
}
