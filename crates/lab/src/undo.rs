//! Undoing what a journal says: the same for a lab that ends and for one that was killed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::device;
use crate::error::LabError;
use crate::place::{ANSWER, BASE, GUEST, GUEST_NAME, IMAGE, ORDER, POINT, wait_for};
use crate::processes;
use crate::step::{Step, appeared_for};
use crate::tools;

/// A ring or file that has just been closed keeps its file system busy for a moment.
const BUSY_WITHIN: Duration = Duration::from_secs(3);
/// A device that was given back is gone after so long.
const GONE_WITHIN: Duration = Duration::from_secs(3);

/// What was removed, and what was not.
#[derive(Debug, Default)]
pub(crate) struct Undone {
    /// In words.
    pub removed: Vec<String>,
    /// The first thing that stays; what lies under it was not touched.
    pub left: Option<LabError>,
}

/// Removes what the steps made, the last first.
pub(crate) fn undo(lab: &Path, steps: &[Step]) -> Undone {
    let mut undone = Undone::default();
    undone.left = undo_all(lab, steps, &mut undone.removed).err();
    undone
}

fn undo_all(lab: &Path, steps: &[Step], removed: &mut Vec<String>) -> Result<(), LabError> {
    for step in steps.iter().rev() {
        match step {
            Step::Mount { point } => unmount_own(lab, point, removed)?,
            Step::Loop => detach(&lab.join(IMAGE), removed)?,
            Step::Zram { number, made_at } => {
                let is_ours = made_at.is_some_and(|made_at| was_wanted(*number, made_at, steps));
                if is_ours && device::zram_made_at(*number) == *made_at {
                    remove_zram(*number, removed)?;
                }
            }
            Step::ZramWanted { existing, at } => {
                let number = nameless_zram(existing, *at, steps);
                number.map_or(Ok(()), |number| remove_zram(number, removed))?;
            }
            Step::Guest => remove_guest(lab)?,
            Step::Image { .. } => remove_file(&lab.join(IMAGE), removed)?,
            Step::Begin { .. } | Step::Device { .. } | Step::Mkfs { .. } | Step::Process { .. } => {
            }
        }
    }
    for name in [POINT, BASE] {
        remove_directory(&lab.join(name))?;
    }
    Ok(())
}

/// Takes away what is mounted in a lab, whatever else its journal names.
pub(crate) fn unmount_all(
    lab: &Path,
    steps: &[Step],
    removed: &mut Vec<String>,
) -> Result<(), LabError> {
    for step in steps.iter().rev() {
        if let Step::Mount { point } = step {
            unmount_own(lab, point, removed)?;
        }
    }
    Ok(())
}

/// A lab mounts in its own directory and nowhere else, so that of a point only its name counts.
fn unmount_own(lab: &Path, point: &Path, removed: &mut Vec<String>) -> Result<(), LabError> {
    let own = [POINT, BASE].map(|name| lab.join(name));
    let own = own.iter().find(|own| own.file_name() == point.file_name());
    own.map_or(Ok(()), |own| unmount(own, removed))
}

/// Takes away whatever is mounted at the point, waiting while it is busy.
pub(crate) fn unmount(point: &Path, removed: &mut Vec<String>) -> Result<(), LabError> {
    let mut said = String::new();
    let is_gone = || {
        if !is_mounted(point) {
            return true;
        }
        match tools::run("umount", &[point.display().to_string()]) {
            Ok(_) => removed.push(format!("mount `{}`", point.display())),
            Err(error) => said = error.to_string(),
        }
        !is_mounted(point)
    };
    if wait_for(is_gone, BUSY_WITHIN) {
        return Ok(());
    }
    Err(LabError::Busy {
        point: point.to_owned(),
        reason: processes::users_of(point).unwrap_or(said),
    })
}

fn is_mounted(point: &Path) -> bool {
    target::mounts().iter().any(|mount| mount.point == point)
}

/// Takes the image's loop devices away.
fn detach(image: &Path, removed: &mut Vec<String>) -> Result<(), LabError> {
    for name in device::loops_on(image) {
        let path = format!("/dev/{name}");
        tools::run("losetup", &["--detach".to_owned(), path.clone()])?;
        let is_gone = || !device::loops_on(image).contains(&name);
        if !wait_for(is_gone, GONE_WITHIN) {
            return Err(left(format!("`{path}`"), "something still uses it"));
        }
        removed.push(format!("loop device `{path}`"));
    }
    Ok(())
}

fn remove_zram(number: u32, removed: &mut Vec<String>) -> Result<(), LabError> {
    let name = format!("`/dev/zram{number}`");
    let mut said = String::new();
    let is_gone = || match device::remove_zram(number) {
        Ok(()) => true,
        Err(error) => {
            said = error.to_string();
            false
        }
    };
    if !wait_for(is_gone, BUSY_WITHIN) {
        return Err(left(name, &said));
    }
    removed.push(format!("zram device {name}"));
    Ok(())
}

/// Whether a device is one that the lab asked for: it was not there before, and appeared then.
fn was_wanted(number: u32, made_at: SystemTime, steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::ZramWanted { existing, at } => {
            !existing.contains(&number) && appeared_for(*at, made_at)
        }
        _ => false,
    })
}

/// The device that was asked for, where the lab was killed before it could note its number: it
/// appeared then, was not there before, and has never been given a size, so that it holds nothing.
fn nameless_zram(existing: &[u32], at: SystemTime, steps: &[Step]) -> Option<u32> {
    if steps.iter().any(|step| matches!(step, Step::Zram { .. })) {
        return None;
    }
    let is_it = |number: &u32| {
        let made_at = device::zram_made_at(*number);
        !existing.contains(number)
            && made_at.is_some_and(|made_at| appeared_for(at, made_at))
            && device::zram_size_bytes(*number) == Some(0)
    };
    let mut found = device::zrams().into_iter().filter(is_it);
    // Of two, one is somebody else's.
    found.next().filter(|_| found.next().is_none())
}

/// Removes what a guest, which has ended, left beside its image.
pub(crate) fn remove_guest(lab: &Path) -> Result<(), LabError> {
    let directory = lab.join(GUEST);
    let own = directory.join(GUEST_NAME);
    let files = ["pid", "mconsole"].map(|name| own.join(name));
    let notes = [ORDER, ANSWER].map(|name| lab.join(name));
    for file in files.iter().chain(&notes) {
        remove_file(file, &mut Vec::new())?;
    }
    remove_directory(&own)?;
    remove_directory(&directory)
}

/// Removes a file of ours.
pub(crate) fn remove_file(path: &Path, removed: &mut Vec<String>) -> Result<(), LabError> {
    match fs::remove_file(path) {
        Ok(()) => removed.push(format!("file `{}`", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(LabError::system("remove", path, error)),
    }
    Ok(())
}

/// Removes an empty directory of ours.
pub(crate) fn remove_directory(path: &PathBuf) -> Result<(), LabError> {
    match fs::remove_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(LabError::system("remove", path, error))
        }
        _ => Ok(()),
    }
}

fn left(what: String, reason: &str) -> LabError {
    LabError::Left {
        what,
        reason: reason.to_owned(),
    }
}
