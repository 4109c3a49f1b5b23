//! Place of a block device on its disk.

use std::ops::Range;

use crate::sysfs::{DeviceNumber, Sysfs, device_number, name_of, parsed};

/// The kernel counts in these sectors, whatever the device's own are.
const SECTOR_BYTES: u64 = 512;

/// The disk of a block device, and the device's part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskExtent {
    /// Number of the disk.
    pub disk: DeviceNumber,
    /// Name of the disk without `/dev/`.
    pub disk_name: String,
    /// Bytes of a partition on its disk; `None` for a whole disk.
    pub partition_bytes: Option<Range<u64>>,
    /// `true` if the block layer makes requests for the driver; `false` if the driver takes what
    /// file systems submit, as zram and most device-mapper targets do.
    pub has_requests: bool,
}

/// Finds the disk of a block device; `None` if the device is unknown.
#[must_use]
pub fn disk_extent(number: DeviceNumber) -> Option<DiskExtent> {
    Sysfs::default().disk_extent(number)
}

impl Sysfs {
    fn disk_extent(&self, number: DeviceNumber) -> Option<DiskExtent> {
        let directory = self.directory(number)?;
        let disk = self.whole_disk(&directory);
        let partition_bytes = match disk == directory {
            true => None,
            false => {
                let start = parsed::<u64>(&directory.join("start"))?.checked_mul(SECTOR_BYTES)?;
                let size = parsed::<u64>(&directory.join("size"))?.checked_mul(SECTOR_BYTES)?;
                Some(start..start.checked_add(size)?)
            }
        };
        Some(DiskExtent {
            disk: device_number(&disk.join("dev"))?,
            disk_name: name_of(&disk),
            partition_bytes,
            // Only drivers with queues of requests have this directory.
            has_requests: disk.join("mq").is_dir(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_partition_is_a_part_of_its_disk() {
        let root = tempfile::tempdir().expect("a directory");
        let disk = root.path().join("devices/sda");
        let partition = disk.join("sda1");
        fs::create_dir_all(&partition).expect("a directory");
        fs::create_dir_all(disk.join("mq")).expect("a directory");
        fs::create_dir_all(root.path().join("dev/block")).expect("a directory");
        let files = [
            (disk.join("dev"), "8:0"),
            (disk.join("size"), "1000"),
            (partition.join("dev"), "8:1"),
            (partition.join("partition"), "1"),
            (partition.join("start"), "63"),
            (partition.join("size"), "100"),
        ];
        for (path, text) in files {
            fs::write(path, text).expect("a file");
        }
        symlink(&disk, root.path().join("dev/block/8:0")).expect("a link");
        symlink(&partition, root.path().join("dev/block/8:1")).expect("a link");
        let sys = Sysfs::at(root.path());
        let found = sys.disk_extent((8, 1)).expect("a partition");
        assert_eq!((found.disk, found.disk_name.as_str()), ((8, 0), "sda"));
        assert_eq!(found.partition_bytes, Some(63 * 512..163 * 512));
        assert!(found.has_requests);
        let whole = sys.disk_extent((8, 0)).expect("a disk");
        assert_eq!(whole.partition_bytes, None);
        assert_eq!(sys.disk_extent((9, 9)), None);
    }
}
