//! The JSON Schemas of all documents that commands print.

use clap::builder::PossibleValuesParser;
use lab::{CleanedLabs, FileSystemList};
use report::{ComparisonDocument, PaperDocument, PaperList};
use results::{LabRecord, RunRecord};
use selftest::SelfTest;
use store::{RunList, RunsImported, RunsRemoved};
use target::{CleanedTarget, Diagnosis};
use units::document_schema;
use workload::reference::schema_json;
use workload::{BuiltinList, CheckedPlan, KeyList, ShownWorkload};

/// A schema by its name, and how it is made.
type NamedSchema = (&'static str, fn() -> String);

/// The schema of workload files, and of every document by what stands in its `format` between
/// `pgmeter-` and `/`.
const SCHEMAS: [NamedSchema; 18] = [
    ("workload", schema_json),
    ("record", document_schema::<RunRecord>),
    ("lab", document_schema::<LabRecord>),
    ("check", document_schema::<CheckedPlan>),
    ("list", document_schema::<BuiltinList>),
    ("show", document_schema::<ShownWorkload>),
    ("keys", document_schema::<KeyList>),
    ("compare", document_schema::<ComparisonDocument>),
    ("runs", document_schema::<RunList>),
    ("runs-rm", document_schema::<RunsRemoved>),
    ("runs-import", document_schema::<RunsImported>),
    ("lab-list", document_schema::<FileSystemList>),
    ("lab-clean", document_schema::<CleanedLabs>),
    ("paper-list", document_schema::<PaperList>),
    ("paper", document_schema::<PaperDocument>),
    ("doctor", document_schema::<Diagnosis>),
    ("clean", document_schema::<CleanedTarget>),
    ("selftest", document_schema::<SelfTest>),
];

/// The names of all schemas, as an argument takes them.
pub(crate) fn schema_names() -> PossibleValuesParser {
    PossibleValuesParser::new(SCHEMAS.map(|(name, _)| name))
}

/// The JSON Schema of that name.
pub(crate) fn schema(name: &str) -> Option<String> {
    let (_, schema) = SCHEMAS.iter().find(|(known, _)| *known == name)?;
    Some(schema())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_called_as_the_format_that_it_describes() {
        for (name, schema) in SCHEMAS.iter().filter(|(name, _)| *name != "workload") {
            let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
            let format = schema["properties"]["format"]["const"].as_str().unwrap();
            let (seen, number) = format.split_once('/').unwrap();
            assert_eq!(seen, format!("pgmeter-{name}"));
            assert!(number.parse::<u32>().is_ok(), "{format}");
        }
    }

    #[test]
    fn every_schema_has_its_row_in_the_documents() {
        let page = include_str!("../../../docs/results.md");
        for (name, _) in SCHEMAS {
            assert!(page.contains(&format!("\n| `{name}` | ")), "{name}");
        }
    }
}
