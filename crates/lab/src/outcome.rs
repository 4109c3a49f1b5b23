//! Results common to all kinds of lab.

use crate::age::AgingShortfall;
use crate::schedule::LabMeasurement;

/// A failure that does not end the lab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabFailure {
    /// A file system failed and was skipped from then on.
    FileSystem {
        /// Index into the file systems.
        choice_index: usize,
        /// The error message.
        reason: String,
    },
    /// Something could not be removed; the error message.
    NotRemoved(String),
}

/// A note for the reader.
#[derive(Debug, Clone, PartialEq)]
pub enum LabNote {
    /// A job was interrupted and is omitted.
    Interrupted(LabMeasurement),
    /// A file system deviates from the request.
    FileSystem {
        /// Index into the file systems.
        choice_index: usize,
        /// Description of the deviation.
        note: String,
    },
    /// Aging did not reach a goal.
    Age {
        /// Index into the file systems.
        choice_index: usize,
        /// The missed goal.
        shortfall: AgingShortfall,
    },
}

/// Overall verdict on a lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabVerdict {
    /// Everything was done.
    Complete,
    /// Everything was done, but I/O failed or a guarantee was broken.
    Failed,
    /// It was interrupted.
    Interrupted,
    /// Something could not be created, measured or removed on this system.
    System,
}

impl LabNote {
    pub(crate) fn of_file_system(choice_index: usize, note: &str) -> Self {
        Self::FileSystem {
            choice_index,
            note: note.to_owned(),
        }
    }

    /// Adds the note, unless it is already there.
    pub(crate) fn push_unique(self, notes: &mut Vec<Self>) {
        if !notes.contains(&self) {
            notes.push(self);
        }
    }
}

impl LabFailure {
    /// `true` if this file system failed.
    pub(crate) fn is_of(&self, index: usize) -> bool {
        matches!(self, Self::FileSystem { choice_index, .. } if *choice_index == index)
    }
}
