//! The primitive operations, each with its own counters and histogram.

/// A primitive operation on a file or a directory.
///
/// Engines for file operations ([`PsyncFiles`](crate::PsyncFiles),
/// [`UringFiles`](crate::UringFiles)) take a request's numbers as told at each operation: "the
/// name" is that of `file_index` in the fileset, "the handle" is what Create or Open left open in
/// the slot, or in the register of it that the request says.
/// Where the rule of the names wants it told ([`Spread::Told`](crate::Spread)), `length_bytes` of
/// an operation on names is their directory. "The other name" is the [`SecondName`] whose code is
/// `offset_bytes`, also of another fileset; a directory told is that of both.
///
/// [`SecondName`]: crate::SecondName
///
/// Engines on open files know the first four and SyncFileRange, whose `handle` says what it does,
/// and Open and Close as they are told to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Operation {
    /// Read bytes at an offset: the handle.
    Read,
    /// Write bytes at an offset: the handle.
    Write,
    /// Make data and metadata durable: the handle; with [`Aim::Directory`](crate::Aim)'s code as
    /// `offset_bytes` the directory that the name is in, which is opened, synced and closed; a slot
    /// that has one file open at most must have none.
    Fsync,
    /// Make data durable: the handle.
    Fdatasync,
    /// Open an existing file: the name; `offset_bytes` is an [`Access`](crate::Access)'s code or
    /// an [`OpenWay`](crate::OpenWay)'s.
    Open,
    /// Create a file, which must not exist: the name; `offset_bytes` is an
    /// [`OpenWay`](crate::OpenWay)'s code, or 0.
    Create,
    /// Close an open file: the handle.
    Close,
    /// Read a file's attributes: what `offset_bytes`, an [`Aim`](crate::Aim)'s code, says.
    Stat,
    /// Remove a file: the name.
    Unlink,
    /// Create a directory: the name or the one it is in, by the [`Aim`](crate::Aim).
    Mkdir,
    /// Remove a directory: the name or the one it is in, by the [`Aim`](crate::Aim).
    Rmdir,
    /// Rename a file: the name, to the other name.
    Rename,
    /// Add a hard link: to the name, at the other name.
    Link,
    /// Add a symbolic link: with the name's last component as its text, at the other name. It
    /// leads to the file where both are in one directory; from another directory it leads to what
    /// has that name there, or nowhere.
    Symlink,
    /// Read a directory's entries: the name or the directory it is in, by the
    /// [`Aim`](crate::Aim); opened, read to the end and closed. The result is their bytes as
    /// `readdir(3)` hands them over: 279 and the length of the name, `.` and `..` included.
    Readdir,
    /// Set a file's length: the handle, to `offset_bytes`.
    Truncate,
    /// Reserve space for a file: the handle, `length_bytes` from `offset_bytes`.
    Fallocate,
    /// Start writeback of a range: the handle, `length_bytes` from `offset_bytes`, 0 meaning to
    /// the end.
    SyncFileRange,
    /// Set an extended attribute: the handle, to `length_bytes` of the slot's buffer.
    Setxattr,
    /// Get an extended attribute: the handle, at most `length_bytes` into the slot's buffer; the
    /// result is its length.
    Getxattr,
    /// Read a file from its start: the name, opened to read, read once, at most `length_bytes`,
    /// and closed, which is three calls in one request; a slot that has one file open at most must
    /// have none. Where the rule of the names wants it told, `offset_bytes` is their directory. The
    /// result is the read's, or that of what failed first.
    ReadWhole,
    /// Set a file's permissions: the name, to the bits that `offset_bytes` is.
    Chmod,
    /// Make all file systems of the machine durable: nothing.
    Sync,
    /// Read the entries of the directory that the name is in until one equals its last component,
    /// in letters of either case, or, where `offset_bytes` is not 0, until so many were read;
    /// opened and closed. The result is how many were read.
    Search,
    /// Read the attributes of the file system that the first directory of the fileset is on.
    Statfs,
    /// Set a file's times of last access and change: the name, to `offset_bytes` seconds after the
    /// beginning of 1970.
    Utime,
    /// Lock `length_bytes` from `offset_bytes` against writing by others, waiting for them: the
    /// handle.
    Lock,
    /// Give back a lock: the handle, `length_bytes` from `offset_bytes`.
    Unlock,
    /// Remove all files in a directory and in those below it, which stay: the name. A link is
    /// removed, never followed.
    EmptyTree,
    /// Read the next name of the directory that the name is in, which is opened first where
    /// `offset_bytes` is not 0, and closed behind its last name. The result is 1 more than the
    /// number of the file of that name in the fileset; 0 behind the last. Names of no file of the
    /// fileset are passed over. An engine without files returns `length_bytes`.
    NextEntry,
}

impl Operation {
    /// How many operations there are.
    pub const COUNT: usize = 30;

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
    ];

    /// Whether it makes durable what was written before.
    #[must_use]
    pub const fn is_sync(self) -> bool {
        matches!(self, Self::Fsync | Self::Fdatasync | Self::SyncFileRange)
    }

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
        }
    }

    /// Whether the operation reads or writes the slot's buffer.
    #[must_use]
    pub(crate) const fn uses_buffer(self) -> bool {
        matches!(
            self,
            Self::Read | Self::Write | Self::Setxattr | Self::Getxattr | Self::ReadWhole
        )
    }

    /// Whether no ring knows the operation, so that it is done by system calls.
    #[must_use]
    pub(crate) const fn is_by_call(self) -> bool {
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

    /// Whether the operation carries bytes of file content.
    #[must_use]
    pub const fn moves_bytes(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::ReadWhole)
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
