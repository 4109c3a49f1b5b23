//! Options of a run in addition to the settings of its pool.

use plan::program::{FileChoice, Fsync};

use crate::program::TransactionUnit;

/// Options of a run in addition to PostMark's own settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlayOptions {
    /// Maximum number of operations in progress, at least 1: the engine's slots.
    pub slot_count: u32,
    /// Size of a stream's buffer in bytes
    /// ([`stdio_buffer_bytes`](crate::pool::stdio_buffer_bytes)). Only used if files are buffered.
    pub stdio_buffer_bytes: u32,
    /// `true` if reads and writes give their offset in the file. Otherwise they use the file's
    /// position, for which the engine must be configured, and their offsets refer to the chain's
    /// content.
    pub has_file_offsets: bool,
    /// `true` if a file that needs only one read is opened, read and closed by one request
    /// ([`ReadWhole`](engine::Operation::ReadWhole)). A failure in any part then counts as a failed
    /// open.
    pub reads_whole: bool,
    /// Maximum number of files that transactions leave open until they are removed; 0 closes each
    /// file after its operation. The engine must find files by number and open them with
    /// [`kept_file_options`](crate::pool::kept_file_options). It also closes those still open when
    /// the transactions end.
    pub kept_open_max: u32,
    /// When to sync written data.
    pub fsync: Fsync,
    /// Selection rule for the files of transactions.
    pub choice: FileChoice,
    /// `true` if transactions continue until they are stopped, whatever their number in the
    /// settings.
    pub is_endless: bool,
    /// `true` if the run creates and removes the subdirectories; otherwise they must exist.
    pub makes_subdirectories: bool,
    /// What counts as a transaction. Whole transactions need a single slot.
    pub unit: TransactionUnit,
}
