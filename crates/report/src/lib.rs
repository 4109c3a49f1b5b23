//! Renders records as text, Markdown, HTML, CSV and JSON, and plans as text.
//!
//! A report is a pure function of the record or plan. [`Model`] selects and rounds the numbers
//! once; all other code only arranges text.

mod chart;
pub mod classics;
mod compare;
mod csv;
mod curve;
mod document;
mod exchange;
mod fio_json;
mod fold;
mod forest;
mod group;
mod html;
mod imported;
mod iometer;
mod matrix;
mod measure;
mod model;
mod names;
mod numbers;
mod page;
mod paper;
mod parts;
mod plan_text;
mod quantile;
mod representative;
mod run_page;
#[cfg(test)]
#[path = "../../results/tests/results/sample.rs"]
mod sample;
mod selftest;
mod side_by_side;
mod styled;
mod table;
mod trace;
mod verdict;
mod warnings;
mod wrap;
mod write;

pub use self::compare::regression_lines;
pub use self::selftest::render_selftest;
pub use self::trace::{
    CheckedTrace, TraceCallCount, TraceDevice, TraceKindCount, TraceLatency, TraceLayerCount,
    TraceProcess, trace_text,
};
pub use document::ReportMedium;
use document::ReportMedium::{Markdown, Terminal};
pub use forest::{RatioRow, ratio_plot};
pub use html::{page_charts, page_policy, page_style, site_policy, small_page};
pub use model::Model;
pub use page::Page;
pub use paper::{
    ComparisonDocument, FigureTable, KnownSystem, ListedPaper, PAPERS, Paper, PaperDocument,
    PaperFigure, PaperList, PaperSide, PaperTable, PublishedComparison, PublishedValue, Reference,
    ReferenceError, render_comparisons,
};
pub use plan_text::{plan_text, plan_text_with_remarks};
pub use side_by_side::{BetterDirection, Extra, SideBySide, TableFormat};
pub use styled::{Style, Styled};
pub use table::{Align, Column, Table};
pub use verdict::{RunVerdict, VerdictFigure};
pub use warnings::ModelWarning;
pub use wrap::wrap;

use std::str::FromStr;

use results::{ImportRecord, RunRecord};

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Tables as plain text, suitable for e-mail.
    Text,
    /// Tables in Markdown.
    Markdown,
    /// A single self-contained HTML page with charts.
    Html,
    /// One row per cell and operation, in base units.
    Csv,
    /// The record itself.
    Json,
    /// The result file of Iometer 1.1.0.
    IometerCsv,
    /// The output that classic programs would have printed; empty for other cells.
    Classic,
    /// The output format of `fio --output-format=json`.
    FioJson,
    /// One page for printing: the main results, two charts and three sentences.
    Summary,
    /// JUnit's XML: one test case per cell.
    Junit,
    /// OpenMetrics text, for Prometheus.
    OpenMetrics,
    /// Markdown with the verdict first and all details folded, for a job on GitHub.
    GithubSummary,
    /// The JSON format of Bencher.
    Bencher,
    /// The line protocol of InfluxDB.
    Influx,
}

impl Format {
    /// All formats with their names.
    pub const ALL: [(Self, &'static str); 14] = [
        (Self::Text, "text"),
        (Self::Markdown, "markdown"),
        (Self::Html, "html"),
        (Self::Csv, "csv"),
        (Self::Json, "json"),
        (Self::IometerCsv, "iometer-csv"),
        (Self::Classic, "classic"),
        (Self::FioJson, "fio-json"),
        (Self::Summary, "summary"),
        (Self::Junit, "junit"),
        (Self::OpenMetrics, "openmetrics"),
        (Self::GithubSummary, "github-summary"),
        (Self::Bencher, "bencher"),
        (Self::Influx, "influx"),
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

/// Reason why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// There is no format of that name.
    #[error("there is no report format `{name}`")]
    UnknownFormat {
        /// The requested name.
        name: String,
    },
    /// The program was built without the code for Parquet.
    #[error("this program was built without Parquet")]
    NoParquet,
    /// The table cannot be written as Parquet.
    #[error("the table cannot be written as Parquet: {message}")]
    Parquet {
        /// The reason.
        message: String,
    },
}

impl ReportError {
    /// Returns one action that resolves the error.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::UnknownFormat { .. } => {
                let names: Vec<&str> = Format::ALL.iter().map(|(_, name)| *name).collect();
                format!("use one of {}", names.join(", "))
            }
            Self::NoParquet => {
                "install a package, build it with `--features parquet`, or use the Python package"
                    .to_owned()
            }
            Self::Parquet { .. } => "use `--format json`".to_owned(),
        }
    }
}

