//! Location of a manifest, and its lock.
//!
//! All names are single components and all calls use a directory descriptor. Symbolic links are
//! never followed.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use results::ProcessIdentity;
use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, Stat, flock, fstat, mkdirat, statat,
};
use rustix::io::Errno;

use crate::TargetError;
use crate::manifest::{MANIFEST_BYTES_MAX, Manifest};
use crate::open::{
    ATTEMPTS, FileId, Links, check_owner, duplicate_directory, open_beneath, open_directory,
};

/// Name of the work directory in a target directory.
pub(crate) const WORK_DIRECTORY: &str = "pgmeter.work";
/// Suffix of the manifest of a file target.
pub(crate) const SIDECAR_SUFFIX: &str = ".pgmeter";
const MANIFEST: &str = "manifest.json";
/// Pause between attempts to get a lock that should soon be free.
const BUSY_WAIT: Duration = Duration::from_millis(25);

/// Location of a manifest and its files, existing or not.
#[derive(Debug)]
pub(crate) struct ManifestLocation {
    /// The user's directory: the target, or the parent of a file target.
    pub parent: OwnedFd,
    pub parent_path: PathBuf,
    /// Name of a file target; `None` for a work directory.
    pub file_name: Option<String>,
}

/// Result of an attempt to lock.
enum LockResult {
    Locked(OwnedFd, Option<Box<Manifest>>),
    Missing,
    /// Another process replaced the manifest meanwhile.
    Retry,
    /// Locked, but not by the owner: another process examines it, or a child process still has the
    /// descriptor of an owner that has ended.
    Busy,
}

/// A locked manifest and its directory.
pub(crate) struct LockedManifest {
    pub directory: OwnedFd,
    pub lock: OwnedFd,
    pub manifest: Option<Manifest>,
}

/// A manifest that was only examined.
#[derive(Debug)]
pub(crate) struct PeekedManifest {
    pub manifest: Manifest,
    /// User ID of the manifest's owner. All files in it must belong to this user.
    pub owner_uid: u32,
}

impl PeekedManifest {
    /// `true` if the file found is the one in the manifest.
    pub(crate) fn names(&self, name: &str, found: &Stat) -> bool {
        let entry = self.manifest.made(name);
        entry.is_some_and(|made| made.foreign(found, self.owner_uid).is_none())
    }
}

/// User ID of an open file's owner; an unused ID if unknown.
pub(crate) fn owner_uid(file: &OwnedFd) -> u32 {
    fstat(file).map_or(u32::MAX, |found| found.st_uid)
}

/// `true` if pgmeter uses this name for test files in a work directory.
pub(crate) fn is_test_name(name: &str) -> bool {
    let digits = name
        .strip_prefix("test-")
        .and_then(|rest| rest.strip_suffix(".dat"));
    digits.is_some_and(|it| (1..=6).contains(&it.len()) && it.bytes().all(|b| b.is_ascii_digit()))
}

/// The name of a file that can have a manifest.
fn plain_name(path: &Path) -> Result<String, TargetError> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .filter(|name| {
            // The longest derived name is that of the draft, which also ends in `.new`.
            name.len() + SIDECAR_SUFFIX.len() + 4 <= 255 && !name.contains(char::is_control)
        });
    name.map(str::to_owned).ok_or_else(|| {
        let source = std::io::Error::other("its name is too long or not plain UTF-8");
        TargetError::system("use", path, source)
    })
}

impl ManifestLocation {
    /// The work directory in a target directory, which must be the same directory that was
    /// examined.
    pub(crate) fn in_directory(path: &Path, seen_id: Option<FileId>) -> Result<Self, TargetError> {
        Ok(Self {
            parent: open_directory(path, Links::Refused, seen_id)?,
            parent_path: path.to_owned(),
            file_name: None,
        })
    }

    /// The work directory of a file target, in the directory that was examined.
    pub(crate) fn of_file(path: &Path, seen_id: Option<FileId>) -> Result<Self, TargetError> {
        let name = plain_name(path)?;
        let parent_path = crate::path::parent_of(path).to_owned();
        Ok(Self {
            // Only the file itself must not be a link; the user may name its directory by one.
            parent: open_directory(&parent_path, Links::Followed, seen_id)?,
            parent_path,
            file_name: Some(name),
        })
    }

