//! The file systems that the lab supports, as data.

/// How a file system is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreationMethod {
    /// `mkfs` on a block device.
    Device,
    /// The kernel creates it in memory during the mount.
    Memory,
    /// An overlay of two directories of a file system on a block device.
    Overlay,
    /// A pool that an administrator creates; the lab measures in it only as `path:DIR`.
    Pool,
}

/// A file system that the lab supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabFileSystem {
    /// Name on the command line.
    pub name: &'static str,
    /// Description, one line.
    pub title: &'static str,
    /// How it is created.
    pub creation_method: CreationMethod,
    /// The program that creates it, with fixed options. They prevent discards, so that a
    /// preallocated image stays allocated, and lazy initialization, so that the kernel writes
    /// nothing later.
    pub mkfs: &'static [&'static str],
    /// Debian package of this program.
    pub package: &'static str,
    /// The program that checks its consistency without changes, with options; empty if there is
    /// none.
    pub fsck: &'static [&'static str],
    /// Types for `mount`, preferred one first; the kernel needs to have one of them.
    pub types: &'static [&'static str],
    /// A FUSE program that mounts it if the kernel cannot, with its Debian package.
    pub mounter: Option<(&'static str, &'static str)>,
    /// Default mount options, before the requested ones.
    pub mount_options: &'static str,
    /// Mount options in a guest, before all others. They keep timers from writing, because a
    /// guest's clock does not run like a machine's; only the workload decides what is written.
    pub guest_options: &'static str,
    /// Smallest image that its program accepts, in bytes.
    pub size_min_bytes: u64,
    /// `true` if it supports direct I/O.
    pub is_direct: bool,
    /// `true` if it writes to the end of a log that is cleaned later.
    pub is_log_structured: bool,
}

const MIB: u64 = 1 << 20;

/// Extended options of ext3 and ext4. The seed is fixed: with a random seed, the same directory
/// would be in another block group on each file system.
const EXT_OPTIONS: &str = "nodiscard,lazy_itable_init=0,lazy_journal_init=0,\
                         hash_seed=70676d65-7465-4072-a000-000000000000";
/// Makes commits by a timer rare.
const RARE_COMMITS: &str = "commit=300";

const fn on_device(name: &'static str, title: &'static str) -> LabFileSystem {
    LabFileSystem {
        name,
        title,
        creation_method: CreationMethod::Device,
        mkfs: &[],
        package: "",
        fsck: &[],
        types: &[],
        mounter: None,
        mount_options: "",
        guest_options: "",
        size_min_bytes: 16 * MIB,
        is_direct: true,
        is_log_structured: false,
    }
}

