//! Programs: phases in order, each with its groups of workers.

mod burn;
mod figures;
mod file_news;
mod files;
mod fill;
mod in_place;
mod periods;
mod pool;
mod rounds;
mod spawn;
mod stage;
mod stamped;
mod tasks;
mod trace;
mod trees;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use engine::{FileEngineOptions, Fileset, OpenFlags};
use generate::ContentSource;
use generate::program::FileStates;
use plan::program::{FilesetSharing, Group, OpenModePlan, PhasePreparation, Program, ProgramPhase};
use plan::{CacheMode, Cell, WorkerPlan};
use results::{PhaseFigures, RunEvent, SteadyRecord, Warning, WarningCode};
use storage::Tree;

use crate::RunError;
use crate::agreement::PeerAgreement;
use crate::file_task::contents;
use crate::open_fileset::{self, OpenFileset};

use super::stages::{CellTrees, Stage, StageOutcome};
use burn::{computes, rounds_per_us};
use figures::PhaseSum;
use files::{FileOwner, open_mode};
use fill::fill;
use in_place::InPlaceFiles;
use pool::FilePools;
use rounds::{PhaseTime, ProgramRounds, set_initial_counts};
use stamped::RoundNameSource;

pub(super) use in_place::uses_only_own_files;
use trees::GrownTrees;

/// State of a program while it runs.
pub(super) struct ProgramRun {
    cell: Cell,
    program: Program,
    contents: Vec<ContentSource>,
    /// Agreement with other processes; `None` if this process runs alone.
    agreement: Option<Arc<dyn PeerAgreement>>,
    states: BTreeMap<FileOwner, Arc<FileStates>>,
    /// State of the files that all processes have agreed on.
    agreed: BTreeMap<FileOwner, file_news::AgreedFiles>,
    filesets: BTreeMap<FileOwner, Arc<Fileset>>,
    /// Trees of filesets whose directories grow, by number of the fileset.
    trees: GrownTrees,
    /// Next steps, in reverse order.
    pending_steps: Vec<NextProgramStep>,
    /// Current phase; `None` while files are created before the first phase.
    current: Option<ProgramPhase>,
    stage_count: u64,
    rounds_per_us: f64,
    /// Time that phases have taken.
    spent: PhaseTime,
    /// Counters of labels, by phase.
    sums: Vec<PhaseSum>,
    /// Index of each phase among the sums, by name.
    sum_indexes: HashMap<String, usize>,
    /// Index of the current period, in rounds that continue until they are steady.
    period_index: u64,
    /// Current round of the innermost rounds.
    round: RoundNameSource,
    /// Free bytes before the current round.
    free_bytes: u64,
    /// Warnings about calls that did not end as recorded.
    divergences: Vec<Warning>,
    /// Events that were not reported yet.
    unreported_events: Vec<RunEvent>,
    /// `true` if the files are in the user's directories.
    is_in_place: bool,
    /// Directories of the targets' files, for messages.
    paths: BTreeMap<Option<u32>, PathBuf>,
    /// Files and directories made in the user's directories, in addition to those in `states`.
    in_place_files: InPlaceFiles,
    /// Failed call that ends the run.
    failure: Option<RunError>,
    pools: Option<FilePools>,
}

#[derive(Debug, Clone)]
enum NextProgramStep {
    /// Creation of the files of a fileset that exist before the first phase.
    Fill(usize),
    Phase(Box<ProgramPhase>),
    /// Another round, unless there were enough.
    Rounds(Box<ProgramRounds>),
}