    /// A file target in the directory that contains this location's work directory.
    pub(crate) fn with_file(&self, name: &str) -> Result<Self, TargetError> {
        let path = self.parent_path.join(name);
        Ok(Self {
            parent: duplicate_directory(&self.parent, &self.parent_path)?,
            parent_path: self.parent_path.clone(),
            file_name: Some(plain_name(&path)?),
        })
    }

    /// Path of the directory with the manifest and the files.
    pub(crate) fn directory_path(&self) -> PathBuf {
        match self.file_name {
            Some(_) => self.parent_path.clone(),
            None => self.parent_path.join(WORK_DIRECTORY),
        }
    }

    pub(crate) fn manifest_name(&self) -> String {
        match &self.file_name {
            Some(name) => format!("{name}{SIDECAR_SUFFIX}"),
            None => MANIFEST.to_owned(),
        }
    }

    pub(crate) fn manifest_path(&self) -> PathBuf {
        self.directory_path().join(self.manifest_name())
    }

    /// Name of the next manifest until it is renamed.
    pub(crate) fn draft_name(&self) -> String {
        format!("{}.new", self.manifest_name())
    }

    /// Name of the test file.
    pub(crate) fn test_name(&self) -> String {
        self.file_name
            .clone()
            .unwrap_or_else(|| "test-0.dat".to_owned())
    }

    pub(crate) fn test_path(&self) -> PathBuf {
        self.directory_path().join(self.test_name())
    }

    /// `true` if a manifest here may contain this file name.
    pub(crate) fn allows(&self, name: &str) -> bool {
        match &self.file_name {
            Some(own) => own == name,
            None => is_test_name(name),
        }
    }

