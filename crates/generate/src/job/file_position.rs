//! Where a job stands in one file.

/// Where a job stands in one file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FilePosition {
    /// Behind the last request, by direction.
    pub(super) end_bytes: [u64; 2],
    /// Where the last request began, by direction.
    pub(super) start_bytes: [u64; 2],
    /// Requests left in the run from a random place, by direction.
    pub(super) run_left: [u32; 2],
    /// Random places that came in this order, by direction.
    pub(super) turns: [u64; 2],
    /// Bytes moved since the files began anew.
    pub(super) moved_bytes: u64,
    /// The zone it is in.
    pub(super) zone: u64,
    /// Bytes moved in that zone.
    pub(super) zone_moved_bytes: u64,
    /// Zones before this one.
    pub(super) zone_round: u64,
    pub(super) is_done: bool,
}
