//! Removes files of pgmeter: at the end of a run, or after a killed run.

mod adopt;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, statat, unlinkat};
use schemars::JsonSchema;
use serde::Serialize;
use units::{path_as_text, paths_as_text};

use crate::TargetError;
use crate::claim::{ManifestClaim, TreeRemaining};
use crate::manifest_location::{ManifestLocation, SIDECAR_SUFFIX, WORK_DIRECTORY};
use crate::open::FileId;
use crate::path::{parent_of, without_trailing_slashes};
use crate::probe::{PathKind, directory_id, kind_of};

pub use adopt::Adoptable;

/// Something that was not removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotRemoved {
    /// Its path.
    #[serde(serialize_with = "path_as_text")]
    pub path: PathBuf,
    /// Why it was not removed.
    pub reason: String,
}

impl fmt::Display for NotRemoved {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, reason) = (self.path.display(), &self.reason);
        write!(formatter, "`{path}` was left behind: {reason}")
    }
}

/// Result of cleaning.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct CleanReport {
    /// Removed files and directories, in order.
    #[serde(serialize_with = "paths_as_text")]
    pub removed: Vec<PathBuf>,
    /// Number of files and directories in removed trees. `removed` lists only the top directory of
    /// each tree.
    pub beneath_count: u64,
    /// What was not removed, with the reason.
    pub left: Vec<NotRemoved>,
    /// The part of `left` that may be copies of files of pgmeter.
    pub adoptable: Vec<Adoptable>,
}

impl CleanReport {
    /// `true` if there was nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.beneath_count == 0 && self.left.is_empty()
    }

    fn leave(&mut self, path: PathBuf, reason: impl Into<String>) {
        self.left.push(NotRemoved {
            path,
            reason: reason.into(),
        });
    }
}

/// Asks whether possible copies belong to pgmeter.
pub type ConfirmCopies<'a> = dyn FnMut(&[Adoptable]) -> bool + 'a;

/// Removes the files of runs at a path: a target directory, a work directory, a test file or its
/// manifest. Removes only entries of a manifest, and only if its run is over.
///
/// With `ask`, files whose inode number differs from the manifest, such as copies or restored
/// files, are removed as well if `ask` returns `true` for a list of them. If it returns `false`,
/// nothing is removed.
///
/// # Errors
/// If the path is missing or a link, a run still uses it, or a manifest cannot be trusted. If only
/// some of several manifests in a directory cause problems, these are reported as left.
pub fn clean(path: &Path, ask: Option<&mut ConfirmCopies<'_>>) -> Result<CleanReport, TargetError> {
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

/// The test file for a path: the path itself, or the file of a manifest.
fn data_file(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str());
    match name.and_then(|name| name.strip_suffix(SIDECAR_SUFFIX)) {
        Some(stem) if !stem.is_empty() => path.with_file_name(stem),
        _ => path.to_owned(),
    }
}

struct Cleaning<'a, 'b> {
    report: CleanReport,
    ask: Option<&'a mut ConfirmCopies<'b>>,
}

impl Cleaning<'_, '_> {
    /// Cleans a path of the given kind.
    fn clean(
        &mut self,
        path: &Path,
        kind: PathKind,
        seen_id: Option<FileId>,
    ) -> Result<(), TargetError> {
        match kind {
            PathKind::Symlink => Err(TargetError::Symlink {
                path: path.to_owned(),
                points_to: fs::read_link(path).unwrap_or_default(),
                resolved: fs::canonicalize(path).ok(),
            }),
            // The user may name the work directory itself, but a location starts from the directory
            // above it.
            PathKind::Directory if path.ends_with(WORK_DIRECTORY) => {
                let parent = parent_of(path);
                let seen_id = directory_id(parent, PathKind::Directory);
                self.clean_place(ManifestLocation::in_directory(parent, seen_id)?)
                    .map(drop)
            }
            PathKind::Directory => self.clean_directory(path, seen_id),
            PathKind::File | PathKind::Missing => {
                let location = ManifestLocation::of_file(&data_file(path), seen_id)?;
                if !self.clean_place(location)? && kind == PathKind::Missing {
                    return Err(TargetError::NothingToClean {
                        path: path.to_owned(),
                    });
                }
                Ok(())
            }
            // A run leaves no manifest for a device.
            PathKind::Device | PathKind::Endless => Ok(()),
            PathKind::Other(kind) => Err(TargetError::WrongKind {
                path: path.to_owned(),
                kind,
            }),
        }
    }

