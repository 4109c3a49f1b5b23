//! Pools whose locations are the targets themselves, among the user's files.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use generate::pool::{PoolDirectory, PoolStep};
use plan::program::{FilePool, PoolBase};

use super::FilePools;
use crate::RunError;
use crate::files::stages::CellTrees;
use crate::open_fileset;

/// Opens the directories of a pool's locations.
pub(super) fn locations(
    settings: &FilePool,
    cell_trees: &CellTrees,
) -> Result<Vec<OwnedFd>, RunError> {
    let bases = settings.locations.iter().map(|location| location.place);
    let open = |base: PoolBase| match base {
        PoolBase::Target(index) => match cell_trees.trees.get(&index) {
            Some(tree) => open_fileset::location(tree, None),
            None => nowhere(),
        },
        PoolBase::Nowhere | PoolBase::Beneath => nowhere(),
    };
    bases.map(open).collect()
}

/// Opens a file that is not a directory, so that nothing can be created in it.
fn nowhere() -> Result<OwnedFd, RunError> {
    let opened = storage::null_device().map(OwnedFd::from);
    opened.map_err(|source| RunError::System {
        what: "open the null device".to_owned(),
        source,
    })
}

impl FilePools {
    /// Removes the files that an interrupted run left in the user's directories.
    ///
    /// # Errors
    /// The first file that could not be removed; all others are removed.
    pub fn remove_leftover_files(&mut self, cell_trees: &CellTrees) -> Result<(), RunError> {
        let mut outcome = Ok(());
        for player in &mut self.worker_pools {
            let (Some(play), Some(field)) = (&mut player.run, &player.open_fileset) else {
                continue;
            };
            while let Some(operation) = play.next_leftover() {
                let number = |it: PoolDirectory| play.directory_number(it);
                if let PoolStep::RemoveDirectory(directory) = operation {
                    // A directory in which another program left files is not empty and stays.
                    let _ = field.fileset.remove_subdirectory(number(directory));
                }
                let PoolStep::Delete { file } = operation else {
                    continue;
                };
                let removed = field.fileset.remove_in(number(file.directory), file.number);
                if let (Err(source), Ok(())) = (removed, &outcome) {
                    let own = path_of(&self.settings, cell_trees, file.directory);
                    outcome = Err(RunError::File {
                        verb: "remove",
                        path: own.join(file.number.to_string()),
                        source,
                    });
                }
            }
        }
        outcome
    }
}

/// Path of a pool's directory, for messages.
fn path_of(settings: &FilePool, cell_trees: &CellTrees, directory: PoolDirectory) -> PathBuf {
    let location = settings.locations.get(directory.location_index as usize);
    let tree = location.and_then(|location| match location.place {
        PoolBase::Target(index) => cell_trees.trees.get(&index),
        PoolBase::Nowhere | PoolBase::Beneath => None,
    });
    let path = tree.map_or_else(PathBuf::new, |tree| tree.path().to_owned());
    match directory.subdirectory_index {
        Some(index) => path.join(format!("s{index}")),
        None => path,
    }
}