impl ProgramRun {
    pub fn new(cell: &Cell, program: &Program) -> Result<Self, RunError> {
        let mut program = program.clone();
        if program.ways.is_empty() {
            program.ways.push(OpenModePlan::default());
        }
        let parts = program.parts.iter().rev();
        let mut ahead: Vec<NextProgramStep> = parts.map(NextProgramStep::of).collect();
        let filled = program.filesets.iter().enumerate().rev();
        let filled =
            filled.filter(|(_, set)| set.present_permille > 0 && !program.uses_existing_files());
        // Added last to the reversed steps, so that files are created before the first phase.
        ahead.extend(filled.map(|(index, _)| NextProgramStep::Fill(index)));
        let parts = program.parts.clone();
        set_initial_counts(&mut program, &parts);
        Ok(Self {
            // Pools have their own contents.
            contents: match program.pool {
                Some(_) => Vec::new(),
                None => contents(cell)?,
            },
            pools: FilePools::of(cell, &program),
            cell: cell.clone(),
            agreement: None,
            states: BTreeMap::new(),
            agreed: BTreeMap::new(),
            filesets: BTreeMap::new(),
            trees: GrownTrees::new(&program)?,
            pending_steps: ahead,
            current: None,
            stage_count: 0,
            // The trials take time, so only programs that compute are calibrated.
            rounds_per_us: match computes(&program.parts) {
                true => rounds_per_us(),
                false => 0.0,
            },
            program,
            spent: PhaseTime::default(),
            sums: Vec::new(),
            sum_indexes: HashMap::new(),
            period_index: 0,
            round: RoundNameSource::default(),
            free_bytes: 0,
            divergences: Vec::new(),
            unreported_events: Vec::new(),
            is_in_place: false,
            paths: BTreeMap::new(),
            in_place_files: InPlaceFiles::default(),
            failure: None,
        })
    }

    pub(super) const fn program(&self) -> &Program {
        &self.program
    }

    fn owner(&self, fileset: usize, worker: &WorkerPlan) -> FileOwner {
        let target = worker.spans.first().map(|span| span.target_index);
        FileOwner {
            fileset,
            worker: match self.program.filesets[fileset].copies {
                FilesetSharing::One => None,
                FilesetSharing::PerWorker => Some(worker.worker_index),
            },
            target,
        }
    }

    /// States of a worker's files, by fileset.
    fn states(&mut self, worker: &WorkerPlan) -> Vec<Arc<FileStates>> {
        let owners: Vec<FileOwner> = (0..self.program.filesets.len())
            .map(|index| self.owner(index, worker))
            .collect();
        let states = owners
            .into_iter()
            .map(|owner| self.states_of(owner).clone());
        states.collect()
    }

    fn states_of(&mut self, owner: FileOwner) -> &Arc<FileStates> {
        self.states.entry(owner).or_insert_with(|| {
            let is_shared = owner.worker.is_none() && self.cell.workers.len() > 1;
            let states = self.trees.states(&self.program, owner.fileset, is_shared);
            // Files of an earlier command exist already, with at least their planned size.
            if self.program.uses_existing_files() {
                let set = &self.program.filesets[owner.fileset];
                let bytes = set.size.always().unwrap_or(0);
                (0..set.present_count()).for_each(|file| states.record_creation(file, bytes));
            }
            Arc::new(states)
        })
    }

    /// Opens a worker's filesets; `None` with the `null` engine. Filesets that are not `used` may
    /// have directories that do not exist yet, so a used fileset takes their place.
    fn field(
        &mut self,
        cell_trees: &CellTrees,
        worker: &WorkerPlan,
        used: &BTreeSet<u8>,
    ) -> Result<Option<OpenFileset>, RunError> {
        let Some(tree) = cell_trees.of(worker) else {
            return Ok(None);
        };
        let any = used.first().copied().unwrap_or(0);
        let mut filesets = Vec::new();
        for index in 0..self.program.filesets.len() {
            let is_used = used.contains(&(index as u8));
            let index = if is_used { index } else { usize::from(any) };
            let owner = self.owner(index, worker);
            if let Some(existing) = self.filesets.get(&owner) {
                filesets.push(existing.clone());
                continue;
            }
            let mut created = Vec::new();
            let opened = self.open(owner, &self.round, tree, &mut |name| {
                created.push(name.to_owned())
            });
            // Recorded before an error is returned, because some directories may already exist.
            if tree.is_in_place() || self.program.filesets[index].has_directory_per_round() {
                self.in_place_files.add_directories(owner, created);
            }
            let opened = Arc::new(opened?);
            self.filesets.insert(owner, opened.clone());
            filesets.push(opened);
        }
        let others = filesets.split_off(1.min(filesets.len()));
        Ok(filesets.pop().map(|fileset| OpenFileset {
            fileset,
            other_filesets: others.into(),
            options: self.options(tree),
        }))
    }

