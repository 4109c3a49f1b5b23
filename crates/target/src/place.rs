//! The directory in which pgmeter works, the lock on it, and every creation and removal.
//!
//! All names are single components and all calls go through a directory descriptor; nothing is
//! followed through a symbolic link.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, ResolveFlags, Stat, flock, fstat, mkdirat,
    openat, openat2, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::TargetError;
use crate::manifest::{MANIFEST_BYTES_MAX, Made, Manifest};

/// Name of the work directory in a target directory.
pub(crate) const WORK_DIRECTORY: &str = "pgmeter.work";
/// Ending of the manifest beside a file target.
pub(crate) const SIDECAR_ENDING: &str = ".pgmeter";
const MANIFEST: &str = "manifest.json";
/// How often a look-up that raced with another process is tried again.
const ATTEMPTS: u32 = 16;

/// Where a manifest and the files it names are, whether they exist or not.
#[derive(Debug)]
pub(crate) struct Place {
    /// The user's directory: the target, or the parent of a file target.
    pub parent: OwnedFd,
    pub parent_path: PathBuf,
    /// The file beside its manifest; none for a work directory.
    pub file_name: Option<String>,
}

/// A place with its manifest locked.
#[derive(Debug)]
pub(crate) struct Claim {
    pub place: Place,
    /// The directory that holds manifest and files.
    pub directory: OwnedFd,
    /// The manifest's own file, on which the lock is; replaced with each new manifest.
    lock: OwnedFd,
    pub manifest: Manifest,
    /// Who owned it before, when that run did not end well.
    pub interrupted: bool,
}

/// What an attempt to lock found.
enum Locked {
    Mine(OwnedFd, Option<Manifest>),
    Nothing,
    /// Another process replaced the manifest meanwhile.
    Again,
}

/// Whether pgmeter makes test files of that name in a work directory.
pub(crate) fn is_test_name(name: &str) -> bool {
    let digits = name
        .strip_prefix("test-")
        .and_then(|rest| rest.strip_suffix(".dat"));
    digits.is_some_and(|it| (1..=6).contains(&it.len()) && it.bytes().all(|b| b.is_ascii_digit()))
}

impl Place {
    /// The work directory of a target directory.
    pub(crate) fn in_directory(path: &Path) -> Result<Self, TargetError> {
        Ok(Self {
            parent: open_directory(path)?,
            parent_path: path.to_owned(),
            file_name: None,
        })
    }

    /// A file target.
    pub(crate) fn beside(path: &Path) -> Result<Self, TargetError> {
        let parent_path = crate::probe::parent_of(path).to_owned();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .filter(|name| {
                name.len() + SIDECAR_ENDING.len() + 4 <= 255 && !name.contains(char::is_control)
            });
        let Some(name) = name else {
            let source = std::io::Error::other("its name is too long or not plain UTF-8");
            return Err(TargetError::system("use", path, source));
        };
        let parent = open_directory(&parent_path)?;
        Ok(Self {
            parent,
            parent_path,
            file_name: Some(name.to_owned()),
        })
    }

    /// The path of the directory that holds manifest and files.
    pub(crate) fn directory_path(&self) -> PathBuf {
        match self.file_name {
            Some(_) => self.parent_path.clone(),
            None => self.parent_path.join(WORK_DIRECTORY),
        }
    }

    pub(crate) fn manifest_name(&self) -> String {
        match &self.file_name {
            Some(name) => format!("{name}{SIDECAR_ENDING}"),
            None => MANIFEST.to_owned(),
        }
    }

    pub(crate) fn manifest_path(&self) -> PathBuf {
        self.directory_path().join(self.manifest_name())
    }

    /// The next manifest until it is renamed.
    pub(crate) fn draft_name(&self) -> String {
        format!("{}.new", self.manifest_name())
    }

    /// The test file's name.
    pub(crate) fn test_name(&self) -> String {
        self.file_name
            .clone()
            .unwrap_or_else(|| "test-0.dat".to_owned())
    }

    pub(crate) fn test_path(&self) -> PathBuf {
        self.directory_path().join(self.test_name())
    }

