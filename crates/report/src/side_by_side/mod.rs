//! Runs side by side in columns. Rows are metrics, each compared with the first column.

mod cache;
mod conclusion;
mod csv;
mod document;
mod drawn;
mod judge;
mod of_record;
mod rows;
mod summary;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use results::{BetterDirection, LabFigure as Extra};
use results::{MEASURED_NS_MIN, RunRecord, WarningCode, WarningLevel, lengthening_options};

use crate::VerdictPosition;
use crate::document::ReportMedium;
use crate::html::within_run_note;
use crate::model::method;
use crate::page::Page;
use crate::styled::Styled;
use crate::write::write;

pub(crate) use csv::field;
pub(crate) use rows::FigureRow;

/// Mark of measurements that were too short.
const SHORT_MARK: &str = "†";
/// Mark of intervals that exclude 1 but are not significant after correction.
const UNCERTAIN_MARK: &str = "?";

/// Formats of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Tables as plain text, suitable for e-mail.
    Text,
    /// Tables in Markdown.
    Markdown,
    /// A single self-contained page with bar charts.
    Html,
    /// One row per metric and column, without rounding.
    Csv,
}

impl TableFormat {
    /// Returns the medium of a report for people; `None` for CSV.
    pub(crate) fn medium(self) -> Option<ReportMedium> {
        match self {
            Self::Text => Some(ReportMedium::Terminal),
            Self::Markdown => Some(ReportMedium::Markdown),
            Self::Html => Some(ReportMedium::Page),
            Self::Csv => None,
        }
    }
}

/// Runs side by side, in columns.
#[derive(Debug, Clone, Default)]
pub struct SideBySide {
    /// Title.
    pub title: String,
    /// Facts about time and machine, by name.
    pub facts: Vec<(&'static str, String)>,
    /// General conditions, such as the scale.
    pub remarks: Vec<String>,
    /// Columns: a short name and a description.
    pub columns: Vec<(String, String)>,
    /// Failures.
    pub failures: Vec<String>,
    /// `true` if the times were measured in guests, so they are not ranked.
    pub is_of_guests: bool,
    sections: Vec<WorkloadSection>,
    /// Command that repeats the measurement; empty if unknown.
    pub command: Vec<String>,
    /// Runs of the table.
    runs: Vec<Listed>,
    /// Records of the runs, in the same order. They are shared, because the table is cloned for
    /// judging.
    records: Arc<[RunRecord]>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Number of column pairs that are judged together.
    tests: usize,
}

/// The rows of one workload.
#[derive(Debug, Clone)]
struct WorkloadSection {
    heading: String,
    failures: Vec<String>,
    /// What served the I/O: the page cache or devices.
    cache: Option<cache::IoServedBy>,
    /// Short description of how the workload was measured.
    method: Option<String>,
    /// Conclusions, in sentences.
    conclusions: Vec<String>,
    rows: Vec<FigureRow>,
    /// Options that lengthen measurements that were too short.
    lengthening_options: Vec<&'static str>,
    /// `true` if all rows are words, without comparisons.
    is_text_only: bool,
}

impl WorkloadSection {
    /// Returns how the workload was measured, what served its I/O, and the conclusions.
    fn sentences(&self) -> impl Iterator<Item = &String> {
        let cache = self.cache.iter().map(|it| &it.sentence);
        self.method.iter().chain(cache).chain(&self.conclusions)
    }
}

/// A run in the list of runs.
#[derive(Debug, Clone)]
struct Listed {
    id: String,
    column: String,
    section: String,
    /// Indexes of its section and its column.
    position: [usize; 2],
    started: String,
    /// Distinct codes of its warnings.
    warnings: Vec<String>,
}

impl SideBySide {
    /// Creates a table of named and described columns, without rows.
    #[must_use]
    pub fn new(title: String, columns: Vec<(String, String)>) -> Self {
        Self {
            title,
            columns,
            ..Self::default()
        }
    }

