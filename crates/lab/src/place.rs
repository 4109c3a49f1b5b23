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
/// Returns whether it was made.
pub(crate) fn trusted(directory: &Path) -> Result<bool, LabError> {
    let made = DirBuilder::new().mode(0o700).create(directory);
    let is_made = made.is_ok();
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
        .map_err(|error| LabError::system("access", directory, error))?;
    if !found.is_dir() {
        return Err(refused("it is not a directory"));
    }
    doubt(&found).map_or(Ok(is_made), |reason| Err(refused(reason)))
}

/// A directory name that no other lab has.
pub(crate) fn new_name() -> String {
    let start = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S-%f");
    format!("{PREFIX}{start}-{:x}", std::process::id())
}

/// The process that gave a directory this name; none where no lab gives such names.
pub(crate) fn pid_of_name(name: &str) -> Option<u32> {
    let parts: Vec<&str> = name.strip_prefix(PREFIX)?.split('-').collect();
    let [day, time, fraction, pid] = parts[..] else {
        return None;
    };
    let is_number = |text: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let number = u32::from_str_radix(pid, 16).ok()?;
    let is_ours = is_number(day, 8..=8)
        && is_number(time, 6..=6)
        && is_number(fraction, 1..=9)
        && format!("{number:x}") == pid;
    is_ours.then_some(number)
}

/// Why a file or directory is not believed to be the caller's own.
pub(crate) fn doubt(found: &fs::Metadata) -> Option<&'static str> {
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Some("it belongs to somebody else");
    }
    if found.mode() & OTHERS_WRITE != 0 {
        return Some("others can write to it");
    }
    let is_linked = found.is_file() && found.nlink() > 1;
    is_linked.then_some("it has another name (hard link)")
}

/// The directories that have the names of labs, the oldest first.
pub(crate) fn labs(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_lab = |entry: &fs::DirEntry| {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        is_directory && entry.file_name().to_str().and_then(pid_of_name).is_some()
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

/// The lock of a lab that is there already.
///
/// # Errors
/// Why there is none that can be believed.
pub(crate) fn existing_lock(lab: &Path) -> Result<OwnedFd, String> {
    open_own(&lab.join(LOCK), OFlags::RDWR)
        .map(OwnedFd::from)
        .map_err(|reason| format!("its lock cannot be used: {reason}"))
}

/// Opens a file that must be the caller's own, and no link.
pub(crate) fn open_own(path: &Path, access: OFlags) -> Result<File, String> {
    let flags = access | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let told = |error: std::io::Error| error.to_string();
    let file = File::from(open(path, flags, Mode::empty()).map_err(|error| told(error.into()))?);
    let found = file.metadata().map_err(told)?;
    if !found.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    doubt(&found).map_or(Ok(file), |reason| Err(reason.to_owned()))
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
        assert!(trusted(&path).unwrap());
        assert!(!trusted(&path).unwrap());
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
    fn only_names_that_are_given_are_those_of_labs() {
        assert_eq!(pid_of_name(&new_name()), Some(std::process::id()));
        for name in [
            "lab-",
            "lab-experiments",
            "lab-20260101-120000-5",
            "lab-20260101-120000-5-xyz",
            "lab-20260101-120000-5-0a",
            "lab-20260101-120000-5-A",
            "lab-20260101-120000-5-a-b",
            "lab-2026011-120000-5-a",
            "my-lab-20260101-120000-5-a",
        ] {
            assert_eq!(pid_of_name(name), None, "{name}");
        }
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
