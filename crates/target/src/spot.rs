//! A directory of the user in which files lie among those of others.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, fstat, mkdirat, unlinkat};
use rustix::io::Errno;

use crate::TargetError;
use crate::classic::ClassicManifest;
use crate::open::{FileId, Links, open_directory};
use crate::permission::InPlace;
use crate::tree::{Tree, open_tree};

/// A directory of the user. Whoever works in it makes files only where their names are free, and
/// removes what it made and nothing else.
#[derive(Debug)]
pub(crate) struct Spot {
    directory: OwnedFd,
    path: PathBuf,
    in_place: InPlace,
    /// What `clean` is told, as long as the run goes on.
    manifest: Option<ClassicManifest>,
}

impl Spot {
    /// The directory that was seen there. Nothing is changed.
    pub(crate) fn open(
        path: &Path,
        seen: Option<FileId>,
        in_place: InPlace,
    ) -> Result<Self, TargetError> {
        Ok(Self {
            directory: open_directory(path, Links::Refused, seen)?,
            path: path.to_owned(),
            in_place,
            manifest: None,
        })
    }

    /// Whether something else is there now; none where it is still the same.
    pub(crate) fn is_replaced(&self) -> Option<bool> {
        let own = FileId::of(&fstat(&self.directory).ok()?);
        match FileId::at(&self.path) {
            Some(found) if found == own => None,
            found => Some(found.is_some()),
        }
    }

    /// The directory as a tree, with a mark in it of what is about to be made.
    pub(crate) fn tree(&mut self) -> Result<Tree, TargetError> {
        let failed = |error| TargetError::system("access", &self.path, error);
        let found = fstat(&self.directory).map_err(failed)?;
        let directory = open_tree(self.directory.as_fd(), ".").map_err(failed)?;
        if self.manifest.is_none() {
            let (program, names) = (&self.in_place.program, self.in_place.names.clone());
            self.manifest = ClassicManifest::begin_at(&self.directory, program, names);
        }
        let block_bytes = u64::try_from(found.st_blksize).unwrap_or(0);
        Ok(Tree::in_place(directory, self.path.clone(), block_bytes))
    }
}

/// Directories of the user that were missing, and were made. When this goes, so do those of them
/// that are empty, unless they are kept.
#[derive(Debug, Default)]
pub struct MadeDirectories(Vec<PathBuf>);

impl MadeDirectories {
    /// Makes those that are missing.
    ///
    /// # Errors
    /// The first that cannot be made, with the reason; those that were made are gone again.
    pub fn make_missing(paths: &[PathBuf]) -> Result<Self, (PathBuf, io::Error)> {
        let mut made = Self::default();
        for path in paths {
            match mkdirat(CWD, path, Mode::from_raw_mode(0o777)) {
                Ok(()) => made.0.push(path.clone()),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err((path.clone(), errno.into())),
            }
        }
        Ok(made)
    }

    /// The same, with the directories that those are in.
    ///
    /// # Errors
    /// As [`Self::make_missing`].
    pub fn make_missing_with_parents(paths: &[PathBuf]) -> Result<Self, (PathBuf, io::Error)> {
        let mut wanted: Vec<PathBuf> = Vec::new();
        for path in paths {
            let parents: Vec<&Path> = path.ancestors().collect();
            let named = parents.iter().rev().filter(|it| !it.as_os_str().is_empty());
            wanted.extend(named.map(|it| it.to_path_buf()));
        }
        // Of those that are there nothing is asked: they may lie where nothing can be made.
        wanted.retain(|path| !path.is_dir());
        Self::make_missing(&wanted)
    }

    /// Lets them stay.
    pub fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        for path in self.0.iter().rev() {
            let _ = unlinkat(CWD, path, AtFlags::REMOVEDIR);
        }
    }
}
