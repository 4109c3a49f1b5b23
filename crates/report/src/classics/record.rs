//! What the classic programs themselves would have printed of a record's cells.

use results::{CellRecord, FilesetFigures, PhaseFigures, RoundRule, RunRecord};
use workload::classics::lat_fs::{Best, Sample};
use workload::plan::Cell;

use super::lat_fs;
use crate::postmark;

/// What stands for the table of lat_fs in results.
const LAT_FS: &str = "lat-fs";

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
    if program.pool.is_some() {
        return of_postmark(record, cell, phases);
    }
    match cell.access_spec.as_deref() {
        Some(LAT_FS) => of_lat_fs(phases),
        _ => front::table_text(record, cell, phases),
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

fn of_lat_fs(phases: &[&CellRecord]) -> Option<String> {
    let mut lines = String::new();
    for pair in phases.chunks(2) {
        // A size that was not measured to its end has no row.
        let [create, remove] = pair else { continue };
        let (Some(create), Some(remove)) = (&create.phase_figures, &remove.phase_figures) else {
            continue;
        };
        lines += &lat_fs_line(create, remove)?;
    }
    (!lines.is_empty()).then_some(lines)
}

fn lat_fs_line(create: &PhaseFigures, remove: &PhaseFigures) -> Option<String> {
    let FilesetFigures {
        file_count,
        file_bytes,
    } = *create.fileset()?;
    let told = |figures: &PhaseFigures, rule: RoundRule| {
        let round = figures.told_round.filter(|round| round.rule == rule)?;
        Some(round.time_ns)
    };
    let best = |figures| told(figures, RoundRule::Best);
    if let (Some(create_ns), Some(remove_ns)) = (best(create), best(remove)) {
        let best = Best {
            file_count: u32::try_from(file_count).ok()?,
            create_ns,
            remove_ns,
        };
        return Some(lat_fs::best_line(file_bytes, &best));
    }
    let median = |figures: &PhaseFigures| {
        Some(Sample {
            file_count: u32::try_from(figures.fileset()?.file_count).ok()?,
            time_ns: told(figures, RoundRule::Median)?,
        })
    };
    let (create, remove) = (median(create), median(remove));
    Some(lat_fs::median_line(file_bytes, create, remove))
}
