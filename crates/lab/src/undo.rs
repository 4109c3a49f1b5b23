//! Undoes the steps in a journal, for a lab that ends and for one that was killed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::device;
use crate::error::LabError;
use crate::labs_dir::{ANSWER, BASE, GUEST, GUEST_NAME, IMAGE, MOUNT_POINT, TASK, wait_for};
use crate::processes;
use crate::step::{JournalStep, is_requested_device};
use crate::tools;

/// Maximum wait for a busy file system: a ring or file just closed keeps it busy for a moment.
const BUSY_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum time until a detached device is gone.
const DETACH_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Debug, Default)]
pub(crate) struct UndoResult {
    /// Descriptions of what was removed.
    pub removed: Vec<String>,
    /// The first thing that could not be removed; nothing below it was touched.
    pub left: Option<LabError>,
}

/// Removes everything that the steps created, the last step first.
pub(crate) fn undo(lab: &Path, steps: &[JournalStep]) -> UndoResult {
    let mut undone = UndoResult::default();
    undone.left = undo_all(lab, steps, &mut undone.removed).err();
    undone
}

fn undo_all(lab: &Path, steps: &[JournalStep], removed: &mut Vec<String>) -> Result<(), LabError> {
    for step in steps.iter().rev() {
        match step {
            JournalStep::Mount { point } => unmount_own(lab, point, removed)?,
            JournalStep::Loop => detach(&lab.join(IMAGE), removed)?,
            JournalStep::Zram { number, made_at } => {
                let is_own = made_at.is_some_and(|made_at| was_requested(*number, made_at, steps));
                // The number may have been given to another device since; its node then has another
                // time.
                if is_own && device::zram_created_at(*number) == *made_at {
                    remove_zram(*number, removed)?;
                }
            }
            JournalStep::ZramWanted { existing, at } => {
                let number = unrecorded_zram(existing, *at, steps);
                number.map_or(Ok(()), |number| remove_zram(number, removed))?;
            }
            JournalStep::Guest => remove_guest(lab)?,
            JournalStep::Image { .. } => remove_file(&lab.join(IMAGE), removed)?,
            JournalStep::Begin { .. }
            | JournalStep::Device { .. }
            | JournalStep::Mkfs { .. }
            | JournalStep::Process { .. } => {}
        }
    }
    // Without a separate step, because they are made before the mount is in the journal.
    for name in [MOUNT_POINT, BASE] {
        remove_directory(&lab.join(name))?;
    }
    Ok(())
}

/// Unmounts everything in a lab, but removes nothing else.
pub(crate) fn unmount_all(
    lab: &Path,
    steps: &[JournalStep],
    removed: &mut Vec<String>,
) -> Result<(), LabError> {
    for step in steps.iter().rev() {
        if let JournalStep::Mount { point } = step {
            unmount_own(lab, point, removed)?;
        }
    }
    Ok(())
}

/// A lab mounts only in its own directory, so only the name of a mount point is used.
fn unmount_own(lab: &Path, point: &Path, removed: &mut Vec<String>) -> Result<(), LabError> {
    let own = [MOUNT_POINT, BASE].map(|name| lab.join(name));
    let own = own.iter().find(|own| own.file_name() == point.file_name());
    own.map_or(Ok(()), |own| unmount(own, removed))
}

/// Unmounts everything at the mount point; waits while it is busy.
pub(crate) fn unmount(point: &Path, removed: &mut Vec<String>) -> Result<(), LabError> {
    let mut message = String::new();
    let is_unmounted = || {
        if !is_mounted(point) {
            return true;
        }
        match tools::run("umount", &[point.display().to_string()]) {
            Ok(_) => removed.push(format!("mount `{}`", point.display())),
            Err(error) => message = error.to_string(),
        }
        // Also after success: a point can have several mounts, one over the other.
        !is_mounted(point)
    };
    if wait_for(is_unmounted, BUSY_TIMEOUT) {
        return Ok(());
    }
    Err(LabError::Busy {
        point: point.to_owned(),
        reason: processes::users_of(point).unwrap_or(message),
    })
}

