//! Totals of a run.

use super::PoolStep;

/// Counts of a run. Its bytes are counted both exactly and with the original's rounding.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Totals {
    /// Transactions performed, including those with a failed half.
    pub transactions_count: u64,
    /// Files created. As in the original, this includes files that could not be opened.
    pub created_count: u64,
    /// Files created before the transactions; part of `created_count`.
    pub created_before_count: u64,
    /// Files read.
    pub read_count: u64,
    /// Files appended to.
    pub appended_count: u64,
    /// Files deleted.
    pub deleted_count: u64,
    /// Files deleted after the transactions; part of `deleted_count`.
    pub deleted_after_count: u64,
    /// Bytes of the files read.
    pub read_bytes: u64,
    /// Bytes written to created files and appended.
    pub written_bytes: u64,
    /// `read_bytes` with the original's rounding: to 24 bits at every addition.
    pub read_bytes_float: f32,
    /// `written_bytes` with the original's rounding.
    pub written_bytes_float: f32,
    /// Files that could not be created.
    pub create_failed_count: u64,
    /// Files that could not be opened for reading.
    pub read_failed_count: u64,
    /// Files that could not be opened for appending.
    pub append_failed_count: u64,
    /// Failed removals of files; a file can count several times.
    pub delete_failed_count: u64,
}

impl Totals {
    /// Files created by transactions.
    #[must_use]
    pub const fn created_mixed_count(&self) -> u64 {
        self.created_count.saturating_sub(self.created_before_count)
    }

    /// Files deleted by transactions.
    #[must_use]
    pub const fn deleted_mixed_count(&self) -> u64 {
        self.deleted_count.saturating_sub(self.deleted_after_count)
    }

    /// Adds the totals of another worker; the rounded sums are added in 32 bits.
    pub fn merge(&mut self, other: &Self) {
        self.transactions_count += other.transactions_count;
        self.created_count += other.created_count;
        self.created_before_count += other.created_before_count;
        self.read_count += other.read_count;
        self.appended_count += other.appended_count;
        self.deleted_count += other.deleted_count;
        self.deleted_after_count += other.deleted_after_count;
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.read_bytes_float += other.read_bytes_float;
        self.written_bytes_float += other.written_bytes_float;
        self.create_failed_count += other.create_failed_count;
        self.read_failed_count += other.read_failed_count;
        self.append_failed_count += other.append_failed_count;
        self.delete_failed_count += other.delete_failed_count;
    }

    /// Changes an operation from done to failed. The original does not do this, so the rounded sums
    /// are then approximate.
    pub(super) fn revert(&mut self, operation: &PoolStep) {
        match *operation {
            PoolStep::Create { size_bytes, .. } => {
                // `created_count` stays, because the original also counts files that it could not
                // open.
                self.create_failed_count += 1;
                self.subtract_written(size_bytes);
            }
            PoolStep::Read { size_bytes, .. } => {
                self.read_failed_count += 1;
                self.read_count -= 1;
                self.read_bytes -= u64::from(size_bytes);
                self.read_bytes_float -= size_bytes as f32;
            }
            PoolStep::Append { appended_bytes, .. } => {
                self.append_failed_count += 1;
                self.appended_count -= 1;
                self.subtract_written(appended_bytes);
            }
            PoolStep::Delete { .. } => {
                self.delete_failed_count += 1;
                self.deleted_count -= 1;
            }
            PoolStep::Mark(_) | PoolStep::MakeDirectory(_) | PoolStep::RemoveDirectory(_) => {}
        }
    }

    fn subtract_written(&mut self, size_bytes: u32) {
        self.written_bytes -= u64::from(size_bytes);
        self.written_bytes_float -= size_bytes as f32;
    }

    pub(super) fn add_read(&mut self, size_bytes: u32) {
        self.read_count += 1;
        self.read_bytes += u64::from(size_bytes);
        self.read_bytes_float += size_bytes as f32;
    }

    pub(super) fn add_written(&mut self, size_bytes: u32) {
        self.written_bytes += u64::from(size_bytes);
        self.written_bytes_float += size_bytes as f32;
    }
}
