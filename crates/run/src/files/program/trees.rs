//! Growing directory trees, opened with all of their entries.

use std::collections::BTreeSet;
use std::path::PathBuf;

use engine::{Fileset, make_room_for_open};
use generate::program::{FileStates, GrownTree, grown_trees};
use plan::program::{DirectoryTree, FileNames, Program};
use storage::Tree;

use crate::RunError;
use crate::open_fileset;

/// Trees of the growing filesets, by number of the fileset.
pub(super) struct GrownTrees(Vec<Option<GrownTree>>);

impl GrownTrees {
    pub(super) fn new(program: &Program) -> Result<Self, RunError> {
        Ok(Self(grown_trees(program)?))
    }

    /// Tree that contains a fileset's names; `None` if the fileset does not grow.
    pub(super) fn of(&self, program: &Program, fileset: usize) -> Option<&GrownTree> {
        let number = match program.filesets[fileset].tree {
            DirectoryTree::DirectoriesOf { fileset } => fileset.into(),
            _ => fileset,
        };
        self.0.get(number)?.as_ref()
    }

    /// Initial states of a fileset's files.
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

    /// Checks that this process can keep the directories of these filesets' trees open.
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

/// Opens a tree with its files, or with one name per directory.
pub(super) fn open_grown(
    grown: &GrownTree,
    is_of_directories: bool,
    path: Option<&str>,
    tree: &Tree,
) -> Result<Fileset, RunError> {
    let location = open_fileset::location(tree, path)?;
    for directory in grown.directories() {
        let below = match path {
            Some(path) => format!("{path}/{directory}"),
            None => directory,
        };
        tree.make_subdirectory(&below)?;
    }
    let names: Vec<PathBuf> = match is_of_directories {
        true => grown.path_in_each_directory().map(PathBuf::from).collect(),
        false => grown.entries().map(PathBuf::from).collect(),
    };
    Ok(Fileset::listed(location, &names)?)
}
