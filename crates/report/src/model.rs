//! Contents of a report. All numbers are selected and rounded here, once.

mod cluster;
mod curve;
mod document;
mod matrix;
mod open_loop;
mod replay;
mod sentences;
mod steady;
mod tables;
mod usage;
mod within;

pub(crate) use cluster::{ClusterModel, part as cluster_part};
pub(crate) use document::document;
pub use matrix::MatrixModel;
pub(crate) use sentences::{host_and_machine, method};
pub(crate) use steady::sentence as steady_sentence;
pub(crate) use within::sentence as within_sentence;

use results::{CellRecord, RunRecord};

use crate::html::command_line;
use crate::numbers::LatencyUnit;
use crate::table::Table;
use crate::verdict::{RunVerdict, verdicts};
use crate::warnings::{ModelWarning, warnings};

/// Contents of a report for people, independent of its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Program, run and start time.
    pub title: String,
    /// Final status of the run, unless it is complete.
    pub outcome: Option<String>,
    /// Description of the machine, in one line.
    pub environment: String,
    /// Settings that all cells share, in one line.
    pub settings: String,
    /// Command line that repeats the run, quoted for a shell; empty if it is unknown.
    pub command: String,
    /// One row per cell.
    pub cells: Table,
    /// One row per operation, if cells have several.
    pub operations: Option<Table>,
    /// Response times and lateness, if there are open loops.
    pub open_loop: Option<Table>,
    /// Replayed traces, recorded next to achieved.
    pub replays: Option<Table>,
    /// Response-time curves, if any.
    pub curves: Option<Table>,
    /// Results of classic programs, under their original names.
    pub classic: Option<Table>,
    /// Use of CPU and block devices, if known.
    pub usage: Option<Table>,
    /// Rounds of cells that were measured until steady.
    pub steady: Option<Table>,
    /// Statistics of each cell's intervals, if there are enough.
    pub within: Option<Table>,
    /// Results of each process, if there were several.
    pub cluster: Option<ClusterModel>,
    /// Results of all combinations of the settings that vary, if there are several such settings.
    pub matrices: Vec<MatrixModel>,
    /// Estimates over repetitions.
    pub estimates: Option<Table>,
    /// Estimates per operation, if cells have several; only if single repetitions are omitted.
    pub operation_estimates: Option<Table>,
    /// `true` if single repetitions are omitted.
    pub is_means_only: bool,
    /// Notes on reading the tables.
    pub notes: Vec<String>,
    /// Warnings, the most severe first, followed by notes.
    pub warnings: Vec<ModelWarning>,
    /// Conclusions in words.
    pub verdicts: Vec<RunVerdict>,
}

impl Model {
    /// Same as [`Self::new`], without single repetitions of cells that have a mean.
    #[must_use]
    pub fn of_means(record: &RunRecord) -> Self {
        let mut model = Self::new(record);
        if record.estimates.is_empty() {
            return model;
        }
        let has_mean = |cell: &CellRecord| record.estimates.iter().any(|it| it.key() == cell.key());
        // The tables read the cells of a record, so they get a copy without repeated cells.
        let mut once = record.clone();
        once.cells.retain(|cell| !has_mean(cell));
        // The unit of the whole record, because the tables of means keep it.
        let unit = unit(record);
        model.cells = tables::cells(&once, unit);
        model.operations = tables::operations(&once, unit);
        model.operation_estimates = tables::operation_estimates(record, unit);
        model.usage = usage::usage(&once);
        model.steady = steady::table(&once);
        model.within = within::table(&once);
        model.cluster = cluster::model(&once, unit);
        model.is_means_only = true;
        let says = match record.cluster {
            None => "`--all` shows each repetition, with its use of CPU and device",
            Some(_) => "`--all` shows each repetition, with the results of each process",
        };
        model.notes.push(says.to_owned());
        model
    }

    /// Returns the contents of the report of a record.
    #[must_use]
    pub fn new(record: &RunRecord) -> Self {
        let unit = unit(record);
        let cells = tables::cells(record, unit);
        let operations = tables::operations(record, unit);
        let mut notes = Vec::new();
        let has_gap = |table: &Table| table.rows.iter().flatten().any(|text| text == "-");
        if has_gap(&cells) || operations.as_ref().is_some_and(has_gap) {
            notes.push(format!(
                "`-` as a percentile: fewer than {} operations lie beyond it",
                results::SAMPLES_BEYOND_MIN
            ));
        }
        let within = within::table(record);
        if within.as_ref().is_some_and(has_gap) {
            notes.push("`-` within the run: too few intervals to tell".to_owned());
        }
        let failed = record.cells.iter().any(|cell| cell.total.errors > 0);
        // Narrow output drops the column of errors, so a sentence has to say this.
        if !failed && record.cells.iter().any(|cell| cell.total.count > 0) {
            notes.push("no operation failed".to_owned());
        }
        notes.extend(sentences::precision(record));
        let warnings = warnings(record);
        let estimates = tables::estimates(record, unit);
        if estimates.is_some() {
            let says = "detects: the smallest difference that a comparison of this rate alone \
                        would find in 80 of 100 cases";
            notes.push(says.to_owned());
        }
        Self {
            title: sentences::title(record),
            outcome: sentences::outcome(record),
            environment: sentences::environment(record),
            settings: sentences::settings(record),
            command: command_line(&record.command),
            open_loop: open_loop::table(record, unit),
            replays: replay::table(record, unit),
            curves: curve::table(record, unit),
            classic: tables::classic(record),
            usage: usage::usage(record),
            steady: steady::table(record),
            within,
            cluster: cluster::model(record, unit),
            matrices: matrix::models(record),
            estimates,
            operation_estimates: None,
            is_means_only: false,
            verdicts: verdicts(record, &warnings),
            warnings,
            cells,
            operations,
            notes,
        }
    }
}

/// Returns the common unit of all latencies of a record.
pub(crate) fn unit(record: &RunRecord) -> LatencyUnit {
    let cells = record.cells.iter();
    let smallest = cells.filter_map(|cell| cell.total.latency.percentiles_ns.p50);
    // The fastest cell decides, because a unit that is too large would show its latency as 0.
    LatencyUnit::fitting(smallest.min())
}
