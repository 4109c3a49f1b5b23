//! Failures of a run, and the files that an interrupted run left behind.

use super::PoolRun;
use crate::pool::{OperationOutcome, PoolDirectory, PoolStep};

/// Maximum number of failures that are listed individually.
// On a full file system, every later creation may fail.
const FAILURES_LISTED_MAX: usize = 1 << 16;

/// Failed operations on files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failures {
    /// The first failures.
    pub first: Vec<PoolStep>,
    /// Number of all failures.
    pub count: u64,
}

impl Failures {
    #[cold]
    pub(super) fn add(&mut self, operation: PoolStep) {
        self.count += 1;
        if self.first.len() < FAILURES_LISTED_MAX {
            self.first.push(operation);
        }
    }
}

impl PoolRun {
    /// Number of files and subdirectories that could not be created because their names already
    /// existed.
    #[must_use]
    pub fn taken_count(&self) -> u64 {
        self.existing_files.len() as u64 + self.existing_directories_count
    }

    /// Failures since the last call.
    pub fn take_failures(&mut self) -> Failures {
        std::mem::take(&mut self.failures)
    }

    /// Time when the last file was removed and only subdirectories were left, in nanoseconds of the
    /// caller's clock; `None` before.
    #[must_use]
    pub const fn emptied_ns(&self) -> Option<u64> {
        match self.emptied_ns {
            0 => None,
            at_ns => Some(at_ns),
        }
    }

    /// Operation that removes the next file or subdirectory left behind by an interrupted loop; the
    /// caller executes it. Files of other programs are not included.
    pub fn next_leftover(&mut self) -> Option<PoolStep> {
        // After a stop, the stream skips to the removal of what it has created.
        self.stream.stop();
        loop {
            let outcome = std::mem::replace(&mut self.outcome, OperationOutcome::Done);
            let operation = match self.waiting.take() {
                Some(operation) => operation,
                None => self.stream.next(outcome)?,
            };
            match operation {
                // Operations that had not started do not start now.
                PoolStep::Create { file, .. } => {
                    self.existing_files.insert(file.number);
                    self.outcome = OperationOutcome::Failed;
                }
                PoolStep::MakeDirectory(directory) => {
                    self.failed_directories
                        .insert(self.rules.directory_number(directory));
                }
                PoolStep::Delete { .. } | PoolStep::RemoveDirectory(_)
                    if !self.is_left_out(&operation) =>
                {
                    return Some(operation);
                }
                _ => {}
            }
        }
    }

    /// Number of a directory, counted through all locations, as in requests.
    #[must_use]
    pub const fn directory_number(&self, directory: PoolDirectory) -> u32 {
        self.rules.directory_number(directory)
    }
}
