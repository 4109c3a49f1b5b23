//! The lab's directory, in which each lab has a directory of its own.

use std::fs::{self, DirBuilder, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};

use crate::error::LabError;

/// How the directory of each lab begins.
const PREFIX: &str = "lab-";
/// The file that a lab, and every process that it started, holds locked.
pub(crate) const LOCK: &str = "lock";
/// The image of the file system.
pub(crate) const IMAGE: &str = "image";
/// Where it is mounted.
pub(crate) const POINT: &str = "mnt";
/// Where the file system under an overlay is mounted.
pub(crate) const BASE: &str = "base";
/// What a guest's kernel keeps about itself, and the guest's only name there.
pub(crate) const GUEST: &str = "uml";
pub(crate) const GUEST_NAME: &str = "guest";
/// What a guest is to do.
pub(crate) const ORDER: &str = "order";
/// What it did.
pub(crate) const ANSWER: &str = "answer";
/// The bits of a mode that let others write.
const OTHERS_WRITE: u32 = 0o022;
/// Locks that are held for a moment only are waited for.
const LOCK_WITHIN: Duration = Duration::from_secs(5);

/// The directory that holds labs unless another is named.
#[must_use]
pub fn default_directory() -> PathBuf {
    let uid = rustix::process::geteuid().as_raw();
    PathBuf::from(format!("/var/tmp/pgmeter-lab-{uid}"))
}

/// Makes the directory where there is none, and refuses one that somebody else could change.
pub(crate) fn trusted(directory: &Path) -> Result<(), LabError> {
    let made = DirBuilder::new().mode(0o700).create(directory);
    if let Err(error) = made
        && error.kind() != std::io::ErrorKind::AlreadyExists
    {
        return Err(LabError::system("make", directory, error));
    }
    let refused = |reason: &str| LabError::Directory {
        path: directory.to_owned(),
        reason: reason.to_owned(),
    };
    let found = fs::symlink_metadata(directory)
        .map_err(|error| LabError::system("look at", directory, error))?;
    if !found.is_dir() {
        return Err(refused("it is not a directory"));
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(refused("it belongs to somebody else"));
    }
    if found.mode() & OTHERS_WRITE != 0 {
        return Err(refused("others can write to it"));
    }
    Ok(())
}

/// A directory name that no other lab has.
pub(crate) fn new_name() -> String {
    let start = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S-%f");
    format!("{PREFIX}{start}-{:x}", std::process::id())
}

/// The directories of all labs, the oldest first.
pub(crate) fn labs(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_lab = |entry: &fs::DirEntry| {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        is_directory && entry.file_name().to_string_lossy().starts_with(PREFIX)
    };
    let mut found: Vec<PathBuf> = entries.filter(is_lab).map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// Locks the whole directory for as long as what is returned lives.
pub(crate) fn lock_directory(directory: &Path) -> Result<OwnedFd, LabError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = open(directory, flags, Mode::empty())
        .map_err(|error| LabError::system("open", directory, error))?;
    if wait_for(|| try_lock(&opened), LOCK_WITHIN) {
        return Ok(opened);
    }
    Err(LabError::Directory {
        path: directory.to_owned(),
        reason: "another `pgmeter lab` keeps it locked".to_owned(),
    })
}

/// The lock of a lab, which every process that it starts shares: as long as one of them lives,
/// nobody else gets it.
pub(crate) fn lab_lock(lab: &Path) -> Result<OwnedFd, LabError> {
    let path = lab.join(LOCK);
    // Not closed on exec, so that programs that outlive a killed lab are found by it.
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW;
    open(&path, flags, Mode::RUSR | Mode::WUSR)
        .map_err(|error| LabError::system("open", &path, error))
}

/// The lock of a lab that is there already; none where it has none.
pub(crate) fn existing_lock(lab: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    open(lab.join(LOCK), flags, Mode::empty()).ok()
}

/// Whether the lock is had.
pub(crate) fn try_lock(file: &OwnedFd) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Waits until something is so; false when it is not by then.
pub(crate) fn wait_for(mut is_so: impl FnMut() -> bool, longest: Duration) -> bool {
    let start = Instant::now();
    loop {
        if is_so() {
            return true;
        }
        if start.elapsed() >= longest {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Makes a directory of our own, for nobody else to look into.
pub(crate) fn make_directory(path: &Path) -> Result<(), LabError> {
    let made = DirBuilder::new().mode(0o700).create(path);
    made.map_err(|error| LabError::system("make", path, error))
}

/// Makes the names in a directory durable.
pub(crate) fn sync_directory(path: &Path) -> Result<(), LabError> {
    let synced = File::open(path).and_then(|opened| opened.sync_all());
    synced.map_err(|error| LabError::system("sync", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_others_can_write_is_not_trusted() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lab");
        trusted(&path).unwrap();
        trusted(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(trusted(&path), Err(LabError::Directory { .. })));
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(directory.path(), &link).unwrap();
        assert!(matches!(trusted(&link), Err(LabError::Directory { .. })));
    }

    #[test]
    fn labs_are_known_by_their_names() {
        let directory = tempfile::tempdir().unwrap();
        let name = new_name();
        make_directory(&directory.path().join(&name)).unwrap();
        make_directory(&directory.path().join("other")).unwrap();
        fs::write(directory.path().join("lab-file"), "").unwrap();
        assert_eq!(labs(directory.path()), [directory.path().join(&name)]);
    }

    #[test]
    fn a_lock_is_had_once() {
        let directory = tempfile::tempdir().unwrap();
        let first = lab_lock(directory.path()).unwrap();
        let second = existing_lock(directory.path()).unwrap();
        assert!(try_lock(&first) && !try_lock(&second));
        drop(first);
        assert!(try_lock(&second));
    }
}
