//! Planning: turns workloads, options and facts into a plan without accessing the system. Every
//! value is resolved and tagged with its source.

mod amount;
mod cells;
mod cluster;
mod cycling;
mod documents;
mod files;
mod groups;
mod jobs;
mod limits;
mod lines;
mod memory;
mod method;
mod network;
mod open_loop;
mod options;
mod ranks;
mod repetition;
mod resolver;
mod rounds;
mod seeds;
mod settings;
mod space;
mod stamps;
mod targets;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use description::check::{check_whole, repeated_target};
use description::model::Workload;
use description::{Overrides, Ranks};
use plan::Diagnostic;
use plan::facts::SystemFacts;
use plan::{Cell, CurvePart, Plan, PlannedWorkload, Setting, WorkerPlan, order_of_repetition};

use groups::groups_of_workers;
use options::ResolvedOptions;
use ranks::{RankShares, managers_warning, share_out};
use repetition::RepetitionMode;
use settings::{note_targets, note_workers};
use targets::TargetTable;

pub use documents::{
    BuiltinList, CheckedPlan, KeyList, ListedProgram, ShownWorkload, TargetProperties,
};
pub use groups::{GroupHost, hosts_of_groups};
pub use space::check_space_together;

/// Maximum number of cells in a plan; with the shortest useful run time, they take days.
const CELLS_MAX: usize = 10_000;

/// Maximum number of workers, lines and spans of all cells together, which limits the memory of a
/// plan.
const WEIGHT_MAX: usize = 2_000_000;

/// A plan with warnings and errors about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// The plan, with all cells.
    pub plan: Plan,
    /// Warnings to show before the run.
    pub warnings: Vec<Diagnostic>,
    /// Reasons why the plan cannot run although the files are valid, such as VI network workers.
    /// `check` shows all of them; `run` stops at the first.
    pub refusals: Vec<Diagnostic>,
}

impl Planned {
    /// The plan, if it can run.
    ///
    /// # Errors
    /// The first refusal.
    pub fn accepted(mut self) -> Result<Self, Diagnostic> {
        match self.refusals.is_empty() {
            true => Ok(self),
            false => Err(self.refusals.swap_remove(0)),
        }
    }
}

/// State of planning one workload.
struct Context<'a> {
    facts: &'a SystemFacts,
    overrides: &'a Overrides,
    targets: TargetTable,
    settings: Vec<Setting>,
    warnings: Vec<Diagnostic>,
    refusals: Vec<Diagnostic>,
    /// Assignment of the current workload's workers to processes.
    shares: RankShares,
    weight: usize,
    /// Size of each named file of jobs in bytes, by target and name.
    job_files: HashMap<(u32, String), u64>,
    /// Directories that contain files of jobs, by target and name.
    job_directories: HashSet<(u32, String)>,
}

/// Plans workloads, with a function that collects the facts about their targets.
///
/// # Errors
/// As for [`plan`].
pub fn plan_with(
    workloads: &[Workload],
    overrides: &Overrides,
    facts: impl FnOnce(&[String]) -> SystemFacts,
) -> Result<Planned, Diagnostic> {
    let wanted = wanted_targets(workloads, overrides);
    plan(workloads, overrides, &facts(&wanted))
}

