//! The text of a source, line by line.

use plan::Diagnostic;

/// The text of a result file.
#[derive(Debug, Clone, Copy)]
pub struct ResultText<'a> {
    /// Name for messages.
    pub name: &'a str,
    /// The whole text.
    pub text: &'a str,
}

/// A line of a result file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberedLine<'a> {
    /// Number of the line, from 1.
    pub number: u32,
    /// Its text, without the line break.
    pub text: &'a str,
}

impl<'a> ResultText<'a> {
    /// The lines, in order.
    pub fn lines(&self) -> impl Iterator<Item = NumberedLine<'a>> + use<'a> {
        let numbered = (1..).zip(self.text.lines());
        numbered.map(|(number, text)| NumberedLine { number, text })
    }

    /// `true` if a line begins with this text. Programs print other lines before it.
    pub fn has_line(&self, start: &str) -> bool {
        self.text.lines().any(|line| line.starts_with(start))
    }

    /// The error for a line that does not have the expected form.
    pub fn unexpected(&self, line: NumberedLine, expected: &str) -> Diagnostic {
        Diagnostic::error(self.name, format!("expected {expected}"))
            .at_line(line.number)
            .snippet(line.text)
            .help("import the file as the program wrote it")
    }

    /// The error for a text that ends too early.
    pub fn ends_early(&self, expected: &str) -> Diagnostic {
        let last = u32::try_from(self.text.lines().count()).unwrap_or(u32::MAX);
        Diagnostic::error(self.name, format!("the file ends without {expected}"))
            .at_line(last.max(1))
            .help("import the complete output of the program")
    }
}
