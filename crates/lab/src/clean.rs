//! Removing what killed labs left.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::LabError;
use crate::journal::{self, JOURNAL, Journal};
use crate::place::{self, LOCK, existing_lock, lab_lock, lock_directory, try_lock, wait_for};
use crate::processes;
use crate::step::Step;
use crate::undo::{remove_directory, remove_file, undo};

/// A program that is just being started shares the lock for a moment.
const STARTING: Duration = Duration::from_millis(300);

/// What became of the labs that were found.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// What was removed, in words.
    pub removed: Vec<String>,
    /// What was left, each with the reason and one action that helps.
    pub left: Vec<LabError>,
    /// Labs that are at work.
    pub running: Vec<String>,
}

/// Removes every mount, device, image and process of labs that are not at work any more, and
/// nothing else.
///
/// # Errors
/// When the directory is not to be trusted or cannot be locked.
pub fn clean(directory: &Path) -> Result<Cleaned, LabError> {
    let mut cleaned = Cleaned::default();
    if !directory.exists() {
        return Ok(cleaned);
    }
    place::trusted(directory)?;
    // No lab is half begun while this is held.
    let _held = lock_directory(directory)?;
    let directory = directory
        .canonicalize()
        .map_err(|error| LabError::system("look at", directory, error))?;
    for lab in place::labs(&directory) {
        clean_lab(&lab, &mut cleaned);
    }
    remove_default(&directory.join("lab"));
    Ok(cleaned)
}

/// Removes the directory that held a lab, where nobody named it and nothing else is in it.
pub(crate) fn remove_default(lab: &Path) {
    let default = place::default_directory();
    if lab.parent() == Some(&default) {
        // What is not empty stays.
        let _ = std::fs::remove_dir(default);
    }
}

fn clean_lab(lab: &Path, cleaned: &mut Cleaned) {
    let steps = journal::read(lab);
    if let Some(lock) = existing_lock(lab) {
        if !wait_for(|| try_lock(&lock), STARTING) {
            if let Some(pid) = owner(&steps) {
                let shown = lab.display();
                cleaned
                    .running
                    .push(format!("`{shown}` is in use by process {pid}"));
                return;
            }
            let ended_count = processes::end_holders(&lab.join(LOCK));
            if ended_count > 0 {
                cleaned.removed.push(match ended_count {
                    1 => "1 process".to_owned(),
                    count => format!("{count} processes"),
                });
            }
            if !wait_for(|| try_lock(&lock), Duration::from_secs(5)) {
                cleaned.left.push(LabError::Left {
                    what: format!("`{}`", lab.display()),
                    reason: "a process of it cannot be ended".to_owned(),
                });
                return;
            }
        }
        // What ended meanwhile may have noted another step before it did.
        let steps = journal::read(lab);
        remove_lab(lab, &steps, cleaned);
    } else {
        remove_lab(lab, &steps, cleaned);
    }
}

fn remove_lab(lab: &Path, steps: &[Step], cleaned: &mut Cleaned) {
    let undone = undo(lab, steps);
    cleaned.removed.extend(undone.removed);
    let outcome = undone.left.map_or_else(|| remove_own(lab), Err);
    match outcome {
        Ok(()) => cleaned
            .removed
            .push(format!("directory `{}`", lab.display())),
        Err(error) => cleaned.left.push(error),
    }
}

/// Removes the directory of a lab in which nothing is mounted any more.
pub(crate) fn remove_own(lab: &Path) -> Result<(), LabError> {
    // The journal goes last but for the lock: without it nothing would be found again.
    for name in [JOURNAL, LOCK] {
        remove_file(&lab.join(name), &mut Vec::new())?;
    }
    remove_directory(&PathBuf::from(lab))
}

/// The process of a lab, where it is still at work.
fn owner(steps: &[Step]) -> Option<u32> {
    steps.iter().find_map(|step| match step {
        Step::Begin { pid, start_ticks } => {
            (processes::start_ticks(*pid) == Some(*start_ticks)).then_some(*pid)
        }
        _ => None,
    })
}

/// What a lab that has just begun has: its directory, its lock, its journal.
pub(crate) type Begun = (PathBuf, OwnedFd, Journal);

/// Begins a lab's directory: made, locked and with the first line of its journal, while nobody
/// cleans.
pub(crate) fn begin(directory: &Path) -> Result<Begun, LabError> {
    place::trusted(directory)?;
    let _held = lock_directory(directory)?;
    let directory = directory
        .canonicalize()
        .map_err(|error| LabError::system("look at", directory, error))?;
    let lab = directory.join(place::new_name());
    place::make_directory(&lab)?;
    let lock = lab_lock(&lab)?;
    if !try_lock(&lock) {
        return Err(LabError::Directory {
            path: lab,
            reason: "it cannot be locked".to_owned(),
        });
    }
    let pid = std::process::id();
    let start_ticks = processes::start_ticks(pid).unwrap_or(0);
    let journal = Journal::begin(&lab, Step::Begin { pid, start_ticks })?;
    place::sync_directory(&directory)?;
    Ok((lab, lock, journal))
}
