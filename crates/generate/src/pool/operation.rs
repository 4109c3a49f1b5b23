//! Operations of a stream.

/// A step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolStep {
    /// A phase begins or ends, or a tenth of the transactions is done.
    Mark(PoolMark),
    /// Make a subdirectory.
    MakeDirectory(PoolDirectory),
    /// Make a file and write it.
    Create {
        /// File to create.
        file: PoolFile,
        /// Bytes to write, from the start of the text.
        size_bytes: u32,
    },
    /// Read a whole file.
    Read {
        /// File to read.
        file: PoolFile,
        /// Size of the file.
        size_bytes: u32,
    },
    /// Write at a file's end.
    Append {
        /// File to append to.
        file: PoolFile,
        /// Size before the operation.
        size_bytes: u32,
        /// Bytes to write, from the start of the text.
        appended_bytes: u32,
    },
    /// Remove a file.
    Delete {
        /// File to remove.
        file: PoolFile,
    },
    /// Remove a subdirectory.
    RemoveDirectory(PoolDirectory),
}

impl PoolStep {
    /// The file of the operation, if it has one.
    #[inline]
    #[must_use]
    pub const fn file(&self) -> Option<PoolFile> {
        match *self {
            Self::Create { file, .. }
            | Self::Read { file, .. }
            | Self::Append { file, .. }
            | Self::Delete { file } => Some(file),
            Self::MakeDirectory(_) | Self::RemoveDirectory(_) | Self::Mark(_) => None,
        }
    }
}

/// A file of the pool; its name is derived from these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolFile {
    /// Slot in the table, 0-based; unique among existing files.
    pub slot_index: u32,
    /// Number of the file's creation, from 1.
    pub number: u32,
    /// Directory of the file.
    pub directory: PoolDirectory,
}

/// A directory of the pool, by location and subdirectory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolDirectory {
    /// Index of the location, 0-based; also 0 if none is set.
    pub location_index: u32,
    /// Index of the subdirectory in the location, 0-based; `None` if there are none.
    pub subdirectory_index: Option<u32>,
}

/// A point in a run; [`PoolMark::text`] is the text that the original prints there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PoolMark {
    /// Subdirectories are created next.
    MakingDirectories,
    /// The subdirectories have been created.
    DirectoriesMade,
    /// The files of the pool are created next; the clock of the whole run starts.
    Creating,
    /// The files have been created.
    Created,
    /// Transactions start next, with their clock.
    Transactions,
    /// About a tenth of the transactions is done.
    Dot,
    /// All transactions are done; their clock stops.
    TransactionsDone,
    /// No file is left to work on; the transactions end and there will be no report.
    OutOfFiles,
    /// The transactions were stopped by [`super::PoolStream::stop`]; there will be no report.
    Stopped,
    /// The files left are removed next.
    Deleting,
    /// No file is left; the clock of the whole run stops.
    Deleted,
    /// The subdirectories are removed next.
    RemovingDirectories,
    /// The subdirectories are gone.
    DirectoriesRemoved,
}

impl PoolMark {
    /// Text that the original prints at the mark.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::MakingDirectories => "Creating subdirectories...",
            Self::Creating => "Creating files...",
            Self::Transactions => "Performing transactions",
            Self::Dot => ".",
            Self::OutOfFiles => {
                "out of files!\nFor this workload, either increase the number of files or\n\
                 decrease the number of transactions.\n"
            }
            Self::Stopped => "\n",
            Self::Deleting => "Deleting files...",
            Self::RemovingDirectories => "Deleting subdirectories...",
            Self::DirectoriesMade
            | Self::Created
            | Self::TransactionsDone
            | Self::Deleted
            | Self::DirectoriesRemoved => "Done\n",
        }
    }
}

/// Outcome of an operation on a file of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationOutcome {
    /// The file was opened or removed; the results of its reads and writes do not matter here.
    Done,
    /// The file could not be opened or removed.
    Failed,
}

impl PoolStep {
    /// Text that the original prints to standard error if the operation fails; `name` is that of
    /// the file.
    ///
    /// `None` for directories: the original ignores failures to create or remove them.
    #[must_use]
    pub fn failure_text(&self, name: &[u8]) -> Option<Vec<u8>> {
        let (start, end): (&[u8], &[u8]) = match self {
            Self::Create { .. } => (b"cannot open '", b"' for writing\n"),
            Self::Read { .. } => (b"cannot open '", b"' for reading\n"),
            Self::Append { .. } => (b"cannot open '", b"' for append\n"),
            Self::Delete { .. } => (b"Cannot delete '", b"'\n"),
            Self::Mark(_) | Self::MakeDirectory(_) | Self::RemoveDirectory(_) => return None,
        };
        Some([b"Error: ", start, name, end].concat())
    }
}
