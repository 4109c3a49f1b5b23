//! Removes the remains of killed labs.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::LabError;
use crate::journal::{self, JOURNAL, Journal};
use crate::labs_dir::{self, LOCK, existing_lock, lab_lock, lock_directory, try_lock, wait_for};
use crate::processes;
use crate::step::JournalStep;
use crate::undo::{remove_directory, remove_file, undo, unmount_all};

/// Wait for a program that is just starting, which shares the lock for a moment.
const START_WAIT: Duration = Duration::from_millis(300);
/// Wait for programs that end without being killed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Results of cleaning up.
#[derive(Debug, Default)]
pub struct CleanupResult {
    /// Descriptions of what was removed.
    pub removed: Vec<String>,
    /// What could not be removed, each with the reason and advice.
    pub left: Vec<LabError>,
    /// Labs that are running.
    pub running: Vec<String>,
}

/// Removes all mounts, devices, images and processes of labs that are no longer running, and
/// nothing else.
///
/// # Errors
/// If the directory is not trusted or cannot be locked.
pub fn clean(directory: &Path) -> Result<CleanupResult, LabError> {
    let mut cleaned = CleanupResult::default();
    if !directory.exists() {
        return Ok(cleaned);
    }
    labs_dir::ensure_trusted(directory)?;
    // Prevents other labs from starting at the same time.
    let _lock = lock_directory(directory)?;
    let directory = directory
        .canonicalize()
        .map_err(|error| LabError::system("access", directory, error))?;
    let labs = labs_dir::labs(&directory);
    // Read before cleaning, which removes the journals.
    let steps = labs
        .iter()
        .filter_map(|lab| read_trusted_journal(lab).ok())
        .flatten();
    let steps: Vec<JournalStep> = steps.collect();
    for lab in labs {
        clean_lab(&lab, &mut cleaned);
    }
    remove_parent_directory(&directory.join("lab"), &steps);
    Ok(cleaned)
}

/// Removes the directory that contained the lab, if it is the default one or the lab created it,
/// and if it is empty.
pub(crate) fn remove_parent_directory(lab: &Path, steps: &[JournalStep]) {
    let default = labs_dir::default_directory();
    let made_parent = |step: &JournalStep| match step {
        JournalStep::Begin { has_made_place, .. } => *has_made_place,
        _ => false,
    };
    let parent = lab.parent();
    let parent = parent.filter(|it| *it == default || steps.iter().any(made_parent));
    // Fails if the directory is not empty.
    let _ = parent.map(std::fs::remove_dir);
}

fn clean_lab(lab: &Path, cleaned: &mut CleanupResult) {
    let outcome = read_trusted_journal(lab).and_then(|steps| reclaim_lock(lab, steps, cleaned));
    match outcome {
        // The journal is read again: the lab may have added a step before it ended.
        Ok(LockState::Acquired(_lock)) => match read_trusted_journal(lab) {
            Ok(steps) => remove_lab(lab, &steps, cleaned),
            Err(error) => cleaned.left.push(error),
        },
        Ok(LockState::Missing) => remove_lab(lab, &[], cleaned),
        Ok(LockState::Held(pid)) => cleaned
            .running
            .push(format!("`{}` is in use by process {pid}", lab.display())),
        Err(error) => cleaned.left.push(error),
    }
}

/// State of a lab's lock.
enum LockState {
    /// This process holds it now.
    Acquired(OwnedFd),
    /// There is no lock yet; the lab had hardly started.
    Missing,
    /// The lab's process holds it.
    Held(u32),
}

/// The journal steps of a lab; empty if it had hardly started.
fn read_trusted_journal(lab: &Path) -> Result<Vec<JournalStep>, LabError> {
    let metadata = std::fs::symlink_metadata(lab);
    let metadata = metadata.map_err(|error| LabError::system("access", lab, error))?;
    let doubt = match metadata.is_dir() {
        true => labs_dir::doubt(&metadata),
        false => Some("it is not a directory"),
    };
    doubt
        .map_or_else(|| journal::read(lab), |reason| Err(reason.to_owned()))
        .map_err(|reason| no_lab_error(lab, reason))
}

