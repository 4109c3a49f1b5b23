//! Command lines as `getopt` and `atoi` read them.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Why a classic's command line was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What is wrong; empty if only the usage was asked for.
    pub message: String,
    /// How the classic is used, with a line break at its end.
    pub usage: &'static str,
    /// What the classic exits with.
    pub exit_code: u8,
}

/// A piece of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// An option's letter, and its value if it takes one.
    Option(char, OsString),
    /// What is not an option.
    Operand(OsString),
}

/// Splits a command line: operands may stand anywhere, letters may be joined, a value may stand
/// in the same word, and `--` ends the options.
///
/// `letters` are those that are known, each followed by `:` if it takes a value.
///
/// # Errors
/// A letter that is not known, or that lacks its value.
pub(super) fn split(arguments: &[OsString], letters: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut words: VecDeque<&OsStr> = arguments.iter().map(OsString::as_os_str).collect();
    while let Some(word) = words.pop_front() {
        match word.as_bytes() {
            b"--" => {
                let rest = words.drain(..);
                pieces.extend(rest.map(|word| Piece::Operand(word.to_owned())));
            }
            [b'-', options @ ..] if !options.is_empty() => {
                split_word(options, letters, &mut words, &mut pieces)?;
            }
            _ => pieces.push(Piece::Operand(word.to_owned())),
        }
    }
    Ok(pieces)
}

fn split_word(
    mut options: &[u8],
    letters: &str,
    words: &mut VecDeque<&OsStr>,
    pieces: &mut Vec<Piece>,
) -> Result<(), String> {
    while let Some((&letter, rest)) = options.split_first() {
        let letter = char::from(letter);
        let place = letters.find(letter).filter(|_| letter != ':');
        let Some(place) = place else {
            let shown: String = letter.escape_default().collect();
            return Err(format!("there is no option `-{shown}`"));
        };
        if !letters[place + letter.len_utf8()..].starts_with(':') {
            pieces.push(Piece::Option(letter, OsString::new()));
            options = rest;
            continue;
        }
        let value = if rest.is_empty() {
            let next = words.pop_front().map(OsStr::to_owned);
            next.ok_or_else(|| format!("option `-{letter}` lacks its value"))?
        } else {
            OsString::from_vec(rest.to_vec())
        };
        pieces.push(Piece::Option(letter, value));
        return Ok(());
    }
    Ok(())
}

/// A number as C reads it, and what it did not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number<'a> {
    pub(super) value: i64,
    pub(super) rest: &'a [u8],
}

/// The number at the start of a text: blanks, a sign, digits; 0 if there are none.
pub(super) fn number(text: &[u8]) -> Number<'_> {
    let start = text.iter().take_while(|byte| byte.is_ascii_whitespace());
    let text = &text[start.count()..];
    let (sign, digits) = match text.split_first() {
        Some((b'-', rest)) => (-1, rest),
        Some((b'+', rest)) => (1, rest),
        _ => (1, text),
    };
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit());
    let (digits, rest) = digits.split_at(length.count());
    let value = digits.iter().fold(0_i64, |value, digit| {
        let digit = i64::from(digit - b'0');
        value.saturating_mul(10).saturating_add(sign * digit)
    });
    Number { value, rest }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    fn option(letter: char, value: &str) -> Piece {
        Piece::Option(letter, value.into())
    }

    #[test]
    fn letters_may_be_joined_and_values_may_follow_at_once() {
        let pieces = split(&words("-vn5 x -d dir -- -k"), "vkn:d:").unwrap();
        let wanted = [
            option('v', ""),
            option('n', "5"),
            Piece::Operand("x".into()),
            option('d', "dir"),
            Piece::Operand("-k".into()),
        ];
        assert_eq!(pieces, wanted);
    }

    #[test]
    fn a_value_may_look_like_an_option_and_a_dash_is_an_operand() {
        let pieces = split(&words("-n -5 -"), "n:").unwrap();
        assert_eq!(pieces, [option('n', "-5"), Piece::Operand("-".into())]);
    }

    #[test]
    fn what_is_not_known_or_lacks_its_value_is_named() {
        let error = |text: &str| split(&words(text), "n:").unwrap_err();
        assert_eq!(error("-x"), "there is no option `-x`");
        assert_eq!(error("-:"), "there is no option `-:`");
        assert_eq!(error("-n"), "option `-n` lacks its value");
        let raw = OsString::from_vec(vec![b'-', 0xff]);
        assert!(split(&[raw], "n:").is_err());
    }

    #[test]
    fn numbers_end_where_their_digits_end() {
        let read = |text: &str| {
            let number = number(text.as_bytes());
            (number.value, number.rest.len())
        };
        assert_eq!(read("12"), (12, 0));
        assert_eq!(read(" -12k"), (-12, 1));
        assert_eq!(read("x"), (0, 1));
        assert_eq!(read(""), (0, 0));
        assert_eq!(read("99999999999999999999"), (i64::MAX, 0));
        assert_eq!(read("-99999999999999999999"), (i64::MIN, 0));
    }

    proptest! {
        #[test]
        fn no_command_line_panics(
            bytes in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..6), 0..6),
        ) {
            let words: Vec<_> = bytes.into_iter().map(OsString::from_vec).collect();
            let _ = split(&words, "vhkFr:S:N:D:");
            for word in &words {
                let _ = number(word.as_bytes());
            }
        }
    }
}
