//! Finds facts about a path without changing anything: nothing is created, no device is opened.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Statx, StatxAttributes, StatxFlags, statfs, statvfs, statx};

use crate::TargetError;
use crate::mounts::{MountLine, mount_at, mounts};
use crate::open::FileId;
use crate::path::{parent_of, without_trailing_slashes};
use crate::sysfs::{DeviceNumber, Sysfs, split, top_devices};

/// `/dev/null` and `/dev/zero`.
///
/// Source: Linux, Documentation/admin-guide/devices.txt.
const ENDLESS: [DeviceNumber; 2] = [(1, 3), (1, 5)];

/// Kind of the object at a path; links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// Does not exist.
    Missing,
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A block device.
    Device,
    /// A symbolic link.
    Symlink,
    /// `/dev/null` or `/dev/zero`, which accept any number of bytes and store none.
    Endless,
    /// Another kind, as text.
    Other(&'static str),
}

/// Alignment required for direct I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectAlignment {
    /// Alignment of buffers; 0 if unknown or not possible.
    pub memory_bytes: u32,
    /// Alignment of offsets and lengths; 0 if direct I/O is not possible.
    pub offset_bytes: u32,
    /// `true` if reported by the kernel (`statx`); `false` if derived from the underlying device.
    pub reported: bool,
}

/// Facts about a path.
#[derive(Debug, Clone)]
pub struct PathFacts {
    /// The path as given, without trailing slashes.
    pub path: PathBuf,
    /// Kind of the path.
    pub kind: PathKind,
    /// Size of a file or device in bytes; 0 otherwise.
    pub size_bytes: u64,
    /// Bytes of the file system available to this user; 0 for devices.
    pub free_bytes: u64,
    /// Size of the file system, in bytes; 0 for devices.
    pub total_bytes: u64,
    /// Type of the file system (of the parent if the path does not exist); `block device` for
    /// devices.
    pub file_system: String,
    /// The mount, if it is in the mount table.
    pub mount: Option<MountLine>,
    /// `true` if the mount or device is read-only.
    pub read_only: bool,
    /// Alignment required for direct I/O.
    pub direct: DirectAlignment,
    /// Block size of the underlying device, in bytes; 512 without a device.
    pub logical_block_bytes: u32,
    /// Identity of the directory that the path is, or is in.
    pub(crate) directory: Option<FileId>,
}

/// Finds facts about a path.
///
/// # Errors
/// If the path cannot be looked up, unless it just does not exist.
pub fn probe(path: &Path) -> Result<PathFacts, TargetError> {
    let path = without_trailing_slashes(path);
    let kind = kind_of(path)?;
    let table = mounts();
    match kind {
        PathKind::Device => return probe_device(path),
        // The file system of `/dev` holds only its node, so its space and options do not matter.
        PathKind::Endless => return Ok(nowhere(path, kind)),
        _ => {}
    }
    let on = if kind == PathKind::Missing {
        parent_of(path)
    } else {
        path
    };
    // Also when the parent directory is missing; admission reports that.
    let Ok(space) = statvfs(on) else {
        return Ok(nowhere(path, kind));
    };
    let mount = mount_at(on, &table).cloned();
    let magic = statfs(on).map(|found| found.f_type as u64).unwrap_or(0);
    // Without `/proc`, only the number from `statfs` is left.
    let file_system = match &mount {
        Some(mount) => mount.file_system.clone(),
        None => magic_name(magic).to_owned(),
    };
    let below = top_devices(on, &table)
        .first()
        .and_then(|it| Sysfs::default().device(*it, 0));
    let logical_block_bytes = below
        .as_ref()
        .map_or(512, |device| device.logical_block_bytes);
    let size_bytes = fs::symlink_metadata(path)
        .ok()
        .filter(fs::Metadata::is_file);
    Ok(PathFacts {
        kind,
        size_bytes: size_bytes.map_or(0, |found| found.len()),
        // `f_frsize` is the unit of these counts; `f_bsize` may be larger.
        free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
        total_bytes: space.f_blocks.saturating_mul(space.f_frsize),
        read_only: mount.as_ref().is_some_and(MountLine::is_read_only)
            || space.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY),
        direct: alignment(path, &file_system, logical_block_bytes),
        file_system,
        mount,
        logical_block_bytes,
        directory: directory_id(path, kind),
        path: path.to_owned(),
    })
}

