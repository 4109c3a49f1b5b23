//! Files among the user's files: removes the files that a program made, by their numbers, and
//! nothing else.

use std::ops::Range;
use std::sync::Arc;

use engine::Fileset;
use generate::program::{CallFailure, FileStates};
use plan::program::{
    Call, CallObject, DirectoryTree, FileFilter, FileNames, FileOperation as Op, FilesetPlan,
    Group, Program,
};
use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::ProgramRun;
use super::files::FileOwner;
use super::stamped::RoundNameSource;
use crate::RunError;
use crate::file_requests::FileRequests;
use crate::files::stages::{CellTrees, StageOutcome};

/// Files and directories made in the user's directories.
#[derive(Default)]
pub(super) struct InPlaceFiles {
    /// Directories that were created, with the owner of their files.
    directories: Vec<(FileOwner, String)>,
    /// Files of earlier rounds.
    rounds: Vec<RoundLeftovers>,
}

/// Files that an owner left in a round.
struct RoundLeftovers {
    owner: FileOwner,
    round: RoundNameSource,
    files: Box<[Range<u32>]>,
}

impl InPlaceFiles {
    pub(super) fn add_directories(&mut self, owner: FileOwner, names: Vec<String>) {
        let names = names.into_iter().map(|name| (owner, name));
        self.directories.extend(names);
    }

    /// Takes the directories of the selected owners, last one first.
    fn take_directories(
        &mut self,
        is_its: impl Fn(&FileOwner) -> bool,
    ) -> Vec<(FileOwner, String)> {
        let all = std::mem::take(&mut self.directories).into_iter();
        // A directory may be inside one that was created before it.
        let (taken, left) = all.rev().partition(|(owner, _)| is_its(owner));
        self.directories = left;
        self.directories.reverse();
        taken
    }

    /// Records the present files of an owner before its names change.
    pub(super) fn add_round(
        &mut self,
        owner: FileOwner,
        round: RoundNameSource,
        states: &FileStates,
    ) {
        let files = runs(states.present());
        if !files.is_empty() {
            self.rounds.push(RoundLeftovers {
                owner,
                round,
                files: files.into(),
            });
        }
    }
}

/// Combines consecutive numbers into ranges. The files of a round are mostly a single range.
fn runs(files: impl Iterator<Item = u32>) -> Vec<Range<u32>> {
    let mut runs: Vec<Range<u32>> = Vec::new();
    for file in files {
        match runs.last_mut() {
            Some(run) if run.end == file => run.end += 1,
            _ => runs.push(file..file + 1),
        }
    }
    runs
}

/// `true` if the program uses only files that it made itself: it creates them under free names, and
/// works on these.
pub(in crate::files) fn uses_only_own_files(program: &Program) -> bool {
    let mut calls = program.groups().flat_map(Group::calls);
    let is_own = |call: &Call| {
        let is_making = matches!(call.operation, Op::Create | Op::Mkdir);
        let is_found = match &call.on {
            CallObject::Name(pick) => is_making || pick.which == FileFilter::Present,
            CallObject::Directory => call.operation == Op::Fsync,
            CallObject::Handle | CallObject::Same => true,
        };
        // A second name, as of a rename, could replace a file of the user.
        is_found && call.second.is_none()
    };
    let is_placed = |set: &FilesetPlan| match (&set.tree, &set.names) {
        (DirectoryTree::Grown(_) | DirectoryTree::DirectoriesOf { .. }, _) => false,
        (_, FileNames::Low { .. }) => set.has_directory_per_round(),
        _ => set.path.is_empty(),
    };
    let mut filesets = program.filesets.iter();
    let mut pools = program.pool.iter();
    pools.all(|pool| pool.is_in_targets() && !pool.is_shared)
        && calls.all(is_own)
        && program
            .groups()
            .all(|group| group.trace.is_none() && group.spawn.is_none())
        && program.ways.iter().all(|mode| !mode.takes_existing)
        && filesets.all(is_placed)
}

impl ProgramRun {
    /// Removes everything from the user's directories after a program ended early.
    pub(in crate::files) fn remove_traces(
        &mut self,
        cell_trees: &CellTrees,
    ) -> Result<(), RunError> {
        match &mut self.pools {
            _ if !self.is_in_place => Ok(()),
            Some(pools) => pools.remove_leftover_files(cell_trees),
            None => self.remove_own(cell_trees),
        }
    }

