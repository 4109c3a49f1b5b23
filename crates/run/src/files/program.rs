//! Programs: phases one after the other, each with its groups of workers.

mod burn;
mod figures;
mod files;
mod fill;
mod in_place;
mod news;
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

use engine::{FileOptions, Fileset, OpenFlags};
use generate::ContentSource;
use generate::program::FileStates;
use plan::program::{Before, Copies, Ending, Group, Program, ProgramPhase, Way};
use plan::{CacheMode, Cell, WorkerPlan};
use results::{PhaseFigures, RunEvent, SteadyRecord, Warning, WarningCode};
use target::Tree;

use crate::RunError;
use crate::meeting::Meeting;

use super::course::{Done, Grounds, Stage};
use super::field;
use super::field::OpenFileset;
use super::task::contents;
use burn::{computes, rounds_per_us};
use figures::PhaseSum;
use files::{open_fileset, open_mode};
use fill::fill;
use in_place::Traces;
use pool::Pools;
use rounds::{Rounds, Spent, begin_small};
use stamped::RoundStamp;

pub(super) use in_place::keeps_to_its_own;
use trees::Trees;

/// The course of a program.
pub(super) struct ProgramCourse {
    cell: Cell,
    program: Program,
    contents: Vec<ContentSource>,
    /// Where it is heard what workers of other processes do.
    meeting: Option<Arc<dyn Meeting>>,
    /// What is known of the files, by whose they are.
    states: BTreeMap<Owner, Arc<FileStates>>,
    /// What other processes know of them.
    agreed: BTreeMap<Owner, news::Agreed>,
    filesets: BTreeMap<Owner, Arc<Fileset>>,
    /// The trees of filesets that grow, by their numbers.
    trees: Trees,
    /// What comes next, the last first.
    ahead: Vec<Ahead>,
    /// The phase that goes on; none while files are made that are there before the first.
    current: Option<ProgramPhase>,
    stage_count: u64,
    rounds_per_us: f64,
    /// How long phases took.
    spent: Spent,
    /// What was counted of each label, by phase.
    sums: Vec<PhaseSum>,
    /// Where a phase is among them.
    sum_indexes: HashMap<String, usize>,
    /// Index of the current period of rounds that go on until they are steady.
    period_index: u64,
    /// The round that was last begun, of the innermost rounds.
    round: RoundStamp,
    /// Free bytes before the round that was last begun.
    free_bytes: u64,
    /// Calls that ended otherwise than recorded.
    broken: Vec<Warning>,
    /// What happened that nobody was told of yet.
    tidings: Vec<RunEvent>,
    /// Whether they lie in directories of the user.
    is_in_place: bool,
    /// Where the targets' files lie, for messages.
    paths: BTreeMap<Option<u32>, PathBuf>,
    /// What was made in directories of the user besides what the states know.
    traces: Traces,
    /// The call that the run has failed with.
    failure: Option<RunError>,
    pools: Option<Pools>,
}

/// Whose files they are: of a fileset, those of one worker or of all on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Owner {
    fileset: usize,
    worker: Option<u32>,
    target: Option<u32>,
}

/// What is still to be done.
#[derive(Debug, Clone)]
enum Ahead {
    /// The files of a fileset that are there before the first phase.
    Fill(usize),
    Phase(Box<ProgramPhase>),
    /// Another round, where it is not enough yet.
    Rounds(Box<Rounds>),
}

impl ProgramCourse {
    pub fn new(cell: &Cell, program: &Program) -> Result<Self, RunError> {
        let mut program = program.clone();
        if program.ways.is_empty() {
            program.ways.push(Way::default());
        }
        let parts = program.parts.iter().rev();
        let mut ahead: Vec<Ahead> = parts.map(Ahead::of).collect();
        let filled = program.filesets.iter().enumerate().rev();
        let filled = filled.filter(|(_, set)| set.present_permille > 0 && !program.finds_files());
        ahead.extend(filled.map(|(index, _)| Ahead::Fill(index)));
        let parts = program.parts.clone();
        begin_small(&mut program, &parts);
        Ok(Self {
            // What pools are written with is theirs.
            contents: match program.pool {
                Some(_) => Vec::new(),
                None => contents(cell)?,
            },
            pools: Pools::of(cell, &program),
            cell: cell.clone(),
            meeting: None,
            states: BTreeMap::new(),
            agreed: BTreeMap::new(),
            filesets: BTreeMap::new(),
            trees: Trees::new(&program)?,
            ahead,
            current: None,
            stage_count: 0,
            rounds_per_us: match computes(&program.parts) {
                true => rounds_per_us(),
                false => 0.0,
            },
            program,
            spent: Spent::default(),
            sums: Vec::new(),
            sum_indexes: HashMap::new(),
            period_index: 0,
            round: RoundStamp::default(),
            free_bytes: 0,
            broken: Vec::new(),
            tidings: Vec::new(),
            is_in_place: false,
            paths: BTreeMap::new(),
            traces: Traces::default(),
            failure: None,
        })
    }