/// All file systems; the most widely available come first.
pub const ENTRIES: [LabFileSystem; 12] = [
    LabFileSystem {
        mkfs: &[
            "mkfs.ext2",
            "-q",
            "-F",
            "-E",
            "nodiscard,lazy_itable_init=0",
        ],
        package: "e2fsprogs",
        fsck: &["e2fsck", "-f", "-n"],
        types: &["ext2"],
        ..on_device("ext2", "no journal")
    },
    LabFileSystem {
        mkfs: &["mkfs.ext3", "-q", "-F", "-E", EXT_OPTIONS],
        package: "e2fsprogs",
        fsck: &["e2fsck", "-f", "-n"],
        types: &["ext3"],
        guest_options: RARE_COMMITS,
        ..on_device("ext3", "ext2 with a journal")
    },
    LabFileSystem {
        mkfs: &["mkfs.ext4", "-q", "-F", "-E", EXT_OPTIONS],
        package: "e2fsprogs",
        fsck: &["e2fsck", "-f", "-n"],
        types: &["ext4"],
        guest_options: RARE_COMMITS,
        ..on_device("ext4", "extents and a journal")
    },
    LabFileSystem {
        mkfs: &["mkfs.xfs", "-q", "-f", "-K"],
        package: "xfsprogs",
        // `-f`, because the lab checks the image, which is a regular file.
        fsck: &["xfs_repair", "-n", "-f"],
        types: &["xfs"],
        // Since xfsprogs 5.19, mkfs.xfs refuses smaller file systems.
        size_min_bytes: 300 * MIB,
        ..on_device("xfs", "extents in trees, allocation groups, a journal")
    },
    LabFileSystem {
        mkfs: &["mkfs.btrfs", "-q", "-f", "-K"],
        package: "btrfs-progs",
        fsck: &["btrfs", "check", "--readonly"],
        types: &["btrfs"],
        guest_options: RARE_COMMITS,
        size_min_bytes: 128 * MIB,
        ..on_device("btrfs", "copy on write, checksums")
    },
    LabFileSystem {
        creation_method: CreationMethod::Memory,
        types: &["tmpfs"],
        size_min_bytes: MIB,
        ..on_device("tmpfs", "memory, no device")
    },
    LabFileSystem {
        // In mkfs.f2fs, `-t 0` turns discards off.
        mkfs: &["mkfs.f2fs", "-q", "-f", "-t", "0"],
        package: "f2fs-tools",
        fsck: &["fsck.f2fs", "--dry-run"],
        types: &["f2fs"],
        // By default, f2fs also writes into free blocks of old segments when few segments are free.
        mount_options: "mode=lfs",
        size_min_bytes: 64 * MIB,
        is_log_structured: true,
        ..on_device(
            "f2fs",
            "log-structured, for flash (mounted with `mode=lfs`)",
        )
    },
    LabFileSystem {
        mkfs: &["mkfs.nilfs2", "-q", "-f", "-K"],
        package: "nilfs-tools",
        types: &["nilfs2"],
        // Otherwise its cleaner keeps blocks that a workload has just freed.
        mount_options: "pp=0",
        size_min_bytes: 256 * MIB,
        is_log_structured: true,
        ..on_device("nilfs2", "log-structured, with snapshots")
    },
    LabFileSystem {
        mkfs: &["mkfs.bcachefs", "--quiet", "--force"],
        package: "bcachefs-tools",
        types: &["bcachefs"],
        size_min_bytes: 256 * MIB,
        ..on_device("bcachefs", "copy on write, checksums")
    },
    LabFileSystem {
        creation_method: CreationMethod::Pool,
        mkfs: &["zpool"],
        package: "zfsutils-linux",
        types: &["zfs"],
        size_min_bytes: 256 * MIB,
        ..on_device("zfs", "copy on write in pools")
    },
    LabFileSystem {
        // Without `--fast`, mkfs.ntfs fills the volume with zeros and checks it for bad sectors.
        mkfs: &["mkfs.ntfs", "--quiet", "--fast", "--force"],
        package: "ntfs-3g",
        types: &["ntfs3", "ntfs-3g"],
        mounter: Some(("mount.ntfs-3g", "ntfs-3g")),
        is_direct: false,
        ..on_device("ntfs", "the kernel's ntfs3, otherwise ntfs-3g")
    },
    LabFileSystem {
        creation_method: CreationMethod::Overlay,
        mkfs: &[
            "mkfs.ext4",
            "-q",
            "-F",
            "-E",
            "nodiscard,lazy_itable_init=0,lazy_journal_init=0",
        ],
        package: "e2fsprogs",
        types: &["overlay"],
        ..on_device("overlay", "one ext4 directory over another")
    },
];

impl LabFileSystem {
    /// The file system with this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        ENTRIES.iter().find(|entry| entry.name == name)
    }

    /// The program that creates it; `None` if the kernel does.
    #[must_use]
    pub fn program(&self) -> Option<&'static str> {
        self.mkfs.first().copied()
    }

    /// Types of the file system on the device.
    #[must_use]
    pub fn device_types(&self) -> &'static [&'static str] {
        match self.creation_method {
            CreationMethod::Overlay => &["ext4"],
            _ => self.types,
        }
    }

    /// Its features, for people.
    #[must_use]
    pub fn features(&self) -> String {
        let direct = if self.is_direct {
            "O_DIRECT"
        } else {
            "no O_DIRECT"
        };
        let log = self.is_log_structured.then_some("log-structured");
        let words = [Some(direct), log];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_can_be_created_and_names_the_package_of_its_program() {
        for entry in ENTRIES {
            assert!(!entry.types.is_empty(), "{}", entry.name);
            assert_eq!(entry.program().is_none(), entry.package.is_empty());
            assert_eq!(
                LabFileSystem::find(entry.name).map(|it| it.title),
                Some(entry.title)
            );
        }
        assert_eq!(LabFileSystem::find("ext5"), None);
    }

    #[test]
    fn features_are_described_in_words() {
        let features = |name| LabFileSystem::find(name).map(LabFileSystem::features);
        assert_eq!(features("ext4").as_deref(), Some("O_DIRECT"));
        assert_eq!(
            features("nilfs2").as_deref(),
            Some("O_DIRECT, log-structured")
        );
        assert_eq!(features("ntfs").as_deref(), Some("no O_DIRECT"));
    }
}
