//! Attributes as a script's run sees them, their variables looked up.

use std::collections::BTreeMap;

use workload::Diagnostic;
use workload::program::Law;

use super::script::{Entity, Place, Read, Value, error};

/// The most that anything drawn comes to, in bytes or pieces.
pub(super) const DRAWN_MAX: u64 = 1 << 40;

/// Where variables are looked up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variables<'a> {
    pub globals: &'a BTreeMap<String, Value>,
    /// Those of a composite, already looked up.
    pub locals: &'a BTreeMap<String, Value>,
}

impl Variables<'_> {
    /// What a value comes to, without variables.
    pub(super) fn settled(&self, value: &Value, place: Place) -> Read<Value> {
        match value {
            Value::Variable(name) => {
                let known = self.locals.get(name).or_else(|| self.globals.get(name));
                let unset = || {
                    let help = format!("hand it over, as in `${name}=10`");
                    error(place, format!("`${name}` has no value here"), help)
                };
                self.settled(known.ok_or_else(unset)?, place)
            }
            Value::Product(factors) => {
                let one = self.settled(&factors.0, place)?;
                let other = self.settled(&factors.1, place)?;
                let product = match (one, other) {
                    (Value::Number(one), Value::Number(other)) => one.checked_mul(other),
                    _ => None,
                };
                product.map(Value::Number).ok_or_else(|| {
                    let message = "only whole numbers can be multiplied";
                    error(place, message, "write the product itself")
                })
            }
            value => Ok(value.clone()),
        }
    }

    /// A whole number from 0 to `most`.
    pub(super) fn count(&self, (value, place): &(Value, Place), most: u64) -> Read<u64> {
        let count = match self.settled(value, *place)? {
            Value::Number(number) => u64::try_from(number).ok(),
            _ => None,
        };
        count.filter(|count| *count <= most).ok_or_else(|| {
            let help = format!("write a whole number from 0 to {most}");
            error(*place, "that is not a number that can be used", help)
        })
    }
}

/// The attributes of an entity. Those that are not there are none, or false.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attributes<'a> {
    pub entity: &'a Entity,
    pub variables: Variables<'a>,
}

impl Attributes<'_> {
    pub(super) fn value(&self, name: &str) -> Read<Option<Value>> {
        let attribute = self.entity.get(name);
        let value = attribute.map(|it| self.variables.settled(&it.value, it.place));
        value.transpose()
    }

    /// Says what an attribute's value should have been.
    fn wrong(&self, name: &str, wanted: &str) -> Diagnostic {
        let place = self
            .entity
            .get(name)
            .map_or(self.entity.place, |it| it.place);
        let message = format!("`{name}` is not {wanted}");
        error(place, message, format!("give `{name}` {wanted}"))
    }

    /// A text, or the number that stands for one.
    pub(super) fn text(&self, name: &str) -> Read<Option<String>> {
        match self.value(name)? {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(self.wrong(name, "a name")),
        }
    }

    /// What must be there.
    pub(super) fn needed(&self, name: &str) -> Read<String> {
        self.text(name)?.ok_or_else(|| {
            let message = format!("a {} has no `{name}`", self.entity.kind.name);
            error(self.entity.place, message, format!("add `{name}=...`"))
        })
    }

    pub(super) fn flag(&self, name: &str) -> Read<bool> {
        match self.value(name)? {
            None => Ok(false),
            Some(Value::Flag(flag)) => Ok(flag),
            Some(Value::Number(number)) => Ok(number != 0),
            Some(_) => Err(self.wrong(name, "`true` or `false`")),
        }
    }

    /// A whole number from 0 to `most`.
    pub(super) fn number(&self, name: &str, most: u64) -> Read<Option<u64>> {
        let Some(value) = self.value(name)? else {
            return Ok(None);
        };
        let number = whole(&value).filter(|number| *number <= most);
        let wrong = || self.wrong(name, &format!("a whole number up to {most}"));
        number.map(Some).ok_or_else(wrong)
    }

    /// A number, or how it is drawn.
    pub(super) fn amount(&self, name: &str) -> Read<Option<Law>> {
        match self.value(name)? {
            None => Ok(None),
            Some(Value::Random(random)) => self.of(&random).law().map(Some),
            Some(value @ (Value::Number(_) | Value::Flag(_))) => {
                let number = whole(&value).filter(|number| *number <= DRAWN_MAX);
                let wrong = || self.wrong(name, &format!("from 0 to {DRAWN_MAX}"));
                number.map(|it| Some(Law::fixed(it))).ok_or_else(wrong)
            }
            Some(_) => Err(self.wrong(name, "a number, or a random variable")),
        }
    }

    /// Those of another entity, with the same variables.
    pub(super) fn of<'b>(&'b self, entity: &'b Entity) -> Attributes<'b> {
        Attributes { entity, ..*self }
    }
}

fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => u64::try_from(*number).ok(),
        Value::Flag(flag) => Some((*flag).into()),
        _ => None,
    }
}
