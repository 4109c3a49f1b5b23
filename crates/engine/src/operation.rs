//! The primitive operations, each with its own counters and histogram.

/// A primitive operation on a file or a directory.
///
/// Engines for file operations ([`PsyncFiles`](crate::PsyncFiles),
/// [`UringFiles`](crate::UringFiles)) interpret a request's numbers as described at each operation.
/// "The name" is the name of `file_index` in the fileset. "The handle" is the file that Create or
/// Open left open in the slot, or in the register of the slot that the request selects. If requests
/// select the directory of a name ([`Spread::ByRequest`](crate::Spread)), `length_bytes` of an
/// operation on names is that directory. "The other name" is the [`SecondName`] whose code is
/// `offset_bytes`, which may be in another fileset; a selected directory applies to both names.
///
/// [`SecondName`]: crate::SecondName
///
/// Engines on open files support the first four and SyncFileRange, whose flags are in `handle`.
/// They support Open and Close if they have recipes for reopening, and Trim if they were prepared
/// for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Operation {
    /// Read bytes at an offset: the handle.
    Read,
    /// Write bytes at an offset: the handle.
    Write,
    /// Make data and metadata durable: the handle. If `offset_bytes` is the code of
    /// [`RequestObject::Directory`](crate::RequestObject), the directory that contains the name is
    /// opened, synced and closed instead. A slot that holds at most one open file must then have
    /// none.
    Fsync,
    /// Make data durable: the handle.
    Fdatasync,
    /// Open an existing file: the name; `offset_bytes` is the code of an
    /// [`OpenAccess`](crate::OpenAccess) or an [`OpenModeIndex`](crate::OpenModeIndex).
    Open,
    /// Create a file, which must not exist: the name; `offset_bytes` is an
    /// [`OpenModeIndex`](crate::OpenModeIndex)'s code, or 0.
    Create,
    /// Close an open file: the handle.
    Close,
    /// Read a file's attributes. `offset_bytes` is the code of a
    /// [`RequestObject`](crate::RequestObject), which selects the object.
    Stat,
    /// Remove a file: the name.
    Unlink,
    /// Create a directory: the name or its directory, by the
    /// [`RequestObject`](crate::RequestObject).
    Mkdir,
    /// Remove a directory: the name or its directory, by the
    /// [`RequestObject`](crate::RequestObject).
    Rmdir,
    /// Rename a file: the name, to the other name.
    Rename,
    /// Add a hard link: to the name, at the other name.
    Link,
    /// Add a symbolic link at the other name; its target is the last component of the name. It
    /// leads to the file if both are in one directory. In another directory it leads to an entry
    /// with the same name there, if any.
    Symlink,
    /// Read a directory's entries: the name or its directory, by the
    /// [`RequestObject`](crate::RequestObject). The directory is opened, read to the end and
    /// closed. The result is the size of all entries as returned by `readdir(3)`: 279 bytes plus
    /// the name each, including `.` and `..`.
    Readdir,
    /// Set a file's length: the handle, to `offset_bytes`.
    Truncate,
    /// Reserve space for a file: the handle, `length_bytes` from `offset_bytes`.
    Fallocate,
    /// Start writeback of a range: the handle, `length_bytes` from `offset_bytes`; 0 means to the
    /// end.
    SyncFileRange,
    /// Set the extended attribute with the index `offset_bytes`: the handle, to `length_bytes` of
    /// the slot's buffer.
    Setxattr,
    /// Get the extended attribute with the index `offset_bytes`: the handle, at most `length_bytes`
    /// into the slot's buffer. The result is the length of the attribute.
    Getxattr,
    /// Read a file from its start: the name. The file is opened for reading, read once, at most
    /// `length_bytes`, and closed: three calls in one request. A slot that holds at most one open
    /// file must have none. If requests select the directory, it is in `offset_bytes`. The result
    /// is that of the read, or of the first call that failed.
    ReadWhole,
    /// Set a file's permissions: the name, to the bits in `offset_bytes`.
    Chmod,
    /// Make all file systems of the machine durable. Uses no name and no handle.
    Sync,
    /// Read the entries of the directory that contains the name until one equals its last
    /// component, ignoring case. If `offset_bytes` is not 0, read that many entries instead. The
    /// directory is opened and closed. The result is the number of entries read.
    Search,
    /// Read the attributes of the file system that contains the first directory of the fileset.
    Statfs,
    /// Set a file's access and modification times: the name, to `offset_bytes` seconds since the
    /// start of 1970.
    Utime,
    /// Lock `length_bytes` from `offset_bytes` against other locks, waiting until they are
    /// released: the handle. A length of 0 means to the end of the file. With
    /// [`Request::SHARED_LOCK`](crate::Request::SHARED_LOCK), the lock is shared.
    Lock,
    /// Release a lock: the handle, `length_bytes` from `offset_bytes`.
    Unlock,
    /// Remove all files in a directory and its subdirectories, but not the directories: the name. A
    /// link is removed, never followed.
    EmptyTree,
    /// Read the next name of the directory that contains the name. If `offset_bytes` is not 0, the
    /// directory is opened first; it is closed after its last name. The result is 1 plus the number
    /// of the file with that name in the fileset, or 0 after the last name. Names that are not in
    /// the fileset are skipped. An engine without files returns `length_bytes`.
    NextEntry,
    /// Discard a range of a device, or punch a hole into a file: `length_bytes` from
    /// `offset_bytes`. The result is 0.
    Trim,
}

