//! How sizes, times and percents look in the JSON Schema.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// A number of bytes or a text such as `4KiB`.
pub struct SizeText;

/// A number of seconds or a text such as `5m`.
pub struct SpanText;

/// A number from 0 to 100.
pub struct PercentText;

impl JsonSchema for SizeText {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Bytes: a number, or a text such as `4k`, `4KiB` (4096) or `4kB` (4000).",
            "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}],
        })
    }
}

impl JsonSchema for SpanText {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Time: a number of seconds, or a text such as `500ms` or `5m`.",
            "anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}],
        })
    }
}

impl JsonSchema for PercentText {
    fn schema_name() -> Cow<'static, str> {
        "Percent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Percent: a number from 0 to 100, or a text such as `67%`.",
            "anyOf": [{"type": "number", "minimum": 0, "maximum": 100}, {"type": "string"}],
        })
    }
}
