//! Finds and removes files with the names of a classic.

use std::os::fd::{AsFd, OwnedFd};

use plan::program::NamesInPlace;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, statat, unlinkat};
use rustix::io::Errno;

use super::names::{is_directory, is_file};
use crate::open::open_beneath;

/// An entry with a name that a classic uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WalkedEntry {
    /// Path relative to the first directory.
    pub path: String,
    pub is_directory: bool,
}

/// All entries below a directory with such names; each directory comes after its content.
pub(super) fn entries(
    directory: &OwnedFd,
    names: &NamesInPlace,
) -> Result<Vec<WalkedEntry>, Errno> {
    let mut found = Vec::new();
    walk(directory, names, ("", 0), &mut found)?;
    Ok(found)
}

fn walk(
    directory: &OwnedFd,
    names: &NamesInPlace,
    (above, level): (&str, u32),
    found: &mut Vec<WalkedEntry>,
) -> Result<(), Errno> {
    for entry in listing(directory)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else {
            continue;
        };
        let may_be =
            // Some file systems do not report types in listings; opening or removing the entry
            // checks the type.
            |kind| matches!(entry.file_type(), FileType::Unknown) || entry.file_type() == kind;
        let path = || format!("{above}{name}");
        if is_directory(names, level, name)
            && may_be(FileType::Directory)
            && let Ok(inner) = open_inner(directory, name)
        {
            walk(
                &inner,
                names,
                (&format!("{above}{name}/"), level + 1),
                found,
            )?;
            found.push(WalkedEntry {
                path: path(),
                is_directory: true,
            });
        } else if is_file(names, level, name) && may_be(FileType::RegularFile) {
            found.push(WalkedEntry {
                path: path(),
                is_directory: false,
            });
        }
    }
    Ok(())
}

/// Lists an open directory without opening it again, because the system calls of a classic are
/// compared with the calls of the original.
fn listing(directory: &OwnedFd) -> Result<Dir, Errno> {
    let copy = rustix::io::fcntl_dupfd_cloexec(directory.as_fd(), 0)?;
    let mut listing = Dir::new(copy)?;
    // The copy of the descriptor shares its position, which an earlier listing may have moved.
    listing.rewind();
    Ok(listing)
}

fn open_inner(directory: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    open_beneath(directory.as_fd(), name, flags, Mode::empty())
}

/// `true` for a regular file without further hard links.
pub(super) fn is_plain_file(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::RegularFile && found.st_nlink == 1
}

/// Removes an entry that belongs to this user; `false` if it does not exist.
///
/// # Errors
/// Why it was not removed.
pub(super) fn remove_entry(top: &OwnedFd, entry: &WalkedEntry, uid: u32) -> Result<bool, String> {
    match try_remove(top, entry, uid) {
        Ok(Ok(())) => Ok(true),
        Ok(Err(reason)) => Err(reason.to_owned()),
        Err(Errno::NOENT) => Ok(false),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Err("it holds other files".to_owned()),
        Err(error) => Err(std::io::Error::from(error).to_string()),
    }
}

fn try_remove(
    top: &OwnedFd,
    entry: &WalkedEntry,
    uid: u32,
) -> Result<Result<(), &'static str>, Errno> {
    let mut components = entry.path.split('/').peekable();
    let mut inner: Option<OwnedFd> = None;
    while let Some(name) = components.next() {
        let directory = inner.as_ref().unwrap_or(top);
        if components.peek().is_some() {
            inner = Some(open_inner(directory, name)?);
            continue;
        }
        let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if found.st_uid != uid {
            return Ok(Err("it belongs to another user"));
        }
        let flags = match entry.is_directory {
            true => AtFlags::REMOVEDIR,
            // A hard link shows that somebody else uses the file as well.
            false if !is_plain_file(&found) => return Ok(Err("it is not a file with one name")),
            false => AtFlags::empty(),
        };
        unlinkat(directory, name, flags)?;
    }
    Ok(Ok(()))
}
