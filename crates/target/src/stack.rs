//! What lies under a path, layer by layer: file systems, loop devices, volumes, disks, memory.

mod device;

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use crate::mounts::{Mount, mount_at, mounts};
use crate::path::parent_of;
use crate::sysfs::{DEPTH_MAX, Sysfs, split};

/// Where the bytes of a path are kept in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// On devices of this machine, or what it takes for such.
    Device,
    /// In this machine's memory, all of them.
    Memory,
    /// On another machine, or with a program that serves a file system.
    Elsewhere,
    /// The system does not tell.
    Unknown,
}

/// What lies under a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// From the uppermost layer to what keeps the bytes, such as `ext4 on /dev/loop0 on
    /// /var/image on xfs on /dev/sda (ACME Turner, rotates)`; printable.
    pub text: String,
    /// Where the bytes are kept.
    pub medium: Medium,
    /// Whether there is a block device among the layers.
    pub has_device: bool,
}

/// What lies under a path, or under where it would be; none where nothing is.
#[must_use]
pub fn stack(path: &Path) -> Option<Stack> {
    let layer = Survey::new().under_path(path)?;
    Some(Stack {
        text: units::printable(&layer.text).into_owned(),
        medium: layer.medium,
        has_device: layer.has_device,
    })
}

/// A layer with all that is under it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Layer {
    text: String,
    medium: Medium,
    has_device: bool,
}

impl Layer {
    fn new(text: impl Into<String>, medium: Medium) -> Self {
        Self {
            text: text.into(),
            medium,
            has_device: false,
        }
    }

    /// This on top of others: their medium is its own, unless they disagree.
    fn on(self, below: Vec<Layer>) -> Self {
        let Some(first) = below.first() else {
            return self;
        };
        let is_alike = below.iter().all(|it| it.medium == first.medium);
        // Of several, what is not in memory is what is waited for.
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

/// What the system tells of devices and mounts.
pub(crate) struct Survey {
    pub sys: Sysfs,
    table: Vec<Mount>,
}

impl Survey {
    pub fn new() -> Self {
        Self {
            sys: Sysfs::default(),
            table: mounts(),
        }
    }

    fn under_path(&self, path: &Path) -> Option<Layer> {
        let existing = if path.exists() { path } else { parent_of(path) };
        let found = fs::metadata(existing).ok()?;
        if found.file_type().is_block_device() {
            return Some(self.device(split(found.rdev()), DEPTH_MAX));
        }
        self.file_system_at(existing, DEPTH_MAX)
    }

    /// The file system that holds a path which exists.
    fn file_system_at(&self, path: &Path, depth: u32) -> Option<Layer> {
        let number = split(fs::metadata(path).ok()?.dev());
        let mount = mount_at(path, &self.table);
        let mount = mount.or_else(|| self.table.iter().find(|it| it.device == number));
        match mount {
            Some(mount) => Some(self.file_system(mount, depth)),
            // Where there is no table of mounts.
            None if self.sys.directory(number).is_some() => {
                let device = self.device(number, depth.checked_sub(1)?);
                Some(Layer::new("a file system", Medium::Unknown).on(vec![device]))
            }
            None => None,
        }
    }

    fn file_system(&self, mount: &Mount, depth: u32) -> Layer {
        let kind = mount.file_system.as_str();
        let source = &mount.source;
        match kind {
            "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" => {
                Layer::new(format!("{kind} (memory)"), Medium::Memory)
            }
            "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "lustre" | "afs" => {
                Layer::new(format!("{kind} of {source} (network)"), Medium::Elsewhere)
            }
            "9p" | "virtiofs" | "hostfs" => {
                Layer::new(format!("{kind} of {source} (its host)"), Medium::Elsewhere)
            }
            _ if kind == "fuse" || kind.starts_with("fuse.") => {
                Layer::new(format!("{kind} of {source} (a program)"), Medium::Elsewhere)
            }
            "overlay" => self.overlay(mount, depth),
            _ => {
                let devices = self.sys.under_mount(mount, &self.table);
                let below = match depth.checked_sub(1) {
                    Some(left) => devices.iter().map(|it| self.device(*it, left)).collect(),
                    None => Vec::new(),
                };
                Layer::new(kind, Medium::Unknown).on(below)
            }
        }
    }

    /// What is written goes to the upper directory.
    fn overlay(&self, mount: &Mount, depth: u32) -> Layer {
        let layer = Layer::new("overlay", Medium::Unknown);
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
