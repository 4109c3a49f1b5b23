//! The storage stack under a path, layer by layer: file systems, loop devices, volumes, disks,
//! memory.

mod device;

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use crate::mounts::{MountLine, mount_at, mounts};
use crate::path::parent_of;
use crate::sysfs::{DEPTH_MAX, Sysfs, split};

/// Where the data of a path is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// On devices of this machine, as far as it can tell.
    Device,
    /// Completely in this machine's memory.
    Memory,
    /// On another machine, or in a program that serves a file system.
    External,
    /// Unknown.
    Unknown,
}

/// The storage stack under a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageStack {
    /// The layers from top to bottom, such as `ext4 on /dev/loop0 on /var/image on xfs on /dev/sda
    /// (ACME Turner, rotates)`; printable.
    pub text: String,
    /// Where the data is stored.
    pub medium: Medium,
    /// `true` if one of the layers is a block device.
    pub has_device: bool,
}

/// The storage stack under a path, existing or not; `None` if it has none.
#[must_use]
pub fn stack(path: &Path) -> Option<StorageStack> {
    let layer = Survey::new().under_path(path)?;
    Some(StorageStack {
        text: units::printable(&layer.text).into_owned(),
        medium: layer.medium,
        has_device: layer.has_device,
    })
}

/// A layer with everything under it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StackLayer {
    text: String,
    medium: Medium,
    has_device: bool,
}

impl StackLayer {
    fn new(text: impl Into<String>, medium: Medium) -> Self {
        Self {
            text: text.into(),
            medium,
            has_device: false,
        }
    }

    /// Puts this layer on others. If they have the same medium, it is this layer's medium, too.
    fn on(self, below: Vec<StackLayer>) -> Self {
        let Some(first) = below.first() else {
            return self;
        };
        let is_alike = below.iter().all(|it| it.medium == first.medium);
        // With different media, the slower one, which is not memory, determines the speed.
        let medium = match is_alike {
            true => first.medium,
            false => Medium::Device,
        };
        let texts: Vec<&str> = below.iter().map(|it| it.text.as_str()).collect();
        let under = match texts.as_slice() {
            [one] => (*one).to_owned(),
            several => format!("{} devices: {}", several.len(), several.join("; ")),
        };
        Self {
            text: format!("{} on {under}", self.text),
            medium,
            has_device: self.has_device || below.iter().any(|it| it.has_device),
        }
    }
}

/// Devices and mounts of the system.
pub(crate) struct Survey {
    pub sys: Sysfs,
    mounts: Vec<MountLine>,
}

impl Survey {
    pub fn new() -> Self {
        Self {
            sys: Sysfs::default(),
            mounts: mounts(),
        }
    }

    fn under_path(&self, path: &Path) -> Option<StackLayer> {
        let existing = if path.exists() { path } else { parent_of(path) };
        let found = fs::metadata(existing).ok()?;
        if found.file_type().is_block_device() {
            return Some(self.device(split(found.rdev()), DEPTH_MAX));
        }
        self.file_system_at(existing, DEPTH_MAX)
    }

    /// The file system that contains an existing path.
    fn file_system_at(&self, path: &Path, depth: u32) -> Option<StackLayer> {
        let number = split(fs::metadata(path).ok()?.dev());
        let mount = mount_at(path, &self.mounts);
        let mount = mount.or_else(|| self.mounts.iter().find(|it| it.device == number));
        match mount {
            Some(mount) => Some(self.file_system(mount, depth)),
            // Without a mount table.
            None if self.sys.directory(number).is_some() => {
                let device = self.device(number, depth.checked_sub(1)?);
                Some(StackLayer::new("a file system", Medium::Unknown).on(vec![device]))
            }
            None => None,
        }
    }

    fn file_system(&self, mount: &MountLine, depth: u32) -> StackLayer {
        let kind = mount.file_system.as_str();
        let source = &mount.source;
        match kind {
            "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" => {
                StackLayer::new(format!("{kind} (memory)"), Medium::Memory)
            }
            "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "lustre" | "afs" => {
                StackLayer::new(format!("{kind} of {source} (network)"), Medium::External)
            }
            "9p" | "virtiofs" | "hostfs" => {
                StackLayer::new(format!("{kind} of {source} (its host)"), Medium::External)
            }
            // Not `fuseblk`, which is on a block device of this machine.
            _ if kind == "fuse" || kind.starts_with("fuse.") => {
                StackLayer::new(format!("{kind} of {source} (a program)"), Medium::External)
            }
            "overlay" => self.overlay(mount, depth),
            _ => {
                let devices = self.sys.under_mount(mount, &self.mounts);
                let below = match depth.checked_sub(1) {
                    Some(left) => devices.iter().map(|it| self.device(*it, left)).collect(),
                    None => Vec::new(),
                };
                StackLayer::new(kind, Medium::Unknown).on(below)
            }
        }
    }

    /// Writes go to the upper directory.
    fn overlay(&self, mount: &MountLine, depth: u32) -> StackLayer {
        let layer = StackLayer::new("overlay", Medium::Unknown);
        let upper = mount.option("upperdir").map(Path::new);
        let is_other =
            |path: &&Path| fs::metadata(path).is_ok_and(|found| split(found.dev()) != mount.device);
        let left = depth.checked_sub(1);
        let below = upper
            .filter(is_other)
            .zip(left)
            .and_then(|(path, left)| self.file_system_at(path, left));
        layer.on(below.into_iter().collect())
    }
}

#[cfg(test)]
mod tests;
