//! OpenMetrics text, which Prometheus and its collector of text files read.
//!
//! Source: "OpenMetrics, a cloud-native, highly scalable metrics protocol", version 1.0.

use std::fmt::Write;

use results::{CellRecord, RunRecord, Status, WarningLevel};

use units::printable;

use super::{labels, percentiles, quoted};
use crate::csv;

/// A metric with a value per operation and cell.
struct MetricFamily {
    name: &'static str,
    kind: &'static str,
    /// Empty, or the end of the name.
    unit: &'static str,
    help: &'static str,
    value: fn(&csv::Row<'_>) -> Option<String>,
}

const FAMILIES: [MetricFamily; 6] = [
    MetricFamily {
        name: "pgmeter_operations",
        kind: "counter",
        unit: "",
        help: "Operations that succeeded.",
        value: |it| Some(it.figures.count.to_string()),
    },
    MetricFamily {
        name: "pgmeter_operation_errors",
        kind: "counter",
        unit: "",
        help: "Operations that failed.",
        value: |it| Some(it.figures.errors.to_string()),
    },
    MetricFamily {
        name: "pgmeter_transferred_bytes",
        kind: "counter",
        unit: "bytes",
        help: "Bytes read and written.",
        value: |it| it.has_bytes().then(|| it.figures.bytes.to_string()),
    },
    MetricFamily {
        name: "pgmeter_operations_per_second",
        kind: "gauge",
        unit: "",
        help: "Operations per second of measured time.",
        value: |it| real(it.figures.per_second),
    },
    MetricFamily {
        name: "pgmeter_bytes_per_second",
        kind: "gauge",
        unit: "",
        help: "Bytes read and written per second of measured time.",
        value: |it| real(it.figures.bytes_per_second).filter(|_| it.has_bytes()),
    },
    MetricFamily {
        name: "pgmeter_latency_max_seconds",
        kind: "gauge",
        unit: "seconds",
        help: "Longest time from queued to reaped.",
        value: |it| it.figures.latency.max_ns.map(seconds),
    },
];

/// Returns one set of metrics, without timestamps: the collector of text files refuses these.
pub fn render(record: &RunRecord) -> String {
    let mut text = run(record);
    let rows: Vec<(String, csv::Row<'_>)> = record
        .cells
        .iter()
        .flat_map(|cell| csv::rows(cell).into_iter().map(move |row| (cell, row)))
        .map(|(cell, row)| (row_labels(cell, &row), row))
        .collect();
    for metric in FAMILIES {
        head(
            &mut text,
            metric.name,
            metric.kind,
            metric.unit,
            metric.help,
        );
        let suffix = if metric.kind == "counter" {
            "_total"
        } else {
            ""
        };
        for (labels, row) in &rows {
            if let Some(value) = (metric.value)(row) {
                let _ = writeln!(text, "{}{suffix}{{{labels}}} {value}", metric.name);
            }
        }
    }
    latencies(&mut text, &rows);
    text.push_str("# EOF\n");
    text
}

/// Returns what describes the run and its cells.
fn run(record: &RunRecord) -> String {
    let mut text = String::new();
    head(
        &mut text,
        "pgmeter_run",
        "info",
        "",
        "The run that was measured.",
    );
    let _ = writeln!(
        text,
        "pgmeter_run_info{{run=\"{}\",version=\"{}\"}} 1",
        quoted(&printable(&record.id)),
        quoted(&printable(&record.pgmeter.version)),
    );
    let name = "pgmeter_run_start_seconds";
    let help = "Start of the run, in seconds since 1970.";
    head(&mut text, name, "gauge", "seconds", help);
    // Prometheus computes with 64-bit floating-point numbers, which have room for microseconds.
    let start = record.started_at.as_microsecond() as f64 / 1e6;
    let _ = writeln!(text, "{name} {start}");
    let name = "pgmeter_warnings";
    head(&mut text, name, "gauge", "", "Warnings about the results.");
    let levels = [
        ("warning", WarningLevel::Warning),
        ("note", WarningLevel::Note),
    ];
    for (word, level) in levels {
        let count = record.warnings.iter().filter(|it| it.level() == level);
        let _ = writeln!(text, "{name}{{level=\"{word}\"}} {}", count.count());
    }
    let name = "pgmeter_measured_seconds";
    head(
        &mut text,
        name,
        "gauge",
        "seconds",
        "Measured time of the cell.",
    );
    for cell in &record.cells {
        let time = seconds(cell.run_time_ns);
        let _ = writeln!(text, "{name}{{{}}} {time}", cell_labels(cell));
    }
    let name = "pgmeter_cell_complete";
    head(
        &mut text,
        name,
        "gauge",
        "",
        "1 if the cell was measured completely, else 0.",
    );
    for cell in &record.cells {
        let complete = u8::from(cell.status == Status::Complete);
        let _ = writeln!(text, "{name}{{{}}} {complete}", cell_labels(cell));
    }
    text
}

fn latencies(text: &mut String, rows: &[(String, csv::Row<'_>)]) {
    let name = "pgmeter_latency_seconds";
    head(
        text,
        name,
        "summary",
        "seconds",
        "Time from queued to reaped.",
    );
    for (labels, row) in rows {
        let latency = &row.figures.latency;
        if latency.count == 0 {
            continue;
        }
        for (percent, ns) in percentiles(latency) {
            let (quantile, time) = (quantile(percent), seconds(ns));
            let _ = writeln!(text, "{name}{{{labels},quantile=\"{quantile}\"}} {time}");
        }
        let _ = writeln!(text, "{name}_count{{{labels}}} {}", latency.count);
        let _ = writeln!(text, "{name}_sum{{{labels}}} {}", seconds(latency.sum_ns));
    }
}

fn head(text: &mut String, name: &str, kind: &str, unit: &str, help: &str) {
    let _ = writeln!(text, "# TYPE {name} {kind}");
    if !unit.is_empty() {
        let _ = writeln!(text, "# UNIT {name} {unit}");
    }
    let _ = writeln!(text, "# HELP {name} {help}");
}

fn cell_labels(cell: &CellRecord) -> String {
    let labels = labels(cell).into_iter();
    let labels: Vec<String> = labels
        .map(|(key, value)| format!("{key}=\"{}\"", quoted(&value)))
        .collect();
    labels.join(",")
}

fn row_labels(cell: &CellRecord, row: &csv::Row<'_>) -> String {
    let (kind, name) = (quoted(row.kind), quoted(&printable(row.name)));
    format!("{},kind=\"{kind}\",operation=\"{name}\"", cell_labels(cell))
}

/// Formats a share for a percentage: `0.999` for `99.9`.
fn quantile(percent: f64) -> String {
    let digits = format!("{:.5}", percent / 100.0);
    digits.trim_end_matches('0').to_owned()
}

/// Formats nanoseconds as seconds, exactly.
fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

fn real(value: f64) -> Option<String> {
    value.is_finite().then(|| value.to_string())
}
