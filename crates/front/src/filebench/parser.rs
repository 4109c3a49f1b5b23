//! From tokens to values and to what has attributes.

use std::collections::BTreeMap;

use workload::{Diagnostic, nearest, printable};

use super::script::{Attribute, Entity, Kind, Read, Script, Value, WITHOUT_EFFECT};
use crate::cursor::Cursor;
use crate::tokens::{Language, Place, Token, error, expanded, meant, number};
use crate::{Difference, DifferenceKind};

/// Products in one value, at most.
const FACTORS_MAX: usize = 16;
/// Behind this a variable need not be set.
const LOCAL: &str = "the name of a variable";

const LANGUAGE: Language = Language {
    marks: "{}()=,*",
    begins_word: |it| it.is_ascii_alphabetic() || "-/".contains(it),
    is_in_word: |it| it.is_ascii_alphanumeric() || "/._:;-".contains(it),
    is_script: true,
};

/// A place among the tokens of a script, with what the script says up to there.
pub(super) struct Parser<'a> {
    pub at: Cursor<'a>,
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
            at: Cursor::new(LANGUAGE.tokens(text)?),
            script: Script {
                variables: variables.collect(),
                ..Script::default()
            },
            overrides,
            entity_count: 0,
        })
    }

    /// Notes what changes nothing.
    pub(super) fn note(&mut self, place: Place, what: &str, note: &str) {
        let difference = Difference::new(DifferenceKind::NoEffect, format!("`{what}`"), note);
        self.script.differences.push(difference.at(place.line));
    }

    /// A text with its variables looked up now.
    pub(super) fn text(&mut self, behind: &str) -> Read<String> {
        let place = self.at.place();
        let text = self.at.quoted(behind)?;
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
            if !self.at.takes('*') {
                return Ok(value);
            }
            value = Value::Product(Box::new((value, self.factor("`*`")?)));
        }
        Err(self.at.wanted("the end of a value", behind))
    }

    fn factor(&mut self, behind: &str) -> Read<Value> {
        let value = match self.at.peek() {
            Token::Number(number) => Value::Number(number),
            Token::Word(word) => Value::of_word(word),
            Token::Quoted(_) => return self.text(behind).map(Value::Text),
            Token::Variable(name)
                if behind == LOCAL || self.script.variables.contains_key(name) =>
            {
                Value::Variable(name.to_owned())
            }
            Token::Variable(name) => return Err(self.unset(name, self.at.place())),
            Token::Mark(_) | Token::End => return Err(self.at.wanted("a value", behind)),
        };
        self.at.next();
        Ok(value)
    }

    /// Attributes with commas between.
    pub(super) fn entity(&mut self, kind: Kind, place: Place) -> Read<Entity> {
        let mut entity = Entity::new(kind, place);
        self.attribute(&mut entity)?;
        while self.at.takes(',') {
            self.attribute(&mut entity)?;
        }
        Ok(entity)
    }

    fn attribute(&mut self, entity: &mut Entity) -> Read<()> {
        let (kind, place) = (entity.kind, self.at.place());
        match self.at.peek() {
            Token::Variable(name) if matches!(kind, Kind::Flowop | Kind::Composite) => {
                self.at.next();
                let is_set = self.at.takes('=');
                let value = is_set.then(|| self.value("a variable of a flowop"));
                entity.locals.insert(name.to_owned(), value.transpose()?);
            }
            Token::Word(name) => {
                self.at.next();
                known(kind, name, place)?;
                let value = match (self.at.takes('='), name) {
                    (_, "randtable") => {
                        entity.table = self.table()?;
                        return Ok(());
                    }
                    (false, _) => Value::Flag(true),
                    // A variable's own name is not looked up.
                    (true, "name") if kind == Kind::Randvar => self.value(LOCAL)?,
                    (true, _) => self.value(&format!("`{name}`"))?,
                };
                self.add(entity, name, value, place);
            }
            _ => {
                return Err(self
                    .at
                    .wanted("an attribute", &format!("a {}", kind.name())));
            }
        }
        Ok(())
    }

    fn add(&mut self, entity: &mut Entity, name: &str, value: Value, place: Place) {
        let name = match name {
            "filename" => "filesetname",
            "filesize" => "size",
            name => name,
        };
        if WITHOUT_EFFECT.contains(&name) {
            self.note(place, name, "it is of older versions");
        } else if entity.get(name).is_some() {
            self.note(place, name, "it stands twice, and the first counts");
        } else {
            entity.attributes.push(Attribute::new(name, value, place));
        }
    }

    /// `{{percent, least, most}, ...}`
    fn table(&mut self) -> Read<Vec<[i64; 3]>> {
        let behind = "`randtable`";
        let mut rows = Vec::new();
        self.at.expect('{', behind)?;
        loop {
            self.at.expect('{', behind)?;
            let percent = self.at.number(behind)?;
            self.at.expect(',', behind)?;
            let least = self.at.number(behind)?;
            self.at.expect(',', behind)?;
            rows.push([percent, least, self.at.number(behind)?]);
            self.at.expect('}', behind)?;
            if !self.at.takes(',') {
                self.at.expect('}', behind)?;
                return Ok(rows);
            }
        }
    }
}

fn known(kind: Kind, name: &str, place: Place) -> Read<()> {
    if kind.attributes().any(|known| known == name) {
        return Ok(());
    }
    let help = meant(name, kind.attributes(), || {
        let known: Vec<&str> = kind.attributes().collect();
        format!("a {} takes {}", kind.name(), known.join(", "))
    });
    let message = format!("a {} has no attribute `{}`", kind.name(), printable(name));
    Err(error(place, message, help))
}
