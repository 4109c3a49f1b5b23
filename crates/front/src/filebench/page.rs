//! A script as messages point at it.

use workload::Diagnostic;

/// Where something stands; both are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub line: u32,
    pub column: u32,
}

impl Place {
    pub(super) const START: Self = Self { line: 1, column: 1 };
}

/// A script with its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl Page<'_> {
    pub(super) fn error(&self, place: Place, message: impl Into<String>) -> Diagnostic {
        let line = self.text.lines().nth(place.line as usize - 1);
        Diagnostic::error(self.file, message)
            .at(place.line, place.column)
            .snippet(line.unwrap_or_default())
    }
}
