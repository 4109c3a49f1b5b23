//! What the classic programs themselves would have printed of a record's cells.

use results::{CellRecord, PhaseFigures, RunRecord};
use workload::plan::Cell;

use crate::postmark;

/// The texts of all cells that repeat a classic program, in their order; none where there is no
/// such cell, or its program's text has figures that were not measured.
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
    let program = cell.files.as_ref()?;
    match program.pool {
        Some(_) => of_postmark(record, cell, phases),
        None => front::table_text(record, cell, phases),
    }
}

/// The phase that the cell is measured for, and its figures.
fn principal<'a>(phases: &[&'a CellRecord]) -> Option<(&'a CellRecord, &'a PhaseFigures)> {
    let mut told = phases.iter();
    told.find_map(|cell| Some((*cell, cell.phase_figures.as_ref()?)))
}

fn of_postmark(record: &RunRecord, cell: &Cell, phases: &[&CellRecord]) -> Option<String> {
    let (compat, form) = postmark::asked(record, cell)?;
    let pool = principal(phases)?.1.pool.as_ref()?;
    let micros = |time_ns: u64| i64::try_from(time_ns / 1000).ok();
    let transactions_start_us = micros(pool.creation_ns)?;
    let transactions_end_us = transactions_start_us.saturating_add(micros(pool.transactions_ns)?);
    let times = postmark::Times {
        start_us: 0,
        transactions_start_us,
        transactions_end_us,
        end_us: transactions_end_us.saturating_add(micros(pool.deletion_ns)?),
    };
    Some(postmark::report(form, compat, pool, &times))
}
