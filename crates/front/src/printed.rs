//! The output that other programs would have printed for a record.

use plan::{Cell, FrontOrigin};
use results::{CellRecord, RunRecord};

use crate::table::{TABLE_TEXTS, find, find_console};
use crate::text::ClassicText;

/// The output that the original programs would have printed at the end of this run; `None` if the
/// record is not from any of them.
#[must_use]
pub fn text(record: &RunRecord) -> Option<String> {
    let origins = origins(record);
    let text = |origin: &&FrontOrigin| {
        let mut text = text_of(origin)?;
        Some(match origins.len() {
            // A single front needs no copy of the record without the cells of others.
            1 => text.end(record),
            _ => text.end(&part_of(record, origin)),
        })
    };
    let texts: Vec<String> = origins.iter().filter_map(text).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The text of the front or console that the workload came from.
fn text_of(origin: &FrontOrigin) -> Option<Box<dyn ClassicText>> {
    let name = origin.name.as_str();
    let console = || Some(find_console(name)?.text_of(origin));
    find(name)
        .map(|front| front.text_of(origin))
        .or_else(console)
}

/// The original's output for the phases of a cell that ran a program's table; `None` if the cell
/// did not.
#[must_use]
pub fn table_text(record: &RunRecord, cell: &Cell, phases: &[&CellRecord]) -> Option<String> {
    let program = cell.program()?;
    let title = cell.access_spec.as_deref()?;
    let mut texts = TABLE_TEXTS.iter();
    let text = texts.find(|text| text.title == title)?;
    (text.text)(record, program, phases)
}

/// The fronts of a record's workloads, without repetition.
fn origins(record: &RunRecord) -> Vec<&FrontOrigin> {
    let mut found: Vec<&FrontOrigin> = Vec::new();
    for workload in &record.plan.workloads {
        let new = workload.front.as_ref().filter(|it| !found.contains(it));
        found.extend(new);
    }
    found
}

/// The record with only the cells of this front.
fn part_of(record: &RunRecord, origin: &FrontOrigin) -> RunRecord {
    let mut part = record.clone();
    let is_own = |index: u32| {
        let cell = record.plan.cell(index);
        let workload = cell.and_then(|cell| cell.workload_index);
        let workload = workload.and_then(|index| record.plan.workloads.get(index as usize));
        workload.and_then(|it| it.front.as_ref()) == Some(origin)
    };
    part.plan.cells.retain(|cell| is_own(cell.index));
    part.cells.retain(|cell| is_own(cell.index));
    part
}
