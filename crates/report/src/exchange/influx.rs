//! The line protocol of InfluxDB, which Telegraf and other collectors also read: one line per
//! operation and cell.
//!
//! Source: "Line protocol reference", InfluxDB documentation, version 2.

use std::fmt::Write;

use results::{CellRecord, RunRecord};

use units::printable;

use super::{labels, quoted};
use crate::csv::{self, Row};

/// Returns a line per row of [`csv`], with the time at which its measurement ended.
pub fn render(record: &RunRecord) -> String {
    let mut text = String::new();
    for cell in &record.cells {
        let tags = tags(cell);
        let end_ns = end_ns(record, cell);
        for row in csv::rows(cell) {
            let (kind, name) = (escape(row.kind), escape(&printable(row.name)));
            let fields = fields(&record.id, &row);
            let _ = writeln!(
                text,
                "pgmeter,{tags},kind={kind},operation={name} {fields} {end_ns}"
            );
        }
    }
    text
}

/// Returns the labels of the cell. The format has no empty tags.
fn tags(cell: &CellRecord) -> String {
    let labels = labels(cell).into_iter();
    let labels = labels.filter(|(_, value)| !value.is_empty());
    let tags: Vec<String> = labels
        .map(|(key, value)| format!("{key}={}", escape(&value)))
        .collect();
    tags.join(",")
}

/// Returns the end of the measurement, in nanoseconds since 1970.
fn end_ns(record: &RunRecord, cell: &CellRecord) -> i128 {
    let start = cell.started_at.unwrap_or(record.started_at);
    start.as_nanosecond() + i128::from(cell.run_time_ns)
}

fn fields(run: &str, row: &Row<'_>) -> String {
    let figures = &row.figures;
    let latency = &figures.latency;
    let mut fields = vec![
        // A tag would make a new series of each run.
        format!("run=\"{}\"", quoted(&printable(run))),
        format!("count={}i", figures.count),
        format!("errors={}i", figures.errors),
    ];
    if row.has_bytes() {
        fields.push(format!("bytes={}i", figures.bytes));
    }
    let bytes_per_second = Some(figures.bytes_per_second).filter(|_| row.has_bytes());
    let reals = [
        ("per_second", Some(figures.per_second)),
        ("bytes_per_second", bytes_per_second),
        ("latency_mean_ns", latency.mean_ns),
    ];
    for (name, value) in reals {
        // The format has no number for what was not measured.
        if let Some(value) = value.filter(|it| it.is_finite()) {
            fields.push(format!("{name}={value}"));
        }
    }
    for (percent, ns) in latency.percentiles_ns.supported(latency.count) {
        let name = percent.to_string().replace('.', "_");
        fields.push(format!("latency_p{name}_ns={ns}i"));
    }
    if let Some(ns) = latency.max_ns {
        fields.push(format!("latency_max_ns={ns}i"));
    }
    fields.join(",")
}

/// Escapes the value of a tag.
fn escape(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for character in value.chars() {
        if matches!(character, ',' | '=' | ' ') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    // A backslash at the end would escape the comma after the tag. The format has no escape for it.
    if escaped.ends_with('\\') {
        escaped.push_str("\\ ");
    }
    escaped
}
