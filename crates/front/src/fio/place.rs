//! Where something stands.

use std::sync::Arc;

use plan::job::JobPlace;
use plan::{Diagnostic, printable};

/// Where something stands, and the line as messages show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's name as it was given; empty for the command line.
    pub file: Arc<str>,
    /// Counted from 1; 0 on the command line.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    pub(super) shown: Arc<str>,
}

impl Place {
    /// The command line.
    pub(super) fn of_command_line(shown: &str) -> Self {
        Self {
            file: Arc::from(""),
            line: 0,
            column: 0,
            shown: printable(shown).into(),
        }
    }

    /// For whoever finds a mistake later.
    pub(super) fn of_job(&self) -> JobPlace {
        JobPlace {
            file: self.file.to_string(),
            line: self.line,
            column: self.column,
            shown: self.shown.to_string(),
        }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> Diagnostic {
        self.placed(Diagnostic::error(&*self.file, message))
    }

    pub(super) fn warning(&self, message: impl Into<String>) -> Diagnostic {
        self.placed(Diagnostic::warning(&*self.file, message))
    }

    fn placed(&self, diagnostic: Diagnostic) -> Diagnostic {
        match self.line {
            0 => diagnostic,
            _ => diagnostic.at(self.line, self.column).snippet(&self.shown),
        }
    }
}
