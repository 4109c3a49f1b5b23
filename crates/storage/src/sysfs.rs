//! Block devices in `/sys`: their lower layers and their users.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

use crate::mounts::{MountLine, mount_at, mounts};
use crate::open::FileId;
use crate::path::parent_of;

/// A device number: major and minor.
pub type DeviceNumber = (u32, u32);

/// Maximum number of layers (loop on file system on partition ...) to follow.
pub(crate) const DEPTH_MAX: u32 = 8;

/// A block device or partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDevice {
    /// Major and minor number.
    pub number: DeviceNumber,
    /// Name without `/dev/`.
    pub name: String,
    /// 0 directly under the file system (or for the device given), 1 for its lower devices, ...
    pub depth: u32,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Smallest unit of I/O, in bytes.
    pub logical_block_bytes: u32,
    /// Vendor and model, if reported.
    pub model: Option<String>,
    /// `true` if the medium rotates.
    pub rotational: Option<bool>,
    /// The active I/O scheduler.
    pub scheduler: Option<String>,
    /// Number of requests that the block layer queues.
    pub queue_requests: Option<u32>,
    /// Number of commands that the device queues, if reported.
    pub device_queue_depth: Option<u32>,
    /// `true` if the queue can be polled.
    pub io_poll: bool,
    /// `true` if the device is read-only.
    pub read_only: bool,
}

/// A loop device in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoopDevice {
    pub name: String,
    pub number: DeviceNumber,
    /// The file or device under it, as named by the kernel.
    pub backing: PathBuf,
    /// Identity of that file or device; `None` if its name no longer exists.
    pub storage: Option<Storage>,
    /// The part of the file or device that it covers.
    bytes: Range<u64>,
}

/// Storage of a loop device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    File(FileId),
    Device(DeviceNumber),
}

impl Storage {
    fn of(path: &Path) -> Option<Self> {
        let found = rustix::fs::stat(path).ok()?;
        let kind = rustix::fs::FileType::from_raw_mode(found.st_mode);
        Some(match kind {
            rustix::fs::FileType::BlockDevice => Self::Device(split(found.st_rdev)),
            _ => Self::File(FileId::of(&found)),
        })
    }
}

impl LoopDevice {
    /// `true` if two devices have bytes in common.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let is_same = match (self.storage, other.storage) {
            (Some(one), Some(other)) => one == other,
            // For a removed file, only the name remains.
            _ => self.backing == other.backing,
        };
        is_same && self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end
    }
}

/// A directory tree like `/sys`; another root only in tests.
#[derive(Debug, Clone)]
pub(crate) struct Sysfs {
    root: PathBuf,
}

impl Default for Sysfs {
    fn default() -> Self {
        Self {
            root: "/sys".into(),
        }
    }
}

impl Sysfs {
    #[cfg(test)]
    pub(crate) fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// All disks, sorted by name, without their partitions.
    pub(crate) fn disks(&self) -> Vec<BlockDevice> {
        let all = entries(&self.root.join("block"));
        let numbers = all
            .iter()
            .filter_map(|path| device_number(&path.join("dev")));
        numbers
            .filter_map(|number| self.device(number, 0))
            .collect()
    }

    /// Directory of a device, with links resolved.
    pub(crate) fn directory(&self, number: DeviceNumber) -> Option<PathBuf> {
        let link = self
            .root
            .join(format!("dev/block/{}:{}", number.0, number.1));
        fs::canonicalize(link).ok()
    }

    /// Path of a device's counters.
    pub(crate) fn stat_path(&self, number: DeviceNumber) -> PathBuf {
        self.root
            .join(format!("dev/block/{}:{}/stat", number.0, number.1))
    }

    /// `true` if the kernel counts a device's requests. An administrator can disable this in the
    /// queue of the disk; the counters then do not change.
    pub(crate) fn counts(&self, number: DeviceNumber) -> bool {
        let directory = self.directory(number);
        let setting = directory.and_then(|it| word(&self.whole_disk(&it).join("queue/iostats")));
        setting.is_none_or(|it| it != "0")
    }

