//! Real numbers in JSON, which has no infinity and no "not a number".

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Serializes fields with real numbers, for serde's `with` attribute.
pub struct Real;

impl Real {
    /// Writes a finite number unchanged and any other as `null`.
    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        Some(*value)
            .filter(|value| value.is_finite())
            .serialize(serializer)
    }

    /// Reads `null` as "not a number".
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
    }
}

impl JsonSchema for Real {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Real".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Option::<f64>::json_schema(generator)
    }
}

/// `count` per second of `length_ns`; 0 if no time passed.
#[must_use]
pub fn per_second(count: u64, length_ns: u64) -> f64 {
    if length_ns == 0 {
        return 0.0;
    }
    count as f64 * 1e9 / length_ns as f64
}

/// Part of a time as a share of the whole; 0 if no time passed.
#[must_use]
pub fn share_of_time(part_ns: u64, total_ns: u64) -> f64 {
    if total_ns == 0 {
        return 0.0;
    }
    part_ns as f64 / total_ns as f64
}
