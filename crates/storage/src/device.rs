//! Decides whether a block device may be used: never while something else uses it, and only if the
//! user named it.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FileType, Mode, OFlags, fstat};
use rustix::io::Errno;

use crate::TargetError;
use crate::mounts::{self, MountLine};
use crate::open::FileId;
use crate::permission::Permission;
use crate::probe::PathFacts;
use crate::signature::signature;
use crate::sysfs::{DeviceNumber, LoopDevice, Storage, Sysfs, block_number, split};

const BUSY_ATTEMPTS: u32 = 16;
const BUSY_WAIT: Duration = Duration::from_millis(25);

/// An admitted device. A block device that may be written is opened exclusively (`O_EXCL`).
#[derive(Debug)]
pub(crate) struct AdmittedDevice {
    pub path: PathBuf,
    pub kind: FileType,
    pub number: DeviceNumber,
    pub size_bytes: u64,
    pub writable: bool,
    /// Prevents other programs from mounting it.
    pub hold: OwnedFd,
}

/// Why a device is busy, and how to free it.
#[derive(Debug, PartialEq, Eq)]
struct DeviceUsage {
    description: String,
    release: String,
}

/// Admits a device for reading, or for overwriting if `permission` names it.
pub(crate) fn admit_device(
    facts: &PathFacts,
    permission: &Permission,
) -> Result<AdmittedDevice, TargetError> {
    let path = &facts.path;
    if permission.read_only {
        // Reading harms nothing, so a mounted device is allowed, and `O_EXCL` would refuse it.
        return hold(path, FileType::BlockDevice, OFlags::RDONLY, false);
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
    let system = InUse::now();
    // Looked up before the exclusive open, which fails as well but does not say who uses the
    // device.
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
    let device = hold(
        path,
        FileType::BlockDevice,
        access | OFlags::EXCL,
        confirmed,
    )?;
    // Between the lookup and the open, another device may have taken the name.
    if device.number != number {
        return Err(TargetError::Replaced { path: path.clone() });
    }
    if confirmed {
        return Ok(device);
    }
    let size_bytes = device.size_bytes;
    // Only for the message: without the option, the device is refused whatever it holds.
    let found = signature(&File::from(device.hold), size_bytes)
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

/// Admits `/dev/null` or `/dev/zero`, where nothing can be lost.
pub(crate) fn admit_endless_device(
    facts: &PathFacts,
    permission: &Permission,
) -> Result<AdmittedDevice, TargetError> {
    let (access, writable) = match permission.read_only {
        true => (OFlags::RDONLY, false),
        false => (OFlags::RDWR, true),
    };
    hold(&facts.path, FileType::CharacterDevice, access, writable)
}

fn hold(
    path: &Path,
    kind: FileType,
    flags: OFlags,
    writable: bool,
) -> Result<AdmittedDevice, TargetError> {
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
        // Programs such as udev open a device for a moment after it was closed.
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
    let found = fstat(&hold).map_err(|error| TargetError::system("access", path, error))?;
    if FileType::from_raw_mode(found.st_mode) != kind {
        return Err(TargetError::Replaced {
            path: path.to_owned(),
        });
    }
    // `st_size` of a device is 0; the end of the open device is its size.
    let size_bytes = rustix::fs::seek(&hold, rustix::fs::SeekFrom::End(0))
        .map_err(|error| TargetError::system("find the size of", path, error))?;
    let number = split(found.st_rdev);
    Ok(AdmittedDevice {
        path: path.to_owned(),
        kind,
        number,
        size_bytes,
        writable,
        hold,
    })
}

fn busy_elsewhere(path: &Path) -> TargetError {
    busy(
        path,
        DeviceUsage {
            description: "it is held by the kernel or another program".to_owned(),
            release: "stop what holds it, or choose another device".to_owned(),
        },
    )
}

fn busy(path: &Path, usage: DeviceUsage) -> TargetError {
    TargetError::DeviceBusy {
        path: path.to_owned(),
        usage: usage.description,
        release: usage.release,
    }
}

/// Information about the use of devices.
pub(crate) struct InUse {
    sys: Sysfs,
    mounts: Vec<MountLine>,
    /// `/proc/swaps`.
    swaps: String,
}

impl InUse {
    /// The current use.
    pub(crate) fn now() -> Self {
        Self {
            sys: Sysfs::default(),
            mounts: mounts::mounts(),
            swaps: std::fs::read_to_string("/proc/swaps").unwrap_or_default(),
        }
    }

    /// What uses the device, as a sentence without a full stop.
    pub(crate) fn description(&self, number: DeviceNumber) -> Option<String> {
        self.usage(number).map(|usage| usage.description)
    }

    /// The use of the device, or of anything that shares bytes with it.
    fn usage(&self, number: DeviceNumber) -> Option<DeviceUsage> {
        self.usage_around(number)
            .or_else(|| self.overlapping_loop_usage(number))
            .or_else(|| self.usage_below(number))
            .or_else(|| {
                // It is the same disk, so the message is about the device itself.
                let twins = self.sys.twins(number);
                twins.into_iter().find_map(|twin| self.usage_around(twin))
            })
    }

    /// The use of the device, one of its partitions, or its disk.
    fn usage_around(&self, number: DeviceNumber) -> Option<DeviceUsage> {
        let disk = self.sys.parent_disk(number).into_iter();
        let related = self.sys.partitions(number).into_iter().chain(disk);
        let own = self.usage_of(number, "it");
        own.or_else(|| {
            related
                .filter_map(|other| self.usage_of(other, &self.shown(other)?))
                .next()
        })
    }

    /// Another loop device on the same bytes.
    fn overlapping_loop_usage(&self, number: DeviceNumber) -> Option<DeviceUsage> {
        let loops = self.sys.loops();
        let chain: Vec<_> = std::iter::once(number)
            .chain(self.sys.made_of(number))
            .collect();
        let (own, others): (Vec<_>, Vec<_>) =
            loops.iter().partition(|it| chain.contains(&it.number));
        let (own, other) = own.into_iter().find_map(|own| {
            let other = others.iter().find(|it| it.overlaps(own))?;
            Some((own, other))
        })?;
        let name = &other.name;
        Some(DeviceUsage {
            description: format!(
                "`{name}` is on the same image, `{}`{}",
                plan::printable(&own.backing.to_string_lossy()),
                self.mounted_on(other.number),
            ),
            release: format!("run `losetup -d /dev/{name}` first"),
        })
    }

    /// Where a device or one of its partitions is mounted, as the end of a sentence.
    fn mounted_on(&self, number: DeviceNumber) -> String {
        let all = std::iter::once(number).chain(self.sys.partitions(number));
        let point = all.into_iter().find_map(|it| {
            let mount = self.mounts.iter().find(|mount| mount.device == it)?;
            Some(&mount.point)
        });
        point.map_or_else(String::new, |point| {
            format!(", and mounted on `{}`", point.display())
        })
    }

    /// The use of lower layers by something other than this device.
    fn usage_below(&self, number: DeviceNumber) -> Option<DeviceUsage> {
        let below = self.sys.made_of(number);
        below.iter().find_map(|&it| {
            let name = self.shown(it)?;
            let is_own =
                |looped: &LoopDevice| looped.number == number || below.contains(&looped.number);
            // Other devices built on it use other parts of it, such as logical volumes.
            self.mounted(it, &name)
                .or_else(|| self.swap_usage(it, &name))
                .or_else(|| self.loop_usage(it, &name, is_own))
        })
    }

    fn shown(&self, number: DeviceNumber) -> Option<String> {
        let name = self.sys.device(number, 0)?.name;
        Some(format!("`{name}`"))
    }

    fn usage_of(&self, number: DeviceNumber, name: &str) -> Option<DeviceUsage> {
        // `O_EXCL` alone is not enough: it does not conflict with plain opens, such as that of a
        // loop device.
        self.mounted(number, name)
            .or_else(|| self.swap_usage(number, name))
            .or_else(|| self.device(number, name))
            .or_else(|| self.loop_usage(number, name, |_| false))
    }

    fn mounted(&self, number: DeviceNumber, name: &str) -> Option<DeviceUsage> {
        let member = |mount: &MountLine| {
            mount.device == number || self.sys.under_mount(mount, &self.mounts).contains(&number)
        };
        let mount = self.mounts.iter().find(|mount| member(mount))?;
        let point = mount.point.display();
        Some(DeviceUsage {
            description: format!("{name} is mounted on `{point}` ({})", mount.file_system),
            release: match mount.point.to_str() {
                Some("/" | "/usr" | "/var" | "/boot") => {
                    "name another device: this system runs from it".to_owned()
                }
                _ => format!("run `umount {point}` first"),
            },
        })
    }

    fn swap_usage(&self, number: DeviceNumber, name: &str) -> Option<DeviceUsage> {
        let device = |line: &str| line.split_whitespace().next().map(str::to_owned);
        let path = self
            .swaps
            .lines()
            // The first line of `/proc/swaps` has the column titles.
            .skip(1)
            .filter_map(device)
            .find(|path| block_number(path) == Some(number))?;
        Some(DeviceUsage {
            description: format!("{name} is swap space"),
            release: format!("run `swapoff {path}` first"),
        })
    }

    fn device(&self, number: DeviceNumber, name: &str) -> Option<DeviceUsage> {
        let holders = self.sys.holders(number);
        (!holders.is_empty()).then(|| DeviceUsage {
            description: format!("{name} is part of {}", holders.join(", ")),
            release: format!("stop or remove `{}` first", holders[0]),
        })
    }

    /// Loop devices on the device, except those that `may_be` allows.
    fn loop_usage(
        &self,
        number: DeviceNumber,
        name: &str,
        may_be: impl Fn(&LoopDevice) -> bool,
    ) -> Option<DeviceUsage> {
        let is_on = |it: &LoopDevice| it.storage == Some(Storage::Device(number)) && !may_be(it);
        let looped = self.sys.loops().into_iter().find(is_on)?;
        Some(loop_usage(name, &looped))
    }
}

fn loop_usage(name: &str, looped: &LoopDevice) -> DeviceUsage {
    DeviceUsage {
        description: format!("loop device `{}` uses {name}", looped.name),
        release: format!("run `losetup -d /dev/{}` first", looped.name),
    }
}

/// Refuses a file that the kernel uses as a device.
pub(crate) fn check_unused(path: &Path, file: FileId) -> Result<(), TargetError> {
    let loops = Sysfs::default().loops();
    let looped = loops
        .iter()
        .find(|it| it.storage == Some(Storage::File(file)));
    if let Some(looped) = looped {
        return Err(busy(path, loop_usage("it", looped)));
    }
    let swaps = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    let is_swap = |line: &str| {
        let name = line.split_whitespace().next();
        name.and_then(|name| FileId::at(Path::new(name))) == Some(file)
    };
    if swaps.lines().skip(1).any(is_swap) {
        let usage = DeviceUsage {
            description: "it is swap space".to_owned(),
            release: format!("run `swapoff {}` first", path.display()),
        };
        return Err(busy(path, usage));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
