//! A prepared target whose file system is unmounted and mounted again.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::fstat;

use super::trees::{TREE, no_tree};
use super::{Prepared, Ready};
use crate::TargetError;
use crate::claim::Claim;
use crate::manifest::Manifest;
use crate::place::Place;
use crate::remount::{Attempt, Remount};
use crate::tree::{Tree, open_tree};

impl Prepared {
    /// Whether the file system of the target could be unmounted and mounted again, as far as that
    /// can be told without doing it.
    ///
    /// # Errors
    /// [`TargetError::NoRemount`] with the reason.
    pub fn check_remount(&self) -> Result<(), TargetError> {
        self.remountable().map(drop)
    }

    /// Unmounts the file system of the target and mounts it again with the same options, so that
    /// nothing of it is left in the kernel's memory.
    ///
    /// Whatever was opened in the target or in the tree is closed by the caller before, clones of
    /// [`Tree::directory`] included; of the tree itself and of the claim this sees to. What keeps
    /// the file system busy for longer than about two seconds is an error. What a process that is
    /// killed meanwhile leaves unmounted, [`crate::put_back_mounts`] mounts again.
    ///
    /// # Errors
    /// [`TargetError::NoRemount`] where that is impossible: it is still mounted and will be
    /// cleaned when this is dropped. [`TargetError::StaysUnmounted`] when it is gone and did not
    /// come back; the claim is lost then. [`TargetError::Replaced`] when something else is there
    /// now.
    pub fn remount(&mut self, tree: Tree) -> Result<Tree, TargetError> {
        let remount = self.remountable()?;
        let Some(Ready::File(claim)) = self.site.take() else {
            return Err(no_tree(&self.facts));
        };
        let (path, block_bytes) = tree.close();
        let closed = Closed::new(claim);
        let target = closed.place_path.clone();
        match remount.cycle() {
            Attempt::Unmounted(error) => Err(TargetError::StaysUnmounted {
                path: remount.point().to_owned(),
                command: remount.command(),
                target,
                source: error.into(),
            }),
            Attempt::Mounted(outcome) => {
                let claim = closed.open()?;
                let tree = outcome.and_then(|()| tree_of(&claim, &path, block_bytes));
                self.site = Some(Ready::File(claim));
                tree
            }
        }
    }

    fn remountable(&self) -> Result<Remount, TargetError> {
        match &self.site {
            Some(Ready::File(claim)) if claim.place.file_name.is_none() => {
                Remount::check(&claim.place.directory_path())
            }
            _ => Err(no_tree(&self.facts)),
        }
    }
}

/// A claim whose files are closed. Its manifest, which stays, keeps others away.
struct Closed {
    place_path: PathBuf,
    manifest: Manifest,
    interrupted: bool,
}

impl Closed {
    fn new(claim: Claim) -> Self {
        Self {
            place_path: claim.place.parent_path,
            manifest: claim.manifest,
            interrupted: claim.interrupted,
        }
    }

    fn open(self) -> Result<Claim, TargetError> {
        Place::in_directory(&self.place_path, None)?.claim_again(self.manifest, self.interrupted)
    }
}

/// The tree of a claim, opened again.
fn tree_of(claim: &Claim, path: &Path, block_bytes: u64) -> Result<Tree, TargetError> {
    let directory = open_tree(claim.directory.as_fd(), TREE)
        .map_err(|error| TargetError::system("open", path, error))?;
    let found = fstat(&directory).map_err(|error| TargetError::system("access", path, error))?;
    match claim.made_tree(TREE) {
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
