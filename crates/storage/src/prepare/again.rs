//! Unmounts and mounts again the file system of a prepared target.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::fstat;

use super::trees::{TREE, no_tree};
use super::{Prepared, ReadyTarget};
use crate::TargetError;
use crate::claim::ManifestClaim;
use crate::manifest::Manifest;
use crate::manifest_location::ManifestLocation;
use crate::remount::{Remount, RemountResult};
use crate::tree::{Tree, open_tree};

impl Prepared {
    /// Checks that the file system of the target can be unmounted and mounted again, as far as this
    /// is visible without trying.
    ///
    /// # Errors
    /// [`TargetError::NoRemount`] with the reason.
    pub fn check_remount(&self) -> Result<(), TargetError> {
        self.remountable().map(drop)
    }

    /// Unmounts the file system of the target and mounts it again with the same options, to drop
    /// all of its cached data.
    ///
    /// The caller must have closed everything opened in the target or the tree, including clones of
    /// [`Tree::directory`]; this closes the tree itself and the claim. It is an error if the file
    /// system stays busy for longer than about two seconds. If the process is killed meanwhile,
    /// [`crate::restore_mounts`] mounts the file system again.
    ///
    /// # Errors
    /// [`TargetError::NoRemount`] if it is not possible: the file system is still mounted, and
    /// dropping this cleans up. [`TargetError::RemountFailed`] if it was unmounted and cannot be
    /// mounted again; the claim is then lost. [`TargetError::Replaced`] if something else is there
    /// now.
    pub fn remount(&mut self, tree: Tree) -> Result<Tree, TargetError> {
        let remount = self.remountable()?;
        let Some(ReadyTarget::File(claim)) = self.target.take() else {
            return Err(no_tree(&self.facts));
        };
        // An open descriptor in the file system would make the unmount fail with `EBUSY`.
        let (path, block_bytes) = tree.close();
        let closed = ClosedClaim::new(claim);
        let target = closed.location_path.clone();
        match remount.cycle() {
            RemountResult::Unmounted(error) => Err(TargetError::RemountFailed {
                path: remount.point().to_owned(),
                command: remount.command(),
                target,
                source: error.into(),
            }),
            RemountResult::Mounted(outcome) => {
                // Even if the remount failed, the claim is taken back, so that dropping this cleans
                // up.
                let claim = closed.open()?;
                let tree = outcome.and_then(|()| tree_of(&claim, &path, block_bytes));
                self.target = Some(ReadyTarget::File(claim));
                tree
            }
        }
    }

    fn remountable(&self) -> Result<Remount, TargetError> {
        match &self.target {
            Some(ReadyTarget::File(claim)) if claim.location.file_name.is_none() => {
                Remount::check(&claim.location.directory_path())
            }
            _ => Err(no_tree(&self.facts)),
        }
    }
}

/// A claim with closed files. Its manifest remains and keeps other processes away.
struct ClosedClaim {
    location_path: PathBuf,
    manifest: Manifest,
    interrupted: bool,
}

impl ClosedClaim {
    fn new(claim: ManifestClaim) -> Self {
        Self {
            location_path: claim.location.parent_path,
            manifest: claim.manifest,
            interrupted: claim.interrupted,
        }
    }

    fn open(self) -> Result<ManifestClaim, TargetError> {
        ManifestLocation::in_directory(&self.location_path, None)?
            .reclaim(self.manifest, self.interrupted)
    }
}

/// Opens the tree of a claim again.
fn tree_of(claim: &ManifestClaim, path: &Path, block_bytes: u64) -> Result<Tree, TargetError> {
    let directory = open_tree(claim.directory.as_fd(), TREE)
        .map_err(|error| TargetError::system("open", path, error))?;
    let found = fstat(&directory).map_err(|error| TargetError::system("access", path, error))?;
    match claim.made_tree(TREE) {
        // The mount point could now show another file system with a directory of the same name.
        Some(made) if made.inode == Some(found.st_ino) => {
            Ok(Tree::at(directory, path.to_owned(), block_bytes))
        }
        _ => Err(TargetError::Replaced {
            path: path.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests;
