//! Wraps text, based on its width on a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::printable_lines;

/// Wraps text into lines of at most `limit` columns, at spaces, and inside longer words.
#[must_use]
pub fn wrap(text: &str, limit: usize) -> Vec<String> {
    // The width must have room for a wide character, which takes two columns.
    let limit = limit.max(2);
    let mut lines = Vec::new();
    let mut line = String::new();
    // Escapes are wider than the original characters, so they must come before the words are
    // measured.
    for word in printable_lines(text).split_whitespace() {
        let blank = usize::from(!line.is_empty());
        if line.width() + blank + word.width() <= limit {
            if blank == 1 {
                line.push(' ');
            }
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        line = break_word(word, limit, &mut lines);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Moves all but the last piece of a word into `lines`, and returns the last piece.
fn break_word(word: &str, limit: usize, lines: &mut Vec<String>) -> String {
    let mut piece = String::new();
    for character in word.chars() {
        let wide = UnicodeWidthChar::width(character).unwrap_or(0);
        if piece.width() + wide > limit && !piece.is_empty() {
            lines.push(std::mem::take(&mut piece));
        }
        piece.push(character);
    }
    piece
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_break_at_blanks() {
        assert_eq!(wrap("the quick brown fox", 10), ["the quick", "brown fox"]);
    }

    #[test]
    fn long_words_break_inside() {
        assert_eq!(
            wrap("/a/very/long/path x", 6),
            ["/a/ver", "y/long", "/path", "x"]
        );
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(wrap("企鹅测量", 4), ["企鹅", "测量"]);
    }

    #[test]
    fn blank_text_is_one_empty_line() {
        assert_eq!(wrap("  ", 10), [""]);
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(wrap("a\x1bb\nc", 8), ["a\\u{1b}b", "c"]);
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide_and_no_character_is_lost(
            text in "[a-z企 ]{0,80}",
            limit in 2_usize..30,
        ) {
            let lines = wrap(&text, limit);
            prop_assert!(lines.iter().all(|line| line.width() <= limit));
            let kept: String = lines.concat().split_whitespace().collect();
            let given: String = text.split_whitespace().collect();
            prop_assert_eq!(kept, given);
        }
    }
}
