//! Files whose inode number differs from their manifest: a copied work directory, one restored from
//! a backup, or one on a file system that renumbers files.

use std::fs;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::Cleaning;
use crate::TargetError;
use crate::claim::ManifestClaim;

/// An entry with the name, size and owner in a manifest, but another inode number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Adoptable {
    /// Its path.
    #[serde(serialize_with = "units::path_as_text")]
    pub path: PathBuf,
    /// Size of a file in bytes; none for a directory.
    pub size_bytes: Option<u64>,
    /// Number of files and directories in it.
    pub beneath_count: u64,
}

impl Cleaning<'_, '_> {
    /// Asks about possible copies, and adopts them if the answer is yes. `false` if it is no.
    pub(super) fn adopt(&mut self, claim: &mut ManifestClaim) -> Result<bool, TargetError> {
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
        // Saved before anything is removed, so that an interrupted cleaning need not ask again.
        claim.save()?;
        Ok(true)
    }
}

/// Possible copies among the entries of a claim.
pub(super) fn adoptable(claim: &ManifestClaim) -> Vec<Adoptable> {
    let owner_uid = claim.owner_uid();
    let directory = claim.location.directory_path();
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

/// Records the inode numbers of the copies in the manifest.
fn take_over(claim: &mut ManifestClaim) {
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

/// Number of files and directories in a directory, without unreadable ones.
fn count_beneath(directory: &Path) -> u64 {
    let mut waiting = vec![directory.to_owned()];
    let mut count = 0;
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            count += 1;
            // Does not follow links, so that a circle of them is not counted forever.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push(entry.path());
            }
        }
    }
    count
}
