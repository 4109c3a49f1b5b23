//! Words, numbers, texts and marks of a script.

use workload::printable;

use super::script::{Place, Read, error};
use crate::scanning::{quoted, split};

/// The smallest piece of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A word, a name or a path.
    Word(&'a str),
    /// What stood between quotation marks, as it was written.
    Quoted(&'a str),
    /// The name behind a dollar sign.
    Variable(&'a str),
    Number(i64),
    /// `{ } ( ) = , *`
    Mark(char),
    End,
}

impl Token<'_> {
    /// As messages show it.
    pub(super) fn shown(self) -> String {
        match self {
            Self::Word(word) => format!("`{}`", printable(word)),
            Self::Quoted(text) => format!("`\"{}\"`", printable(&unescaped(text))),
            Self::Variable(name) => format!("`${}`", printable(name)),
            Self::Number(number) => format!("`{number}`"),
            Self::Mark(mark) => format!("`{mark}`"),
            Self::End => "the end of the file".to_owned(),
        }
    }
}

/// All tokens of a script with where they begin; the last is [`Token::End`].
pub(super) fn tokens(text: &str) -> Read<Vec<(Token<'_>, Place)>> {
    let mut place = Place { line: 1, column: 1 };
    let mut rest = text;
    let mut tokens = Vec::new();
    loop {
        let begin = without_blanks(rest);
        place = behind(place, &rest[..rest.len() - begin.len()]);
        let (token, end) = token(begin).map_err(|(message, help)| error(place, message, help))?;
        tokens.push((token, place));
        if token == Token::End {
            return Ok(tokens);
        }
        place = behind(place, &begin[..begin.len() - end.len()]);
        rest = end;
    }
}

/// The place behind a text that begins at a place.
fn behind(place: Place, text: &str) -> Place {
    text.chars().fold(place, |place, char| match char {
        '\n' => Place {
            line: place.line.saturating_add(1),
            column: 1,
        },
        _ => Place {
            column: place.column.saturating_add(1),
            ..place
        },
    })
}

/// What stands behind white space, comments, and backslashes that carry a line on.
fn without_blanks(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        rest = match rest.as_bytes() {
            [b'#', ..] => rest.trim_start_matches(|char| char != '\n'),
            [b'\\', b'\n', ..] | [b'\\', b'\r', b'\n', ..] => &rest[1..],
            _ => return rest,
        };
    }
}

/// A token and what stands behind it; else what is wrong, and what helps.
fn token(text: &str) -> Result<(Token<'_>, &str), (String, &'static str)> {
    let Some(first) = text.chars().next() else {
        return Ok((Token::End, text));
    };
    let numbered = |digits: &str, number: Option<i64>, help| match number {
        Some(number) => Ok(Token::Number(number)),
        None => Err((format!("`{}` is not a number", printable(digits)), help)),
    };
    match first {
        '{' | '}' | '(' | ')' | '=' | ',' | '*' => Ok((Token::Mark(first), &text[1..])),
        '"' => match quoted(&text[1..]) {
            Some((quoted, rest)) => Ok((Token::Quoted(quoted), rest)),
            None => Err((
                "a text has no end".to_owned(),
                "close it with a quotation mark",
            )),
        },
        '$' => match variable(&text[1..]) {
            Some((name, rest)) => Ok((Token::Variable(name), rest)),
            None => {
                let help = "write a name behind the dollar sign, such as `$nfiles`";
                Err(("a variable has no name".to_owned(), help))
            }
        },
        '0'..='9' => {
            let (digits, rest) = split(text, |char| char.is_ascii_alphanumeric() || char == '.');
            let help = "write a whole number, with `k`, `m` or `g` for powers of 1024";
            Ok((numbered(digits, number(digits), help)?, rest))
        }
        '-' | '/' | 'A'..='Z' | 'a'..='z' => {
            let is_part = |char: char| char.is_ascii_alphanumeric() || "/._:;-".contains(char);
            let (word, rest) = split(text, is_part);
            let digits = word.strip_prefix('-').unwrap_or_default();
            let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
            let token = match is_number {
                true => numbered(word, word.parse().ok(), "write a smaller one")?,
                false => Token::Word(word),
            };
            Ok((token, rest))
        }
        _ => {
            let message = format!("`{}` has no meaning here", printable(&first.to_string()));
            let help = "put texts between quotation marks, and comments behind `#`";
            Err((message, help))
        }
    }
}

/// The name behind a dollar sign, perhaps in parentheses or braces, and what stands behind it.
fn variable(text: &str) -> Option<(&str, &str)> {
    let (text, closing) = match text.as_bytes().first()? {
        b'(' => (&text[1..], ")"),
        b'{' => (&text[1..], "}"),
        _ => (text, ""),
    };
    let (name, rest) = split(text, |char| char.is_ascii_alphanumeric() || char == '_');
    let rest = rest.strip_prefix(closing)?;
    (!name.is_empty()).then_some((name, rest))
}

/// A whole number with a suffix.
pub(super) fn number(text: &str) -> Option<i64> {
    let suffixes = [("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30)];
    let mut sized = suffixes.iter();
    let sized = sized.find_map(|(suffix, factor)| Some((text.strip_suffix(suffix)?, *factor)));
    let (digits, factor) = sized.unwrap_or((text, 1));
    digits.parse::<i64>().ok()?.checked_mul(factor)
}

/// What stood between quotation marks. A dollar sign that begins no variable keeps its backslash.
pub(super) fn unescaped(quoted: &str) -> String {
    let mut text = String::new();
    let mut chars = quoted.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('$') => text.push_str("\\$"),
                other => text.extend(other),
            },
            char => text.push(char),
        }
    }
    text
}

/// A text with its variables replaced; else the name of the one that is not known.
pub(super) fn expanded(
    text: &str,
    look_up: impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        let is_escaped = before.ends_with('\\');
        whole.push_str(before.strip_suffix('\\').unwrap_or(before));
        rest = match variable(behind).filter(|_| !is_escaped) {
            Some((name, behind)) => {
                whole.push_str(&look_up(name).ok_or_else(|| name.to_owned())?);
                behind
            }
            None => {
                whole.push('$');
                behind
            }
        };
    }
    whole.push_str(rest);
    Ok(whole)
}
