//! Tokens of other programs' files: words, texts, variables, numbers and marks.

use description::nearest;
use plan::{Diagnostic, printable};

use crate::scanning::{quoted, split};

/// A position in a file; both numbers start at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourcePosition {
    /// The line, from 1.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// An error at a position of a file that is not named yet, with its help.
pub fn error(
    position: SourcePosition,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Diagnostic {
    let error = Diagnostic::error("", message);
    error.at(position.line, position.column).help(help)
}

/// Help that suggests the known name most similar to `word`; `otherwise` if none is similar.
pub fn meant<'a>(
    word: &str,
    known: impl Iterator<Item = &'a str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    nearest(word, known).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}

/// The error that `word` is unknown, with the most similar known name or `otherwise` as help.
pub fn unknown<'a>(
    position: SourcePosition,
    problem: &str,
    word: &str,
    known: impl Iterator<Item = &'a str>,
    otherwise: impl FnOnce() -> String,
) -> Diagnostic {
    let message = format!("{problem} `{}`", printable(word));
    error(position, message, meant(word, known, otherwise))
}

/// Index of a name among the known ones, from 0.
///
/// # Errors
/// The name is unknown; the help is the most similar known name, or `otherwise` if none is similar.
pub fn index_among<'a>(
    position: SourcePosition,
    problem: &str,
    word: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    otherwise: impl FnOnce() -> String,
) -> Result<usize, Diagnostic> {
    let number = known.clone().position(|it| it == word);
    number.ok_or_else(|| unknown(position, problem, word, known, otherwise))
}

/// The smallest unit of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// A word, a name or a path.
    Word(&'a str),
    /// The text between quotation marks, with its escapes unresolved.
    Quoted(&'a str),
    /// The name after a dollar sign.
    Variable(&'a str),
    /// A whole number.
    Number(i64),
    /// One of the language's marks.
    Mark(char),
    /// The end of the text, after all other tokens.
    End,
}

impl Token<'_> {
    /// The token as messages show it.
    pub fn shown(self) -> String {
        match self {
            Self::Word(word) => format!("`{}`", printable(word)),
            Self::Quoted(text) => format!("`\"{}\"`", printable(&resolve_escapes(text))),
            Self::Variable(name) => format!("`${}`", printable(name)),
            Self::Number(number) => format!("`{number}`"),
            Self::Mark(mark) => format!("`{mark}`"),
            Self::End => "the end of the file".to_owned(),
        }
    }
}

/// Tokens of a language in addition to words and quoted texts.
pub struct Language {
    /// Marks, each of which is a token.
    pub marks: &'static str,
    /// `true` if words may begin with the character.
    pub begins_word: fn(char) -> bool,
    /// `true` if words may continue with the character.
    pub is_in_word: fn(char) -> bool,
    /// `true` if the language has numbers, variables after dollar signs, comments after `#`, and
    /// backslashes that escape the next character.
    pub is_script: bool,
}

impl Language {
    /// All tokens of a text with their positions; the last is [`Token::End`].
    ///
    /// # Errors
    /// The first piece that is not a token.
    pub fn tokens<'a>(
        &self,
        text: &'a str,
    ) -> Result<Vec<(Token<'a>, SourcePosition)>, Diagnostic> {
        let mut position = SourcePosition { line: 1, column: 1 };
        let mut rest = text;
        let mut tokens = Vec::new();
        loop {
            let begin = self.skip_blanks(rest);
            position = position_after(position, &rest[..rest.len() - begin.len()]);
            let token = self.token(begin);
            let (token, end) = token.map_err(|(message, help)| error(position, message, help))?;
            tokens.push((token, position));
            if token == Token::End {
                return Ok(tokens);
            }
            position = position_after(position, &begin[..begin.len() - end.len()]);
            rest = end;
        }
    }

    /// The words and quoted texts of a line, up to the first other token.
    ///
    /// # Errors
    /// The message for a piece that is not a token.
    pub fn words<'a>(&self, line: &'a str) -> Result<Vec<&'a str>, String> {
        let mut rest = line;
        let mut words = Vec::with_capacity(8);
        loop {
            let token = self.token(self.skip_blanks(rest));
            let (token, behind) = token.map_err(|(message, _)| message)?;
            match token {
                Token::Word(word) | Token::Quoted(word) => words.push(word),
                _ => return Ok(words),
            }
            rest = behind;
        }
    }

    /// Skips white space, comments, and backslashes at line ends.
    fn skip_blanks<'a>(&self, text: &'a str) -> &'a str {
        let mut rest = text;
        loop {
            rest = rest.trim_ascii_start();
            rest = match rest.as_bytes() {
                _ if !self.is_script => return rest,
                [b'#', ..] => rest.trim_start_matches(|char| char != '\n'),
                [b'\\', b'\n', ..] | [b'\\', b'\r', b'\n', ..] => &rest[1..],
                _ => return rest,
            };
        }
    }

    /// A token and the text after it, or an error's message and help.
    fn token<'a>(&self, text: &'a str) -> Result<(Token<'a>, &'a str), (String, &'static str)> {
        let Some(first) = text.chars().next() else {
            return Ok((Token::End, text));
        };
        let after = &text[first.len_utf8()..];
        match first {
            '"' => {
                let quoted = match self.is_script {
                    true => quoted(after),
                    // Without escapes, a backslash is a character like any other, such as between
                    // directories.
                    false => after.split_once('"'),
                };
                let help = "close it with a quotation mark";
                let (text, rest) =
                    quoted.ok_or(("a text in quotes has no end".to_owned(), help))?;
                Ok((Token::Quoted(text), rest))
            }
            '$' if self.is_script => {
                let help = "write a name after the dollar sign, such as `$nfiles`";
                let (name, rest) =
                    variable(after).ok_or(("a variable has no name".to_owned(), help))?;
                Ok((Token::Variable(name), rest))
            }
            '0'..='9' if self.is_script => {
                // Points and letters belong to the piece, so that an error shows all of `1.5` or
                // `8kb`.
                let (digits, rest) = split(text, |it| it.is_ascii_alphanumeric() || it == '.');
                let help = "write a whole number, with `k`, `m` or `g` for powers of 1024";
                numbered(digits, number(digits), help).map(|token| (token, rest))
            }
            _ if self.marks.contains(first) => Ok((Token::Mark(first), after)),
            _ if (self.begins_word)(first) => {
                let (word, rest) = split(text, self.is_in_word);
                // A minus sign may begin a word or a number, so the decision needs the whole word.
                let digits = word.strip_prefix('-').unwrap_or_default();
                let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
                let token = match is_number && self.is_script {
                    true => numbered(word, word.parse().ok(), "write a smaller one")?,
                    false => Token::Word(word),
                };
                Ok((token, rest))
            }
            _ => {
                let message = format!("`{}` has no meaning here", printable(&first.to_string()));
                let help = "put texts between quotation marks, and comments after `#`";
                Err((message, help))
            }
        }
    }
}