    /// Whether a manifest here may name that file.
    pub(crate) fn allows(&self, name: &str) -> bool {
        match &self.file_name {
            Some(own) => own == name,
            None => is_test_name(name),
        }
    }

    /// The directory of manifest and files, if it is there and is one of ours.
    pub(crate) fn open(&self) -> Result<Option<OwnedFd>, TargetError> {
        let path = self.directory_path();
        if self.file_name.is_some() {
            return rustix::io::dup(&self.parent)
                .map(Some)
                .map_err(|error| TargetError::system("open", &path, error));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        match open_beneath(self.parent.as_fd(), WORK_DIRECTORY, flags, Mode::empty()) {
            Ok(directory) => {
                check_owner(&directory, &path)?;
                Ok(Some(directory))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR | Errno::XDEV) => Err(TargetError::Foreign { path }),
            Err(error) => Err(TargetError::system("open", &path, error)),
        }
    }

    fn open_or_make(&self) -> Result<OwnedFd, TargetError> {
        let path = self.directory_path();
        for _ in 0..ATTEMPTS {
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

    /// Locks the manifest for this run, making it where there is none.
    pub(crate) fn claim(self, run: &str) -> Result<Claim, TargetError> {
        for _ in 0..ATTEMPTS {
            let directory = self.open_or_make()?;
            match self.try_lock(&directory, true)? {
                Locked::Mine(lock, old) => {
                    let interrupted = old.as_ref().is_some_and(|old| old.owner.is_some());
                    let files = old.map(|old| old.files).unwrap_or_default();
                    let mut manifest = Manifest::new(run);
                    manifest.files = files;
                    let mut claim = Claim {
                        place: self,
                        directory,
                        lock,
                        manifest,
                        interrupted,
                    };
                    claim.save()?;
                    return Ok(claim);
                }
                Locked::Nothing | Locked::Again => {}
            }
        }
        Err(TargetError::Replaced {
            path: self.manifest_path(),
        })
    }

    /// Locks the manifest that is there, to clean; none when there is none.
    pub(crate) fn claim_existing(self) -> Result<Result<Claim, Place>, TargetError> {
        for _ in 0..ATTEMPTS {
            let Some(directory) = self.open()? else {
                return Ok(Err(self));
            };
            match self.try_lock(&directory, false)? {
                Locked::Mine(lock, old) => {
                    let manifest = old.unwrap_or_else(|| Manifest::new(""));
                    let claim = Claim {
                        place: self,
                        directory,
                        lock,
                        manifest,
                        interrupted: true,
                    };
                    return Ok(Ok(claim));
                }
                Locked::Nothing => return Ok(Err(self)),
                Locked::Again => {}
            }
        }
        Err(TargetError::Replaced {
            path: self.manifest_path(),
        })
    }

    /// The manifest as it is, not locked and not changed; an error if another process uses it.
    pub(crate) fn peek(&self) -> Result<Option<Manifest>, TargetError> {
        let Some(directory) = self.open()? else {
            return Ok(None);
        };
        for _ in 0..ATTEMPTS {
            match self.try_lock(&directory, false)? {
                Locked::Mine(_, manifest) => return Ok(manifest),
                Locked::Nothing => return Ok(None),
                Locked::Again => {}
            }
        }
        Err(TargetError::Replaced {
            path: self.manifest_path(),
        })
    }

    fn try_lock(&self, directory: &OwnedFd, make: bool) -> Result<Locked, TargetError> {
        let name = self.manifest_name();
        let path = self.manifest_path();
        let failed = |error: Errno| TargetError::system("open", &path, error);
        let lock = match open_beneath(directory.as_fd(), &name, OFlags::RDWR, Mode::empty()) {
            Ok(lock) => lock,
            Err(Errno::NOENT) if !make => return Ok(Locked::Nothing),
            Err(Errno::NOENT) => {
                let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
                match open_beneath(directory.as_fd(), &name, flags, Mode::RUSR | Mode::WUSR) {
                    Ok(lock) => lock,
                    // The directory was removed, or another run was faster.
                    Err(Errno::NOENT | Errno::EXIST) => return Ok(Locked::Again),
                    Err(error) => return Err(failed(error)),
                }
            }
            Err(Errno::LOOP | Errno::ISDIR) => return Err(TargetError::Foreign { path }),
            Err(error) => return Err(failed(error)),
        };
        let opened = fstat(&lock).map_err(failed)?;
        if FileType::from_raw_mode(opened.st_mode) != FileType::RegularFile || opened.st_nlink > 1 {
            return Err(TargetError::Foreign { path });
        }
        let locked = match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => true,
            Err(Errno::WOULDBLOCK) => return Err(self.in_use(&lock)),
            // No locks on this file system: the owner's process must tell.
            Err(Errno::OPNOTSUPP | Errno::NOLCK | Errno::INVAL | Errno::NOSYS) => false,
            Err(error) => return Err(failed(error)),
        };
        let named = statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW);
        if !named.is_ok_and(|named| same_file(&named, &opened)) {
            return Ok(Locked::Again);
        }
        let manifest = self.read(&lock)?;
        let owner = manifest
            .as_ref()
            .and_then(|manifest| manifest.owner.as_ref());
        match owner {
            Some(owner) if owner.may_run() && !(locked && self.is_free(owner)) => {
                Err(TargetError::InUse {
                    path: self.used_path(),
                    pid: owner.pid,
                })
            }
            _ => Ok(Locked::Mine(lock, manifest)),
        }
    }

    /// Whether an owner that may run does not use the place, given that we have its lock.
    fn is_free(&self, owner: &crate::owner::Owner) -> bool {
        let here = crate::owner::Owner::current();
        owner.is_this_process() || owner.boot != here.boot
    }

    fn in_use(&self, lock: &OwnedFd) -> TargetError {
        let owner = self
            .read(lock)
            .ok()
            .flatten()
            .and_then(|manifest| manifest.owner);
        let pid = owner.map_or(0, |owner| owner.pid);
        TargetError::InUse {
            path: self.used_path(),
            pid,
        }
    }

    fn used_path(&self) -> PathBuf {
        match self.file_name {
            Some(_) => self.test_path(),
            None => self.directory_path(),
        }
    }

    /// The manifest in an open file; none when it is empty, as it is just after its creation.
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
        Manifest::parse(&text, |name| self.allows(name))
            .map(Some)
            .map_err(|reason| TargetError::BadManifest { path, reason })
    }
}

