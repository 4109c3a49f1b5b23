//! Serialization of all units: as text, or as a plain number.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use schemars::{Schema, json_schema};
use serde::{Deserializer, de};

use crate::UnitError;

/// Reads a unit from text or a number; a number is parsed by its decimal digits.
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
        // TOML has only signed integers. A negative one gets the parser's message and help.
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        // Rust prints the shortest digits that read back, so 0.1 stays exactly a tenth.
        self.visit_str(&number.to_string())
    }
}

/// The schema of a unit: text that matches a pattern, or a number of the given JSON type.
pub(crate) fn schema(description: &str, number: &str, pattern: &str, examples: &[&str]) -> Schema {
    json_schema!({
        "description": description,
        "type": ["string", number],
        // JSON Schema applies `minimum` to numbers only and `pattern` to texts only.
        "minimum": 0,
        "pattern": pattern,
        "examples": examples,
    })
}

/// Implements serde traits and the schema of a unit; it is written with `Display`.
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

#[cfg(test)]
mod tests {
    use schemars::schema_for;
    use serde::{Deserialize, Serialize};

    use crate::{Bytes, Percent, Rate, Span};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Options {
        size: Bytes,
        run_time: Span,
        read: Percent,
        rate: Rate,
    }

    const OPTIONS: Options = Options {
        size: Bytes(4096),
        run_time: Span(1_500_000_000),
        read: Percent(67.0),
        rate: Rate(2e4),
    };

    #[test]
    fn a_workload_file_may_give_text_or_numbers() {
        for text in [
            "size = \"4k\"\nrun_time = \"1.5s\"\nread = \"67%\"\nrate = \"20k/s\"",
            "size = 4096\nrun_time = 1.5\nread = 67\nrate = 20000",
            "size = 4_096\nrun_time = 1.5\nread = 67.0\nrate = 2e4",
        ] {
            assert_eq!(toml::from_str::<Options>(text).unwrap(), OPTIONS);
        }
        let text = toml::to_string(&OPTIONS).unwrap();
        assert_eq!(toml::from_str::<Options>(&text).unwrap(), OPTIONS);
        assert!(text.contains("read = 67\n"), "{text}");
    }

    #[test]
    fn an_error_for_a_bad_value_has_its_line_and_advice() {
        let text = "size = 1\nrun_time = \"1.5 parsecs\"\nread = 1\nrate = 1";
        let error = toml::from_str::<Options>(text).unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
        assert!(
            error.contains("`1.5 parsecs` is not a span of time; write a span such"),
            "{error}"
        );
        let error = toml::from_str::<Options>("size = true")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("expected a size: text such as `4k`"),
            "{error}"
        );
    }

    #[test]
    fn the_schema_takes_text_and_numbers() {
        for (schema, number) in [
            (schema_for!(Bytes), "integer"),
            (schema_for!(Span), "number"),
            (schema_for!(Percent), "number"),
            (schema_for!(Rate), "number"),
        ] {
            let schema = schema.to_value();
            assert_eq!(schema["type"], serde_json::json!(["string", number]));
            assert!(schema["pattern"].as_str().unwrap().starts_with('^'));
        }
    }
}