    /// Properties of a device.
    pub(crate) fn device(&self, number: DeviceNumber, depth: u32) -> Option<BlockDevice> {
        let directory = self.directory(number)?;
        let disk = self.whole_disk(&directory);
        let queue = disk.join("queue");
        let vendor = word(&disk.join("device/vendor"));
        let model = word(&disk.join("device/model"));
        let model = match (vendor, model) {
            // PCI devices have a vendor number.
            (Some(vendor), Some(model)) if !vendor.starts_with("0x") => {
                Some(format!("{vendor} {model}"))
            }
            (_, model) => model,
        };
        Some(BlockDevice {
            number,
            name: name_of(&directory),
            depth,
            size_bytes: parsed::<u64>(&directory.join("size"))?.saturating_mul(512),
            logical_block_bytes: parsed(&queue.join("logical_block_size")).unwrap_or(512),
            model,
            rotational: parsed::<u8>(&queue.join("rotational")).map(|flag| flag == 1),
            scheduler: word(&queue.join("scheduler")).map(|list| active(&list)),
            queue_requests: parsed(&queue.join("nr_requests")),
            device_queue_depth: parsed(&disk.join("device/queue_depth")),
            io_poll: parsed::<u8>(&queue.join("io_poll")) == Some(1),
            read_only: parsed::<u8>(&directory.join("ro")) == Some(1),
        })
    }

    /// Queue directory of a device; for a partition, that of its disk.
    pub(crate) fn queue(&self, number: DeviceNumber) -> PathBuf {
        let directory = self.directory(number).unwrap_or_default();
        self.whole_disk(&directory).join("queue")
    }

    /// Directory of the disk that contains a partition; for a disk, its own.
    pub(crate) fn whole_disk(&self, directory: &Path) -> PathBuf {
        let parent = directory
            .parent()
            .filter(|_| directory.join("partition").exists());
        parent.unwrap_or(directory).to_owned()
    }

    /// The disk that contains a partition.
    pub(crate) fn parent_disk(&self, number: DeviceNumber) -> Option<DeviceNumber> {
        let directory = self.directory(number)?;
        if !directory.join("partition").exists() {
            return None;
        }
        device_number(&directory.parent()?.join("dev"))
    }

    /// The partitions of a disk.
    pub(crate) fn partitions(&self, number: DeviceNumber) -> Vec<DeviceNumber> {
        let Some(directory) = self.directory(number) else {
            return Vec::new();
        };
        let is_partition = |path: &PathBuf| path.join("partition").exists();
        entries(&directory)
            .into_iter()
            .filter(is_partition)
            .filter_map(|path| device_number(&path.join("dev")))
            .collect()
    }

    /// Names of the devices built on this one (`dm-0`, `md0`).
    pub(crate) fn holders(&self, number: DeviceNumber) -> Vec<String> {
        let directory = self.directory(number).unwrap_or_default();
        let holders = entries(&directory.join("holders"));
        let mut names: Vec<_> = holders.iter().map(|path| name_of(path)).collect();
        // A bcache cache device has this entry but no holder. The devices of bcache itself have it,
        // too.
        let is_cached = directory.join("bcache").exists();
        if names.is_empty() && is_cached && !name_of(&directory).starts_with("bcache") {
            names.push("bcache".to_owned());
        }
        names
    }

    /// The file under a loop device.
    pub(crate) fn backing_file(&self, number: DeviceNumber) -> Option<PathBuf> {
        let text = word(&self.directory(number)?.join("loop/backing_file"))?;
        Some(text.into())
    }

    /// The loop devices in use.
    pub(crate) fn loops(&self) -> Vec<LoopDevice> {
        let looped = |path: PathBuf| {
            let backing = PathBuf::from(word(&path.join("loop/backing_file"))?);
            let size_bytes = parsed::<u64>(&path.join("size")).unwrap_or(0) * 512;
            let first_byte = parsed::<u64>(&path.join("loop/offset")).unwrap_or(0);
            Some(LoopDevice {
                name: name_of(&path),
                number: device_number(&path.join("dev"))?,
                storage: Storage::of(&backing),
                backing,
                bytes: first_byte..first_byte.saturating_add(size_bytes),
            })
        };
        entries(&self.root.join("block"))
            .into_iter()
            .filter_map(looped)
            .collect()
    }

