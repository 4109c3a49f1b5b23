//! What is wrong with a value of a workload file, and where it stands.

use plan::Diagnostic;

/// A step on the way to a value of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Into a table.
    Key(&'static str),
    /// Into a list, 0-based.
    Index(usize),
}

/// Something wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The way to the value.
    pub path: Vec<Step>,
    /// What was seen against what was wanted.
    pub message: String,
    /// One action.
    pub help: String,
}

impl Flaw {
    /// A flaw of the value under `key`.
    pub fn new(key: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::of_value(message, help).under(key)
    }

    /// A flaw of the value itself.
    pub fn of_value(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            path: Vec::new(),
            message: message.into(),
            help: help.into(),
        }
    }

    /// A key that should not be there.
    pub fn leave_out(key: &'static str, message: impl Into<String>) -> Self {
        Self::new(key, message, format!("leave `{key}` out"))
    }

    /// A key that means nothing beside what is written.
    pub fn idle(key: &'static str, beside: &str) -> Self {
        Self::leave_out(key, format!("`{key}` does not apply to `{beside}`"))
    }

    /// The same flaw seen from the table around it.
    pub fn under(mut self, key: &'static str) -> Self {
        self.path.insert(0, Step::Key(key));
        self
    }

    /// The same flaw, seen from the table around it where it is there that the value stands.
    pub fn under_own(self, key: &'static str, is_own: bool) -> Self {
        if is_own { self.under(key) } else { self }
    }

    /// The same flaw seen from one list element further out.
    pub fn within(mut self, key: &'static str, index: usize) -> Self {
        self.path.insert(0, Step::Index(index));
        self.under(key)
    }

    /// The error, without line and column.
    pub fn diagnostic(&self, file: &str) -> Diagnostic {
        Diagnostic::error(file, self.message.clone()).help(self.help.clone())
    }
}
