//! What `runs` tells other programs.

use schemars::JsonSchema;
use serde::Serialize;
use units::JsonDocument;

use crate::{Imported, RunRow};

/// The runs of a store.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunList {
    /// Newest first.
    pub runs: Vec<RunRow>,
}

impl JsonDocument for RunList {
    const FORMAT: &'static str = "pgmeter-runs/1";
}

/// Runs and labs that were removed, or that would be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct RunsRemoved {
    /// Ids of the runs.
    pub removed: Vec<String>,
    /// Ids of the labs.
    pub labs: Vec<String>,
    /// Whether nothing was removed, as it was only asked what would be.
    pub is_dry_run: bool,
}

impl JsonDocument for RunsRemoved {
    const FORMAT: &'static str = "pgmeter-runs-rm/1";
}

/// Records that were taken in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct RunsImported {
    /// One for each file, in order.
    pub imported: Vec<ImportedRun>,
}

/// A record that was taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportedRun {
    /// The file.
    pub file: String,
    /// The run's id.
    pub id: String,
    /// Whether the store had it not yet.
    pub is_new: bool,
}

impl JsonDocument for RunsImported {
    const FORMAT: &'static str = "pgmeter-runs-import/1";
}

impl ImportedRun {
    /// What became of the record in a file.
    #[must_use]
    pub fn of(file: String, imported: Imported) -> Self {
        let (id, is_new) = match imported {
            Imported::New(id) => (id, true),
            Imported::AlreadyThere(id) => (id, false),
        };
        Self { file, id, is_new }
    }
}
