//! A file that pgmeter did not create, used only for reading: nothing here can change it.

use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use engine::{EngineError, OpenPlan, Reopen, open_target};
use plan::CacheMode;
use rustix::fs::{Stat, fstat};

use crate::TargetError;
use crate::open::{FileId, Links, duplicate_directory, open_directory};
use crate::path::parent_of;
use crate::probe::PathFacts;
use crate::unwritten::UnwrittenPart;

/// A file of another program, kept open for reading from its admission on.
#[derive(Debug)]
pub(crate) struct ReadOnlyFile {
    path: PathBuf,
    /// The directory that contains it.
    directory: OwnedFd,
    name: PathBuf,
    file: OwnedFd,
    id: FileId,
}

impl ReadOnlyFile {
    /// Opens the file that was examined.
    pub(crate) fn admit(facts: &PathFacts) -> Result<Self, TargetError> {
        let path = facts.path.clone();
        let name = PathBuf::from(path.file_name().unwrap_or_default());
        let directory = open_directory(parent_of(&path), Links::Followed, facts.directory)?;
        // Held open until the end, so that the inode number cannot be reused for another file.
        let file = open_beneath(&directory, &name, CacheMode::Buffered, facts)?;
        let id = FileId::of(&stat(&file, &path)?);
        Ok(Self {
            path,
            directory,
            name,
            file,
            id,
        })
    }

    /// Opens the file again for reading.
    pub(crate) fn open(&self, cache: CacheMode, facts: &PathFacts) -> Result<OwnedFd, TargetError> {
        let file = open_beneath(&self.directory, &self.name, cache, facts)?;
        // The name may lead to another file since the admission.
        if FileId::of(&stat(&file, &self.path)?) != self.id {
            return Err(TargetError::Replaced {
                path: self.path.clone(),
            });
        }
        Ok(file)
    }

    /// How a worker reopens the file for reading between connections.
    pub(crate) fn reopen(&self, cache: CacheMode) -> Result<Reopen, TargetError> {
        let directory = duplicate_directory(&self.directory, &self.path)?;
        Reopen::file(directory, &self.name, reading(cache)).map_err(|_| TargetError::Replaced {
            path: self.path.clone(),
        })
    }

    /// Refuses a file that is smaller than the bytes to read.
    pub(crate) fn check_size(&self, wanted_bytes: u64) -> Result<(), TargetError> {
        let found = stat(&self.file, &self.path)?;
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

    /// The part of these bytes that was never written.
    pub(crate) fn blank(&self, bytes: Range<u64>) -> Option<UnwrittenPart> {
        let found = engine::find_unwritten(&self.file, bytes).ok()??;
        Some(UnwrittenPart {
            backing: self.path.clone(),
            examined_bytes: found.examined_bytes,
            unwritten_bytes: found.unwritten_bytes,
        })
    }

    /// The error for an attempt to write the file.
    pub(crate) fn foreign(&self) -> TargetError {
        TargetError::FileExists {
            path: self.path.clone(),
        }
    }

    /// `true` if the path leads to another file, `false` if it does not exist, `None` if it is
    /// unchanged.
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
