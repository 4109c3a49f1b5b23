//! JSON Schemas of all documents that pgmeter writes.
//!
//! `cargo xtask docs` generates them from the types, and the program contains them compressed.
//! Generating them at run time would make the program larger by more than ten times their size.

use std::io::Read;

use clap::builder::PossibleValuesParser;
use description::reference::schema_json;
use flate2::read::DeflateDecoder;

/// The schema of workload files, which the program itself reads to explain their keys.
const WORKLOAD_SCHEMA: &str = "workload";

/// A compressed schema, with the part of its document's `format` between `pgmeter-` and `/`.
type NamedSchema = (&'static str, &'static [u8]);

/// Schemas of documents, sorted by name.
const DOCUMENTS: &[NamedSchema] = include!(concat!(env!("OUT_DIR"), "/schemas.rs"));

/// Returns the names of all schemas, as values of an argument.
pub(crate) fn schema_names() -> PossibleValuesParser {
    let documents = DOCUMENTS.iter().map(|(name, _)| *name);
    PossibleValuesParser::new(std::iter::once(WORKLOAD_SCHEMA).chain(documents))
}

/// Returns the JSON Schema with this name.
pub(crate) fn schema(name: &str) -> Option<String> {
    if name == WORKLOAD_SCHEMA {
        return Some(schema_json());
    }
    let (_, deflated) = DOCUMENTS.iter().find(|(known, _)| *known == name)?;
    let mut schema = String::new();
    // This cannot fail, because `build.rs` compressed these bytes.
    DeflateDecoder::new(*deflated)
        .read_to_string(&mut schema)
        .ok()?;
    Some(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_named_after_its_format() {
        assert!(!DOCUMENTS.is_empty());
        for (name, _) in DOCUMENTS {
            let schema: serde_json::Value = serde_json::from_str(&schema(name).unwrap()).unwrap();
            let format = schema["properties"]["format"]["const"].as_str().unwrap();
            let (seen, number) = format.split_once('/').unwrap();
            assert_eq!(seen, format!("pgmeter-{name}"));
            assert!(number.parse::<u32>().is_ok(), "{format}");
        }
    }

    #[test]
    fn every_schema_is_listed_in_the_docs() {
        let page = include_str!("../../../docs/results.md");
        for name in std::iter::once(&WORKLOAD_SCHEMA).chain(DOCUMENTS.iter().map(|(name, _)| name))
        {
            assert!(page.contains(&format!("\n| `{name}` | ")), "{name}");
        }
    }
}
