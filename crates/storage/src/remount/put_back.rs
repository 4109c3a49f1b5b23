//! Mounts file systems that a killed run left unmounted, by its notes.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use super::note::{self, Note, NoteDirectory, NoteFile};
use super::{command, context, mount_on};
use crate::mounts::{MountLine, mounts};

/// A file system that a killed run left unmounted.
#[derive(Debug)]
pub struct RestoredMount {
    /// Its mount point.
    pub point: PathBuf,
    /// The command to mount it.
    pub command: String,
    /// Why it was not mounted again; `Ok` if it was.
    pub outcome: Result<(), RestoreFailure>,
}

/// Why a file system was not mounted again.
#[derive(Debug)]
pub enum RestoreFailure {
    /// It is already mounted elsewhere.
    MountedElsewhere(PathBuf),
    /// The device is gone or has other content; there is no further attempt.
    OtherDevice(String),
    /// Something else is mounted there; there is no further attempt.
    Covered,
    /// The kernel refused; there will be another attempt.
    Refused(io::Error),
}

impl fmt::Display for RestoreFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MountedElsewhere(point) => {
                write!(formatter, "it is mounted on `{}`", point.display())
            }
            Self::OtherDevice(source) => {
                write!(formatter, "`{source}` is no longer the same device")
            }
            Self::Covered => write!(formatter, "something else is mounted there"),
            Self::Refused(error) => write!(formatter, "{error}"),
        }
    }
}

/// Mounts file systems that killed runs of this machine left unmounted (`between = "remount"`).
/// Returns the successes and failures. Only root's notes are used, only by root, and only for the
/// device in the note.
#[must_use]
pub fn restore_mounts() -> Vec<RestoredMount> {
    if !rustix::process::geteuid().is_root() {
        return Vec::new();
    }
    restore_from_notes(&note::place())
}

fn restore_from_notes(directory: &Path) -> Vec<RestoredMount> {
    // A directory that other users can write is ignored.
    let Ok(Some(notes)) = NoteDirectory::open(directory) else {
        return Vec::new();
    };
    let (Ok(found), Ok(namespace)) = (notes.read(), note::namespace()) else {
        return Vec::new();
    };
    // In another mount namespace, the path would be a different place. A running owner mounts it
    // itself.
    let is_restorable = |note: &Note| note.namespace == namespace && !note.owner.may_run();
    let restorable = found.into_iter().filter(|(note, _)| is_restorable(note));
    restorable
        .filter_map(|(note, left)| restore_unmounted(&note, left))
        .collect()
}

/// Processes the note of an ended process; `None` if there is nothing to do.
fn restore_unmounted(note: &Note, note_file: NoteFile) -> Option<RestoredMount> {
    let mount = &note.mount;
    let is_of_this_boot = note.owner.boot == results::ProcessIdentity::current().boot;
    let table = mounts();
    // A note of an earlier boot says nothing about the mounts of this one.
    if !is_of_this_boot || table.iter().any(|other| is_restored(mount, other)) {
        note_file.remove();
        return None;
    }
    let outcome =
        free(note, &table).and_then(|()| mount_from_note(mount).map_err(RestoreFailure::Refused));
    // The kernel may accept it next time.
    if !matches!(outcome, Err(RestoreFailure::Refused(_))) {
        note_file.remove();
    }
    Some(RestoredMount {
        point: mount.point.clone(),
        command: command(mount),
        outcome,
    })
}

fn is_restored(mount: &MountLine, other: &MountLine) -> bool {
    (&other.point, &other.source) == (&mount.point, &mount.source)
}

/// Checks that the device has its old content, and that device and mount point are free.
fn free(note: &Note, table: &[MountLine]) -> Result<(), RestoreFailure> {
    let mount = &note.mount;
    // Device numbers without a device (major 0) are reused.
    let has_number = |other: &MountLine| mount.device.0 != 0 && other.device == mount.device;
    let same = |other: &&MountLine| other.source == mount.source || has_number(other);
    if let Some(other) = table.iter().find(same) {
        return Err(RestoreFailure::MountedElsewhere(other.point.clone()));
    }
    if table.iter().any(|other| other.point == mount.point) {
        return Err(RestoreFailure::Covered);
    }
    match note::source(&mount.source) {
        Ok(found) if found == (note.source, note.signature.clone()) => Ok(()),
        _ => Err(RestoreFailure::OtherDevice(mount.source.clone())),
    }
}

fn mount_from_note(mount: &MountLine) -> io::Result<()> {
    // Refuses symbolic links, which another user could have put into the path.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let strict = ResolveFlags::NO_SYMLINKS;
    let point = openat2(CWD, &mount.point, flags, Mode::empty(), strict)?;
    let context = context(mount).map_err(|(_, error)| error)?;
    Ok(mount_on(mount, &context, Some(&point))?)
}

#[cfg(test)]
mod tests;
