//! Text output of dbench 3 and 4.

use plan::Diagnostic;
use results::ImportedResult;

use crate::draft::ImportDraft;
use crate::figures::{
    BYTES_PER_SECOND, COUNT, FigureList, LATENCY_MAX, LATENCY_MEAN, MILLISECOND, PrintedNumber,
    statement,
};
use crate::source::ResultText;

/// Bytes per megabyte, as dbench counts them.
const MEGABYTE: f64 = 1e6;

/// `true` if the text is an output of dbench.
pub fn recognizes(text: &ResultText) -> bool {
    let is_result = |line: &str| line.starts_with("Throughput ") && line.contains(" MB/sec");
    text.has_line("dbench version ") || text.text.lines().any(is_result)
}

/// Reads the table of operations and the throughput.
pub fn read(text: &ResultText) -> Result<ImportDraft, Diagnostic> {
    let mut draft = ImportDraft::default();
    let mut figures = FigureList::default();
    let mut is_table = false;
    for line in text.lines() {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        if let Some(version) = line.text.strip_prefix("dbench version ") {
            let version = version.split(' ').next().unwrap_or_default();
            draft.version = Some(version.to_owned());
        } else if line.text.starts_with("Running for ") {
            draft.statements.push(statement("run", line.text));
        } else if words.starts_with(&["Operation", "Count", "AvgLat", "MaxLat"]) {
            is_table = true;
        } else if words.first() == Some(&"Throughput") {
            let bad = |expected: &str| text.unexpected(line, expected);
            let rate = words.get(1).and_then(|word| PrintedNumber::parse(word));
            let rate = rate.filter(|_| words.get(2) == Some(&"MB/sec"));
            let rate = rate.ok_or_else(|| bad("`Throughput N MB/sec`"))?;
            figures.add("total", BYTES_PER_SECOND, rate.times(MEGABYTE));
            let latency = words
                .iter()
                .find_map(|word| word.strip_prefix("max_latency="));
            if let Some(latency) = latency {
                let latency = PrintedNumber::parse(latency.trim_end_matches("ms"));
                let latency = latency.ok_or_else(|| bad("a latency in milliseconds"))?;
                figures.add("total", LATENCY_MAX, latency.times(MILLISECOND));
            }
            draft.results.push(ImportedResult {
                name: "dbench".to_owned(),
                workers: number_before(&words, &["clients", "procs"]),
                figures: std::mem::take(&mut figures).0,
                ..ImportedResult::default()
            });
            is_table = false;
        } else if is_table && !words.is_empty() && !line.text.trim().starts_with("--") {
            let numbers: Vec<Option<PrintedNumber>> = words[1..]
                .iter()
                .map(|word| PrintedNumber::parse(word))
                .collect();
            let [Some(count), Some(mean), Some(most)] = numbers[..] else {
                let expected = "an operation with its count, mean and maximum latency";
                return Err(text.unexpected(line, expected));
            };
            figures.add(words[0], COUNT, PrintedNumber::exact(count.value));
            figures.add(words[0], LATENCY_MEAN, mean.times(MILLISECOND));
            figures.add(words[0], LATENCY_MAX, most.times(MILLISECOND));
        }
    }
    match draft.results.is_empty() {
        true => Err(text.ends_early("the line `Throughput ...`")),
        false => Ok(draft),
    }
}

/// The number before the first of these words that the line has.
fn number_before(words: &[&str], units: &[&str]) -> Option<u32> {
    let place = units
        .iter()
        .find_map(|unit| words.iter().position(|word| word == unit));
    words.get(place?.checked_sub(1)?)?.parse().ok()
}
