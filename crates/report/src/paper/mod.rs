//! Published experiments in the shape of their tables, with runs beside them.

mod beside;
mod board;
mod catalog;
mod charts;
mod comparison;
mod document;
mod figure;
mod json;
mod reference;
mod shapes;

use results::RunRecord;

use crate::page::Page;
use crate::side_by_side::{Extra, TableFormat, field};
use crate::styled::Styled;
use crate::table::Table;
use crate::write::write;
use catalog::Shape;

pub use beside::render_comparisons;
pub use catalog::{PAPERS, Paper};
pub use comparison::PublishedComparison;
pub use json::{ComparisonDocument, ListedPaper, PaperDocument, PaperList};
pub use reference::{Reference, ReferenceError};

/// Runs of an experiment on one file system.
#[derive(Debug, Clone)]
pub struct PaperSide<'a> {
    /// The file system.
    pub name: String,
    /// What its shares of a peak are of, where that was measured: the device that it lies on, or
    /// itself past the page cache.
    pub peak: Option<&'a RunRecord>,
    /// Its runs; figures are means over them.
    pub records: &'a [RunRecord],
}

/// An experiment with runs beside its published figures.
#[derive(Debug)]
pub struct PaperTable<'a> {
    /// Which.
    pub paper: &'a Paper,
    /// What it is, and where it was published.
    pub heading: Vec<String>,
    /// What holds for the runs, such as the scale and what was mounted how.
    pub remarks: Vec<String>,
    /// What failed.
    pub alarms: Vec<String>,
    /// The runs; none shows the published figures alone.
    pub sides: Vec<PaperSide<'a>>,
    /// What the runs cost beside, each with its samples of every side.
    pub costs: Vec<Extra>,
    /// Whether times among the costs are those of guests, which are not ranked.
    pub is_of_guests: bool,
    /// The same work on the bare device under the file systems, where it was measured.
    pub peak: Option<&'a RunRecord>,
}

/// What is to be said wherever a published figure stands beside a measured one.
const HARDWARE: &str = "The published systems ran on the hardware of their time: differences come \
                        from the machine as much as from the file system.";

/// A table with its heading.
pub(crate) type Titled = (String, Table);

impl PaperTable<'_> {
    /// The table in the asked form, with a final line break.
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

/// Every number of every table: table, row, column, value as it is printed.
fn csv(tables: &[Titled]) -> String {
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
