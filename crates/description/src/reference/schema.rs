//! The JSON Schema of the workload file.
//!
//! `cargo xtask docs` makes it from the types, and it is compressed into the program, which reads
//! it to explain keys: made by the program itself, it would take more than ten times as much of it.

use std::io::Read;
use std::sync::LazyLock;

use flate2::read::DeflateDecoder;
use serde_json::Value;

use crate::model::Workload;

const DEFLATED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/workload.schema.deflate"));

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| units::parse_json(&schema_json()).unwrap_or_default());

/// The JSON Schema of the workload file, as a text.
#[must_use]
pub fn schema_json() -> String {
    let mut text = String::new();
    // It comes from the build, and a test reads it.
    DeflateDecoder::new(DEFLATED)
        .read_to_string(&mut text)
        .map(|_| text)
        .unwrap_or_default()
}

/// The same made from the types, for the file that the build compresses.
#[must_use]
pub fn schema_of_types() -> String {
    let schema = schemars::schema_for!(Workload);
    units::json_page(&schema).unwrap_or_default()
}

pub(super) fn schema() -> &'static Value {
    &SCHEMA
}

/// The keys of the workload file's outermost table.
pub(crate) fn outermost_keys() -> impl Iterator<Item = &'static str> {
    properties(schema())
}

/// The keys of a table that the schema has under the name of its type.
pub(crate) fn keys_of_type(name: &str) -> impl Iterator<Item = &'static str> {
    properties(&schema()["$defs"][name])
}

fn properties(table: &'static Value) -> impl Iterator<Item = &'static str> {
    let properties = table["properties"].as_object();
    properties
        .into_iter()
        .flat_map(|it| it.keys())
        .map(String::as_str)
}
