//! Tokens that are taken one after the other, and what is said where another one was wanted.

use plan::Diagnostic;

use crate::tokens::{Place, Token, error, number_among, unescaped};

/// A place among tokens. What is read "behind" something is told so in messages.
pub struct Cursor<'a> {
    /// The last is the end, which is never passed.
    tokens: Vec<(Token<'a>, Place)>,
    index: usize,
}

impl<'a> Cursor<'a> {
    /// Before all of them, the last of which is [`Token::End`].
    pub fn new(tokens: Vec<(Token<'a>, Place)>) -> Self {
        Self { tokens, index: 0 }
    }

    /// The next token, which is not passed.
    pub fn peek(&self) -> Token<'a> {
        self.tokens[self.index].0
    }

    /// Where that stands.
    pub fn place(&self) -> Place {
        self.tokens[self.index].1
    }

    /// Passes a token.
    pub fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.index = (self.index + 1).min(self.tokens.len() - 1);
        token
    }

    /// Passes the token if `read` makes something of it.
    fn take<T>(
        &mut self,
        wanted: &str,
        behind: &str,
        read: impl Fn(Token<'a>) -> Option<T>,
    ) -> Result<T, Diagnostic> {
        let taken = read(self.peek()).ok_or_else(|| self.wanted(wanted, behind))?;
        self.next();
        Ok(taken)
    }

    /// Passes a mark if it is there.
    pub fn takes(&mut self, mark: char) -> bool {
        let is_there = self.peek() == Token::Mark(mark);
        if is_there {
            self.next();
        }
        is_there
    }

    /// Says that something else stands here.
    pub fn wanted(&self, wanted: &str, behind: &str) -> Diagnostic {
        let shown = self.peek().shown();
        let message = format!("{shown} stands where {behind} needs {wanted}");
        let help = match self.peek() {
            Token::End => format!("add {wanted}"),
            _ => format!("write {wanted} here"),
        };
        error(self.place(), message, help)
    }

    /// A mark.
    ///
    /// # Errors
    /// Something else stands here; the same of all below.
    pub fn expect(&mut self, mark: char, behind: &str) -> Result<(), Diagnostic> {
        self.take(&format!("`{mark}`"), behind, |token| {
            (token == Token::Mark(mark)).then_some(())
        })
    }

    /// A word.
    pub fn word(&mut self, wanted: &str, behind: &str) -> Result<&'a str, Diagnostic> {
        self.take(wanted, behind, |token| match token {
            Token::Word(word) => Some(word),
            _ => None,
        })
    }

    /// A word that is one of those, a blank between two.
    pub fn one_of(&mut self, known: &str, behind: &str) -> Result<&'a str, Diagnostic> {
        let wanted = format!("`{}`", known.replace(' ', "` or `"));
        self.take(&wanted, behind, |token| match token {
            Token::Word(word) if known.split(' ').any(|it| it == word) => Some(word),
            _ => None,
        })
    }

    /// A name that is known, with blanks between those that are; else says that there is none.
    pub fn known(
        &mut self,
        wanted: &str,
        known: &str,
        lacks: &str,
        behind: &str,
    ) -> Result<&'a str, Diagnostic> {
        let place = self.place();
        let word = self.word(wanted, behind)?;
        let all = || format!("use one of {}", known.replace(' ', ", "));
        number_among(place, lacks, word, known.split(' '), all)?;
        Ok(word)
    }

    /// A whole number.
    pub fn number(&mut self, behind: &str) -> Result<i64, Diagnostic> {
        self.take("a whole number", behind, |token| match token {
            Token::Number(number) => Some(number),
            _ => None,
        })
    }

    /// A text between quotation marks, as it was meant.
    pub fn quoted(&mut self, behind: &str) -> Result<String, Diagnostic> {
        let wanted = "a text between quotation marks";
        self.take(wanted, behind, |token| match token {
            Token::Quoted(text) => Some(unescaped(text)),
            _ => None,
        })
    }
}
