//! Source lines, for error messages.

use std::sync::Arc;

use plan::job::JobLocation;
use plan::{Diagnostic, printable};

/// Position of an option or section, and the text of its line as messages show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// File name as given; empty for the command line.
    pub file: Arc<str>,
    /// Line number, from 1; 0 for the command line.
    pub line: u32,
    /// Column in characters, from 1; 0 for the command line.
    pub column: u32,
    pub(super) text: Arc<str>,
}

impl SourceLine {
    /// Position of a command line argument.
    pub(super) fn of_command_line(argument: &str) -> Self {
        Self {
            file: Arc::from(""),
            line: 0,
            column: 0,
            text: printable(argument).into(),
        }
    }

    /// The same position for errors found later, when the job is planned.
    pub(super) fn of_job(&self) -> JobLocation {
        JobLocation {
            file: self.file.to_string(),
            line: self.line,
            column: self.column,
            text: self.text.to_string(),
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
            _ => diagnostic.at(self.line, self.column).snippet(&self.text),
        }
    }
}
