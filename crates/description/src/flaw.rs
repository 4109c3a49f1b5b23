//! Errors in the values of a workload file, with their positions.

use plan::Diagnostic;

/// A step on the path to a value in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathStep {
    /// A key of a table.
    Key(&'static str),
    /// An index of a list, 0-based.
    Index(usize),
}

/// An error in a value of a workload, with one action for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueError {
    /// Path to the value.
    pub path: Vec<PathStep>,
    /// Problem and expected value.
    pub message: String,
    /// One action; empty if none is known.
    pub help: String,
}

impl ValueError {
    /// An error in the value under `key`.
    pub fn new(key: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::of_value(message, help).under(key)
    }

    /// An error in the value itself.
    pub fn of_value(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            path: Vec::new(),
            message: message.into(),
            help: help.into(),
        }
    }

    /// A key that must be left out.
    pub fn leave_out(key: &'static str, message: impl Into<String>) -> Self {
        Self::new(key, message, format!("leave `{key}` out"))
    }

    /// A key that does not apply to the other key or table.
    pub fn idle(key: &'static str, other: &str) -> Self {
        Self::leave_out(key, format!("`{key}` does not apply to `{other}`"))
    }

    /// The same error, with the key of the enclosing table added to its path.
    pub fn under(mut self, key: &'static str) -> Self {
        // Errors are built from the inside out, and their paths have few steps.
        self.path.insert(0, PathStep::Key(key));
        self
    }

    /// As [`Self::under`], but only if the enclosing table sets the value.
    pub fn under_own(self, key: &'static str, is_own: bool) -> Self {
        if is_own { self.under(key) } else { self }
    }

    /// The same error, with an enclosing list element added to its path.
    pub fn within(mut self, key: &'static str, index: usize) -> Self {
        self.path.insert(0, PathStep::Index(index));
        self.under(key)
    }

    /// Converts to an error without line and column.
    pub fn diagnostic(&self, file: &str) -> Diagnostic {
        let error = Diagnostic::error(file, self.message.clone());
        match self.help.is_empty() {
            true => error,
            false => error.help(self.help.clone()),
        }
    }
}
