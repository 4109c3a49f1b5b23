//! Runs in columns beside each other: rows are figures, each compared with the first column.

mod cache;
mod conclusion;
mod csv;
mod document;
mod drawn;
mod judge;
mod of_record;
mod rows;
mod summary;

use std::sync::Arc;

pub use results::{Better, LabFigure as Extra};
use results::{MEASURED_NS_MIN, RunRecord, longer_by};

use crate::document::Medium;
use crate::model::method;
use crate::page::Page;
use crate::styled::Styled;
use crate::write::write;

pub(crate) use csv::field;
pub(crate) use rows::Row;

/// Stands behind what was measured for too short a time.
const SHORT: &str = "†";
/// Stands behind an interval that is beside 1 as one of so many.
const MAYBE: &str = "?";

/// The forms of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Tables for people, which can be pasted into a mail.
    Text,
    /// Tables in Markdown.
    Markdown,
    /// One page with bars that needs nothing else.
    Html,
    /// One row for each figure of each column, without rounding.
    Csv,
}

impl TableFormat {
    /// The form of a document; none of rows for programs.
    pub(crate) fn medium(self) -> Option<Medium> {
        match self {
            Self::Text => Some(Medium::Terminal),
            Self::Markdown => Some(Medium::Markdown),
            Self::Html => Some(Medium::Page),
            Self::Csv => None,
        }
    }
}

/// Runs side by side, in columns.
#[derive(Debug, Clone, Default)]
pub struct SideBySide {
    /// What it is.
    pub title: String,
    /// When it was measured and on what, by name.
    pub facts: Vec<(&'static str, String)>,
    /// What holds for all of it, such as the scale.
    pub remarks: Vec<String>,
    /// The columns: a short name, and what is behind it.
    pub columns: Vec<(String, String)>,
    /// What failed.
    pub alarms: Vec<String>,
    /// Whether its times are those of guests, which are not ranked.
    pub is_of_guests: bool,
    sections: Vec<Section>,
    /// The command that measures it again, where it is known.
    pub command: Vec<String>,
    /// The runs that it is made of.
    runs: Vec<Listed>,
    /// Their records, in the same order; shared, as the table is copied to be judged.
    records: Arc<[RunRecord]>,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// How many pairs of columns are judged together.
    tests: usize,
}

/// The rows of one workload.
#[derive(Debug, Clone)]
struct Section {
    heading: String,
    alarms: Vec<String>,
    /// Whether the page cache was measured or devices were.
    cache: Option<cache::Cached>,
    /// How it was measured, in a few words.
    how: Option<String>,
    /// What came out, in sentences.
    conclusions: Vec<String>,
    rows: Vec<Row>,
    /// What would make longer what was measured for too short a time.
    longer: Vec<&'static str>,
    /// Whether nothing in it is compared with anything.
    is_in_words: bool,
}

impl Section {
    /// How it was measured, what served its I/O, and what came out.
    fn sentences(&self) -> impl Iterator<Item = &String> {
        let cache = self.cache.iter().map(|it| &it.said);
        self.how.iter().chain(cache).chain(&self.conclusions)
    }
}

/// A run of the table, in a line.
#[derive(Debug, Clone)]
struct Listed {
    id: String,
    column: String,
    section: String,
    /// Places of its section and of its column.
    place: [usize; 2],
    started: String,
    /// The codes of its warnings, each once.
    warnings: Vec<String>,
}

impl SideBySide {
    /// Columns with their names and what is behind each, still without rows.
    #[must_use]
    pub fn new(title: String, columns: Vec<(String, String)>) -> Self {
        Self {
            title,
            columns,
            ..Self::default()
        }
    }

    /// Adds a workload: the runs of each column, and figures that no record has.
    ///
    /// The runs of a column are taken together; a column without any stays empty.
    pub fn add(&mut self, heading: &str, columns: &[&[RunRecord]], extras: &[Extra]) {
        let (mut rows, alarms) = rows::of_records(columns);
        rows.extend(extras.iter().map(Row::of_extra));
        if self.is_of_guests {
            rows = rows.into_iter().map(Row::of_guests).collect();
        }
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        self.sections.push(Section {
            heading: heading.to_owned(),
            alarms,
            cache: cache::cached(columns, &names),
            how: how(columns),
            conclusions: Vec::new(),
            longer: longer(columns),
            rows,
            is_in_words: false,
        });
    }

    /// Adds rows that are told in words: for each its label, and what each column has.
    pub fn add_words(&mut self, heading: &str, rows: &[(&str, Vec<Option<String>>)]) {
        let rows = rows
            .iter()
            .map(|(label, words)| Row::of_words(label, words));
        self.sections.push(Section {
            heading: heading.to_owned(),
            alarms: Vec::new(),
            cache: None,
            how: None,
            conclusions: Vec::new(),
            longer: Vec::new(),
            rows: rows.collect(),
            is_in_words: true,
        });
    }

