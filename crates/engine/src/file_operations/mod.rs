//! Shared parts of the engines for file operations: ways to open files, the meaning of numbers in
//! requests, and the system calls.

pub(crate) mod by_call;
pub(crate) mod calls;
mod handles;
mod mapped;
mod open_modes;
mod options;
mod psync;
pub(crate) mod streams;

use crate::fileset::NAME_BYTES_MAX;

pub use handles::{FileHandles, Handles, RegisterFiles, SlotHandles};
pub use mapped::MappedFiles;
pub use open_modes::OpenModeIndex;
pub(crate) use open_modes::{OPEN_DIRECTORY, OpenHow, OpenHows};
pub use options::{FileEngineOptions, MappingSync, OpenAccess, OpenFlags, OpenMode, RequestObject};
pub use psync::PsyncFiles;

/// Buffer for one name of a request.
pub(crate) type NameBuffer = [u8; NAME_BYTES_MAX];

/// Buffers for both names of each slot's request; their addresses do not change.
pub(crate) struct NameBuffers(Box<[[NameBuffer; 2]]>);

impl NameBuffers {
    pub(crate) fn new(slot_count: u32) -> Self {
        let pair = [[0; NAME_BYTES_MAX]; 2];
        Self(vec![pair; slot_count as usize].into())
    }

    #[inline]
    pub(crate) fn of(&mut self, slot: u32) -> &mut [NameBuffer; 2] {
        &mut self.0[slot as usize]
    }
}
