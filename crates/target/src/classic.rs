//! Files of a classic that is stood in for: a manifest beside them says how they are called, so
//! that `clean` finds them where the program was killed.
//!
//! A classic makes its files where the user says, among those of others. So a file is the run's
//! own only if its name is one that the run makes, nothing of that name was there before, and it
//! belongs to the same user; and nothing is removed unasked.

mod names;
mod walk;

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use plan::program::NamesInPlace;
use results::Owner;
use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, fstat, unlinkat};
use serde::{Deserialize, Serialize};

use crate::TargetError;
use crate::clean::{CleanReport, Left};
use crate::open::{FileId, Links, check_owner, open_beneath, open_directory};
use crate::probe::{PathKind, directory_id, kind_of};
use walk::{Entry, entries, remove_entry};

/// What a manifest's name begins and ends with; between them are eight hexadecimal digits.
const PREFIX: &str = "pgmeter.as-";
const ENDING: &str = ".json";
/// The format of manifests: its name and number.
const FORMAT: &str = "pgmeter-as/1";
/// Longer ones are not ours.
const MANIFEST_BYTES_MAX: u64 = 4 << 20;
/// Names of earlier files that a manifest tells one by one.
const BEFORE_MAX: usize = 10_000;
const ATTEMPTS: u32 = 16;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    format: String,
    /// Version of pgmeter.
    version: String,
    /// The program that was stood in for.
    program: String,
    owner: Owner,
    names: NamesInPlace,
    /// What was called so before; none where that was too much to tell.
    before: Option<Vec<String>>,
}

/// The manifest of a run that goes on; it is removed when this value goes.
#[derive(Debug)]
pub struct ClassicManifest {
    directory: OwnedFd,
    name: String,
    /// Locked as long as the run goes on.
    _lock: File,
}

impl ClassicManifest {
    /// Writes a manifest of what `program` is about to make in a directory; none where it cannot
    /// be written, since then the program's files cannot either.
    #[must_use]
    pub fn begin(directory: &Path, program: &str, names: NamesInPlace) -> Option<Self> {
        let opened = open_directory(directory, Links::Followed, None).ok()?;
        Self::begin_at(&opened, program, names)
    }

    /// The same in a directory that is open.
    pub(crate) fn begin_at(
        directory: &OwnedFd,
        program: &str,
        names: NamesInPlace,
    ) -> Option<Self> {
        let opened = rustix::io::fcntl_dupfd_cloexec(directory, 0).ok()?;
        let found = entries(&opened, &names).ok()?;
        let before = (found.len() <= BEFORE_MAX)
            .then(|| found.into_iter().map(|entry| entry.path).collect());
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: program.to_owned(),
            owner: Owner::current(),
            names,
            before,
        };
        let (name, mut file) = new_file(&opened)?;
        let made = Self {
            directory: opened,
            name,
            _lock: file.try_clone().ok()?,
        };
        // Not synced: that would be work on the file system that is about to be measured.
        let text = units::json_line(&manifest).ok()?;
        file.write_all(text.as_bytes()).ok()?;
        Some(made)
    }
}

impl Drop for ClassicManifest {
    fn drop(&mut self) {
        let _ = unlinkat(&self.directory, &self.name, AtFlags::empty());
    }
}

/// A new file of a name that is free, locked.
fn new_file(directory: &OwnedFd) -> Option<(String, File)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    for attempt in 0..ATTEMPTS {
        let random = RandomState::new().hash_one(attempt) as u32;
        let name = format!("{PREFIX}{random:08x}{ENDING}");
        let mode = Mode::RUSR | Mode::WUSR;
        if let Ok(file) = open_beneath(directory.as_fd(), &name, flags, mode) {
            // Where there are no locks the owner's process tells.
            let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
            return Some((name, file.into()));
        }
    }
    None
}

/// What a classic left in a directory.
#[derive(Debug)]
pub struct ClassicLeftover {
    directory: OwnedFd,
    path: PathBuf,
    name: String,
    /// Held until this value goes.
    _lock: OwnedFd,
    manifest: Manifest,
    uid: u32,
    found: Vec<Entry>,
}

