//! Block devices in a stack.

use std::path::{Path, PathBuf};

use super::{Layer, Medium, Survey};
use crate::sysfs::{DEPTH_MAX, DeviceNumber, active, block_number, name_of, parsed, word};

impl Survey {
    /// A device with what it is made of, at most so many layers of it.
    pub(super) fn device(&self, number: DeviceNumber, depth: u32) -> Layer {
        let Some(directory) = self.sys.directory(number) else {
            let text = format!("device {}:{}", number.0, number.1);
            return has_device(Layer::new(text, Medium::Unknown));
        };
        // `/` in a device's name is `!` in that of its directory.
        let name = name_of(&directory).replace('!', "/");
        let kind = Kind::of(&name, &directory);
        let text = match kind.words(&directory) {
            Some(words) => format!("/dev/{name} ({words})"),
            None => format!("/dev/{name}"),
        };
        let layer = has_device(Layer::new(text, kind.medium()));
        let Some(left) = depth.checked_sub(1) else {
            return Layer {
                medium: Medium::Unknown,
                ..layer
            };
        };
        match self.sys.backing_file(number) {
            Some(file) => layer.on(vec![self.backing(&file, left)]),
            None => {
                let below = self.sys.lower(number, &self.table);
                layer.on(below.iter().map(|it| self.device(*it, left)).collect())
            }
        }
    }

    /// The file in which a byte of a device is, and where in it, as far as that can be told:
    /// through partitions and loop devices.
    pub(crate) fn file_under(&self, device: DeviceNumber, byte: u64) -> Option<(PathBuf, u64)> {
        let (mut number, mut at_bytes) = (device, byte);
        for _ in 0..DEPTH_MAX {
            let directory = self.sys.directory(number)?;
            if let Some(disk) = self.sys.parent_disk(number) {
                let sectors: u64 = parsed(&directory.join("start"))?;
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

    /// What a loop device is on.
    fn backing(&self, file: &Path, depth: u32) -> Layer {
        if let Some(number) = file.to_str().and_then(block_number) {
            return self.device(number, depth);
        }
        let layer = Layer::new(file.display().to_string(), Medium::Unknown);
        let below = self.file_system_at(file, depth);
        layer.on(below.into_iter().collect())
    }
}

fn has_device(layer: Layer) -> Layer {
    Layer {
        has_device: true,
        ..layer
    }
}

/// What a block device is.
enum Kind {
    Zram,
    /// In memory, by what it is called.
    Memory(&'static str),
    Network(&'static str),
    Mapper,
    Raid,
    /// A part of another device, or a file.
    Part,
    Disk(&'static str),
}

impl Kind {
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
            Self::Network(_) => Medium::Elsewhere,
            Self::Disk(_) => Medium::Device,
            Self::Mapper | Self::Raid | Self::Part => Medium::Unknown,
        }
    }

    /// What is worth saying beside the device's name.
    fn words(&self, directory: &Path) -> Option<String> {
        match self {
            Self::Zram => {
                let how = word(&directory.join("comp_algorithm")).map(|list| active(&list));
                Some(format!(
                    "memory, {}",
                    how.unwrap_or_else(|| "compressed".to_owned())
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

/// What device-mapper made and how it is called.
///
/// Source: the kernel's `Documentation/ABI/testing/sysfs-block-dm`; who makes a mapping begins its
/// uuid with a word of its own.
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

/// The facts of a disk that it tells itself.
fn disk(directory: &Path, what: &str) -> Option<String> {
    let model = word(&directory.join("device/model"));
    let transport = word(&directory.join("device/transport"));
    let transport = transport.filter(|it| it != "pcie");
    // What a hypervisor says of turning is made up.
    let rotates = match what {
        "" => parsed::<u8>(&directory.join("queue/rotational")),
        _ => None,
    };
    let rotates = rotates.map(|flag| if flag == 1 { "rotates" } else { "solid state" });
    let words: Vec<String> = [
        (!what.is_empty()).then(|| what.to_owned()),
        model,
        transport.map(|it| format!("over {it}")),
        rotates.map(str::to_owned),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!words.is_empty()).then(|| words.join(", "))
}
