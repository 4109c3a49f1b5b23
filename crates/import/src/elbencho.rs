//! CSV and JSON results of elbencho.

use std::collections::BTreeMap;

use plan::Diagnostic;
use results::ImportedResult;
use serde_json::Value;

use crate::draft::ImportDraft;
use crate::figures::{
    BYTES, BYTES_PER_SECOND, COUNT, CPU, FigureList, FigureMetric, LATENCY_MAX, LATENCY_MEAN,
    LATENCY_MIN, MIB, MICROSECOND, MILLISECOND, PER_SECOND, PrintedNumber, TIME, statement,
};
use crate::json::{error_at, text_of};
use crate::source::{NumberedLine, ResultText};

/// Columns at the end of the slowest worker, and of entries (files or directories).
const COLUMNS: [(&str, &str, FigureMetric, f64); 15] = [
    ("time ms [last]", "total", TIME, MILLISECOND),
    ("IOPS [last]", "", PER_SECOND, 1.0),
    ("MiB/s [last]", "", BYTES_PER_SECOND, MIB),
    ("MiB [last]", "", BYTES, MIB),
    ("IO lat us [min]", "", LATENCY_MIN, MICROSECOND),
    ("IO lat us [avg]", "", LATENCY_MEAN, MICROSECOND),
    ("IO lat us [max]", "", LATENCY_MAX, MICROSECOND),
    ("entries/s [last]", "entry", PER_SECOND, 1.0),
    ("entries [last]", "entry", COUNT, 1.0),
    ("Ent lat us [min]", "entry", LATENCY_MIN, MICROSECOND),
    ("Ent lat us [avg]", "entry", LATENCY_MEAN, MICROSECOND),
    ("Ent lat us [max]", "entry", LATENCY_MAX, MICROSECOND),
    ("CPU% [last]", "total", CPU, 1.0),
    (
        "IOPS [first]",
        "",
        FigureMetric("per_second_first_done", "1/s"),
        1.0,
    ),
    (
        "MiB/s [first]",
        "",
        FigureMetric("bytes_per_second_first_done", "B/s"),
        MIB,
    ),
];

/// Columns that describe the phase.
const SETTINGS: [&str; 12] = [
    "label",
    "path type",
    "paths",
    "hosts",
    "threads",
    "dirs",
    "files",
    "file size",
    "block size",
    "direct IO",
    "random",
    "shared paths",
];

/// `true` if the text is a result file of elbencho.
pub fn recognizes(text: &ResultText) -> bool {
    let start = text.text.lines().next().unwrap_or_default();
    let is_csv = start.starts_with("ISO date,label,path type");
    is_csv || is_json(text)
}

fn is_json(text: &ResultText) -> bool {
    let is_json = text.text.trim_start().starts_with(['{', '[']);
    is_json && text.text.contains("\"ISO date\"") && text.text.contains("[last]\"")
}

/// Reads all phases.
pub fn read(text: &ResultText) -> Result<ImportDraft, Diagnostic> {
    let phases = match is_json(text) {
        true => json_phases(text)?,
        false => csv_phases(text)?,
    };
    let mut draft = ImportDraft::default();
    for (line, phase) in &phases {
        if let Some(version) = phase.get("version").filter(|it| !it.is_empty()) {
            draft.version = Some(version.clone());
        }
        let result = result(text, *line, phase)?;
        let is_same =
            |it: &&ImportedResult| it.name == result.name && it.settings == result.settings;
        let repetition = draft.results.iter().filter(is_same).count();
        let repetition = u32::try_from(repetition).unwrap_or(u32::MAX);
        draft.results.push(ImportedResult {
            repetition,
            ..result
        });
    }
    for name in ["ISO date", "command"] {
        let first = phases.first().and_then(|(_, phase)| phase.get(name));
        draft
            .statements
            .extend(first.map(|value| statement(name, value.as_str())));
    }
    Ok(draft)
}

/// A phase by the names of its columns.
type Phase = BTreeMap<String, String>;

/// Rows of a CSV file, each with its line.
fn csv_phases(text: &ResultText) -> Result<Vec<(u32, Phase)>, Diagnostic> {
    let mut reader = csv::Reader::from_reader(text.text.as_bytes());
    let bad = |error: &csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        let message = format!("expected one field per column: {error}");
        Diagnostic::error(text.name, message)
            .at_line(u32::try_from(line).unwrap_or(u32::MAX))
            .help("import the file as the program wrote it")
    };
    let heads = reader.headers().map_err(|error| bad(&error))?.clone();
    let rows = reader.records().map(|row| {
        let row = row.map_err(|error| bad(&error))?;
        let line = row.position().map_or(1, csv::Position::line);
        let fields = heads.iter().zip(&row);
        let phase = fields.map(|(head, field)| (head.to_owned(), field.to_owned()));
        Ok((u32::try_from(line).unwrap_or(u32::MAX), phase.collect()))
    });
    rows.collect()
}

/// Objects of a JSON file: one after the other, or in an array.
fn json_phases(text: &ResultText) -> Result<Vec<(u32, Phase)>, Diagnostic> {
    let mut documents = serde_json::Deserializer::from_str(text.text).into_iter::<Value>();
    let mut phases = Vec::new();
    while let Some(document) = documents.next() {
        let document = document.map_err(|error| error_at(text, 0, &error))?;
        let end = documents.byte_offset();
        let line = u32::try_from(text.text[..end].lines().count()).unwrap_or(u32::MAX);
        let objects = match document {
            Value::Array(objects) => objects,
            object => vec![object],
        };
        for object in objects {
            let Value::Object(object) = object else {
                let line = NumberedLine {
                    number: line,
                    text: "",
                };
                return Err(text.unexpected(line, "an object per phase"));
            };
            let phase = object
                .iter()
                .map(|(name, value)| (name.clone(), text_of(value)));
            phases.push((line, phase.collect()));
        }
    }
    Ok(phases)
}

fn result(text: &ResultText, line: u32, phase: &Phase) -> Result<ImportedResult, Diagnostic> {
    let bad = |expected: &str| {
        let line = NumberedLine {
            number: line,
            text: "",
        };
        text.unexpected(line, expected)
    };
    let field = |name: &str| {
        phase
            .get(name)
            .map(String::as_str)
            .filter(|it| !it.is_empty())
    };
    let name = field("operation").ok_or_else(|| bad("a phase with an `operation`"))?;
    let own = match name {
        "READ" => "read",
        "WRITE" => "write",
        _ => "total",
    };
    let mut figures = FigureList::default();
    for (column, operation, quantity, factor) in COLUMNS {
        let Some(value) = field(column) else { continue };
        let number = PrintedNumber::parse(value);
        let number =
            number.ok_or_else(|| bad(&format!("a number as `{column}`, not `{value}`")))?;
        let operation = if operation.is_empty() { own } else { operation };
        figures.add(operation, quantity, number.times(factor));
    }
    let whole = |name: &str| field(name)?.parse::<u32>().ok();
    let settings = SETTINGS
        .iter()
        .filter_map(|name| Some(statement(name, field(name)?)));
    Ok(ImportedResult {
        name: name.to_owned(),
        settings: settings.collect(),
        iodepth: whole("IO depth"),
        // Threads are per host.
        workers: whole("threads")
            .zip(whole("hosts"))
            .and_then(|(a, b)| a.checked_mul(b)),
        figures: figures.0,
        ..ImportedResult::default()
    })
}