    /// Other disks that are the same storage over another path: they have the same worldwide name.
    pub(crate) fn twins(&self, number: DeviceNumber) -> Vec<DeviceNumber> {
        let Some(directory) = self.directory(number) else {
            return Vec::new();
        };
        let disk = self.whole_disk(&directory);
        let Some(own) = worldwide_name(&disk) else {
            return Vec::new();
        };
        let own_number = device_number(&disk.join("dev"));
        entries(&self.root.join("block"))
            .into_iter()
            .filter(|other| worldwide_name(other).as_ref() == Some(&own))
            .filter_map(|other| device_number(&other.join("dev")))
            .filter(|other| Some(*other) != own_number)
            .collect()
    }

    /// All lower devices that share this one's bytes, but not the devices that hold a loop device's
    /// file.
    pub(crate) fn made_of(&self, number: DeviceNumber) -> Vec<DeviceNumber> {
        let mut found: Vec<DeviceNumber> = Vec::new();
        let mut waiting = vec![number];
        while let Some(next) = waiting.pop() {
            for below in self.members(next) {
                // Stacks can share lower devices, which must be visited only once.
                if below != number && !found.contains(&below) {
                    found.push(below);
                    waiting.push(below);
                }
            }
        }
        found
    }

    fn members(&self, number: DeviceNumber) -> Vec<DeviceNumber> {
        let directory = self.directory(number).unwrap_or_default();
        let slaves = entries(&directory.join("slaves"));
        let slaves = slaves
            .iter()
            .filter_map(|path| device_number(&path.join("dev")));
        let looped = self.backing_file(number);
        let looped = looped.and_then(|file| file.to_str().and_then(block_number));
        slaves
            .chain(self.parent_disk(number))
            .chain(looped)
            .collect()
    }

    /// Member devices of each mounted btrfs, by UUID of the file system.
    pub(crate) fn btrfs_members(&self) -> Vec<(String, Vec<DeviceNumber>)> {
        entries(&self.root.join("fs/btrfs"))
            .into_iter()
            .filter(|path| path.join("devices").is_dir())
            .map(|path| {
                let links = entries(&path.join("devices"));
                let numbers = links
                    .iter()
                    .filter_map(|link| device_number(&link.join("dev")));
                (name_of(&path), numbers.collect())
            })
            .collect()
    }

    /// Devices directly below this one: a partition's disk, the members of a dm or md device, or
    /// the devices that hold a loop device's file.
    pub(crate) fn lower(&self, number: DeviceNumber, table: &[MountLine]) -> Vec<DeviceNumber> {
        if let Some(disk) = self.parent_disk(number) {
            return vec![disk];
        }
        if let Some(file) = self.backing_file(number) {
            let device = fs::metadata(&file).map(|found| split(found.dev()));
            return device
                .map(|device| self.under(device, table))
                .unwrap_or_default();
        }
        let directory = self.directory(number).unwrap_or_default();
        let slaves = entries(&directory.join("slaves"));
        slaves
            .iter()
            .filter_map(|path| device_number(&path.join("dev")))
            .collect()
    }

    /// Devices directly under a file system, by the device number of its files.
    pub(crate) fn under(&self, number: DeviceNumber, table: &[MountLine]) -> Vec<DeviceNumber> {
        if number.0 != 0 && self.directory(number).is_some() {
            return vec![number];
        }
        // Files of a btrfs subvolume have a device number that no mount has.
        table
            .iter()
            .find(|mount| mount.device == number)
            .map(|mount| self.under_mount(mount, table))
            .unwrap_or_default()
    }

