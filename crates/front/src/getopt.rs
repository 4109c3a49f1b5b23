//! Parses command lines like `getopt` and numbers like `atoi`.

use crate::options::all_of;

/// A piece of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GetoptItem {
    /// An option's letter, and its value if it takes one.
    Option(char, String),
    /// A word that is not an option.
    Operand(String),
}

/// Reads a command line like `getopt`: operands may be anywhere, letters may be joined, a value may
/// follow its letter in the same word, and `--` ends the options. `apply` gets each piece.
///
/// `letters` lists the known letters, each followed by `:` if it takes a value.
///
/// # Errors
/// All letters that are unknown or lack their value and all errors of `apply`, one per line. An
/// empty message of `apply` requests the usage and replaces all others.
pub fn read(
    arguments: &[String],
    letters: &str,
    mut apply: impl FnMut(GetoptItem) -> Result<(), String>,
) -> Result<(), String> {
    let mut flaws = Vec::new();
    for piece in split(arguments, letters) {
        match piece.and_then(&mut apply) {
            Ok(()) => {}
            Err(flaw) if flaw.is_empty() => return Err(flaw),
            Err(flaw) => flaws.push(flaw),
        }
    }
    all_of(flaws)
}

fn split(arguments: &[String], letters: &str) -> Vec<Result<GetoptItem, String>> {
    let mut pieces = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix('-') {
            Some("-") => pieces.extend(words.by_ref().cloned().map(GetoptItem::Operand).map(Ok)),
            Some(options) if !options.is_empty() => {
                let flaw = split_word(options, letters, &mut words, &mut pieces).err();
                pieces.extend(flaw.map(Err));
            }
            _ => pieces.push(Ok(GetoptItem::Operand(word.clone()))),
        }
    }
    pieces
}

/// Splits a word of options up to the first flaw, because the rest may be its value.
fn split_word<'a>(
    options: &str,
    letters: &str,
    words: &mut impl Iterator<Item = &'a String>,
    pieces: &mut Vec<Result<GetoptItem, String>>,
) -> Result<(), String> {
    let mut options = options.chars();
    while let Some(letter) = options.next() {
        // `:` marks letters that take a value, so it is never a letter itself.
        let position = letters.find(letter).filter(|_| letter != ':');
        let Some(position) = position else {
            // The original looks at single bytes, so an error shows the first byte of the letter.
            let mut bytes = [0; 4];
            let first = letter.encode_utf8(&mut bytes).as_bytes()[0];
            let shown = char::from(first).escape_default();
            return Err(format!("there is no option `-{shown}`"));
        };
        if !letters[position + letter.len_utf8()..].starts_with(':') {
            pieces.push(Ok(GetoptItem::Option(letter, String::new())));
            continue;
        }
        let value = match options.as_str() {
            "" => words.next().cloned(),
            rest => Some(rest.to_owned()),
        };
        let value = value.ok_or_else(|| format!("option `-{letter}` needs a value"))?;
        pieces.push(Ok(GetoptItem::Option(letter, value)));
        return Ok(());
    }
    Ok(())
}

/// A number as C reads it, and the text after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CNumber<'a> {
    pub value: i64,
    pub rest: &'a str,
}

/// Reads blanks, a sign and digits at the start of a text. Without digits the value is 0; values
/// that do not fit are clamped.
pub fn number(text: &str) -> CNumber<'_> {
    let text = text.trim_ascii_start();
    let (sign, digits) = match text.as_bytes().first() {
        Some(b'-') => (-1, &text[1..]),
        Some(b'+') => (1, &text[1..]),
        _ => (1, text),
    };
    let rest = digits.trim_start_matches(|it: char| it.is_ascii_digit());
    let digits = digits[..digits.len() - rest.len()].bytes();
    let value = digits.fold(0_i64, |value, digit| {
        let digit = i64::from(digit - b'0');
        value.saturating_mul(10).saturating_add(sign * digit)
    });
    CNumber { value, rest }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(String::from).collect()
    }

    fn option(letter: char, value: &str) -> GetoptItem {
        GetoptItem::Option(letter, value.into())
    }

    fn pieces(text: &str, letters: &str) -> Result<Vec<GetoptItem>, String> {
        let mut pieces = Vec::new();
        let taken = read(&words(text), letters, |piece| {
            pieces.push(piece);
            Ok(())
        });
        taken.map(|()| pieces)
    }

    #[test]
    fn letters_may_be_joined_and_values_may_follow_directly() {
        let pieces = pieces("-vn5 x -d dir -- -k", "vkn:d:").unwrap();
        let wanted = [
            option('v', ""),
            option('n', "5"),
            GetoptItem::Operand("x".into()),
            option('d', "dir"),
            GetoptItem::Operand("-k".into()),
        ];
        assert_eq!(pieces, wanted);
    }

    #[test]
    fn a_value_may_look_like_an_option_and_a_dash_is_an_operand() {
        let pieces = pieces("-n -5 -", "n:").unwrap();
        assert_eq!(pieces, [option('n', "-5"), GetoptItem::Operand("-".into())]);
    }

    #[test]
    fn unknown_options_and_missing_values_are_named() {
        let error = |text: &str| pieces(text, "n:").unwrap_err();
        assert_eq!(error("-x"), "there is no option `-x`");
        assert_eq!(error("-:"), "there is no option `-:`");
        assert_eq!(error("-n"), "option `-n` needs a value");
        assert_eq!(error("-\u{e9}"), "there is no option `-\\u{c3}`");
    }

    #[test]
    fn all_mistakes_of_a_command_line_are_listed_unless_the_usage_is_requested() {
        let apply = |piece| match piece {
            GetoptItem::Option('h', _) => Err(String::new()),
            GetoptItem::Option('k', _) => Err("no `k`".to_owned()),
            _ => Ok(()),
        };
        let error = |text: &str| read(&words(text), "hkn:", apply).unwrap_err();
        let listed = "there is no option `-Z`\nno `k`\noption `-n` needs a value";
        assert_eq!(error("-Z9 x -k -n"), listed);
        assert_eq!(error("-Z -k -h"), "");
    }

    #[test]
    fn a_number_ends_at_the_first_non_digit() {
        let read = |text: &str| {
            let number = number(text);
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
        fn splitting_words_never_panics(words in proptest::collection::vec(".{0,6}", 0..6)) {
            let _ = read(&words, "vhkFr:S:N:D:", |_| Ok(()));
            for word in &words {
                let _ = number(word);
            }
        }
    }
}