    /// Removes all files and directories made in the user's directories that still exist.
    fn remove_own(&mut self, cell_trees: &CellTrees) -> Result<(), RunError> {
        let mut outcome = Ok(());
        let mut note = |removed: Result<(), RunError>| {
            // The first error is reported; the rest is removed all the same.
            if let (Ok(()), Err(error)) = (&outcome, removed) {
                outcome = Err(error);
            }
        };
        // Copied first, because `remove_files` borrows all of `self`.
        let states: Vec<(FileOwner, Arc<FileStates>)> = self
            .states
            .iter()
            .map(|(owner, it)| (*owner, it.clone()))
            .collect();
        for (owner, states) in states {
            let fileset = self.filesets.get(&owner).cloned();
            let files = runs(states.present());
            note(self.remove_files(cell_trees, owner, (self.round, fileset), &files));
        }
        for traces in std::mem::take(&mut self.in_place_files.rounds) {
            note(self.remove_files(
                cell_trees,
                traces.owner,
                (traces.round, None),
                &traces.files,
            ));
        }
        self.filesets.clear();
        self.remove_directories(cell_trees, |_| true);
        outcome
    }

    /// Removes the directories of the current round, with the files left in them.
    pub(super) fn remove_round(&mut self, cell_trees: &CellTrees) -> Result<(), RunError> {
        let sets: Vec<bool> = self
            .program
            .filesets
            .iter()
            .map(FilesetPlan::has_directory_per_round)
            .collect();
        let is_its = |owner: &FileOwner| sets[owner.fileset];
        let mut outcome = Ok(());
        for (owner, states) in self
            .states
            .extract_if(.., |owner, _| is_its(owner))
            .collect::<Vec<_>>()
        {
            let files = runs(states.present());
            let fileset = self.filesets.remove(&owner);
            outcome =
                outcome.and(self.remove_files(cell_trees, owner, (self.round, fileset), &files));
        }
        self.remove_directories(cell_trees, is_its);
        outcome
    }

    fn remove_directories(&mut self, cell_trees: &CellTrees, is_its: impl Fn(&FileOwner) -> bool) {
        for (owner, name) in self.in_place_files.take_directories(is_its) {
            let tree = owner
                .target
                .and_then(|target| cell_trees.trees.get(&target));
            if let Some(tree) = tree {
                // A directory in which another program left files is not empty and stays.
                let _ = rustix::fs::unlinkat(tree.directory(), name, AtFlags::REMOVEDIR);
            }
        }
    }

    fn remove_files(
        &self,
        cell_trees: &CellTrees,
        owner: FileOwner,
        (round, opened): (RoundNameSource, Option<Arc<Fileset>>),
        files: &[Range<u32>],
    ) -> Result<(), RunError> {
        let tree = owner
            .target
            .and_then(|target| cell_trees.trees.get(&target));
        let (Some(tree), false) = (tree, files.is_empty()) else {
            return Ok(());
        };
        let fileset = match opened {
            Some(opened) => opened,
            None => Arc::new(self.open(owner, &round, tree, &mut |_| {})?),
        };
        let names = &self.program.filesets[owner.fileset].names;
        let is_directory = matches!(names, FileNames::Ways(_));
        let mut outcome = Ok(());
        // Directories come before the ones inside them, so they are removed in reverse order.
        for file in files.iter().rev().flat_map(|run| run.clone().rev()) {
            if let (Err(source), Ok(())) = (fileset.remove(file, is_directory), &outcome) {
                let path = tree.path().join(fileset.shown(file));
                outcome = Err(RunError::File {
                    verb: "remove",
                    path,
                    source,
                });
            }
        }
        outcome
    }

    /// Records the first failed call if it ends the run.
    pub(super) fn note_failure(&mut self, done: &StageOutcome<'_>) {
        let workers = self.cell.workers.iter().zip(&done.requests);
        let mut failures = workers.filter_map(|(worker, requests)| match requests {
            FileRequests::Program(interpreter) => Some((worker, interpreter.failure()?)),
            _ => None,
        });
        let failure = failures.next().map(|(worker, failure)| {
            let owner = self.owner(failure.fileset.into(), worker);
            self.failure_of(failure, owner)
        });
        self.failure = failure;
    }

    fn failure_of(&self, failure: CallFailure, owner: FileOwner) -> RunError {
        // Without an error number, a write has written nothing.
        let errno = match failure.errno {
            0 => Errno::IO,
            errno => Errno::from_raw_os_error(errno),
        };
        let name = self.filesets.get(&owner).map(|it| it.shown(failure.file));
        let mut path = self.paths.get(&owner.target).cloned().unwrap_or_default();
        path.extend(name);
        RunError::file(verb(failure.operation), &path, errno)
    }
}

const fn verb(operation: engine::Operation) -> &'static str {
    match operation {
        engine::Operation::Unlink => "remove",
        engine::Operation::Stat => "access",
        other => other.name(),
    }
}

#[cfg(test)]
mod tests;
