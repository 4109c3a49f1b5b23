//! A file that pgmeter did not make, used for reading alone: nothing here can change it.

use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use engine::{EngineError, OpenPlan, Reopen, open_target};
use plan::CacheMode;
use rustix::fs::{Stat, fstat};

use crate::TargetError;
use crate::blank::Blank;
use crate::open::{FileId, Links, open_directory, same_directory};
use crate::path::parent_of;
use crate::probe::PathFacts;

/// Somebody's file, held open for reading from the moment it is admitted.
#[derive(Debug)]
pub(crate) struct ReadOnlyFile {
    path: PathBuf,
    /// The directory that it was found in.
    directory: OwnedFd,
    name: PathBuf,
    held: OwnedFd,
    id: FileId,
}

impl ReadOnlyFile {
    /// Opens the file that was looked at.
    pub(crate) fn admit(facts: &PathFacts) -> Result<Self, TargetError> {
        let path = facts.path.clone();
        let name = PathBuf::from(path.file_name().unwrap_or_default());
        let directory = open_directory(parent_of(&path), Links::Followed, facts.directory)?;
        let held = open_beneath(&directory, &name, CacheMode::Buffered, facts)?;
        let id = FileId::of(&stat(&held, &path)?);
        Ok(Self {
            path,
            directory,
            name,
            held,
            id,
        })
    }

    /// Opens it once more, to be read.
    pub(crate) fn open(&self, cache: CacheMode, facts: &PathFacts) -> Result<OwnedFd, TargetError> {
        let file = open_beneath(&self.directory, &self.name, cache, facts)?;
        if FileId::of(&stat(&file, &self.path)?) != self.id {
            return Err(TargetError::Replaced {
                path: self.path.clone(),
            });
        }
        Ok(file)
    }

    /// How a worker opens it again between connections, to read it.
    pub(crate) fn reopen(&self, cache: CacheMode) -> Result<Reopen, TargetError> {
        let directory = same_directory(&self.directory, &self.path)?;
        Reopen::file(directory, &self.name, reading(cache)).map_err(|_| TargetError::Replaced {
            path: self.path.clone(),
        })
    }

    /// Refuses a file that ends before what is to be read.
    pub(crate) fn check_size(&self, wanted_bytes: u64) -> Result<(), TargetError> {
        let found = stat(&self.held, &self.path)?;
        let available_bytes = u64::try_from(found.st_size).unwrap_or(0);
        if wanted_bytes <= available_bytes {
            return Ok(());
        }
        Err(TargetError::FileTooSmall {
            path: self.path.clone(),
            available_bytes,
            wanted_bytes,
        })
    }

    /// Which part of these bytes was never written.
    pub(crate) fn blank(&self, bytes: Range<u64>) -> Option<Blank> {
        let found = engine::find_unwritten(&self.held, bytes).ok()??;
        Some(Blank {
            keeper: self.path.clone(),
            looked_bytes: found.looked_bytes,
            blank_bytes: found.unwritten_bytes,
        })
    }

    /// Refuses to have it written.
    pub(crate) fn foreign(&self) -> TargetError {
        TargetError::ForeignFile {
            path: self.path.clone(),
        }
    }

    /// Whether the path leads to another file now; none where it leads to this one.
    pub(crate) fn is_replaced(&self) -> Option<bool> {
        let found = std::fs::symlink_metadata(&self.path).is_ok();
        (FileId::at(&self.path) != Some(self.id)).then_some(found)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

const fn reading(cache: CacheMode) -> OpenPlan {
    OpenPlan {
        cache,
        read: true,
        write: false,
        create: false,
    }
}

fn open_beneath(
    directory: &OwnedFd,
    name: &Path,
    cache: CacheMode,
    facts: &PathFacts,
) -> Result<OwnedFd, TargetError> {
    let path = || facts.path.clone();
    open_target(directory.as_fd(), name, reading(cache)).map_err(|error| match error {
        EngineError::DirectRefused { .. } => TargetError::NoDirect {
            path: path(),
            file_system: facts.file_system.clone(),
        },
        EngineError::Open { source, .. } => TargetError::system("open", &facts.path, source),
        _ => TargetError::Replaced { path: path() },
    })
}

fn stat(file: &OwnedFd, path: &Path) -> Result<Stat, TargetError> {
    fstat(file).map_err(|error| TargetError::system("access", path, error))
}

#[cfg(test)]
mod tests;
