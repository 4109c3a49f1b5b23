//! Words, numbers, texts and marks of a script.

use workload::Diagnostic;

use super::page::{Page, Place};

/// The smallest piece of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word, a name or a path.
    Word(String),
    /// What stood between quotation marks, its variables not yet looked up.
    Quoted(String),
    /// The name behind a dollar sign.
    Variable(String),
    Number(i64),
    /// `{ } ( ) = , *`
    Mark(char),
    End,
}

impl Token {
    /// As messages show it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Word(word) => format!("`{}`", workload::printable(word)),
            Self::Quoted(text) => format!("`\"{}\"`", workload::printable(text)),
            Self::Variable(name) => format!("`${}`", workload::printable(name)),
            Self::Number(number) => format!("`{number}`"),
            Self::Mark(mark) => format!("`{mark}`"),
            Self::End => "the end of the file".to_owned(),
        }
    }
}

/// A token and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    pub token: Token,
    pub place: Place,
}

/// All tokens of a script; the last is [`Token::End`].
pub(super) fn tokens(page: &Page<'_>) -> Result<Vec<Placed>, Diagnostic> {
    let mut lexer = Lexer {
        page,
        rest: page.text,
        place: Place::START,
    };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let place = lexer.place;
        let token = lexer.token()?;
        let is_end = token == Token::End;
        tokens.push(Placed { token, place });
        if is_end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    page: &'a Page<'a>,
    rest: &'a str,
    place: Place,
}

impl<'a> Lexer<'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let char = chars.next()?;
        self.rest = chars.as_str();
        if char == '\n' {
            self.place = Place {
                line: self.place.line.saturating_add(1),
                column: 1,
            };
        } else {
            self.place.column = self.place.column.saturating_add(1);
        }
        Some(char)
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let text = self.rest;
        while self.peek().is_some_and(&is_part) {
            self.bump();
        }
        &text[..text.len() - self.rest.len()]
    }

    /// White space, comments, and backslashes that carry a line on.
    fn skip_blanks(&mut self) {
        loop {
            self.take_while(|char| char.is_ascii_whitespace());
            let goes_on = ["\\\n", "\\\r\n"]
                .iter()
                .any(|it| self.rest.starts_with(it));
            match self.peek() {
                Some('#') => {
                    self.take_while(|char| char != '\n');
                }
                Some('\\') if goes_on => {
                    self.bump();
                }
                _ => return,
            }
        }
    }

    fn error(&self, message: impl Into<String>, help: &str) -> Diagnostic {
        self.page.error(self.place, message).help(help)
    }

    fn token(&mut self) -> Result<Token, Diagnostic> {
        let Some(first) = self.peek() else {
            return Ok(Token::End);
        };
        match first {
            '{' | '}' | '(' | ')' | '=' | ',' | '*' => {
                self.bump();
                Ok(Token::Mark(first))
            }
            '"' => self.quoted(),
            '$' => self.variable(),
            '0'..='9' => self.number(),
            '-' | '/' | 'A'..='Z' | 'a'..='z' => self.word(),
            _ => {
                let shown = workload::printable(&first.to_string());
                Err(self.error(
                    format!("`{shown}` has no meaning here"),
                    "put texts between quotation marks, and comments behind `#`",
                ))
            }
        }
    }

    fn quoted(&mut self) -> Result<Token, Diagnostic> {
        let begin = self.place;
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                Some('"') => return Ok(Token::Quoted(text)),
                Some('\\') => match self.bump() {
                    Some('n') => text.push('\n'),
                    // Kept apart from a dollar that begins a variable.
                    Some('$') => text.push_str("\\$"),
                    Some(other) => text.push(other),
                    None => {}
                },
                Some(char) => text.push(char),
                None => {
                    let message = "a text has no end";
                    let error = self.page.error(begin, message);
                    return Err(error.help("close it with a quotation mark"));
                }
            }
        }
    }

    fn variable(&mut self) -> Result<Token, Diagnostic> {
        let begin = self.place;
        self.bump();
        let closing = match self.peek() {
            Some('(') => Some(')'),
            Some('{') => Some('}'),
            _ => None,
        };
        if closing.is_some() {
            self.bump();
        }
        let name = self.take_while(is_of_variable).to_owned();
        let is_closed = closing.is_none_or(|closing| self.bump() == Some(closing));
        if name.is_empty() || !is_closed {
            let error = self.page.error(begin, "a variable has no name");
            return Err(error.help("write a name behind the dollar sign, such as `$nfiles`"));
        }
        Ok(Token::Variable(name))
    }

    fn number(&mut self) -> Result<Token, Diagnostic> {
        let begin = self.place;
        let text = self.take_while(|char| char.is_ascii_alphanumeric() || char == '.');
        match number(text) {
            Some(number) => Ok(Token::Number(number)),
            None => {
                let shown = workload::printable(text);
                let error = self.page.error(begin, format!("`{shown}` is not a number"));
                Err(error.help("write a whole number, with `k`, `m` or `g` for powers of 1024"))
            }
        }
    }

    fn word(&mut self) -> Result<Token, Diagnostic> {
        let begin = self.place;
        let text = self.take_while(is_of_word);
        let digits = text.strip_prefix('-').unwrap_or_default();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Token::Word(text.to_owned()));
        }
        text.parse().map(Token::Number).map_err(|_| {
            let message = format!("`{}` is not a number", workload::printable(text));
            self.page.error(begin, message).help("write a smaller one")
        })
    }
}

fn is_of_variable(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

fn is_of_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || "/._:;-".contains(char)
}

/// A whole number with a suffix.
pub(super) fn number(text: &str) -> Option<i64> {
    let (digits, factor) = match text.as_bytes().last()? {
        b'k' => (&text[..text.len() - 1], 1 << 10),
        b'm' => (&text[..text.len() - 1], 1 << 20),
        b'g' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<i64>().ok()?.checked_mul(factor)
}

/// A text with its variables replaced; the name of the one that is not known where one is not.
pub(super) fn expanded(
    text: &str,
    look_up: impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut whole = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, behind) = rest.split_at(at);
        let behind = &behind[1..];
        if let Some(before) = before.strip_suffix('\\') {
            whole.push_str(before);
            whole.push('$');
            rest = behind;
            continue;
        }
        whole.push_str(before);
        let (inner, closing) = match behind.as_bytes().first() {
            Some(b'(') => (&behind[1..], ")"),
            Some(b'{') => (&behind[1..], "}"),
            _ => (behind, ""),
        };
        let length = inner
            .find(|char| !is_of_variable(char))
            .unwrap_or(inner.len());
        let (name, behind) = inner.split_at(length);
        match behind.strip_prefix(closing) {
            Some(behind) if !name.is_empty() => {
                whole.push_str(&look_up(name).ok_or_else(|| name.to_owned())?);
                rest = behind;
            }
            _ => {
                whole.push('$');
                rest = &rest[at + 1..];
            }
        }
    }
    whole.push_str(rest);
    Ok(whole)
}
