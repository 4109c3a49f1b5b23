//! Whether a block device may be used: never while anything else does, and only when the user
//! named it.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags, fstat};
use rustix::io::Errno;

use crate::TargetError;
use crate::admit::Permission;
use crate::mounts::{self, Mount};
use crate::probe::PathFacts;
use crate::signature::signature;
use crate::sysfs::{DeviceNumber, Sysfs, block_number, split};

const BUSY_ATTEMPTS: u32 = 16;
const BUSY_WAIT: Duration = Duration::from_millis(25);

/// A device that was admitted and is held (`O_EXCL`) when it may be written.
#[derive(Debug)]
pub(crate) struct HeldDevice {
    pub path: PathBuf,
    pub number: DeviceNumber,
    pub size_bytes: u64,
    pub writable: bool,
    /// Keeps others from mounting it.
    pub hold: OwnedFd,
}

/// Why a device is busy, and what would free it.
#[derive(Debug, PartialEq, Eq)]
struct Usage {
    what: String,
    release: String,
}

/// Admits a device for reading, or for overwriting when the permission names it.
pub(crate) fn admit_device(
    facts: &PathFacts,
    permission: &Permission,
) -> Result<HeldDevice, TargetError> {
    let path = &facts.path;
    if permission.read_only {
        return hold(path, OFlags::RDONLY, false);
    }
    if facts.read_only {
        let reason = "the device itself is".to_owned();
        return Err(TargetError::ReadOnly {
            path: path.clone(),
            reason,
        });
    }
    let number = path
        .to_str()
        .and_then(block_number)
        .ok_or_else(|| busy_elsewhere(path))?;
    let swaps = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    let system = InUse {
        sys: Sysfs::default(),
        mounts: mounts::mounts(),
        swaps,
    };
    if let Some(usage) = system.usage(number) {
        return Err(busy(path, usage));
    }
    let confirmed = permission
        .overwrite_devices
        .iter()
        .any(|named| named == path);
    let access = if confirmed {
        OFlags::RDWR
    } else {
        OFlags::RDONLY
    };
    let held = hold(path, access | OFlags::EXCL, confirmed)?;
    if held.number != number {
        return Err(TargetError::Replaced { path: path.clone() });
    }
    if confirmed {
        return Ok(held);
    }
    let size_bytes = held.size_bytes;
    let found = signature(&File::from(held.hold), size_bytes)
        .map_err(|error| TargetError::system("read", path, error))?;
    let path = path.clone();
    Err(match found {
        Some(found) => TargetError::Signature {
            path,
            content: found.to_string(),
        },
        None => TargetError::Unconfirmed { path, size_bytes },
    })
}

fn hold(path: &Path, flags: OFlags, writable: bool) -> Result<HeldDevice, TargetError> {
    let action = if writable { "write to" } else { "read" };
    let open = || {
        rustix::fs::open(
            path,
            flags | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        )
    };
    let mut hold = open();
    for _ in 0..BUSY_ATTEMPTS {
        // Whoever has just closed the device, or looks at it because it was closed, is soon gone.
        if hold.as_ref().err() != Some(&Errno::BUSY) {
            break;
        }
        std::thread::sleep(BUSY_WAIT);
        hold = open();
    }
    let hold = hold.map_err(|error| match error {
        Errno::BUSY => busy_elsewhere(path),
        error => TargetError::system(action, path, error),
    })?;
    let found = fstat(&hold).map_err(|error| TargetError::system("look at", path, error))?;
    let kind = rustix::fs::FileType::from_raw_mode(found.st_mode);
    if kind != rustix::fs::FileType::BlockDevice {
        return Err(TargetError::Replaced {
            path: path.to_owned(),
        });
    }
    let size_bytes = rustix::fs::seek(&hold, rustix::fs::SeekFrom::End(0))
        .map_err(|error| TargetError::system("find the size of", path, error))?;
    let number = split(found.st_rdev);
    Ok(HeldDevice {
        path: path.to_owned(),
        number,
        size_bytes,
        writable,
        hold,
    })
}

fn busy_elsewhere(path: &Path) -> TargetError {
    busy(
        path,
        Usage {
            what: "the kernel or another program holds it".to_owned(),
            release: "end what holds it, or choose another device".to_owned(),
        },
    )
}

fn busy(path: &Path, usage: Usage) -> TargetError {
    TargetError::DeviceBusy {
        path: path.to_owned(),
        usage: usage.what,
        release: usage.release,
    }
}

/// What is asked about the use of devices.
struct InUse {
    sys: Sysfs,
    mounts: Vec<Mount>,
    /// `/proc/swaps`.
    swaps: String,
}

impl InUse {
    /// Who uses the device, one of its partitions, or the disk that it is part of.
    fn usage(&self, number: DeviceNumber) -> Option<Usage> {
        let disk = self.sys.parent_disk(number).into_iter();
        let related = self.sys.partitions(number).into_iter().chain(disk);
        let own = self.usage_of(number, "it");
        own.or_else(|| {
            related
                .filter_map(|other| {
                    let name = self.sys.device(other, 0)?.name;
                    self.usage_of(other, &format!("`{name}`"))
                })
                .next()
        })
    }

    fn usage_of(&self, number: DeviceNumber, name: &str) -> Option<Usage> {
        self.mounted(number, name)
            .or_else(|| self.swapped_to(number, name))
            .or_else(|| self.held(number, name))
            .or_else(|| self.behind_loop(number, name))
    }

    fn mounted(&self, number: DeviceNumber, name: &str) -> Option<Usage> {
        let member = |mount: &Mount| {
            mount.device == number || self.sys.under_mount(mount, &self.mounts).contains(&number)
        };
        let mount = self.mounts.iter().find(|mount| member(mount))?;
        let point = mount.point.display();
        Some(Usage {
            what: format!("{name} is mounted on `{point}` ({})", mount.file_system),
            release: match mount.point.to_str() {
                Some("/" | "/usr" | "/var" | "/boot") => {
                    "name another device: this system runs from it".to_owned()
                }
                _ => format!("run `umount {point}` first"),
            },
        })
    }

    fn swapped_to(&self, number: DeviceNumber, name: &str) -> Option<Usage> {
        let device = |line: &str| line.split_whitespace().next().map(str::to_owned);
        let path = self
            .swaps
            .lines()
            .skip(1)
            .filter_map(device)
            .find(|path| block_number(path) == Some(number))?;
        Some(Usage {
            what: format!("{name} is swap space"),
            release: format!("run `swapoff {path}` first"),
        })
    }

    fn held(&self, number: DeviceNumber, name: &str) -> Option<Usage> {
        let holders = self.sys.holders(number);
        (!holders.is_empty()).then(|| Usage {
            what: format!("{name} is part of {}", holders.join(", ")),
            release: format!("take `{}` apart first", holders[0]),
        })
    }

    fn behind_loop(&self, number: DeviceNumber, name: &str) -> Option<Usage> {
        let looped = self
            .sys
            .loops()
            .into_iter()
            .find(|(_, file)| file.to_str().and_then(block_number) == Some(number))?;
        Some(Usage {
            what: format!("{name} is behind `{}`", looped.0),
            release: format!("run `losetup -d /dev/{}` first", looped.0),
        })
    }
}

#[cfg(test)]
mod tests;
