//! Published experiments in the layout of their tables, with runs next to them.

mod board;
mod catalog;
mod charts;
mod comparison;
mod document;
mod figure;
mod json;
mod published;
mod reference;
mod shapes;

use results::{CellRecord, RunRecord, Status};

use crate::page::Page;
use crate::side_by_side::{Extra, TableFormat, field};
use crate::styled::Styled;
use crate::table::Table;
use crate::write::write;
use catalog::ExperimentShape;

pub use catalog::{KnownSystem, PAPERS, Paper};
pub use comparison::PublishedComparison;
pub use figure::{FigureTable, PaperFigure, PublishedValue};
pub use json::{ComparisonDocument, ListedPaper, PaperDocument, PaperList};
pub use published::render_comparisons;
pub use reference::{Reference, ReferenceError};

/// Runs of an experiment on one file system.
#[derive(Debug, Clone)]
pub struct PaperSide<'a> {
    /// Name of the file system.
    pub name: String,
    /// Peak that percentages refer to, if measured: of the device under the file system, or of the
    /// file system itself with direct I/O.
    pub peak: Option<&'a RunRecord>,
    /// Runs of the experiment; results are means over them.
    pub records: &'a [RunRecord],
}

/// Published results of an experiment, with runs next to them.
#[derive(Debug)]
pub struct PaperTable<'a> {
    /// The experiment.
    pub paper: &'a Paper,
    /// Title, and place of publication.
    pub heading: Vec<String>,
    /// General conditions of the runs, such as the scale and the mount options.
    pub remarks: Vec<String>,
    /// Failures.
    pub failures: Vec<String>,
    /// Runs by file system; if empty, only the published results are shown.
    pub sides: Vec<PaperSide<'a>>,
    /// Costs in addition to the workload, each with samples for every side.
    pub costs: Vec<Extra>,
    /// `true` if times among the costs were measured in guests, so they are not ranked.
    pub is_of_guests: bool,
    /// The same work on the bare device under the file systems, if measured.
    pub peak: Option<&'a RunRecord>,
}

/// Note for all comparisons of published and measured values.
const HARDWARE: &str = "The published systems ran on the hardware of their time: differences come \
                        from the machine as much as from the file system.";

/// Returns the complete cells of these runs. Others did only a part of the work.
fn complete_cells<'a>(
    records: impl IntoIterator<Item = &'a RunRecord>,
) -> impl Iterator<Item = &'a CellRecord> {
    let cells = records.into_iter().flat_map(|record| &record.cells);
    cells.filter(|cell| cell.status == Status::Complete)
}

/// A table with its heading.
pub(crate) type TitledTable = (String, Table);

impl PaperTable<'_> {
    /// Renders the table in this format, with a final line break.
    #[must_use]
    pub fn render(&self, format: TableFormat, page: Page) -> Styled {
        let mut tables = shapes::tables(self);
        tables.extend(shapes::costs(self));
        match format.medium() {
            Some(medium) => write(&document::document(self, tables, medium), medium, page),
            None => csv(&tables).into(),
        }
    }
}

/// Returns all numbers of all tables: table, row, column, value as printed.
fn csv(tables: &[TitledTable]) -> String {
    let mut lines = vec!["table,row,column,value".to_owned()];
    for (heading, table) in tables {
        for row in &table.rows {
            let values = row.iter().zip(&table.columns).skip(1);
            lines.extend(values.map(|(value, column)| {
                [heading, &row[0], &column.head, value]
                    .map(|it| field(it))
                    .join(",")
            }));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests;
