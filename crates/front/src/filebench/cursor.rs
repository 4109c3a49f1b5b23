//! A place among the tokens of a script.

use std::collections::BTreeMap;

use workload::{Diagnostic, nearest};

use crate::{Difference, DifferenceKind};

use super::lexer::{Placed, Token, expanded};
use super::page::{Page, Place};
use super::script::Value;

/// A place among the tokens of a script, with what is known there.
pub(super) struct Cursor<'a> {
    pub page: Page<'a>,
    pub tokens: Vec<Placed>,
    pub at: usize,
    /// What is set so far.
    pub variables: BTreeMap<String, Value>,
    /// What changes nothing.
    pub differences: Vec<Difference>,
}

impl Cursor<'_> {
    pub(super) fn peek(&self) -> &Token {
        // The last token is the end, which is never passed.
        &self.tokens[self.at].token
    }

    pub(super) fn place(&self) -> Place {
        self.tokens[self.at].place
    }

    pub(super) fn next(&mut self) -> Placed {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn takes(&mut self, mark: char) -> bool {
        let is_there = *self.peek() == Token::Mark(mark);
        if is_there {
            self.next();
        }
        is_there
    }

    pub(super) fn expect(&mut self, mark: char, behind: &str) -> Result<(), Diagnostic> {
        match self.takes(mark) {
            true => Ok(()),
            false => Err(self.wanted(&format!("`{mark}`"), behind)),
        }
    }

    /// Says that something else stands here.
    pub(super) fn wanted(&self, wanted: &str, behind: &str) -> Diagnostic {
        let message = format!(
            "{} stands where {behind} needs {wanted}",
            self.peek().shown()
        );
        let help = match self.peek() {
            Token::End => format!("add {wanted}"),
            _ => format!("write {wanted} here"),
        };
        self.page.error(self.place(), message).help(help)
    }

    /// Notes what changes nothing.
    pub(super) fn note(&mut self, place: Place, what: &str, note: &str) {
        let difference = Difference::new(DifferenceKind::NoEffect, format!("`{what}`"), note);
        self.differences.push(difference.at(place.line));
    }

    pub(super) fn word(
        &mut self,
        wanted: &str,
        behind: &str,
    ) -> Result<(String, Place), Diagnostic> {
        let Placed { token, place } = self.tokens[self.at].clone();
        match token {
            Token::Word(word) => {
                self.next();
                Ok((word, place))
            }
            _ => Err(self.wanted(wanted, behind)),
        }
    }

    pub(super) fn number(&mut self, behind: &str) -> Result<i64, Diagnostic> {
        match *self.peek() {
            Token::Number(number) => {
                self.next();
                Ok(number)
            }
            _ => Err(self.wanted("a whole number", behind)),
        }
    }

    /// A text with its variables looked up now.
    pub(super) fn text(&mut self, behind: &str) -> Result<String, Diagnostic> {
        let Placed { token, place } = self.tokens[self.at].clone();
        let Token::Quoted(text) = token else {
            return Err(self.wanted("a text between quotation marks", behind));
        };
        self.next();
        let look_up = |name: &str| self.variables.get(name).map(plain);
        expanded(&text, look_up).map_err(|name| self.unset(&name, place))
    }

    pub(super) fn unset(&self, name: &str, place: Place) -> Diagnostic {
        let known = self.variables.keys().map(String::as_str);
        let help = match nearest(name, known) {
            Some(near) => format!("did you mean `${near}`?"),
            None => format!("set it before, as in `set ${name}=10`"),
        };
        let message = format!("`${name}` is used before it is set");
        self.page.error(place, message).help(help)
    }

    pub(super) fn unknown<'b>(
        &self,
        place: Place,
        what: &str,
        seen: &str,
        known: impl Iterator<Item = &'b str> + Clone,
    ) -> Diagnostic {
        let help = match nearest(seen, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("use one of {}", known.collect::<Vec<_>>().join(", ")),
        };
        let message = format!("there is no {what} `{}`", workload::printable(seen));
        self.page.error(place, message).help(help)
    }

    pub(super) fn one_of(
        &mut self,
        known: &[&'static str],
        behind: &str,
    ) -> Result<String, Diagnostic> {
        let wanted: Vec<String> = known.iter().map(|it| format!("`{it}`")).collect();
        let wanted = wanted.join(" or ");
        match self.peek() {
            Token::Word(word) if known.contains(&word.as_str()) => {
                let (word, _) = self.word(&wanted, behind)?;
                Ok(word)
            }
            _ => Err(self.wanted(&wanted, behind)),
        }
    }

    pub(super) fn quoted(&mut self, behind: &str) -> Result<String, Diagnostic> {
        match self.next().token {
            Token::Quoted(text) => Ok(text),
            _ => {
                self.at -= 1;
                Err(self.wanted("a text between quotation marks", behind))
            }
        }
    }
}

/// A variable's value in a text.
fn plain(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Flag(flag) => flag.to_string(),
        Value::Text(text) => text.clone(),
        Value::Variable(name) => format!("${name}"),
        Value::Product(one, other) => format!("{} * {}", plain(one), plain(other)),
        Value::Random(_) => "a random variable".to_owned(),
    }
}
