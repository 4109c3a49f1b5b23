//! Errors of the lab.

use std::io;
use std::path::{Path, PathBuf};

use plan::Diagnostic;
use units::format::size;
use units::{Bytes, Percent};

use crate::vm::mentions_memory;

/// File systems that the lab can measure but not create.
const NOT_CREATABLE: [&str; 10] = [
    "ceph", "cifs", "exfat", "fat32", "fuse", "lustre", "nfs", "nfs4", "smb3", "vfat",
];

/// An error that ends a lab.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// The list contains a file system that the lab does not know.
    #[error("the lab does not know the file system `{name}`")]
    UnknownFileSystem {
        /// Name given.
        name: String,
        /// Most similar known name.
        nearest: Option<&'static str>,
        /// File system before it in the list, whose mount option it may be.
        before: Option<String>,
    },
    /// A list of file systems cannot be parsed.
    #[error("`{seen}` is not a list of file systems: {reason}")]
    BadChoice {
        /// Text given.
        seen: String,
        /// Flaw of the list.
        reason: String,
    },
    /// The file system needs a pool that the lab does not create.
    #[error("the lab cannot make {name}, which needs a pool")]
    Pool {
        /// Name of the file system.
        name: &'static str,
    },
    /// The medium is unknown.
    #[error("`{seen}` is neither `loop` nor `zram` nor the path of a block device")]
    BadMedium {
        /// Text given.
        seen: String,
    },
    /// The scale is invalid.
    #[error("`{seen}` is not a scale above 0 and at most 1")]
    BadScale {
        /// Text given.
        seen: String,
    },
    /// The age is invalid.
    #[error("`{seen}` is not an age: {reason}")]
    BadAge {
        /// Text given.
        seen: String,
        /// Flaw of the age.
        reason: String,
    },
    /// Only file systems that the lab creates can be aged.
    #[error("`{}` already exists, so it is not filled to age it", .path.display())]
    CannotAgePath {
        /// The directory.
        path: PathBuf,
    },
    /// Removed files do not free space.
    #[error("`{}` does not free removed files while it ages: files hold {} of the {} in use",
        .path.display(), Bytes(*.held_bytes), Bytes(*.used_bytes))]
    NotFreed {
        /// Directory of the files.
        path: PathBuf,
        /// Bytes of the files.
        held_bytes: u64,
        /// Bytes that the file system reports as used.
        used_bytes: u64,
    },
    /// A workload does not fit on the aged file system, but would fit on an empty one.
    #[error("aged to {fullness}, it has too little space: {reason}")]
    TooFull {
        /// Requested fullness.
        fullness: Percent,
        /// Reason why the workload does not fit.
        reason: String,
    },
    /// The path is not UTF-8, so a plan cannot contain it.
    #[error("`{}` is not UTF-8 text", .path.display())]
    NotUtf8 {
        /// The path, which is not UTF-8.
        path: PathBuf,
    },
    /// The lab was interrupted.
    #[error("interrupted")]
    Stopped,
    /// A program is not installed.
    #[error("{name} needs `{program}`, which is not installed")]
    MissingProgram {
        /// Name of the file system.
        name: String,
        /// Name of the program.
        program: String,
        /// Debian package that contains it.
        package: String,
    },
    /// The kernel does not support the file system.
    #[error("this kernel does not support {name}")]
    UnsupportedByKernel {
        /// Name of the file system.
        name: String,
    },
    /// The guest kernel does not support the file system.
    #[error("User-mode Linux {release} does not support {name}")]
    UnsupportedByGuest {
        /// Name of the file system.
        name: String,
        /// Release of the guest kernel.
        release: String,
    },
    /// The request does not work in a guest.
    #[error("{what} does not work with guests, which have one image with a file system on it")]
    NotInGuest {
        /// Description of the request.
        what: String,
    },
    /// The path cannot be passed to a guest's kernel.
    #[error("`{}` cannot be passed to a guest's kernel", .path.display())]
    UnsupportedPath {
        /// The path, which the kernel's command line cannot contain.
        path: PathBuf,
    },
    /// The guest has too little memory.
    #[error("a guest with {} of memory does not start: it needs at least {}", Bytes(*.bytes),
        Bytes(*.min_bytes))]
    TooLittleMemory {
        /// Requested bytes.
        bytes: u64,
        /// Required bytes.
        min_bytes: u64,
    },
    /// A guest ended without an answer.
    #[error("the guest {how}{}", indented(.console))]
    GuestEnded {
        /// How it ended.
        how: String,
        /// Its last console output.
        console: String,
    },
    /// A guest reported an error.
    #[error("{text}")]
    GuestError {
        /// Text of the error.
        text: String,
    },
    /// Guests do not run here.
    #[error("guests do not run here: {how}{}", indented(.console))]
    NoGuests {
        /// What happened to the test guest.
        how: String,
        /// Its last console output.
        console: String,
    },
    /// The kernel has no such devices.
    #[error("there are no {medium} devices on this system")]
    NoMedium {
        /// The missing kind of device, such as `zram`.
        medium: String,
    },
    /// The request needs root.
    #[error("{what} needs root")]
    NotRoot {
        /// Description of the request.
        what: String,
    },
    /// The image does not fit.
    #[error("an image of {} does not fit: {} are free in `{}`", size(*.size_bytes),
        size(*.free_bytes), .directory.display())]
    NoSpace {
        /// Bytes of the image.
        size_bytes: u64,
        /// Bytes available.
        free_bytes: u64,
        /// Directory of the image.
        directory: PathBuf,
    },
    /// The memory for an image or a tmpfs is not free.
    #[error("an image of {} does not fit: only {} of memory are free", size(*.size_bytes),
        size(*.free_bytes))]
    NoMemory {
        /// Bytes of the image.
        size_bytes: u64,
        /// Bytes available.
        free_bytes: u64,
    },
    /// Mount options where options for mkfs belong.
    #[error("mount options follow `,mount=`, not `:mount=`")]
    MountAsMkfs {
        /// Name of the file system.
        name: &'static str,
        /// The mount options.
        options: String,
    },
    /// The image is too small for the file system.
    #[error("{name} needs at least {}, not {}", Bytes(*.min_bytes), Bytes(*.size_bytes))]
    TooSmall {
        /// Name of the file system.
        name: String,
        /// Bytes required.
        min_bytes: u64,
        /// Bytes available.
        size_bytes: u64,
    },
    /// A system program failed.
    #[error("`{command}` failed ({status}){}", indented(.output))]
    Failed {
        /// Command line of the program.
        command: String,
        /// Exit status.
        status: String,
        /// Output of the program.
        output: String,
    },
    /// Cleaning a log-structured file system does not finish.
    #[error("the cleaner of `{}` does not finish", .device.display())]
    NotCleaned {
        /// Device of the file system.
        device: PathBuf,
    },
    /// A file system cannot be unmounted.
    #[error("`{}` stays mounted: {reason}", .point.display())]
    Busy {
        /// Mount point.
        point: PathBuf,
        /// The processes that use it.
        reason: String,
    },
    /// Something that the lab created could not be removed.
    #[error("{what} was left behind: {reason}")]
    NotRemoved {
        /// Description.
        what: String,
        /// Reason why it could not be removed.
        reason: String,
    },
    /// A directory has the name of a lab, but is not a trusted lab.
    #[error("`{path}` was not touched: {reason}")]
    NotALab {
        /// The directory.
        path: PathBuf,
        /// Reason why it is not a trusted lab.
        reason: String,
    },
    /// The lab's directory is not trusted.
    #[error("`{}` cannot be the lab's directory: {reason}", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Reason why it is not trusted.
        reason: String,
    },
    /// A system call failed.
    #[error("cannot {action} `{}`: {source}", .path.display())]
    System {
        /// The action, as a verb.
        action: &'static str,
        /// The affected path.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// A target cannot be used.
    #[error(transparent)]
    Target(#[from] storage::TargetError),
    /// A workload cannot be planned.
    #[error(transparent)]
    Plan(Box<Diagnostic>),
    /// The record of a guest cannot be read.
    #[error(transparent)]
    Record(#[from] results::ReadError),
}

impl From<Diagnostic> for LabError {
    fn from(refused: Diagnostic) -> Self {
        Self::Plan(Box::new(refused))
    }
}

impl LabError {
    pub(crate) fn system(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::System {
            action,
            path: path.to_owned(),
            source: source.into(),
        }
    }

    /// `true` if the command line is wrong, `false` if this system is the cause.
    #[must_use]
    pub const fn is_usage_error(&self) -> bool {
        matches!(
            self,
            Self::UnknownFileSystem { .. }
                | Self::BadChoice { .. }
                | Self::MountAsMkfs { .. }
                | Self::BadMedium { .. }
                | Self::BadScale { .. }
                | Self::BadAge { .. }
                | Self::CannotAgePath { .. }
                | Self::Pool { .. }
                | Self::TooSmall { .. }
                | Self::NotInGuest { .. }
                | Self::UnsupportedPath { .. }
                | Self::TooLittleMemory { .. }
                | Self::TooFull { .. }
                | Self::NotUtf8 { .. }
                | Self::Plan(_)
        )
    }

    /// Advice: one action.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::GuestEnded { console, .. } | Self::NoGuests { console, .. }
                if mentions_memory(console) =>
            {
                "give it more memory with `--vm-memory`".to_owned()
            }
            Self::UnknownFileSystem { name, .. } if NOT_CREATABLE.contains(&name.as_str()) => {
                format!("mount {name} yourself, and name the mount point: `--fs path:DIR`")
            }
            Self::UnknownFileSystem {
                nearest: Some(near),
                ..
            } => format!("did you mean `{near}`?"),
            Self::UnknownFileSystem {
                name,
                before: Some(before),
                ..
            } => format!("if it is a mount option, write `--fs {before},mount={name}`"),
            Self::Failed { command, .. } if has_mount_options(command) => {
                "check the options after `mount=`".to_owned()
            }
            Self::Pool { name } => format!("create a {name} pool and name it: `--fs path:DIR`"),
            Self::MountAsMkfs { name, options } => format!("write `--fs {name},mount={options}`"),
            Self::MissingProgram { package, .. } => format!("install the package `{package}`"),
            Self::TooSmall { min_bytes, .. } => {
                format!("use `--image-size {}` or more", Bytes(*min_bytes))
            }
            Self::Target(error) => error.help(),
            Self::Plan(refused) => return refused.help.clone(),
            other => return other.fixed_help().map(str::to_owned),
        })
    }

    /// Advice that does not depend on the values.
    fn fixed_help(&self) -> Option<&'static str> {
        Some(match self {
            Self::UnknownFileSystem { .. }
            | Self::UnsupportedByKernel { .. }
            | Self::NoGuests { .. } => "`pgmeter lab list` shows what can be made here",
            Self::BadChoice { .. } => {
                "write `--fs ext4,xfs`, `--fs 'ext4:-O ^has_journal'`, `--fs 'xfs,mount=noatime'` \
                 or `--fs path:DIR`"
            }
            Self::BadScale { .. } => "write `--scale 0.02` for a fiftieth",
            Self::BadAge { .. } => {
                "write `--age 70%`, `--age 70%,churn=2` or `--age 70%,churn=2,extents=1.5`"
            }
            Self::NotFreed { .. } => {
                "only fill it (`--age 70%,churn=0`), or leave out this file system"
            }
            Self::TooFull { .. } => {
                "use a lower `--age`, a larger `--image-size`, or a smaller `--scale` or `--size`"
            }
            Self::CannotAgePath { .. } => {
                "leave out `--age`, or let the lab make the file system with `--fs`"
            }
            Self::BadMedium { .. } => "use `--on loop`, `--on zram` or `--on /dev/NAME`",
            Self::NoMedium { .. } => "load the kernel's module, or use another `--on`",
            Self::NotRoot { .. } => {
                "run as root; `path:DIR`, `tmpfs` and `--vm uml` do not need it"
            }
            Self::NoSpace { .. } => {
                "use a smaller `--image-size`, or another directory with `--dir`"
            }
            Self::NoMemory { .. } => "use a smaller `--image-size`",
            Self::UnsupportedByGuest { .. } | Self::NotInGuest { .. } => {
                "use `--on loop` and file systems that `pgmeter lab list` shows for `--vm uml`"
            }
            Self::TooLittleMemory { .. } => "use `--vm-memory 512m` or more",
            Self::UnsupportedPath { .. } => {
                "use `--dir` and a location of this program without spaces, quotes, commas or \
                 colons"
            }
            Self::NotCleaned { .. } => {
                "mount it without its cleaner: `,mount=nogc`, `,mount=background_gc=off`"
            }
            Self::Busy { .. } | Self::NotRemoved { .. } => {
                "stop the processes that use it, then run `pgmeter lab clean`"
            }
            Self::NotALab { .. } => "check it, and remove it by hand if it is yours",
            Self::Directory { .. } => "name another directory with `--dir`",
            _ => return None,
        })
    }
}

/// `true` for a command line that mounts with options.
fn has_mount_options(command: &str) -> bool {
    command.starts_with("mount ") && command.contains(" -o ")
}

/// The output of a program, indented below the error message.
fn indented(output: &str) -> String {
    let lines = output.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| format!("\n  {line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_with_options_that_fails_points_at_them() {
        let failed = |command: &str| LabError::Failed {
            command: command.to_owned(),
            status: "exit status: 32".to_owned(),
            output: String::new(),
        };
        let help = failed("mount -t ext4 -o noatimee /dev/loop0 /mnt").help();
        assert_eq!(help.as_deref(), Some("check the options after `mount=`"));
        assert_eq!(failed("mount -t ext4 /dev/loop0 /mnt").help(), None);
        assert_eq!(failed("mkfs.ext4 -o noatimee").help(), None);
    }
}
