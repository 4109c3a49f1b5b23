//! JSON documents of the commands.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use units::JsonDocument;

use crate::{BoardConfig, CheckedSubmission, NewFile, RuleLevel};

/// A new board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BoardMade {
    /// Directory of the board.
    pub directory: String,
    /// Names of its tables.
    pub tables: Vec<String>,
    /// Names of its submissions.
    pub submissions: Vec<String>,
}

impl JsonDocument for BoardMade {
    const FORMAT: &'static str = "pgmeter-board-init/1";
}

impl BoardMade {
    /// Lists the contents of the files of a new board.
    #[must_use]
    pub fn of(directory: &Path, files: &[NewFile]) -> Self {
        let config = files.iter().find(|file| file.path == "board.toml");
        let config = config.and_then(|it| BoardConfig::read(&it.path, &it.text).ok());
        let tables = config.map(|it| it.tables).unwrap_or_default();
        let submissions = files.iter().filter_map(|file| {
            let rest = file.path.strip_prefix("submissions/")?;
            rest.strip_suffix("/submission.toml").map(str::to_owned)
        });
        Self {
            directory: directory.to_string_lossy().into_owned(),
            tables: tables.into_iter().map(|table| table.name).collect(),
            submissions: submissions.collect(),
        }
    }
}

/// Verdicts on submissions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BoardLint {
    /// The submissions, in the order of their names.
    pub submissions: Vec<CheckedSubmission>,
    /// Number of findings that refuse a submission.
    pub error_count: usize,
    /// Number of other findings.
    pub warning_count: usize,
}

impl JsonDocument for BoardLint {
    const FORMAT: &'static str = "pgmeter-board-lint/1";
}

impl BoardLint {
    /// Counts the findings.
    #[must_use]
    pub fn of(submissions: Vec<CheckedSubmission>) -> Self {
        let count = |level: RuleLevel| {
            let findings = submissions.iter().flat_map(|it| &it.findings);
            findings.filter(|it| it.level == level).count()
        };
        Self {
            error_count: count(RuleLevel::Error),
            warning_count: count(RuleLevel::Warning),
            submissions,
        }
    }
}
