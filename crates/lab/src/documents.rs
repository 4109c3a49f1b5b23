//! JSON documents of `lab list` and `lab clean`.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use units::{JsonDocument, path_as_text};

use crate::vm::{Kernel, can_run_in_guest};
use crate::{Availability, CleanupResult, LabError};

/// The file systems, and what is missing for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileSystemList {
    /// All file systems that the lab can create by name.
    pub file_systems: Vec<ListedFileSystem>,
    /// Whether guest kernels can be started.
    pub guests: GuestState,
}

/// A file system that the lab supports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedFileSystem {
    /// Name on the command line.
    pub name: String,
    /// Description, one line.
    pub title: String,
    /// `true` if it supports direct I/O.
    pub is_direct: bool,
    /// `true` if it writes to the end of a log that is cleaned later.
    pub is_log_structured: bool,
    /// Smallest image that its program accepts, in bytes.
    pub size_min_bytes: u64,
    /// `true` if it can be created here.
    pub can_be_made: bool,
    /// Missing requirements, each with a remedy.
    pub missing: Vec<String>,
    /// `true` if it can be created in a guest (`--vm uml`).
    pub can_be_made_in_guest: bool,
}

/// Whether User-mode Linux guests can be started here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GuestState {
    /// `true` if a test guest was started.
    pub can_be_started: bool,
    /// Release of the guest kernel; none if it is not installed or did not start.
    pub kernel: Option<String>,
    /// Why no guest was started.
    pub missing: Option<String>,
}

impl JsonDocument for FileSystemList {
    const FORMAT: &'static str = "pgmeter-lab-list/1";
}

impl FileSystemList {
    /// The file systems and guests found.
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
            can_be_made_in_guest: kernel.is_some_and(|kernel| can_run_in_guest(it.entry, kernel)),
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

/// Results of cleaning up labs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CleanedLabs {
    /// Directory of images and mount points.
    #[serde(serialize_with = "path_as_text")]
    pub directory: PathBuf,
    /// Descriptions of what was removed.
    pub removed: Vec<String>,
    /// Descriptions of labs that are running.
    pub running: Vec<String>,
    /// What could not be removed.
    pub left: Vec<LabLeftover>,
}

/// A part of a lab that could not be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabLeftover {
    /// Description with the reason.
    pub message: String,
    /// Advice: one action.
    pub help: Option<String>,
}

impl JsonDocument for CleanedLabs {
    const FORMAT: &'static str = "pgmeter-lab-clean/1";
}

impl CleanedLabs {
    /// Results of cleaning up in a directory.
    #[must_use]
    pub fn of(directory: &Path, cleaned: &CleanupResult) -> Self {
        let left = |error: &LabError| LabLeftover {
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
    fn without_guests_no_file_system_can_be_created_in_one() {
        let found = crate::availability();
        let list = FileSystemList::of(&found, &Err(LabError::Stopped));
        assert_eq!(list.file_systems.len(), found.len());
        let listed = list.file_systems.iter();
        assert!(listed.clone().all(|it| !it.can_be_made_in_guest));
        assert!(
            listed
                .clone()
                .all(|it| it.can_be_made == it.missing.is_empty())
        );
        assert!(!list.guests.can_be_started && list.guests.missing.is_some());
    }
}
