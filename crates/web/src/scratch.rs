//! Temporary files for child processes.

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};

use crate::token::hexadecimal;

/// Prefix of the directories' names.
const PREFIX: &str = "pgmeter-serve-";
/// Name of the directory with the site of a board, the only directory that is removed with its
/// content.
pub(crate) const SITE: &str = "site";
/// Minimum age for removal: a younger directory may not be locked yet.
const AGE_MIN: Duration = Duration::from_secs(60);

/// A file for a child process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChildFile {
    /// File name without directories.
    pub name: String,
    /// Content of the file.
    pub text: String,
}

/// Returns a name that nobody can guess or use at the same time.
pub(crate) fn random_name() -> io::Result<String> {
    let mut random = [0; 12];
    getrandom(&mut random, GetRandomFlags::empty())?;
    Ok(hexadecimal(&random))
}

/// A temporary directory that is removed with its files.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    /// Shared lock, held while a process needs the directory.
    lock: OwnedFd,
}

impl Scratch {
    /// Creates a directory, with the file if there is one.
    pub fn with(given: Option<&ChildFile>) -> io::Result<Self> {
        // All users can write to the temporary directory, so nobody may know the name in advance.
        let path = std::env::temp_dir().join(format!("{PREFIX}{}", random_name()?));
        // `create` fails if the name exists, so nobody else can have made the directory.
        DirBuilder::new().mode(0o700).create(&path)?;
        let scratch = Self {
            lock: directory(&path)?,
            path,
        };
        flock(&scratch.lock, FlockOperation::NonBlockingLockShared)?;
        if let Some(given) = given {
            let mut file = File::options()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(scratch.path.join(&given.name))?;
            file.write_all(given.text.as_bytes())?;
        }
        Ok(scratch)
    }

    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Passes the lock to child processes started from now on, because a run outlives its server.
    pub fn share(&self) -> io::Result<()> {
        Ok(fcntl_setfd(&self.lock, FdFlags::empty())?)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        clear(&self.path);
    }
}

/// Removes directories left by servers that were killed, or that ended before their runs.
pub(crate) fn sweep() {
    let own = rustix::process::geteuid().as_raw();
    let entries = std::fs::read_dir(std::env::temp_dir());
    for entry in entries.into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_one = name.to_str().is_some_and(|name| name.starts_with(PREFIX));
        // `metadata` of an entry does not follow links.
        let metadata = entry.metadata().ok().filter(|_| is_one);
        let is_own = metadata.is_some_and(|it| {
            let age = it.modified().ok().and_then(|time| time.elapsed().ok());
            // Other users can create such names in the same directory.
            it.is_dir() && it.uid() == own && age.is_some_and(|age| age > AGE_MIN)
        });
        if is_own && is_left(&entry.path()) {
            clear(&entry.path());
        }
    }
}

/// `true` if no process needs the directory.
fn is_left(path: &Path) -> bool {
    let lock = directory(path).ok();
    lock.is_some_and(|lock| flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok())
}

fn directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?)
}

/// Removes the files and then the directory. A record stays: a run saves one here if the store did
/// not accept it. Files that cannot be removed stay in the system's temporary directory.
fn clear(path: &Path) {
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !(name.starts_with("pgmeter-") && name.ends_with(".json")) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let _ = std::fs::remove_dir_all(path.join(SITE));
    let _ = std::fs::remove_dir(path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_file_exists_until_its_scratch_directory_is_dropped() {
        let given = ChildFile {
            name: "a.toml".to_owned(),
            text: "x".to_owned(),
        };
        let scratch = Scratch::with(Some(&given)).unwrap();
        let path = scratch.path().to_owned();
        assert_eq!(std::fs::read_to_string(path.join("a.toml")).unwrap(), "x");
        assert!(!is_left(&path));
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn a_saved_record_keeps_the_scratch_directory() {
        let scratch = Scratch::with(None).unwrap();
        let path = scratch.path().to_owned();
        let record = path.join("pgmeter-20260101-1.json");
        std::fs::write(&record, "{}").unwrap();
        drop(scratch);
        assert!(record.exists() && is_left(&path));
        std::fs::remove_dir_all(&path).unwrap();
    }
}
