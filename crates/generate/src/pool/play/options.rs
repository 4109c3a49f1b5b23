//! Options of a run beyond the settings of its pool.

use plan::program::{FileChoice, Fsync};

use crate::program::Unit;

/// Options of a run beyond PostMark's own settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlayOptions {
    /// Operations that may be in progress at once, at least 1: the engine's slots.
    pub slot_count: u32,
    /// Bytes of a stream's buffer ([`stdio_buffer_bytes`](crate::pool::stdio_buffer_bytes)); used
    /// where the settings say that files are buffered.
    pub stdio_buffer_bytes: u32,
    /// Whether reads and writes say where in the file they go. Otherwise they go where the file
    /// stands, which the engine must be told, and their offsets say where in the chain's content
    /// they are.
    pub has_file_offsets: bool,
    /// Whether a file that takes one read is opened, read and closed by one request
    /// ([`ReadWhole`](engine::Operation::ReadWhole)). What fails of it counts as an open that
    /// failed.
    pub reads_whole: bool,
    /// Files that transactions leave open until they are removed, at most; 0 closes each behind its
    /// operation. The engine must find them by their number and open them by
    /// [`kept_file_options`](crate::pool::kept_file_options). What is open when the transactions
    /// end is left to it.
    pub kept_open_max: u32,
    /// When what was written is made durable.
    pub fsync: Fsync,
    /// Which files transactions work on.
    pub choice: FileChoice,
    /// Whether transactions go on until they are stopped, whatever their number is.
    pub is_endless: bool,
    /// Whether the subdirectories are made and removed; otherwise they must be there.
    pub makes_subdirectories: bool,
    /// What is counted of the transactions. As a whole they are with one slot only.
    pub unit: Unit,
}
