//! Number of repetitions of the cells: fixed or `auto`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const AUTO: &str = "auto";

/// Number of times the whole series of cells is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetitions {
    /// A fixed number.
    Count(u32),
    /// As many as the requested precision needs, until the budget is spent.
    Auto,
}

impl fmt::Display for Repetitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Auto => f.write_str(AUTO),
        }
    }
}

impl Serialize for Repetitions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(count) => serializer.serialize_u32(*count),
            Self::Auto => serializer.serialize_str(AUTO),
        }
    }
}

impl<'de> Deserialize<'de> for Repetitions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RepetitionsVisitor)
    }
}

struct RepetitionsVisitor;

impl Visitor<'_> for RepetitionsVisitor {
    type Value = Repetitions;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number from 1 to 1000, or `auto`")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Repetitions, E> {
        // A number too large for the type is also out of range, which is checked later.
        Ok(Repetitions::Count(u32::try_from(value).unwrap_or(u32::MAX)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Repetitions, E> {
        match u64::try_from(value) {
            Ok(value) => self.visit_u64(value),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(value), &self)),
        }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Repetitions, E> {
        match value {
            AUTO => Ok(Repetitions::Auto),
            _ => Err(E::invalid_value(Unexpected::Str(value), &self)),
        }
    }
}

impl JsonSchema for Repetitions {
    fn schema_name() -> Cow<'static, str> {
        "Repetitions".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Repetitions: 1 to 1000, or `auto`.",
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": 1000},
                {"type": "string", "const": AUTO},
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        repetitions: Repetitions,
    }

    #[test]
    fn a_number_and_auto_round_trip() {
        for repetitions in [
            Repetitions::Count(1),
            Repetitions::Count(1000),
            Repetitions::Auto,
        ] {
            let text = toml::to_string(&Holder { repetitions }).unwrap();
            let back: Holder = toml::from_str(&text).unwrap();
            assert_eq!(back.repetitions, repetitions, "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["-1", "\"often\"", "1.5", "true"] {
            let error = toml::from_str::<Holder>(&format!("repetitions = {text}")).unwrap_err();
            assert!(
                error
                    .message()
                    .contains("a number from 1 to 1000, or `auto`"),
                "{error}"
            );
        }
    }
}
