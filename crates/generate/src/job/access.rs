//! Position of a request.

/// File, offset and length of a request to be issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JobAccess {
    pub(super) file_index: u32,
    /// Relative to the first byte of the used part of the file.
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u32,
}
