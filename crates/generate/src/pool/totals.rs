//! What a run has done.

use super::Operation;

/// Counts of a run, with its bytes both exact and as the original adds them up.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Totals {
    /// Transactions that were carried out, failed halves included.
    pub transactions_count: u64,
    /// Files created, those included that could not be opened, which the original counts too.
    pub created_count: u64,
    /// Of these, the files created before the transactions.
    pub created_before_count: u64,
    /// Files read.
    pub read_count: u64,
    /// Files appended to.
    pub appended_count: u64,
    /// Files deleted.
    pub deleted_count: u64,
    /// Of these, the files deleted after the transactions.
    pub deleted_after_count: u64,
    /// Bytes of the files read.
    pub read_bytes: u64,
    /// Bytes of the files created and of what was appended.
    pub written_bytes: u64,
    /// `read_bytes` as the original has it: rounded to 24 bits at every addition.
    pub read_bytes_float: f32,
    /// `written_bytes` as the original has it.
    pub written_bytes_float: f32,
    /// Files that could not be created.
    pub create_failed_count: u64,
    /// Files that could not be opened for reading.
    pub read_failed_count: u64,
    /// Files that could not be opened for appending.
    pub append_failed_count: u64,
    /// Files that could not be removed, each time counted.
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

    /// Adds what another worker has done; its 32-bit sums are added as such.
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

    /// Counts an operation as failed that was counted as done; the sums of the original, which
    /// knows no such thing, are approximate then.
    pub(super) fn take_back(&mut self, operation: &Operation) {
        match *operation {
            Operation::Create { size_bytes, .. } => {
                self.create_failed_count += 1;
                self.take_written(size_bytes);
            }
            Operation::Read { size_bytes, .. } => {
                self.read_failed_count += 1;
                self.read_count -= 1;
                self.read_bytes -= u64::from(size_bytes);
                self.read_bytes_float -= size_bytes as f32;
            }
            Operation::Append { appended_bytes, .. } => {
                self.append_failed_count += 1;
                self.appended_count -= 1;
                self.take_written(appended_bytes);
            }
            Operation::Delete { .. } => {
                self.delete_failed_count += 1;
                self.deleted_count -= 1;
            }
            Operation::Mark(_) | Operation::MakeDirectory(_) | Operation::RemoveDirectory(_) => {}
        }
    }

    fn take_written(&mut self, size_bytes: u32) {
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
