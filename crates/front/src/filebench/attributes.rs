//! Attributes as a script's run sees them, their variables looked up.

use std::collections::BTreeMap;

use workload::program::Law;

use super::script::{Entity, Read, Value};
use crate::tokens::{Place, error};

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
                let (Value::Number(one), Value::Number(other)) = (one, other) else {
                    let message = "only whole numbers can be multiplied";
                    return Err(error(place, message, "write the product itself"));
                };
                let product = one.checked_mul(other).ok_or_else(|| {
                    let message = format!("{one} * {other} is too large");
                    error(place, message, "use smaller numbers")
                })?;
                Ok(Value::Number(product))
            }
            value => Ok(value.clone()),
        }
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

    /// What `take` makes of a value; it says what the value should have been where that is nothing.
    fn taken<T>(
        &self,
        name: &str,
        wanted: &str,
        take: impl FnOnce(&Value) -> Option<T>,
    ) -> Read<Option<T>> {
        let Some(attribute) = self.entity.get(name) else {
            return Ok(None);
        };
        let value = self.variables.settled(&attribute.value, attribute.place)?;
        let taken = take(&value).ok_or_else(|| {
            let message = format!("`{name}` is not {wanted}");
            error(attribute.place, message, format!("give `{name}` {wanted}"))
        });
        taken.map(Some)
    }

    /// A text, or the number that stands for one.
    pub(super) fn text(&self, name: &str) -> Read<Option<String>> {
        self.taken(name, "a name", |value| match value {
            Value::Text(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    }

    /// What must be there.
    pub(super) fn needed(&self, name: &str) -> Read<String> {
        self.text(name)?.ok_or_else(|| {
            let message = format!("a {} has no `{name}`", self.entity.kind.name());
            error(self.entity.place, message, format!("add `{name}=...`"))
        })
    }

    pub(super) fn flag(&self, name: &str) -> Read<bool> {
        let flag = self.taken(name, "`true` or `false`", |value| match value {
            Value::Flag(flag) => Some(*flag),
            Value::Number(number) => Some(*number != 0),
            _ => None,
        });
        Ok(flag?.unwrap_or(false))
    }

    /// A whole number from 0 to `most`.
    pub(super) fn number(&self, name: &str, most: u64) -> Read<Option<u64>> {
        let wanted = format!("a whole number up to {most}");
        self.taken(name, &wanted, |value| whole(value, most))
    }

    /// A number, or how it is drawn.
    pub(super) fn amount(&self, name: &str) -> Read<Option<Law>> {
        let wanted = match self.value(name)? {
            Some(Value::Random(random)) => return self.of(&random).law().map(Some),
            Some(Value::Number(_)) => format!("from 0 to {DRAWN_MAX}"),
            _ => "a number, or a random variable".to_owned(),
        };
        let number = self.taken(name, &wanted, |value| whole(value, DRAWN_MAX));
        Ok(number?.map(Law::fixed))
    }

    /// Those of another entity, with the same variables.
    pub(super) fn of<'b>(&'b self, entity: &'b Entity) -> Attributes<'b> {
        Attributes { entity, ..*self }
    }
}

/// A number up to `most`; a flag is 0 or 1.
fn whole(value: &Value, most: u64) -> Option<u64> {
    let number = match value {
        Value::Number(number) => u64::try_from(*number).ok(),
        Value::Flag(flag) => Some((*flag).into()),
        _ => None,
    };
    number.filter(|number| *number <= most)
}
