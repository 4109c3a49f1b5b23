//! A directory of the user that also contains other files.

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

/// A directory of the user. Files are created only under unused names, and only these are removed.
#[derive(Debug)]
pub(crate) struct UserDirectory {
    directory: OwnedFd,
    path: PathBuf,
    in_place: InPlace,
    /// Manifest for `clean`, while the run is running.
    manifest: Option<ClassicManifest>,
}

impl UserDirectory {
    /// Opens the directory that was examined. Nothing is changed.
    pub(crate) fn open(
        path: &Path,
        seen_id: Option<FileId>,
        in_place: InPlace,
    ) -> Result<Self, TargetError> {
        Ok(Self {
            directory: open_directory(path, Links::Refused, seen_id)?,
            path: path.to_owned(),
            in_place,
            manifest: None,
        })
    }

    /// `Some` if the directory was replaced (`true`) or removed (`false`); `None` if it is
    /// unchanged.
    pub(crate) fn is_replaced(&self) -> Option<bool> {
        let own = FileId::of(&fstat(&self.directory).ok()?);
        match FileId::at(&self.path) {
            Some(found) if found == own => None,
            found => Some(found.is_some()),
        }
    }

    /// The directory as a tree. Writes a manifest of the files that will be created.
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

/// Missing directories that were created for the user. Dropping this removes the empty ones, unless
/// they are kept.
#[derive(Debug, Default)]
pub struct CreatedDirectories(Vec<PathBuf>);

impl CreatedDirectories {
    /// Creates the missing directories.
    ///
    /// # Errors
    /// The first directory that cannot be created, with the reason; those created before are
    /// removed again.
    pub fn make_missing(paths: &[PathBuf]) -> Result<Self, (PathBuf, io::Error)> {
        let mut created = Self::default();
        for path in paths {
            // Like `mkdir`: the umask of the user decides about access to these directories.
            match mkdirat(CWD, path, Mode::from_raw_mode(0o777)) {
                Ok(()) => created.0.push(path.clone()),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err((path.clone(), errno.into())),
            }
        }
        Ok(created)
    }

    /// Like [`Self::make_missing`], including parent directories.
    ///
    /// # Errors
    /// Same as [`Self::make_missing`].
    pub fn make_missing_with_parents(paths: &[PathBuf]) -> Result<Self, (PathBuf, io::Error)> {
        let mut wanted: Vec<PathBuf> = Vec::new();
        for path in paths {
            let parents: Vec<&Path> = path.ancestors().collect();
            let named = parents.iter().rev().filter(|it| !it.as_os_str().is_empty());
            wanted.extend(named.map(|it| it.to_path_buf()));
        }
        // Existing ones are skipped, because they may be in a place where nothing can be created.
        wanted.retain(|path| !path.is_dir());
        Self::make_missing(&wanted)
    }

    /// Keeps the directories.
    pub fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for CreatedDirectories {
    fn drop(&mut self) {
        // In reverse, because a parent was created before its children.
        for path in self.0.iter().rev() {
            let _ = unlinkat(CWD, path, AtFlags::REMOVEDIR);
        }
    }
}
