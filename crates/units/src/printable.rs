//! Makes untrusted text safe to print: characters that would affect the terminal or the surrounding
//! text are written as escapes.

use std::borrow::Cow;

/// `true` if a character has an effect instead of a visible form: control characters, and format
/// characters that have no width or change the order of the surrounding text.
///
/// Source: Unicode 16.0, general categories Cc and Cf, and UAX #9 on bidirectional formatting.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// `text` on one line, with all characters that [`is_hidden`] selects as escapes such as `\n` and
/// `\u{1b}`.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    shown(text, |_, _| false)
}

/// As [`printable`], but keeps line breaks and tabs.
#[must_use]
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    shown(text, is_layout)
}

/// As [`printable`], for a message that quotes lines of a file. Line breaks are kept only before
/// indented lines, so that a quoted line cannot look like a message of pgmeter.
/// [`elide_long_words`] shortens long words and quotes.
#[must_use]
pub fn printable_message(text: &str) -> Cow<'_, str> {
    let is_kept = |character: char, rest: &str| character == '\n' && rest.starts_with("  ");
    match elide_long_words(text) {
        Cow::Borrowed(text) => shown(text, is_kept),
        Cow::Owned(text) => Cow::Owned(shown(&text, is_kept).into_owned()),
    }
}

/// Maximum length of a word in a message, in characters; most paths are shorter.
const WORD_CHARS_MAX: usize = 512;
/// Maximum length of a quote between backticks in a message, in characters.
const QUOTE_CHARS_MAX: usize = 1024;
/// Maximum length of a message, in characters.
const MESSAGE_CHARS_MAX: usize = 16 << 10;
/// Number of characters kept at the start and at the end of a shortened text.
const KEPT_CHARS: (usize, usize) = (200, 40);

/// A message in which long words and quotes are shortened to their start, `…` and their end.
#[must_use]
pub fn elide_long_words(message: &str) -> Cow<'_, str> {
    // A character has at least one byte.
    if message.len() <= WORD_CHARS_MAX {
        return Cow::Borrowed(message);
    }
    let quotes = message.split('`').count();
    let mut short = String::new();
    for (index, piece) in message.split('`').enumerate() {
        if index > 0 {
            short.push('`');
        }
        // Text without a closing backtick is not a quote.
        let is_quote = index % 2 == 1 && index + 1 < quotes;
        // A quote with blanks is a line of a file or a command, which needs more room than a word.
        if is_quote && piece.contains(char::is_whitespace) {
            short.push_str(&excerpt(piece, QUOTE_CHARS_MAX));
        } else {
            for word in piece.split_inclusive(char::is_whitespace) {
                short.push_str(&excerpt(word, WORD_CHARS_MAX));
            }
        }
    }
    match excerpt(&short, MESSAGE_CHARS_MAX) {
        Cow::Borrowed(same) if same == message => Cow::Borrowed(message),
        short => Cow::Owned(short.into_owned()),
    }
}

/// The text, or its start and its end if it has more than `chars_max` characters.
fn excerpt(text: &str, chars_max: usize) -> Cow<'_, str> {
    // The length in bytes decides most cases without a walk over the characters.
    if text.len() <= chars_max || text.chars().nth(chars_max).is_none() {
        return Cow::Borrowed(text);
    }
    let (head, tail) = KEPT_CHARS;
    let head: String = text.chars().take(head).collect();
    let tail = text.char_indices().rev().nth(tail - 1);
    let tail = tail.map_or("", |(at, _)| &text[at..]);
    Cow::Owned(format!("{head}…{tail}"))
}

/// As [`printable_lines`], for text that need not be UTF-8. Bytes that are not control characters
/// in any encoding stay unchanged.
#[must_use]
pub fn printable_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return match printable_lines(text) {
            Cow::Borrowed(_) => Cow::Borrowed(bytes),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        };
    }
    let mut shown = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        shown.extend_from_slice(printable_lines(chunk.valid()).as_bytes());
        for byte in chunk.invalid() {
            match byte {
                // Terminals with an 8-bit encoding take these bytes as control characters; 0x9b
                // starts an escape sequence.
                0x80..=0x9f => shown.extend(format!("\\x{byte:02x}").bytes()),
                _ => shown.push(*byte),
            }
        }
    }
    Cow::Owned(shown)
}

