//! Compares runs with published columns: finds equal metrics and computes their ratios.

use std::collections::BTreeMap;
use std::fmt::Display;

use results::{CellRecord, RunRecord, Timestamp, WarningCode};
use schemars::JsonSchema;
use serde::Serialize;

use super::catalog::ExperimentShape;
use super::figure::{FigureKind, PaperFigure, groups};
use super::reference::{Reference, ReferenceError};
use super::{Paper, complete_cells};
use crate::names::letter;

/// Published systems with runs next to them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PublishedComparison {
    pub(super) experiment: &'static str,
    pub(super) title: String,
    /// Place of publication.
    pub(super) source: String,
    /// Size of the published work.
    pub(super) full_size: &'static str,
    pub(super) remark: &'static str,
    /// Runs measured here.
    pub(super) sides: Vec<ComparedRun>,
    pub(super) tables: Vec<ComparedTable>,
}

/// A run, or the part of a run that was measured in one way.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ComparedRun {
    /// Letter of the run, followed by a number if the run did the work in several ways.
    pub name: String,
    pub run: String,
    pub started_at: Timestamp,
    pub workload: String,
    pub target: String,
    /// Queue depth.
    pub iodepth: u32,
    pub workers: u32,
    /// Notes of the lab on the run, such as its scale.
    pub notes: Vec<String>,
    /// Size of the work, if it differs from the publication.
    pub other_size: Option<String>,
}

/// Metrics of one published table.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ComparedTable {
    pub table: String,
    pub figures: Vec<ComparedFigure>,
}

/// A metric, as published and as measured.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ComparedFigure {
    pub figure: String,
    /// `true` if the value depends on the size of the work.
    pub grows_with_work: bool,
    pub published: Vec<ComparedValue>,
    /// One value per side; null if it was not measured.
    pub measured: Vec<Option<MeasuredMean>>,
    #[serde(skip)]
    pub kind: FigureKind,
}

/// A published value.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ComparedValue {
    pub system: String,
    pub value: Option<f64>,
    /// Text as printed in the publication.
    #[serde(skip)]
    pub text: String,
}

/// A measured value.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MeasuredMean {
    pub mean: f64,
    /// Number of repetitions.
    pub n: usize,
    /// Ratio of the mean to the value of each published system; null if the work differed.
    pub ratios: Vec<Option<f64>>,
}

/// The cells of a run that did the work in one way.
struct MethodCells<'a> {
    run: &'a RunRecord,
    cells: Vec<&'a CellRecord>,
}

impl Reference {
    /// Compares these columns with runs.
    ///
    /// # Errors
    /// If a run has no result of the experiment.
    pub fn compare_with(&self, runs: &[&RunRecord]) -> Result<PublishedComparison, ReferenceError> {
        let compared = self.compare_with_known(runs);
        let has_side = |run: &&&RunRecord| compared.sides.iter().any(|side| side.run == run.id);
        match runs.iter().find(|run| !has_side(run)) {
            None => Ok(compared),
            Some(run) => Err(ReferenceError::NothingMeasured {
                run: run.id.clone(),
                name: self.paper.name,
            }),
        }
    }

    /// Compares these columns with the runs that have results of the experiment.
    pub(super) fn compare_with_known(&self, runs: &[&RunRecord]) -> PublishedComparison {
        let groups = groups(&self.paper);
        let figures: Vec<&PaperFigure> = groups.iter().flat_map(|group| &group.figures).collect();
        let mut gathered = Vec::new();
        let mut sides = Vec::new();
        for (index, run) in runs.iter().enumerate() {
            let run_sides = gather(run, &self.paper, &figures);
            for (number, one) in run_sides.iter().enumerate() {
                // Letters belong to runs, so the ways of one run differ by a number.
                let number = (run_sides.len() > 1).then(|| (number + 1).to_string());
                let name = letter(index) + &number.unwrap_or_default();
                sides.push(one.side(name, &self.paper));
            }
            gathered.extend(run_sides);
        }
        let tables = groups.iter().map(|group| ComparedTable {
            table: group.heading.clone(),
            figures: group
                .figures
                .iter()
                .map(|figure| self.figure(figure, &gathered, &sides))
                .collect(),
        });
        let [title, source] = self.paper.heading();
        PublishedComparison {
            experiment: self.paper.name,
            title,
            source,
            full_size: self.paper.size,
            remark: self.paper.remark,
            tables: tables.collect(),
            sides,
        }
    }

    fn figure(
        &self,
        figure: &PaperFigure,
        gathered: &[MethodCells],
        sides: &[ComparedRun],
    ) -> ComparedFigure {
        let systems = self.systems.iter();
        let published: Vec<ComparedValue> = systems
            .filter_map(|system| figure.published_value(system))
            .map(|value| ComparedValue {
                system: value.system.clone(),
                value: value.text.parse().ok(),
                text: value.text.clone(),
            })
            .collect();
        let measured = gathered.iter().zip(sides).map(|(gathered, side)| {
            let values: Vec<f64> = gathered.values(figure).collect();
            let n = values.len();
            let mean = (n > 0).then(|| values.iter().sum::<f64>() / n as f64)?;
            // Counts and total times of other work are not comparable.
            let is_alike = side.other_size.is_none() || !figure.kind.grows();
            let ratio = |published: &ComparedValue| {
                let base = published.value.filter(|value| is_alike && *value > 0.0)?;
                Some(mean / base)
            };
            Some(MeasuredMean {
                mean,
                n,
                ratios: published.iter().map(ratio).collect(),
            })
        });
        ComparedFigure {
            figure: figure.label.clone(),
            grows_with_work: figure.kind.grows(),
            measured: measured.collect(),
            kind: figure.kind,
            published,
        }
    }
}