impl Operation {
    /// Number of operations.
    pub const COUNT: usize = 31;

    /// All operations in numerical order.
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
        Self::ReadWhole,
        Self::Chmod,
        Self::Sync,
        Self::Search,
        Self::Statfs,
        Self::Utime,
        Self::Lock,
        Self::Unlock,
        Self::EmptyTree,
        Self::NextEntry,
        Self::Trim,
    ];

    /// `true` if the operation makes earlier writes durable.
    #[must_use]
    pub const fn is_sync(self) -> bool {
        matches!(self, Self::Fsync | Self::Fdatasync | Self::SyncFileRange)
    }

    /// Name in records and reports.
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
            Self::ReadWhole => "read_whole",
            Self::Chmod => "chmod",
            Self::Sync => "sync",
            Self::Search => "search",
            Self::Statfs => "statfs",
            Self::Utime => "utime",
            Self::Lock => "lock",
            Self::Unlock => "unlock",
            Self::EmptyTree => "empty_tree",
            Self::NextEntry => "next_entry",
            Self::Trim => "trim",
        }
    }

    /// `true` if the operation reads or writes the slot's buffer.
    #[must_use]
    pub(crate) const fn uses_buffer(self) -> bool {
        matches!(
            self,
            Self::Read | Self::Write | Self::Setxattr | Self::Getxattr | Self::ReadWhole
        )
    }

    /// `true` if io_uring does not support the operation. It then needs system calls.
    #[must_use]
    pub(crate) const fn needs_system_call(self) -> bool {
        matches!(
            self,
            Self::Readdir
                | Self::Chmod
                | Self::Sync
                | Self::Search
                | Self::Statfs
                | Self::Utime
                | Self::Lock
                | Self::Unlock
                | Self::EmptyTree
                | Self::NextEntry
        )
    }

    /// `true` if the operation transfers or discards file content.
    #[must_use]
    pub const fn moves_bytes(self) -> bool {
        matches!(
            self,
            Self::Read | Self::Write | Self::ReadWhole | Self::Trim
        )
    }
}

/// A set of operations: those that a cell uses, so that only their counters are allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OperationSet(u32);

impl OperationSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// The set with `operation` added.
    #[must_use]
    pub const fn with(self, operation: Operation) -> Self {
        Self(self.0 | 1 << operation as u32)
    }

    /// `true` if `operation` is a member.
    #[must_use]
    pub const fn contains(self, operation: Operation) -> bool {
        self.0 >> operation as u32 & 1 == 1
    }

    /// The members in numerical order.
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
    fn operations_are_listed_in_the_order_of_their_numbers() {
        for (index, operation) in Operation::ALL.into_iter().enumerate() {
            assert_eq!(index, operation as usize);
        }
    }

    #[test]
    fn a_set_holds_exactly_the_added_operations() {
        let set = OperationSet::EMPTY
            .with(Operation::Write)
            .with(Operation::Getxattr);
        assert_eq!(
            set.iter().collect::<Vec<_>>(),
            [Operation::Write, Operation::Getxattr]
        );
    }
}
