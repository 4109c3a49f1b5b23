//! File systems that accept `O_DIRECT` but may use a cache.

use std::fmt;
use std::os::fd::AsFd;

use crate::mounts::MountLine;
use crate::probe::{PathFacts, compression_and_encryption};

/// Why requests with `O_DIRECT` may use a cache.
///
/// Source: Linux. tmpfs accepts the flag since 6.6. btrfs buffers writes of data with checksums or
/// compression, nilfs2 all writes, and ext4 I/O on journaled data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectCause {
    /// The file system is in memory, without a device.
    InMemory,
    /// Writes use the page cache; reads do not.
    WritesBuffered,
    /// Reads and writes use the page cache.
    AllBuffered,
    /// The server or daemon of the file system decides, and may cache.
    ServerDecides,
    /// The lower file system decides.
    LayerDecides,
}

/// A direct open that may not be direct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectDoubt {
    /// Reason why the open may not be direct.
    pub cause: DirectCause,
    /// Type of the file system.
    pub file_system: String,
}

impl fmt::Display for DirectDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.file_system;
        match self.cause {
            DirectCause::InMemory => {
                write!(
                    f,
                    "{name} is memory: direct I/O is accepted but there is no device"
                )
            }
            DirectCause::WritesBuffered => {
                write!(
                    f,
                    "{name} accepts direct writes but sends them through the page cache"
                )
            }
            DirectCause::AllBuffered => {
                write!(
                    f,
                    "{name} accepts direct I/O but sends it through the page cache"
                )
            }
            DirectCause::ServerDecides => {
                write!(
                    f,
                    "direct I/O on {name} avoids this machine's cache, not the server's"
                )
            }
            DirectCause::LayerDecides => {
                write!(
                    f,
                    "what direct I/O does on {name} depends on the file system below"
                )
            }
        }
    }
}

/// The doubt about a file that was opened with `O_DIRECT`.
pub(crate) fn doubt(facts: &PathFacts, file: impl AsFd, write: bool) -> Option<DirectDoubt> {
    let (compressed, encrypted) = compression_and_encryption(file);
    let cause = match cause_of(&facts.file_system, facts.mount.as_ref()) {
        None if compressed || encrypted => Some(DirectCause::AllBuffered),
        cause => cause,
    };
    of_cause(facts, cause, write)
}

/// The doubt about all files that are opened with `O_DIRECT` on a file system.
pub(crate) fn doubt_of_file_system(facts: &PathFacts, write: bool) -> Option<DirectDoubt> {
    let cause = cause_of(&facts.file_system, facts.mount.as_ref());
    of_cause(facts, cause, write)
}

fn of_cause(facts: &PathFacts, cause: Option<DirectCause>, write: bool) -> Option<DirectDoubt> {
    // Without writes, buffered writes do not matter.
    let cause = cause.filter(|it| write || *it != DirectCause::WritesBuffered)?;
    Some(DirectDoubt {
        cause,
        file_system: facts.file_system.clone(),
    })
}

pub(crate) fn cause_of(file_system: &str, mount: Option<&MountLine>) -> Option<DirectCause> {
    let has = |option: &str| mount.is_some_and(|mount| mount.options.iter().any(|it| it == option));
    match file_system {
        "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" => Some(DirectCause::InMemory),
        // Both options turn checksums off, and only data with checksums is buffered.
        "btrfs" if has("nodatasum") || has("nodatacow") => None,
        "btrfs" | "nilfs2" => Some(DirectCause::WritesBuffered),
        "ext3" | "ext4" if has("data=journal") => Some(DirectCause::AllBuffered),
        "zfs" => Some(DirectCause::AllBuffered),
        "overlay" | "ecryptfs" => Some(DirectCause::LayerDecides),
        name if name.starts_with("fuse") || name.starts_with("nfs") => {
            Some(DirectCause::ServerDecides)
        }
        "cifs" | "smb3" | "9p" | "ceph" | "lustre" | "virtiofs" | "afs" | "hostfs" => {
            Some(DirectCause::ServerDecides)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(options: &[&str]) -> MountLine {
        MountLine {
            id: 1,
            device: (0, 1),
            root: "/".into(),
            point: "/m".into(),
            options: options.iter().map(|it| (*it).to_owned()).collect(),
            file_system: "x".to_owned(),
            source: "x".to_owned(),
            ..MountLine::default()
        }
    }

    #[test]
    fn file_systems_with_true_direct_io_raise_no_doubt() {
        for name in ["ext4", "xfs", "ext2", "f2fs", "bcachefs", "vfat"] {
            assert_eq!(cause_of(name, None), None, "{name}");
        }
    }

    #[test]
    fn btrfs_direct_writes_raise_doubt_unless_checksums_are_off() {
        assert_eq!(cause_of("btrfs", None), Some(DirectCause::WritesBuffered));
        assert_eq!(cause_of("btrfs", Some(&mount(&["rw", "nodatacow"]))), None);
    }

    #[test]
    fn direct_io_raises_doubt_on_journaled_data_servers_and_memory() {
        let journal = mount(&["rw", "data=journal"]);
        assert_eq!(
            cause_of("ext4", Some(&journal)),
            Some(DirectCause::AllBuffered)
        );
        assert_eq!(
            cause_of("fuse.sshfs", None),
            Some(DirectCause::ServerDecides)
        );
        assert_eq!(cause_of("nfs4", None), Some(DirectCause::ServerDecides));
        let doubt = DirectDoubt {
            cause: DirectCause::InMemory,
            file_system: "tmpfs".to_owned(),
        };
        assert_eq!(
            doubt.to_string(),
            "tmpfs is memory: direct I/O is accepted but there is no device"
        );
    }
}
