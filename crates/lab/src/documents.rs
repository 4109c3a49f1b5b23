//! What `lab list` and `lab clean` tell other programs.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use units::{JsonDocument, path_as_text};

use crate::vm::{Kernel, can_make};
use crate::{Availability, Cleaned, LabError};

/// The file systems, and what is missing for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileSystemList {
    /// All that the lab knows by name; `path:DIR` is any other.
    pub file_systems: Vec<ListedFileSystem>,
    /// Whether kernels can be started for them.
    pub guests: GuestState,
}

/// A file system that the lab knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedFileSystem {
    /// Its name on the command line.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Whether it does direct I/O.
    pub is_direct: bool,
    /// Whether it writes to the end of a log, and cleans behind it.
    pub is_log_structured: bool,
    /// The smallest image that its program takes, in bytes.
    pub size_min_bytes: u64,
    /// Whether it can be made here.
    pub can_be_made: bool,
    /// What is missing to make it here, each with what would help.
    pub missing: Vec<String>,
    /// Whether it can be made in a guest (`--vm uml`).
    pub can_be_made_in_guest: bool,
}

/// Whether guests of User-mode Linux can be started here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GuestState {
    /// Whether one was started.
    pub can_be_started: bool,
    /// The release of their kernel; none where there is none, or it did not start.
    pub kernel: Option<String>,
    /// Why none was started.
    pub missing: Option<String>,
}

impl JsonDocument for FileSystemList {
    const FORMAT: &'static str = "pgmeter-lab-list/1";
}

impl FileSystemList {
    /// The file systems and guests as they were found.
    #[must_use]
    pub fn of(found: &[Availability], guests: &Result<Kernel, LabError>) -> Self {
        let kernel = guests.as_ref().ok();
        let listed = |it: &Availability| ListedFileSystem {
            name: it.entry.name.to_owned(),
            title: it.entry.title.to_owned(),
            is_direct: it.entry.is_direct,
            is_log_structured: it.entry.is_log_structured,
            size_min_bytes: it.entry.size_min_bytes,
            can_be_made: it.missing.is_empty(),
            missing: it.missing.clone(),
            can_be_made_in_guest: kernel.is_some_and(|kernel| can_make(it.entry, kernel)),
        };
        Self {
            file_systems: found.iter().map(listed).collect(),
            guests: GuestState {
                can_be_started: kernel.is_some(),
                kernel: kernel.map(|kernel| kernel.release.clone()),
                missing: guests.as_ref().err().map(ToString::to_string),
            },
        }
    }
}

/// What became of labs that were left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CleanedLabs {
    /// The directory of images and mount points.
    #[serde(serialize_with = "path_as_text")]
    pub directory: PathBuf,
    /// What was removed, in words.
    pub removed: Vec<String>,
    /// Labs that are at work, in words.
    pub running: Vec<String>,
    /// What is still there.
    pub left: Vec<LeftByLab>,
}

/// Something of a lab that was not removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftByLab {
    /// What, and why.
    pub message: String,
    /// One action that helps.
    pub help: Option<String>,
}

impl JsonDocument for CleanedLabs {
    const FORMAT: &'static str = "pgmeter-lab-clean/1";
}

impl CleanedLabs {
    /// What was done in a directory.
    #[must_use]
    pub fn of(directory: &Path, cleaned: &Cleaned) -> Self {
        let left = |error: &LabError| LeftByLab {
            message: error.to_string(),
            help: error.help(),
        };
        Self {
            directory: directory.to_owned(),
            removed: cleaned.removed.clone(),
            running: cleaned.running.clone(),
            left: cleaned.left.iter().map(left).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_guests_nothing_can_be_made_in_one() {
        let found = crate::availability();
        let list = FileSystemList::of(&found, &Err(LabError::Stopped));
        assert_eq!(list.file_systems.len(), found.len());
        let made = list.file_systems.iter();
        assert!(made.clone().all(|it| !it.can_be_made_in_guest));
        assert!(
            made.clone()
                .all(|it| it.can_be_made == it.missing.is_empty())
        );
        assert!(!list.guests.can_be_started && list.guests.missing.is_some());
    }
}