/// Tables of a run that can be written as Parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParquetTable {
    /// One row per cell, interval and operation.
    Intervals,
    /// One row per cell, operation and bucket of its latencies.
    Histograms,
}

/// Returns a table of a run as the contents of a Parquet file.
///
/// # Errors
/// If the program was built without Parquet, or the file would be too large.
#[cfg(feature = "parquet")]
pub fn parquet(record: &RunRecord, table: ParquetTable) -> Result<Vec<u8>, ReportError> {
    let failed = |error: ::parquet::errors::ParquetError| ReportError::Parquet {
        message: error.to_string(),
    };
    exchange::parquet::render(record, table).map_err(failed)
}

/// Returns that the program was built without Parquet.
///
/// # Errors
/// Always [`ReportError::NoParquet`].
#[cfg(not(feature = "parquet"))]
pub fn parquet(_record: &RunRecord, _table: ParquetTable) -> Result<Vec<u8>, ReportError> {
    Err(ReportError::NoParquet)
}

/// Returns the self-contained page of one record, or of several side by side.
#[must_use]
pub fn html(records: &[RunRecord]) -> String {
    run_page::render(records)
}

/// Contents of a report for people about repeated cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownRepetitions {
    /// Means with their confidence intervals.
    Means,
    /// Each repetition in addition to the means.
    All,
}

/// Position of the verdict in a report as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictPosition {
    /// At the beginning, where a reader starts.
    First,
    /// At the end, which a terminal shows.
    Last,
}

impl VerdictPosition {
    /// `true` if the verdict is at the end of a report in this medium. Only a text can end with it.
    pub(crate) fn is_last_in(self, medium: ReportMedium) -> bool {
        self == Self::Last && medium == Terminal
    }
}

/// Returns the report of a record as text, with a final line break.
#[must_use]
pub fn render_text(
    record: &RunRecord,
    repetitions: ShownRepetitions,
    verdict: VerdictPosition,
    page: Page,
) -> Styled {
    if let Some(import) = &record.import {
        return write::write(
            &imported::document(record, import, Terminal),
            Terminal,
            page,
        );
    }
    let model = match repetitions {
        ShownRepetitions::Means => Model::of_means(record),
        ShownRepetitions::All => Model::new(record),
    };
    write::write(&model::document(&model, Terminal, verdict), Terminal, page)
}

impl Format {
    /// `true` if imported results can be rendered in this format. The others describe cells that
    /// pgmeter measured.
    #[must_use]
    pub fn takes_imports(self) -> bool {
        matches!(
            self,
            Self::Text | Self::Markdown | Self::Html | Self::Csv | Self::Json | Self::Classic
        )
    }
}

/// Returns the report of imported results; `None` for a format that has no separate form for them.
fn render_import(
    record: &RunRecord,
    import: &ImportRecord,
    (format, page): (Format, Page),
) -> Option<Styled> {
    let in_medium =
        |medium| write::write(&imported::document(record, import, medium), medium, page);
    match format {
        Format::Text => Some(in_medium(Terminal)),
        Format::Markdown => Some(in_medium(Markdown)),
        Format::Html => Some(in_medium(ReportMedium::Page)),
        Format::Csv => Some(imported::csv(record, import).into()),
        Format::Classic => Some(imported::original_text(import).into()),
        _ => None,
    }
}

/// Returns the report of a record in this format, with a final line break. As text, it shows means
/// instead of single repetitions.
#[must_use]
pub fn render(record: &RunRecord, format: Format, page: Page) -> Styled {
    if let Some(import) = &record.import
        && let Some(report) = render_import(record, import, (format, page))
    {
        return report;
    }
    let text = match format {
        Format::Text => {
            return render_text(
                record,
                ShownRepetitions::Means,
                VerdictPosition::First,
                page,
            );
        }
        Format::Markdown => {
            let document = model::document(&Model::new(record), Markdown, VerdictPosition::First);
            return write::write(&document, Markdown, page);
        }
        Format::Html => run_page::render(std::slice::from_ref(record)),
        Format::Csv => csv::render(record),
        Format::Json => record.to_json(),
        Format::IometerCsv => iometer::render(record),
        // A run can contain programs of fronts as well as tables of classic programs.
        Format::Classic => [front::text(record), classics::text(record)]
            .into_iter()
            .flatten()
            .collect(),
        Format::FioJson => fio_json::render(record),
        Format::Summary => run_page::render_summary(record),
        Format::Junit => exchange::junit::render(record),
        Format::OpenMetrics => exchange::openmetrics::render(record),
        Format::GithubSummary => exchange::github::render(record),
        Format::Bencher => exchange::bencher::render(record),
        Format::Influx => exchange::influx::render(record),
    };
    text.into()
}
