//! Text output of fs_mark.

use plan::Diagnostic;
use results::ImportedResult;

use crate::draft::ImportDraft;
use crate::figures::{
    COUNT, FigureList, FigureMetric, LATENCY_MAX, LATENCY_MEAN, LATENCY_MIN, MICROSECOND,
    PER_SECOND, PrintedNumber, statement,
};
use crate::source::ResultText;

/// Columns of every table.
const COLUMNS: usize = 5;
/// Calls of the tables with `-v`, each with its minimum, mean and maximum.
const CALLS: [&str; 6] = ["create", "write", "fsync", "sync", "close", "unlink"];

/// `true` if the text has the head of a table.
pub fn recognizes(text: &ResultText) -> bool {
    text.text.lines().any(is_head)
}

fn is_head(line: &str) -> bool {
    line.starts_with("FSUse%") && line.contains("Files/sec")
}

/// Reads all tables. Each row is a round, which adds files to the files of earlier rounds.
pub fn read(text: &ResultText) -> Result<ImportDraft, Diagnostic> {
    let mut draft = ImportDraft::default();
    let mut workers = None;
    let mut is_table = false;
    for line in text.lines() {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        if let Some(comment) = line.text.strip_prefix('#') {
            let comment = comment.trim();
            if let Some(version) = comment.strip_prefix("Version ") {
                let (version, rest) = version.split_once(',').unwrap_or((version, ""));
                draft.version = Some(version.to_owned());
                workers = rest
                    .split_whitespace()
                    .next()
                    .and_then(|count| count.parse().ok());
            }
            draft.statements.push(statement("comment", comment));
        } else if is_head(line.text) {
            is_table = true;
        } else if is_table && !words.is_empty() {
            let numbers: Option<Vec<PrintedNumber>> = words
                .iter()
                .map(|word| PrintedNumber::parse(word))
                .collect();
            let is_known = |it: &Vec<PrintedNumber>| {
                it.len() == COLUMNS || it.len() == COLUMNS + 3 * CALLS.len()
            };
            let numbers = numbers.filter(is_known).ok_or_else(|| {
                text.unexpected(line, "5 numbers, or 23 with the times of the calls")
            })?;
            let number = draft.results.len() + 1;
            draft.results.push(round(number, workers, &words, &numbers));
        }
    }
    match draft.results.is_empty() {
        true => Err(text.ends_early("a row below `FSUse%`")),
        false => Ok(draft),
    }
}

fn round(
    number: usize,
    workers: Option<u32>,
    words: &[&str],
    numbers: &[PrintedNumber],
) -> ImportedResult {
    let mut figures = FigureList::default();
    figures.add("total", COUNT, PrintedNumber::exact(numbers[1].value));
    figures.add("total", PER_SECOND, numbers[3]);
    let overhead = numbers[4].times(MICROSECOND);
    figures.add("total", FigureMetric("overhead", "ns"), overhead);
    for (call, times) in CALLS.into_iter().zip(numbers[COLUMNS..].chunks(3)) {
        for (quantity, time) in [LATENCY_MIN, LATENCY_MEAN, LATENCY_MAX]
            .into_iter()
            .zip(times)
        {
            figures.add(call, quantity, time.times(MICROSECOND));
        }
    }
    ImportedResult {
        name: format!("round {number}"),
        settings: vec![
            statement("file size", words[2]),
            statement("used space %", words[0]),
        ],
        workers,
        figures: figures.0,
        ..ImportedResult::default()
    }
}