fn nowhere(path: &Path, kind: PathKind) -> PathFacts {
    PathFacts {
        path: path.to_owned(),
        kind,
        size_bytes: 0,
        free_bytes: 0,
        total_bytes: 0,
        file_system: "none".to_owned(),
        mount: None,
        read_only: false,
        direct: DirectAlignment {
            memory_bytes: 0,
            offset_bytes: 0,
            reported: false,
        },
        logical_block_bytes: 512,
        directory: None,
    }
}

fn probe_device(path: &Path) -> Result<PathFacts, TargetError> {
    let found = look(path, StatxFlags::BASIC_STATS | StatxFlags::DIOALIGN)
        .map_err(|error| TargetError::system("access", path, error))?;
    let device = Sysfs::default().device((found.stx_rdev_major, found.stx_rdev_minor), 0);
    let block = device
        .as_ref()
        .map_or(512, |device| device.logical_block_bytes);
    Ok(PathFacts {
        size_bytes: device.as_ref().map_or(0, |device| device.size_bytes),
        file_system: "block device".to_owned(),
        read_only: device.as_ref().is_some_and(|device| device.read_only),
        direct: reported(&found).unwrap_or(DirectAlignment {
            memory_bytes: block,
            offset_bytes: block,
            reported: false,
        }),
        logical_block_bytes: block,
        ..nowhere(path, PathKind::Device)
    })
}

/// Kind of a path; the last component is not followed.
pub(crate) fn kind_of(path: &Path) -> Result<PathKind, TargetError> {
    let (found, number) = match fs::symlink_metadata(path) {
        Ok(found) => (found.file_type(), split(found.rdev())),
        Err(error) if is_missing(&error) => return Ok(PathKind::Missing),
        Err(error) => return Err(TargetError::system("access", path, error)),
    };
    Ok(match found {
        it if it.is_dir() => PathKind::Directory,
        it if it.is_file() => PathKind::File,
        it if it.is_symlink() => PathKind::Symlink,
        it if it.is_block_device() => PathKind::Device,
        it if it.is_char_device() && ENDLESS.contains(&number) => PathKind::Endless,
        it if it.is_char_device() => PathKind::Other("character device"),
        it if it.is_fifo() => PathKind::Other("pipe"),
        it if it.is_socket() => PathKind::Other("socket"),
        _ => PathKind::Other("special file"),
    })
}

/// Identity of the directory that a path is, or is in, to detect a later replacement.
pub(crate) fn directory_id(path: &Path, kind: PathKind) -> Option<FileId> {
    let found = match kind {
        // A target directory must not be a link, but the parent of a file may be one.
        PathKind::Directory => rustix::fs::lstat(path),
        PathKind::File | PathKind::Missing => rustix::fs::stat(parent_of(path)),
        _ => return None,
    };
    found.ok().map(|found| FileId::of(&found))
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
    )
}

fn look(path: &Path, flags: StatxFlags) -> rustix::io::Result<Statx> {
    statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, flags)
}

fn reported(found: &Statx) -> Option<DirectAlignment> {
    (found.stx_mask & StatxFlags::DIOALIGN.bits() != 0).then_some(DirectAlignment {
        memory_bytes: found.stx_dio_mem_align,
        offset_bytes: found.stx_dio_offset_align,
        reported: true,
    })
}

/// Alignment that `statx` reports for a file; otherwise, the block size of the underlying device.
///
/// Source: Linux reports `STATX_DIOALIGN` for regular files and block devices only, since 6.1, and
/// not on btrfs, tmpfs and FUSE; ext4 and xfs ask for the device's logical block.
fn alignment(path: &Path, file_system: &str, logical_block_bytes: u32) -> DirectAlignment {
    let found = look(path, StatxFlags::BASIC_STATS | StatxFlags::DIOALIGN).ok();
    if let Some(alignment) = found.as_ref().and_then(reported) {
        return alignment;
    }
    let bytes = match file_system {
        "ramfs" | "proc" | "sysfs" | "squashfs" | "hostfs" => 0,
        _ => logical_block_bytes,
    };
    DirectAlignment {
        memory_bytes: bytes,
        offset_bytes: bytes,
        reported: false,
    }
}

