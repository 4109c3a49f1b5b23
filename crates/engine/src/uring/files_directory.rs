//! Syncing a directory: three requests of the ring for one of ours, each behind the one before.
//!
//! They are not linked, because a link is cut by a failure, and the directory would stay open.

use io_uring::{opcode, squeue, types};

/// What is in flight for a directory that is being synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DirectoryStage {
    /// It opens into a place of its slot in the ring's table.
    Open,
    Sync,
    /// Syncing it had this result.
    Close(i32),
}

impl DirectoryStage {
    /// What follows the completion of a stage, for a directory in that place.
    ///
    /// # Errors
    /// The result of the whole if nothing follows.
    pub(super) fn after(self, result: i32, place: u32) -> Result<(Self, squeue::Entry), i32> {
        let place = types::Fixed(place);
        match self {
            Self::Open if result < 0 => Err(result),
            Self::Open => Ok((Self::Sync, opcode::Fsync::new(place).build())),
            Self::Sync => Ok((Self::Close(result), opcode::Close::new(place).build())),
            Self::Close(sync_result) => Err(sync_result),
        }
    }
}
