//! The file systems that the lab knows, as data.

/// How a file system comes into being.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// `mkfs` on a block device.
    Device,
    /// The kernel makes it in memory when it is mounted.
    Memory,
    /// Two directories of a file system on a block device, laid over each other.
    Overlay,
    /// A pool that an administrator makes; the lab only measures in it, as `path:DIR`.
    Pool,
}

/// A file system that the lab knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// How it comes into being.
    pub maker: Maker,
    /// The program that makes it, with the options that it always gets: no discarding, so that a
    /// preallocated image stays so, and nothing left to be written by the kernel afterwards.
    pub mkfs: &'static [&'static str],
    /// The Debian package with that program.
    pub package: &'static str,
    /// The program that looks whether it is consistent and changes nothing, with its options.
    pub fsck: &'static [&'static str],
    /// Type for `mount`, the preferred one first; the kernel has one of them, or none is needed.
    pub types: &'static [&'static str],
    /// A program that mounts it where the kernel cannot, with its Debian package.
    pub mounter: Option<(&'static str, &'static str)>,
    /// Mount options that it gets before those that were asked for.
    pub mount_options: &'static str,
    /// Mount options that it gets in a guest before all others: what is written is decided by the
    /// workload, as a guest's seconds are not those of a machine.
    pub guest_options: &'static str,
    /// The smallest image that its program takes, in bytes.
    pub size_min_bytes: u64,
    /// Whether it does direct I/O.
    pub is_direct: bool,
    /// Whether it writes to the end of a log, and cleans behind it.
    pub is_log_structured: bool,
}

const MIB: u64 = 1 << 20;

/// Extended options of ext3 and ext4. With a seed of their own each, the same directory would lie
/// in another block group on each file system.
const JOURNALED: &str = "nodiscard,lazy_itable_init=0,lazy_journal_init=0,\
                         hash_seed=70676d65-7465-4072-a000-000000000000";
/// Commits by a timer are seldom.
const SELDOM: &str = "commit=300";

const fn on_device(name: &'static str, title: &'static str) -> Entry {
    Entry {
        name,
        title,
        maker: Maker::Device,
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

/// Every file system, those of every kernel first.
pub const ENTRIES: [Entry; 12] = [
    Entry {
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
    Entry {
        mkfs: &["mkfs.ext3", "-q", "-F", "-E", JOURNALED],
        package: "e2fsprogs",
        fsck: &["e2fsck", "-f", "-n"],
        types: &["ext3"],
        guest_options: SELDOM,
        ..on_device("ext3", "ext2 with a journal")
    },
    Entry {
        mkfs: &["mkfs.ext4", "-q", "-F", "-E", JOURNALED],
        package: "e2fsprogs",
        fsck: &["e2fsck", "-f", "-n"],
        types: &["ext4"],
        guest_options: SELDOM,
        ..on_device("ext4", "extents and a journal")
    },
    Entry {
        mkfs: &["mkfs.xfs", "-q", "-f", "-K"],
        package: "xfsprogs",
        fsck: &["xfs_repair", "-n", "-f"],
        types: &["xfs"],
        size_min_bytes: 300 * MIB,
        ..on_device("xfs", "extents in trees, allocation groups, a journal")
    },
    Entry {
        mkfs: &["mkfs.btrfs", "-q", "-f", "-K"],
        package: "btrfs-progs",
        fsck: &["btrfs", "check", "--readonly"],
        types: &["btrfs"],
        guest_options: SELDOM,
        size_min_bytes: 128 * MIB,
        ..on_device("btrfs", "copy on write, checksums")
    },
    Entry {
        maker: Maker::Memory,
        types: &["tmpfs"],
        size_min_bytes: MIB,
        ..on_device("tmpfs", "memory, no device at all")
    },
    Entry {
        mkfs: &["mkfs.f2fs", "-q", "-f", "-t", "0"],
        package: "f2fs-tools",
        fsck: &["fsck.f2fs", "--dry-run"],
        types: &["f2fs"],
        mount_options: "mode=lfs",
        size_min_bytes: 64 * MIB,
        is_log_structured: true,
        ..on_device(
            "f2fs",
            "log-structured, for flash (mounted with `mode=lfs`)",
        )
    },
    Entry {
        mkfs: &["mkfs.nilfs2", "-q", "-f", "-K"],
        package: "nilfs-tools",
        types: &["nilfs2"],
        // Its cleaner may take what a workload has just left.
        mount_options: "pp=0",
        size_min_bytes: 256 * MIB,
        is_log_structured: true,
        ..on_device("nilfs2", "log-structured, with snapshots")
    },
    Entry {
        mkfs: &["mkfs.bcachefs", "--quiet", "--force"],
        package: "bcachefs-tools",
        types: &["bcachefs"],
        size_min_bytes: 256 * MIB,
        ..on_device("bcachefs", "copy on write, checksums")
    },
    Entry {
        maker: Maker::Pool,
        mkfs: &["zpool"],
        package: "zfsutils-linux",
        types: &["zfs"],
        size_min_bytes: 256 * MIB,
        ..on_device("zfs", "copy on write in pools")
    },
    Entry {
        mkfs: &["mkfs.ntfs", "--quiet", "--fast", "--force"],
        package: "ntfs-3g",
        types: &["ntfs3", "ntfs-3g"],
        mounter: Some(("mount.ntfs-3g", "ntfs-3g")),
        is_direct: false,
        ..on_device("ntfs", "by the kernel's ntfs3, else by ntfs-3g")
    },
    Entry {
        maker: Maker::Overlay,
        mkfs: &[
            "mkfs.ext4",
            "-q",
            "-F",
            "-E",
            "nodiscard,lazy_itable_init=0,lazy_journal_init=0",
        ],
        package: "e2fsprogs",
        types: &["overlay"],
        ..on_device("overlay", "a directory of ext4 laid over another")
    },
];

impl Entry {
    /// The entry of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        ENTRIES.iter().find(|entry| entry.name == name)
    }

    /// The program that makes it; none where the kernel does.
    #[must_use]
    pub fn program(&self) -> Option<&'static str> {
        self.mkfs.first().copied()
    }

    /// The type of the file system that lies on the device.
    #[must_use]
    pub fn device_types(&self) -> &'static [&'static str] {
        match self.maker {
            Maker::Overlay => &["ext4"],
            _ => self.types,
        }
    }

    /// What it can do, in words; empty where there is nothing to say.
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
    fn every_entry_can_be_made_and_says_which_package_has_the_program() {
        for entry in ENTRIES {
            assert!(!entry.types.is_empty(), "{}", entry.name);
            assert_eq!(entry.program().is_none(), entry.package.is_empty());
            assert_eq!(
                Entry::find(entry.name).map(|it| it.title),
                Some(entry.title)
            );
        }
        assert_eq!(Entry::find("ext5"), None);
    }

    #[test]
    fn features_are_told_in_words() {
        let features = |name| Entry::find(name).map(Entry::features);
        assert_eq!(features("ext4").as_deref(), Some("O_DIRECT"));
        assert_eq!(
            features("nilfs2").as_deref(),
            Some("O_DIRECT, log-structured")
        );
        assert_eq!(features("ntfs").as_deref(), Some("no O_DIRECT"));
    }
}
