//! From tokens to values and to what has attributes.

use std::collections::BTreeMap;

use workload::{Diagnostic, nearest, printable};

use crate::{Difference, DifferenceKind};

use super::lexer::{Token, expanded, number, tokens, unescaped};
use super::script::{
    Attribute, COMPOSITE, Entity, FLOWOP, Kind, Place, RANDVAR, Read, Script, Value,
    WITHOUT_EFFECT, error, meant,
};

/// Products in one value, at most.
const FACTORS_MAX: usize = 16;
/// Behind this a variable need not be set.
const LOCAL: &str = "the name of a variable";

/// A place among the tokens of a script, with what the script says up to there.
///
/// What is read "behind" something is told so in messages.
pub(super) struct Parser<'a> {
    tokens: Vec<(Token<'a>, Place)>,
    at: usize,
    pub script: Script,
    /// Values of variables, whatever the script sets them to.
    pub overrides: &'a BTreeMap<String, String>,
    pub entity_count: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, overrides: &'a BTreeMap<String, String>) -> Read<Self> {
        let variables = overrides.iter().map(|(name, text)| {
            let value = number(text).map_or_else(|| Value::of_word(text), Value::Number);
            (name.clone(), value)
        });
        Ok(Self {
            tokens: tokens(text)?,
            at: 0,
            script: Script {
                variables: variables.collect(),
                ..Script::default()
            },
            overrides,
            entity_count: 0,
        })
    }

    pub(super) fn peek(&self) -> Token<'a> {
        // The last token is the end, which is never passed.
        self.tokens[self.at].0
    }

    pub(super) fn place(&self) -> Place {
        self.tokens[self.at].1
    }

    pub(super) fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Passes the token if `read` makes something of it.
    fn take<T>(
        &mut self,
        wanted: &str,
        behind: &str,
        read: impl Fn(Token<'a>) -> Option<T>,
    ) -> Read<T> {
        let taken = read(self.peek()).ok_or_else(|| self.wanted(wanted, behind))?;
        self.next();
        Ok(taken)
    }

    pub(super) fn takes(&mut self, mark: char) -> bool {
        let is_there = self.peek() == Token::Mark(mark);
        if is_there {
            self.next();
        }
        is_there
    }

    pub(super) fn expect(&mut self, mark: char, behind: &str) -> Read<()> {
        match self.takes(mark) {
            true => Ok(()),
            false => Err(self.wanted(&format!("`{mark}`"), behind)),
        }
    }

    /// Says that something else stands here.
    fn wanted(&self, wanted: &str, behind: &str) -> Diagnostic {
        let shown = self.peek().shown();
        let message = format!("{shown} stands where {behind} needs {wanted}");
        let help = match self.peek() {
            Token::End => format!("add {wanted}"),
            _ => format!("write {wanted} here"),
        };
        error(self.place(), message, help)
    }

    /// Notes what changes nothing.
    pub(super) fn note(&mut self, place: Place, what: &str, note: &str) {
        let difference = Difference::new(DifferenceKind::NoEffect, format!("`{what}`"), note);
        self.script.differences.push(difference.at(place.line));
    }

    pub(super) fn word(&mut self, wanted: &str, behind: &str) -> Read<&'a str> {
        self.take(wanted, behind, |token| match token {
            Token::Word(word) => Some(word),
            _ => None,
        })
    }

    pub(super) fn one_of(&mut self, known: &[&'static str], behind: &str) -> Read<&'a str> {
        let wanted: Vec<String> = known.iter().map(|it| format!("`{it}`")).collect();
        self.take(&wanted.join(" or "), behind, |token| match token {
            Token::Word(word) if known.contains(&word) => Some(word),
            _ => None,
        })
    }

    pub(super) fn number(&mut self, behind: &str) -> Read<i64> {
        self.take("a whole number", behind, |token| match token {
            Token::Number(number) => Some(number),
            _ => None,
        })
    }

    pub(super) fn quoted(&mut self, behind: &str) -> Read<String> {
        self.take(
            "a text between quotation marks",
            behind,
            |token| match token {
                Token::Quoted(text) => Some(unescaped(text)),
                _ => None,
            },
        )
    }

    /// A text with its variables looked up now.
    pub(super) fn text(&mut self, behind: &str) -> Read<String> {
        let place = self.place();
        let text = self.quoted(behind)?;
        let look_up = |name: &str| self.script.variables.get(name).map(Value::shown);
        expanded(&text, look_up).map_err(|name| self.unset(&name, place))
    }

    fn unset(&self, name: &str, place: Place) -> Diagnostic {
        let known = self.script.variables.keys().map(String::as_str);
        let help = match nearest(name, known) {
            Some(near) => format!("did you mean `${near}`?"),
            None => format!("set it before, as in `set ${name}=10`"),
        };
        error(place, format!("`${name}` is used before it is set"), help)
    }

    /// A value, or a product of several.
    pub(super) fn value(&mut self, behind: &str) -> Read<Value> {
        let mut value = self.factor(behind)?;
        for _ in 0..FACTORS_MAX {
            if !self.takes('*') {
                return Ok(value);
            }
            value = Value::Product(Box::new((value, self.factor("`*`")?)));
        }
        Err(self.wanted("the end of a value", behind))
    }

    fn factor(&mut self, behind: &str) -> Read<Value> {
        let value = match self.peek() {
            Token::Number(number) => Value::Number(number),
            Token::Word(word) => Value::of_word(word),
            Token::Quoted(_) => return self.text(behind).map(Value::Text),
            Token::Variable(name)
                if behind == LOCAL || self.script.variables.contains_key(name) =>
            {
                Value::Variable(name.to_owned())
            }
            Token::Variable(name) => return Err(self.unset(name, self.place())),
            Token::Mark(_) | Token::End => return Err(self.wanted("a value", behind)),
        };
        self.next();
        Ok(value)
    }

    /// Attributes with commas between.
    pub(super) fn entity(&mut self, kind: &'static Kind, place: Place) -> Read<Entity> {
        let mut entity = Entity {
            kind,
            word: String::new(),
            place,
            attributes: Vec::new(),
            locals: BTreeMap::new(),
            table: Vec::new(),
            inner: Vec::new(),
        };
        self.attribute(&mut entity)?;
        while self.takes(',') {
            self.attribute(&mut entity)?;
        }
        Ok(entity)
    }

    fn attribute(&mut self, entity: &mut Entity) -> Read<()> {
        let (kind, place) = (entity.kind, self.place());
        match self.peek() {
            Token::Variable(name) if [&FLOWOP, &COMPOSITE].contains(&kind) => {
                self.next();
                let is_set = self.takes('=');
                let value = is_set.then(|| self.value("a variable of a flowop"));
                entity.locals.insert(name.to_owned(), value.transpose()?);
            }
            Token::Word(name) => {
                self.next();
                known(kind, name, place)?;
                let value = match (self.takes('='), name) {
                    (_, "randtable") => {
                        entity.table = self.table()?;
                        return Ok(());
                    }
                    (false, _) => Value::Flag(true),
                    // A variable's own name is not looked up.
                    (true, "name") if *kind == RANDVAR => self.value(LOCAL)?,
                    (true, _) => self.value(&format!("`{name}`"))?,
                };
                self.add(entity, name, value, place);
            }
            _ => return Err(self.wanted("an attribute", &format!("a {}", kind.name))),
        }
        Ok(())
    }

    fn add(&mut self, entity: &mut Entity, name: &str, value: Value, place: Place) {
        let name = match name {
            "filename" => "filesetname",
            "filesize" => "size",
            name => name,
        };
        if WITHOUT_EFFECT.split_whitespace().any(|it| it == name) {
            self.note(place, name, "it is of older versions");
        } else if entity.get(name).is_some() {
            self.note(place, name, "it stands twice, and the first counts");
        } else {
            let name = name.to_owned();
            entity.attributes.push(Attribute { name, value, place });
        }
    }

    /// `{{percent, least, most}, ...}`
    fn table(&mut self) -> Read<Vec<[i64; 3]>> {
        let behind = "`randtable`";
        let mut rows = Vec::new();
        self.expect('{', behind)?;
        loop {
            self.expect('{', behind)?;
            let percent = self.number(behind)?;
            self.expect(',', behind)?;
            let least = self.number(behind)?;
            self.expect(',', behind)?;
            rows.push([percent, least, self.number(behind)?]);
            self.expect('}', behind)?;
            if !self.takes(',') {
                self.expect('}', behind)?;
                return Ok(rows);
            }
        }
    }
}

fn known(kind: &Kind, name: &str, place: Place) -> Read<()> {
    if kind.attributes().any(|known| known == name) {
        return Ok(());
    }
    let help = meant(name, kind.attributes(), || {
        let known: Vec<&str> = kind.attributes().collect();
        format!("a {} takes {}", kind.name, known.join(", "))
    });
    let message = format!("a {} has no attribute `{}`", kind.name, printable(name));
    Err(error(place, message, help))
}
