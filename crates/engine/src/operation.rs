//! The primitive operations, each with its own counters and histogram.

/// A primitive operation on a file or a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Operation {
    /// Read bytes at an offset.
    Read,
    /// Write bytes at an offset.
    Write,
    /// Make data and metadata durable.
    Fsync,
    /// Make data durable.
    Fdatasync,
    /// Open an existing file.
    Open,
    /// Create a file, which must not exist.
    Create,
    /// Close an open file.
    Close,
    /// Read a file's attributes.
    Stat,
    /// Remove a file.
    Unlink,
    /// Create a directory.
    Mkdir,
    /// Remove a directory.
    Rmdir,
    /// Rename a file.
    Rename,
    /// Add a hard link.
    Link,
    /// Add a symbolic link.
    Symlink,
    /// Read a directory's entries.
    Readdir,
    /// Set a file's length.
    Truncate,
    /// Reserve space for a file.
    Fallocate,
    /// Start writeback of a range.
    SyncFileRange,
    /// Set an extended attribute.
    Setxattr,
    /// Get an extended attribute.
    Getxattr,
}

impl Operation {
    /// How many operations there are.
    pub const COUNT: usize = 20;

    /// Every operation, in the order of its number.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Read,
        Self::Write,
        Self::Fsync,
        Self::Fdatasync,
        Self::Open,
        Self::Create,
        Self::Close,
        Self::Stat,
        Self::Unlink,
        Self::Mkdir,
        Self::Rmdir,
        Self::Rename,
        Self::Link,
        Self::Symlink,
        Self::Readdir,
        Self::Truncate,
        Self::Fallocate,
        Self::SyncFileRange,
        Self::Setxattr,
        Self::Getxattr,
    ];

    /// The name in records and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Fsync => "fsync",
            Self::Fdatasync => "fdatasync",
            Self::Open => "open",
            Self::Create => "create",
            Self::Close => "close",
            Self::Stat => "stat",
            Self::Unlink => "unlink",
            Self::Mkdir => "mkdir",
            Self::Rmdir => "rmdir",
            Self::Rename => "rename",
            Self::Link => "link",
            Self::Symlink => "symlink",
            Self::Readdir => "readdir",
            Self::Truncate => "truncate",
            Self::Fallocate => "fallocate",
            Self::SyncFileRange => "sync_file_range",
            Self::Setxattr => "setxattr",
            Self::Getxattr => "getxattr",
        }
    }

    /// Whether the operation carries bytes of file content.
    #[must_use]
    pub const fn moves_bytes(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }
}

/// A set of operations: what a cell will use, so that only that is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OperationSet(u32);

impl OperationSet {
    /// The set without members.
    pub const EMPTY: Self = Self(0);

    /// The set with `operation` added.
    #[must_use]
    pub const fn with(self, operation: Operation) -> Self {
        Self(self.0 | 1 << operation as u32)
    }

    /// Whether `operation` is a member.
    #[must_use]
    pub const fn contains(self, operation: Operation) -> bool {
        self.0 >> operation as u32 & 1 == 1
    }

    /// The members, in the order of their number.
    pub fn iter(self) -> impl Iterator<Item = Operation> {
        Operation::ALL
            .into_iter()
            .filter(move |operation| self.contains(*operation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_stands_at_its_own_number() {
        for (index, operation) in Operation::ALL.into_iter().enumerate() {
            assert_eq!(index, operation as usize);
        }
    }

    #[test]
    fn a_set_holds_what_was_added_and_nothing_else() {
        let set = OperationSet::EMPTY
            .with(Operation::Write)
            .with(Operation::Getxattr);
        assert_eq!(
            set.iter().collect::<Vec<_>>(),
            [Operation::Write, Operation::Getxattr]
        );
    }
}
