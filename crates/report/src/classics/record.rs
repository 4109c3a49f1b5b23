//! The output that classic programs would have printed for the cells of a record.

use plan::Cell;
use results::{CellRecord, RunRecord};

/// Returns the texts of all cells that repeat a classic program, in order. `None` if there is no
/// such cell, or if the text needs results that were not measured.
#[must_use]
pub fn text(record: &RunRecord) -> Option<String> {
    let mut texts = Vec::new();
    for cell in &record.plan.cells {
        let phases: Vec<&CellRecord> = record
            .cells
            .iter()
            .filter(|done| done.index == cell.index)
            .collect();
        texts.extend(of_cell(record, cell, &phases));
    }
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn of_cell(record: &RunRecord, cell: &Cell, phases: &[&CellRecord]) -> Option<String> {
    let program = cell.program()?;
    match program.pool {
        Some(_) => front::pool_text(record, cell, phases),
        None => front::table_text(record, cell, phases),
    }
}
