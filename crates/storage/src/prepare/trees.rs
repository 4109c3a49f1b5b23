//! The tree of a prepared target.

use super::{Prepared, ReadyTarget};
use crate::TargetError;
use crate::claim::{ManifestClaim, TreeRemaining};
use crate::doubt::{DirectDoubt, doubt_of_file_system};
use crate::probe::PathFacts;
use crate::tree::Tree;

/// Name of the tree in the work directory.
pub(super) const TREE: &str = "files-0";

impl Prepared {
    /// Doubt that direct I/O on files below the target is direct, as far as its file system
    /// determines it. `writes` is `true` if they are written.
    #[must_use]
    pub fn direct_doubt(&self, writes: bool) -> Option<DirectDoubt> {
        doubt_of_file_system(&self.facts, writes)
    }

    /// Creates an empty directory tree in the work directory. An existing one, of this run or of a
    /// killed one, is removed first; [`remove_tree`](Self::remove_tree) does this with progress
    /// reports. The tree is removed with the target, unless everything is kept. In a directory of
    /// the user, only a manifest is created and removed.
    ///
    /// # Errors
    /// [`TargetError::NotADirectory`] for files and devices, [`TargetError::PathTaken`] if
    /// something that pgmeter did not create is in the way.
    pub fn make_tree(&mut self) -> Result<Tree, TargetError> {
        if let Some(ReadyTarget::InPlace(spot)) = &mut self.target {
            return spot.tree();
        }
        self.remove_tree(&mut |_| {})?;
        let claim = self.tree_claim()?;
        let directory = claim.create_tree(TREE)?;
        let tree = Tree::new(directory, claim.tree_path(TREE));
        self.has_tree = true;
        tree
    }

    /// Removes the tree, if there is one, and returns the number of files and directories removed.
    /// It continues after entries that cannot be removed. `progress` receives the number of entries
    /// removed so far, from time to time.
    ///
    /// # Errors
    /// [`TargetError::TreeNotRemoved`] with the first entry that could not be removed.
    pub fn remove_tree(&mut self, progress: &mut dyn FnMut(u64)) -> Result<u64, TargetError> {
        let Ok(claim) = self.tree_claim() else {
            return Ok(0);
        };
        let mut removed_count = 0;
        for name in tree_names(claim) {
            let path = claim.tree_path(&name);
            let before = removed_count;
            let (count, left) = claim.remove_tree(&name, &mut |count| progress(before + count));
            removed_count += count;
            match left {
                None => claim.save()?,
                Some(TreeRemaining::Replaced(_)) => return Err(TargetError::PathTaken { path }),
                Some(TreeRemaining::NotRemoved(remains)) => {
                    return Err(TargetError::TreeNotRemoved {
                        path,
                        left_count: remains.count,
                        first: remains.first,
                        source: remains.error.into(),
                    });
                }
            }
        }
        Ok(removed_count)
    }

    fn tree_claim(&mut self) -> Result<&mut ManifestClaim, TargetError> {
        match &mut self.target {
            Some(ReadyTarget::File(claim)) if claim.location.file_name.is_none() => Ok(claim),
            _ => Err(no_tree(&self.facts)),
        }
    }
}

pub(super) fn no_tree(facts: &PathFacts) -> TargetError {
    TargetError::NotADirectory {
        path: facts.path.clone(),
    }
}

fn tree_names(claim: &ManifestClaim) -> Vec<String> {
    let names = claim.manifest.trees.iter().map(|it| it.name.clone());
    names.collect()
}

#[cfg(test)]
mod tests;
