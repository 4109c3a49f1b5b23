//! Named files in a prepared target's tree: created, opened and removed.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use rustix::fs::{AtFlags, FallocateFlags, Mode, OFlags, fallocate, fstat, fstatvfs, ftruncate};
use rustix::io::Errno;

use plan::CacheMode;
use plan::job::{DurableWrites, Layout};

use super::write::{filling, reserve, target_error};
use super::{FillPlan, OpenedTarget, Prepared, evict, read_all};
use crate::TargetError;
use crate::doubt::doubt;
use crate::fill::FillWatch;
use crate::open::open_beneath;
use crate::tree::Tree;

/// A named file in a tree, which may be in a subdirectory.
#[derive(Debug, Clone, Copy)]
pub struct NamedTreeFile<'a> {
    /// The tree that contains it.
    pub tree: &'a Tree,
    /// Name in the tree, of one or more components.
    pub name: &'a str,
}

/// How a file is opened for measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedOpen {
    /// Use of the page cache.
    pub cache: CacheMode,
    /// Open for reading.
    pub reads: bool,
    /// Open for writing.
    pub writes: bool,
    /// Whether each write is durable.
    pub durable: DurableWrites,
}

impl NamedTreeFile<'_> {
    /// Path for messages.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.tree.path().join(self.name)
    }

    /// Size of the file, in bytes; `None` if it does not exist.
    ///
    /// # Errors
    /// If it is not a file.
    pub fn size_bytes(&self) -> Result<Option<u64>, TargetError> {
        let found = self.open(OFlags::RDONLY).and_then(size_by_fstat);
        match found {
            Ok(bytes) => Ok(Some(bytes)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.failed("open", error)),
        }
    }

    /// Creates the file again according to `layout`: with `size_bytes` of data, allocated space, or
    /// only this length.
    ///
    /// # Errors
    /// If space is too small, or the file cannot be created or written.
    pub fn lay_out(
        &self,
        size_bytes: u64,
        layout: Layout,
        fill: &FillPlan,
        watch: &mut FillWatch<'_>,
    ) -> Result<(), TargetError> {
        self.remove()?;
        match layout {
            Layout::Absent => return Ok(()),
            Layout::Directory => return self.tree.make_subdirectory(self.name).map(drop),
            _ => {}
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let file = self.open(flags).map_err(|it| self.failed("make", it))?;
        self.fill(file, 0..size_bytes, (layout, fill), watch)
    }

    /// Makes the file longer according to `layout`, and keeps what it contains. `sizes` are its
    /// present size and the new one, in bytes.
    ///
    /// # Errors
    /// If space is too small, or the file cannot be opened or written.
    pub fn extend(
        &self,
        sizes: Range<u64>,
        layout: Layout,
        fill: &FillPlan,
        watch: &mut FillWatch<'_>,
    ) -> Result<(), TargetError> {
        let file = self.open(OFlags::RDWR);
        let file = file.map_err(|it| self.failed("open", it))?;
        self.fill(file, sizes, (layout, fill), watch)
    }

    fn fill(
        &self,
        file: OwnedFd,
        sizes: Range<u64>,
        (layout, fill): (Layout, &FillPlan),
        watch: &mut FillWatch<'_>,
    ) -> Result<(), TargetError> {
        let size_bytes = sizes.end;
        match layout {
            Layout::Empty | Layout::Directory | Layout::Absent => Ok(()),
            Layout::Sparse => {
                ftruncate(&file, size_bytes).map_err(|it| self.failed("set the length of", it))
            }
            // Such a file may never reach this size; its space is allocated while it is written.
            Layout::Allotted if !has_room(&file, size_bytes) => Ok(()),
            Layout::Allotted if size_bytes > 0 => {
                match fallocate(&file, FallocateFlags::empty(), 0, size_bytes) {
                    // Without support, space is allocated while the file is written.
                    Err(Errno::OPNOTSUPP) => Ok(()),
                    other => other.map_err(|it| self.failed("allocate room for", it)),
                }
            }
            Layout::Allotted => Ok(()),
            Layout::Written => self.write(file, sizes, fill, watch),
        }
    }

    fn write(
        &self,
        file: OwnedFd,
        sizes: Range<u64>,
        fill: &FillPlan,
        watch: &mut FillWatch<'_>,
    ) -> Result<(), TargetError> {
        let size_bytes = sizes.end;
        let direct = self.open(OFlags::WRONLY | OFlags::DIRECT).ok();
        let buffered = File::from(file);
        let written = reserve(&buffered, size_bytes)
            .and_then(|()| filling(fill, sizes)?.write(direct, &buffered, watch));
        written.map_err(|error| target_error(error, self.path(), size_bytes, false))?;
        Ok(())
    }

    /// Writes the file back and drops its pages from the page cache.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn evict(&self) -> Result<(), TargetError> {
        let file = self.open(OFlags::RDONLY);
        evict(file.map_err(|it| self.failed("open", it))?.as_fd());
        Ok(())
    }

    /// Reads the file into the page cache.
    ///
    /// # Errors
    /// If it cannot be opened or read.
    pub fn warm(&self, stop: &AtomicBool) -> Result<(), TargetError> {
        let file = self.open(OFlags::RDONLY);
        let file = File::from(file.map_err(|it| self.failed("open", it))?);
        read_all(&file, u64::MAX, stop).map_err(|it| TargetError::system("read", &self.path(), it))
    }

    /// `true` if a directory has the name.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        self.open(OFlags::RDONLY | OFlags::DIRECTORY).is_ok()
    }

    /// Removes the file or the empty directory, if it exists.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(&self) -> Result<(), TargetError> {
        let (directory, name) = self.parent()?;
        let parent = directory.as_ref().unwrap_or_else(|| self.tree.directory());
        let removed = match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
            Err(Errno::ISDIR) => rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR),
            other => other,
        };
        match removed {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(self.failed("remove", error)),
        }
    }

    /// Its directory, if that is not the tree's directory, and its last component.
    fn parent(&self) -> Result<(Option<OwnedFd>, &str), TargetError> {
        match self.name.rsplit_once('/') {
            Some((directory, name)) => Ok((Some(self.tree.make_subdirectory(directory)?), name)),
            None => Ok((None, self.name)),
        }
    }

    fn open(&self, flags: OFlags) -> Result<OwnedFd, Errno> {
        let (directory, name) = self.parent().map_err(|_| Errno::NOTDIR)?;
        if !crate::manifest::is_plain(name) {
            return Err(Errno::INVAL);
        }
        let parent = directory.as_ref().unwrap_or_else(|| self.tree.directory());
        let mode = match flags.contains(OFlags::CREATE) {
            true => Mode::RUSR | Mode::WUSR,
            false => Mode::empty(),
        };
        open_beneath(parent.as_fd(), name, flags, mode)
    }

    fn failed(&self, action: &'static str, error: Errno) -> TargetError {
        TargetError::system(action, &self.path(), io::Error::from(error))
    }
}