/// Takes the lock of a lab that is no longer running. Kills the processes that its journal lists,
/// but no other process that holds the lock.
fn reclaim_lock(
    lab: &Path,
    steps: Vec<JournalStep>,
    cleaned: &mut CleanupResult,
) -> Result<LockState, LabError> {
    let path = lab.join(LOCK);
    if steps.is_empty() && std::fs::symlink_metadata(&path).is_err() {
        return Ok(LockState::Missing);
    }
    let lock = existing_lock(lab).map_err(|reason| no_lab_error(lab, reason))?;
    let is_had = wait_for(|| try_lock(&lock), START_WAIT);
    // The lock is held, and the process in the journal has the noted start time: the lab runs.
    if !is_had && let Some(pid) = owner(&steps) {
        return Ok(LockState::Held(pid));
    }
    // Also if the lock was free: a listed process may run without holding it.
    match processes::kill_journaled(&steps, &path) {
        0 => {}
        1 => cleaned.removed.push("1 process".to_owned()),
        count => cleaned.removed.push(format!("{count} processes")),
    }
    if is_had || wait_for(|| try_lock(&lock), START_WAIT) {
        return Ok(LockState::Acquired(lock));
    }
    // A FUSE program ends after the unmount, even if it is not in the journal.
    unmount_all(lab, &steps, &mut cleaned.removed)?;
    if wait_for(|| try_lock(&lock), EXIT_TIMEOUT) {
        return Ok(LockState::Acquired(lock));
    }
    // This process has the file open, too.
    drop(lock);
    let users = processes::users_of(&path);
    let reason = users.unwrap_or_else(|| "another process uses it".to_owned());
    Err(LabError::NotRemoved {
        what: format!("`{}`", lab.display()),
        reason: format!("its lock is held, but not by a process of the lab: {reason}"),
    })
}

fn no_lab_error(lab: &Path, reason: String) -> LabError {
    LabError::NotALab {
        path: lab.to_owned(),
        reason,
    }
}

fn remove_lab(lab: &Path, steps: &[JournalStep], cleaned: &mut CleanupResult) {
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

/// Removes the directory of a lab that has no mounts left.
pub(crate) fn remove_own(lab: &Path) -> Result<(), LabError> {
    // The journal and the lock go last: without the journal nothing would be found again.
    for name in [JOURNAL, LOCK] {
        remove_file(&lab.join(name), &mut Vec::new())?;
    }
    remove_directory(&PathBuf::from(lab))
}

/// The process ID of a lab that is still running.
fn owner(steps: &[JournalStep]) -> Option<u32> {
    steps.iter().find_map(|step| match step {
        JournalStep::Begin {
            pid, start_ticks, ..
        } => (processes::start_ticks(*pid) == Some(*start_ticks)).then_some(*pid),
        _ => None,
    })
}

/// Parts of a lab that has just started: its directory, lock and journal.
pub(crate) type StartedLab = (PathBuf, OwnedFd, Journal);

/// Creates the directory of a lab, locks it and writes the first line of its journal. The parent
/// directory is locked meanwhile, so that no other process cleans up.
pub(crate) fn begin(directory: &Path) -> Result<StartedLab, LabError> {
    let has_made_place = labs_dir::ensure_trusted(directory)?;
    let _lock = lock_directory(directory)?;
    // `/proc` shows paths without links, and the lab compares them with its paths.
    let directory = directory
        .canonicalize()
        .map_err(|error| LabError::system("access", directory, error))?;
    let lab = directory.join(labs_dir::new_name());
    labs_dir::make_directory(&lab)?;
    let lock = lab_lock(&lab)?;
    if !try_lock(&lock) {
        return Err(LabError::Directory {
            path: lab,
            reason: "it cannot be locked".to_owned(),
        });
    }
    let pid = std::process::id();
    let start_ticks = processes::start_ticks(pid).unwrap_or(0);
    let begin = JournalStep::Begin {
        pid,
        start_ticks,
        has_made_place,
    };
    let journal = Journal::begin(&lab, begin)?;
    // The directory's name must be as durable as the journal in it.
    labs_dir::sync_directory(&directory)?;
    Ok((lab, lock, journal))
}
