//! The sides of a comparison.

use std::collections::BTreeSet;

use results::{RunRecord, Timestamp, Warning, WarningCode, WarningLevel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::group::SideGroup;

/// A side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// What the user calls the side, such as a tag; absent if it has only run ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Ids of the runs.
    pub runs: Vec<String>,
    /// Start of the first run; null if it is unknown.
    pub started_at: Option<Timestamp>,
    /// The programs whose results the side imported, with their versions, such as `fio 3.36`;
    /// absent if pgmeter measured all runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<String>,
    /// Paths of the targets; empty if they are unknown.
    pub targets: Vec<String>,
    /// Number of cells that did not complete and are left out.
    pub incomplete_count: u64,
    /// Largest share of time, from 0 to 1, that the workers of a cell waited for a CPU; absent if
    /// no cell has a warning about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<f64>,
    /// Reasons to doubt the side's results: the codes of the warnings of its runs, without notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<WarningCode>,
}

impl Side {
    /// Describes the runs of a side. The groups contain the cells that are compared.
    pub(crate) fn of(runs: &[RunRecord], groups: &[SideGroup]) -> Self {
        let imports = || runs.iter().filter_map(|run| run.import.as_ref());
        let imported: usize = imports().map(|import| import.results.len()).sum();
        let measured: usize = runs.iter().map(|run| run.cells.len()).sum();
        let cells = measured + imported;
        let complete: usize = groups.iter().map(|group| group.cells.len()).sum();
        let mut targets: Vec<String> = runs
            .iter()
            .flat_map(|run| &run.plan.targets)
            .map(|target| target.path.to_string_lossy().into_owned())
            .collect();
        let imported_results = imports().flat_map(|import| &import.results);
        targets.extend(imported_results.filter_map(|it| it.target.clone()));
        let mut seen = Vec::new();
        targets.retain(|target| {
            let is_new = !seen.contains(target);
            seen.push(target.clone());
            is_new
        });
        Self {
            name: None,
            runs: runs.iter().map(|run| run.id.clone()).collect(),
            started_at: started_at(runs),
            origins: imports().map(|import| import.origin.title()).collect(),
            targets,
            incomplete_count: (cells - complete) as u64,
            waiting: runs.iter().filter_map(waiting).reduce(f64::max),
            doubts: doubts(runs),
        }
    }
}

/// Returns the first start; `None` if a start is unknown.
fn started_at(runs: &[RunRecord]) -> Option<Timestamp> {
    let start = |run: &RunRecord| match &run.import {
        Some(import) => import.origin.time,
        None => Some(run.started_at),
    };
    let starts: Option<Vec<Timestamp>> = runs.iter().map(start).collect();
    starts?.into_iter().min()
}

fn doubts(runs: &[RunRecord]) -> Vec<WarningCode> {
    let warnings = runs.iter().flat_map(|run| &run.warnings);
    let doubts = warnings.filter(|it| it.level() == WarningLevel::Warning);
    let codes: BTreeSet<WarningCode> = doubts.map(|it| it.code.clone()).collect();
    codes.into_iter().collect()
}

fn waiting(run: &RunRecord) -> Option<f64> {
    let warned_cell = |warning: &Warning| {
        let is_of_it = warning.code == WarningCode::WaitedForProcessor;
        warning.cell.filter(|_| is_of_it)
    };
    // Every cell waits a little; only cells with the warning waited long enough to matter.
    let warned: Vec<u32> = run.warnings.iter().filter_map(warned_cell).collect();
    let cells = run.cells.iter().filter(|it| warned.contains(&it.index));
    cells.filter_map(|cell| cell.cpu.waiting).reduce(f64::max)
}