impl Claim {
    /// Writes the manifest so that either the old or the new one survives a crash.
    pub(crate) fn save(&mut self) -> Result<(), TargetError> {
        let draft = self.place.draft_name();
        let path = self.place.manifest_path();
        let failed = |error: std::io::Error| TargetError::system("write to", &path, error);
        let _ = unlinkat(&self.directory, &draft, AtFlags::empty());
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let next = open_beneath(
            self.directory.as_fd(),
            &draft,
            flags,
            Mode::RUSR | Mode::WUSR,
        )
        .map_err(|error| failed(error.into()))?;
        // Locked before it has the name, so that the place is never without a lock.
        let _ = flock(&next, FlockOperation::NonBlockingLockExclusive);
        let mut file = File::from(next);
        let written = file
            .write_all(&self.manifest.to_text())
            .and_then(|()| file.sync_all());
        let renamed = written.and_then(|()| {
            renameat(
                &self.directory,
                &draft,
                &self.directory,
                self.place.manifest_name(),
            )?;
            Ok(())
        });
        if let Err(error) = renamed {
            let _ = unlinkat(&self.directory, &draft, AtFlags::empty());
            return Err(failed(error));
        }
        self.lock = file.into();
        // Some file systems cannot sync a directory; the name is then as durable as they make it.
        let _ = rustix::fs::fsync(&self.directory);
        Ok(())
    }

    /// What stands under a name, not followed.
    pub(crate) fn stat(&self, name: &str) -> Option<Stat> {
        statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()
    }

