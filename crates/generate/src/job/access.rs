//! A request on its way.

/// A request that is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JobAccess {
    pub(super) file_index: u32,
    /// From the first byte of the part of the file that is used.
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u32,
}
