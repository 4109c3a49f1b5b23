//! The counts that a report is made of.

/// The counts of a run that came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Figures {
    /// Transactions asked for.
    pub transactions_count: u64,
    /// Files asked for before the transactions.
    pub number: u64,
    /// Files created.
    pub created_count: u64,
    /// Files read.
    pub read_count: u64,
    /// Files appended to.
    pub appended_count: u64,
    /// Files deleted.
    pub deleted_count: u64,
    /// Of these, the files deleted after the transactions.
    pub deleted_after_count: u64,
    /// Bytes read, as a sum of 32-bit floats.
    pub read_bytes: f32,
    /// Bytes written, as a sum of 32-bit floats.
    pub written_bytes: f32,
    /// Bytes read.
    pub read_bytes_exact: u64,
    /// Bytes written.
    pub written_bytes_exact: u64,
}

impl Figures {
    pub(super) const fn created_mixed_count(&self) -> u64 {
        self.created_count.saturating_sub(self.number)
    }

    pub(super) const fn deleted_mixed_count(&self) -> u64 {
        self.deleted_count.saturating_sub(self.deleted_after_count)
    }
}
