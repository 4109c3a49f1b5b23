//! Writes docs/schemas from the types: the JSON Schemas of all documents that commands print.

use std::path::Path;

use lab::{CleanedLabs, FileSystemList};
use report::{ComparisonDocument, PaperDocument, PaperList};
use results::{LabRecord, RunRecord};
use selftest::SelfTest;
use store::{RunList, RunsImported, RunsRemoved};
use target::{CleanedTarget, Diagnosis};
use units::document_schema;
use workload::{BuiltinList, CheckedPlan, KeyList, ShownWorkload};

/// What stands in a document's `format` between `pgmeter-` and `/`, and how its schema is made.
type NamedSchema = (&'static str, fn() -> String);

const SCHEMAS: [NamedSchema; 17] = [
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

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    for (name, schema) in SCHEMAS {
        std::fs::write(folder.join(format!("{name}.json")), schema())?;
    }
    Ok(())
}
