//! From tokens to values and to what has attributes.

use std::collections::BTreeMap;

use workload::{Diagnostic, nearest};

use super::program::difference;
use super::script::{Entity, Kind, Read, Script, Value};
use crate::cursor::Cursor;
use crate::tokens::{Language, Place, Token, error, expanded, number};
use crate::{Difference, DifferenceKind};

/// Things with attributes in a script, composites written out, at most.
const ENTITIES_MAX: usize = 20_000;
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
    pub composites: Vec<Entity>,
    entity_count: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, overrides: &'a BTreeMap<String, String>) -> Read<Self> {
        let variables = overrides.iter().map(|(name, text)| {
            let text = number(text).map_or_else(|| text.clone(), |it| it.to_string());
            (name.clone(), Value::Plain(text))
        });
        Ok(Self {
            at: Cursor::new(LANGUAGE.tokens(text)?),
            script: Script {
                variables: variables.collect(),
                ..Script::default()
            },
            overrides,
            composites: Vec::new(),
            entity_count: 0,
        })
    }

    /// Notes what is of the table of differences.
    pub(super) fn note(&mut self, place: Place, what: &str) {
        let difference = difference(what).map(|it| it.at(place.line));
        self.script.differences.extend(difference);
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
        while self.at.takes('*') {
            let place = self.at.place();
            value = Value::product(value, self.factor("`*`")?, place)?;
        }
        Ok(value)
    }

    fn factor(&mut self, behind: &str) -> Read<Value> {
        let value = match self.at.peek() {
            Token::Number(number) => Value::Plain(number.to_string()),
            Token::Word(word) => Value::Plain(word.to_owned()),
            Token::Quoted(_) => return self.text(behind).map(Value::Plain),
            Token::Variable(name)
                if behind != LOCAL && !self.script.variables.contains_key(name) =>
            {
                return Err(self.unset(name, self.at.place()));
            }
            Token::Variable(name) => Value::Variable(name.to_owned()),
            Token::Mark(_) | Token::End => return Err(self.at.wanted("a value", behind)),
        };
        self.at.next();
        Ok(value)
    }

    /// Counts what has attributes.
    pub(super) fn count(&mut self, more: usize, place: Place) -> Read<()> {
        self.entity_count += more;
        if self.entity_count <= ENTITIES_MAX {
            return Ok(());
        }
        let message = format!("there are more than {ENTITIES_MAX} definitions and flowops");
        Err(error(place, message, "define fewer, and use `iters`"))
    }

    /// Attributes with commas between.
    pub(super) fn entity(&mut self, kind: Kind, place: Place) -> Read<Entity> {
        self.count(1, place)?;
        let mut entity = Entity {
            kind,
            place,
            ..Entity::default()
        };
        self.attribute(&mut entity)?;
        while self.at.takes(',') {
            self.attribute(&mut entity)?;
        }
        Ok(entity)
    }

    fn attribute(&mut self, entity: &mut Entity) -> Read<()> {
        let (kind, place) = (entity.kind, self.at.place());
        if let Token::Variable(name) = self.at.peek()
            && matches!(kind, Kind::Flowop | Kind::Composite)
        {
            self.at.next();
            let name = name.to_owned();
            if self.at.takes('=') {
                let value = self.value("a variable of a flowop")?;
                entity.locals.insert(name, value);
            } else if kind == Kind::Composite {
                entity.locals.insert(name.clone(), Value::Variable(name));
            }
            return Ok(());
        }
        let behind = format!("a {}", kind.name());
        let lacks = format!("{behind} has no attribute");
        let known = kind.attributes();
        let name = self.at.known("an attribute", known, &lacks, &behind)?;
        let value = match (self.at.takes('='), name) {
            (_, "randtable") => return self.table(&mut entity.table),
            (false, _) => Value::Plain("true".to_owned()),
            // A variable's own name is not looked up.
            (true, "name") if kind == Kind::Randvar => self.value(LOCAL)?,
            (true, _) => self.value(&format!("`{name}`"))?,
        };
        self.add(entity, name, value, place);
        Ok(())
    }

    fn add(&mut self, entity: &mut Entity, name: &str, value: Value, place: Place) {
        let name = match name {
            "filename" => "filesetname",
            "filesize" => "size",
            name => name,
        };
        let what = format!("`{name}`");
        if matches!(name, "cached" | "usermode") {
            self.note(place, &what);
        } else if entity.attributes.contains_key(name) {
            let note = "it stands twice, and the first counts";
            let difference = Difference::new(DifferenceKind::NoEffect, what, note);
            self.script.differences.push(difference.at(place.line));
        } else {
            entity.put(name, value, place);
        }
    }

    /// `{{percent, least, most}, ...}`
    fn table(&mut self, rows: &mut Vec<[i64; 3]>) -> Read<()> {
        let behind = "`randtable`";
        rows.clear();
        self.at.expect('{', behind)?;
        loop {
            self.at.expect('{', behind)?;
            let mut row = [0; 3];
            for (number, mark) in row.iter_mut().zip([',', ',', '}']) {
                *number = self.at.number(behind)?;
                self.at.expect(mark, behind)?;
            }
            rows.push(row);
            if !self.at.takes(',') {
                return self.at.expect('}', behind);
            }
        }
    }
}
