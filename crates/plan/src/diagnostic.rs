//! Findings about a workload file: location, problem, expected value and one action.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{elide_long_words, printable_message};

/// Severity of a finding.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file is used; the warning explains how it was understood.
    Warning,
    /// The file cannot be used.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// Code of a finding in records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DiagnosticCode {
    /// A test file or a part of a device is smaller than requested, or than the default.
    SizeReduced,
    /// Requests are aligned to a larger value than requested.
    AlignmentRaised,
    /// pgmeter deviates from the behavior of the program that the file was written for.
    DiffersFromOriginal,
}

/// One finding about a workload file.
///
/// Printed in the form of all messages: problem, location, the line itself, one action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, JsonSchema)]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// Code in records, if it has one.
    pub code: Option<DiagnosticCode>,
    /// The file's name as the user gave it; empty when there is no file.
    pub file: String,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// Problem and expected value: lower case, no full stop.
    pub message: String,
    /// One action that helps.
    pub help: Option<String>,
    /// Text of the line, shown below the location.
    pub snippet: Option<Box<str>>,
    /// The next finding about the same text, printed after this one.
    #[serde(skip)]
    pub next: Option<Box<Diagnostic>>,
}

impl Diagnostic {
    /// Joins the findings in the order of their lines; `None` if there are none.
    #[must_use]
    pub fn all(mut findings: Vec<Diagnostic>) -> Option<Diagnostic> {
        // The sort is stable, so findings about one line keep their order.
        findings.sort_by_key(|it| it.line);
        let mut findings = findings.into_iter();
        Some(findings.next()?.followed_by(findings))
    }

    /// Adds findings that are printed after this one, in their order.
    #[must_use]
    pub fn followed_by(mut self, findings: impl DoubleEndedIterator<Item = Diagnostic>) -> Self {
        // From the last one back, because each finding owns the next.
        self.last().next = findings.rev().fold(None, |next, mut finding| {
            finding.last().next = next;
            Some(Box::new(finding))
        });
        self
    }

    /// The finding that is printed last.
    fn last(&mut self) -> &mut Self {
        match self.next {
            Some(ref mut next) => next.last(),
            None => self,
        }
    }

    /// An error without a location.
    pub fn error(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, file.into(), message.into())
    }

    /// A warning without a location.
    pub fn warning(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, file.into(), message.into())
    }

    fn new(severity: Severity, file: String, message: String) -> Self {
        Self {
            severity,
            code: None,
            file,
            line: None,
            column: None,
            message: elide_long_words(&message).into_owned(),
            help: None,
            snippet: None,
            next: None,
        }
    }

    /// Adds the line, counted from 1.
    #[must_use]
    pub fn at_line(mut self, line: u32) -> Self {
        self.line = Some(line);
        self
    }

    /// Adds line and column, both counted from 1.
    #[must_use]
    pub fn at(mut self, line: u32, column: u32) -> Self {
        self.line = Some(line);
        self.column = Some(column);
        self
    }

    /// Sets the code for records.
    #[must_use]
    pub fn code(mut self, code: DiagnosticCode) -> Self {
        self.code = Some(code);
        self
    }

    /// Adds one action that helps.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(elide_long_words(&help.into()).into_owned());
        self
    }

    /// Adds the line's text; control characters are made visible, and a long line is cut.
    #[must_use]
    pub fn snippet(mut self, line: &str) -> Self {
        self.snippet = Some(printable(line).into());
        self
    }

    /// `true` if the file cannot be used.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Maximum length of a quoted piece of a file, in characters.
const SNIPPET_CHARS: usize = 120;

/// A line of a file in a form that is safe to print: one line, no control characters, limited
/// length.
#[must_use]
pub fn printable(line: &str) -> String {
    let line = line.trim_end();
    let start: String = line.chars().take(SNIPPET_CHARS).collect();
    // As an escape, a tab would make a quoted line hard to read.
    let mut shown = units::printable(&start.replace('\t', " ")).into_owned();
    if line.chars().nth(SNIPPET_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Files and names are untrusted text: none of them may look like a line printed by pgmeter.
        write!(f, "{}: {}", self.severity, printable_message(&self.message))?;
        if !self.file.is_empty() {
            write!(f, "\n  --> {}", printable_message(&self.file))?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
                if let Some(column) = self.column {
                    write!(f, ":{column}")?;
                }
            }
        }
        if let (Some(snippet), Some(line)) = (&self.snippet, self.line) {
            write!(f, "\n{line:>4} | {}", printable_message(snippet))?;
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {}", printable_message(help))?;
        }
        self.next.iter().try_for_each(|it| write!(f, "\n{it}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_place_and_one_action() {
        let text = Diagnostic::error("a.icf", "access lines of `File Server` add up to 96 %")
            .at_line(24)
            .help("give the missing line its share")
            .to_string();
        assert_eq!(
            text,
            "error: access lines of `File Server` add up to 96 %\n  --> a.icf:24\n\
             help: give the missing line its share"
        );
    }

    #[test]
    fn the_line_itself_is_shown_with_its_number_and_column() {
        let text = Diagnostic::warning("a.icf", "odd")
            .at(7, 3)
            .snippet("\tx\u{7}y\r\n")
            .to_string();
        assert_eq!(text, "warning: odd\n  --> a.icf:7:3\n   7 |  x\\u{7}y");
    }

    #[test]
    fn a_finding_without_a_file_has_no_place() {
        assert_eq!(
            Diagnostic::error("", "nothing to run").to_string(),
            "error: nothing to run"
        );
    }

    #[test]
    fn all_findings_are_printed_in_the_order_of_their_lines() {
        let finding = |line| Diagnostic::error("a.fio", format!("at {line}")).at_line(line);
        let all = Diagnostic::all(vec![finding(3), finding(1)]).unwrap();
        let wanted = "error: at 1\n  --> a.fio:1\nerror: at 3\n  --> a.fio:3";
        assert_eq!(all.to_string(), wanted);
        assert!(Diagnostic::all(Vec::new()).is_none());
    }

    #[test]
    fn long_lines_are_cut() {
        let shown = printable(&"a".repeat(500));
        assert_eq!(shown.chars().count(), SNIPPET_CHARS + 1);
        assert!(shown.ends_with('…'));
    }
}
