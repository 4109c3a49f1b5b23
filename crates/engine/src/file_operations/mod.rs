//! What the engines for file operations share: how files are opened, what the numbers of a
//! request mean, and the system calls.

pub(crate) mod by_call;
pub(crate) mod calls;
mod handles;
mod options;
mod psync;
pub(crate) mod streams;
mod ways;

use crate::fileset::NAME_BYTES_MAX;

pub use handles::{FileHandles, Handles, Registers, SlotHandles};
pub use options::{Access, Aim, FileOptions, OpenFlags, OpenMode};
pub use psync::PsyncFiles;
pub use ways::OpenWay;
pub(crate) use ways::{DIRECTORY_HOW, Hows, OpenHow};

/// One name of a request.
pub(crate) type NameBuffer = [u8; NAME_BYTES_MAX];

/// Room for both names of each slot's request, at the same place as long as the engine lives.
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