    /// Devices directly under a mount: its device, the members of a btrfs, or the devices it names.
    pub(crate) fn under_mount(&self, mount: &MountLine, table: &[MountLine]) -> Vec<DeviceNumber> {
        if mount.device.0 != 0 && self.directory(mount.device).is_some() {
            return vec![mount.device];
        }
        if mount.file_system == "overlay" {
            let upper = mount
                .option("upperdir")
                .and_then(|path| fs::metadata(path).ok());
            let device = upper
                .map(|found| split(found.dev()))
                .filter(|it| *it != mount.device);
            return device
                .map(|device| self.under(device, table))
                .unwrap_or_default();
        }
        if !matches!(mount.file_system.as_str(), "btrfs" | "bcachefs") {
            return Vec::new();
        }
        let named: Vec<_> = mount.source.split(':').filter_map(block_number).collect();
        let members = self.btrfs_members().into_iter().map(|(_, members)| members);
        members
            .into_iter()
            // A btrfs mount names only one of its members, and bcachefs names all.
            .find(|members| named.iter().any(|it| members.contains(it)))
            .unwrap_or(named)
    }

    /// The given devices and all their lower devices, without duplicates, nearest first.
    pub(crate) fn stack(&self, top: &[DeviceNumber], table: &[MountLine]) -> Vec<BlockDevice> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let mut level = top.to_vec();
        for depth in 0..DEPTH_MAX {
            // A disk under two partitions is counted once.
            level.retain(|number| seen.insert(*number));
            found.extend(
                level
                    .iter()
                    .filter_map(|number| self.device(*number, depth)),
            );
            level = level
                .iter()
                .flat_map(|number| self.lower(*number, table))
                .collect();
        }
        found
    }
}

/// The block devices under a path, nearest first. Depth 0 is directly under its file system, or the
/// path itself if it is a device; lower devices follow. Empty if there are none.
#[must_use]
pub fn devices_under(path: &Path) -> Vec<BlockDevice> {
    let table = mounts();
    Sysfs::default().stack(&top_devices(path, &table), &table)
}

/// Devices at depth 0 for a path that exists, or whose parent does.
pub(crate) fn top_devices(path: &Path, table: &[MountLine]) -> Vec<DeviceNumber> {
    let existing = if path.exists() { path } else { parent_of(path) };
    let Ok(found) = fs::metadata(existing) else {
        return Vec::new();
    };
    if found.file_type().is_block_device() {
        return vec![split(found.rdev())];
    }
    let sys = Sysfs::default();
    match mount_at(existing, table) {
        Some(mount) => sys.under_mount(mount, table),
        None => sys.under(split(found.dev()), table),
    }
}

/// Number of the block device at a path.
pub(crate) fn block_number(path: &str) -> Option<DeviceNumber> {
    let found = fs::metadata(path).ok()?;
    found
        .file_type()
        .is_block_device()
        .then(|| split(found.rdev()))
}

/// Major and minor number of a device number from system calls.
pub(crate) fn split(device: u64) -> DeviceNumber {
    (major(device), minor(device))
}

pub(crate) fn device_number(path: &Path) -> Option<DeviceNumber> {
    let text = word(path)?;
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Worldwide unique name of a disk; `None` if it may not be unique.
///
/// Source: Linux, `Documentation/ABI/stable/sysfs-block` (`wwid` of NVMe), and `scsi_vpd_lun_id`.
fn worldwide_name(disk: &Path) -> Option<String> {
    let name = word(&disk.join("device/wwid")).or_else(|| word(&disk.join("wwid")))?;
    let is_unique = ["naa.", "eui.", "uuid.", "nvme."].map(|it| name.starts_with(it));
    is_unique.contains(&true).then_some(name)
}

/// Entries of a directory, sorted by name; empty if it does not exist.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let listing = fs::read_dir(directory).into_iter().flatten();
    let mut paths: Vec<_> = listing.flatten().map(|entry| entry.path()).collect();
    // Listing order of `/sys` is not defined, and messages name the first entry.
    paths.sort();
    paths
}

