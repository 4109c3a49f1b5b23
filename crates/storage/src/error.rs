//! Errors of targets, with advice.

use std::io;
use std::path::{Path, PathBuf};

use plan::facts::min_free_bytes;

use crate::sizes::{argument, size};

/// An error of a target.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// The target does not exist and cannot be created.
    #[error("target `{path}` does not exist, and neither does the directory it would be in")]
    Missing {
        /// Path given.
        path: PathBuf,
        /// The missing directory.
        parent: PathBuf,
    },
    /// The target does not exist, and creating it was not allowed.
    #[error("target `{path}` does not exist")]
    NotFound {
        /// Path given.
        path: PathBuf,
    },
    /// There is nothing to clean.
    #[error("`{path}` does not exist")]
    NothingToClean {
        /// Path given.
        path: PathBuf,
    },
    /// The path ends in a slash or dots, so it means a directory, which does not exist.
    #[error("directory `{path}` does not exist")]
    NoSuchDirectory {
        /// Path given.
        path: PathBuf,
    },
    /// The target is on a file system mounted read-only, or is a read-only device.
    #[error("target `{path}` is read-only ({reason})")]
    ReadOnly {
        /// Path given.
        path: PathBuf,
        /// Reason why it is read-only.
        reason: String,
    },
    /// The last component of the path is a symbolic link.
    #[error("target `{path}` is a symbolic link to `{points_to}`")]
    Symlink {
        /// Path given.
        path: PathBuf,
        /// Content of the link.
        points_to: PathBuf,
        /// Destination of the link, if it exists.
        resolved: Option<PathBuf>,
    },
    /// The kernel denied access.
    #[error("no permission to {action} `{path}`")]
    NoPermission {
        /// Path that was denied.
        path: PathBuf,
        /// The action, as a verb: `read`, `write to`.
        action: &'static str,
    },
    /// A file that pgmeter did not create has the path of the test file.
    #[error("`{path}` exists and was not created by pgmeter")]
    PathTaken {
        /// The file or directory in the way.
        path: PathBuf,
    },
    /// The target is a file that pgmeter did not create, and the run would write to it.
    #[error("`{path}` exists and was not created by pgmeter")]
    FileExists {
        /// The file.
        path: PathBuf,
    },
    /// A file for reading is smaller than requested.
    #[error(
        "`{path}` has {available}, not the {wanted} requested",
        available = size(*available_bytes), wanted = size(*wanted_bytes)
    )]
    FileTooSmall {
        /// The file.
        path: PathBuf,
        /// Size of the file, in bytes.
        available_bytes: u64,
        /// Requested size, in bytes.
        wanted_bytes: u64,
    },
    /// A work directory, manifest or test file belongs to another user.
    #[error("`{path}` belongs to another user ({uid})")]
    OtherOwner {
        /// The file or directory.
        path: PathBuf,
        /// User ID of the owner.
        uid: u32,
    },
    /// The path is a character device, pipe or socket.
    #[error("target `{path}` is a {kind}, not a directory, file or block device")]
    WrongKind {
        /// Path given.
        path: PathBuf,
        /// Kind of file.
        kind: &'static str,
    },
    /// The path is in a file system such as `/proc`, whose files the kernel makes.
    #[error("target `{}` is in a file system of the kernel, not on a disk", .0.display())]
    KernelFiles(PathBuf),
    /// Another run uses the target.
    #[error("target `{path}` is in use by another pgmeter{}", process(*pid))]
    InUse {
        /// The work directory or file.
        path: PathBuf,
        /// Process ID of the other run; 0 if unknown.
        pid: u32,
    },
    /// A block device without known content, not confirmed for overwriting.
    #[error(
        "`{path}` is a block device ({size}), and all it holds would be lost",
        size = size(*size_bytes)
    )]
    Unconfirmed {
        /// The device.
        path: PathBuf,
        /// Size of the device, in bytes.
        size_bytes: u64,
    },
    /// A block device with known content, not confirmed for overwriting.
    #[error("`{path}` holds {content}")]
    Signature {
        /// The device.
        path: PathBuf,
        /// Its content, such as `a file system (xfs, label `x`)`.
        content: String,
    },
    /// A device was meant, but none has this name.
    #[error("`{path}` {}", if *exists { "is not a block device" } else { "does not exist" })]
    NoDevice {
        /// Path given.
        path: PathBuf,
        /// `true` if something else has this name.
        exists: bool,
    },
    /// A block device is in use; no option overrides this.
    #[error("`{path}` is in use: {usage}")]
    DeviceBusy {
        /// The device.
        path: PathBuf,
        /// How it is used.
        usage: String,
        /// How to free it, as a clause for the help line.
        release: String,
    },
    /// The device is smaller than requested.
    #[error(
        "`{path}` has {available}, not the {wanted} requested",
        available = size(*available_bytes), wanted = size(*wanted_bytes)
    )]
    DeviceTooSmall {
        /// The device.
        path: PathBuf,
        /// Size of the device, in bytes.
        available_bytes: u64,
        /// Requested size, in bytes.
        wanted_bytes: u64,
    },
    /// The test file would leave too little free space.
    #[error(
        "`{path}` has {free} free of {total}; a test file of {wanted} would leave less than \
         {kept} free",
        free = size(*free_bytes), total = size(*total_bytes), wanted = size(*wanted_bytes),
        kept = size(min_free_bytes(*total_bytes))
    )]
    NoSpace {
        /// The directory.
        path: PathBuf,
        /// Bytes available to this user.
        free_bytes: u64,
        /// Size of the file system, in bytes.
        total_bytes: u64,
        /// Requested size, in bytes.
        wanted_bytes: u64,
        /// Largest possible size, in bytes; 0 if none.
        largest_bytes: u64,
    },
    /// The file system or quota ran full while the test file was written.
    #[error(
        "`{path}` ran out of space after {done} of {wanted} ({source})",
        done = size(*done_bytes), wanted = size(*wanted_bytes)
    )]
    RanOutOfSpace {
        /// The test file.
        path: PathBuf,
        /// Bytes written.
        done_bytes: u64,
        /// Requested size, in bytes.
        wanted_bytes: u64,
        /// Error of the kernel.
        source: io::Error,
    },
    /// Writing during the preparation failed.
    #[error("writing `{path}` failed at byte {offset_bytes}: {source}")]
    PrepareFailed {
        /// The test file or device.
        path: PathBuf,
        /// Offset of the failed write, in bytes.
        offset_bytes: u64,
        /// Error of the kernel.
        source: io::Error,
        /// `true` if the data written before was removed.
        removed: bool,
    },
    /// The user stopped the preparation.
    #[error("preparation of `{path}` was interrupted")]
    Interrupted {
        /// The target.
        path: PathBuf,
    },
    /// The manifest has content that pgmeter does not write.
    #[error("manifest `{path}` cannot be trusted: {reason}")]
    BadManifest {
        /// The manifest.
        path: PathBuf,
        /// Flaw of the manifest.
        reason: String,
    },
    /// The file system refuses `O_DIRECT`.
    #[error("the file system of `{path}` ({file_system}) does not support direct I/O")]
    NoDirect {
        /// The file.
        path: PathBuf,
        /// Type of its file system.
        file_system: String,
    },
    /// The file or device was replaced since it was admitted.
    #[error("`{path}` was replaced while it was in use")]
    Replaced {
        /// The path, which now leads to another file.
        path: PathBuf,
    },
    /// A file or device cannot contain a tree.
    #[error("`{path}` is not a directory, and this workload needs one for its files")]
    NotADirectory {
        /// The target.
        path: PathBuf,
    },
    /// A name is invalid or leads out of a tree.
    #[error("`{}` is not the name of a directory in a tree", name.escape_debug())]
    BadTreeName {
        /// The name, which is empty, absolute or special.
        name: String,
    },
    /// A tree could not be removed completely.
    #[error(
        "{left_count} files and directories in `{path}` could not be removed, the first is \
         `{first}`: {source}"
    )]
    TreeNotRemoved {
        /// The tree.
        path: PathBuf,
        /// Number of remaining entries, including the tree.
        left_count: u64,
        /// The first remaining entry.
        first: PathBuf,
        /// Error of the kernel for the first entry.
        source: io::Error,
    },
    /// The file system cannot be unmounted and mounted again.
    #[error("`{path}` cannot be unmounted and mounted again: {reason}")]
    NoRemount {
        /// Mount point of the file system, or the target.
        path: PathBuf,
        /// Reason why it cannot be mounted again.
        reason: String,
    },
    /// The file system was unmounted and could not be mounted again.
    #[error("`{path}` was unmounted and cannot be mounted again: {source}")]
    RemountFailed {
        /// Mount point of the file system.
        path: PathBuf,
        /// Command to mount it.
        command: String,
        /// Directory of the run.
        target: PathBuf,
        /// Error of the kernel.
        source: io::Error,
    },
    /// The kernel's caches cannot be dropped.
    #[error("cannot drop the kernel's caches: {source}")]
    NoDropCaches {
        /// Error of the kernel.
        source: io::Error,
    },
    /// A device admitted for reading cannot be written.
    #[error("`{path}` was opened for reading only")]
    OpenedReadOnly {
        /// The device.
        path: PathBuf,
    },
    /// A system call failed.
    #[error("cannot {action} `{path}`: {source}")]
    System {
        /// The action, as a verb.
        action: &'static str,
        /// The affected path.
        path: PathBuf,
        /// Error of the kernel.
        source: io::Error,
    },
}