    /// What is done.
    pub(super) const fn program(&self) -> &Program {
        &self.program
    }

    fn owner(&self, fileset: usize, worker: &WorkerPlan) -> Owner {
        let target = worker.spans.first().map(|span| span.target_index);
        Owner {
            fileset,
            worker: match self.program.filesets[fileset].copies {
                Copies::One => None,
                Copies::PerWorker => Some(worker.worker_index),
            },
            target,
        }
    }

    /// What is known of a worker's files, by fileset.
    fn states(&mut self, worker: &WorkerPlan) -> Vec<Arc<FileStates>> {
        let owners: Vec<Owner> = (0..self.program.filesets.len())
            .map(|index| self.owner(index, worker))
            .collect();
        let states = owners
            .into_iter()
            .map(|owner| self.states_of(owner).clone());
        states.collect()
    }

    /// What is known of an owner's files.
    fn states_of(&mut self, owner: Owner) -> &Arc<FileStates> {
        self.states.entry(owner).or_insert_with(|| {
            let is_shared = owner.worker.is_none() && self.cell.workers.len() > 1;
            let states = self.trees.states(&self.program, owner.fileset, is_shared);
            if self.program.finds_files() {
                let set = &self.program.filesets[owner.fileset];
                let bytes = set.size.always().unwrap_or(0);
                (0..set.present_count()).for_each(|file| states.note_made(file, bytes));
            }
            Arc::new(states)
        })
    }

    /// Where a worker's files lie; nowhere with the `null` engine. Filesets that are not `used`
    /// are not opened, since their directories may have yet to be made: others stand for them.
    fn field(
        &mut self,
        grounds: &Grounds,
        worker: &WorkerPlan,
        used: &BTreeSet<u8>,
    ) -> Result<Option<OpenFileset>, RunError> {
        let Some(tree) = grounds.of(worker) else {
            return Ok(None);
        };
        let any = used.first().copied().unwrap_or(0);
        let mut filesets = Vec::new();
        for index in 0..self.program.filesets.len() {
            let is_used = used.contains(&(index as u8));
            let index = if is_used { index } else { usize::from(any) };
            let owner = self.owner(index, worker);
            if let Some(known) = self.filesets.get(&owner) {
                filesets.push(known.clone());
                continue;
            }
            let mut made = Vec::new();
            let opened = self.open(owner, &self.round, tree, &mut |name| {
                made.push(name.to_owned())
            });
            if tree.is_in_place() || self.program.filesets[index].has_own_rounds() {
                self.traces.add_directories(owner, made);
            }
            let opened = Arc::new(opened?);
            self.filesets.insert(owner, opened.clone());
            filesets.push(opened);
        }
        let others = filesets.split_off(1.min(filesets.len()));
        Ok(filesets.pop().map(|fileset| OpenFileset {
            fileset,
            others: others.into(),
            options: self.options(tree),
        }))
    }

    /// The files that an owner has in that round, with their directories made where they are
    /// missing, of which is told.
    fn open(
        &self,
        owner: Owner,
        round: &RoundStamp,
        tree: &Tree,
        was_made: &mut dyn FnMut(&str),
    ) -> Result<Fileset, RunError> {
        open_fileset(&self.program, &self.trees, (owner, round), tree, was_made)
    }

    /// Closes the trees that a phase has no use for, whose directories may be many.
    fn let_trees_go(&mut self, grounds: &Grounds, phase: &ProgramPhase) -> Result<(), RunError> {
        let used = phase.groups.iter().flat_map(Group::filesets);
        let used: BTreeSet<usize> = used.map(usize::from).collect();
        let (trees, program) = (&self.trees, &self.program);
        let stays = |index: usize| used.contains(&index) || trees.of(program, index).is_none();
        self.filesets.retain(|owner, _| stays(owner.fileset));
        match grounds.trees.is_empty() {
            true => Ok(()),
            false => trees.make_room(program, &used),
        }
    }

    fn options(&self, tree: &Tree) -> FileOptions {
        let is_direct = self.cell.cache == CacheMode::Direct;
        let is_checked = self.cell.workers.iter().any(|worker| worker.verify);
        let ways = self
            .program
            .ways
            .iter()
            .map(|way| open_mode(way, is_direct, is_checked));
        let own = field::options(&self.cell);
        FileOptions {
            ways: ways.collect(),
            open: OpenFlags {
                // Programs of old open by it.
                plain: tree.is_in_place(),
                ..own.open
            },
            directory_mode: field::directory_mode(tree),
            // Those that are to be made before files are there, and nothing else makes any.
            existing_directories: self.program.ways.iter().any(|way| way.makes_directory),
            ..own
        }
    }
}