    /// Makes a file that must not exist and notes it.
    pub(crate) fn create(&mut self, made: Made) -> Result<OwnedFd, TargetError> {
        let name = made.name.clone();
        let path = self.place.directory_path().join(&name);
        self.manifest.files.retain(|other| other.name != name);
        self.manifest.files.push(Made {
            inode: None,
            ..made
        });
        self.save()?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let opened = open_beneath(
            self.directory.as_fd(),
            &name,
            flags,
            Mode::RUSR | Mode::WUSR,
        );
        let file = match opened {
            Ok(file) => file,
            Err(error) => {
                self.manifest.files.retain(|other| other.name != name);
                self.save()?;
                return Err(match error {
                    Errno::EXIST => TargetError::Foreign { path },
                    error => TargetError::system("write to", &path, error),
                });
            }
        };
        let inode = fstat(&file)
            .map_err(|error| TargetError::system("look at", &path, error))?
            .st_ino;
        self.note(&name, |made| made.inode = Some(inode));
        self.save()?;
        Ok(file)
    }

    /// Changes the entry of a file; the caller saves.
    pub(crate) fn note(&mut self, name: &str, change: impl FnOnce(&mut Made)) {
        if let Some(made) = self
            .manifest
            .files
            .iter_mut()
            .find(|made| made.name == name)
        {
            change(made);
        }
    }

    /// Removes a file of the manifest, if it is still the one that was made.
    ///
    /// # Errors
    /// The reason why it was left.
    pub(crate) fn remove(&mut self, name: &str) -> Result<bool, String> {
        let Some(made) = self.manifest.made(name).cloned() else {
            return Err("it is not in the manifest".to_owned());
        };
        let Some(found) = self.stat(name) else {
            self.manifest.files.retain(|other| other.name != name);
            return Ok(false);
        };
        if let Some(reason) = made.foreign(&found) {
            return Err(reason.to_owned());
        }
        unlinkat(&self.directory, name, AtFlags::empty())
            .map_err(|error| std::io::Error::from(error).to_string())?;
        self.manifest.files.retain(|other| other.name != name);
        Ok(true)
    }

    /// Whether files of the manifest are still there and still the ones that were made.
    pub(crate) fn has_removable(&self) -> bool {
        self.manifest.files.iter().any(|made| {
            self.stat(&made.name)
                .is_some_and(|found| made.foreign(&found).is_none())
        })
    }

    /// Removes the manifest and, if then empty, the work directory.
    ///
    /// # Errors
    /// What was left and why.
    pub(crate) fn dissolve(self) -> Result<(), (PathBuf, String)> {
        let because = |error: Errno| std::io::Error::from(error).to_string();
        let _ = unlinkat(&self.directory, self.place.draft_name(), AtFlags::empty());
        if let Err(error) = unlinkat(
            &self.directory,
            self.place.manifest_name(),
            AtFlags::empty(),
        ) && error != Errno::NOENT
        {
            return Err((self.place.manifest_path(), because(error)));
        }
        if self.place.file_name.is_some() {
            return Ok(());
        }
        match unlinkat(&self.place.parent, WORK_DIRECTORY, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Err((
                self.place.directory_path(),
                "it holds files that pgmeter did not make".to_owned(),
            )),
            Err(error) => Err((self.place.directory_path(), because(error))),
        }
    }
}

/// Opens a directory whose own name is not a link.
pub(crate) fn open_directory(path: &Path) -> Result<OwnedFd, TargetError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
        .map_err(|error| TargetError::system("open", path, error))
}

/// Opens one component beneath a directory, following nothing.
fn open_beneath(
    directory: std::os::fd::BorrowedFd<'_>,
    name: &str,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let resolve = ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    for _ in 0..ATTEMPTS {
        match openat2(directory, name, flags, mode, resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            // Kernels before 5.6 and some sandboxes; a single component needs no more than
            // `O_NOFOLLOW` to stay beneath.
            Err(Errno::NOSYS | Errno::PERM) => return openat(directory, name, flags, mode),
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

fn same_file(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

/// Refuses a work directory of another user: what it says cannot be believed. Root may use any.
fn check_owner(directory: &OwnedFd, path: &Path) -> Result<(), TargetError> {
    let found = fstat(directory).map_err(|error| TargetError::system("look at", path, error))?;
    let me = rustix::process::geteuid();
    if me.is_root() || found.st_uid == me.as_raw() {
        return Ok(());
    }
    Err(TargetError::Foreign {
        path: path.to_owned(),
    })
}

#[cfg(test)]
mod tests;