impl TargetError {
    /// Advice: one action, without the prefix `help:`.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NothingToClean { .. } => {
                "give the target of the interrupted run, as in its `--target`".to_owned()
            }
            Self::Missing { path, parent } => missing(path, parent),
            Self::NotFound { .. } => {
                "nothing was written; name an existing directory, file or device, or add \
                 `--create` to create a test file there"
                    .to_owned()
            }
            Self::NoSuchDirectory { path } => create(path),
            Self::ReadOnly { .. } => "choose a writable target".to_owned(),
            Self::Symlink {
                resolved: Some(resolved),
                ..
            } => suggest_resolved_target(resolved),
            Self::Symlink { resolved: None, .. } => {
                "the link is dangling; give the path of a directory".to_owned()
            }
            Self::NoPermission { .. } => {
                "choose a target that you have access to, or run as its owner".to_owned()
            }
            Self::PathTaken { path } => format!(
                "nothing was written; instead of `{}`, give a directory or a new file name",
                path.display()
            ),
            Self::FileExists { path } => format!(
                "nothing was written; instead of `{}`, give a directory or a new file name, or run \
                 a workload that only reads",
                path.display()
            ),
            Self::FileTooSmall {
                available_bytes: 0, ..
            } => "nothing was written; name a file that is not empty".to_owned(),
            Self::OtherOwner { .. } => {
                "nothing was changed; run as its owner, or choose another target".to_owned()
            }
            Self::WrongKind { .. } | Self::KernelFiles(_) => {
                "nothing was written; give a directory, a new file or a block device".to_owned()
            }
            Self::InUse { .. } => "wait until it is done, or choose another target".to_owned(),
            Self::Unconfirmed { path, .. } => overwrite_help(path, "use"),
            Self::Signature { path, .. } => overwrite_help(path, "destroy"),
            Self::NoDevice { .. } => {
                "nothing was written; `lsblk --paths` lists the block devices".to_owned()
            }
            Self::DeviceBusy { release, .. } => format!("nothing was written; {release}"),
            Self::DeviceTooSmall {
                available_bytes, ..
            }
            | Self::FileTooSmall {
                available_bytes, ..
            } => at_most(*available_bytes),
            Self::NoSpace {
                largest_bytes: 0, ..
            } => "nothing was written; free some space or choose another target".to_owned(),
            Self::NoSpace { largest_bytes, .. } => {
                format!(
                    "nothing was written; choose `--size {}` or less",
                    argument(*largest_bytes)
                )
            }
            _ => self.help_after_start(),
        }
    }

    /// Advice on errors after the target was admitted.
    fn help_after_start(&self) -> String {
        match self {
            Self::RanOutOfSpace { .. } => {
                "the partial file was removed; choose a smaller `--size`".to_owned()
            }
            Self::PrepareFailed { removed: true, .. } => {
                "the partial file was removed; see the kernel log for the cause".to_owned()
            }
            Self::PrepareFailed { removed: false, .. } => {
                "see the kernel log for the cause".to_owned()
            }
            Self::Interrupted { .. } => "run it again".to_owned(),
            Self::BadManifest { path, .. } => format!(
                "nothing was removed; look at `{}` and remove it by hand",
                path.display()
            ),
            Self::NoDirect { .. } => "choose `--cache buffered`".to_owned(),
            Self::Replaced { .. } => {
                "nothing more was written; find out what else uses it".to_owned()
            }
            Self::NotADirectory { .. } => "give a directory as the target".to_owned(),
            Self::BadTreeName { .. } => {
                "give one or more plain names with single slashes between them".to_owned()
            }
            Self::TreeNotRemoved { path, .. } => {
                let work = path.parent().unwrap_or(path);
                format!(
                    "see what holds it, then run `pgmeter clean {}`",
                    work.display()
                )
            }
            Self::NoRemount { .. } => {
                "give a directory on a separate file system, or drop the caches instead \
                 (`drop-caches`)"
                    .to_owned()
            }
            Self::RemountFailed {
                command, target, ..
            } => {
                format!("run `{command}`, then `pgmeter clean {}`", target.display())
            }
            Self::NoDropCaches { .. } => "run as root, or leave the caches as they are".to_owned(),
            Self::OpenedReadOnly { path } => overwrite_help(path, "use"),
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

fn suggest_resolved_target(resolved: &Path) -> String {
    let shown = resolved.display();
    format!("to measure what it points to, use `--target {shown}`")
}

fn at_most(available_bytes: u64) -> String {
    match argument(available_bytes).as_str() {
        "0k" => "nothing was written; name a larger target".to_owned(),
        size => format!("choose `--size {size}` or less"),
    }
}

fn missing(path: &Path, parent: &Path) -> String {
    let text = path.to_string_lossy();
    let (first, _) = text.split_once('/').unwrap_or_default();
    match first {
        "~" => "write `$HOME` instead of `~`, which the shell did not expand here".to_owned(),
        // Such as `server:/export`.
        host if host.ends_with(':') => {
            "mount it first, and name the directory where it is mounted".to_owned()
        }
        _ => create(parent),
    }
}

fn create(directory: &Path) -> String {
    let shown = directory.display();
    format!("check the path, or create the directory `{shown}`")
}

fn overwrite_help(path: &Path, verb: &str) -> String {
    format!(
        "nothing was written; to {verb} it, add `--overwrite-device {}`",
        path.display()
    )
}

/// `true` if this process cannot open more files.
fn is_out_of_files(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error())
}
