//! Block devices in a storage stack.

use std::path::{Path, PathBuf};

use super::{Medium, StackLayer, Survey};
use crate::sysfs::{DEPTH_MAX, DeviceNumber, active, block_number, name_of, parsed, word};

impl Survey {
    /// A device with its lower layers, limited to `depth` layers.
    pub(super) fn device(&self, number: DeviceNumber, depth: u32) -> StackLayer {
        let Some(directory) = self.sys.directory(number) else {
            let text = format!("device {}:{}", number.0, number.1);
            return has_device(StackLayer::new(text, Medium::Unknown));
        };
        // The kernel replaces `/` in a device name by `!` in the directory name.
        let name = name_of(&directory).replace('!', "/");
        let kind = DeviceKind::of(&name, &directory);
        let text = match kind.words(&directory) {
            Some(words) => format!("/dev/{name} ({words})"),
            None => format!("/dev/{name}"),
        };
        let layer = has_device(StackLayer::new(text, kind.medium()));
        let Some(left) = depth.checked_sub(1) else {
            return StackLayer {
                medium: Medium::Unknown,
                ..layer
            };
        };
        match self.sys.backing_file(number) {
            Some(file) => layer.on(vec![self.backing(&file, left)]),
            None => {
                let below = self.sys.lower(number, &self.mounts);
                layer.on(below.iter().map(|it| self.device(*it, left)).collect())
            }
        }
    }

    /// The file that holds a byte of a device, and its offset in the file. Follows partitions and
    /// loop devices; `None` for other devices.
    pub(crate) fn file_under(&self, device: DeviceNumber, byte: u64) -> Option<(PathBuf, u64)> {
        let (mut number, mut at_bytes) = (device, byte);
        for _ in 0..DEPTH_MAX {
            let directory = self.sys.directory(number)?;
            if let Some(disk) = self.sys.parent_disk(number) {
                let sectors: u64 = parsed(&directory.join("start"))?;
                // `/sys` counts in units of 512 bytes, even for disks with blocks of 4096.
                at_bytes = at_bytes.checked_add(sectors.checked_mul(512)?)?;
                number = disk;
                continue;
            }
            let file = self.sys.backing_file(number)?;
            let offset_bytes: u64 = parsed(&directory.join("loop/offset"))?;
            at_bytes = at_bytes.checked_add(offset_bytes)?;
            match file.to_str().and_then(block_number) {
                Some(below) => number = below,
                None => return Some((file, at_bytes)),
            }
        }
        None
    }

    /// The storage of a loop device.
    fn backing(&self, file: &Path, depth: u32) -> StackLayer {
        if let Some(number) = file.to_str().and_then(block_number) {
            return self.device(number, depth);
        }
        let layer = StackLayer::new(file.display().to_string(), Medium::Unknown);
        let below = self.file_system_at(file, depth);
        layer.on(below.into_iter().collect())
    }
}

fn has_device(layer: StackLayer) -> StackLayer {
    StackLayer {
        has_device: true,
        ..layer
    }
}

/// Kind of a block device.
enum DeviceKind {
    Zram,
    /// A device in memory, by its name.
    Memory(&'static str),
    Network(&'static str),
    Mapper,
    Raid,
    /// A part of another device, or a file.
    Part,
    Disk(&'static str),
}

impl DeviceKind {
    fn of(name: &str, directory: &Path) -> Self {
        let numbered = |prefix: &str| {
            let rest = name.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
        };
        match () {
            () if directory.join("partition").exists() || numbered("loop") => Self::Part,
            () if numbered("zram") => Self::Zram,
            () if numbered("ram") => Self::Memory("memory"),
            () if numbered("nullb") => Self::Memory("null_blk, memory or nothing"),
            () if numbered("nbd") => Self::Network("nbd"),
            () if numbered("rbd") => Self::Network("Ceph"),
            () if numbered("drbd") => Self::Network("DRBD"),
            () if numbered("dm-") => Self::Mapper,
            () if numbered("md") => Self::Raid,
            () if name.starts_with("vd") => Self::Disk("virtio"),
            () if name.starts_with("xvd") => Self::Disk("Xen"),
            () if name.starts_with("pmem") => Self::Disk("persistent memory"),
            () => Self::Disk(""),
        }
    }

    fn medium(&self) -> Medium {
        match self {
            Self::Zram | Self::Memory(_) => Medium::Memory,
            Self::Network(_) => Medium::External,
            Self::Disk(_) => Medium::Device,
            Self::Mapper | Self::Raid | Self::Part => Medium::Unknown,
        }
    }

    /// Description in addition to the device's name.
    fn words(&self, directory: &Path) -> Option<String> {
        match self {
            Self::Zram => {
                let algorithm = word(&directory.join("comp_algorithm")).map(|list| active(&list));
                Some(format!(
                    "memory, {}",
                    algorithm.unwrap_or_else(|| "compressed".to_owned())
                ))
            }
            Self::Memory(what) => Some((*what).to_owned()),
            Self::Network(what) => Some(format!("{what}, network")),
            Self::Mapper => mapped(directory),
            Self::Raid => word(&directory.join("md/level")),
            Self::Part => None,
            Self::Disk(what) => disk(directory, what),
        }
    }
}

/// Creator and name of a device-mapper device.
///
/// Source: the kernel's `Documentation/ABI/testing/sysfs-block-dm`; each creator of a mapping uses
/// a prefix in the UUID.
fn mapped(directory: &Path) -> Option<String> {
    let uuid = word(&directory.join("dm/uuid")).unwrap_or_default();
    let maker = match uuid.split('-').next().unwrap_or_default() {
        "CRYPT" => "encrypted",
        "LVM" => "LVM",
        "mpath" => "multipath",
        _ => "device-mapper",
    };
    let name = word(&directory.join("dm/name"));
    Some(match name {
        Some(name) => format!("{maker} {name}"),
        None => maker.to_owned(),
    })
}

/// Facts that a disk reports.
fn disk(directory: &Path, kind: &str) -> Option<String> {
    let model = word(&directory.join("device/model"));
    let transport = word(&directory.join("device/transport"));
    // Local NVMe; only a network transport is worth mentioning.
    let transport = transport.filter(|it| it != "pcie");
    // A hypervisor's information about rotation is not reliable.
    let rotates = match kind {
        "" => parsed::<u8>(&directory.join("queue/rotational")),
        _ => None,
    };
    let rotates = rotates.map(|flag| if flag == 1 { "rotates" } else { "solid state" });
    let words: Vec<String> = [
        (!kind.is_empty()).then(|| kind.to_owned()),
        model,
        transport.map(|it| format!("over {it}")),
        rotates.map(str::to_owned),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!words.is_empty()).then(|| words.join(", "))
}
