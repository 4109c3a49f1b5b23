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
    /// Bytes moved since all of the zone was moved last.
    pub(super) zone_pass_bytes: u64,
    /// Passes through zones so far.
    pub(super) zone_round: u64,
    pub(super) is_done: bool,
}

impl FilePosition {
    /// Both directions begin at the start of a zone.
    pub(super) const fn begin_zone(&mut self, low_bytes: u64) {
        self.zone_round += 1;
        self.end_bytes = [low_bytes; 2];
        self.start_bytes = [low_bytes; 2];
        self.run_left = [0; 2];
        self.turns = [0; 2];
    }
}
