//! Values, random variables and lists of attributes.

use std::collections::BTreeMap;

use workload::{Diagnostic, nearest};

use super::cursor::Cursor;
use super::lexer::{Placed, Token};
use super::page::Place;
use super::script::{Attribute, Attributes, Random, Value};
use super::words::{Kind, OLD};

/// Products in one value, at most.
const FACTORS_MAX: usize = 16;
/// Behind this a variable need not be set.
const LOCAL: &str = "the name of a variable";

/// Attributes, and what is handed to a composite.
#[derive(Default)]
pub(super) struct Written {
    pub plain: Attributes,
    pub locals: BTreeMap<String, Option<Value>>,
}

impl Cursor<'_> {
    pub(super) fn settled(&self, value: Value, place: Place) -> Result<Value, Diagnostic> {
        match value {
            Value::Variable(name) => match self.variables.get(&name) {
                Some(value) => Ok(value.clone()),
                None => Err(self.unset(&name, place)),
            },
            Value::Product(one, other) => {
                let one = self.settled(*one, place)?;
                let other = self.settled(*other, place)?;
                Ok(Value::Product(Box::new(one), Box::new(other)))
            }
            value => Ok(value),
        }
    }

    pub(super) fn random(&mut self, kind: Kind, place: Place) -> Result<Value, Diagnostic> {
        let mut table = Vec::new();
        let attributes = self.attributes(kind, Some(&mut table))?;
        Ok(Value::Random(Box::new(Random {
            is_custom: kind == Kind::Cvar,
            attributes: attributes.plain,
            table,
            place,
        })))
    }

    /// A value, or a product of several.
    pub(super) fn value(&mut self, behind: &str) -> Result<Value, Diagnostic> {
        let mut value = self.factor(behind)?;
        for _ in 0..FACTORS_MAX {
            if !self.takes('*') {
                return Ok(value);
            }
            let factor = self.factor("`*`")?;
            value = Value::Product(Box::new(value), Box::new(factor));
        }
        Err(self.wanted("the end of a value", behind))
    }

    pub(super) fn factor(&mut self, behind: &str) -> Result<Value, Diagnostic> {
        let Placed { token, place } = self.tokens[self.at].clone();
        let value = match token {
            Token::Number(number) => Value::Number(number),
            Token::Word(word) if word == "true" => Value::Flag(true),
            Token::Word(word) if word == "false" => Value::Flag(false),
            Token::Word(word) => Value::Text(word),
            Token::Quoted(_) => return self.text(behind).map(Value::Text),
            Token::Variable(name) => {
                let is_local = self.variables.contains_key(&name);
                match is_local || behind == LOCAL {
                    true => Value::Variable(name),
                    false => return Err(self.unset(&name, place)),
                }
            }
            Token::Mark(_) | Token::End => return Err(self.wanted("a value", behind)),
        };
        self.next();
        Ok(value)
    }

    /// Attributes with commas between; a table only where there is a place for it.
    pub(super) fn attributes(
        &mut self,
        kind: Kind,
        mut table: Option<&mut Vec<[i64; 3]>>,
    ) -> Result<Written, Diagnostic> {
        let mut written = Written::default();
        loop {
            let Placed { token, place } = self.tokens[self.at].clone();
            match token {
                Token::Variable(name) if matches!(kind, Kind::Composite | Kind::Flowop) => {
                    self.next();
                    let value = match self.takes('=') {
                        true => Some(self.value("a variable of a flowop")?),
                        false => None,
                    };
                    written.locals.insert(name, value);
                }
                Token::Word(name) => {
                    self.next();
                    self.known(kind, &name, place)?;
                    let has_value = self.takes('=');
                    match &mut table {
                        Some(table) if name == "randtable" => **table = self.table()?,
                        _ => {
                            let value = self.attribute_value(kind, &name, has_value)?;
                            self.add(&mut written.plain, name, value, place);
                        }
                    }
                }
                _ => {
                    let behind = format!("a {}", kind.name());
                    return Err(self.wanted("an attribute", &behind));
                }
            }
            if !self.takes(',') {
                return Ok(written);
            }
        }
    }

    pub(super) fn attribute_value(
        &mut self,
        kind: Kind,
        name: &str,
        has_value: bool,
    ) -> Result<Value, Diagnostic> {
        match (has_value, kind, name) {
            (false, ..) => Ok(Value::Flag(true)),
            // A variable's own name is not looked up.
            (true, Kind::Randvar, "name") => self.value(LOCAL),
            _ => self.value(&format!("`{name}`")),
        }
    }

    pub(super) fn add(
        &mut self,
        attributes: &mut Attributes,
        name: String,
        value: Value,
        place: Place,
    ) {
        let name = match name.as_str() {
            "filename" => "filesetname".to_owned(),
            "filesize" => "size".to_owned(),
            _ => name,
        };
        let note = match name.as_str() {
            old if OLD.split_whitespace().any(|it| it == old) => "it is of older versions",
            _ if attributes.get(&name).is_some() => "it stands twice, and the first counts",
            _ => {
                attributes.0.push(Attribute { name, value, place });
                return;
            }
        };
        self.note(place, &name, note);
    }

    pub(super) fn known(&self, kind: Kind, name: &str, place: Place) -> Result<(), Diagnostic> {
        if kind.attributes().any(|known| known == name) {
            return Ok(());
        }
        let help = match nearest(name, kind.attributes()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let known: Vec<&str> = kind.attributes().collect();
                format!("a {} takes {}", kind.name(), known.join(", "))
            }
        };
        let name = workload::printable(name);
        let message = format!("a {} has no attribute `{name}`", kind.name());
        Err(self.page.error(place, message).help(help))
    }

    /// `{{percent, least, most}, ...}`
    pub(super) fn table(&mut self) -> Result<Vec<[i64; 3]>, Diagnostic> {
        let behind = "`randtable`";
        self.expect('{', behind)?;
        let mut rows = Vec::new();
        loop {
            self.expect('{', behind)?;
            let percent = self.number(behind)?;
            self.expect(',', behind)?;
            let least = self.number(behind)?;
            self.expect(',', behind)?;
            let most = self.number(behind)?;
            self.expect('}', behind)?;
            rows.push([percent, least, most]);
            if !self.takes(',') {
                self.expect('}', behind)?;
                return Ok(rows);
            }
        }
    }
}
