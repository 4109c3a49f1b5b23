//! Seeds of 64 bits, which TOML integers cannot represent completely.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A seed of 64 bits. Above 2^63-1 it is written as text, because TOML integers are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Seed(pub u64);

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0) {
            Ok(value) => serializer.serialize_i64(value),
            Err(_) => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SeedVisitor)
    }
}

struct SeedVisitor;

impl Visitor<'_> for SeedVisitor {
    type Value = Seed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number from 0 to 18446744073709551615")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Seed, E> {
        Ok(Seed(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Seed, E> {
        match u64::try_from(value) {
            Ok(value) => Ok(Seed(value)),
            Err(_) => Err(E::invalid_value(
                serde::de::Unexpected::Signed(value),
                &self,
            )),
        }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Seed, E> {
        match value.parse() {
            Ok(value) => Ok(Seed(value)),
            Err(_) => Err(E::invalid_value(serde::de::Unexpected::Str(value), &self)),
        }
    }
}

impl JsonSchema for Seed {
    fn schema_name() -> Cow<'static, str> {
        "Seed".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Seed: 0 to 18446744073709551615; above 2^63-1 as a text.",
            "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+$"}],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        seed: Seed,
    }

    #[test]
    fn a_seed_keeps_all_64_bits() {
        for value in [0, 1, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX] {
            let text = toml::to_string(&Holder { seed: Seed(value) }).unwrap();
            assert_eq!(
                toml::from_str::<Holder>(&text).unwrap().seed,
                Seed(value),
                "{text}"
            );
        }
    }

    #[test]
    fn a_negative_seed_is_refused() {
        let error = toml::from_str::<Holder>("seed = -1").unwrap_err();
        assert_eq!(
            error.message(),
            "invalid value: integer `-1`, expected a number from 0 to 18446744073709551615"
        );
    }
}
