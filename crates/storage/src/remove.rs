//! Removes a directory with its content, with limited memory for any number of entries.
//!
//! Every call uses the descriptor of the current directory. Links are removed but never followed.
//! Mount points of other file systems are left.

use std::ffi::{CStr, CString, OsStr};
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawDir, SeekFrom, StatxFlags, renameat, seek, statx, unlinkat,
};
use rustix::io::Errno;

use crate::open::open_beneath;

/// Maximum number of directory entries in memory. They are removed in the order of their inodes,
/// because neighbors share blocks on the device.
const BATCH_ENTRIES: usize = 1 << 17;
const READ_BYTES: usize = 1 << 17;
/// Maximum number of open directories; deeper ones are moved up first.
const DEPTH_MAX: usize = 32;
/// Number of names to try for a directory that is moved up.
const MOVE_ATTEMPTS: u32 = 64;
const PROGRESS_STEP: u64 = 1024;

/// Result of removing a directory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RemovalResult {
    /// Number of files and directories removed, including the directory itself.
    pub count: u64,
    pub left: Option<RemainingEntries>,
}

/// Entries that could not be removed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RemainingEntries {
    pub count: u64,
    /// The first entry that could not be removed.
    pub first: PathBuf,
    pub error: Errno,
}

impl fmt::Display for RemainingEntries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", std::io::Error::from(self.error))?;
        match self.count {
            0 | 1 => Ok(()),
            count => write!(f, "; {count} files and directories are left with it"),
        }
    }
}

/// A directory to remove, opened for reading.
pub(crate) struct DirectoryToRemove<'a> {
    pub parent: BorrowedFd<'a>,
    pub name: &'a CStr,
    pub directory: &'a OwnedFd,
    /// Path for messages.
    pub path: PathBuf,
}

/// Removes a directory. Continues after entries that cannot be removed. `progress` receives the
/// number of entries removed.
pub(crate) fn remove_directory(
    doomed: DirectoryToRemove<'_>,
    progress: &mut dyn FnMut(u64),
) -> RemovalResult {
    let mut removal = Removal {
        top: doomed.directory.as_fd(),
        path: doomed.path,
        progress,
        removed_count: 0,
        left_count: 0,
        first: None,
        moved_count: 0,
        buffer: Vec::with_capacity(READ_BYTES),
    };
    removal.clear(doomed.parent, doomed.name, doomed.directory, 1);
    (removal.progress)(removal.removed_count);
    let left_count = removal.left_count;
    let remaining = removal.first.filter(|_| left_count > 0);
    RemovalResult {
        count: removal.removed_count,
        left: remaining.map(|(first, error)| RemainingEntries {
            count: left_count,
            first,
            error,
        }),
    }
}

struct Removal<'a> {
    top: BorrowedFd<'a>,
    /// The current directory.
    path: PathBuf,
    progress: &'a mut dyn FnMut(u64),
    removed_count: u64,
    left_count: u64,
    first: Option<(PathBuf, Errno)>,
    moved_count: u32,
    buffer: Vec<u8>,
}

struct RemovalEntry {
    inode: u64,
    name: CString,
    is_directory: bool,
}

