//! The JSON Schema of the workload file.
//!
//! `cargo xtask docs` generates it from the types. The program contains it in compressed form to
//! explain keys; the code to generate it would take more than ten times the space.

use std::io::Read;
use std::sync::LazyLock;

use flate2::read::DeflateDecoder;
use plan::ArrivalKind;
use schemars::Schema;
use serde_json::Value;

use crate::model::Workload;

const DEFLATED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/workload.schema.deflate"));

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| units::parse_json(&schema_json()).unwrap_or_default());

/// The JSON Schema of the workload file as text.
#[must_use]
pub fn schema_json() -> String {
    let mut text = String::new();
    // The build creates the data, and a test decompresses it.
    DeflateDecoder::new(DEFLATED)
        .read_to_string(&mut text)
        .map(|_| text)
        .unwrap_or_default()
}

/// Generates the schema from the types, for the file that the build compresses.
#[must_use]
pub fn schema_of_types() -> String {
    units::json_page(&generated()).unwrap_or_default()
}

/// The schema of the types, without the arrivals of a replay, which a workload file cannot have.
pub(super) fn generated() -> Schema {
    let mut schema = schemars::schema_for!(Workload);
    let kinds = schema.pointer_mut("/$defs/ArrivalKind/oneOf");
    if let Some(kinds) = kinds.and_then(Value::as_array_mut) {
        kinds.retain(|kind| kind["const"] != ArrivalKind::Recorded.name());
    }
    schema
}

pub(super) fn schema() -> &'static Value {
    &SCHEMA
}

/// The keys at the top of the workload file.
pub(crate) fn outermost_keys() -> impl Iterator<Item = &'static str> {
    properties(schema())
}

/// The keys of the table that a workload has under this key.
pub(crate) fn keys_of_table(key: &str) -> impl Iterator<Item = &'static str> {
    let kinds = &schema()["properties"][key]["anyOf"];
    let reference = kinds[0]["$ref"].as_str().unwrap_or_default();
    let name = reference.rsplit('/').next().unwrap_or_default();
    properties(&schema()["$defs"][name])
}

fn properties(table: &'static Value) -> impl Iterator<Item = &'static str> {
    let properties = table["properties"].as_object();
    properties
        .into_iter()
        .flat_map(|it| it.keys())
        .map(String::as_str)
}
