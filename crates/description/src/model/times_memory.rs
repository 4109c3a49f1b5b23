//! Amount of data relative to the machine's memory.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// More data would take days to write without showing anything new.
const TIMES_MAX: f64 = 100.0;

/// Multiple of the main memory: `"2x"`, `"0.5x"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimesMemory(pub f64);

impl fmt::Display for TimesMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x", self.0)
    }
}

impl FromStr for TimesMemory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let times = text.strip_suffix('x').and_then(|it| it.parse::<f64>().ok());
        times
            // `inf` and `NaN` parse as numbers, but fail these comparisons.
            .filter(|times| *times > 0.0 && *times <= TIMES_MAX)
            .map(Self)
            .ok_or_else(|| {
                format!("`{text}` is not a multiple of memory up to {TIMES_MAX}, such as `2x`")
            })
    }
}

impl Serialize for TimesMemory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimesMemory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for TimesMemory {
    fn schema_name() -> Cow<'static, str> {
        "TimesMemory".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?x$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_read_and_written() {
        for (text, times) in [
            ("2x", 2.0),
            ("0.5x", 0.5),
            ("0.002x", 0.002),
            ("100x", 100.0),
        ] {
            let read: TimesMemory = text.parse().unwrap();
            assert_eq!((read.0, read.to_string().as_str()), (times, text));
        }
        for text in [
            "",
            "2",
            "x",
            "0x",
            "-1x",
            "101x",
            "NaNx",
            "infx",
            "2x memory",
        ] {
            assert!(text.parse::<TimesMemory>().is_err(), "{text}");
        }
    }
}