/// Groups the complete cells of a run that have results of the experiment, by how they were
/// measured.
fn gather<'a>(run: &'a RunRecord, paper: &Paper, figures: &[&PaperFigure]) -> Vec<MethodCells<'a>> {
    let mut all: Vec<MethodCells> = Vec::new();
    let has_any = |cell: &&CellRecord| figures.iter().any(|it| it.measured(cell).is_some());
    for cell in complete_cells([run]).filter(has_any) {
        let belongs = |to: &&mut MethodCells| is_same_measurement(paper, to.cells[0], cell);
        match all.iter_mut().find(belongs) {
            Some(gathered) => gathered.cells.push(cell),
            None => all.push(MethodCells {
                run,
                cells: vec![cell],
            }),
        }
    }
    all
}

/// Returns `true` if both cells belong to the same measurement.
fn is_same_measurement(paper: &Paper, one: &CellRecord, other: &CellRecord) -> bool {
    match paper.shape {
        // Each metric has its own workload.
        ExperimentShape::Bandwidths => {
            let settings =
                |cell: &CellRecord| (cell.engine, cell.cache, cell.iodepth, cell.workers);
            one.target == other.target && settings(one) == settings(other)
        }
        _ => one.first_index == other.first_index,
    }
}

impl MethodCells<'_> {
    fn values(&self, figure: &PaperFigure) -> impl Iterator<Item = f64> {
        self.cells.iter().filter_map(|cell| figure.measured(cell))
    }

    fn side(&self, name: String, paper: &Paper) -> ComparedRun {
        let (run, cell) = (self.run, self.cells[0]);
        let warnings = run.warnings.iter();
        let notes = warnings.filter(|it| it.code == WarningCode::Lab);
        ComparedRun {
            name,
            run: run.id.clone(),
            started_at: run.started_at,
            workload: match paper.shape {
                ExperimentShape::Bandwidths => paper.name.to_owned(),
                _ => cell.workload.clone(),
            },
            target: cell.target.clone(),
            iodepth: cell.iodepth,
            workers: cell.workers,
            notes: notes.map(|it| it.message.clone()).collect(),
            other_size: measured_size(paper, run, cell)
                .filter(|it| Some(it) != full_size(paper).as_ref()),
        }
    }
}

/// Describes the size of a cell's work, in the words of [`full_size`].
pub(super) fn measured_size(paper: &Paper, run: &RunRecord, cell: &CellRecord) -> Option<String> {
    if paper.shape == ExperimentShape::Steps {
        let figures = cell.phase_figures.as_ref()?;
        let fileset = figures.step().and(figures.fileset())?;
        return Some(files_of_each_size(fileset.file_count));
    }
    let planned = run.plan.cell(cell.index)?;
    let workers = match cell.workers {
        1 => String::new(),
        count => format!(", by each of {count} workers"),
    };
    let it = planned.program()?.pool.as_ref()?;
    let size = session_size(
        &[it.number, it.transactions, it.subdirectories].map(|count| count.to_string()),
        &[it.size_low_bytes, it.size_high_bytes].map(|bytes| bytes.to_string()),
    );
    Some(size + &workers)
}

impl Paper {
    /// Returns `true` if a cell did the published work at its full size.
    #[must_use]
    pub fn is_full_size(&self, run: &RunRecord, cell: &CellRecord) -> bool {
        match full_size(self) {
            Some(size) => measured_size(self, run, cell).as_ref() == Some(&size),
            // The book's files have a size per table, which the cell moved once as a whole.
            None => bandwidth_bytes(self, cell).is_some_and(|bytes| bytes == cell.total.bytes),
        }
    }
}

/// Returns the size of the file of a cell's table in a publication of bandwidths.
fn bandwidth_bytes(paper: &Paper, cell: &CellRecord) -> Option<u64> {
    let is_of = |row: &&BTreeMap<String, String>| {
        let name = row.get("table").map(|table| format!("table-{table}-"));
        name.is_some_and(|name| cell.workload.starts_with(&name))
    };
    let rows = paper.rows();
    let size = rows.iter().find(is_of)?.get("file_size")?;
    let megabytes: u64 = size.strip_suffix(" MB")?.parse().ok()?;
    Some(megabytes << 20)
}

/// Describes the size of the published work; `None` if no metric depends on it.
pub(super) fn full_size(paper: &Paper) -> Option<String> {
    let rows = paper.rows();
    let row = rows.first()?;
    let text = |key: &str| row.get(key).cloned().unwrap_or_default();
    let none = || "0".to_owned();
    match paper.shape {
        ExperimentShape::Session => Some(session_size(
            &[text("number"), text("transactions"), none()],
            &[text("size_min_bytes"), text("size_max_bytes")],
        )),
        // The web page does not state file sizes, so PostMark's defaults apply.
        ExperimentShape::Systems => Some(session_size(
            &[
                text("initial_files"),
                text("transactions"),
                text("subdirectories"),
            ],
            &["500", "10000"].map(str::to_owned),
        )),
        ExperimentShape::Steps => Some(files_of_each_size(text("files"))),
        ExperimentShape::Bandwidths | ExperimentShape::Rates | ExperimentShape::Grid => None,
    }
}

fn files_of_each_size(count: impl Display) -> String {
    format!("{count} files of each size")
}

fn session_size(
    [number, transactions, subdirectories]: &[String; 3],
    [low, high]: &[String; 2],
) -> String {
    let subdirectories = match subdirectories.as_str() {
        "0" => String::new(),
        count => format!(" in {count} subdirectories"),
    };
    format!("{number} files of {low} to {high} bytes{subdirectories}, {transactions} transactions")
}
