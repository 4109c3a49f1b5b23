//! Manifests for files of an emulated classic program. They describe the file names, so that
//! `clean` finds the files if the program was killed.
//!
//! A classic creates its files in a directory that the user gives, among other files. A file
//! belongs to the run only if the run uses such names, the name did not exist before, and the user
//! is the same. Nothing is removed without confirmation.

mod names;
mod walk;

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use plan::program::NamesInPlace;
use results::ProcessIdentity;
use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, fstat, unlinkat};
use serde::{Deserialize, Serialize};

use crate::TargetError;
use crate::clean::{CleanReport, NotRemoved};
use crate::open::{FileId, Links, check_owner, open_beneath, open_directory};
use crate::probe::{PathKind, directory_id, kind_of};
use walk::{WalkedEntry, entries, remove_entry};

/// Prefix and suffix of a manifest's name; eight hexadecimal digits are in between.
const PREFIX: &str = "pgmeter.as-";
const SUFFIX: &str = ".json";
/// Name and number of the manifest format.
const FORMAT: &str = "pgmeter-as/1";
/// Maximum size; longer files are not manifests.
const MANIFEST_BYTES_MAX: u64 = 4 << 20;
/// Maximum number of existing files that a manifest lists.
const EXISTING_MAX: usize = 10_000;
const ATTEMPTS: u32 = 16;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct InPlaceManifest {
    format: String,
    /// Version of pgmeter.
    version: String,
    /// The emulated program.
    program: String,
    owner: ProcessIdentity,
    names: NamesInPlace,
    /// Names of this kind that existed before; `None` if there were too many to list.
    before: Option<Vec<String>>,
}

/// The manifest of a running run; removed when this value is dropped.
#[derive(Debug)]
pub struct ClassicManifest {
    directory: OwnedFd,
    name: String,
    /// Keeps the lock while the run is running.
    _lock: File,
}

impl ClassicManifest {
    /// Writes a manifest for the files that `program` will create in a directory. `None` if it
    /// cannot be written, because then the program cannot write its files either.
    #[must_use]
    pub fn begin(directory: &Path, program: &str, names: NamesInPlace) -> Option<Self> {
        let opened = open_directory(directory, Links::Followed, None).ok()?;
        Self::begin_at(&opened, program, names)
    }

    /// Like [`Self::begin`], in an open directory.
    pub(crate) fn begin_at(
        directory: &OwnedFd,
        program: &str,
        names: NamesInPlace,
    ) -> Option<Self> {
        let opened = rustix::io::fcntl_dupfd_cloexec(directory, 0).ok()?;
        // Listed before the program creates anything: these names are not its own.
        let found = entries(&opened, &names).ok()?;
        let before = (found.len() <= EXISTING_MAX)
            .then(|| found.into_iter().map(|entry| entry.path).collect());
        let manifest = InPlaceManifest {
            format: FORMAT.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: program.to_owned(),
            owner: ProcessIdentity::current(),
            names,
            before,
        };
        let (name, mut file) = new_file(&opened)?;
        let this = Self {
            directory: opened,
            name,
            _lock: file.try_clone().ok()?,
        };
        // Not synced, because this would put load on the file system before the measurement.
        let text = units::json_line(&manifest).ok()?;
        file.write_all(text.as_bytes()).ok()?;
        Some(this)
    }
}

impl Drop for ClassicManifest {
    fn drop(&mut self) {
        let _ = unlinkat(&self.directory, &self.name, AtFlags::empty());
    }
}

/// Creates a file with an unused name and locks it.
fn new_file(directory: &OwnedFd) -> Option<(String, File)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    for attempt in 0..ATTEMPTS {
        let random = RandomState::new().hash_one(attempt) as u32;
        let name = format!("{PREFIX}{random:08x}{SUFFIX}");
        let mode = Mode::RUSR | Mode::WUSR;
        if let Ok(file) = open_beneath(directory.as_fd(), &name, flags, mode) {
            // Without support for locks, the owner's process ID is checked instead.
            let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
            return Some((name, file.into()));
        }
    }
    None
}

/// Leftover files of a classic in a directory.
#[derive(Debug)]
pub struct ClassicLeftover {
    directory: OwnedFd,
    path: PathBuf,
    name: String,
    /// Keeps the lock until this value is dropped.
    _lock: OwnedFd,
    manifest: InPlaceManifest,
    uid: u32,
    entries: Vec<WalkedEntry>,
}

/// Leftover files of killed classics in a directory, and manifests that cannot be used, with the
/// reason. Changes nothing.
///
/// # Errors
/// If the directory cannot be read.
pub fn classic_leftovers(
    path: &Path,
) -> Result<(Vec<ClassicLeftover>, Vec<NotRemoved>), TargetError> {
    let kind = kind_of(path)?;
    if kind != PathKind::Directory {
        return Ok((Vec::new(), Vec::new()));
    }
    let seen_id = directory_id(path, kind);
    let directory = open_directory(path, Links::Refused, seen_id)?;
    let (mut leftovers, mut left) = (Vec::new(), Vec::new());
    for name in manifest_names(&directory, path)? {
        match leftover(path, seen_id, &name) {
            Ok(leftover) => leftovers.push(leftover),
            Err(reason) => left.push(NotRemoved {
                path: path.join(name),
                reason,
            }),
        }
    }
    Ok((leftovers, left))
}

