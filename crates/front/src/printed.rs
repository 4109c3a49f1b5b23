//! What other programs would have printed of a record.

use plan::{Cell, FrontOrigin};
use results::{CellRecord, RunRecord};

use crate::table::{TABLE_TEXTS, find, find_console};
use crate::text::ClassicText;

/// What the programs that a record stands in for would have printed of it at its end; none where
/// it stands in for none.
#[must_use]
pub fn text(record: &RunRecord) -> Option<String> {
    let origins = origins(record);
    let text = |origin: &&FrontOrigin| {
        let mut text = text_of(origin)?;
        Some(match origins.len() {
            1 => text.end(record),
            _ => text.end(&part_of(record, origin)),
        })
    };
    let texts: Vec<String> = origins.iter().filter_map(text).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The text of the front that it comes from.
fn text_of(origin: &FrontOrigin) -> Option<Box<dyn ClassicText>> {
    let name = origin.name.as_str();
    let console = || Some(find_console(name)?.text_of(origin));
    find(name)
        .map(|front| front.text_of(origin))
        .or_else(console)
}

/// What another program would have printed of the phases of a cell that came of its table; none
/// where it came of none.
#[must_use]
pub fn table_text(record: &RunRecord, cell: &Cell, phases: &[&CellRecord]) -> Option<String> {
    let program = cell.program()?;
    let title = cell.access_spec.as_deref()?;
    let mut texts = TABLE_TEXTS.iter();
    let text = texts.find(|text| text.title == title)?;
    (text.text)(record, program, phases)
}

/// The fronts of a record's workloads, each once.
fn origins(record: &RunRecord) -> Vec<&FrontOrigin> {
    let mut found: Vec<&FrontOrigin> = Vec::new();
    for workload in &record.plan.workloads {
        let new = workload.front.as_ref().filter(|it| !found.contains(it));
        found.extend(new);
    }
    found
}

/// The record without the cells of others.
fn part_of(record: &RunRecord, origin: &FrontOrigin) -> RunRecord {
    let mut part = record.clone();
    let is_own = |index: u32| {
        let cell = record.plan.cells.iter().find(|cell| cell.index == index);
        let workload = cell.and_then(|cell| cell.workload_index);
        let workload = workload.and_then(|index| record.plan.workloads.get(index as usize));
        workload.and_then(|it| it.front.as_ref()) == Some(origin)
    };
    part.plan.cells.retain(|cell| is_own(cell.index));
    part.cells.retain(|cell| is_own(cell.index));
    part
}
