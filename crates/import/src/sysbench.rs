//! Text output of sysbench's file test, 0.4 to 1.1.

use plan::Diagnostic;
use results::ImportedResult;

use crate::draft::ImportDraft;
use crate::figures::{
    BYTES_PER_SECOND, COUNT, FigureList, FigureMetric, LATENCY_MAX, LATENCY_MEAN, LATENCY_MIN, MIB,
    MILLISECOND, PER_SECOND, PrintedNumber, SECOND, TIME, statement,
};
use crate::source::ResultText;

/// 95th percentile of the latency.
const LATENCY_P95: FigureMetric = FigureMetric("latency_p95", "ns");

/// Lines of a name, a colon and a number: the starts of the names, in all versions.
const LINES: [(&str, &str, FigureMetric, f64); 12] = [
    ("reads/s", "read", PER_SECOND, 1.0),
    ("writes/s", "write", PER_SECOND, 1.0),
    ("fsyncs/s", "fsync", PER_SECOND, 1.0),
    ("read, MiB/s", "read", BYTES_PER_SECOND, MIB),
    ("written, MiB/s", "write", BYTES_PER_SECOND, MIB),
    ("total time", "total", TIME, SECOND),
    (
        "total number of events",
        "total",
        FigureMetric("events", "1"),
        1.0,
    ),
    ("min", "total", LATENCY_MIN, MILLISECOND),
    ("avg", "total", LATENCY_MEAN, MILLISECOND),
    ("max", "total", LATENCY_MAX, MILLISECOND),
    ("95th percentile", "total", LATENCY_P95, MILLISECOND),
    ("approx.  95 percentile", "total", LATENCY_P95, MILLISECOND),
];

/// `true` if the text has results of the file test.
pub fn recognizes(text: &ResultText) -> bool {
    let has = |part: &str| text.text.contains(part);
    has("reads/s:") && has("fsyncs/s:")
        || has("Operations performed:") && has("Requests/sec executed")
        || text.has_line("sysbench ") && has("Extra file open flags")
}

/// Reads the output.
pub fn read(text: &ResultText) -> Result<ImportDraft, Diagnostic> {
    let mut draft = ImportDraft::default();
    let mut figures = FigureList::default();
    let mut name = "fileio".to_owned();
    let mut workers = None;
    let mut is_result = false;
    for line in text.lines() {
        let words = line.text.trim();
        let bad = |expected: &str| text.unexpected(line, expected);
        let starts = ["File operations:", "Operations performed:", "Throughput:"];
        is_result = is_result || starts.iter().any(|start| words.starts_with(start));
        if let Some(version) = line.text.strip_prefix("sysbench ").filter(|_| !is_result) {
            let version = version.split([' ', ':']).next().unwrap_or_default();
            draft.version = Some(version.to_owned());
        } else if let Some(count) = words.strip_prefix("Number of threads: ") {
            workers = count.parse().ok();
        } else if let Some(test) = words.strip_prefix("Doing ").filter(|_| !is_result) {
            name = test.trim_end_matches(" test").to_owned();
        } else if let Some(operations) = words.strip_prefix("Operations performed:") {
            performed(&mut figures, operations).ok_or_else(|| bad("counts of operations"))?;
        } else if words.ends_with("Requests/sec executed") {
            let rate = words.split(' ').next().and_then(PrintedNumber::parse);
            figures.add("total", PER_SECOND, rate.ok_or_else(|| bad("a number"))?);
        } else if words.starts_with("Read ") && words.contains("Total transferred") {
            let rate = transferred(words).ok_or_else(|| bad("a rate such as `(9.37Mb/sec)`"))?;
            figures.add("total", BYTES_PER_SECOND, rate);
        } else if let Some((operation, rest)) = words.split_once(":  IOPS=") {
            per_operation(&mut figures, operation, rest).ok_or_else(|| bad("`IOPS=N N MiB/s`"))?;
        } else if let Some((label, value)) = words.rsplit_once(':').filter(|_| is_result) {
            let known = LINES.iter().find(|(start, ..)| label.trim() == *start);
            if let Some((_, operation, quantity, factor)) = known {
                let value = value.trim().trim_end_matches("ms").trim_end_matches('s');
                let number = PrintedNumber::parse(value);
                let number = number.ok_or_else(|| bad(&format!("a number after `{label}`")))?;
                figures.add(operation, *quantity, number.times(*factor));
            }
        } else if !is_result && !words.is_empty() {
            draft.statements.push(statement("setting", words));
        }
    }
    let has_end = figures.0.iter().any(|it| it.metric == "latency_max");
    if !has_end {
        return Err(text.ends_early("the latencies, which come after the rates"));
    }
    draft.results.push(ImportedResult {
        name,
        workers,
        figures: figures.0,
        ..ImportedResult::default()
    });
    Ok(draft)
}

/// `6000 Read, 4000 Write, 12800 Other = 22800 Total` of version 0.4.
fn performed(figures: &mut FigureList, text: &str) -> Option<()> {
    for part in text.split([',', '=']) {
        let (count, name) = part.trim().split_once(' ')?;
        let count = PrintedNumber::parse(count)?.value;
        figures.add(
            &name.trim().to_lowercase(),
            COUNT,
            PrintedNumber::exact(count),
        );
    }
    Some(())
}

/// The rate at the end of a line of version 0.4, which writes binary units with a lower-case `b`.
fn transferred(line: &str) -> Option<PrintedNumber> {
    let rate = line.rsplit_once('(')?.1.strip_suffix("/sec)")?;
    let digits = rate.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor = match rate[digits.len()..].to_lowercase().as_str() {
        "b" => 1.0,
        "kb" => 1024.0,
        "mb" => MIB,
        "gb" => MIB * 1024.0,
        _ => return None,
    };
    Some(PrintedNumber::parse(digits)?.times(factor))
}

/// `N  16.00 MiB/s (16.78 MB/s)` after `read:  IOPS=` of version 1.1.
fn per_operation(figures: &mut FigureList, operation: &str, rest: &str) -> Option<()> {
    let mut words = rest.split_whitespace();
    figures.add(operation, PER_SECOND, PrintedNumber::parse(words.next()?)?);
    // Syncs move no bytes.
    if let Some(rate) = words.next() {
        let rate = PrintedNumber::parse(rate)?;
        figures.add(operation, BYTES_PER_SECOND, rate.times(MIB));
    }
    Some(())
}
