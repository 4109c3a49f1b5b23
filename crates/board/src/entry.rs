//! Values of a submission in the tables of a board, and its level of trust.

use std::collections::BTreeMap;

use report::{FigureTable, Paper};
use results::{CellRecord, RunRecord, Status};
use schemars::JsonSchema;
use serde::Serialize;
use stats::Estimate;

use crate::groups::groups_of;
use crate::imported;
use crate::value::MeasuredValue;
use crate::work::{work_figure, work_hash};
use crate::{BoardConfig, BoardTable, Submission, SubmittedResult};

/// Half-width of a 95 % interval above which repetitions are not enough, relative to the mean.
pub(crate) const PRECISION: f64 = 0.05;
/// Number of repetitions that are enough.
pub(crate) const REPETITIONS_MIN: u64 = 5;

/// Values of a submission in one table.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// Name of the table.
    pub table: String,
    /// Hash of the work; none for figures.
    pub work: Option<String>,
    /// Values by column.
    pub columns: BTreeMap<String, MeasuredValue>,
}

/// Reason to believe a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrustLevel {
    /// Figures were typed in from a publication.
    Published,
    /// There is a complete record of a run, or the output of another program.
    Record,
    /// The record has enough repetitions.
    Repeated,
    /// Another submitter's record of the same work on similar hardware agrees.
    Reproduced,
}

impl TrustLevel {
    /// All levels, the lowest first.
    pub const ALL: [Self; 4] = [
        Self::Published,
        Self::Record,
        Self::Repeated,
        Self::Reproduced,
    ];

    /// Returns the level as a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Record => "record",
            Self::Repeated => "repeated",
            Self::Reproduced => "reproduced",
        }
    }

    /// Returns the level of a submission, without regard to others.
    pub(crate) fn of(submission: &Submission, values: &[Values]) -> Self {
        let estimates = values.iter().flat_map(|it| it.columns.values());
        let mut estimates = estimates.map(|it| &it.estimate);
        let is_precise = |it: &Option<Estimate>| {
            it.as_ref().is_some_and(|it| {
                it.n >= REPETITIONS_MIN && it.relative_error().is_some_and(|it| it <= PRECISION)
            })
        };
        match submission.record() {
            None => Self::Published,
            Some(_) if !values.is_empty() && estimates.all(is_precise) => Self::Repeated,
            Some(_) => Self::Record,
        }
    }
}

impl Values {
    /// Returns the values of a submission in each table that it belongs to.
    pub(crate) fn of(submission: &Submission, config: &BoardConfig) -> Vec<Self> {
        match &submission.result {
            SubmittedResult::Record { record, .. } => Self::of_record(record, config),
            SubmittedResult::Figures(figures) => {
                let rows = figures.rows.iter().filter_map(|row| {
                    let table = config.table(&row.table)?;
                    let columns = row.values.iter().filter_map(|(column, text)| {
                        table.column(column)?;
                        Some((column.clone(), MeasuredValue::printed(text)?))
                    });
                    let columns: BTreeMap<_, _> = columns.collect();
                    columns.contains_key(&table.rank_by).then(|| Self {
                        table: table.name.clone(),
                        work: None,
                        columns,
                    })
                });
                rows.collect()
            }
        }
    }

    /// Returns the values of a record in each table that it belongs to.
    #[must_use]
    pub fn of_record(record: &RunRecord, config: &BoardConfig) -> Vec<Self> {
        let tables = config.tables.iter();
        let values = tables.filter_map(|table| match &record.import {
            Some(import) => imported::in_table(import, table).map(|columns| Self {
                table: table.name.clone(),
                // The source describes its work in its own words, which no hash covers.
                work: None,
                columns,
            }),
            None => Self::in_table(record, table),
        });
        values.collect()
    }

    fn in_table(record: &RunRecord, table: &BoardTable) -> Option<Self> {
        let (cells, figures) = match (&table.paper, &table.work) {
            (Some(paper), _) => {
                let paper = Paper::find(paper)?;
                let cells = record.cells.iter();
                let cells = cells.filter(|it| it.status == Status::Complete);
                let cells: Vec<&CellRecord> =
                    cells.filter(|it| paper.is_full_size(record, it)).collect();
                (cells, Some(figures_of(paper, table)?))
            }
            (None, Some(work)) => {
                let is_work = |cell: &&CellRecord| {
                    let planned = record.plan.cell(cell.index);
                    planned.is_some_and(|it| work_hash(it) == *work)
                };
                // Several cells of a run may do the same work, such as on two targets: the first
                // one counts, with its repetitions.
                let groups = groups_of(record);
                let group = groups
                    .into_iter()
                    .find(|it| it.first().is_some_and(&is_work));
                (group?, None)
            }
            (None, None) => return None,
        };
        let columns = table.columns.iter().filter_map(|column| {
            let value = |cell: &&CellRecord| match &figures {
                Some(it) => {
                    let figure = it.figures.iter().find(|it| it.label == column.name)?;
                    figure.measured(cell)
                }
                None => work_figure(&column.name, cell),
            };
            let samples: Vec<f64> = cells.iter().filter_map(value).collect();
            Some((column.name.clone(), MeasuredValue::of(&samples)?))
        });
        let columns: BTreeMap<_, _> = columns.collect();
        let first = cells.first()?;
        columns.contains_key(&table.rank_by).then(|| Self {
            table: table.name.clone(),
            work: record.plan.cell(first.index).map(work_hash),
            columns,
        })
    }
}

/// Returns the figures of a table in its publication.
fn figures_of(paper: &Paper, table: &BoardTable) -> Option<FigureTable> {
    let is_it = |it: &FigureTable| {
        table
            .heading
            .as_ref()
            .is_none_or(|heading| it.heading == *heading)
    };
    paper.figure_tables().into_iter().find(is_it)
}
