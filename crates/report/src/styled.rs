//! Text with styles. Both are stored separately, so that no text can be mistaken for a style.

use std::fmt;
use std::ops::{Deref, Range};

use units::printable_lines;

/// Style of text on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Headings.
    Bold,
    /// Better results.
    Green,
    /// Warnings.
    Yellow,
    /// Worse results and errors.
    Red,
}

impl Style {
    /// Returns the parameter of the terminal's escape sequence.
    ///
    /// Source: ECMA-48, 8.3.117, select graphic rendition.
    const fn code(self) -> u8 {
        match self {
            Self::Bold => 1,
            Self::Green => 32,
            Self::Yellow => 33,
            Self::Red => 31,
        }
    }
}

/// A text with styled pieces. It dereferences to the text without styles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Styled {
    text: String,
    /// Byte ranges of the text with their styles, in order and without overlap.
    pieces: Vec<(Range<usize>, Style)>,
}

impl Styled {
    /// Creates a text in a single style.
    #[must_use]
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        let text = text.into();
        let pieces = vec![(0..text.len(), style)];
        Self { text, pieces }
    }

    /// Appends another text.
    #[must_use]
    pub fn then(mut self, next: impl Into<Self>) -> Self {
        self.push(next.into());
        self
    }

    /// Removes all styles.
    #[must_use]
    pub(crate) fn plain(self) -> Self {
        self.text.into()
    }

    /// Returns a part of the text, which must begin and end at character boundaries.
    pub(crate) fn slice(&self, part: Range<usize>) -> Self {
        let within = |piece: &Range<usize>| {
            let (start, end) = (piece.start.max(part.start), piece.end.min(part.end));
            (start < end).then(|| start - part.start..end - part.start)
        };
        let pieces = self.pieces.iter();
        let pieces = pieces.filter_map(|(piece, style)| Some((within(piece)?, *style)));
        Self {
            text: self.text[part.clone()].to_owned(),
            pieces: pieces.collect(),
        }
    }

    /// Joins texts with a separator.
    pub(crate) fn join(parts: impl IntoIterator<Item = Self>, separator: &str) -> Self {
        let mut joined = Self::default();
        for (index, part) in parts.into_iter().enumerate() {
            if index > 0 {
                joined.text.push_str(separator);
            }
            joined.push(part);
        }
        joined
    }

    fn push(&mut self, next: Self) {
        let start = self.text.len();
        self.text.push_str(&next.text);
        let moved = next
            .pieces
            .into_iter()
            .map(|(piece, style)| (piece.start + start..piece.end + start, style));
        self.pieces.extend(moved);
    }

    /// Makes all characters of the text visible.
    #[must_use]
    pub fn visible(&self) -> Self {
        let mut visible = Self::default();
        let mut done = 0;
        for (piece, style) in &self.pieces {
            visible.push(
                printable_lines(&self.text[done..piece.start])
                    .into_owned()
                    .into(),
            );
            let shown = printable_lines(&self.text[piece.clone()]).into_owned();
            visible.push(Self::new(shown, *style));
            done = piece.end;
        }
        visible.then(printable_lines(&self.text[done..]).into_owned())
    }

    /// Returns the text for a terminal, with escape sequences only for styles.
    #[must_use]
    pub fn painted(&self) -> String {
        let mut painted = String::with_capacity(self.text.len());
        let mut done = 0;
        for (piece, style) in &self.pieces {
            painted.push_str(&printable_lines(&self.text[done..piece.start]));
            let shown = printable_lines(&self.text[piece.clone()]);
            // The reset after each piece prevents a style from reaching the text after it.
            painted.push_str(&format!("\x1b[{}m{shown}\x1b[0m", style.code()));
            done = piece.end;
        }
        painted.push_str(&printable_lines(&self.text[done..]));
        painted
    }
}

impl From<String> for Styled {
    fn from(text: String) -> Self {
        let pieces = Vec::new();
        Self { text, pieces }
    }
}

impl From<&str> for Styled {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Deref for Styled {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Styled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl PartialEq<str> for Styled {
    fn eq(&self, other: &str) -> bool {
        self.text == other
    }
}

/// Lines of a text under construction.
#[derive(Debug, Default)]
pub(crate) struct StyledLines(Vec<Styled>);

impl StyledLines {
    pub fn push(&mut self, line: impl Into<Styled>) {
        self.0.push(line.into());
    }

    /// Joins the lines. The text ends with a line break if the last line is empty.
    pub fn into_text(self) -> Styled {
        Styled::join(self.0, "\n")
    }
}

impl<L: Into<Styled>> Extend<L> for StyledLines {
    fn extend<I: IntoIterator<Item = L>>(&mut self, lines: I) {
        self.0.extend(lines.into_iter().map(Into::into));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_imitate_styling() {
        let text = Styled::from("\x1b[31mred?\n").then(Styled::new("bold\u{202e}", Style::Bold));
        assert_eq!(
            text.painted(),
            "\\u{1b}[31mred?\n\x1b[1mbold\\u{202e}\x1b[0m"
        );
    }

    #[test]
    fn styles_move_with_their_text() {
        let mut lines = StyledLines::default();
        lines.push("a");
        lines.extend([Styled::new("b", Style::Red), "c".into()]);
        assert_eq!(lines.into_text().painted(), "a\n\x1b[31mb\x1b[0m\nc");
    }
}
