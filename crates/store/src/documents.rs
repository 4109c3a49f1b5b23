//! JSON documents of the `runs` command.

use schemars::JsonSchema;
use serde::Serialize;
use units::JsonDocument;

use crate::{Imported, RunRow};

/// The runs of a store.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunList {
    /// The runs, newest first.
    pub runs: Vec<RunRow>,
}

impl JsonDocument for RunList {
    const FORMAT: &'static str = "pgmeter-runs/1";
}

/// Runs and labs that were removed, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct RunsRemoved {
    /// Ids of the runs.
    pub removed: Vec<String>,
    /// Ids of the labs.
    pub labs: Vec<String>,
    /// `true` if this was a dry run and nothing was removed.
    pub is_dry_run: bool,
}

impl JsonDocument for RunsRemoved {
    const FORMAT: &'static str = "pgmeter-runs-rm/1";
}

/// Imported records.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct RunsImported {
    /// One entry per file, in order.
    pub imported: Vec<ImportedRun>,
}

/// An imported record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportedRun {
    /// File of the record.
    pub file: String,
    /// Id of the run.
    pub id: String,
    /// `true` if the store did not have the run before.
    pub is_new: bool,
}

impl JsonDocument for RunsImported {
    const FORMAT: &'static str = "pgmeter-runs-import/1";
}

impl ImportedRun {
    /// The result of importing a file.
    #[must_use]
    pub fn of(file: String, imported: Imported) -> Self {
        let (id, is_new) = match imported {
            Imported::New(id) => (id, true),
            Imported::AlreadyStored(id) => (id, false),
        };
        Self { file, id, is_new }
    }
}
