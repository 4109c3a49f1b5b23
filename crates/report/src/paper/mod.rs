//! Published experiments in the shape of their tables, with runs beside them.

mod beside;
mod beside_text;
mod catalog;
mod document;
mod figure;
mod reference;
mod shapes;

use results::RunRecord;

use crate::lineup::{Extra, LineupFormat, field};
use crate::markdown::{escape, table_lines};
use crate::page::Page;
use crate::styled::{Lines, Styled};
use crate::table::Table;
use crate::wrap::wrap;
use catalog::Shape;

pub use beside::Beside;
pub use beside_text::render_published;
pub use catalog::{PAPERS, Paper};
pub use document::{ComparisonDocument, ListedPaper, PaperDocument, PaperList};
pub use reference::{Reference, ReferenceError};

/// Runs of an experiment on one file system.
#[derive(Debug, Clone)]
pub struct PaperSide<'a> {
    /// The file system.
    pub name: String,
    /// Whether it lies on the device of which the peak is known.
    pub is_on_device: bool,
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
    /// Whether times among the costs are those of guests, which rank nothing.
    pub is_of_guests: bool,
    /// The same work on the bare device under the file systems, where it was measured.
    pub peak: Option<&'a RunRecord>,
}

/// What is to be said wherever a published figure stands beside a measured one.
const HARDWARE: &str = "The published systems ran on the hardware of their time: what differs from \
                        them is the machine as much as the file system.";

/// A table with its heading.
pub(crate) type Titled = (String, Table);

impl PaperTable<'_> {
    /// The table in the asked form, with a final line break.
    #[must_use]
    pub fn render(&self, format: LineupFormat, page: Page) -> Styled {
        let mut tables = shapes::tables(self);
        tables.extend(shapes::costs(self));
        match format {
            LineupFormat::Text => self.text(&tables, page),
            LineupFormat::Markdown => self.markdown(&tables).into(),
            LineupFormat::Html => self.html(&tables).into(),
            LineupFormat::Csv => csv(&tables).into(),
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
        for (heading, table) in tables {
            lines.extend(["".into(), page.bold(heading)]);
            let shown = table.lines(limit);
            lines.extend(shown.head.iter().map(|line| page.bold(line)));
            lines.extend(shown.body);
        }
        lines.push("");
        lines.into_text()
    }

    fn markdown(&self, tables: &[Titled]) -> String {
        let mut lines = vec![format!("# {}", escape(self.paper.name)), String::new()];
        let items = self.sentences();
        lines.extend(items.iter().map(|item| format!("- {}", escape(item))));
        lines.extend(self.alarms.iter().map(|it| format!("- **{}**", escape(it))));
        for (heading, table) in tables {
            let heading = format!("## {}", escape(heading));
            lines.extend([String::new(), heading, String::new()]);
            lines.extend(table_lines(table));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    fn html(&self, tables: &[Titled]) -> String {
        use maud::html;
        let body = html! {
            header { h1 { (self.paper.name) } }
            main #content {
                @for item in self.sentences() { p { (crate::html::sentence(&item)) } }
                @for alarm in &self.alarms { pre role="alert" { (alarm) } }
                @for (place, (heading, table)) in tables.iter().enumerate() {
                    h2 id={ "table-" (place) } { (crate::html::sentence(heading)) }
                    (crate::html::plain_table(table, heading, |_| None))
                }
            }
        };
        let links = html! {
            @for (place, (heading, _)) in tables.iter().enumerate() {
                a href={ "#table-" (place) } { (crate::html::sentence(heading)) }
            }
        };
        crate::html::document(self.paper.name, &links, &body)
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
