//! OpenMetrics text, which Prometheus and its collector of text files read.

use results::{CellRecord, RunRecord, Status, WarningLevel};
use units::{MetricKind, MetricLabels, MetricsText, metric_seconds};

use super::labels;
use crate::csv;

/// A metric with a value per operation and cell.
struct MetricFamily {
    name: &'static str,
    kind: MetricKind,
    help: &'static str,
    value: fn(&csv::Row<'_>) -> Option<String>,
}

const FAMILIES: [MetricFamily; 6] = [
    MetricFamily {
        name: "pgmeter_operations",
        kind: MetricKind::Counter,
        help: "Operations that succeeded.",
        value: |it| Some(it.figures.count.to_string()),
    },
    MetricFamily {
        name: "pgmeter_operation_errors",
        kind: MetricKind::Counter,
        help: "Operations that failed.",
        value: |it| Some(it.figures.errors.to_string()),
    },
    MetricFamily {
        name: "pgmeter_transferred_bytes",
        kind: MetricKind::Counter,
        help: "Bytes read and written.",
        value: |it| it.has_bytes().then(|| it.figures.bytes.to_string()),
    },
    MetricFamily {
        name: "pgmeter_operations_per_second",
        kind: MetricKind::Gauge,
        help: "Operations per second of measured time.",
        value: |it| real(it.figures.per_second),
    },
    MetricFamily {
        name: "pgmeter_bytes_per_second",
        kind: MetricKind::Gauge,
        help: "Bytes read and written per second of measured time.",
        value: |it| real(it.figures.bytes_per_second).filter(|_| it.has_bytes()),
    },
    MetricFamily {
        name: "pgmeter_latency_max_seconds",
        kind: MetricKind::Gauge,
        help: "Longest time from queued to reaped.",
        value: |it| it.figures.latency.max_ns.map(metric_seconds),
    },
];

/// Returns one set of metrics, without timestamps: the collector of text files refuses these.
pub fn render(record: &RunRecord) -> String {
    let mut text = MetricsText::default();
    run(&mut text, record);
    let rows: Vec<(MetricLabels, csv::Row<'_>)> = record
        .cells
        .iter()
        .flat_map(|cell| csv::rows(cell).into_iter().map(move |row| (cell, row)))
        .map(|(cell, row)| (row_labels(cell, &row), row))
        .collect();
    for metric in FAMILIES {
        text.head(metric.name, metric.kind, metric.help);
        for (labels, row) in &rows {
            if let Some(value) = (metric.value)(row) {
                text.sample(labels, value);
            }
        }
    }
    latencies(&mut text, &rows);
    text.finish()
}

/// Adds what describes the run and its cells.
fn run(text: &mut MetricsText, record: &RunRecord) {
    let help = "The run that was measured.";
    text.head("pgmeter_run", MetricKind::Info, help);
    let labels = [("run", &*record.id), ("version", &*record.pgmeter.version)];
    text.sample(&MetricLabels::of(&labels), 1);
    let help = "Start of the run, in seconds since 1970.";
    text.head("pgmeter_run_start_seconds", MetricKind::Gauge, help);
    // Prometheus computes with 64-bit floating-point numbers, which have room for microseconds.
    let start = record.started_at.as_microsecond() as f64 / 1e6;
    text.sample(&MetricLabels::default(), start);
    let help = "Warnings about the results.";
    text.head("pgmeter_warnings", MetricKind::Gauge, help);
    let levels = [
        ("warning", WarningLevel::Warning),
        ("note", WarningLevel::Note),
    ];
    for (word, level) in levels {
        let count = record.warnings.iter().filter(|it| it.level() == level);
        text.sample(&MetricLabels::of(&[("level", word)]), count.count());
    }
    let help = "Measured time of the cell.";
    text.head("pgmeter_measured_seconds", MetricKind::Gauge, help);
    for cell in &record.cells {
        text.sample(&cell_labels(cell), metric_seconds(cell.run_time_ns));
    }
    let help = "1 if the cell was measured completely, else 0.";
    text.head("pgmeter_cell_complete", MetricKind::Gauge, help);
    for cell in &record.cells {
        let complete = u8::from(cell.status == Status::Complete);
        text.sample(&cell_labels(cell), complete);
    }
}

fn latencies(text: &mut MetricsText, rows: &[(MetricLabels, csv::Row<'_>)]) {
    let help = "Time from queued to reaped.";
    text.head("pgmeter_latency_seconds", MetricKind::Summary, help);
    for (labels, row) in rows {
        let latency = &row.figures.latency;
        if latency.count == 0 {
            continue;
        }
        for (percent, ns) in latency.percentiles_ns.supported(latency.count) {
            text.sample(&labels.with_percentile(percent), metric_seconds(ns));
        }
        text.part("_count", labels, latency.count);
        text.part("_sum", labels, metric_seconds(latency.sum_ns));
    }
}

fn cell_labels(cell: &CellRecord) -> MetricLabels {
    let labels = labels(cell);
    MetricLabels::of(&labels.each_ref().map(|(name, value)| (*name, &**value)))
}

fn row_labels(cell: &CellRecord, row: &csv::Row<'_>) -> MetricLabels {
    cell_labels(cell).with(&[("kind", row.kind), ("operation", row.name)])
}

fn real(value: f64) -> Option<String> {
    value.is_finite().then(|| value.to_string())
}
