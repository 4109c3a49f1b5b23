//! Text for people on a terminal that is narrower than its lines.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use crate::styled::{Lines, Styled};
use crate::wrap::width;

/// What stands below each other is broken below itself where so many columns are left for it.
const HANGING_WIDTH_MIN: usize = 24;
/// Else it stands below what names it, this much further right.
const INDENT: usize = 4;

impl Styled {
    /// The same text with every line that is wider than so many columns broken: at blanks, and
    /// inside words that are longer. What follows stands below the last column of the line.
    #[must_use]
    pub fn folded(&self, columns: usize) -> Self {
        // A wide character takes two columns and must fit somewhere.
        let columns = columns.max(INDENT + 2);
        if self.lines().all(|line| width(line) <= columns) {
            return self.clone();
        }
        let mut lines = Lines::default();
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

/// A part of a line that becomes one.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    /// Blanks before it.
    indent: usize,
    /// Its bytes in the line.
    text: Range<usize>,
}

fn fold(line: &str, columns: usize) -> Vec<Piece> {
    let whole = Piece {
        indent: 0,
        text: 0..line.len(),
    };
    if width(line) <= columns {
        return vec![whole];
    }
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
            pieces.extend(broken(line, text_start..gap.start, (own, own), columns));
            (indent, start) = (own + INDENT, gap.end);
        }
    }
    let first_indent = if pieces.is_empty() { own } else { indent };
    let most = columns - HANGING_WIDTH_MIN.min(columns / 2);
    let indents = (first_indent.min(most), indent.min(most));
    pieces.extend(broken(line, start..line.len(), indents, columns));
    pieces
}

/// The last two or more blanks within a line, behind which a column begins.
fn last_gap(line: &str) -> Option<Range<usize>> {
    let text = line.trim();
    let offset = line.len() - line.trim_start().len();
    let end = text.rfind("  ")? + 2;
    let start = text[..end].trim_end().len();
    Some(offset + start..offset + end)
}

/// A part of a line in pieces, the first and the others behind so many blanks.
fn broken(
    line: &str,
    part: Range<usize>,
    (first_indent, indent): (usize, usize),
    columns: usize,
) -> Vec<Piece> {
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
        pieces.push(Piece {
            indent,
            text: rest.start..rest.start + text[..length].trim_end().len(),
        });
        let blanks = text[length..].len() - text[length..].trim_start().len();
        rest.start += length + blanks;
        if rest.is_empty() {
            return pieces;
        }
    }
}

/// How many bytes of a text take at most so many columns: all, up to a blank, or within a word.
fn fitting(text: &str, columns: usize) -> usize {
    if width(text) <= columns {
        return text.len();
    }
    let mut used = 0;
    let mut end = 0;
    for (index, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
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
    fn what_fits_stays_as_it_is() {
        let text = "name   what it is\n\n  indented\n";
        assert_eq!(folded(text, 20), text);
    }

    #[test]
    fn the_last_column_is_broken_below_itself() {
        let text = "ok      io_uring  works with all that there is to be worked with\n";
        let wanted = "
ok      io_uring  works with all that
                  there is to be worked
                  with
";
        assert_eq!(folded(text, 42), wanted[1..]);
    }

    #[test]
    fn where_there_is_no_room_beside_it_it_stands_below_its_name() {
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
