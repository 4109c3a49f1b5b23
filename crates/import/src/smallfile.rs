//! JSON of smallfile (`--output-json`).

use std::collections::BTreeMap;

use jiff::Timestamp;
use plan::Diagnostic;
use results::ImportedResult;
use serde::Deserialize;
use serde_json::Value;

use crate::draft::ImportDraft;
use crate::figures::{
    BYTES, BYTES_PER_SECOND, COUNT, FigureList, FigureMetric, GIB, MIB, PER_SECOND, PrintedNumber,
    SECOND, TIME, statement,
};
use crate::json::{number, parse, text_of};
use crate::source::ResultText;

/// A document of smallfile.
#[derive(Debug, Deserialize)]
struct SmallfileDocument {
    params: BTreeMap<String, Value>,
    results: BTreeMap<String, Value>,
}

/// `true` if the text looks like such a document.
pub fn recognizes(text: &ResultText) -> bool {
    let has = |key: &str| text.text.contains(key);
    text.text.trim_start().starts_with('{')
        && has("\"params\"")
        && (has("\"files-per-thread\"") || has("\"files-per-sec\"") || has("\"in-thread\""))
}

/// Reads the document.
pub fn read(text: &ResultText) -> Result<ImportDraft, Diagnostic> {
    let document: SmallfileDocument = parse(text)?;
    let results = &document.results;
    let value = |names: &[&str]| names.iter().find_map(|name| number(results.get(*name)?));
    let operation = document.params.get("operation").map(text_of);
    let operation = operation.ok_or_else(|| text.ends_early("the parameter `operation`"))?;
    let mut figures = FigureList::default();
    let found: [(FigureMetric, &[&str], f64); 7] = [
        (COUNT, &["files"], 1.0),
        (PER_SECOND, &["files-per-sec", "filesPerSec"], 1.0),
        (TIME, &["elapsed"], SECOND),
        (FigureMetric("records_per_second", "1/s"), &["IOPS"], 1.0),
        (BYTES_PER_SECOND, &["MiBps"], MIB),
        (BYTES, &["total-data-GB"], GIB),
        (FigureMetric("files_done", "%"), &["pct-files-done"], 1.0),
    ];
    for (quantity, names, factor) in found {
        if let Some(value) = value(names) {
            figures.add("total", quantity, PrintedNumber::exact(value).times(factor));
        }
    }
    let start = value(&["start-time"]).filter(|seconds| *seconds > 0.0);
    let start = start.and_then(|seconds| Timestamp::from_millisecond((seconds * 1e3) as i64).ok());
    let params = document.params.iter();
    let params = params.map(|(name, value)| statement(name, text_of(value)));
    Ok(ImportDraft {
        version: document.params.get("version").map(text_of),
        time: start,
        statements: params.collect(),
        results: vec![ImportedResult {
            name: operation,
            target: document.params.get("top").map(text_of),
            workers: value(&["total-threads"]).map(|count| count as u32),
            figures: figures.0,
            ..ImportedResult::default()
        }],
    })
}
