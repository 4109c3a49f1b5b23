//! JSON documents of the commands.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use units::JsonDocument;

use crate::{BoardConfig, CheckedSubmission, NewFile, RuleLevel, StrippedText};

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

/// A new submission.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SubmissionAdded {
    /// The submission, with its findings.
    pub submission: CheckedSubmission,
    /// Texts that were replaced in the record.
    pub stripped: Vec<StrippedText>,
}

impl JsonDocument for SubmissionAdded {
    const FORMAT: &'static str = "pgmeter-board-add/1";
}

/// A built site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BoardBuilt {
    /// Directory of the site.
    pub directory: String,
    /// Number of files.
    pub file_count: usize,
    /// Number of submissions.
    pub submission_count: usize,
    /// Names of the submissions that a rule refuses.
    pub refused: Vec<String>,
}

impl JsonDocument for BoardBuilt {
    const FORMAT: &'static str = "pgmeter-board-build/1";
}

/// Places of a run in the tables of a board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunStandings {
    /// Id of the run.
    pub run: String,
    /// `true` if a rule would refuse the run.
    pub is_refused: bool,
    /// The places, in the order of the tables.
    pub standings: Vec<BoardStanding>,
}

impl JsonDocument for RunStandings {
    const FORMAT: &'static str = "pgmeter-board-rank/1";
}

/// The place of a run in a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BoardStanding {
    /// Name of the table.
    pub table: String,
    /// The place in words.
    pub standing: String,
}
