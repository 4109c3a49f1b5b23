//! Trees of directories that grow: opened with all that is in them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use engine::{Fileset, make_room_for_open};
use generate::program::{FileStates, GrownTree, grown_trees};
use plan::program::{DirectoryTree, FileNames, Program};
use target::Tree;

use crate::RunError;
use crate::files::field;

/// The trees of the filesets that grow, by their numbers.
pub(super) struct Trees(Vec<Option<GrownTree>>);

impl Trees {
    pub(super) fn new(program: &Program) -> Result<Self, RunError> {
        Ok(Self(grown_trees(program)?))
    }

    /// The tree that a fileset's names are in.
    pub(super) fn of(&self, program: &Program, fileset: usize) -> Option<&GrownTree> {
        let number = match program.filesets[fileset].tree {
            DirectoryTree::DirectoriesOf { fileset } => fileset.into(),
            _ => fileset,
        };
        self.0.get(number)?.as_ref()
    }

    /// What is known of a fileset's files at first.
    pub(super) fn states(&self, program: &Program, fileset: usize, is_shared: bool) -> FileStates {
        let set = &program.filesets[fileset];
        match (self.of(program, fileset), &set.tree) {
            (Some(tree), DirectoryTree::DirectoriesOf { .. }) => {
                FileStates::new(tree.directory_count(), is_shared)
            }
            (Some(tree), _) => FileStates::with_sizes(tree.sizes.clone(), is_shared),
            (None, _) => match &set.names {
                FileNames::Listed(files) if files.sizes.len() == set.count as usize => {
                    FileStates::with_sizes(files.sizes.clone(), is_shared)
                }
                _ => FileStates::new(set.count, is_shared),
            },
        }
    }

    /// Lets this process hold the directories of the trees of these filesets open.
    pub(super) fn make_room(
        &self,
        program: &Program,
        filesets: &BTreeSet<usize>,
    ) -> Result<(), RunError> {
        let trees = filesets.iter().filter_map(|it| self.of(program, *it));
        let count = trees.map(|tree| u64::from(tree.directory_count())).sum();
        Ok(make_room_for_open(count)?)
    }
}

/// A tree with its files, or with what stands for each of its directories.
pub(super) fn open_grown(
    grown: &GrownTree,
    is_of_directories: bool,
    path: Option<&str>,
    tree: &Tree,
) -> Result<Fileset, RunError> {
    let location = field::location(tree, path)?;
    for directory in grown.directories() {
        let below = match path {
            Some(path) => format!("{path}/{directory}"),
            None => directory,
        };
        tree.make_subdirectory(&below)?;
    }
    let names: Vec<PathBuf> = match is_of_directories {
        true => grown.name_in_each().map(PathBuf::from).collect(),
        false => grown.entries().map(PathBuf::from).collect(),
    };
    Ok(Fileset::listed(location, &names)?)
}
