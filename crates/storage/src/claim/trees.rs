//! Creates and removes the trees of a locked manifest.

use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{AtFlags, Mode, OFlags, fstat, mkdirat, unlinkat};
use rustix::io::Errno;

use super::ManifestClaim;
use crate::TargetError;
use crate::manifest::ManifestTree;
use crate::open::{check_owner, open_beneath};
use crate::remove::{DirectoryToRemove, RemainingEntries, RemovalResult, remove_directory};
use crate::tree::open_tree;

/// Why a tree still exists.
#[derive(Debug)]
pub(crate) enum TreeRemaining {
    /// It was replaced.
    Replaced(&'static str),
    /// The tree or something in it could not be removed.
    NotRemoved(RemainingEntries),
}

impl ManifestClaim {
    pub(crate) fn tree_path(&self, name: &str) -> PathBuf {
        self.location.directory_path().join(name)
    }

    /// Creates a tree that must not exist, recording it before and after, and opens it with
    /// `O_PATH`.
    pub(crate) fn create_tree(&mut self, name: &str) -> Result<OwnedFd, TargetError> {
        let path = self.tree_path(name);
        let before = self.manifest.trees.clone();
        self.forget_tree(name);
        self.manifest.trees.push(ManifestTree {
            name: name.to_owned(),
            inode: None,
        });
        self.save()?;
        if let Err(error) = mkdirat(&self.directory, name, Mode::RWXU) {
            self.manifest.trees = before;
            self.save()?;
            return Err(match error {
                Errno::EXIST => TargetError::PathTaken { path },
                error => TargetError::system("make", &path, error),
            });
        }
        // The inode number is read from the open directory, because it must belong to the directory
        // in use.
        let opened = open_tree(self.directory.as_fd(), name)
            .and_then(|directory| Ok((fstat(&directory)?, directory)));
        let (found, directory) =
            opened.map_err(|error| TargetError::system("open", &path, error))?;
        check_owner(self.directory.as_fd(), &found, &path)?;
        let inode = found.st_ino;
        for made in &mut self.manifest.trees {
            if made.name == name {
                made.inode = Some(inode);
            }
        }
        self.save()?;
        Ok(directory)
    }

    /// Removes a tree of the manifest with its content, unless it was replaced. Returns the number
    /// of entries removed.
    pub(crate) fn remove_tree(
        &mut self,
        name: &str,
        progress: &mut dyn FnMut(u64),
    ) -> (u64, Option<TreeRemaining>) {
        let Some(entry) = self.made_tree(name).cloned() else {
            return (0, None);
        };
        let Some(found) = self.stat(name) else {
            self.forget_tree(name);
            return (0, None);
        };
        if let Some(reason) = entry.foreign(&found, self.owner_uid()) {
            return (0, Some(TreeRemaining::Replaced(reason)));
        }
        let removed = match entry.inode {
            None => self.remove_empty(name),
            Some(inode) => self.remove_full(name, inode, progress),
        };
        match removed {
            Ok(RemovalResult { count, left: None }) => {
                self.forget_tree(name);
                (count, None)
            }
            Ok(RemovalResult { count, left }) => (count, left.map(TreeRemaining::NotRemoved)),
            // Only an entry without a recorded inode gets here: its directory had to be empty.
            Err(Errno::NOTEMPTY | Errno::EXIST) => {
                let reason = "nothing shows that pgmeter made what is in it";
                (0, Some(TreeRemaining::Replaced(reason)))
            }
            Err(error) => {
                let first = self.tree_path(name);
                let count = 1;
                let remains = RemainingEntries {
                    count,
                    first,
                    error,
                };
                (0, Some(TreeRemaining::NotRemoved(remains)))
            }
        }
    }

    /// Without a recorded inode, nothing had been created in the tree.
    fn remove_empty(&self, name: &str) -> Result<RemovalResult, Errno> {
        unlinkat(&self.directory, name, AtFlags::REMOVEDIR)?;
        Ok(RemovalResult {
            count: 1,
            left: None,
        })
    }

    fn remove_full(
        &self,
        name: &str,
        inode: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<RemovalResult, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let directory = open_beneath(self.directory.as_fd(), name, flags, Mode::empty())?;
        let found = fstat(&directory)?;
        // Checked again on the open directory, because the name may have been given to another one
        // since.
        if found.st_ino != inode || found.st_uid != self.owner_uid() {
            return Err(Errno::STALE);
        }
        let c_name = CString::new(name).map_err(|_| Errno::INVAL)?;
        let doomed = DirectoryToRemove {
            parent: self.directory.as_fd(),
            name: &c_name,
            directory: &directory,
            path: self.tree_path(name),
        };
        Ok(remove_directory(doomed, progress))
    }

    pub(crate) fn made_tree(&self, name: &str) -> Option<&ManifestTree> {
        self.manifest.trees.iter().find(|it| it.name == name)
    }

    fn forget_tree(&mut self, name: &str) {
        self.manifest.trees.retain(|it| it.name != name);
    }
}
