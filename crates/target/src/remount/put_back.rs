//! Mounts again what a killed run left unmounted, by the notes that it left.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use super::note::{self, Left, Note, Notes};
use super::{command, context, mount_on};
use crate::mounts::{Mount, mounts};

/// What became of a file system that a killed run had left unmounted.
#[derive(Debug)]
pub struct PutBack {
    /// Where it belongs.
    pub point: PathBuf,
    /// The command that mounts it by hand.
    pub command: String,
    /// Why it is not mounted again, if it is not.
    pub outcome: Result<(), NotPutBack>,
}

/// Why a file system was not mounted again.
#[derive(Debug)]
pub enum NotPutBack {
    /// It is mounted elsewhere by now.
    Elsewhere(PathBuf),
    /// The device is gone or holds something else; it will not be tried again.
    OtherDevice(String),
    /// Something else is mounted there by now; it will not be tried again.
    Covered,
    /// The kernel refused; it will be tried again.
    Refused(io::Error),
}

impl fmt::Display for NotPutBack {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elsewhere(point) => write!(formatter, "it is mounted on `{}`", point.display()),
            Self::OtherDevice(source) => {
                write!(formatter, "`{source}` is not what was mounted any more")
            }
            Self::Covered => write!(formatter, "something else is mounted there"),
            Self::Refused(error) => write!(formatter, "{error}"),
        }
    }
}

/// Mounts again what killed runs of this machine left unmounted (`between = "remount"`); what was
/// done, and what could not be. Only notes that root left for root are followed, and only onto the
/// device that they name.
#[must_use]
pub fn put_back_mounts() -> Vec<PutBack> {
    if !rustix::process::geteuid().is_root() {
        return Vec::new();
    }
    put_back_by(&note::place())
}

fn put_back_by(place: &Path) -> Vec<PutBack> {
    // What is not root's own is not looked at.
    let Ok(Some(notes)) = Notes::open(place) else {
        return Vec::new();
    };
    let (Ok(found), Ok(namespace)) = (notes.read(), note::namespace()) else {
        return Vec::new();
    };
    let here = |note: &Note| note.namespace == namespace && !note.owner.may_run();
    let of_here = found.into_iter().filter(|(note, _)| here(note));
    of_here
        .filter_map(|(note, left)| put_back(&note, left))
        .collect()
}

/// Follows one note of a process that is gone; nothing where there is nothing to be done.
fn put_back(note: &Note, left: Left) -> Option<PutBack> {
    let mount = &note.mount;
    let is_of_this_boot = note.owner.boot == results::Owner::current().boot;
    let table = mounts();
    if !is_of_this_boot || table.iter().any(|other| is_back(mount, other)) {
        left.remove();
        return None;
    }
    let outcome = free(note, &table).and_then(|()| mount_noted(mount).map_err(NotPutBack::Refused));
    // The kernel may think otherwise next time.
    if !matches!(outcome, Err(NotPutBack::Refused(_))) {
        left.remove();
    }
    Some(PutBack {
        point: mount.point.clone(),
        command: command(mount),
        outcome,
    })
}

fn is_back(mount: &Mount, other: &Mount) -> bool {
    (&other.point, &other.source) == (&mount.point, &mount.source)
}

/// Whether the device is the one that was mounted, and both it and the place are free.
fn free(note: &Note, table: &[Mount]) -> Result<(), NotPutBack> {
    let mount = &note.mount;
    // Numbers without a device (major 0) are given anew.
    let has_number = |other: &Mount| mount.device.0 != 0 && other.device == mount.device;
    let same = |other: &&Mount| other.source == mount.source || has_number(other);
    if let Some(other) = table.iter().find(same) {
        return Err(NotPutBack::Elsewhere(other.point.clone()));
    }
    if table.iter().any(|other| other.point == mount.point) {
        return Err(NotPutBack::Covered);
    }
    match note::source(&mount.source) {
        Ok(found) if found == (note.source, note.signature.clone()) => Ok(()),
        _ => Err(NotPutBack::OtherDevice(mount.source.clone())),
    }
}

fn mount_noted(mount: &Mount) -> io::Result<()> {
    // A link that somebody put into the path leads nowhere.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let strict = ResolveFlags::NO_SYMLINKS;
    let point = openat2(CWD, &mount.point, flags, Mode::empty(), strict)?;
    let context = context(mount).map_err(|(_, error)| error)?;
    Ok(mount_on(mount, &context, Some(&point))?)
}

#[cfg(test)]
mod tests;
