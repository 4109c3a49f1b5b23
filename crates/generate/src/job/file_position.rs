//! Position of a job in one file.

/// Position of a job in one file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FilePosition {
    /// End of the last request, by direction.
    // In fio, reads and writes of a mix each have a separate position.
    pub(super) end_bytes: [u64; 2],
    /// Start of the last request, by direction.
    pub(super) start_bytes: [u64; 2],
    /// Remaining requests in the run from a random position, by direction.
    pub(super) run_left: [u32; 2],
    /// Random positions drawn in this order, by direction.
    pub(super) turns: [u64; 2],
    /// Bytes moved since the files were restarted.
    pub(super) moved_bytes: u64,
    /// Current zone.
    pub(super) zone: u64,
    /// Bytes moved in the current zone.
    pub(super) zone_moved_bytes: u64,
    /// Bytes moved since the zone was last moved completely.
    pub(super) zone_pass_bytes: u64,
    /// Number of passes through zones so far.
    pub(super) zone_round: u64,
    pub(super) is_done: bool,
}

impl FilePosition {
    /// Moves both directions to the start of a zone.
    pub(super) const fn begin_zone(&mut self, low_bytes: u64) {
        self.zone_round += 1;
        self.end_bytes = [low_bytes; 2];
        self.start_bytes = [low_bytes; 2];
        self.run_left = [0; 2];
        self.turns = [0; 2];
    }
}