fn manifest_names(directory: &OwnedFd, path: &Path) -> Result<Vec<String>, TargetError> {
    let failed = |error| TargetError::system("read", path, error);
    let mut names = Vec::new();
    for entry in Dir::read_from(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_str().unwrap_or_default();
        let middle = name
            .strip_prefix(PREFIX)
            .and_then(|rest| rest.strip_suffix(SUFFIX));
        let is_id = |middle: &str| middle.len() == 8 && middle.bytes().all(names::is_hexadecimal);
        if middle.is_some_and(is_id) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Reads a manifest and finds its files, or returns why it cannot be used.
fn leftover(path: &Path, seen_id: Option<FileId>, name: &str) -> Result<ClassicLeftover, String> {
    let to_text = |error: TargetError| error.to_string();
    let directory = open_directory(path, Links::Refused, seen_id).map_err(to_text)?;
    let lock = open_beneath(directory.as_fd(), name, OFlags::RDWR, Mode::empty())
        .map_err(|error| std::io::Error::from(error).to_string())?;
    let found = fstat(&lock).map_err(|error| std::io::Error::from(error).to_string())?;
    if !walk::is_plain_file(&found) {
        return Err("it is not a file of pgmeter".to_owned());
    }
    check_owner(directory.as_fd(), &found, &path.join(name)).map_err(to_text)?;
    let locked = flock(&lock, FlockOperation::NonBlockingLockExclusive);
    // The kernel releases the lock when the program ends, even if it is killed.
    if locked == Err(rustix::io::Errno::WOULDBLOCK) {
        return Err("the program that wrote it is still running".to_owned());
    }
    let manifest = read(&lock)?;
    if locked.is_err() && manifest.owner.may_run() {
        let pid = manifest.owner.pid;
        return Err(format!("process {pid} that wrote it may still be running"));
    }
    let Some(before) = &manifest.before else {
        return Err(format!(
            "more than {EXISTING_MAX} files with such names existed before, so its own cannot be \
             told from them"
        ));
    };
    let mut found_now = entries(&directory, &manifest.names)
        .map_err(|error| std::io::Error::from(error).to_string())?;
    let before: std::collections::HashSet<&str> = before.iter().map(String::as_str).collect();
    found_now.retain(|entry| !before.contains(entry.path.as_str()));
    Ok(ClassicLeftover {
        directory,
        path: path.to_owned(),
        name: name.to_owned(),
        _lock: lock,
        uid: found.st_uid,
        entries: found_now,
        manifest,
    })
}

fn read(file: &OwnedFd) -> Result<InPlaceManifest, String> {
    let mut text = Vec::new();
    let copy = rustix::io::dup(file).map_err(|error| std::io::Error::from(error).to_string())?;
    let mut limited = File::from(copy).take(MANIFEST_BYTES_MAX + 1);
    let count = limited
        .read_to_end(&mut text)
        .map_err(|error| error.to_string())?;
    if count as u64 > MANIFEST_BYTES_MAX {
        return Err(format!("it is longer than {MANIFEST_BYTES_MAX} bytes"));
    }
    let manifest: InPlaceManifest = units::read_json(&mut text.as_slice())
        .map_err(|error| format!("it is not a manifest of `as`: {error}"))?;
    match manifest.format == FORMAT {
        true => Ok(manifest),
        false => Err(format!("its format is not `{FORMAT}`")),
    }
}

impl ClassicLeftover {
    /// The emulated program.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.manifest.program
    }

    /// The files that would be removed, in the order of the directory.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let files = self.entries.iter().filter(|entry| !entry.is_directory);
        files.map(|entry| self.path.join(&entry.path))
    }

    /// Removes the files and directories of the run, and then the manifest. The manifest is kept if
    /// anything in it remains.
    pub fn remove(self, report: &mut CleanReport) {
        let left_before = report.left.len();
        for entry in &self.entries {
            let path = self.path.join(&entry.path);
            match remove_entry(&self.directory, entry, self.uid) {
                Ok(true) => report.beneath_count += 1,
                Ok(false) => {}
                Err(reason) => report.left.push(NotRemoved { path, reason }),
            }
        }
        let path = self.path.join(&self.name);
        // The manifest is the only record of the names, and another attempt needs it.
        if report.left.len() > left_before {
            let reason = "it is kept until everything it lists is gone".to_owned();
            return report.left.push(NotRemoved { path, reason });
        }
        match unlinkat(&self.directory, &self.name, AtFlags::empty()) {
            Ok(()) => report.removed.push(path),
            Err(error) => report.left.push(NotRemoved {
                path,
                reason: std::io::Error::from(error).to_string(),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
