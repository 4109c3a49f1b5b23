//! The directory that contains all labs, each in its subdirectory.

use std::fs::{self, DirBuilder, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};

use crate::error::LabError;

/// Prefix of each lab's subdirectory.
const PREFIX: &str = "lab-";
/// File that a lab, and every process it starts, holds locked.
pub(crate) const LOCK: &str = "lock";
/// Image of the file system.
pub(crate) const IMAGE: &str = "image";
pub(crate) const MOUNT_POINT: &str = "mnt";
/// Mount point of the file system under an overlay.
pub(crate) const BASE: &str = "base";
/// Directory for the control files of a guest's kernel, and the guest's name in it.
pub(crate) const GUEST: &str = "uml";
pub(crate) const GUEST_NAME: &str = "guest";
/// Task for a guest.
pub(crate) const TASK: &str = "order";
/// Answer of a guest.
pub(crate) const ANSWER: &str = "answer";
/// Mode bits that allow other users to write.
const OTHERS_WRITABLE: u32 = 0o022;
/// Maximum wait for a lock that is held only briefly.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// Default directory for labs.
#[must_use]
pub fn default_directory() -> PathBuf {
    let uid = rustix::process::geteuid().as_raw();
    PathBuf::from(format!("/var/tmp/pgmeter-lab-{uid}"))
}

/// Creates the directory if necessary, and refuses one that other users could change. Returns
/// `true` if it was created.
pub(crate) fn ensure_trusted(directory: &Path) -> Result<bool, LabError> {
    let created = DirBuilder::new().mode(0o700).create(directory);
    let is_made = created.is_ok();
    if let Err(error) = created
        && error.kind() != std::io::ErrorKind::AlreadyExists
    {
        return Err(LabError::system("make", directory, error));
    }
    let refused = |reason: &str| LabError::Directory {
        path: directory.to_owned(),
        reason: reason.to_owned(),
    };
    // A link could lead to a directory that another user may replace later.
    let metadata = fs::symlink_metadata(directory)
        .map_err(|error| LabError::system("access", directory, error))?;
    if !metadata.is_dir() {
        return Err(refused("it is not a directory"));
    }
    doubt(&metadata).map_or(Ok(is_made), |reason| Err(refused(reason)))
}

/// A unique directory name for a lab.
pub(crate) fn new_name() -> String {
    let start = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S-%f");
    format!("{PREFIX}{start}-{:x}", std::process::id())
}

/// Process ID in the name of a lab's directory; `None` if no lab creates such names.
pub(crate) fn pid_of_name(name: &str) -> Option<u32> {
    let parts: Vec<&str> = name.strip_prefix(PREFIX)?.split('-').collect();
    let [day, time, fraction, pid] = parts[..] else {
        return None;
    };
    let is_number = |text: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let number = u32::from_str_radix(pid, 16).ok()?;
    let is_valid = is_number(day, 8..=8)
        && is_number(time, 6..=6)
        && is_number(fraction, 1..=9)
        // Formatted back, so that leading zeros or capital letters are not accepted.
        && format!("{number:x}") == pid;
    is_valid.then_some(number)
}

/// Why a file or directory may not belong to this user alone; `None` if it does.
pub(crate) fn doubt(metadata: &fs::Metadata) -> Option<&'static str> {
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Some("it belongs to another user");
    }
    if metadata.mode() & OTHERS_WRITABLE != 0 {
        return Some("other users can write to it");
    }
    let is_linked = metadata.is_file() && metadata.nlink() > 1;
    is_linked.then_some("it has another name (hard link)")
}

/// Directories with names of labs, oldest first.
pub(crate) fn labs(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_lab = |entry: &fs::DirEntry| {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        is_directory && entry.file_name().to_str().and_then(pid_of_name).is_some()
    };
    let mut found: Vec<PathBuf> = entries.filter(is_lab).map(|entry| entry.path()).collect();
    // Names begin with the time of the start, so their order is the order of age.
    found.sort();
    found
}

/// Locks the whole directory until the return value is dropped.
pub(crate) fn lock_directory(directory: &Path) -> Result<OwnedFd, LabError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = open(directory, flags, Mode::empty())
        .map_err(|error| LabError::system("open", directory, error))?;
    if wait_for(|| try_lock(&opened), LOCK_TIMEOUT) {
        return Ok(opened);
    }
    Err(LabError::Directory {
        path: directory.to_owned(),
        reason: "another `pgmeter lab` keeps it locked".to_owned(),
    })
}

/// Lock of a lab, shared by every process that it starts. No other process can take it while one of
/// them lives.
pub(crate) fn lab_lock(lab: &Path) -> Result<OwnedFd, LabError> {
    let path = lab.join(LOCK);
    // Inherited on exec, so that programs that outlive a killed lab can be found by the lock.
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW;
    open(&path, flags, Mode::RUSR | Mode::WUSR)
        .map_err(|error| LabError::system("open", &path, error))
}

/// Lock of an existing lab.
///
/// # Errors
/// If there is no trusted lock.
pub(crate) fn existing_lock(lab: &Path) -> Result<OwnedFd, String> {
    open_owned_file(&lab.join(LOCK), OFlags::RDWR)
        .map(OwnedFd::from)
        .map_err(|reason| format!("its lock cannot be used: {reason}"))
}

/// Opens a file that must belong to this user and must not be a link.
pub(crate) fn open_owned_file(path: &Path, access: OFlags) -> Result<File, String> {
    // A pipe with this name must not block the open.
    let flags = access | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let text = |error: std::io::Error| error.to_string();
    let file = File::from(open(path, flags, Mode::empty()).map_err(|error| text(error.into()))?);
    let metadata = file.metadata().map_err(text)?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    doubt(&metadata).map_or(Ok(file), |reason| Err(reason.to_owned()))
}

/// `true` if the lock was taken.
pub(crate) fn try_lock(file: &OwnedFd) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Waits until the condition is true; `false` after `longest`.
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

/// Creates a directory that only this user can access.
pub(crate) fn make_directory(path: &Path) -> Result<(), LabError> {
    let created = DirBuilder::new().mode(0o700).create(path);
    created.map_err(|error| LabError::system("make", path, error))
}

/// Syncs a directory, which makes the names in it durable.
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
        assert!(ensure_trusted(&path).unwrap());
        assert!(!ensure_trusted(&path).unwrap());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(
            ensure_trusted(&path),
            Err(LabError::Directory { .. })
        ));
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(directory.path(), &link).unwrap();
        assert!(matches!(
            ensure_trusted(&link),
            Err(LabError::Directory { .. })
        ));
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
    fn only_generated_names_are_lab_names() {
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
    fn a_lock_has_one_holder_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let first = lab_lock(directory.path()).unwrap();
        let second = existing_lock(directory.path()).unwrap();
        assert!(try_lock(&first) && !try_lock(&second));
        drop(first);
        assert!(try_lock(&second));
    }
}