    /// Adds a workload: the runs of each column, and additional metrics that records do not have.
    ///
    /// All runs of a column are taken together. A column without runs stays empty.
    pub fn add(&mut self, heading: &str, columns: &[&[RunRecord]], extras: &[Extra]) {
        let (mut rows, alarms) = rows::of_records(columns);
        rows.extend(extras.iter().map(FigureRow::of_extra));
        if self.is_of_guests {
            rows = rows.into_iter().map(FigureRow::of_guests).collect();
        }
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        self.sections.push(WorkloadSection {
            heading: heading.to_owned(),
            failures: alarms,
            cache: cache::cached(columns, &names),
            method: method_sentence(columns),
            conclusions: Vec::new(),
            lengthening_options: longer(columns),
            rows,
            is_text_only: false,
        });
    }

    /// Adds rows of words. Each has a label and a text per column.
    pub fn add_words(&mut self, heading: &str, rows: &[(&str, Vec<Option<String>>)]) {
        let rows = rows
            .iter()
            .map(|(label, words)| FigureRow::of_words(label, words));
        self.sections.push(WorkloadSection {
            heading: heading.to_owned(),
            failures: Vec::new(),
            cache: None,
            method: None,
            conclusions: Vec::new(),
            lengthening_options: Vec::new(),
            rows: rows.collect(),
            is_text_only: true,
        });
    }

    /// Renders the table in this format, with a final line break.
    #[must_use]
    pub fn render(&self, format: TableFormat, page: Page) -> Styled {
        self.render_at(VerdictPosition::First, format, page)
    }

    /// Same as [`SideBySide::render`], but a text ends with the summary, which a terminal then
    /// shows.
    #[must_use]
    pub fn render_measured(&self, format: TableFormat, page: Page) -> Styled {
        self.render_at(VerdictPosition::Last, format, page)
    }

    fn render_at(&self, position: VerdictPosition, format: TableFormat, page: Page) -> Styled {
        let judged = self.judged();
        match format.medium() {
            Some(medium) => {
                let document = document::document(&judged, medium, position);
                write(&document, medium, page)
            }
            None => csv::render(&judged).into(),
        }
    }

    /// Returns the table with verdicts and conclusions, which need all rows.
    fn judged(&self) -> Self {
        let mut judged = self.clone();
        judged.tests = judge::judge(&mut judged.sections);
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        for section in &mut judged.sections {
            // Columns that did different work allow no conclusion.
            if section.failures.is_empty() {
                section.conclusions = conclusion::conclusions(&section.rows, &names, judged.tests);
            }
        }
        judged
    }

    /// Lists the workloads that the page cache served, in a sentence; `None` if devices served all
    /// of them.
    fn page_cache(&self) -> Option<String> {
        let is_cached =
            |section: &&WorkloadSection| section.cache.as_ref().is_some_and(|it| it.is_cached);
        let cached: Vec<&str> = self
            .sections
            .iter()
            .filter(is_cached)
            .map(|section| section.heading.as_str())
            .collect();
        (!cached.is_empty()).then(|| {
            format!(
                "The page cache was measured, not the devices: {}. To measure devices, add \
                 `--cold` and use more data than memory holds, or, if all file sizes are \
                 multiples of 4096 bytes, add `--cache direct`.",
                cached.join(", ")
            )
        })
    }

    /// Counts the runs that have each warning; `None` if none has one.
    fn warned(&self) -> Option<String> {
        let mut counts: BTreeMap<&WarningCode, usize> = BTreeMap::new();
        for record in self.records.iter() {
            let warnings = record.warnings.iter();
            let warnings = warnings.filter(|it| it.level() == WarningLevel::Warning);
            // A run may have the same warning for each cell.
            let codes: BTreeSet<&WarningCode> = warnings.map(|it| &it.code).collect();
            for code in codes {
                *counts.entry(code).or_default() += 1;
            }
        }
        let mut counts: Vec<(&WarningCode, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| Reverse(*count));
        let (subject, has_counts) = match self.records.len() {
            1 => ("Warnings".to_owned(), false),
            runs => (
                format!("Warnings, with the number of the {runs} runs that have each"),
                true,
            ),
        };
        let entries = counts.iter().map(|(code, count)| match has_counts {
            true => format!("{code} ({count})"),
            false => code.to_string(),
        });
        let entries: Vec<String> = entries.collect();
        let entries = Some(entries.join(", ")).filter(|it| !it.is_empty());
        entries.map(|it| format!("{subject}: {it}; `pgmeter report RUN` shows them."))
    }

