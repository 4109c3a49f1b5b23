//! What each of several processes did, on which hosts, and how well they agreed on the time.

mod sentence;
mod tables;

use results::{CellCrew, CellRecord, RunRecord};

use crate::numbers::LatencyUnit;
use crate::table::Table;
use crate::warnings::cell_place;

/// So many processes, or hosts, are told one by one.
const ALL_MAX: usize = 16;
/// So many cells are told one by one.
const CELLS_MAX: usize = 8;

/// What a report says of several processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrewModel {
    /// One row for each host, or for each kind of them where they are many.
    pub hosts: Table,
    /// One row for each cell, where they are many.
    pub cells: Option<Table>,
    /// Each cell, where they are few.
    pub parts: Vec<CrewPart>,
}

/// What several processes did in a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrewPart {
    /// What it is about.
    pub heading: String,
    /// The processes, then the hosts where these are not all there is to see in them.
    pub tables: Vec<Table>,
    /// How well they agreed on the time; then their rates, where the work was given.
    pub sentences: Vec<String>,
}

impl CrewModel {
    /// The tables of the whole run with what stands above them.
    pub fn tables(&self) -> impl Iterator<Item = (&'static str, &Table)> {
        let cells = self.cells.iter().map(|it| ("by process, each cell", it));
        std::iter::once(("hosts", &self.hosts)).chain(cells)
    }
}

/// What there is to say of several processes; none where one measured alone.
pub fn model(record: &RunRecord, unit: LatencyUnit) -> Option<CrewModel> {
    let crew = record.crew.as_ref()?;
    let shared = record.cells.iter().filter(|cell| has_ranks(cell));
    let is_few = shared.clone().count() <= CELLS_MAX;
    let parts = shared.filter(|_| is_few);
    let parts = parts.filter_map(|cell| part(record, cell, unit));
    Some(CrewModel {
        hosts: tables::hosts(crew),
        cells: (!is_few).then(|| tables::cells(record)).flatten(),
        parts: parts.collect(),
    })
}

fn has_ranks(cell: &CellRecord) -> bool {
    cell.crew
        .as_ref()
        .is_some_and(|crew| !crew.ranks.is_empty())
}

/// What several processes did in a cell; none where one measured alone.
pub fn part(record: &RunRecord, cell: &CellRecord, unit: LatencyUnit) -> Option<CrewPart> {
    let crew: &CellCrew = cell.crew.as_ref().filter(|it| !it.ranks.is_empty())?;
    let mut tables = vec![tables::ranks(crew, unit)];
    if crew.ranks.len() > ALL_MAX {
        tables.extend(tables::by_host(crew));
    }
    let sentences = [
        sentence::lost(crew),
        Some(sentence::agreement(crew)),
        sentence::rates(cell, crew),
    ];
    Some(CrewPart {
        heading: format!("by process: {}", cell_place(record, &names(record), cell)),
        tables,
        sentences: sentences.into_iter().flatten().collect(),
    })
}

fn names(record: &RunRecord) -> results::CellNames {
    results::CellNames::of(&record.plan)
}
