//! What a stream asks for.

/// A step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A phase begins or ends, or a tenth of the transactions is done.
    Mark(Mark),
    /// Make a subdirectory.
    MakeDirectory(PoolDirectory),
    /// Make a file and write it.
    Create {
        /// The file.
        file: PoolFile,
        /// Bytes to write, from the start of the text.
        size_bytes: u32,
    },
    /// Read a whole file.
    Read {
        /// The file.
        file: PoolFile,
        /// Its size.
        size_bytes: u32,
    },
    /// Write at a file's end.
    Append {
        /// The file.
        file: PoolFile,
        /// Its size before.
        size_bytes: u32,
        /// Bytes to write, from the start of the text.
        appended_bytes: u32,
    },
    /// Remove a file.
    Delete {
        /// The file.
        file: PoolFile,
    },
    /// Remove a subdirectory.
    RemoveDirectory(PoolDirectory),
}

impl Operation {
    /// The file that it is on, if it is on one.
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

/// A file of the pool; its name follows from these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolFile {
    /// Its slot in the table, 0-based; no two files that exist share one.
    pub slot_index: u32,
    /// The number it was made as, from 1.
    pub number: u32,
    /// Where it is.
    pub directory: PoolDirectory,
}

/// A directory of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolDirectory {
    /// Which location, 0-based; 0 also where none is set.
    pub location_index: u32,
    /// Which subdirectory of the location, 0-based, if there are any.
    pub subdirectory_index: Option<u32>,
}

/// A point of a run; [`Mark::text`] is what the original prints there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Subdirectories come next.
    MakingDirectories,
    /// The subdirectories are there.
    DirectoriesMade,
    /// The pool comes next; the clock of the whole run starts.
    Creating,
    /// The pool is there.
    Created,
    /// Transactions come next; their clock starts.
    Transactions,
    /// About a tenth of the transactions is done.
    Dot,
    /// All transactions are done; their clock stops.
    TransactionsDone,
    /// No file is left to work on; the transactions end and there will be no report.
    OutOfFiles,
    /// The transactions were stopped by [`super::Stream::stop`]; there will be no report.
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

impl Mark {
    /// What the original prints there.
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

/// How an operation went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The file was opened, or removed; what came of its reads and writes does not matter here.
    Done,
    /// The file could not be opened, or not be removed.
    Failed,
}

impl Operation {
    /// What the original prints to standard error if the operation fails; `name` is the file's.
    ///
    /// It passes over directories that cannot be made or removed.
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