/// Whether a character is part of the layout of a text; `rest` is the text after it.
fn is_layout(character: char, rest: &str) -> bool {
    match character {
        '\n' | '\t' => true,
        // Part of a line break on other systems; alone, it would overwrite the line.
        '\r' => rest.starts_with('\n'),
        _ => false,
    }
}

fn shown(text: &str, is_kept: impl Fn(char, &str) -> bool) -> Cow<'_, str> {
    let hides = |(start, found): (usize, char)| {
        is_hidden(found) && !is_kept(found, &text[start + found.len_utf8()..])
    };
    // Nearly all text has nothing to hide, so it is returned without a copy.
    let Some(first) = text.char_indices().position(hides) else {
        return Cow::Borrowed(text);
    };
    let mut shown = String::with_capacity(text.len() + 16);
    for (index, (start, character)) in text.char_indices().enumerate() {
        match index >= first && hides((start, character)) {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn terminal_control_characters_print_as_escapes() {
        let hostile = "\u{1b}]0;t\u{7}\u{9b}2J\u{202e}a\r\nb\u{7f}";
        let wanted = "\\u{1b}]0;t\\u{7}\\u{9b}2J\\u{202e}a\\r\\nb\\u{7f}";
        assert_eq!(printable(hostile), wanted);
    }

    #[test]
    fn tabs_and_newlines_stay_only_in_multiline_text() {
        assert_eq!(printable_lines("a\tb\r\nc\rd"), "a\tb\r\nc\\rd");
        assert_eq!(printable("a\tb"), "a\\tb");
    }

    #[test]
    fn a_message_cannot_forge_another_one() {
        assert_eq!(
            printable_message("failed:\n  why\nerror: forged"),
            "failed:\n  why\\nerror: forged"
        );
    }

    #[test]
    fn a_message_quotes_the_start_and_end_of_a_long_value() {
        let long = "x".repeat(8 << 20);
        for message in [
            format!("`{long}` is not a size"),
            format!("unknown variant {long}, expected one of `a`, `b`"),
            format!("`a {long} b` is not a list"),
            format!("`{} ` is not a list", "word ".repeat(1 << 20)),
            "word ".repeat(1 << 20),
            format!("{}`", long),
        ] {
            let shown = printable_message(&message);
            assert!(shown.len() < 3 * MESSAGE_CHARS_MAX && shown.contains('…'));
            assert!(shown.starts_with(&message[..40]));
            assert!(shown.ends_with(&message[message.len() - 6..]));
        }
        let path = format!("cannot open `/{}`", "name/".repeat(60));
        assert_eq!(printable_message(&path), path);
        let sizes = format!("`{}` is not a size", "ä".repeat(WORD_CHARS_MAX));
        assert_eq!(printable_message(&sizes), sizes);
    }

    #[test]
    fn letters_of_every_script_stay_unchanged() {
        for text in ["µs ± é", "企鹅", "עברית العربية", "🐧", "`C:\\x`"] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn invalid_utf8_bytes_stay_unless_a_terminal_could_act_on_them() {
        assert_eq!(*printable_bytes(b"caf\xe9\n"), *b"caf\xe9\n");
        assert_eq!(*printable_bytes(b"\x9b2J\x1b\xff"), *b"\\x9b2J\\u{1b}\xff");
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(text in any::<String>(), bytes in any::<Vec<u8>>()) {
            prop_assert!(!printable(&text).contains(is_hidden));
            let is_left = |c: char| is_hidden(c) && !matches!(c, '\n' | '\t' | '\r');
            prop_assert!(!printable_lines(&text).contains(is_left));
            let shown = printable_bytes(&bytes);
            prop_assert!(!shown.utf8_chunks().any(|chunk| chunk.valid().contains(is_left)));
            prop_assert!(!shown.contains(&0x1b));
        }

        #[test]
        fn printable_text_stays_unchanged(text in "[ -~é企]{0,40}") {
            prop_assert_eq!(printable(&text), text.as_str());
        }
    }
}
