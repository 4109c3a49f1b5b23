//! What has another inode number than its manifest says: a copy of a work directory, one that was
//! restored from a backup, or one on a file system that numbers its files anew.

use std::fs;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::Cleaning;
use crate::TargetError;
use crate::claim::Claim;

/// Something that is named, sized and owned as a manifest says, but is not what was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Adoptable {
    /// What.
    #[serde(serialize_with = "units::path_as_text")]
    pub path: PathBuf,
    /// Bytes of a file; none for a directory.
    pub size_bytes: Option<u64>,
    /// Files and directories in it.
    pub beneath_count: u64,
}

impl Cleaning<'_, '_> {
    /// Asks about what could be copies, and takes those over to which the answer is yes; false
    /// when it is no.
    pub(super) fn adopt(&mut self, claim: &mut Claim) -> Result<bool, TargetError> {
        let Some(ask) = &mut self.ask else {
            return Ok(true);
        };
        let found = adoptable(claim);
        if found.is_empty() {
            return Ok(true);
        }
        if !ask(&found) {
            for it in found {
                self.report.leave(it.path.clone(), "it was not adopted");
                self.report.adoptable.push(it);
            }
            return Ok(false);
        }
        take_over(claim);
        claim.save()?;
        Ok(true)
    }
}

/// What of a claim could be copies.
pub(super) fn adoptable(claim: &Claim) -> Vec<Adoptable> {
    let owner_uid = claim.owner_uid();
    let directory = claim.place.directory_path();
    let mut found = Vec::new();
    for made in &claim.manifest.trees {
        let path = directory.join(&made.name);
        let is_one = claim
            .stat(&made.name)
            .is_some_and(|it| made.could_be_copy(&it, owner_uid));
        found.extend(is_one.then(|| Adoptable {
            size_bytes: None,
            beneath_count: count_beneath(&path),
            path,
        }));
    }
    for made in &claim.manifest.files {
        let it = claim.stat(&made.name);
        let it = it.filter(|it| made.could_be_copy(it, owner_uid));
        found.extend(it.map(|it| Adoptable {
            path: directory.join(&made.name),
            size_bytes: u64::try_from(it.st_size).ok(),
            beneath_count: 0,
        }));
    }
    found
}

/// Notes the inode numbers of copies as those of what was made.
fn take_over(claim: &mut Claim) {
    let owner_uid = claim.owner_uid();
    let mut manifest = claim.manifest.clone();
    for made in &mut manifest.trees {
        let it = claim.stat(&made.name);
        if let Some(it) = it.filter(|it| made.could_be_copy(it, owner_uid)) {
            made.inode = Some(it.st_ino);
        }
    }
    for made in &mut manifest.files {
        let it = claim.stat(&made.name);
        if let Some(it) = it.filter(|it| made.could_be_copy(it, owner_uid)) {
            made.inode = Some(it.st_ino);
        }
    }
    claim.manifest = manifest;
}

/// How many files and directories are in a directory; what cannot be read is not counted.
fn count_beneath(directory: &Path) -> u64 {
    let mut waiting = vec![directory.to_owned()];
    let mut count = 0;
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            count += 1;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push(entry.path());
            }
        }
    }
    count
}
