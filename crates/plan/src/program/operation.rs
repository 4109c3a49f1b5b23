//! Operations on a file system.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Operation of a call.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FileOperation {
    /// Creates a file that must not exist, and leaves it open in the register.
    Create,
    /// Opens an existing file in the register.
    Open,
    /// Closes the file in the register.
    Close,
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Makes data and metadata durable, of an open file or of the directory that contains a name.
    Fsync,
    /// Makes data durable.
    Fdatasync,
    /// Reads the attributes of a name or of an open file.
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
    /// Lists the directory that contains a name.
    List,
    /// Sets the length of an open file.
    Truncate,
    /// Sets the permissions of a name to 0644.
    Chmod,
    /// Makes all file systems of the machine durable.
    Sync,
    /// Locks an open file as a whole against all other locks, and waits until they are released.
    Lock,
    /// Locks an open file as a whole, together with other readers.
    LockShared,
    /// Releases the lock of an open file.
    Unlock,
    /// Sets an extended attribute of an open file to a number of bytes.
    Setxattr,
    /// Reads an extended attribute of an open file, up to a number of bytes.
    Getxattr,
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
            Self::Lock => "lock",
            Self::LockShared => "lock-shared",
            Self::Unlock => "unlock",
            Self::Setxattr => "setxattr",
            Self::Getxattr => "getxattr",
        }
    }

    /// `true` if it creates the name of a file or directory.
    #[must_use]
    pub const fn makes(self) -> bool {
        matches!(self, Self::Create | Self::Mkdir)
    }

    /// `true` if it removes a name.
    #[must_use]
    pub const fn removes(self) -> bool {
        // A rename removes its first name.
        matches!(self, Self::Unlink | Self::Rmdir | Self::Rename)
    }

    /// `true` if it has a second name, which it creates.
    #[must_use]
    pub const fn has_second_name(self) -> bool {
        matches!(self, Self::Rename | Self::Link | Self::Symlink)
    }

    /// `true` if it moves data.
    #[must_use]
    pub const fn moves(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }

    /// `true` if it passes the value of an extended attribute.
    #[must_use]
    pub const fn has_attribute(self) -> bool {
        matches!(self, Self::Setxattr | Self::Getxattr)
    }

    /// `true` if it opens a file in the register.
    #[must_use]
    pub const fn opens(self) -> bool {
        matches!(self, Self::Create | Self::Open)
    }

    /// `true` if it works on directories by name.
    #[must_use]
    pub const fn works_on_directories(self) -> bool {
        matches!(self, Self::Mkdir | Self::Rmdir)
    }
}
