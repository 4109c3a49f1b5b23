//! Removes what pgmeter made: at the end of a run, or after one that was killed.

mod adopt;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, statat, unlinkat};
use schemars::JsonSchema;
use serde::Serialize;
use units::{path_as_text, paths_as_text};

use crate::TargetError;
use crate::claim::{Claim, TreeLeft};
use crate::open::FileId;
use crate::path::{parent_of, without_trailing_slashes};
use crate::place::{Place, SIDECAR_ENDING, WORK_DIRECTORY};
use crate::probe::{PathKind, directory_id, kind_of};

pub use adopt::Adoptable;

/// Something that was not removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Left {
    /// What.
    #[serde(serialize_with = "path_as_text")]
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Left {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, reason) = (self.path.display(), &self.reason);
        write!(formatter, "`{path}` was left behind: {reason}")
    }
}

/// What cleaning did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct CleanReport {
    /// Files and directories that are gone now, in order.
    #[serde(serialize_with = "paths_as_text")]
    pub removed: Vec<PathBuf>,
    /// How many files and directories were in removed trees, of which `removed` names only the
    /// uppermost.
    pub beneath_count: u64,
    /// What is still there, with the reason.
    pub left: Vec<Left>,
    /// Of that, what could be a copy of what pgmeter made.
    pub adoptable: Vec<Adoptable>,
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

/// Says whether what could be copies is pgmeter's, too.
pub type Ask<'a> = dyn FnMut(&[Adoptable]) -> bool + 'a;

/// Removes what runs left at a path, which may be a target directory, a work directory, a test
/// file or its manifest. Only what a manifest names is removed, and only when its run is over.
///
/// With `ask`, what has another inode number than the manifest says, as after a copy or a restore,
/// is removed as well where the answer to a list of it is yes; where it is no, nothing is removed.
///
/// # Errors
/// When the path is missing or a link, a run still uses it, or a manifest cannot be trusted;
/// problems with some of several manifests in a directory are reported as left instead.
pub fn clean(path: &Path, ask: Option<&mut Ask<'_>>) -> Result<CleanReport, TargetError> {
    let path = without_trailing_slashes(path);
    let kind = kind_of(path)?;
    if kind == PathKind::Missing && kind_of(parent_of(path))? == PathKind::Missing {
        let path = path.to_owned();
        return Err(TargetError::NothingToClean { path });
    }
    let mut cleaning = Cleaning {
        report: CleanReport::default(),
        ask,
    };
    cleaning.clean(path, kind, directory_id(path, kind))?;
    Ok(cleaning.report)
}

/// The test file that a path means: itself, or the one whose manifest it is.
fn data_file(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str());
    match name.and_then(|name| name.strip_suffix(SIDECAR_ENDING)) {
        Some(stem) if !stem.is_empty() => path.with_file_name(stem),
        _ => path.to_owned(),
    }
}

struct Cleaning<'a, 'b> {
    report: CleanReport,
    ask: Option<&'a mut Ask<'b>>,
}

impl Cleaning<'_, '_> {
    /// Cleans what was seen at a path.
    fn clean(
        &mut self,
        path: &Path,
        kind: PathKind,
        seen: Option<FileId>,
    ) -> Result<(), TargetError> {
        match kind {
            PathKind::Symlink => Err(TargetError::Symlink {
                path: path.to_owned(),
                points_to: fs::read_link(path).unwrap_or_default(),
                resolved: fs::canonicalize(path).ok(),
            }),
            PathKind::Directory if path.ends_with(WORK_DIRECTORY) => {
                let parent = parent_of(path);
                let seen = directory_id(parent, PathKind::Directory);
                self.clean_place(Place::in_directory(parent, seen)?)
                    .map(drop)
            }
            PathKind::Directory => self.clean_directory(path, seen),
            PathKind::File | PathKind::Missing => {
                let place = Place::beside(&data_file(path), seen)?;
                if !self.clean_place(place)? && kind == PathKind::Missing {
                    return Err(TargetError::NothingToClean {
                        path: path.to_owned(),
                    });
                }
                Ok(())
            }
            PathKind::Device | PathKind::Endless => Ok(()),
            PathKind::Other(kind) => Err(TargetError::WrongKind {
                path: path.to_owned(),
                kind,
            }),
        }
    }

    fn clean_directory(&mut self, path: &Path, seen: Option<FileId>) -> Result<(), TargetError> {
        let place = Place::in_directory(path, seen)?;
        let files = sidecars(&place)?;
        let places: Vec<_> = files.iter().map(|file| place.with_file(file)).collect();
        self.clean_place(place)?;
        for (file, place) in files.iter().zip(places) {
            let cleaned = place.and_then(|place| self.clean_place(place));
            if let Err(error) = cleaned {
                let manifest = path.join(format!("{file}{SIDECAR_ENDING}"));
                self.report.leave(manifest, error.to_string());
            }
        }
        Ok(())
    }

    /// Cleans one place; false when there is nothing of ours.
    fn clean_place(&mut self, place: Place) -> Result<bool, TargetError> {
        match place.claim_existing()? {
            Ok(mut claim) => {
                if self.adopt(&mut claim)? {
                    remove_all(claim, &mut self.report);
                }
                Ok(true)
            }
            Err(place) => self.clean_without_manifest(&place),
        }
    }

    fn clean_without_manifest(&mut self, place: &Place) -> Result<bool, TargetError> {
        let reason = "nothing shows that pgmeter made it";
        if let Some(name) = &place.file_name {
            if statat(&place.parent, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                self.report.leave(place.test_path(), reason);
            }
            return Ok(false);
        }
        if place.open()?.is_none() {
            return Ok(false);
        }
        let path = place.directory_path();
        // An empty directory of this name is nobody's loss; a full one is not touched.
        if unlinkat(&place.parent, WORK_DIRECTORY, AtFlags::REMOVEDIR).is_ok() {
            self.report.removed.push(path);
            return Ok(true);
        }
        self.report
            .leave(path, format!("it has no manifest, so {reason}"));
        Ok(false)
    }
}

/// The files in the directory of a place that have a manifest beside them.
fn sidecars(place: &Place) -> Result<Vec<String>, TargetError> {
    let failed = |error| TargetError::system("read", &place.parent_path, error);
    let mut names = Vec::new();
    for entry in Dir::read_from(&place.parent).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_str().ok();
        let stem = name.and_then(|name| name.strip_suffix(SIDECAR_ENDING));
        let may_be_file = matches!(entry.file_type(), FileType::RegularFile | FileType::Unknown);
        names.extend(
            stem.filter(|stem| may_be_file && !stem.is_empty())
                .map(str::to_owned),
        );
    }
    names.sort();
    Ok(names)
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
    if !claim.manifest.is_empty() {
        report.adoptable.extend(adopt::adoptable(&claim));
        // With its manifest it can be tried again; the old one does as well.
        let _ = claim.save();
        let path = claim.place.manifest_path();
        return report.leave(path, "it is kept as long as something it names");
    }
    match claim.dissolve() {
        Ok(()) if is_work_directory => report.removed.push(directory),
        Ok(()) => {}
        Err((path, reason)) => report.leave(path, reason),
    }
}

#[cfg(test)]
mod tests;
