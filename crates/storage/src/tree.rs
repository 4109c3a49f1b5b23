//! The directory tree of a target, in which workloads create and remove files.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, fstat, fstatvfs, mkdirat, unlinkat};
use rustix::io::Errno;

use crate::TargetError;
use crate::manifest::is_plain;
use crate::open::{Links, open_beneath, open_directory};

/// Name of a file that is created to read its attributes, and removed.
const PROBE: &str = "probe";

/// A directory in the work directory, which is removed completely; or a directory of the user,
/// which may contain other files.
#[derive(Debug)]
pub struct Tree {
    directory: OwnedFd,
    path: PathBuf,
    block_bytes: u64,
    is_in_place: bool,
    is_found: bool,
}

impl Tree {
    /// A tree that was just created.
    pub(crate) fn new(directory: OwnedFd, path: PathBuf) -> Result<Self, TargetError> {
        let block_bytes = file_block_bytes(directory.as_fd())
            .map_err(|error| TargetError::system("access", &path, error))?;
        Ok(Self::at(directory, path, block_bytes))
    }

    /// A tree with known properties.
    pub(crate) fn at(directory: OwnedFd, path: PathBuf, block_bytes: u64) -> Self {
        Self {
            directory,
            path,
            block_bytes,
            is_in_place: false,
            is_found: false,
        }
    }

    /// A tree that several processes share: a subdirectory of a directory that a process of the run
    /// created and will remove. Creates it if necessary.
    ///
    /// # Errors
    /// If it cannot be created, or is not a directory.
    pub fn open_shared(beneath: &Path, name: &str) -> Result<Self, TargetError> {
        let path = beneath.join(name);
        let failed = |error: Errno| TargetError::system("open", &path, error);
        let base = open_directory(beneath, Links::Refused, None)?;
        match mkdirat(&base, name, Mode::RWXU) {
            // Processes of one run create it at the same time; the first one succeeds.
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(TargetError::system("make", &path, error)),
        }
        let directory = open_tree(base.as_fd(), name).map_err(failed)?;
        Self::new(directory, path)
    }

    /// A directory of the user with files that existed before the run. No directories are created
    /// in it.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn found(path: &Path) -> Result<Self, TargetError> {
        let failed = |error| TargetError::system("open", path, error);
        let base = open_directory(path, Links::Followed, None)?;
        let block_bytes = fstat(&base).map_err(failed)?.st_blksize;
        let directory = open_tree(base.as_fd(), ".").map_err(failed)?;
        let block_bytes = u64::try_from(block_bytes).unwrap_or(0);
        Ok(Self {
            is_found: true,
            ..Self::at(directory, path.to_owned(), block_bytes)
        })
    }

    /// A directory of the user.
    pub(crate) fn in_place(directory: OwnedFd, path: PathBuf, block_bytes: u64) -> Self {
        Self {
            is_in_place: true,
            ..Self::at(directory, path, block_bytes)
        }
    }

    /// `true` if the directory may contain other files, so that files must be removed one by one.
    #[must_use]
    pub const fn is_in_place(&self) -> bool {
        self.is_in_place
    }

    /// `true` if its files existed before the run, so that no directories are created in it.
    #[must_use]
    pub const fn is_found(&self) -> bool {
        self.is_found
    }

    /// Closes its directory. [`Tree::at`] can restore the tree from the return value.
    pub(crate) fn close(self) -> (PathBuf, u64) {
        (self.path, self.block_bytes)
    }

    /// The directory, opened with `O_PATH`, for calls that take a directory and a name.
    #[must_use]
    pub fn directory(&self) -> &OwnedFd {
        &self.directory
    }

    /// Path for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Preferred transfer size (`st_blksize`) of a file in the tree, in bytes. C's standard I/O
    /// uses it as the buffer size.
    #[must_use]
    pub fn block_bytes(&self) -> u64 {
        self.block_bytes
    }

    /// Bytes of the file system available to this user; `None` if not reported.
    #[must_use]
    pub fn free_bytes(&self) -> Option<u64> {
        let space = fstatvfs(&self.directory).ok()?;
        (space.f_blocks > 0).then(|| space.f_bavail.saturating_mul(space.f_frsize))
    }

    /// Size of the file system, in bytes; `None` if not reported.
    #[must_use]
    pub fn total_bytes(&self) -> Option<u64> {
        let space = fstatvfs(&self.directory).ok()?;
        (space.f_blocks > 0).then(|| space.f_blocks.saturating_mul(space.f_frsize))
    }

    /// Device number (`st_dev`) of its file system.
    ///
    /// # Errors
    /// If the directory cannot be accessed.
    pub fn device(&self) -> io::Result<u64> {
        Ok(fstat(&self.directory)?.st_dev)
    }

    /// Number of files and directories that this user can still create; `None` if the file system
    /// has no limit.
    #[must_use]
    pub fn free_file_count(&self) -> Option<u64> {
        let space = fstatvfs(&self.directory).ok()?;
        // File systems that create inodes as needed, such as btrfs, report 0.
        (space.f_files > 0).then_some(space.f_favail)
    }

    /// Creates a directory in the tree, with its parents, and opens it with `O_PATH`. Existing
    /// directories are used; in a found tree, none are created. `name` is one component, or several
    /// such as `a/b/c`.
    ///
    /// # Errors
    /// [`TargetError::BadTreeName`] for names that are empty, absolute or special;
    /// [`TargetError::PathTaken`] if a link or a file is in the way.
    pub fn make_subdirectory(&self, name: &str) -> Result<OwnedFd, TargetError> {
        if !name.split('/').all(is_plain) {
            return Err(TargetError::BadTreeName {
                name: name.to_owned(),
            });
        }
        let mut path = self.path.clone();
        let mut created: Option<OwnedFd> = None;
        for component in name.split('/') {
            path.push(component);
            let above = created.as_ref().unwrap_or(&self.directory);
            if !self.is_found {
                make(above.as_fd(), component, &path)?;
            }
            // Each component is opened before the next one is created, so that no link can lead out
            // of the tree.
            created = Some(open_created_tree(above.as_fd(), component, &path)?);
        }
        created.ok_or_else(|| TargetError::BadTreeName {
            name: name.to_owned(),
        })
    }
}

fn make(above: BorrowedFd<'_>, name: &str, path: &Path) -> Result<(), TargetError> {
    match mkdirat(above, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(TargetError::system("make", path, error)),
    }
}

fn open_created_tree(
    above: BorrowedFd<'_>,
    name: &str,
    path: &Path,
) -> Result<OwnedFd, TargetError> {
    open_tree(above, name).map_err(|error| match error {
        Errno::LOOP | Errno::NOTDIR | Errno::XDEV => TargetError::PathTaken {
            path: path.to_owned(),
        },
        error => TargetError::system("open", path, error),
    })
}

/// Opens a directory for calls that take a directory and a name.
pub(crate) fn open_tree(above: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    open_beneath(above, name, flags, Mode::empty())
}

/// Preferred transfer size of a file; of the directory if no file can be created.
fn file_block_bytes(directory: BorrowedFd<'_>) -> io::Result<u64> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    // Some file systems report another `st_blksize` for directories than for files.
    let found = match open_beneath(directory, PROBE, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => {
            let found = fstat(&file);
            unlinkat(directory, PROBE, AtFlags::empty())?;
            found?
        }
        Err(_) => fstat(directory)?,
    };
    Ok(u64::try_from(found.st_blksize).unwrap_or(0))
}

#[cfg(test)]
mod tests;
