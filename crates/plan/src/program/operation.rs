//! What can be asked of a file system.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a call of a program asks of the file system.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FileOperation {
    /// Makes a file that must not exist, and leaves it open in the register.
    Create,
    /// Opens an existing file in the register.
    Open,
    /// Closes what the register has open.
    Close,
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Makes data and metadata durable, of what is open or of the directory that a name is in.
    Fsync,
    /// Makes data durable.
    Fdatasync,
    /// Reads the attributes of a name or of what is open.
    Stat,
    /// Removes a file.
    Unlink,
    /// Makes a directory.
    Mkdir,
    /// Removes a directory.
    Rmdir,
    /// Renames a file to the second name.
    Rename,
    /// Adds a hard link at the second name.
    Link,
    /// Adds a symbolic link at the second name.
    Symlink,
    /// Lists the directory that a name is in.
    List,
    /// Sets the length of what is open.
    Truncate,
    /// Lets a name's owner read and write it, and all others read it.
    Chmod,
    /// Makes all file systems of the machine durable.
    Sync,
}

impl FileOperation {
    /// The verb of workload files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Open => "open",
            Self::Close => "close",
            Self::Read => "read",
            Self::Write => "write",
            Self::Fsync => "fsync",
            Self::Fdatasync => "fdatasync",
            Self::Stat => "stat",
            Self::Unlink => "unlink",
            Self::Mkdir => "mkdir",
            Self::Rmdir => "rmdir",
            Self::Rename => "rename",
            Self::Link => "link",
            Self::Symlink => "symlink",
            Self::List => "list",
            Self::Truncate => "truncate",
            Self::Chmod => "chmod",
            Self::Sync => "sync",
        }
    }

    /// Whether it gives a name of its own to something.
    #[must_use]
    pub const fn makes(self) -> bool {
        matches!(self, Self::Create | Self::Mkdir)
    }

    /// Whether it takes a name away.
    #[must_use]
    pub const fn removes(self) -> bool {
        matches!(self, Self::Unlink | Self::Rmdir | Self::Rename)
    }

    /// Whether it takes a second name, which it makes.
    #[must_use]
    pub const fn has_second(self) -> bool {
        matches!(self, Self::Rename | Self::Link | Self::Symlink)
    }

    /// Whether it moves bytes.
    #[must_use]
    pub const fn moves(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }

    /// Whether it opens a file in the register.
    #[must_use]
    pub const fn opens(self) -> bool {
        matches!(self, Self::Create | Self::Open)
    }

    /// Whether it is about directories by name.
    #[must_use]
    pub const fn is_of_directories(self) -> bool {
        matches!(self, Self::Mkdir | Self::Rmdir)
    }
}