fn numbered<'a>(
    digits: &str,
    number: Option<i64>,
    help: &'static str,
) -> Result<Token<'a>, (String, &'static str)> {
    let not_a_number = || (format!("`{}` is not a number", printable(digits)), help);
    number.map(Token::Number).ok_or_else(not_a_number)
}

/// The position after a text that begins at `position`.
fn position_after(position: SourcePosition, text: &str) -> SourcePosition {
    text.chars().fold(position, |at, char| match char {
        '\n' => SourcePosition {
            line: at.line.saturating_add(1),
            column: 1,
        },
        _ => SourcePosition {
            column: at.column.saturating_add(1),
            ..at
        },
    })
}

/// The name after a dollar sign, also in parentheses or braces, and the text after it.
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

/// A whole number, with `k`, `m` or `g` for powers of 1024.
pub fn number(text: &str) -> Option<i64> {
    let power = text.find(['k', 'm', 'g']).unwrap_or(text.len());
    let factor = match &text[power..] {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return None,
    };
    text[..power].parse::<i64>().ok()?.checked_mul(factor)
}

/// Resolves the escapes of a quoted text. An escaped dollar sign keeps its backslash for
/// [`expanded`].
pub fn resolve_escapes(quoted: &str) -> String {
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

/// A text with its variables replaced, or the name of the first unknown variable.
pub fn expand_variables(
    text: &str,
    look_up: impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        let is_escaped = before.ends_with('\\');
        expanded.push_str(before.strip_suffix('\\').unwrap_or(before));
        rest = match variable(behind).filter(|_| !is_escaped) {
            Some((name, behind)) => {
                expanded.push_str(&look_up(name).ok_or_else(|| name.to_owned())?);
                behind
            }
            None => {
                expanded.push('$');
                behind
            }
        };
    }
    expanded.push_str(rest);
    Ok(expanded)
}