/// Plans all workloads in order. Repetitions interleave; from the second on, cells run in a random
/// order drawn from the seed, so that a drift of the machine affects all cells alike.
///
/// # Errors
/// The first impossible value: out of range, unaligned for direct I/O, a request larger than the
/// target, not enough space, or too many cells.
pub fn plan(
    workloads: &[Workload],
    overrides: &Overrides,
    facts: &SystemFacts,
) -> Result<Planned, Diagnostic> {
    let mut context = Context {
        facts,
        overrides,
        targets: TargetTable::default(),
        settings: Vec::new(),
        warnings: Vec::new(),
        refusals: Vec::new(),
        shares: RankShares::default(),
        weight: 0,
        job_files: HashMap::new(),
        job_directories: HashSet::new(),
    };
    let applied = overrides.applied(workloads)?;
    context.warnings = applied.warnings;
    let mut applied = applied.workloads;
    for workload in &applied {
        // The file was checked when it was read, so this error comes from an option.
        check_whole(workload).map_err(|flaw| flaw.diagnostic(""))?;
    }
    if let Some(flaw) = repeated_target(overrides.targets()) {
        return Err(flaw.diagnostic(""));
    }
    context.targets = TargetTable::of(&applied, &mut context.warnings, overrides, facts);
    if let Some(allowed) = overrides.allowed_peers() {
        network::refuse_others(&context, allowed)?;
    }
    let mut series = Vec::new();
    let mut seed = seeds::SEED_DEFAULT;
    for (index, workload) in applied.iter_mut().enumerate() {
        let remark = managers_warning(workload, overrides.ranks());
        context.warnings.extend(remark);
        let target_count = context.targets.of_worker(index, None).len();
        context.shares = share_out(workload, target_count, overrides.ranks())?;
        let (own_seed, often, mut cells) = plan_workload(workload, index, &mut context)?;
        context.shares.assign(&mut cells)?;
        if index == 0 {
            seed = own_seed;
        }
        series.push((often, cells));
    }
    let targets = space::checked(&mut context)?;
    let repetition_rule = repetition::rule(&series)?;
    let cells = interleave_repetitions(series, seed)?;
    let doubt = repetition_rule.and_then(|rule| repetition::doubt(rule, &cells));
    context.warnings.extend(doubt);
    stamps::check(&cells)?;
    refuse_empty_plan(&cells, &mut context.refusals);
    context.warnings = without_repeats(context.warnings);
    Ok(Planned {
        plan: Plan {
            workloads: applied.iter().map(planned).collect(),
            targets,
            cells,
            seed,
            settings: context.settings,
            repetition_rule,
        },
        warnings: context.warnings,
        refusals: context.refusals,
    })
}

/// The seed of a workload, its repetitions, and the cells of one repetition.
fn plan_workload(
    workload: &Workload,
    index: usize,
    context: &mut Context,
) -> Result<(u64, RepetitionMode, Vec<Cell>), Diagnostic> {
    let sized = amount::sized(workload, index, context)?;
    let workload = sized.as_ref().unwrap_or(workload);
    if let Some(built) = jobs::of(workload)? {
        let job_cells = jobs::of_workload(workload, index, built, context)?;
        return Ok((job_cells.seed, job_cells.repetition_mode, job_cells.cells));
    }
    if let Some(table) = workload.table() {
        let file_cells = files::of_workload(workload, index, table, context)?;
        return Ok((
            file_cells.seed,
            file_cells.repetition_mode,
            file_cells.cells,
        ));
    }
    let options = ResolvedOptions::resolve(
        workload,
        context.overrides,
        &mut context.settings,
        &mut context.warnings,
    )?;
    let cells = cells::of_workload(workload, index, &options, context)?;
    Ok((options.method.seed, options.method.repetition_mode, cells))
}

/// Paths whose facts [`plan`] needs, in order, each once.
#[must_use]
pub fn wanted_targets(workloads: &[Workload], overrides: &Overrides) -> Vec<String> {
    // Planning will report options that cannot be applied.
    let applied = overrides.applied(workloads);
    let applied = applied.map_or_else(|_| Vec::new(), |it| it.workloads);
    // The names do not depend on facts, which are collected for these names only afterwards.
    let facts = SystemFacts::default();
    TargetTable::of(&applied, &mut Vec::new(), overrides, &facts).named_paths()
}

/// As [`wanted_targets`], for each process separately, if each has a group of workers.
#[must_use]
pub fn wanted_targets_of_groups(
    workloads: &[Workload],
    overrides: &Overrides,
) -> Option<Vec<Vec<String>>> {
    let Some(Ranks::Groups(groups)) = overrides.ranks() else {
        return None;
    };
    let applied = overrides.applied(workloads).ok()?.workloads;
    let facts = SystemFacts::default();
    let table = TargetTable::of(&applied, &mut Vec::new(), overrides, &facts);
    let targets_of = |name: &String| {
        let mut used = Vec::new();
        for (workload_index, workload) in applied.iter().enumerate() {
            let tables = groups_of_workers(workload).enumerate();
            let own = tables.filter(|(_, group)| group.as_ref() == Some(name));
            used.extend(own.flat_map(|(index, _)| table.of_worker(workload_index, Some(index))));
        }
        table.named_paths_of(|index| used.contains(&&index))
    };
    Some(groups.iter().map(targets_of).collect())
}

