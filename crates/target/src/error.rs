//! Why a target cannot be used, with one action that would help.

use std::io;
use std::path::{Path, PathBuf};

use plan::facts::kept_free_bytes;

use crate::sizes::{argument, size};

/// Why a target cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// Nothing is there and nothing can be made there.
    #[error("target `{path}` does not exist, and neither does the directory it would be in")]
    Missing {
        /// The path as given.
        path: PathBuf,
        /// The directory that would have to exist.
        parent: PathBuf,
    },
    /// Nothing is there, and nobody said that it may be made.
    #[error("target `{path}` does not exist")]
    NotThere {
        /// The path as given.
        path: PathBuf,
    },
    /// Nothing is there that could be cleaned.
    #[error("`{path}` does not exist")]
    NothingToClean {
        /// The path as given.
        path: PathBuf,
    },
    /// The path ends in a slash or dots, so that it means a directory, and there is none.
    #[error("directory `{path}` does not exist")]
    NoSuchDirectory {
        /// The path as given.
        path: PathBuf,
    },
    /// The target is on a file system mounted read-only, or is a read-only device.
    #[error("target `{path}` is read-only ({reason})")]
    ReadOnly {
        /// The path as given.
        path: PathBuf,
        /// What makes it read-only.
        reason: String,
    },
    /// The last component of the path is a symbolic link.
    #[error("target `{path}` is a symbolic link to `{points_to}`")]
    Symlink {
        /// The path as given.
        path: PathBuf,
        /// What the link holds.
        points_to: PathBuf,
        /// Where the link ends, when that exists.
        resolved: Option<PathBuf>,
    },
    /// The kernel denies access.
    #[error("no permission to {action} `{path}`")]
    NoPermission {
        /// The path that was denied.
        path: PathBuf,
        /// What was tried, as a verb: `read`, `write to`.
        action: &'static str,
    },
    /// A file that pgmeter did not make stands where the test file would be.
    #[error("`{path}` exists and was not created by pgmeter")]
    Foreign {
        /// The file or directory in the way.
        path: PathBuf,
    },
    /// A target that is somebody's file, and that the run would write.
    #[error("`{path}` exists and was not created by pgmeter")]
    ForeignFile {
        /// The file.
        path: PathBuf,
    },
    /// Somebody's file, to be read, ends before what is asked for.
    #[error(
        "`{path}` has {available}, not the {wanted} requested",
        available = size(*available_bytes), wanted = size(*wanted_bytes)
    )]
    FileTooSmall {
        /// The file.
        path: PathBuf,
        /// Its size.
        available_bytes: u64,
        /// The size asked.
        wanted_bytes: u64,
    },
    /// A work directory, manifest or test file that another user made.
    #[error("`{path}` belongs to another user ({uid})")]
    NotYours {
        /// The file or directory.
        path: PathBuf,
        /// The user's number.
        uid: u32,
    },
    /// The path is a character device, pipe or socket.
    #[error("target `{path}` is a {kind}, not a directory, file or block device")]
    WrongKind {
        /// The path as given.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// Another run uses the target.
    #[error("target `{path}` is in use by another pgmeter{}", process(*pid))]
    InUse {
        /// The work directory or file.
        path: PathBuf,
        /// The other process; 0 when it cannot be told.
        pid: u32,
    },
    /// A block device without content that we know, not confirmed.
    #[error(
        "`{path}` is a block device ({size}), and all it holds would be lost",
        size = size(*size_bytes)
    )]
    Unconfirmed {
        /// The device.
        path: PathBuf,
        /// Its size.
        size_bytes: u64,
    },
    /// A block device with content that we know, not confirmed.
    #[error("`{path}` holds {content}")]
    Signature {
        /// The device.
        path: PathBuf,
        /// What it holds, as `a file system (xfs, label `x`)`.
        content: String,
    },
    /// A device was meant, and there is none of that name.
    #[error("`{path}` is not a block device")]
    NoDevice {
        /// The path as given.
        path: PathBuf,
    },
    /// A block device that is in use; no option allows it.
    #[error("`{path}` is in use: {usage}")]
    DeviceBusy {
        /// The device.
        path: PathBuf,
        /// Who uses it.
        usage: String,
        /// What frees it, as a clause for the help line.
        release: String,
    },
    /// The device is smaller than asked.
    #[error(
        "`{path}` has {available}, not the {wanted} requested",
        available = size(*available_bytes), wanted = size(*wanted_bytes)
    )]
    DeviceTooSmall {
        /// The device.
        path: PathBuf,
        /// Its size.
        available_bytes: u64,
        /// The size asked.
        wanted_bytes: u64,
    },
    /// The test file would leave less of the file system free than stays free.
    #[error(
        "`{path}` has {free} free of {total}; a test file of {wanted} would leave less than \
         {kept} free",
        free = size(*free_bytes), total = size(*total_bytes), wanted = size(*wanted_bytes),
        kept = size(kept_free_bytes(*total_bytes))
    )]
    NoSpace {
        /// The directory.
        path: PathBuf,
        /// Bytes that this user can still write.
        free_bytes: u64,
        /// Bytes of the whole file system.
        total_bytes: u64,
        /// Bytes asked.
        wanted_bytes: u64,
        /// Largest size that would be admitted; 0 when none is.
        largest_bytes: u64,
    },
    /// The file system ran full, or the quota was reached, while the test file was written.
    #[error(
        "`{path}` ran out of space after {done} of {wanted} ({source})",
        done = size(*done_bytes), wanted = size(*wanted_bytes)
    )]
    RanFull {
        /// The test file.
        path: PathBuf,
        /// Bytes written.
        done_bytes: u64,
        /// Bytes asked.
        wanted_bytes: u64,
        /// What the kernel said.
        source: io::Error,
    },
    /// A write of the preparation failed.
    #[error("writing `{path}` failed at byte {offset_bytes}: {source}")]
    PrepareFailed {
        /// The test file or device.
        path: PathBuf,
        /// Where.
        offset_bytes: u64,
        /// What the kernel said.
        source: io::Error,
        /// Whether what had been written was removed.
        removed: bool,
    },
    /// The user stopped the preparation.
    #[error("preparation of `{path}` was interrupted")]
    Interrupted {
        /// The target.
        path: PathBuf,
    },
    /// A manifest is not one that this program writes.
    #[error("manifest `{path}` cannot be trusted: {reason}")]
    BadManifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// `O_DIRECT` is refused.
    #[error("the file system of `{path}` ({file_system}) does not support direct I/O")]
    NoDirect {
        /// The file.
        path: PathBuf,
        /// Its file system.
        file_system: String,
    },
    /// The file or device is not the one that was admitted.
    #[error("`{path}` was replaced while it was in use")]
    Replaced {
        /// The path.
        path: PathBuf,
    },
    /// A tree was asked of a file or a device.
    #[error("`{path}` is not a directory, and this workload makes files in one")]
    NoTree {
        /// The target.
        path: PathBuf,
    },
    /// A name leads out of a tree, or is none.
    #[error("`{}` is not the name of a directory in a tree", name.escape_debug())]
    BadTreeName {
        /// The name.
        name: String,
    },
    /// Some of a tree could not be removed.
    #[error(
        "{left_count} files and directories in `{path}` could not be removed, the first is \
         `{first}`: {source}"
    )]
    TreeLeft {
        /// The tree.
        path: PathBuf,
        /// How many are left, the tree included.
        left_count: u64,
        /// The first of them.
        first: PathBuf,
        /// What the kernel said of it.
        source: io::Error,
    },
    /// The file system cannot be unmounted and mounted again.
    #[error("`{path}` cannot be unmounted and mounted again: {reason}")]
    NoRemount {
        /// Where the file system is mounted, or the target.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The file system was unmounted and could not be mounted again.
    #[error("`{path}` was unmounted and cannot be mounted again: {source}")]
    StaysUnmounted {
        /// Where it was mounted.
        path: PathBuf,
        /// The command that would mount it.
        command: String,
        /// The directory that the run used.
        target: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The caches of the kernel cannot be emptied.
    #[error("cannot drop the kernel's caches: {source}")]
    NoDropCaches {
        /// What the kernel said.
        source: io::Error,
    },
    /// Writing was asked of a device that was admitted for reading.
    #[error("`{path}` was opened for reading only")]
    NotForWriting {
        /// The device.
        path: PathBuf,
    },
    /// A system call failed.
    #[error("cannot {action} `{path}`: {source}")]
    System {
        /// What was tried, as a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
}

impl TargetError {
    /// The one action that would help, without the word `help`.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NothingToClean { .. } => {
                "name the target of the run that was interrupted, as `--target` named it".to_owned()
            }
            Self::Missing { parent, .. } => create(parent),
            Self::NotThere { .. } => {
                "nothing was written; name an existing directory, file or device, or add \
                 `--create` to create a test file there"
                    .to_owned()
            }
            Self::NoSuchDirectory { path } => create(path),
            Self::ReadOnly { .. } => "choose a writable target".to_owned(),
            Self::Symlink {
                resolved: Some(resolved),
                ..
            } => target_instead(resolved),
            Self::Symlink { resolved: None, .. } => {
                "the link is dangling; give the path of a directory".to_owned()
            }
            Self::NoPermission { .. } => {
                "choose a target that you have access to, or run as its owner".to_owned()
            }
            Self::Foreign { path } => format!(
                "nothing was written; instead of `{}`, give a directory or a new file name",
                path.display()
            ),
            Self::ForeignFile { path } => format!(
                "nothing was written; instead of `{}`, give a directory or a new file name, or run \
                 a workload that only reads",
                path.display()
            ),
            Self::FileTooSmall {
                available_bytes: 0, ..
            } => "nothing was written; name a file that is not empty".to_owned(),
            Self::NotYours { .. } => {
                "nothing was changed; run as its owner, or choose another target".to_owned()
            }
            Self::WrongKind { .. } => "give a directory, a new file or a block device".to_owned(),
            Self::InUse { .. } => "wait until it is done, or choose another target".to_owned(),
            Self::Unconfirmed { path, .. } => confirm(path, "use"),
            Self::Signature { path, .. } => confirm(path, "destroy"),
            Self::NoDevice { .. } => {
                "nothing was written; `lsblk --paths` lists the block devices".to_owned()
            }
            Self::DeviceBusy { release, .. } => format!("nothing was written; {release}"),
            Self::DeviceTooSmall {
                available_bytes, ..
            }
            | Self::FileTooSmall {
                available_bytes, ..
            } => {
                format!("choose `--size {}` or less", argument(*available_bytes))
            }
            Self::NoSpace {
                largest_bytes: 0, ..
            } => "nothing was written; free some space or choose another target".to_owned(),
            Self::NoSpace { largest_bytes, .. } => {
                format!(
                    "nothing was written; choose `--size {}` or less",
                    argument(*largest_bytes)
                )
            }
            _ => self.help_after_the_start(),
        }
    }

    /// The same of what went wrong with a target that could be used.
    fn help_after_the_start(&self) -> String {
        match self {
            Self::RanFull { .. } => {
                "the partial file was removed; choose a smaller `--size`".to_owned()
            }
            Self::PrepareFailed { removed: true, .. } => {
                "the partial file was removed; see the kernel log for the cause".to_owned()
            }
            Self::PrepareFailed { removed: false, .. } => {
                "see the kernel log for the cause".to_owned()
            }
            Self::Interrupted { .. } => "run it again".to_owned(),
            Self::BadManifest { path, .. } => {
                format!(
                    "nothing was removed; look at `{}` and remove it by hand",
                    path.display()
                )
            }
            Self::NoDirect { .. } => "choose `--cache buffered`".to_owned(),
            Self::Replaced { .. } => {
                "nothing more was written; find out what else uses it".to_owned()
            }
            Self::NoTree { .. } => "give a directory as the target".to_owned(),
            Self::BadTreeName { .. } => {
                "give one or more plain names with single slashes between them".to_owned()
            }
            Self::TreeLeft { path, .. } => {
                let work = path.parent().unwrap_or(path);
                format!(
                    "see what holds it, then run `pgmeter clean {}`",
                    work.display()
                )
            }
            Self::NoRemount { .. } => {
                "give a directory on a file system of its own, or empty the caches instead \
                 (`drop-caches`)"
                    .to_owned()
            }
            Self::StaysUnmounted {
                command, target, ..
            } => {
                format!("run `{command}`, then `pgmeter clean {}`", target.display())
            }
            Self::NoDropCaches { .. } => "run as root, or leave the caches as they are".to_owned(),
            Self::NotForWriting { path } => confirm(path, "use"),
            Self::System { source, .. } if is_out_of_files(source) => {
                "raise the limit with `ulimit -n`, or use fewer workers".to_owned()
            }
            _ => "check that the path is accessible and try again".to_owned(),
        }
    }

    pub(crate) fn system(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        let path = path.to_owned();
        let source = source.into();
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::NoPermission { path, action },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly {
                path,
                reason: "its file system is mounted read-only".to_owned(),
            },
            _ => Self::System {
                action,
                path,
                source,
            },
        }
    }
}

fn process(pid: u32) -> String {
    if pid == 0 {
        String::new()
    } else {
        format!(" (process {pid})")
    }
}

fn target_instead(resolved: &Path) -> String {
    let shown = resolved.display();
    format!("to measure what it points to, use `--target {shown}`")
}

fn create(directory: &Path) -> String {
    let shown = directory.display();
    format!("check the path, or create the directory `{shown}`")
}

fn confirm(path: &Path, verb: &str) -> String {
    format!(
        "nothing was written; to {verb} it, add `--overwrite-device {}`",
        path.display()
    )
}

/// Whether this process may open no more files.
fn is_out_of_files(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error())
}
