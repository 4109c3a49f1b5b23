//! What went wrong in a run, and what one that was cut short has left behind.

use super::Play;
use crate::pool::{Operation, Outcome, PoolDirectory};

/// Failures that are told one by one, at most.
const FAILURES_TOLD_MAX: usize = 1 << 16;

/// Operations on files that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failures {
    /// The first of them.
    pub told: Vec<Operation>,
    /// All of them.
    pub count: u64,
}

impl Failures {
    #[cold]
    pub(super) fn add(&mut self, operation: Operation) {
        self.count += 1;
        if self.told.len() < FAILURES_TOLD_MAX {
            self.told.push(operation);
        }
    }
}

impl Play {
    /// Files and subdirectories that could not be made because their names were taken.
    #[must_use]
    pub fn taken_count(&self) -> u64 {
        self.foreign.len() as u64 + self.taken_directories_count
    }

    /// What failed since this was asked last.
    pub fn take_failures(&mut self) -> Failures {
        std::mem::take(&mut self.failures)
    }

    /// When the last file was removed and only subdirectories were left, in nanoseconds of the
    /// caller's clock; none before that.
    #[must_use]
    pub const fn emptied_ns(&self) -> Option<u64> {
        match self.emptied_ns {
            0 => None,
            at_ns => Some(at_ns),
        }
    }

    /// The next file or subdirectory that a loop which ended in the middle has left behind, to be
    /// removed by the caller; what somebody else made is not among them.
    pub fn next_left(&mut self) -> Option<Operation> {
        self.stream.stop();
        loop {
            let outcome = std::mem::replace(&mut self.outcome, Outcome::Done);
            let operation = match self.waiting.take() {
                Some(operation) => operation,
                None => self.stream.next(outcome)?,
            };
            match operation {
                // What was not begun is not begun any more.
                Operation::Create { file, .. } => {
                    self.foreign.insert(file.number);
                    self.outcome = Outcome::Failed;
                }
                Operation::MakeDirectory(directory) => {
                    self.not_made.insert(self.rules.directory_number(directory));
                }
                Operation::Delete { .. } | Operation::RemoveDirectory(_)
                    if !self.is_left_out(&operation) =>
                {
                    return Some(operation);
                }
                _ => {}
            }
        }
    }

    /// The number of a directory among those of all locations, as requests say it.
    #[must_use]
    pub const fn directory_number(&self, directory: PoolDirectory) -> u32 {
        self.rules.directory_number(directory)
    }
}
