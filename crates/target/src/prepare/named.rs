//! Files with names of their own in a prepared target's tree: laid out, opened, removed.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, fstat, fstatvfs, ftruncate};
use rustix::io::Errno;

use plan::CacheMode;
use plan::job::{DurableWrites, Layout};

use super::write::{filling, reserve, told};
use super::{FillPlan, Opened, Prepared, evict, read_all};
use crate::TargetError;
use crate::doubt::doubt;
use crate::fill::Watch;
use crate::open::open_beneath;
use crate::tree::Tree;

/// A file with a name of its own in a tree.
#[derive(Debug, Clone, Copy)]
pub struct NamedPlace<'a> {
    /// The tree that it lies in.
    pub tree: &'a Tree,
    /// Its name there, of one component or several.
    pub name: &'a str,
}

/// How a file is opened for measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedOpen {
    /// How the page cache is used.
    pub cache: CacheMode,
    /// For reading.
    pub reads: bool,
    /// For writing.
    pub writes: bool,
    /// Whether each write is durable.
    pub durable: DurableWrites,
}

impl NamedPlace<'_> {
    /// Where it is, for messages.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.tree.path().join(self.name)
    }

    /// Bytes of the file; none where there is none.
    ///
    /// # Errors
    /// Where something else stands there.
    pub fn size_bytes(&self) -> Result<Option<u64>, TargetError> {
        let found = self.open(OFlags::RDONLY).and_then(fstat_of);
        match found {
            Ok(bytes) => Ok(Some(bytes)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.failed("open", error)),
        }
    }

    /// Makes the file anew, with what is to be in it: so that it has so many bytes of data, room,
    /// or mere length.
    ///
    /// # Errors
    /// When there is no room, or it cannot be made or written.
    pub fn lay_out(
        &self,
        size_bytes: u64,
        layout: Layout,
        fill: &FillPlan,
        watch: &mut Watch<'_>,
    ) -> Result<(), TargetError> {
        self.remove()?;
        if layout == Layout::Absent {
            return Ok(());
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let file = self.open(flags).map_err(|it| self.failed("make", it))?;
        match layout {
            Layout::Empty | Layout::Absent => Ok(()),
            Layout::Sparse => {
                ftruncate(&file, size_bytes).map_err(|it| self.failed("set the length of", it))
            }
            // Of a file that only has to last for some time, its room is found as it is written.
            Layout::Allotted if !has_room(&file, size_bytes) => Ok(()),
            Layout::Allotted if size_bytes > 0 => {
                match fallocate(&file, FallocateFlags::empty(), 0, size_bytes) {
                    // Its room is found as it is written.
                    Err(Errno::OPNOTSUPP) => Ok(()),
                    other => other.map_err(|it| self.failed("allocate room for", it)),
                }
            }
            Layout::Allotted => Ok(()),
            Layout::Written => self.write(file, size_bytes, fill, watch),
        }
    }

    fn write(
        &self,
        file: OwnedFd,
        size_bytes: u64,
        fill: &FillPlan,
        watch: &mut Watch<'_>,
    ) -> Result<(), TargetError> {
        let direct = self.open(OFlags::WRONLY | OFlags::DIRECT).ok();
        let buffered = File::from(file);
        let written = reserve(&buffered, size_bytes)
            .and_then(|()| filling(fill, size_bytes)?.write(direct, &buffered, watch));
        written.map_err(|error| told(error, self.path(), size_bytes, false))?;
        Ok(())
    }

    /// Writes it back and drops its pages from the page cache.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn evict(&self) -> Result<(), TargetError> {
        let file = self.open(OFlags::RDONLY);
        evict(file.map_err(|it| self.failed("open", it))?.as_fd());
        Ok(())
    }

    /// Reads it into the page cache.
    ///
    /// # Errors
    /// When it cannot be opened or read.
    pub fn warm(&self, stop: &AtomicBool) -> Result<(), TargetError> {
        let file = self.open(OFlags::RDONLY);
        let file = File::from(file.map_err(|it| self.failed("open", it))?);
        read_all(&file, u64::MAX, stop).map_err(|it| TargetError::system("read", &self.path(), it))
    }

    /// Removes the file, if there is one.
    ///
    /// # Errors
    /// When it stays.
    pub fn remove(&self) -> Result<(), TargetError> {
        let (directory, name) = self.parent()?;
        let parent = directory.as_ref().unwrap_or_else(|| self.tree.directory());
        match rustix::fs::unlinkat(parent, name, rustix::fs::AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(self.failed("remove", error)),
        }
    }

    /// The directory that it is in, where that is not the tree's own, and its last component.
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

    fn failed(&self, what: &'static str, error: Errno) -> TargetError {
        TargetError::system(what, &self.path(), io::Error::from(error))
    }
}

fn fstat_of(file: OwnedFd) -> Result<u64, Errno> {
    Ok(u64::try_from(fstat(&file)?.st_size).unwrap_or(0))
}

impl Prepared {
    /// Opens a file of the tree for measuring.
    ///
    /// # Errors
    /// [`TargetError::NoDirect`] where the file system refuses `O_DIRECT`; whatever else opening
    /// says.
    pub fn open_named(
        &self,
        place: &NamedPlace<'_>,
        how: NamedOpen,
    ) -> Result<Opened, TargetError> {
        let mut flags = match (how.reads, how.writes) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        let is_direct = how.cache == CacheMode::Direct;
        flags.set(OFlags::DIRECT, is_direct);
        flags |= match how.durable {
            DurableWrites::No => OFlags::empty(),
            DurableWrites::Sync => OFlags::SYNC,
            DurableWrites::DataSync => OFlags::DSYNC,
        };
        let file = place.open(flags).map_err(|error| match error {
            Errno::INVAL if is_direct => TargetError::NoDirect {
                path: place.path(),
                file_system: self.facts.file_system.clone(),
            },
            error => place.failed("open", error),
        })?;
        let doubt = is_direct
            .then(|| doubt(&self.facts, &file, how.writes))
            .flatten();
        Ok(Opened { file, doubt })
    }
}

/// Whether the file system reports as many free bytes.
fn has_room(file: &OwnedFd, size_bytes: u64) -> bool {
    fstatvfs(file).map_or(true, |it| {
        it.f_bavail.saturating_mul(it.f_frsize) >= size_bytes
    })
}