    fn clean_directory(&mut self, path: &Path, seen_id: Option<FileId>) -> Result<(), TargetError> {
        let location = ManifestLocation::in_directory(path, seen_id)?;
        let files = sidecars(&location)?;
        // Opened first, because cleaning the work directory consumes `place`.
        let locations: Vec<_> = files.iter().map(|file| location.with_file(file)).collect();
        self.clean_place(location)?;
        for (file, place) in files.iter().zip(locations) {
            let cleaned = place.and_then(|location| self.clean_place(location));
            if let Err(error) = cleaned {
                let manifest = path.join(format!("{file}{SIDECAR_SUFFIX}"));
                self.report.leave(manifest, error.to_string());
            }
        }
        Ok(())
    }

    /// Cleans one location; `false` if nothing of pgmeter is there.
    fn clean_place(&mut self, location: ManifestLocation) -> Result<bool, TargetError> {
        match location.claim_existing()? {
            Ok(mut claim) => {
                if self.adopt(&mut claim)? {
                    remove_all(claim, &mut self.report);
                }
                Ok(true)
            }
            Err(place) => self.clean_without_manifest(&place),
        }
    }

    fn clean_without_manifest(&mut self, location: &ManifestLocation) -> Result<bool, TargetError> {
        let reason = "nothing shows that pgmeter made it";
        if let Some(name) = &location.file_name {
            if statat(&location.parent, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                self.report.leave(location.test_path(), reason);
            }
            return Ok(false);
        }
        if location.open()?.is_none() {
            return Ok(false);
        }
        let path = location.directory_path();
        // Removing an empty directory with this name loses nothing; a full one is not touched.
        if unlinkat(&location.parent, WORK_DIRECTORY, AtFlags::REMOVEDIR).is_ok() {
            self.report.removed.push(path);
            return Ok(true);
        }
        self.report
            .leave(path, format!("it has no manifest, so {reason}"));
        Ok(false)
    }
}

/// Names of the files in the location's directory that have a manifest.
fn sidecars(location: &ManifestLocation) -> Result<Vec<String>, TargetError> {
    let failed = |error| TargetError::system("read", &location.parent_path, error);
    let mut names = Vec::new();
    for entry in Dir::read_from(&location.parent).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_str().ok();
        let stem = name.and_then(|name| name.strip_suffix(SIDECAR_SUFFIX));
        let may_be_file = matches!(entry.file_type(), FileType::RegularFile | FileType::Unknown);
        names.extend(
            stem.filter(|stem| may_be_file && !stem.is_empty())
                .map(str::to_owned),
        );
    }
    // Sorted, because file systems list entries in any order, and messages should have the same
    // order.
    names.sort();
    Ok(names)
}

pub(crate) fn remove_trees(claim: &mut ManifestClaim, report: &mut CleanReport) {
    let names: Vec<_> = claim
        .manifest
        .trees
        .iter()
        .map(|it| it.name.clone())
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
            Some(TreeRemaining::Replaced(reason)) => report.leave(path, reason),
            Some(TreeRemaining::NotRemoved(remains)) => {
                report.beneath_count += count;
                report.leave(remains.first.clone(), remains.to_string());
            }
        }
    }
}

/// Removes the files and trees of a claim, then its manifest and work directory.
pub(crate) fn remove_all(mut claim: ManifestClaim, report: &mut CleanReport) {
    remove_trees(&mut claim, report);
    let names: Vec<_> = claim
        .manifest
        .files
        .iter()
        .map(|it| it.name.clone())
        .collect();
    let directory = claim.location.directory_path();
    let is_work_directory = claim.location.file_name.is_none();
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
        // The manifest allows another attempt; if saving fails, the old one is sufficient.
        let _ = claim.save();
        let path = claim.location.manifest_path();
        return report.leave(path, "it is kept until everything it lists is gone");
    }
    match claim.remove_manifest() {
        Ok(()) if is_work_directory => report.removed.push(directory),
        Ok(()) => {}
        Err((path, reason)) => report.leave(path, reason),
    }
}

#[cfg(test)]
mod tests;
