//! What can be asked of a file system.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a call of a program asks of the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
}
