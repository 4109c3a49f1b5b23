//! What is to be said of a lab, whatever it did.

use crate::age::AgeShortfall;
use crate::schedule::Job;

/// What failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabAlarm {
    /// A file system, which was left out from then on.
    FileSystem {
        /// Index into the file systems.
        choice_index: usize,
        /// Why, as it is told.
        reason: String,
    },
    /// Something stayed that should have been removed; why, as it is told.
    Left(String),
}

/// What the reader should know.
#[derive(Debug, Clone, PartialEq)]
pub enum LabNote {
    /// A job was interrupted, and is left out.
    Interrupted(Job),
    /// A file system is other than it was meant to be.
    FileSystem {
        /// Index into the file systems.
        choice_index: usize,
        /// How, in words.
        note: String,
    },
    /// It did not age as was asked for.
    Age {
        /// Index into the file systems.
        choice_index: usize,
        /// What was not reached.
        shortfall: AgeShortfall,
    },
}

/// What is to be said of a lab as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabVerdict {
    /// All was done.
    Whole,
    /// All was done, and something of it is wrong: I/O failed, or a promise was not kept.
    Failed,
    /// It was interrupted.
    Interrupted,
    /// Something could not be made, measured or removed here.
    System,
}

impl LabNote {
    pub(crate) fn of_file_system(choice_index: usize, note: &str) -> Self {
        Self::FileSystem {
            choice_index,
            note: note.to_owned(),
        }
    }

    /// Adds it to what is noted already, unless it is there.
    pub(crate) fn once_among(self, notes: &mut Vec<Self>) {
        if !notes.contains(&self) {
            notes.push(self);
        }
    }
}

impl LabAlarm {
    /// Whether this file system failed.
    pub(crate) fn is_of(&self, index: usize) -> bool {
        matches!(self, Self::FileSystem { choice_index, .. } if *choice_index == index)
    }
}
