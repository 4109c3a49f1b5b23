//! Number of times that a target is written before the measurement.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Largest sensible value; more only wears the device.
const TIMES_MAX: f64 = 100.0;

/// Number of times that the part of a target that the run will use is written before the
/// measurement: `"2x"`, `"1.5x"` or `"none"`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Precondition(pub f64);

impl fmt::Display for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0.0 => f.write_str("none"),
            times => write!(f, "{times}x"),
        }
    }
}

impl FromStr for Precondition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(0.0));
        }
        let times = text.strip_suffix('x').and_then(|it| it.parse::<f64>().ok());
        times
            // `inf` and `NaN` parse as numbers, but fail these comparisons.
            .filter(|times| *times > 0.0 && *times <= TIMES_MAX)
            .map(Self)
            .ok_or_else(|| {
                format!("`{text}` is neither `none` nor a multiple up to 100, such as `2x`")
            })
    }
}

impl Serialize for Precondition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Precondition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Precondition {
    fn schema_name() -> Cow<'static, str> {
        "Precondition".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^(none|[0-9]+(\\.[0-9]+)?x)$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_read_and_written() {
        for (text, times) in [("2x", 2.0), ("1.5x", 1.5), ("none", 0.0), ("100x", 100.0)] {
            let read: Precondition = text.parse().unwrap();
            assert_eq!((read.0, read.to_string().as_str()), (times, text));
        }
        for text in ["", "2", "x", "0x", "-1x", "101x", "NaNx", "infx", "twice"] {
            assert!(text.parse::<Precondition>().is_err(), "{text}");
        }
    }
}