/// Names of file systems by the number from `statfs`, for use without `/proc`.
fn magic_name(magic: u64) -> &'static str {
    match magic {
        0xEF53 => "ext4",
        0x5846_5342 => "xfs",
        0x9123_683E => "btrfs",
        0x0102_1994 => "tmpfs",
        0x8584_58F6 => "ramfs",
        0x794C_7630 => "overlay",
        0x6573_5546 => "fuse",
        0x6969 => "nfs",
        0xFF53_4D42 | 0xFE53_4D42 => "cifs",
        0x0102_1997 => "9p",
        0xF2F5_2010 => "f2fs",
        0x3434 => "nilfs2",
        0xCA45_1A4E => "bcachefs",
        0x2FC1_2FC1 => "zfs",
        0x4D44 => "vfat",
        0x2011_BAB0 => "exfat",
        0x5346_544E | 0x7366_746E => "ntfs",
        0x3153_464A => "jfs",
        0x5265_4973 => "reiserfs",
        0x7371_7368 => "squashfs",
        0x9660 => "iso9660",
        0x00C3_6400 => "ceph",
        0x0BD0_0BD0 => "lustre",
        0x00C0_FFEE => "hostfs",
        _ => "unknown",
    }
}

/// Whether a file is compressed or encrypted, so that direct I/O is not direct.
pub(crate) fn compression_and_encryption(file: impl std::os::fd::AsFd) -> (bool, bool) {
    let Ok(found) = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS) else {
        return (false, false);
    };
    let has = |flag| found.stx_attributes.contains(flag);
    (
        has(StatxAttributes::COMPRESSED),
        has(StatxAttributes::ENCRYPTED),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_and_a_missing_file_in_it_have_the_same_file_system() {
        let directory = tempfile::tempdir().expect("a directory");
        let facts = probe(directory.path()).expect("facts");
        assert_eq!(facts.kind, PathKind::Directory);
        assert!(facts.total_bytes > 0 && facts.free_bytes <= facts.total_bytes);
        let missing = probe(&directory.path().join("new.dat")).expect("facts");
        assert_eq!(missing.kind, PathKind::Missing);
        assert_eq!(missing.file_system, facts.file_system);
        assert_eq!(missing.total_bytes, facts.total_bytes);
        assert_eq!(
            fs::read_dir(directory.path()).expect("a listing").count(),
            0
        );
    }

    #[test]
    fn a_file_has_its_size_and_a_link_is_a_link() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("f");
        fs::write(&file, [7; 5000]).expect("a file");
        assert_eq!(probe(&file).expect("facts").size_bytes, 5000);
        let link = directory.path().join("l");
        std::os::unix::fs::symlink(directory.path(), &link).expect("a link");
        assert_eq!(probe(&link).expect("facts").kind, PathKind::Symlink);
        let slashed = directory.path().join("l//");
        assert_eq!(probe(&slashed).expect("facts").kind, PathKind::Symlink);
    }

    #[test]
    fn a_path_without_a_parent_directory_has_no_file_system() {
        let facts = probe(Path::new("/no-such-place/at/all")).expect("facts");
        assert_eq!((facts.kind, facts.total_bytes), (PathKind::Missing, 0));
    }

    #[test]
    fn character_devices_are_classified_by_kind() {
        let kind = |path: &str| probe(Path::new(path)).expect("facts").kind;
        assert_eq!(kind("/dev/full"), PathKind::Other("character device"));
        assert_eq!(kind("/dev/null"), PathKind::Endless);
        assert_eq!(kind("/dev/zero"), PathKind::Endless);
    }

    #[test]
    fn shared_memory_is_tmpfs_where_it_is_mounted() {
        let Some(mount) = mounts().into_iter().find(|it| it.file_system == "tmpfs") else {
            println!("skipped: no tmpfs is mounted");
            return;
        };
        let facts = probe(&mount.point).expect("facts");
        assert_eq!(facts.file_system, "tmpfs");
        assert!(top_devices(&mount.point, &mounts()).is_empty());
    }
}
