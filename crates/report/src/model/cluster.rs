//! Results of several processes: their rates, their hosts, and how well their times agree.

mod sentence;
mod tables;

use results::{CellCluster, CellRecord, RunRecord};

use crate::numbers::LatencyUnit;
use crate::table::Table;
use crate::warnings::cell_place;

/// Maximum number of processes or hosts listed one by one.
const LISTED_MAX: usize = 16;
/// Maximum number of cells listed one by one.
const CELLS_MAX: usize = 8;

/// Contents of a report about several processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterModel {
    /// One row per host, or per kind of host if there are many.
    pub hosts: Table,
    /// One row per cell, if there are many.
    pub cells: Option<Table>,
    /// Details of each cell, if there are few.
    pub parts: Vec<ClusterPart>,
}

/// Results of several processes in a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterPart {
    /// Heading.
    pub heading: String,
    /// The processes, and the hosts unless the table of processes shows them all.
    pub tables: Vec<Table>,
    /// How well the times agree; also the rates if the amount of work was fixed.
    pub sentences: Vec<String>,
}

impl ClusterModel {
    /// Returns the tables about the whole run, with their headings.
    pub fn tables(&self) -> impl Iterator<Item = (&'static str, &Table)> {
        let cells = self.cells.iter().map(|it| ("by process, each cell", it));
        std::iter::once(("hosts", &self.hosts)).chain(cells)
    }
}

/// Returns the contents about several processes; `None` for a single process.
pub fn model(record: &RunRecord, unit: LatencyUnit) -> Option<ClusterModel> {
    let cluster = record.cluster.as_ref()?;
    let shared = record.cells.iter().filter(|cell| has_ranks(cell));
    let is_few = shared.clone().count() <= CELLS_MAX;
    let parts = shared.filter(|_| is_few);
    let parts = parts.filter_map(|cell| part(record, cell, unit));
    Some(ClusterModel {
        hosts: tables::hosts(cluster),
        cells: (!is_few).then(|| tables::cells(record)).flatten(),
        parts: parts.collect(),
    })
}

fn has_ranks(cell: &CellRecord) -> bool {
    cell.cluster
        .as_ref()
        .is_some_and(|cluster| !cluster.ranks.is_empty())
}

/// Returns the results of several processes in a cell; `None` for a single process.
pub fn part(record: &RunRecord, cell: &CellRecord, unit: LatencyUnit) -> Option<ClusterPart> {
    let cluster: &CellCluster = cell.cluster.as_ref().filter(|it| !it.ranks.is_empty())?;
    let mut tables = vec![tables::ranks(cluster, unit)];
    // With few processes, their table already shows the host of each.
    if cluster.ranks.len() > LISTED_MAX {
        tables.extend(tables::by_host(cluster));
    }
    let sentences = [
        sentence::lost(cluster),
        Some(sentence::agreement(cluster)),
        sentence::rates(cell, cluster),
    ];
    Some(ClusterPart {
        heading: format!("by process: {}", cell_place(record, &names(record), cell)),
        tables,
        sentences: sentences.into_iter().flatten().collect(),
    })
}

fn names(record: &RunRecord) -> results::CellNames {
    results::CellNames::of(&record.plan)
}
