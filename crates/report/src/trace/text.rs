//! Text of `check TRACE`.

use units::format::{self, count, size};

use super::{CheckedTrace, TraceKindCount};
use crate::table::{Column, Table};

/// Number of rows of each table; the rest is only counted.
const ROWS_SHOWN: usize = 20;

/// The counts of a trace as text for a page of `columns` columns.
#[must_use]
pub fn trace_text(trace: &CheckedTrace, columns: usize) -> String {
    let mut text = totals(trace);
    for table in tables(trace) {
        text.push('\n');
        text.push_str(&table.shown(columns));
    }
    let mut section = |title: &str, lines: &[String]| {
        if !lines.is_empty() {
            let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
            text.push_str(&format!("\n{title}\n{lines}"));
        }
    };
    section("first rows as understood", &trace.first_rows);
    section("notices", &trace.notices);
    text
}

/// Lines about the whole trace.
fn totals(trace: &CheckedTrace) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        text.push_str(&format!("{name:<13}{value}\n"));
    };
    line(
        "trace",
        format!("{} ({})", trace.recognized_as, files(&trace.files)),
    );
    if let Some(layer) = trace.layer {
        let counts = trace
            .layers
            .iter()
            .map(|it| format!("{} {}", it.layer, count(it.count)));
        let counts: Vec<String> = counts.collect();
        line(
            "events",
            format!("{layer} counts; the trace has {}", counts.join(", ")),
        );
    }
    line(
        if trace.call_count > 0 {
            "calls"
        } else {
            "requests"
        },
        events(trace),
    );
    if trace.request_count > 0 {
        let rounding = match trace.rounding_bytes {
            0 => String::new(),
            bytes => format!(" (at most: places are rounded to {})", size(bytes)),
        };
        line(
            "touches",
            format!("{}{rounding}", size(trace.touched_bytes)),
        );
        line("would write", would_write(trace));
        line("longest", size(trace.length_bytes_max));
    }
    if let Some(latency) = &trace.latency {
        let mean = format::latency(latency.mean_ns);
        let max = format::latency_ns(latency.max_ns);
        let known = count(latency.count);
        line(
            "latency",
            format!("mean {mean}, maximum {max}, known for {known} requests"),
        );
    }
    if trace.backward_count > 0 {
        let times = count(trace.backward_count);
        line(
            "order",
            format!("time runs backward {times} times; sorted within a window"),
        );
    }
    if trace.unmatched_completion_count > 0 {
        let number = count(trace.unmatched_completion_count);
        line(
            "unmatched",
            format!("{number} completions without an issued request"),
        );
    }
    text
}

fn files(files: &[String]) -> String {
    match files {
        [file] => file.clone(),
        [first, ..] => format!("{first} and {} more files", files.len() - 1),
        [] => "no file".to_owned(),
    }
}

fn events(trace: &CheckedTrace) -> String {
    let number = count(trace.request_count + trace.call_count);
    let Some(span_ns) = trace.span_ns else {
        return "none".to_owned();
    };
    let span = format::latency_ns(span_ns);
    let rates = trace.events_per_second.zip(trace.bytes_per_second);
    let rates = rates.map_or(String::new(), |(events, bytes)| {
        let busiest = count(trace.busiest_second_count);
        let (events, bytes) = (format::iops(events), format::bandwidth(bytes));
        format!(": {events}/s and {bytes} on average, at most {busiest} within a second")
    });
    format!("{number} in {span}{rates}")
}

fn would_write(trace: &CheckedTrace) -> String {
    let of = |kind| trace.kinds.iter().find(|it| it.kind == kind);
    let parts = ["write", "discard"].into_iter().filter_map(of);
    let part = |it: &TraceKindCount| {
        let plural = if it.count == 1 { "" } else { "s" };
        format!(
            "{} {}{plural} of {}",
            count(it.count),
            it.kind,
            size(it.bytes)
        )
    };
    let parts: Vec<String> = parts.map(part).collect();
    match parts.is_empty() {
        true => "nothing".to_owned(),
        false => format!(
            "{}, to {} of space",
            parts.join(" and "),
            size(trace.written_bytes)
        ),
    }
}

/// A table, and the number of rows that it leaves out.
struct ShortTable {
    table: Table,
    omitted: usize,
}

impl ShortTable {
    fn new(columns: Vec<Column>, mut rows: Vec<Vec<String>>) -> Self {
        let omitted = rows.len().saturating_sub(ROWS_SHOWN);
        rows.truncate(ROWS_SHOWN);
        Self {
            table: Table::new(columns, rows),
            omitted,
        }
    }

    fn shown(&self, columns: usize) -> String {
        let lines = self.table.lines(columns);
        let mut text: String = lines.iter().map(|line| format!("{}\n", &**line)).collect();
        if self.omitted > 0 {
            text.push_str(&format!("and {} more\n", count(self.omitted as u64)));
        }
        text
    }
}

fn tables(trace: &CheckedTrace) -> Vec<ShortTable> {
    let mut tables = Vec::new();
    if !trace.kinds.is_empty() {
        let row = |it: &TraceKindCount| vec![it.kind.to_owned(), count(it.count), size(it.bytes)];
        let columns = numbers("kind", &["requests", "bytes"]);
        tables.push(ShortTable::new(
            columns,
            trace.kinds.iter().map(row).collect(),
        ));
    }
    if !trace.devices.is_empty() {
        let heads = [
            "requests",
            "read",
            "written",
            "discarded",
            "touched",
            "size at least",
        ];
        let rows = trace.devices.iter().map(|it| {
            let mut row = vec![it.name.clone(), count(it.count)];
            row.extend(bytes_of(&it.kinds));
            row.extend([size(it.touched_bytes), size(it.end_bytes)]);
            row
        });
        tables.push(ShortTable::new(numbers("device", &heads), rows.collect()));
    }
    if !trace.processes.is_empty() {
        let heads = ["pid", "requests", "read", "written", "discarded"];
        let rows = trace.processes.iter().map(|it| {
            let mut row = vec![it.name.clone(), it.pid.to_string(), count(it.count)];
            row.extend(bytes_of(&it.kinds));
            row
        });
        tables.push(ShortTable::new(numbers("process", &heads), rows.collect()));
    }
    for (head, calls) in [
        ("call", &trace.system_calls),
        ("file", &trace.files_of_calls),
    ] {
        if !calls.is_empty() {
            let rows = calls.iter().map(|it| {
                vec![
                    it.name.clone(),
                    count(it.count),
                    count(it.failed),
                    size(it.bytes),
                ]
            });
            let columns = numbers(head, &["calls", "failed", "bytes"]);
            tables.push(ShortTable::new(columns, rows.collect()));
        }
    }
    tables
}

fn numbers(name: &str, heads: &[&str]) -> Vec<Column> {
    // Columns to the right are dropped first.
    let heads = heads.iter().zip((1..=20_u8).rev());
    let heads = heads.map(|(head, priority)| Column::number(head, priority));
    std::iter::once(Column::name(name)).chain(heads).collect()
}

fn bytes_of(kinds: &[TraceKindCount]) -> [String; 3] {
    ["read", "write", "discard"].map(|kind| {
        let found = kinds.iter().find(|it| it.kind == kind);
        size(found.map_or(0, |it| it.bytes))
    })
}