/// What classics that were killed left in a directory, and what cannot be told of, with the
/// reason. Nothing is changed.
///
/// # Errors
/// When the directory cannot be read.
pub fn classic_leftovers(path: &Path) -> Result<(Vec<ClassicLeftover>, Vec<Left>), TargetError> {
    let kind = kind_of(path)?;
    if kind != PathKind::Directory {
        return Ok((Vec::new(), Vec::new()));
    }
    let seen = directory_id(path, kind);
    let directory = open_directory(path, Links::Refused, seen)?;
    let (mut leftovers, mut left) = (Vec::new(), Vec::new());
    for name in manifest_names(&directory, path)? {
        match leftover(path, seen, &name) {
            Ok(leftover) => leftovers.push(leftover),
            Err(reason) => left.push(Left {
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
            .and_then(|rest| rest.strip_suffix(ENDING));
        let is_ours = |middle: &str| middle.len() == 8 && middle.bytes().all(names::is_hexadecimal);
        if middle.is_some_and(is_ours) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// What the manifest of that name tells, or why it is not to be followed.
fn leftover(path: &Path, seen: Option<FileId>, name: &str) -> Result<ClassicLeftover, String> {
    let said = |error: TargetError| error.to_string();
    let directory = open_directory(path, Links::Refused, seen).map_err(said)?;
    let lock = open_beneath(directory.as_fd(), name, OFlags::RDWR, Mode::empty())
        .map_err(|error| std::io::Error::from(error).to_string())?;
    let found = fstat(&lock).map_err(|error| std::io::Error::from(error).to_string())?;
    if !walk::is_plain_file(&found) {
        return Err("it is not a file of pgmeter".to_owned());
    }
    check_owner(directory.as_fd(), &found, &path.join(name)).map_err(said)?;
    let locked = flock(&lock, FlockOperation::NonBlockingLockExclusive);
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
            "more than {BEFORE_MAX} files with such names existed before, so its own cannot be \
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
        found: found_now,
        manifest,
    })
}

fn read(file: &OwnedFd) -> Result<Manifest, String> {
    let mut text = Vec::new();
    let copy = rustix::io::dup(file).map_err(|error| std::io::Error::from(error).to_string())?;
    let mut limited = File::from(copy).take(MANIFEST_BYTES_MAX + 1);
    let count = limited
        .read_to_end(&mut text)
        .map_err(|error| error.to_string())?;
    if count as u64 > MANIFEST_BYTES_MAX {
        return Err(format!("it is longer than {MANIFEST_BYTES_MAX} bytes"));
    }
    let manifest: Manifest = units::read_json(&mut text.as_slice())
        .map_err(|error| format!("it is not a manifest of `as`: {error}"))?;
    match manifest.format == FORMAT {
        true => Ok(manifest),
        false => Err(format!("its format is not `{FORMAT}`")),
    }
}

impl ClassicLeftover {
    /// The program that was stood in for.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.manifest.program
    }

    /// The files that would be removed, in the order of the directory.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let files = self.found.iter().filter(|entry| !entry.is_directory);
        files.map(|entry| self.path.join(&entry.path))
    }

    /// Removes the files and the directories that the run made, and then the manifest, which
    /// stays as long as something stays that it names.
    pub fn remove(self, report: &mut CleanReport) {
        let left_before = report.left.len();
        for entry in &self.found {
            let path = self.path.join(&entry.path);
            match remove_entry(&self.directory, entry, self.uid) {
                Ok(true) => report.beneath_count += 1,
                Ok(false) => {}
                Err(reason) => report.left.push(Left { path, reason }),
            }
        }
        let path = self.path.join(&self.name);
        if report.left.len() > left_before {
            let reason = "it is kept as long as something it names".to_owned();
            return report.left.push(Left { path, reason });
        }
        match unlinkat(&self.directory, &self.name, AtFlags::empty()) {
            Ok(()) => report.removed.push(path),
            Err(error) => report.left.push(Left {
                path,
                reason: std::io::Error::from(error).to_string(),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
