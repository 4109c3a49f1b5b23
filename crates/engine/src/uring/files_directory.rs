//! Syncing a directory: three consecutive ring requests for one request.
//!
//! They are not linked, because a failure breaks a link and would leave the directory open.

use io_uring::{opcode, squeue, types};

/// Stage of a directory sync that is in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DirectoryStage {
    /// The directory is being opened into a place of its slot in the ring's table.
    Open,
    Sync,
    /// The directory is being closed; syncing it had this result.
    Close(i32),
}

impl DirectoryStage {
    /// The stage after the completion of this one, with its queue entry, for a directory at
    /// `table_slot`.
    ///
    /// # Errors
    /// The result of the whole if no stage follows.
    pub(super) fn after(self, result: i32, table_slot: u32) -> Result<(Self, squeue::Entry), i32> {
        let table_slot = types::Fixed(table_slot);
        match self {
            Self::Open if result < 0 => Err(result),
            Self::Open => Ok((Self::Sync, opcode::Fsync::new(table_slot).build())),
            Self::Sync => Ok((Self::Close(result), opcode::Close::new(table_slot).build())),
            Self::Close(sync_result) => Err(sync_result),
        }
    }
}