fn is_mounted(point: &Path) -> bool {
    storage::mounts().iter().any(|mount| mount.point == point)
}

/// Detaches the image's loop devices.
fn detach(image: &Path, removed: &mut Vec<String>) -> Result<(), LabError> {
    for name in device::loops_on(image) {
        let path = format!("/dev/{name}");
        tools::run("losetup", &["--detach".to_owned(), path.clone()])?;
        let is_detached = || !device::loops_on(image).contains(&name);
        // `losetup --detach` succeeds for a device in use, and the kernel detaches it later.
        if !wait_for(is_detached, DETACH_TIMEOUT) {
            return Err(left(format!("`{path}`"), "something still uses it"));
        }
        removed.push(format!("loop device `{path}`"));
    }
    Ok(())
}

fn remove_zram(number: u32, removed: &mut Vec<String>) -> Result<(), LabError> {
    let name = format!("`/dev/zram{number}`");
    let mut message = String::new();
    let is_removed = || match device::remove_zram(number) {
        Ok(()) => true,
        Err(error) => {
            message = error.to_string();
            false
        }
    };
    if !wait_for(is_removed, BUSY_TIMEOUT) {
        return Err(left(name, &message));
    }
    removed.push(format!("zram device {name}"));
    Ok(())
}

/// `true` if the lab requested the device: it did not exist before, and appeared in time.
fn was_requested(number: u32, made_at: SystemTime, steps: &[JournalStep]) -> bool {
    steps.iter().any(|step| match step {
        JournalStep::ZramWanted { existing, at } => {
            !existing.contains(&number) && is_requested_device(*at, made_at)
        }
        _ => false,
    })
}

/// The zram device that was requested, if the lab was killed before it could record the number. It
/// appeared in time, did not exist before, and has no size yet, so it has no content.
fn unrecorded_zram(existing: &[u32], at: SystemTime, steps: &[JournalStep]) -> Option<u32> {
    if steps
        .iter()
        .any(|step| matches!(step, JournalStep::Zram { .. }))
    {
        return None;
    }
    let is_it = |number: &u32| {
        let made_at = device::zram_created_at(*number);
        !existing.contains(number)
            && made_at.is_some_and(|made_at| is_requested_device(at, made_at))
            && device::zram_size_bytes(*number) == Some(0)
    };
    let mut candidates = device::zrams().into_iter().filter(is_it);
    // With two candidates, one belongs to another process.
    candidates.next().filter(|_| candidates.next().is_none())
}

/// Removes the files that a guest left next to its image. The guest must have ended.
pub(crate) fn remove_guest(lab: &Path) -> Result<(), LabError> {
    let directory = lab.join(GUEST);
    let own = directory.join(GUEST_NAME);
    let files = ["pid", "mconsole"].map(|name| own.join(name));
    let notes = [TASK, ANSWER].map(|name| lab.join(name));
    for file in files.iter().chain(&notes) {
        remove_file(file, &mut Vec::new())?;
    }
    remove_directory(&own)?;
    remove_directory(&directory)
}

/// Removes a file of the lab.
pub(crate) fn remove_file(path: &Path, removed: &mut Vec<String>) -> Result<(), LabError> {
    match fs::remove_file(path) {
        Ok(()) => removed.push(format!("file `{}`", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(LabError::system("remove", path, error)),
    }
    Ok(())
}

/// Removes an empty directory of the lab.
pub(crate) fn remove_directory(path: &PathBuf) -> Result<(), LabError> {
    match fs::remove_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(LabError::system("remove", path, error))
        }
        _ => Ok(()),
    }
}

fn left(name: String, reason: &str) -> LabError {
    LabError::NotRemoved {
        what: name,
        reason: reason.to_owned(),
    }
}
