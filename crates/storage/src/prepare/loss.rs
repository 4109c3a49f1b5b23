//! Checks that a target's path still leads to the files that the run used.

use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat, fstat};

use super::{Prepared, ReadyTarget};
use crate::claim::ManifestClaim;
use crate::device::AdmittedDevice;
use crate::sysfs::split;

/// A file, directory or device that was removed or replaced during a run. The kernel keeps open
/// files, so the run may have continued with a file that no longer has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostFile {
    /// Path before the loss.
    pub path: PathBuf,
    /// `true` if another file has the path now.
    pub is_replaced: bool,
}

impl fmt::Display for LostFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.is_replaced {
            true => "replaced",
            false => "removed",
        };
        write!(
            formatter,
            "`{}` was {verb} during the run",
            self.path.display()
        )
    }
}

impl Prepared {
    /// The first part of this target that was removed or replaced; `None` if there is none.
    #[must_use]
    pub fn loss(&self) -> Option<LostFile> {
        match self.target.as_ref()? {
            ReadyTarget::File(claim) => {
                loss_of_files(claim, self.facts.file_system.starts_with("fuse"))
            }
            ReadyTarget::ReadOnly(file) => file.is_replaced().map(|is_replaced| LostFile {
                path: file.path().to_owned(),
                is_replaced,
            }),
            ReadyTarget::Device(device, _) => loss_of_device(device),
            ReadyTarget::InPlace(spot) => spot.is_replaced().map(|is_replaced| LostFile {
                path: self.facts.path.clone(),
                is_replaced,
            }),
        }
    }
}

/// FUSE file systems may give a file another inode number at each lookup.
fn loss_of_files(claim: &ManifestClaim, may_renumber: bool) -> Option<LostFile> {
    let directory = claim.location.directory_path();
    let claimed = fstat(&claim.directory).ok()?;
    let lost = |path: PathBuf, is_replaced| Some(LostFile { path, is_replaced });
    // The directory comes first: if it was moved away, its files still exist in it.
    match std::fs::metadata(&directory) {
        Ok(found) if is_same(&found, &claimed) => {}
        found => return lost(directory, found.is_ok()),
    }
    let files = claim.manifest.files.iter();
    let files = files.map(|it| (&it.name, it.inode));
    let trees = claim.manifest.trees.iter();
    let trees = trees.map(|it| (&it.name, it.inode));
    files.chain(trees).find_map(|(name, inode)| {
        let path = directory.join(name);
        match (claim.stat(name), inode) {
            (None, _) => lost(path, false),
            (Some(found), Some(inode)) if found.st_ino != inode && !may_renumber => {
                lost(path, true)
            }
            _ => None,
        }
    })
}

fn is_same(found: &std::fs::Metadata, claimed: &Stat) -> bool {
    (found.dev(), found.ino()) == (claimed.st_dev, claimed.st_ino)
}

fn loss_of_device(device: &AdmittedDevice) -> Option<LostFile> {
    let number = |path: &Path| {
        let found = std::fs::metadata(path).ok()?;
        Some((FileType::from_raw_mode(found.mode()), split(found.rdev())))
    };
    let found = number(&device.path);
    // By number, because a node that was made again for the same device is no loss.
    (found != Some((device.kind, device.number))).then(|| LostFile {
        path: device.path.clone(),
        is_replaced: found.is_some(),
    })
}

#[cfg(test)]
mod tests;
