//! Output before it is written: text for people, data for programs.

use std::borrow::Cow;

use report::{Format, Styled, TableFormat};
use units::{is_hidden, printable_lines};

/// A complete text, with its audience.
#[derive(Debug, Clone)]
pub(crate) enum OutputText {
    /// Text for people. Characters that control a terminal or reorder text are always made visible.
    /// Lines are wrapped at the width of the terminal.
    Prose(Styled),
    /// Text for people in a markup language, so lines are not wrapped.
    Markup(Styled),
    /// Data for programs. Unchanged, except on a terminal.
    Data(String),
    /// JSON for programs. Any character may become an escape sequence.
    Json(String),
}

impl OutputText {
    /// Wraps text for people.
    pub fn prose(text: impl Into<Styled>) -> Self {
        Self::Prose(text.into())
    }

    /// Wraps a report in this format.
    pub fn report(format: Format, text: Styled) -> Self {
        match format {
            Format::Text => Self::Prose(text),
            Format::Markdown | Format::Html | Format::Summary | Format::GithubSummary => {
                Self::Markup(text)
            }
            Format::Json | Format::FioJson | Format::Bencher => Self::Json(text.to_string()),
            Format::Csv
            | Format::IometerCsv
            | Format::Classic
            | Format::Junit
            | Format::OpenMetrics
            | Format::Influx => Self::Data(text.to_string()),
        }
    }

    /// Wraps a table of `lab` or `paper` in this format.
    pub fn side_by_side(format: TableFormat, text: Styled) -> Self {
        match format {
            TableFormat::Text => Self::Prose(text),
            TableFormat::Markdown | TableFormat::Html => Self::Markup(text),
            TableFormat::Csv => Self::Data(text.to_string()),
        }
    }

    /// Returns the text for a stream. `terminal_width` is in columns; `None` if the stream is not a
    /// terminal.
    pub fn on(&self, terminal_width: Option<usize>) -> Cow<'_, str> {
        match (self, terminal_width) {
            // Escapes make the text wider, so they must come before wrapping.
            (Self::Prose(text), Some(width)) => Cow::Owned(text.visible().folded(width).painted()),
            (Self::Prose(text) | Self::Markup(text), _) => Cow::Owned(text.painted()),
            (Self::Data(text), Some(_)) => printable_lines(text),
            (Self::Data(text), None) => Cow::Borrowed(text),
            (Self::Json(text), _) => escaped(text),
        }
    }

    /// Returns the text for a file.
    pub fn in_file(&self) -> Cow<'_, str> {
        match self {
            Self::Prose(text) | Self::Markup(text) => printable_lines(text),
            Self::Data(text) | Self::Json(text) => Cow::Borrowed(text),
        }
    }
}

/// Replaces characters that control a terminal with JSON escapes. Between values, JSON has no such
/// characters except line breaks.
fn escaped(json: &str) -> Cow<'_, str> {
    let hides = |character| is_hidden(character) && !matches!(character, '\n' | '\r' | '\t');
    if !json.contains(hides) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 64);
    for character in json.chars() {
        match hides(character) {
            true => {
                // JSON escapes are UTF-16 code units, so characters beyond U+FFFF need two.
                let mut units = [0; 2];
                for unit in character.encode_utf16(&mut units) {
                    escaped.push_str(&format!("\\u{unit:04x}"));
                }
            }
            false => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_json_keeps_its_value_without_terminal_controls() {
        let value = serde_json::json!({"a\u{202e}": ["\u{9b}2J\u{1b}", "\u{e0041}", "é"]});
        for json in [value.to_string(), format!("{value:#}")] {
            let shown = escaped(&json);
            assert!(!shown.contains(['\u{202e}', '\u{9b}', '\u{1b}', '\u{e0041}']));
            let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
            assert_eq!(read, value);
        }
    }

    #[test]
    fn in_a_file_prose_is_escaped_and_data_is_unchanged() {
        let prose = OutputText::Prose("a\x1b[31m\n".into());
        assert_eq!(prose.in_file(), "a\\u{1b}[31m\n");
        let data = OutputText::Data("a\u{202e}\r\n".to_owned());
        assert_eq!(data.in_file(), "a\u{202e}\r\n");
    }
}
