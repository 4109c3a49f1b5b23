//! JSON documents for other programs: their `format` field names the document type; each has a
//! schema.

use std::path::{Path, PathBuf};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::json::{AnySerialize, json_line, json_page};

/// Why serializing a document cannot fail.
const WRITABLE: &str = "keys of a document are text, and so are its paths";

/// A JSON document whose first field, `format`, has its name and version number.
///
/// Within a version, fields are only added. The version changes if a field changes its meaning or
/// is removed. Numbers are in base units and never rounded.
pub trait JsonDocument: Serialize + JsonSchema {
    /// Name and version, such as `pgmeter-list/1`.
    const FORMAT: &'static str;

    /// Serializes to JSON, with a final line break. Types that already have the field override this
    /// method.
    ///
    /// # Panics
    /// If a map has keys that are not text, or a path is not UTF-8.
    #[must_use]
    fn to_document(&self) -> String
    where
        Self: Sized,
    {
        json_page(&Formatted::of(self)).expect(WRITABLE)
    }

    /// As [`JsonDocument::to_document`], on one line, with its line break.
    ///
    /// # Panics
    /// As [`JsonDocument::to_document`].
    #[must_use]
    fn to_line(&self) -> String
    where
        Self: Sized,
    {
        json_line(&Formatted::of(self)).expect(WRITABLE) + "\n"
    }
}

#[derive(Serialize)]
struct Formatted<'a> {
    // Serde writes fields in this order, and readers expect the format first.
    format: &'static str,
    #[serde(flatten)]
    body: &'a dyn AnySerialize,
}

impl<'a> Formatted<'a> {
    fn of<D: JsonDocument>(document: &'a D) -> Self {
        Self {
            format: D::FORMAT,
            body: document,
        }
    }
}

/// Serializes a path as text. Bytes that are not UTF-8, which JSON cannot represent, become
/// replacement characters, so that a document can always be written.
///
/// # Errors
/// Errors of the serializer.
pub fn path_as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// As [`path_as_text`], for several paths.
///
/// # Errors
/// Errors of the serializer.
pub fn paths_as_text<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

/// The JSON Schema of a document in its written form, with a final line break.
#[must_use]
pub fn document_schema<T: JsonDocument>() -> String {
    // In this form, fields are required if they are always written, even if reading them has a
    // default.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    set_format(&mut schema, T::FORMAT);
    json_page(&schema).unwrap_or_default()
}

fn set_format(schema: &mut Schema, format: &str) {
    let schema = schema.ensure_object();
    schema.insert("title".to_owned(), format.into());
    let field = json!({
        "const": format,
        "description": "Name and number of the format.",
        "type": "string",
    });
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert("format".to_owned(), field);
    }
    let required = schema.entry("required").or_insert_with(|| json!([]));
    if let Some(required) = required.as_array_mut() {
        // A type that has the field already requires it, so it must not be listed twice.
        required.retain(|name| name != "format");
        required.insert(0, Value::from("format"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Things.
    #[derive(Serialize, JsonSchema)]
    struct Things {
        /// How many bytes.
        size_bytes: u64,
        names: Vec<String>,
    }

    impl JsonDocument for Things {
        const FORMAT: &'static str = "pgmeter-things/1";
    }

    #[test]
    fn a_document_begins_with_its_format() {
        let things = Things {
            size_bytes: u64::MAX,
            names: Vec::new(),
        };
        let text = things.to_document();
        assert!(
            text.starts_with("{\n  \"format\": \"pgmeter-things/1\","),
            "{text}"
        );
        assert!(text.ends_with("}\n"), "{text}");
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["size_bytes"], u64::MAX);
    }

    #[test]
    fn a_schema_requires_the_format_and_describes_fields() {
        let schema: Value = serde_json::from_str(&document_schema::<Things>()).unwrap();
        assert_eq!(schema["title"], "pgmeter-things/1");
        let properties = &schema["properties"];
        assert_eq!(properties["format"]["const"], "pgmeter-things/1");
        assert_eq!(properties["size_bytes"]["description"], "How many bytes.");
        assert_eq!(schema["required"], json!(["format", "size_bytes", "names"]));
    }
}
