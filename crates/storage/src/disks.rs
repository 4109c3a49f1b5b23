//! The disks of this machine, for choosing a target.

use crate::device::InUse;
use crate::sysfs::{BlockDevice, Sysfs};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_with_a_mounted_file_system_is_in_use() {
        let all = disks();
        let below = crate::devices_under(std::path::Path::new("/"));
        for device in all
            .iter()
            .filter(|it| below.iter().any(|other| other.number == it.device.number))
        {
            assert!(device.usage.is_some(), "{device:?}");
        }
        assert!(all.iter().all(|it| it.device.size_bytes > 0));
        assert!(all.is_sorted_by_key(|it| &it.device.name));
    }
}