    /// Opens the files of an owner in a round, and creates missing directories. Calls `was_made`
    /// for each.
    fn open(
        &self,
        owner: FileOwner,
        round: &RoundNameSource,
        tree: &Tree,
        was_made: &mut dyn FnMut(&str),
    ) -> Result<Fileset, RunError> {
        files::open(&self.program, &self.trees, (owner, round), tree, was_made)
    }

    /// Closes the trees that a phase does not use, because they may have many directories.
    fn close_unused_trees(
        &mut self,
        cell_trees: &CellTrees,
        phase: &ProgramPhase,
    ) -> Result<(), RunError> {
        let used = phase.groups.iter().flat_map(Group::filesets);
        let used: BTreeSet<usize> = used.map(usize::from).collect();
        let (trees, program) = (&self.trees, &self.program);
        let is_needed = |index: usize| used.contains(&index) || trees.of(program, index).is_none();
        self.filesets.retain(|owner, _| is_needed(owner.fileset));
        match cell_trees.trees.is_empty() {
            true => Ok(()),
            false => trees.make_room(program, &used),
        }
    }

    fn options(&self, tree: &Tree) -> FileEngineOptions {
        let is_direct = self.cell.cache == CacheMode::Direct;
        let is_checked = self.cell.workers.iter().any(|worker| worker.verify);
        let modes = self
            .program
            .ways
            .iter()
            .map(|mode| open_mode(mode, is_direct, is_checked));
        let own = open_fileset::options(&self.cell);
        FileEngineOptions {
            open_modes: modes.collect(),
            open: OpenFlags {
                // Programs that work in the user's directories use plain `open`, as their originals
                // do.
                plain: tree.is_in_place(),
                ..own.open
            },
            directory_mode: open_fileset::directory_mode(tree),
            // Programs that create directories themselves need them to exist before files are
            // created there.
            xattrs: files::attribute_names(&self.program),
            existing_directories: self.program.ways.iter().any(|mode| mode.makes_directory),
            ..own
        }
    }
}

impl ProgramRun {
    /// Results of all phases except pool phases, with the steadiness of rounds that continue until
    /// they are steady.
    pub(super) fn figures(&self) -> HashMap<&str, (PhaseFigures, Option<SteadyRecord>)> {
        let files = self.program.files_by_phase();
        let figures = |sum: &'_ PhaseSum| sum.figures(&self.program, files.get(&sum.name));
        let sums = self.sums.iter();
        sums.map(|sum| (&*sum.name, (figures(sum), sum.steady.clone())))
            .collect()
    }

    /// Results of the pools, at the phase of their transactions.
    pub(super) fn pool_figures(&self, phase: &str) -> Option<PhaseFigures> {
        self.pools.as_ref().and_then(|it| it.figures(phase))
    }

    /// Index of the current period, and the number of periods to keep.
    pub(super) fn period(&self) -> (u64, usize) {
        let window_count = self.cell.steady.map_or(1, |rule| rule.window_count);
        (self.period_index, window_count)
    }

    /// Takes the events since the last call, for displays.
    pub(super) fn pending_events(&mut self) -> Vec<RunEvent> {
        let mut tidings = std::mem::take(&mut self.unreported_events);
        tidings.extend(self.pools.iter_mut().flat_map(FilePools::pending_events));
        tidings
    }