    /// The table in the asked form, with a final line break.
    #[must_use]
    pub fn render(&self, format: TableFormat, page: Page) -> Styled {
        let judged = self.judged();
        match format.medium() {
            Some(medium) => write(&document::document(&judged, medium), medium, page),
            None => csv::render(&judged).into(),
        }
    }

    /// The same with what came out, which needs all of its rows.
    fn judged(&self) -> Self {
        let mut judged = self.clone();
        judged.tests = judge::judge(&mut judged.sections);
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        for section in &mut judged.sections {
            if section.alarms.is_empty() {
                section.conclusions = conclusion::conclusions(&section.rows, &names, judged.tests);
            }
        }
        judged
    }

    /// Which of it the page cache served rather than devices, in a sentence; none where all of it
    /// reached devices.
    fn page_cache(&self) -> Option<String> {
        let is_cached = |section: &&Section| section.cache.as_ref().is_some_and(|it| it.is_cached);
        let cached: Vec<&str> = self
            .sections
            .iter()
            .filter(is_cached)
            .map(|section| section.heading.as_str())
            .collect();
        (!cached.is_empty()).then(|| {
            format!(
                "The page cache was measured, not devices: {}. To measure devices, add `--cache \
                 direct`, or `--cold` and more data than memory holds.",
                cached.join(", ")
            )
        })
    }

    /// How to read the tables; none where all is told in words. A page writes beside each figure
    /// which values are the better ones.
    fn legend(&self, is_page: bool) -> Option<String> {
        let mut sections = self.sections.iter();
        if !self.sections.is_empty() && sections.all(|section| section.is_in_words) {
            return None;
        }
        let first = self.columns.first().map_or("", |(name, _)| name.as_str());
        let times = match self.is_of_guests {
            true => format!(
                "{} marks times, and figures derived from them, of a kernel that is itself a \
                 process: they are not comparable with those of a machine, so they are not \
                 ranked. ",
                rows::GUEST_TIME
            ),
            false => String::new(),
        };
        let judged = match self.tests {
            0 if self.columns.len() < 2 || self.is_repeated() => String::new(),
            0 => "Nothing was repeated, so nothing is marked as the best: add `--repetitions 5`."
                .to_owned(),
            tests => format!(
                "The {tests} pairs of columns in all rows are judged together, so that at most 5 % \
                 of tables without any difference show one (Holm): * is better than every other \
                 column by more than chance; {MAYBE} marks an interval that excludes 1, but may do \
                 so by chance among so many."
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
                "{times}{ratios} its 95 % confidence interval, where it was repeated; an interval \
                 that includes 1 shows no difference. {judged}"
            )
            .trim_end()
            .to_owned(),
        )
    }

    /// Whether anything was measured more than once.
    fn is_repeated(&self) -> bool {
        let rows = self.sections.iter().flat_map(|section| &section.rows);
        let mut values = rows.flat_map(|row| row.values.iter().flatten());
        values.any(|value| value.estimate.is_some_and(|it| it.n > 1))
    }

    /// What the mark of rows that were measured for too short a time means; none without any.
    fn too_short(&self) -> Option<String> {
        let mut longer: Vec<&str> = Vec::new();
        for by in self.sections.iter().flat_map(|it| &it.longer) {
            if !longer.contains(by) {
                longer.push(by);
            }
        }
        (!longer.is_empty()).then(|| {
            format!(
                "{SHORT} was measured for less than {} s, which is too short for rates: use {}.",
                MEASURED_NS_MIN / 1_000_000_000,
                longer.join(", ")
            )
        })
    }

    /// What stands below all tables.
    fn foot(&self, is_page: bool) -> Vec<String> {
        let told = [self.legend(is_page), self.too_short()]
            .into_iter()
            .flatten();
        told.chain(self.notes.iter().cloned()).collect()
    }
}

/// How the runs of a workload were measured, where all were measured alike.
fn how(columns: &[&[RunRecord]]) -> Option<String> {
    let mut runs = columns.iter().copied().flatten();
    let first = method(runs.next()?);
    let is_alike = runs.all(|run| method(run) == first);
    let most = columns.iter().map(|runs| runs.len()).max().unwrap_or(0);
    let often = match most {
        1 => "once".to_owned(),
        most => format!("{most} times"),
    };
    let how = match is_alike && !first.is_empty() {
        true => format!(" with {first}"),
        false => String::new(),
    };
    Some(format!("Measured {often}{how}."))
}

/// What would make longer what was measured for too short a time.
fn longer(columns: &[&[RunRecord]]) -> Vec<&'static str> {
    let mut longer = Vec::new();
    for run in columns.iter().copied().flatten() {
        for cell in run.cells.iter().filter(|cell| cell.is_too_short()) {
            let mut planned = run.plan.cells.iter();
            let by = planned.find(|it| it.index == cell.index).map(longer_by);
            longer.extend(by.filter(|by| !longer.contains(by)));
        }
    }
    longer
}

#[cfg(test)]
mod tests;