    /// Opens the directory of the manifest and the files; `None` if it does not exist. It must
    /// belong to the user.
    pub(crate) fn open(&self) -> Result<Option<OwnedFd>, TargetError> {
        let path = self.directory_path();
        if self.file_name.is_some() {
            return duplicate_directory(&self.parent, &path).map(Some);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        match open_beneath(self.parent.as_fd(), WORK_DIRECTORY, flags, Mode::empty()) {
            Ok(directory) => {
                let found = fstat(&directory)
                    .map_err(|error| TargetError::system("access", &path, error))?;
                check_owner(self.parent.as_fd(), &found, &path)?;
                Ok(Some(directory))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR | Errno::XDEV) => Err(TargetError::PathTaken { path }),
            Err(error) => Err(TargetError::system("open", &path, error)),
        }
    }

    fn open_or_create(&self) -> Result<OwnedFd, TargetError> {
        let path = self.directory_path();
        for _ in 0..ATTEMPTS {
            // Opened again after `mkdirat`, because another process may have created or removed it
            // meanwhile.
            if let Some(directory) = self.open()? {
                return Ok(directory);
            }
            match mkdirat(&self.parent, WORK_DIRECTORY, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => {
                    return Err(TargetError::system("write to", &self.parent_path, error));
                }
            }
        }
        Err(TargetError::Replaced { path })
    }

    /// Reads the manifest without changing it; an error if another process uses it.
    pub(crate) fn peek(&self) -> Result<Option<PeekedManifest>, TargetError> {
        let Some(held) = self.hold(false)? else {
            return Ok(None);
        };
        let owner_uid = owner_uid(&held.lock);
        Ok(held.manifest.map(|manifest| PeekedManifest {
            manifest,
            owner_uid,
        }))
    }

    /// Locks the manifest; `None` if there is none and `make` is `false`.
    pub(crate) fn hold(&self, make: bool) -> Result<Option<LockedManifest>, TargetError> {
        let mut error = TargetError::Replaced {
            path: self.manifest_path(),
        };
        for _ in 0..ATTEMPTS {
            let found = if make {
                Some(self.open_or_create()?)
            } else {
                self.open()?
            };
            let Some(directory) = found else {
                return Ok(None);
            };
            match self.try_lock(&directory, make)? {
                LockResult::Locked(lock, manifest) => {
                    return Ok(Some(LockedManifest {
                        directory,
                        lock,
                        manifest: manifest.map(|boxed| *boxed),
                    }));
                }
                LockResult::Missing => return Ok(None),
                LockResult::Retry => {}
                LockResult::Busy => {
                    error = TargetError::InUse {
                        path: self.used_path(),
                        pid: 0,
                    };
                    std::thread::sleep(BUSY_WAIT);
                }
            }
        }
        Err(error)
    }

    fn try_lock(&self, directory: &OwnedFd, make: bool) -> Result<LockResult, TargetError> {
        let name = self.manifest_name();
        let path = self.manifest_path();
        let failed = |error: Errno| TargetError::system("open", &path, error);
        let lock = match open_beneath(directory.as_fd(), &name, OFlags::RDWR, Mode::empty()) {
            Ok(lock) => lock,
            Err(Errno::NOENT) if !make => return Ok(LockResult::Missing),
            Err(Errno::NOENT) => {
                let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
                match open_beneath(directory.as_fd(), &name, flags, Mode::RUSR | Mode::WUSR) {
                    Ok(lock) => lock,
                    // The directory was removed, or another run was faster.
                    Err(Errno::NOENT | Errno::EXIST) => return Ok(LockResult::Retry),
                    Err(error) => return Err(failed(error)),
                }
            }
            Err(Errno::LOOP | Errno::ISDIR) => return Err(TargetError::PathTaken { path }),
            Err(error) => return Err(failed(error)),
        };
        let opened = fstat(&lock).map_err(failed)?;
        // A hard link could make another file of this user look like a manifest.
        if FileType::from_raw_mode(opened.st_mode) != FileType::RegularFile || opened.st_nlink > 1 {
            return Err(TargetError::PathTaken { path });
        }
        check_owner(self.parent.as_fd(), &opened, &path)?;
        let locked = match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => true,
            Err(Errno::WOULDBLOCK) => return self.locked_by_another(&lock),
            // Without support for locks, the owner's process ID is checked instead.
            Err(Errno::OPNOTSUPP | Errno::NOLCK | Errno::INVAL | Errno::NOSYS) => false,
            Err(error) => return Err(failed(error)),
        };
        // `save` replaces the manifest by a rename: the lock may be that of a file without a name.
        let named = statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW);
        if !named.is_ok_and(|named| FileId::of(&named) == FileId::of(&opened)) {
            return Ok(LockResult::Retry);
        }
        let manifest = self.read(&lock)?;
        let owner = manifest
            .as_ref()
            .and_then(|manifest| manifest.owner.as_ref());
        match owner {
            // An owner that remounts its file system holds no lock meanwhile; its manifest keeps
            // others away.
            Some(owner) if owner.may_run() && !(locked && self.is_free(owner)) => {
                Err(TargetError::InUse {
                    path: self.used_path(),
                    pid: owner.pid,
                })
            }
            _ => Ok(LockResult::Locked(lock, manifest.map(Box::new))),
        }
    }

    /// `true` if an owner that may be running does not use the location, because this process has
    /// its lock.
    fn is_free(&self, owner: &ProcessIdentity) -> bool {
        owner.is_this_process() || !owner.shares_pids()
    }

    fn locked_by_another(&self, lock: &OwnedFd) -> Result<LockResult, TargetError> {
        let owner = self
            .read(lock)
            .ok()
            .flatten()
            .and_then(|manifest| manifest.owner);
        match owner.filter(ProcessIdentity::may_run) {
            Some(owner) => Err(TargetError::InUse {
                path: self.used_path(),
                pid: owner.pid,
            }),
            None => Ok(LockResult::Busy),
        }
    }

    fn used_path(&self) -> PathBuf {
        match self.file_name {
            Some(_) => self.test_path(),
            None => self.directory_path(),
        }
    }

    /// Parses the manifest in an open file; `None` if it is empty, as just after its creation.
    fn read(&self, file: &OwnedFd) -> Result<Option<Manifest>, TargetError> {
        let path = self.manifest_path();
        let file =
            rustix::io::dup(file).map_err(|error| TargetError::system("read", &path, error))?;
        let mut text = Vec::new();
        let mut limited = File::from(file).take(MANIFEST_BYTES_MAX + 1);
        limited
            .read_to_end(&mut text)
            .map_err(|error| TargetError::system("read", &path, error))?;
        if text.is_empty() {
            return Ok(None);
        }
        let parsed = Manifest::parse(&text, |name| self.allows(name));
        match parsed {
            Ok(manifest) if self.file_name.is_some() && !manifest.trees.is_empty() => {
                Err("it names a tree outside a work directory".to_owned())
            }
            other => other,
        }
        .map(Some)
        .map_err(|reason| TargetError::BadManifest { path, reason })
    }
}

#[cfg(test)]
mod tests;