impl Removal<'_> {
    /// Removes the content of an open directory, then the directory.
    fn clear(&mut self, parent: BorrowedFd<'_>, name: &CStr, directory: &OwnedFd, depth: usize) {
        loop {
            let (removed_count, left_count) = (self.removed_count, self.left_count);
            self.pass(directory, depth);
            match unlinkat(parent, name, AtFlags::REMOVEDIR) {
                Ok(()) => return self.count(),
                // Some file systems skip entries while others are being removed.
                Err(Errno::NOTEMPTY | Errno::EXIST) if self.removed_count > removed_count => {
                    self.left_count = left_count;
                }
                Err(error) => return self.leave(None, error),
            }
            if let Err(error) = seek(directory, SeekFrom::Start(0)) {
                return self.leave(None, error);
            }
        }
    }

    /// Removes the entries that one pass over the directory finds.
    fn pass(&mut self, directory: &OwnedFd, depth: usize) {
        loop {
            let mut batch = match self.read(directory) {
                Ok(batch) => batch,
                Err(error) => return self.leave(None, error),
            };
            if batch.is_empty() {
                return;
            }
            batch.sort_unstable_by_key(|entry| entry.inode);
            // Files go first, so that the batch is small while subdirectories are removed by
            // recursion.
            batch.retain_mut(|entry| !self.remove_file(directory.as_fd(), entry));
            for entry in batch {
                self.remove_subdirectory(directory.as_fd(), &entry.name, depth);
            }
        }
    }

    /// The next entries of a directory; empty at its end.
    fn read(&mut self, directory: &OwnedFd) -> Result<Vec<RemovalEntry>, Errno> {
        let mut batch = Vec::new();
        let mut listing = RawDir::new(directory, self.buffer.spare_capacity_mut());
        // Entries in the buffer must be used, because the next read continues after them.
        while !(listing.is_buffer_empty() && batch.len() >= BATCH_ENTRIES) {
            let entry = match listing.next() {
                Some(Ok(entry)) => entry,
                Some(Err(Errno::INTR)) => continue,
                Some(Err(error)) if batch.is_empty() => return Err(error),
                // The next read returns the error again.
                Some(Err(_)) | None => break,
            };
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            batch.push(RemovalEntry {
                inode: entry.ino(),
                name: entry.file_name().to_owned(),
                is_directory: entry.file_type() == FileType::Directory,
            });
        }
        Ok(batch)
    }

    /// Removes an entry unless it is a directory; `false` if it is one.
    fn remove_file(&mut self, directory: BorrowedFd<'_>, entry: &RemovalEntry) -> bool {
        if entry.is_directory {
            return false;
        }
        match unlinkat(directory, &*entry.name, AtFlags::empty()) {
            Ok(()) => self.count(),
            Err(Errno::NOENT) => {}
            // File systems that do not report types in listings get here.
            Err(Errno::ISDIR) => return false,
            Err(error) => self.leave(Some(&entry.name), error),
        }
        true
    }

    fn remove_subdirectory(&mut self, parent: BorrowedFd<'_>, name: &CStr, depth: usize) {
        match unlinkat(parent, name, AtFlags::REMOVEDIR) {
            Ok(()) => return self.count(),
            Err(Errno::NOENT) => return,
            Err(Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(error) => return self.leave(Some(name), error),
        }
        if depth >= DEPTH_MAX {
            // The next pass over the top directory finds and removes it.
            return match self.move_up(parent, name) {
                Ok(()) => {}
                Err(error) => self.leave(Some(name), error),
            };
        }
        match self.enter(parent, name) {
            Ok(directory) => {
                self.path.push(OsStr::from_bytes(name.to_bytes()));
                self.clear(parent, name, &directory, depth + 1);
                self.path.pop();
            }
            Err(error) => self.leave(Some(name), error),
        }
    }

    fn enter(&self, parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let directory = open_beneath(parent, name, flags, Mode::empty())?;
        // Kernels without `openat2` do not refuse mounts.
        if mount_number(directory.as_fd())? != mount_number(self.top)? {
            return Err(Errno::XDEV);
        }
        Ok(directory)
    }

    /// Moves a directory to the top of the tree, to limit the number of open directories.
    fn move_up(&mut self, parent: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
        let mut moved = Err(Errno::EXIST);
        for _ in 0..MOVE_ATTEMPTS {
            let next = format!("pgmeter-moved-{}", self.moved_count);
            self.moved_count = self.moved_count.wrapping_add(1);
            moved = renameat(parent, name, self.top, next);
            // Another directory with this name also belongs to pgmeter, and is removed in its turn.
            if !matches!(moved, Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR)) {
                break;
            }
        }
        moved
    }

    fn count(&mut self) {
        self.removed_count += 1;
        if self.removed_count.is_multiple_of(PROGRESS_STEP) {
            (self.progress)(self.removed_count);
        }
    }

    /// Records that an entry of the current directory, or the directory itself, still exists.
    fn leave(&mut self, name: Option<&CStr>, error: Errno) {
        self.left_count += 1;
        if self.first.is_none() {
            let path = match name {
                Some(name) => self.path.join(OsStr::from_bytes(name.to_bytes())),
                None => self.path.clone(),
            };
            self.first = Some((path, error));
        }
    }
}

/// Mount ID of an open directory, and the device number of its file system.
fn mount_number(directory: BorrowedFd<'_>) -> Result<(u64, u32, u32), Errno> {
    let found = statx(directory, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
    let has_id = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
    let mount = if has_id { found.stx_mnt_id } else { 0 };
    Ok((mount, found.stx_dev_major, found.stx_dev_minor))
}

#[cfg(test)]
mod tests;