impl ProgramCourse {
    /// The figures of all phases but those of pools, and how steady their rounds were where these
    /// go on until they are.
    pub(super) fn figures(&self) -> HashMap<&str, (PhaseFigures, Option<SteadyRecord>)> {
        let files = self.program.files_by_phase();
        let figures = |sum: &'_ PhaseSum| sum.figures(&self.program, files.get(&sum.name));
        let sums = self.sums.iter();
        sums.map(|sum| (&*sum.name, (figures(sum), sum.steady.clone())))
            .collect()
    }

    /// The figures of a phase of pools, or of the whole at the phase that they belong to.
    pub(super) fn pool_figures(&self, phase: &str) -> Option<PhaseFigures> {
        self.pools.as_ref().and_then(|it| it.figures(phase))
    }

    /// The index of the current period, and how many of the last periods to keep.
    pub(super) fn period(&self) -> (u64, usize) {
        let kept = self.cell.steady.map_or(1, |rule| rule.window_count);
        (self.period_index, kept)
    }

    /// What happened since the last time, for displays.
    pub(super) fn tidings(&mut self) -> Vec<RunEvent> {
        let mut tidings = std::mem::take(&mut self.tidings);
        tidings.extend(self.pools.iter_mut().flat_map(Pools::tidings));
        tidings
    }

    /// What happens before the next stage.
    pub(super) fn before(&mut self, grounds: &Grounds) -> Vec<Before> {
        if self.failure.is_some() {
            return Vec::new();
        }
        while let Some(ahead) = self.ahead.pop() {
            match ahead {
                Ahead::Rounds(round) => self.begin_round(grounds, *round),
                other => {
                    self.ahead.push(other);
                    break;
                }
            }
        }
        let Some(Ahead::Phase(phase)) = self.ahead.last() else {
            return Vec::new();
        };
        let before = phase.before.clone();
        if !before.is_empty() {
            // No file system is mounted again while something of it is open.
            self.filesets.clear();
        }
        before
    }

    /// The next stage; none after the last.
    pub(super) fn next(&mut self, grounds: &Grounds) -> Result<Option<Stage>, RunError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        for (target, tree) in &grounds.trees {
            self.is_in_place |= tree.is_in_place();
            let path = || tree.path().to_owned();
            self.paths.entry(Some(*target)).or_insert_with(path);
        }
        loop {
            let Some(ahead) = self.ahead.pop() else {
                return Ok(None);
            };
            match ahead {
                Ahead::Fill(fileset) => {
                    let phase = fill(&self.program, fileset);
                    return self.stage(grounds, &phase, true).map(Some);
                }
                Ahead::Phase(phase) => {
                    let stage = match (&mut self.pools, phase.pool_part()) {
                        (Some(pools), Some(part)) => pools.stage(&phase, part, grounds)?,
                        _ => match self.started(grounds, &phase)? {
                            Some(stage) => Some(stage),
                            None => Some(self.stage(grounds, &phase, false)?),
                        },
                    };
                    if stage.is_some() {
                        self.current = Some(*phase);
                        return Ok(stage);
                    }
                }
                Ahead::Rounds(round) => self.begin_round(grounds, *round),
            }
        }
    }

    /// Takes note of what a stage came to. After one that was cut there is no other.
    pub(super) fn done(&mut self, phase: &str, done: Done<'_>) {
        for states in self.states.values() {
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
        let known = self.sum_indexes.get(phase).copied();
        let index = known.unwrap_or_else(|| {
            self.sums.push(PhaseSum::new(phase, &self.program));
            let index = self.sums.len() - 1;
            self.sum_indexes.insert(phase.to_owned(), index);
            index
        });
        self.broken
            .extend(trace::broken(self.cell.index, &current, &done.requests));
        let around = self.rounds_around();
        self.sums[index].add(&self.program, &current, around, &done);
    }

    /// What a reader must know of the figures.
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let dry = self.sums.iter().filter(|sum| sum.dry_workers > 0);
        let warning = |sum: &PhaseSum| {
            let workers = match sum.dry_workers {
                1 => "a worker".to_owned(),
                count => format!("{count} workers"),
            };
            let message = format!(
                "{workers} of `{}` found no file any more and stopped before time was up",
                sum.name
            );
            Warning::of_cell(WarningCode::PoolDepleted, self.cell.index, message)
        };
        let pools = self.pools.iter().flat_map(Pools::warnings);
        dry.map(warning)
            .chain(self.broken.clone())
            .chain(pools)
            .collect()
    }
}

/// When every worker of a phase stops, in nanoseconds; 0 where they end by themselves.
fn stop_ns(phase: &ProgramPhase) -> u64 {
    match phase.time_up {
        Ending::Stop => phase.time_ns.unwrap_or(0),
        Ending::Finish | Ending::Level => 0,
    }
}

#[cfg(test)]
mod tests;
