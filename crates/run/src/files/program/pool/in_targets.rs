//! A pool whose locations are the targets themselves, among the files of others.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use generate::pool::{Operation, PoolDirectory};
use plan::program::{FilePool, PoolPlace};

use super::Pools;
use crate::RunError;
use crate::files::course::Grounds;
use crate::files::field;

/// The directories of a pool's locations.
pub(super) fn locations(settings: &FilePool, grounds: &Grounds) -> Result<Vec<OwnedFd>, RunError> {
    let places = settings.locations.iter().map(|location| location.place);
    let open = |place: PoolPlace| match place {
        PoolPlace::Target(index) => match grounds.trees.get(&index) {
            Some(tree) => field::location(tree, None),
            None => nowhere(),
        },
        PoolPlace::Nowhere | PoolPlace::Beneath => nowhere(),
    };
    places.map(open).collect()
}

/// What is no directory, so that nothing can be made there.
fn nowhere() -> Result<OwnedFd, RunError> {
    let opened = target::null_device().map(OwnedFd::from);
    opened.map_err(|source| RunError::System {
        what: "open the null device".to_owned(),
        source,
    })
}

impl Pools {
    /// Removes what a run that was cut short has left in directories of the user.
    ///
    /// # Errors
    /// The first that could not be removed; the others are gone.
    pub fn remove_left(&mut self, grounds: &Grounds) -> Result<(), RunError> {
        let mut outcome = Ok(());
        for player in &mut self.players {
            let (Some(play), Some(field)) = (&mut player.play, &player.field) else {
                continue;
            };
            while let Some(operation) = play.next_left() {
                let number = |it: PoolDirectory| play.directory_number(it);
                if let Operation::RemoveDirectory(directory) = operation {
                    // One in which somebody put something stays.
                    let _ = field.fileset.remove_subdirectory(number(directory));
                }
                let Operation::Delete { file } = operation else {
                    continue;
                };
                let removed = field.fileset.remove_in(number(file.directory), file.number);
                if let (Err(source), Ok(())) = (removed, &outcome) {
                    let own = path_of(&self.settings, grounds, file.directory);
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

/// Where a directory of a pool is, for messages.
fn path_of(settings: &FilePool, grounds: &Grounds, directory: PoolDirectory) -> PathBuf {
    let location = settings.locations.get(directory.location_index as usize);
    let tree = location.and_then(|location| match location.place {
        PoolPlace::Target(index) => grounds.trees.get(&index),
        PoolPlace::Nowhere | PoolPlace::Beneath => None,
    });
    let path = tree.map_or_else(PathBuf::new, |tree| tree.path().to_owned());
    match directory.subdirectory_index {
        Some(index) => path.join(format!("s{index}")),
        None => path,
    }
}
