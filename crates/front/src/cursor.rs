//! Reads tokens one after the other and reports which token was expected instead.

use plan::Diagnostic;

use crate::tokens::{SourcePosition, Token, error, index_among, resolve_escapes};

/// A position among tokens. `context` names the preceding text for messages.
pub struct TokenCursor<'a> {
    /// The last one is [`Token::End`], which the cursor never passes.
    tokens: Vec<(Token<'a>, SourcePosition)>,
    index: usize,
}

impl<'a> TokenCursor<'a> {
    /// A cursor before the first token; the last token must be [`Token::End`].
    pub fn new(tokens: Vec<(Token<'a>, SourcePosition)>) -> Self {
        Self { tokens, index: 0 }
    }

    /// The next token, without moving past it.
    pub fn peek(&self) -> Token<'a> {
        self.tokens[self.index].0
    }

    /// Position of the next token in the file.
    pub fn place(&self) -> SourcePosition {
        self.tokens[self.index].1
    }

    /// Returns the next token and moves past it.
    pub fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.index = (self.index + 1).min(self.tokens.len() - 1);
        token
    }

    /// Moves past the token if `read` accepts it.
    fn take<T>(
        &mut self,
        wanted: &str,
        context: &str,
        read: impl Fn(Token<'a>) -> Option<T>,
    ) -> Result<T, Diagnostic> {
        let taken = read(self.peek()).ok_or_else(|| self.wanted(wanted, context))?;
        self.next();
        Ok(taken)
    }

    /// Moves past a mark and returns `true` if it is the next token.
    pub fn takes(&mut self, mark: char) -> bool {
        let is_next = self.peek() == Token::Mark(mark);
        if is_next {
            self.next();
        }
        is_next
    }

    /// The error that another token is at this position.
    pub fn wanted(&self, wanted: &str, context: &str) -> Diagnostic {
        let shown = self.peek().shown();
        let message = format!("{context} needs {wanted}, but {shown} follows");
        let help = match self.peek() {
            Token::End => format!("add {wanted}"),
            _ => format!("write {wanted} here"),
        };
        error(self.place(), message, help)
    }

    /// Moves past a mark.
    ///
    /// # Errors
    /// The next token is something else; the same is true of all methods below.
    pub fn expect(&mut self, mark: char, context: &str) -> Result<(), Diagnostic> {
        self.take(&format!("`{mark}`"), context, |token| {
            (token == Token::Mark(mark)).then_some(())
        })
    }

    /// Takes a word; `wanted` and `context` describe it in the error.
    pub fn word(&mut self, wanted: &str, context: &str) -> Result<&'a str, Diagnostic> {
        self.take(wanted, context, |token| match token {
            Token::Word(word) => Some(word),
            _ => None,
        })
    }

    /// A word that is one of `known`, a list separated by single blanks.
    pub fn one_of(&mut self, known: &str, context: &str) -> Result<&'a str, Diagnostic> {
        let wanted = match known.split(' ').count() {
            ..4 => format!("`{}`", known.replace(' ', "` or `")),
            _ => format!("one of {}", known.replace(' ', ", ")),
        };
        let near = match self.peek() {
            Token::Word(word) => description::nearest(word, known.split(' ')),
            _ => None,
        };
        let (place, shown) = (self.place(), self.peek().shown());
        let taken = self.take(&wanted, context, |token| match token {
            Token::Word(word) if known.split(' ').any(|it| it == word) => Some(word),
            _ => None,
        });
        taken.map_err(|other| match near {
            Some(near) => {
                let message = format!("{context} has no {shown}");
                error(place, message, format!("did you mean `{near}`?"))
            }
            None => other,
        })
    }

    /// A name, and the error that begins with `missing` if the name is not one of `known`, a list
    /// separated by single blanks.
    pub fn known(
        &mut self,
        wanted: &str,
        known: &str,
        missing: &str,
        context: &str,
    ) -> Result<(&'a str, Option<Diagnostic>), Diagnostic> {
        let position = self.place();
        let word = self.word(wanted, context)?;
        let all = || format!("use one of {}", known.replace(' ', ", "));
        let unknown = index_among(position, missing, word, known.split(' '), all).err();
        Ok((word, unknown))
    }

    /// Moves to the next line that begins with a word that `is_beginning` accepts, or to the end.
    pub fn skip_lines(&mut self, is_beginning: impl Fn(&str) -> bool) {
        while self.peek() != Token::End {
            let before = self.index.checked_sub(1).map(|index| self.tokens[index].1);
            let is_first = before.is_none_or(|it| it.line < self.place().line);
            if let Token::Word(word) = self.peek()
                && is_first
                && is_beginning(word)
            {
                return;
            }
            self.next();
        }
    }

    /// A whole number.
    pub fn number(&mut self, context: &str) -> Result<i64, Diagnostic> {
        self.take("a whole number", context, |token| match token {
            Token::Number(number) => Some(number),
            _ => None,
        })
    }

    /// Text between quotation marks, with its escapes resolved.
    pub fn quoted(&mut self, context: &str) -> Result<String, Diagnostic> {
        let wanted = "a text between quotation marks";
        self.take(wanted, context, |token| match token {
            Token::Quoted(text) => Some(resolve_escapes(text)),
            _ => None,
        })
    }
}
