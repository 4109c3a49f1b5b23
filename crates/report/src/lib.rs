//! Records turned into text, Markdown, HTML, CSV and JSON.
//!
//! A report is a pure function of the record: the numbers are chosen and rounded once, in
//! [`Model`], and what follows only arranges text.

mod chart;
pub mod classics;
mod compare;
mod curve;
mod document;
mod fio_json;
mod fold;
mod group;
mod html;
mod iometer;
mod measure;
mod model;
mod names;
mod numbers;
mod page;
mod paper;
mod parts;
mod picks;
mod quantile;
mod run_page;
#[cfg(test)]
#[path = "../../results/tests/results/sample.rs"]
mod sample;
mod selftest;
mod side_by_side;
mod styled;
mod table;
mod tidy;
mod verdict;
mod warnings;
mod wrap;
mod write;

pub use self::compare::regression_lines;
pub use self::selftest::render_selftest;
pub use document::Medium;
use document::Medium::{Markdown, Terminal};
pub use html::page_policy;
pub use model::Model;
pub use page::Page;
pub use paper::{
    ComparisonDocument, ListedPaper, PAPERS, Paper, PaperDocument, PaperList, PaperSide,
    PaperTable, PublishedComparison, Reference, ReferenceError, render_comparisons,
};
pub use side_by_side::{Better, Extra, SideBySide, TableFormat};
pub use styled::{Style, Styled};
pub use table::{Align, Column, Table};
pub use verdict::{KnownFigure, Verdict};
pub use warnings::ModelWarning;
pub use wrap::wrap;

use std::str::FromStr;

use results::RunRecord;

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Tables for people, which can be pasted into a mail.
    Text,
    /// Tables in Markdown.
    Markdown,
    /// One page with charts that needs nothing else.
    Html,
    /// One row for each cell and operation, base units.
    Csv,
    /// The record itself.
    Json,
    /// The result file of Iometer 1.1.0.
    IometerCsv,
    /// What the classic programs themselves would have printed; nothing of other cells.
    Classic,
    /// What `fio --output-format=json` prints.
    FioJson,
}

impl Format {
    /// Every form with its name.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Text, "text"),
        (Self::Markdown, "markdown"),
        (Self::Html, "html"),
        (Self::Csv, "csv"),
        (Self::Json, "json"),
        (Self::IometerCsv, "iometer-csv"),
        (Self::Classic, "classic"),
        (Self::FioJson, "fio-json"),
    ];
}

impl FromStr for Format {
    type Err = ReportError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|(_, known)| *known == name)
            .map(|(format, _)| format)
            .ok_or_else(|| ReportError::UnknownFormat {
                name: name.to_owned(),
            })
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// There is no form of that name.
    #[error("there is no report format `{name}`")]
    UnknownFormat {
        /// The name asked for.
        name: String,
    },
}

impl ReportError {
    /// One action that helps.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::UnknownFormat { .. } => {
                let names: Vec<&str> = Format::ALL.iter().map(|(_, name)| *name).collect();
                format!("use one of {}", names.join(", "))
            }
        }
    }
}

/// The page of one record, or of several beside each other, which needs nothing but itself.
#[must_use]
pub fn html(records: &[RunRecord]) -> String {
    run_page::render(records)
}

/// What a report for people says of cells that were repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetitions {
    /// The means, with their intervals.
    Means,
    /// Each of them as well.
    All,
}

/// The report of a record as text, with a final line break.
#[must_use]
pub fn render_text(record: &RunRecord, repetitions: Repetitions, page: Page) -> Styled {
    let model = match repetitions {
        Repetitions::Means => Model::of_means(record),
        Repetitions::All => Model::new(record),
    };
    write::write(&model::document(&model, Terminal), Terminal, page)
}

/// The report of a record in the asked form, with a final line break; as text, with means in place
/// of repetitions.
#[must_use]
pub fn render(record: &RunRecord, format: Format, page: Page) -> Styled {
    let text = match format {
        Format::Text => return render_text(record, Repetitions::Means, page),
        Format::Markdown => {
            let document = model::document(&Model::new(record), Markdown);
            return write::write(&document, Markdown, page);
        }
        Format::Html => run_page::render(std::slice::from_ref(record)),
        Format::Csv => tidy::render(record),
        Format::Json => record.to_json(),
        Format::IometerCsv => iometer::render(record),
        Format::Classic => [front::text(record), classics::text(record)]
            .into_iter()
            .flatten()
            .collect(),
        Format::FioJson => fio_json::render(record),
    };
    text.into()
}
