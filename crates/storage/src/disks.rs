//! The disks of this machine, for choosing a target.

use std::path::Path;

use crate::device::InUse;
use crate::sysfs::{BlockDevice, Sysfs, block_number};

/// A disk of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedDisk {
    /// The disk.
    pub device: BlockDevice,
    /// What uses it or a part of it, such as a mount; `None` if nothing is known to.
    pub usage: Option<String>,
}

/// The disks of this machine, sorted by name. Partitions are part of their disk; loop and RAM
/// devices without content are left out.
#[must_use]
pub fn disks() -> Vec<ListedDisk> {
    let system = InUse::now();
    let all = Sysfs::default().disks().into_iter();
    all.filter(|device| device.size_bytes > 0)
        .map(|device| ListedDisk {
            usage: system.description(device.number),
            device,
        })
        .collect()
}

/// What uses a block device or a part of it; `None` if nothing is known to, or for other files.
#[must_use]
pub fn device_usage(path: &Path) -> Option<String> {
    InUse::now().description(block_number(path.to_str()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_with_a_mounted_file_system_is_in_use() {
        let all = disks();
        let below = crate::devices_under(Path::new("/"));
        for device in all
            .iter()
            .filter(|it| below.iter().any(|other| other.number == it.device.number))
        {
            assert!(device.usage.is_some(), "{device:?}");
            let path = format!("/dev/{}", device.device.name);
            // Not every container has the nodes of its devices.
            if Path::new(&path).exists() {
                assert_eq!(device_usage(Path::new(&path)), device.usage);
            }
        }
        assert!(all.iter().all(|it| it.device.size_bytes > 0));
        assert!(all.is_sorted_by_key(|it| &it.device.name));
    }
}