    /// Actions before the next stage.
    pub(super) fn before(&mut self, cell_trees: &CellTrees) -> Vec<PhasePreparation> {
        if self.failure.is_some() {
            return Vec::new();
        }
        while let Some(ahead) = self.pending_steps.pop() {
            match ahead {
                NextProgramStep::Rounds(round) => self.begin_round(cell_trees, *round),
                other => {
                    self.pending_steps.push(other);
                    break;
                }
            }
        }
        let Some(NextProgramStep::Phase(phase)) = self.pending_steps.last() else {
            return Vec::new();
        };
        let before = phase.before.clone();
        if !before.is_empty() {
            // A file system with open files cannot be remounted.
            self.filesets.clear();
        }
        before
    }

    /// Next stage; `None` after the last one.
    pub(super) fn next(&mut self, cell_trees: &CellTrees) -> Result<Option<Stage>, RunError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        for (target, tree) in &cell_trees.trees {
            self.is_in_place |= tree.is_in_place();
            let path = || tree.path().to_owned();
            self.paths.entry(Some(*target)).or_insert_with(path);
        }
        loop {
            let Some(ahead) = self.pending_steps.pop() else {
                return Ok(None);
            };
            match ahead {
                NextProgramStep::Fill(fileset) => {
                    let phase = fill(&self.program, fileset);
                    return self.stage(cell_trees, &phase, true).map(Some);
                }
                NextProgramStep::Phase(phase) => {
                    let stage = match (&mut self.pools, phase.pool_part()) {
                        (Some(pools), Some(part)) => pools.stage(&phase, part, cell_trees)?,
                        _ => match self.started(cell_trees, &phase)? {
                            Some(stage) => Some(stage),
                            None => Some(self.stage(cell_trees, &phase, false)?),
                        },
                    };
                    if stage.is_some() {
                        self.current = Some(*phase);
                        return Ok(stage);
                    }
                }
                NextProgramStep::Rounds(round) => self.begin_round(cell_trees, *round),
            }
        }
    }

    /// Stores the results of a stage. No stage follows one that was cut short.
    pub(super) fn done(&mut self, phase: &str, done: StageOutcome<'_>) {
        for states in self.states.values() {
            // Calls that the end of the stage cut short still claim their files.
            states.release_all();
        }
        self.note_failure(&done);
        let Some(current) = self.current.take() else {
            return;
        };
        if let (Some(pools), Some(_)) = (&mut self.pools, current.pool_part()) {
            pools.done(done);
            return;
        }
        self.spent.add(&done, !current.is_hidden);
        if current.is_hidden {
            return;
        }
        // A table instead of a search, because a program may have 50,000 phases.
        let known = self.sum_indexes.get(phase).copied();
        let index = known.unwrap_or_else(|| {
            self.sums.push(PhaseSum::new(phase, &self.program));
            let index = self.sums.len() - 1;
            self.sum_indexes.insert(phase.to_owned(), index);
            index
        });
        self.divergences
            .extend(trace::broken(self.cell.index, &current, &done.requests));
        let around = self.enclosing_until();
        self.sums[index].add(&self.program, &current, around, &done);
    }

    /// Warnings about the results.
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let dry = self.sums.iter().filter(|sum| sum.dry_workers > 0);
        let warning = |sum: &PhaseSum| {
            let workers = match sum.dry_workers {
                1 => "a worker".to_owned(),
                count => format!("{count} workers"),
            };
            let message = format!(
                "{workers} of `{}` ran out of files and stopped before the time was up",
                sum.name
            );
            Warning::of_cell(WarningCode::PoolDepleted, self.cell.index, message)
        };
        let pools = self.pools.iter().flat_map(FilePools::warnings);
        dry.map(warning)
            .chain(self.divergences.clone())
            .chain(pools)
            .collect()
    }
}

#[cfg(test)]
mod tests;
