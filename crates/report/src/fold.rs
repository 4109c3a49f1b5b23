//! Wraps text for people at the width of a terminal.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use crate::styled::{Styled, StyledLines};
use crate::wrap::width;

/// Minimum width of the last column in which continuation lines are aligned.
const HANGING_WIDTH_MIN: usize = 24;
/// Otherwise continuation lines are indented by this number of columns.
const INDENT: usize = 4;

impl Styled {
    /// Wraps lines that are wider than `columns`, at spaces, or inside longer words. Continuation
    /// lines are aligned with the last column of the line.
    #[must_use]
    pub fn folded(&self, columns: usize) -> Self {
        // The width must have room for a wide character, which takes two columns.
        let columns = columns.max(INDENT + 2);
        if self.lines().all(|line| width(line) <= columns) {
            return self.clone();
        }
        let mut lines = StyledLines::default();
        let mut start = 0;
        for line in self.split('\n') {
            let pieces = fold(line, columns);
            lines.extend(pieces.into_iter().map(|piece| {
                let Range { start: from, end } = piece.text;
                let text = self.slice(start + from..start + end);
                Self::from(" ".repeat(piece.indent)).then(text)
            }));
            start += line.len() + 1;
        }
        lines.into_text()
    }
}

/// A piece of a line that becomes a line.
#[derive(Debug, PartialEq, Eq)]
struct FoldPiece {
    /// Number of spaces before it.
    indent: usize,
    /// Byte range in the line.
    text: Range<usize>,
}

fn fold(line: &str, columns: usize) -> Vec<FoldPiece> {
    let unbroken = FoldPiece {
        indent: 0,
        text: 0..line.len(),
    };
    if width(line) <= columns {
        return vec![unbroken];
    }
    // A deep indent would leave too few columns for the text.
    let own = match line.len() - line.trim_start().len() {
        deep if deep > INDENT && deep + HANGING_WIDTH_MIN > columns => INDENT,
        own => own,
    };
    let text_start = line.len() - line.trim_start().len();
    let (mut pieces, mut indent, mut start) = (Vec::new(), own, text_start);
    if let Some(gap) = last_gap(line) {
        let hanging = width(&line[..gap.end]);
        if hanging + HANGING_WIDTH_MIN <= columns {
            indent = hanging;
        } else {
            // The last column has no room next to the others, so its text follows below them.
            pieces.extend(broken(line, text_start..gap.start, (own, own), columns));
            (indent, start) = (own + INDENT, gap.end);
        }
    }
    let first_indent = if pieces.is_empty() { own } else { indent };
    // In narrow output, at least half of each line is text.
    let most = columns - HANGING_WIDTH_MIN.min(columns / 2);
    let indents = (first_indent.min(most), indent.min(most));
    pieces.extend(broken(line, start..line.len(), indents, columns));
    pieces
}

/// Returns the last gap of two or more spaces within a line, which precedes a column.
fn last_gap(line: &str) -> Option<Range<usize>> {
    let text = line.trim();
    let offset = line.len() - line.trim_start().len();
    // Columns have at least two spaces between them. A single one belongs to a text.
    let end = text.rfind("  ")? + 2;
    let start = text[..end].trim_end().len();
    Some(offset + start..offset + end)
}

/// Breaks a part of a line into pieces, with these indents of the first and of the other pieces.
fn broken(
    line: &str,
    part: Range<usize>,
    (first_indent, indent): (usize, usize),
    columns: usize,
) -> Vec<FoldPiece> {
    let mut pieces = Vec::new();
    let mut rest = part;
    loop {
        let indent = if pieces.is_empty() {
            first_indent
        } else {
            indent
        };
        let text = &line[rest.clone()];
        let length = fitting(text, columns - indent);
        pieces.push(FoldPiece {
            indent,
            text: rest.start..rest.start + text[..length].trim_end().len(),
        });
        // The blanks at a break belong to neither piece.
        let blanks = text[length..].len() - text[length..].trim_start().len();
        rest.start += length + blanks;
        if rest.is_empty() {
            return pieces;
        }
    }
}

/// Returns the number of bytes of a text that fit into `columns`: all, up to a space, or within a
/// word.
fn fitting(text: &str, columns: usize) -> usize {
    if width(text) <= columns {
        return text.len();
    }
    let mut used = 0;
    let mut end = 0;
    for (index, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        // Each piece takes at least one character, so that the caller's loop ends.
        if used > columns && end > 0 {
            break;
        }
        end = index + character.len_utf8();
    }
    let is_between_words = text[end..].starts_with(' ') || text[..end].ends_with(' ');
    let at_blank = text[..end].rfind(' ').filter(|_| !is_between_words);
    let blank = at_blank.filter(|at| !text[..*at].trim().is_empty());
    blank.unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::styled::Style;

    fn folded(text: &str, columns: usize) -> String {
        Styled::from(text).folded(columns).to_string()
    }

    #[test]
    fn text_that_fits_is_unchanged() {
        let text = "name   what it is\n\n  indented\n";
        assert_eq!(folded(text, 20), text);
    }

    #[test]
    fn the_last_column_wraps_below_itself() {
        let text = "ok      io_uring  works with all that there is to be worked with\n";
        let wanted = "
ok      io_uring  works with all that
                  there is to be worked
                  with
";
        assert_eq!(folded(text, 42), wanted[1..]);
    }

    #[test]
    fn without_room_on_the_line_the_description_goes_below_the_name() {
        let text = "  randrw-4k                Random reads and writes, 70 % reads";
        let wanted = "
  randrw-4k
      Random reads and writes,
      70 % reads";
        assert_eq!(folded(text, 30), wanted[1..]);
    }

    #[test]
    fn sentences_keep_their_indent() {
        let text = "    a sentence that is too long for its line";
        assert_eq!(
            folded(text, 30),
            "    a sentence that is too\n    long for its line"
        );
        assert_eq!(
            folded("/a/very/long/path/of/a/file", 10),
            "/a/very/lo\nng/path/of\n/a/file"
        );
    }

    #[test]
    fn styles_stay_with_their_text() {
        let text = Styled::from("a ").then(Styled::new("bold text", Style::Bold));
        let shown = text.folded(7).painted();
        assert_eq!(shown, "a \x1b[1mbold\x1b[0m\n\x1b[1mtext\x1b[0m");
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide_and_no_character_is_lost(
            text in "[a-z企 ]{0,60}(\n[a-z ]{0,60})?",
            columns in 6_usize..50,
        ) {
            let shown = folded(&text, columns);
            prop_assert!(shown.lines().all(|line| width(line) <= columns), "{shown}");
            let kept: String = shown.split_whitespace().collect();
            let given: String = text.split_whitespace().collect();
            prop_assert_eq!(kept, given);
        }
    }
}
