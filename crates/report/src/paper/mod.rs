//! Published experiments in the shape of their tables, with runs beside them.

mod board;
mod catalog;
mod comparison;
mod comparison_text;
mod document;
mod figure;
mod html;
mod reference;
mod shapes;

use results::RunRecord;

use crate::markdown::{escape, table_lines};
use crate::page::Page;
use crate::side_by_side::{Extra, TableFormat, field};
use crate::styled::{Lines, Styled};
use crate::table::Table;
use crate::wrap::wrap;
use board::{boards, doubts, standings};
use catalog::Shape;

pub use catalog::{PAPERS, Paper};
pub use comparison::PublishedComparison;
pub use comparison_text::render_published;
pub use document::{ComparisonDocument, ListedPaper, PaperDocument, PaperList};
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
        match format {
            TableFormat::Text => self.text(&tables, page),
            TableFormat::Markdown => self.markdown(&tables).into(),
            TableFormat::Html => self.html(&tables).into(),
            TableFormat::Csv => csv(&tables).into(),
        }
    }

    fn sentences(&self) -> Vec<String> {
        let mut sentences = self.heading.clone();
        sentences.push(format!("full size: {}", self.paper.size));
        if !self.sides.is_empty() {
            if self.paper.published.is_some() {
                sentences.push(HARDWARE.to_owned());
            }
            sentences.extend(self.remarks.iter().cloned());
        }
        sentences.push(self.paper.remark.to_owned());
        sentences
    }

    fn text(&self, tables: &[Titled], page: Page) -> Styled {
        let limit = page.width.max(20);
        let mut lines = Lines::default();
        for sentence in self.sentences() {
            lines.extend(wrap(&sentence, limit));
        }
        for alarm in &self.alarms {
            let wrapped = alarm.lines().flat_map(|line| wrap(line, limit));
            lines.extend(wrapped.map(|line| page.red(&line)));
        }
        for standing in standings(self, &boards(self)) {
            lines.extend(wrap(&standing, limit).iter().map(|line| page.bold(line)));
        }
        for doubt in doubts(self) {
            lines.extend(wrap(&doubt, limit).iter().map(|line| page.yellow(line)));
        }
        for (heading, table) in tables {
            lines.extend(["".into(), page.bold(heading)]);
            let shown = table.lines(limit);
            lines.extend(shown.head.iter().map(|line| page.bold(line)));
            lines.extend(shown.body);
        }
        lines.push("");
        let systems = self.systems();
        lines.extend(systems.iter().flat_map(|system| wrap(system, limit)));
        if !systems.is_empty() {
            lines.push("");
        }
        lines.into_text()
    }

    /// What the published systems were, as far as it is known.
    fn systems(&self) -> Vec<String> {
        let known = self.paper.systems().into_iter();
        let told = known.filter(|it| !it.what.is_empty());
        told.map(|it| format!("{} ({}): {}", it.system, it.year, it.what))
            .collect()
    }

    fn markdown(&self, tables: &[Titled]) -> String {
        let mut lines = vec![format!("# {}", escape(self.paper.name)), String::new()];
        let items = self.sentences();
        lines.extend(items.iter().map(|item| format!("- {}", escape(item))));
        lines.extend(self.alarms.iter().map(|it| format!("- **{}**", escape(it))));
        let standings = standings(self, &boards(self));
        let told = standings
            .iter()
            .chain(&doubts(self))
            .map(|it| escape(it))
            .collect::<Vec<_>>();
        lines.extend(told.iter().map(|it| format!("- **{it}**")));
        for (heading, table) in tables {
            let heading = format!("## {}", escape(heading));
            lines.extend([String::new(), heading, String::new()]);
            lines.extend(table_lines(table));
        }
        lines.push(String::new());
        lines.extend(self.systems().iter().map(|it| format!("- {}", escape(it))));
        lines.push(String::new());
        lines.join("\n")
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
