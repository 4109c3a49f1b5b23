//! The contents of a source, as its reader returns them.

use jiff::Timestamp;
use results::{ImportedResult, ImportedStatement};

/// The contents of a source, without the source itself.
#[derive(Debug, Default)]
pub struct ImportDraft {
    /// Version of the program.
    pub version: Option<String>,
    /// Start of the run, or else its end.
    pub time: Option<Timestamp>,
    /// Statements about the whole run.
    pub statements: Vec<ImportedStatement>,
    /// Results.
    pub results: Vec<ImportedResult>,
}
