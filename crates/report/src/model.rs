//! What a report says: the numbers are chosen and rounded here, once.

mod crew;
mod curve;
mod document;
mod open_loop;
mod sentences;
mod steady;
mod tables;
mod usage;
mod within;

pub(crate) use crew::{CrewModel, part as crew_part};
pub(crate) use document::document;
pub(crate) use sentences::{host_and_machine, method};
pub(crate) use steady::sentence as steady_sentence;
pub(crate) use within::sentence as within_sentence;

use results::{CellRecord, RunRecord};

use crate::numbers::LatencyUnit;
use crate::table::Table;
use crate::verdict::{Verdict, verdicts};
use crate::warnings::{ModelWarning, warnings};

/// What a report for people says, in whichever form it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Program, run and time.
    pub title: String,
    /// How the run ended, unless it is complete.
    pub outcome: Option<String>,
    /// The machine, in a line.
    pub environment: String,
    /// What holds for all cells, in a line.
    pub settings: String,
    /// One row for each cell.
    pub cells: Table,
    /// One row for each operation, where cells have several.
    pub operations: Option<Table>,
    /// Response times and lateness, where requests began when they were due.
    pub open_loop: Option<Table>,
    /// Response-time curves, where any was measured.
    pub curves: Option<Table>,
    /// What classic programs report, by their own names.
    pub classic: Option<Table>,
    /// Processor and device, where they are known.
    pub usage: Option<Table>,
    /// The rounds of cells that were measured until they were steady.
    pub steady: Option<Table>,
    /// What the intervals of each cell say about its rate, where there are enough.
    pub within: Option<Table>,
    /// What each of several processes did.
    pub crew: Option<CrewModel>,
    /// Figures over repetitions.
    pub estimates: Option<Table>,
    /// The same of each operation, where cells have several; only where single repetitions are
    /// left out.
    pub operation_estimates: Option<Table>,
    /// Whether single repetitions are left out.
    pub is_of_means: bool,
    /// How to read the tables.
    pub notes: Vec<String>,
    /// Reasons to doubt a figure, the gravest first, then what is worth knowing.
    pub warnings: Vec<ModelWarning>,
    /// What the figures say, in words.
    pub verdicts: Vec<Verdict>,
}

impl Model {
    /// As [`Self::new`], without the single repetitions of cells of which there is a mean.
    #[must_use]
    pub fn of_means(record: &RunRecord) -> Self {
        let mut model = Self::new(record);
        if record.estimates.is_empty() {
            return model;
        }
        let has_mean = |cell: &CellRecord| record.estimates.iter().any(|it| it.key() == cell.key());
        let mut once = record.clone();
        once.cells.retain(|cell| !has_mean(cell));
        let unit = unit(record);
        model.cells = tables::cells(&once, unit);
        model.operations = tables::operations(&once, unit);
        model.operation_estimates = tables::operation_estimates(record, unit);
        model.usage = usage::usage(&once);
        model.steady = steady::table(&once);
        model.within = within::table(&once);
        model.crew = crew::model(&once, unit);
        model.is_of_means = true;
        let says = match record.crew {
            None => "`--all` shows each repetition, and what it used of processor and device",
            Some(_) => "`--all` shows each repetition, and what each process did in it",
        };
        model.notes.push(says.to_owned());
        model
    }

    /// What a report of this record says.
    #[must_use]
    pub fn new(record: &RunRecord) -> Self {
        let unit = unit(record);
        let cells = tables::cells(record, unit);
        let operations = tables::operations(record, unit);
        let mut notes = Vec::new();
        let lacks = |table: &Table| table.rows.iter().flatten().any(|text| text == "-");
        if lacks(&cells) || operations.as_ref().is_some_and(lacks) {
            notes.push(format!(
                "-: fewer than {} operations lie beyond this percentile",
                results::SAMPLES_BEYOND_MIN
            ));
        }
        let failed = record.cells.iter().any(|cell| cell.total.errors > 0);
        if !failed && record.cells.iter().any(|cell| cell.total.count > 0) {
            notes.push("no operation failed".to_owned());
        }
        notes.extend(sentences::precision(record));
        let warnings = warnings(record);
        let estimates = tables::estimates(record, unit);
        if estimates.is_some() {
            let says = "detects: the smallest difference in rate that a comparison of two such \
                        runs would find in 80 of 100 cases";
            notes.push(says.to_owned());
        }
        Self {
            title: sentences::title(record),
            outcome: sentences::outcome(record),
            environment: sentences::environment(record),
            settings: sentences::settings(record),
            open_loop: open_loop::table(record, unit),
            curves: curve::table(record, unit),
            classic: tables::classic(record),
            usage: usage::usage(record),
            steady: steady::table(record),
            within: within::table(record),
            crew: crew::model(record, unit),
            estimates,
            operation_estimates: None,
            is_of_means: false,
            verdicts: verdicts(record, &warnings),
            warnings,
            cells,
            operations,
            notes,
        }
    }
}

/// The unit of all latencies of a record.
pub(crate) fn unit(record: &RunRecord) -> LatencyUnit {
    let cells = record.cells.iter();
    let smallest = cells.filter_map(|cell| cell.total.latency.percentiles_ns.p50);
    LatencyUnit::fitting(smallest.min())
}
