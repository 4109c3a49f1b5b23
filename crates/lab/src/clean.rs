//! Removing what killed labs left.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::LabError;
use crate::journal::{self, JOURNAL, Journal};
use crate::place::{self, LOCK, existing_lock, lab_lock, lock_directory, try_lock, wait_for};
use crate::processes;
use crate::step::Step;
use crate::undo::{remove_directory, remove_file, undo, unmount_all};

/// A program that is just being started shares the lock for a moment.
const STARTING: Duration = Duration::from_millis(300);
/// Programs that nobody ends are done with what they do after so long.
const FREE_WITHIN: Duration = Duration::from_secs(5);

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
        .map_err(|error| LabError::system("access", directory, error))?;
    let labs = place::labs(&directory);
    let steps = labs.iter().filter_map(|lab| believed(lab).ok()).flatten();
    let steps: Vec<Step> = steps.collect();
    for lab in labs {
        clean_lab(&lab, &mut cleaned);
    }
    remove_place(&directory.join("lab"), &steps);
    Ok(cleaned)
}

/// Removes the directory that held a lab, where nobody named it or the lab had made it, and nothing
/// else is in it.
pub(crate) fn remove_place(lab: &Path, steps: &[Step]) {
    let default = place::default_directory();
    let is_ours =
        |step: &Step| matches!(step, Step::Begin { has_made_place, .. } if *has_made_place);
    let place = lab.parent();
    let place = place.filter(|it| *it == default || steps.iter().any(is_ours));
    // What is not empty stays.
    let _ = place.map(std::fs::remove_dir);
}

fn clean_lab(lab: &Path, cleaned: &mut Cleaned) {
    let outcome = believed(lab).and_then(|steps| free_lock(lab, steps, cleaned));
    match outcome {
        // What ended meanwhile may have noted another step before it did.
        Ok(Freed::Lock(_lock)) => match believed(lab) {
            Ok(steps) => remove_lab(lab, &steps, cleaned),
            Err(error) => cleaned.left.push(error),
        },
        Ok(Freed::Nothing) => remove_lab(lab, &[], cleaned),
        Ok(Freed::AtWork(pid)) => cleaned
            .running
            .push(format!("`{}` is in use by process {pid}", lab.display())),
        Err(error) => cleaned.left.push(error),
    }
}

/// What became of a lab's lock.
enum Freed {
    /// It is held by this process now.
    Lock(OwnedFd),
    /// There is none yet, as the lab had hardly begun.
    Nothing,
    /// The lab's own process has it.
    AtWork(u32),
}

/// The steps of a lab; none of one that had hardly begun.
fn believed(lab: &Path) -> Result<Vec<Step>, LabError> {
    let found = std::fs::symlink_metadata(lab);
    let found = found.map_err(|error| LabError::system("access", lab, error))?;
    let doubt = match found.is_dir() {
        true => place::doubt(&found),
        false => Some("it is not a directory"),
    };
    doubt
        .map_or_else(|| journal::read(lab), |reason| Err(reason.to_owned()))
        .map_err(|reason| no_lab(lab, reason))
}

/// Gets the lock of a lab that is not at work, ending what the journal says it has started, and
/// nobody else who has the lock.
fn free_lock(lab: &Path, steps: Vec<Step>, cleaned: &mut Cleaned) -> Result<Freed, LabError> {
    let path = lab.join(LOCK);
    if steps.is_empty() && std::fs::symlink_metadata(&path).is_err() {
        return Ok(Freed::Nothing);
    }
    let lock = existing_lock(lab).map_err(|reason| no_lab(lab, reason))?;
    let is_had = wait_for(|| try_lock(&lock), STARTING);
    if !is_had && let Some(pid) = owner(&steps) {
        return Ok(Freed::AtWork(pid));
    }
    match processes::end_noted(&steps, &path) {
        0 => {}
        1 => cleaned.removed.push("1 process".to_owned()),
        count => cleaned.removed.push(format!("{count} processes")),
    }
    if is_had || wait_for(|| try_lock(&lock), STARTING) {
        return Ok(Freed::Lock(lock));
    }
    // A program that serves a file system ends when that is unmounted, noted or not.
    unmount_all(lab, &steps, &mut cleaned.removed)?;
    if wait_for(|| try_lock(&lock), FREE_WITHIN) {
        return Ok(Freed::Lock(lock));
    }
    // This one has it open, too.
    drop(lock);
    let users = processes::users_of(&path);
    let reason = users.unwrap_or_else(|| "another process uses it".to_owned());
    Err(LabError::Left {
        what: format!("`{}`", lab.display()),
        reason: format!("its lock is not free, and no process of the lab has it: {reason}"),
    })
}

fn no_lab(lab: &Path, reason: String) -> LabError {
    LabError::NoLab {
        path: lab.to_owned(),
        reason,
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
        Step::Begin {
            pid, start_ticks, ..
        } => (processes::start_ticks(*pid) == Some(*start_ticks)).then_some(*pid),
        _ => None,
    })
}

/// What a lab that has just begun has: its directory, its lock, its journal.
pub(crate) type Begun = (PathBuf, OwnedFd, Journal);

/// Begins a lab's directory: made, locked and with the first line of its journal, while nobody
/// cleans.
pub(crate) fn begin(directory: &Path) -> Result<Begun, LabError> {
    let has_made_place = place::trusted(directory)?;
    let _held = lock_directory(directory)?;
    let directory = directory
        .canonicalize()
        .map_err(|error| LabError::system("access", directory, error))?;
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
    let begin = Step::Begin {
        pid,
        start_ticks,
        has_made_place,
    };
    let journal = Journal::begin(&lab, begin)?;
    place::sync_directory(&directory)?;
    Ok((lab, lock, journal))
}
