//! Writes docs/schemas from the types: the JSON Schemas of all documents that pgmeter writes.

use std::path::Path;

use board::{
    BoardBuilt, BoardLint, BoardMade, RunStandings, SiteDocument, SubmissionAdded,
    SubmissionComparison,
};
use lab::{CleanedLabs, FileSystemList};
use planning::{BuiltinList, CheckedPlan, KeyList, ShownWorkload};
use report::{CheckedTrace, ComparisonDocument, PaperDocument, PaperList};
use results::{EventLine, LabRecord, RunRecord};
use selftest::SelfTest;
use storage::{CleanedTarget, Diagnosis};
use store::{RunList, RunsImported, RunsRemoved};
use units::document_schema;
use web::{
    CheckAnswer, ControlAnswer, ConvertAnswer, DiskList, IntervalsAnswer, LabsAnswer, OwnText,
    OwnWorkloads, QueueDocument, QueueEntry, RefusedRequest, RemovedRun, RunView, RunsAnswer,
    ServerFacts, TagsAnswer, TrendAnswer, TrendsAnswer,
};

/// The part of a document's `format` between `pgmeter-` and `/`, and a function that returns its
/// schema.
type NamedSchema = (&'static str, fn() -> String);

const SCHEMAS: [NamedSchema; 44] = [
    ("events", document_schema::<EventLine>),
    ("record", document_schema::<RunRecord>),
    ("lab", document_schema::<LabRecord>),
    ("check", document_schema::<CheckedPlan>),
    ("check-trace", document_schema::<CheckedTrace>),
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
    ("board-init", document_schema::<BoardMade>),
    ("board-lint", document_schema::<BoardLint>),
    ("board-add", document_schema::<SubmissionAdded>),
    ("board-build", document_schema::<BoardBuilt>),
    ("board-rank", document_schema::<RunStandings>),
    ("board-compare", document_schema::<SubmissionComparison>),
    ("board", document_schema::<SiteDocument>),
    ("doctor", document_schema::<Diagnosis>),
    ("clean", document_schema::<CleanedTarget>),
    ("selftest", document_schema::<SelfTest>),
    ("serve", document_schema::<ServerFacts>),
    ("serve-disks", document_schema::<DiskList>),
    ("serve-runs", document_schema::<RunsAnswer>),
    ("serve-run", document_schema::<RunView>),
    ("serve-intervals", document_schema::<IntervalsAnswer>),
    ("serve-tags", document_schema::<TagsAnswer>),
    ("serve-trends", document_schema::<TrendsAnswer>),
    ("serve-trend", document_schema::<TrendAnswer>),
    ("serve-labs", document_schema::<LabsAnswer>),
    ("serve-removed", document_schema::<RemovedRun>),
    ("serve-told", document_schema::<ControlAnswer>),
    ("serve-queue", document_schema::<QueueDocument>),
    ("serve-entry", document_schema::<QueueEntry>),
    ("serve-check", document_schema::<CheckAnswer>),
    ("serve-convert", document_schema::<ConvertAnswer>),
    ("serve-own", document_schema::<OwnWorkloads>),
    ("serve-text", document_schema::<OwnText>),
    ("serve-error", document_schema::<RefusedRequest>),
];

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    for (name, schema) in SCHEMAS {
        std::fs::write(folder.join(format!("{name}.json")), schema())?;
    }
    Ok(())
}