/// Interleaves the repetitions, each in its own order, and numbers the cells.
fn interleave_repetitions(
    mut series: Vec<(RepetitionMode, Vec<Cell>)>,
    seed: u64,
) -> Result<Vec<Cell>, Diagnostic> {
    // Before any cell is copied, because these limits bound the memory of a plan.
    let count: usize = series
        .iter()
        .map(|(often, cells)| cells.len() * often.times() as usize)
        .sum();
    if count > CELLS_MAX {
        return Err(too_many_cells(count));
    }
    let heaviest: usize = series
        .iter()
        .map(|(often, cells)| {
            cells.iter().map(|it| weight(&it.workers)).sum::<usize>() * often.times() as usize
        })
        .sum();
    if heaviest > WEIGHT_MAX {
        return Err(plan_too_large());
    }
    // Before the cells are copied, because all repetitions have the indexes of the first one.
    assign_indexes(&mut series);
    let most = series
        .iter()
        .map(|(often, _)| often.times())
        .max()
        .unwrap_or(0);
    let mut all = Vec::with_capacity(count);
    for repetition in 0..most {
        let due = series
            .iter()
            .filter(|(often, _)| repetition < often.times());
        let cells: Vec<&Cell> = due.flat_map(|(_, cells)| cells).collect();
        let order = order_of_repetition(cells.len(), seed, repetition);
        let repeated = |index: usize| cells[index].repeated(repetition);
        all.extend(order.into_iter().map(repeated));
    }
    for (index, cell) in (0..).zip(&mut all) {
        cell.index = index;
    }
    Ok(all)
}

/// Sets each cell's workload index and its index in the first repetition, which keeps the order of
/// the file. A point of a curve gets the index of its peak, which precedes it.
fn assign_indexes(series: &mut [(RepetitionMode, Vec<Cell>)]) {
    let (mut next_index, mut peak_index) = (0, 0);
    for (workload_index, (_, cells)) in (0..).zip(series) {
        for cell in cells {
            if !cell.curve.is_some_and(CurvePart::depends_on_peak) {
                peak_index = next_index;
            }
            next_index += 1;
            cell.first_index = Some(peak_index);
            cell.workload_index = Some(workload_index);
        }
    }
}

fn too_many_cells(count: usize) -> Diagnostic {
    let message = format!("the plan has {count} cells, more than {CELLS_MAX}");
    Diagnostic::error("", message).help("use fewer queue depths, steps or repetitions")
}

/// Contribution of a cell to the size of a plan.
fn weight(workers: &[WorkerPlan]) -> usize {
    workers
        .iter()
        .map(|worker| {
            let files = worker.job.as_ref().map_or(0, |job| job.files.len());
            1 + worker.lines.len() + worker.spans.len() + files
        })
        .sum()
}

fn plan_too_large() -> Diagnostic {
    let message = format!("the cells have more than {WEIGHT_MAX} access lines and targets");
    Diagnostic::error("", message).help("use fewer workers, targets or queue depths")
}

fn refuse_empty_plan(cells: &[Cell], refusals: &mut Vec<Diagnostic>) {
    if cells.is_empty() {
        let message = "there is nothing to run: no worker has an access specification";
        refusals.push(Diagnostic::error("", message).help("add an `[[access_spec]]`"));
    }
}

fn without_repeats(warnings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = HashSet::new();
    warnings
        .into_iter()
        .filter(|warning| seen.insert(warning.to_string()))
        .collect()
}

fn planned(workload: &Workload) -> PlannedWorkload {
    let name = workload.name_or_default().to_owned();
    PlannedWorkload {
        title: workload.title.clone().unwrap_or_else(|| name.clone()),
        source: workload.source_name().to_owned(),
        pack: workload.pack.clone(),
        front: workload.origin().cloned(),
        varied: workload.varied.as_deref().cloned(),
        name,
    }
}