pub(crate) fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Text of a one-line file, trimmed; `None` if it is missing or empty.
pub(crate) fn word(path: &Path) -> Option<String> {
    let text = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

pub(crate) fn parsed<T: std::str::FromStr>(path: &Path) -> Option<T> {
    word(path)?.parse().ok()
}

/// The word in brackets of a list such as `none [mq-deadline]`; the whole list without brackets.
pub(crate) fn active(list: &str) -> String {
    let inside = list
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(list, |(word, _)| word).to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A disk 8:0 with partition 8:1, which md 9:0 is made of together with disk 8:16.
    fn tree() -> (tempfile::TempDir, Sysfs) {
        let root = tempfile::tempdir().expect("a directory");
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
            fs::write(path, text).expect("a file");
        };
        put("block/sda/dev", "8:0\n");
        put("block/sda/size", "2048\n");
        put("block/sda/queue/logical_block_size", "4096\n");
        put("block/sda/queue/scheduler", "none [mq-deadline] kyber\n");
        put("block/sda/queue/rotational", "1\n");
        put("block/sda/device/vendor", "ACME    \n");
        put("block/sda/device/model", "Turner 3\n");
        put("block/sda/sda1/dev", "8:1\n");
        put("block/sda/sda1/size", "1024\n");
        put("block/sda/sda1/partition", "1\n");
        put("block/sdb/dev", "8:16\n");
        put("block/sdb/size", "4096\n");
        put("block/md0/dev", "9:0\n");
        put("block/md0/size", "1000\n");
        let link = |to: &str, from: &str| {
            let from = root.path().join(from);
            fs::create_dir_all(from.parent().expect("a parent")).expect("directories");
            symlink(root.path().join(to), from).expect("a link");
        };
        link("block/sda", "dev/block/8:0");
        link("block/sda/sda1", "dev/block/8:1");
        link("block/sdb", "dev/block/8:16");
        link("block/md0", "dev/block/9:0");
        link("block/sda/sda1", "block/md0/slaves/sda1");
        link("block/sdb", "block/md0/slaves/sdb");
        link("block/md0", "block/sda/sda1/holders/md0");
        link("block/sda/sda1", "fs/btrfs/uuid-1/devices/sda1");
        link("block/sdb", "fs/btrfs/uuid-1/devices/sdb");
        let sys = Sysfs::at(root.path());
        (root, sys)
    }

    #[test]
    fn a_stack_goes_through_md_members_and_partitions_and_names_each_once() {
        let (_root, sys) = tree();
        let stack = sys.stack(&[(9, 0)], &[]);
        let layers: Vec<_> = stack
            .iter()
            .map(|it| (it.name.as_str(), it.depth))
            .collect();
        assert_eq!(layers, [("md0", 0), ("sda1", 1), ("sdb", 1), ("sda", 2)]);
    }

    #[test]
    fn a_partition_has_its_own_size_and_its_disk_s_queue() {
        let (_root, sys) = tree();
        let partition = sys.device((8, 1), 0).expect("the partition");
        assert_eq!(
            (partition.size_bytes, partition.logical_block_bytes),
            (512 * 1024, 4096)
        );
        assert_eq!(partition.model.as_deref(), Some("ACME Turner 3"));
        assert_eq!(partition.scheduler.as_deref(), Some("mq-deadline"));
        assert_eq!(partition.rotational, Some(true));
        assert_eq!(sys.parent_disk((8, 1)), Some((8, 0)));
        assert_eq!(sys.parent_disk((8, 0)), None);
        assert_eq!(sys.partitions((8, 0)), [(8, 1)]);
        assert_eq!(sys.holders((8, 1)), ["md0"]);
    }

    #[test]
    fn a_btrfs_spans_all_its_members() {
        let (_root, sys) = tree();
        assert_eq!(
            sys.btrfs_members(),
            [("uuid-1".to_owned(), vec![(8, 1), (8, 16)])]
        );
    }

    #[test]
    fn a_cycle_of_members_ends() {
        let (root, sys) = tree();
        symlink(
            root.path().join("block/md0"),
            root.path().join("block/sdb/slaves"),
        )
        .ok();
        fs::create_dir_all(root.path().join("block/sda/slaves")).expect("a directory");
        symlink(
            root.path().join("block/md0"),
            root.path().join("block/sda/slaves/md0"),
        )
        .expect("a link");
        assert_eq!(sys.stack(&[(9, 0)], &[]).len(), 4);
    }

    #[test]
    fn a_missing_device_has_no_stack() {
        let (_root, sys) = tree();
        assert_eq!(sys.device((1, 1), 0), None);
        assert!(sys.stack(&[(1, 1)], &[]).is_empty());
    }
}