    /// Explains the tables; `None` if all rows are words. On a page, each metric already shows
    /// which values are better.
    fn legend(&self, is_page: bool) -> Option<String> {
        let mut sections = self.sections.iter();
        if !self.sections.is_empty() && sections.all(|section| section.is_text_only) {
            return None;
        }
        let first = self.columns.first().map_or("", |(name, _)| name.as_str());
        let times = match self.is_of_guests {
            true => format!(
                "{} marks times, and values derived from them, that were measured in a guest: \
                 they are not comparable with native times, so they are not ranked. ",
                rows::GUEST_MARK
            ),
            false => String::new(),
        };
        let judged = match self.tests {
            // Repetitions without a test: no row has a better direction and values in two columns.
            0 if self.columns.len() < 2 || self.is_repeated() => String::new(),
            0 => "Nothing was repeated, so nothing is marked as the best: add `--repetitions 5`."
                .to_owned(),
            tests => format!(
                "* is significantly better than every other column (p < 0.05 after Holm's \
                 correction for the {tests} pairs of columns in all rows); {UNCERTAIN_MARK} marks \
                 an interval that excludes 1 but is not significant after this correction."
            ),
        };
        let ratios = match is_page {
            true => format!("× is the ratio to {first}, and below it"),
            false => format!(
                "↑ higher is better, ↓ lower is better. The line below is the ratio to {first}, \
                 the one below that"
            ),
        };
        Some(
            format!(
                "{times}{ratios} its 95 % confidence interval, if it was repeated; an interval \
                 that includes 1 shows no significant difference. {judged}"
            )
            .trim_end()
            .to_owned(),
        )
    }

    /// Returns `true` if anything was measured more than once.
    fn is_repeated(&self) -> bool {
        let rows = self.sections.iter().flat_map(|section| &section.rows);
        let mut values = rows.flat_map(|row| row.values.iter().flatten());
        values.any(|value| value.estimate.is_some_and(|it| it.n > 1))
    }

    /// Explains the mark of measurements that were too short; `None` if there are none.
    fn too_short(&self) -> Option<String> {
        let mut longer: Vec<&str> = Vec::new();
        for by in self.sections.iter().flat_map(|it| &it.lengthening_options) {
            if !longer.contains(by) {
                longer.push(by);
            }
        }
        (!longer.is_empty()).then(|| {
            format!(
                "{SHORT_MARK} was measured for less than {} s, which is too short for rates: use \
                 {}.",
                MEASURED_NS_MIN / 1_000_000_000,
                longer.join(", ")
            )
        })
    }

    /// Returns the paragraphs below all tables.
    fn footnotes(&self, is_page: bool) -> Vec<String> {
        let rows = self.sections.iter().flat_map(|section| &section.rows);
        let values = rows.flat_map(|row| row.values.iter().flatten());
        let note = within_run_note(values.map(rows::ColumnValue::interval));
        let note = note.filter(|_| is_page).map(str::to_owned);
        let lines = [self.legend(is_page), note, self.too_short()];
        lines
            .into_iter()
            .flatten()
            .chain(self.notes.iter().cloned())
            .collect()
    }
}

/// Describes how the runs of a workload were measured, as far as all have that in common.
fn method_sentence(columns: &[&[RunRecord]]) -> Option<String> {
    let mut runs = columns.iter().copied().flatten();
    let first = method(runs.next()?);
    let is_alike = runs.all(|run| method(run) == first);
    let most = columns.iter().map(|runs| runs.len()).max().unwrap_or(0);
    let often = match most {
        1 => "once".to_owned(),
        most => format!("{most} times"),
    };
    let suffix = match is_alike && !first.is_empty() {
        true => format!(" with {first}"),
        false => String::new(),
    };
    Some(format!("Measured {often}{suffix}."))
}

/// Returns the options that lengthen measurements that were too short.
fn longer(columns: &[&[RunRecord]]) -> Vec<&'static str> {
    let mut longer = Vec::new();
    for run in columns.iter().copied().flatten() {
        for cell in run.cells.iter().filter(|cell| cell.is_too_short()) {
            let by = run.plan.cell(cell.index).map(lengthening_options);
            longer.extend(by.filter(|by| !longer.contains(by)));
        }
    }
    longer
}

#[cfg(test)]
mod tests;
