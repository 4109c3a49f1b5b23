//! How every unit is read from and written to files: as text, or as a plain number.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use schemars::{Schema, json_schema};
use serde::{Deserializer, de};

use crate::UnitError;

/// Reads a unit from text or a number; a number means what its decimal digits mean.
pub(crate) fn deserialize<'de, T, D>(
    deserializer: D,
    expecting: &'static str,
) -> Result<T, D::Error>
where
    T: FromStr<Err = UnitError>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_any(TextOrNumber {
        expecting,
        unit: PhantomData,
    })
}

struct TextOrNumber<T> {
    expecting: &'static str,
    unit: PhantomData<T>,
}

impl<T: FromStr<Err = UnitError>> de::Visitor<'_> for TextOrNumber<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.expecting)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse()
            .map_err(|error: UnitError| E::custom(format!("{error}; {}", error.help())))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

/// The schema of a unit: text of a pattern, or a number of the given JSON type.
pub(crate) fn schema(description: &str, number: &str, pattern: &str, examples: &[&str]) -> Schema {
    json_schema!({
        "description": description,
        "type": ["string", number],
        "minimum": 0,
        "pattern": pattern,
        "examples": examples,
    })
}

/// Implements serde and schema of one unit; written text is what `Display` prints.
macro_rules! on_the_wire {
    ($unit:ident, $expecting:literal, $number:literal, $pattern:expr, $examples:expr) => {
        impl<'de> serde::Deserialize<'de> for $unit {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::wire::deserialize(from, $expecting)
            }
        }

        impl schemars::JsonSchema for $unit {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($unit).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::wire::schema($expecting, $number, $pattern, $examples)
            }
        }
    };
}
pub(crate) use on_the_wire;
