//! Whether what a run worked on is still where its target's path leads.

use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat, fstat};

use super::{Prepared, Ready};
use crate::claim::Claim;
use crate::device::HeldDevice;
use crate::sysfs::split;

/// A file, directory or device that was removed or replaced behind a run's back. The kernel keeps
/// what is open, so the run may have gone on with something that has no name any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Where it was.
    pub path: PathBuf,
    /// Whether something else is there now.
    pub is_replaced: bool,
}

impl fmt::Display for Loss {
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
    /// The first thing of this target that is not what was prepared any more, if there is one.
    #[must_use]
    pub fn loss(&self) -> Option<Loss> {
        match self.site.as_ref()? {
            Ready::File(claim) => loss_of_files(claim, self.facts.file_system.starts_with("fuse")),
            Ready::ReadOnly(file) => file.is_replaced().map(|is_replaced| Loss {
                path: file.path().to_owned(),
                is_replaced,
            }),
            Ready::Device(device, _) => loss_of_device(device),
            Ready::InPlace(spot) => spot.is_replaced().map(|is_replaced| Loss {
                path: self.facts.path.clone(),
                is_replaced,
            }),
        }
    }
}

/// File systems in user space may number a file anew each time it is looked up.
fn loss_of_files(claim: &Claim, may_renumber: bool) -> Option<Loss> {
    let directory = claim.place.directory_path();
    let held = fstat(&claim.directory).ok()?;
    let lost = |path: PathBuf, is_replaced| Some(Loss { path, is_replaced });
    match std::fs::metadata(&directory) {
        Ok(found) if is_same(&found, &held) => {}
        found => return lost(directory, found.is_ok()),
    }
    let files = claim.manifest.files.iter();
    let files = files.map(|made| (&made.name, made.inode));
    let trees = claim.manifest.trees.iter();
    let trees = trees.map(|made| (&made.name, made.inode));
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

fn is_same(found: &std::fs::Metadata, held: &Stat) -> bool {
    (found.dev(), found.ino()) == (held.st_dev, held.st_ino)
}

fn loss_of_device(device: &HeldDevice) -> Option<Loss> {
    let number = |path: &Path| {
        let found = std::fs::metadata(path).ok()?;
        Some((FileType::from_raw_mode(found.mode()), split(found.rdev())))
    };
    let found = number(&device.path);
    (found != Some((device.kind, device.number))).then(|| Loss {
        path: device.path.clone(),
        is_replaced: found.is_some(),
    })
}

#[cfg(test)]
mod tests;
