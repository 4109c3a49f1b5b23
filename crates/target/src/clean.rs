//! Removes what pgmeter made: at the end of a run, or after one that was killed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::TargetError;
use crate::claim::{Claim, TreeLeft};
use crate::place::{Place, SIDECAR_ENDING, WORK_DIRECTORY};
use crate::probe::{PathKind, kind_of, parent_of, without_trailing_slashes};

/// Something that was not removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// What.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// What cleaning did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CleanReport {
    /// Files and directories that are gone now, in order.
    pub removed: Vec<PathBuf>,
    /// How many files and directories were in removed trees, of which `removed` names only the
    /// uppermost.
    pub beneath_count: u64,
    /// What is still there, with the reason.
    pub left: Vec<Left>,
}

impl CleanReport {
    /// Whether there was nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.beneath_count == 0 && self.left.is_empty()
    }

    fn leave(&mut self, path: PathBuf, reason: impl Into<String>) {
        self.left.push(Left {
            path,
            reason: reason.into(),
        });
    }
}

/// Removes what runs left at a path, which may be a target directory, a work directory, a test
/// file or its manifest. Only what a manifest names is removed, and only when its run is over.
///
/// # Errors
/// When the path is missing or a link, a run still uses it, or a manifest cannot be trusted;
/// problems with some of several manifests in a directory are reported as left instead.
pub fn clean(path: &Path) -> Result<CleanReport, TargetError> {
    let path = without_trailing_slashes(path);
    let mut report = CleanReport::default();
    match kind_of(path)? {
        PathKind::Symlink => {
            return Err(TargetError::Symlink {
                path: path.to_owned(),
                points_to: fs::read_link(path).unwrap_or_default(),
                resolved: fs::canonicalize(path).ok(),
            });
        }
        PathKind::Directory if path.ends_with(WORK_DIRECTORY) => {
            clean_place(Place::in_directory(parent_of(path))?, &mut report)?;
        }
        PathKind::Directory => clean_directory(path, &mut report)?,
        PathKind::File | PathKind::Missing => {
            let file = data_file(path);
            let missing = kind_of(path)? == PathKind::Missing;
            if !clean_place(Place::beside(&file)?, &mut report)? && missing {
                let parent = parent_of(path).to_owned();
                return Err(TargetError::Missing {
                    path: path.to_owned(),
                    parent,
                });
            }
        }
        PathKind::Device => {}
        PathKind::Other(kind) => {
            return Err(TargetError::WrongKind {
                path: path.to_owned(),
                kind,
            });
        }
    }
    Ok(report)
}

/// The test file that a path means: itself, or the one whose manifest it is.
fn data_file(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str());
    match name.and_then(|name| name.strip_suffix(SIDECAR_ENDING)) {
        Some(stem) if !stem.is_empty() => path.with_file_name(stem),
        _ => path.to_owned(),
    }
}

fn clean_directory(path: &Path, report: &mut CleanReport) -> Result<(), TargetError> {
    clean_place(Place::in_directory(path)?, report)?;
    let listing = fs::read_dir(path).map_err(|error| TargetError::system("read", path, error))?;
    for entry in listing.flatten() {
        let name = entry.file_name();
        let Some(stem) = name
            .to_str()
            .and_then(|name| name.strip_suffix(SIDECAR_ENDING))
        else {
            continue;
        };
        if stem.is_empty() || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let cleaned = Place::beside(&path.join(stem)).and_then(|place| clean_place(place, report));
        if let Err(error) = cleaned {
            report.leave(entry.path(), error.to_string());
        }
    }
    Ok(())
}

/// Cleans one place; false when there is nothing of ours.
fn clean_place(place: Place, report: &mut CleanReport) -> Result<bool, TargetError> {
    let test_path = place.test_path();
    match place.claim_existing()? {
        Ok(claim) => {
            remove_all(claim, report);
            Ok(true)
        }
        Err(place) => {
            if place.open()?.is_some() && place.file_name.is_none() {
                let path = place.directory_path();
                // An empty directory of this name is nobody's loss; a full one is not touched.
                if fs::remove_dir(&path).is_ok() {
                    report.removed.push(path);
                    return Ok(true);
                }
                report.leave(
                    path,
                    "it has no manifest, so nothing shows that pgmeter made it",
                );
            } else if place.file_name.is_some() && test_path.exists() {
                report.leave(test_path, "nothing shows that pgmeter made it");
            }
            Ok(false)
        }
    }
}

/// Removes the trees of a claim.
pub(crate) fn remove_trees(claim: &mut Claim, report: &mut CleanReport) {
    let names: Vec<_> = claim
        .manifest
        .trees
        .iter()
        .map(|made| made.name.clone())
        .collect();
    for name in names {
        let path = claim.tree_path(&name);
        let (count, left) = claim.remove_tree(&name, &mut |_| {});
        match left {
            None if count == 0 => {}
            None => {
                report.beneath_count += count - 1;
                report.removed.push(path);
            }
            Some(TreeLeft::Foreign(reason)) => report.leave(path, reason),
            Some(TreeLeft::Remains(remains)) => {
                report.beneath_count += count;
                report.leave(remains.first.clone(), remains.to_string());
            }
        }
    }
}

/// Removes the files and trees of a claim, then its manifest and work directory.
pub(crate) fn remove_all(mut claim: Claim, report: &mut CleanReport) {
    remove_trees(&mut claim, report);
    let names: Vec<_> = claim
        .manifest
        .files
        .iter()
        .map(|made| made.name.clone())
        .collect();
    let directory = claim.place.directory_path();
    let is_work_directory = claim.place.file_name.is_none();
    for name in names {
        let path = directory.join(&name);
        match claim.remove(&name) {
            Ok(true) => report.removed.push(path),
            Ok(false) => {}
            Err(reason) => report.leave(path, reason),
        }
    }
    if claim.has_removable() {
        // With its manifest it can be tried again.
        return report.leave(directory, "some of its files could not be removed");
    }
    match claim.dissolve() {
        Ok(()) if is_work_directory => report.removed.push(directory),
        Ok(()) => {}
        Err((path, reason)) => report.leave(path, reason),
    }
}

#[cfg(test)]
mod tests;