fn size_by_fstat(file: OwnedFd) -> Result<u64, Errno> {
    Ok(u64::try_from(fstat(&file)?.st_size).unwrap_or(0))
}

impl Prepared {
    /// Opens a file of the tree for measuring.
    ///
    /// # Errors
    /// [`TargetError::NoDirect`] if the file system refuses `O_DIRECT`; other errors of opening it.
    pub fn open_named(
        &self,
        tree_file: &NamedTreeFile<'_>,
        mode: NamedOpen,
    ) -> Result<OpenedTarget, TargetError> {
        let mut flags = match (mode.reads, mode.writes) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        let is_direct = mode.cache == CacheMode::Direct;
        flags.set(OFlags::DIRECT, is_direct);
        flags |= match mode.durable {
            DurableWrites::No => OFlags::empty(),
            DurableWrites::Sync => OFlags::SYNC,
            DurableWrites::DataSync => OFlags::DSYNC,
        };
        let file = tree_file.open(flags).map_err(|error| match error {
            // The kernel reports a file system without `O_DIRECT` with `EINVAL`.
            Errno::INVAL if is_direct => TargetError::NoDirect {
                path: tree_file.path(),
                file_system: self.facts.file_system.clone(),
            },
            error => tree_file.failed("open", error),
        })?;
        let doubt = is_direct
            .then(|| doubt(&self.facts, &file, mode.writes))
            .flatten();
        Ok(OpenedTarget { file, doubt })
    }
}

/// `true` if the file system reports at least this much free space.
fn has_room(file: &OwnedFd, size_bytes: u64) -> bool {
    fstatvfs(file).map_or(true, |it| {
        // `f_bavail`, not `f_bfree`, because other users cannot use the blocks reserved for root.
        it.f_bavail.saturating_mul(it.f_frsize) >= size_bytes
    })
}
