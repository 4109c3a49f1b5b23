//! Opens directories and files safely: a path must still lead to the object that was examined, no
//! links are followed, and files of other users are not treated as the user's.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, Mode, OFlags, ResolveFlags, Stat, fstat, openat, openat2, statat, unlinkat,
};
use rustix::io::Errno;

use crate::TargetError;

/// Number of attempts if a lookup interferes with another process.
pub(crate) const ATTEMPTS: u32 = 16;

/// Identity of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Identity of the file at a path; links are followed.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        rustix::fs::stat(path).ok().map(|found| Self::of(&found))
    }

    pub(crate) fn of(found: &Stat) -> Self {
        Self {
            device: found.st_dev,
            inode: found.st_ino,
        }
    }
}

/// Whether the last component of a path may be a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    Refused,
    Followed,
}

/// Opens the directory that was examined at a path; fails if it was replaced.
pub(crate) fn open_directory(
    path: &Path,
    links: Links,
    seen_id: Option<FileId>,
) -> Result<OwnedFd, TargetError> {
    let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if links == Links::Refused {
        flags |= OFlags::NOFOLLOW;
    }
    let replaced = || TargetError::Replaced {
        path: path.to_owned(),
    };
    let directory = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
        Errno::LOOP | Errno::NOTDIR if seen_id.is_some() => replaced(),
        error => TargetError::system("open", path, error),
    })?;
    let found = fstat(&directory).map_err(|error| TargetError::system("access", path, error))?;
    // Compared on the descriptor, so that a replacement between examination and open is detected.
    if seen_id.is_some_and(|id| id != FileId::of(&found)) {
        return Err(replaced());
    }
    Ok(directory)
}

/// Opens one component in a directory without following links.
pub(crate) fn open_beneath(
    directory: BorrowedFd<'_>,
    name: impl rustix::path::Arg + Copy,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let mut flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    if !flags.contains(OFlags::PATH) {
        // Opening a pipe would block, and opening a terminal could make it the controlling one.
        flags |= OFlags::NONBLOCK | OFlags::NOCTTY;
    }
    let resolve = ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    for _ in 0..ATTEMPTS {
        match openat2(directory, name, flags, mode, resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            // Kernels before 5.6 and some sandboxes. For a single component, `O_NOFOLLOW` is enough
            // to stay in the directory.
            Err(Errno::NOSYS | Errno::PERM) => return openat(directory, name, flags, mode),
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

/// Refuses files of other users, including root, because their content cannot be trusted.
/// `directory` is a directory on the same file system in which files can be created.
pub(crate) fn check_owner(
    directory: BorrowedFd<'_>,
    found: &Stat,
    path: &Path,
) -> Result<(), TargetError> {
    let own = rustix::process::geteuid().as_raw();
    if found.st_uid == own || owner_of_new_files(directory) == Some(found.st_uid) {
        return Ok(());
    }
    Err(TargetError::OtherOwner {
        path: path.to_owned(),
        uid: found.st_uid,
    })
}

/// Owner of files that this process creates in a directory. It differs from the user if the file
/// system does not store owners (FAT, and network file systems that map them).
fn owner_of_new_files(directory: BorrowedFd<'_>) -> Option<u32> {
    let mode = Mode::RUSR | Mode::WUSR;
    // A nameless file disappears automatically, even if the process is killed.
    let nameless = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    if let Ok(file) = openat(directory, ".", nameless, mode) {
        return Some(fstat(&file).ok()?.st_uid);
    }
    let name = format!(".pgmeter-owner-{}", std::process::id());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let file = open_beneath(directory, &name, flags, mode).ok()?;
    let created = fstat(&file).ok()?;
    let named = statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW).ok();
    // Removes only the file created here, not one that has taken the name meanwhile.
    if named.is_some_and(|named| FileId::of(&named) == FileId::of(&created)) {
        // If this fails, an empty file remains.
        let _ = unlinkat(directory, &name, AtFlags::empty());
    }
    Some(created.st_uid)
}

/// A duplicate descriptor of an open directory.
pub(crate) fn duplicate_directory(
    directory: &OwnedFd,
    path: &Path,
) -> Result<OwnedFd, TargetError> {
    rustix::io::fcntl_dupfd_cloexec(directory.as_fd(), 0)
        .map_err(|error| TargetError::system("open", path, error))
}
