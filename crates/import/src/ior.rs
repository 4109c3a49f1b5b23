//! Text output of IOR 2 to 4.

use plan::Diagnostic;
use results::ImportedResult;

use crate::draft::ImportDraft;
use crate::figures::{
    BYTES_PER_SECOND, FigureList, LATENCY_MEAN, MIB, PER_SECOND, PrintedNumber, SECOND, TIME,
    statement,
};
use crate::source::{NumberedLine, ResultText};

/// `true` if the text is an output of IOR.
pub fn recognizes(text: &ResultText) -> bool {
    text.has_line("IOR-") || text.text.lines().any(is_head)
}

fn is_head(line: &str) -> bool {
    line.starts_with("access ") && line.contains("bw(MiB/s)")
}

/// Reads the table of all repetitions.
pub fn read(text: &ResultText) -> Result<ImportDraft, Diagnostic> {
    let mut draft = ImportDraft::default();
    let mut columns: Vec<&str> = Vec::new();
    let (mut workers, mut target) = (None, None);
    let mut is_complete = false;
    for line in text.lines() {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        if let Some(version) = line.text.strip_prefix("IOR-") {
            draft.version = version.split(':').next().map(str::to_owned);
        } else if is_head(line.text) {
            columns = words;
        } else if let Some((name, value)) = option(line.text).filter(|_| columns.is_empty()) {
            match name {
                "tasks" | "clients" | "Participating tasks" => {
                    workers = value
                        .split_whitespace()
                        .next()
                        .and_then(|it| it.parse().ok());
                }
                "test filename" => target = Some(value.to_owned()),
                _ => {}
            }
            draft.statements.push(statement(name, value));
        } else if matches!(words.first(), Some(&("write" | "read"))) && words.len() == columns.len()
        {
            draft.results.push(ImportedResult {
                workers,
                target: target.clone(),
                ..row(text, line, &columns, &words)?
            });
        } else if line.text.starts_with("Max ") || line.text.starts_with("Summary of all tests") {
            is_complete = true;
            // The rows of the summary look like rows of the table.
            columns.clear();
        }
        is_complete = is_complete || line.text.starts_with("Finished");
    }
    match is_complete {
        true => Ok(draft),
        false => Err(text.ends_early("`Max Write`, `Summary of all tests` or `Finished`")),
    }
}

/// An option of the list before the table: `name : value`, or `name = value` before IOR 3.
fn option(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(" : ").or_else(|| line.split_once(" = "))?;
    Some((name.trim(), value.trim())).filter(|(name, _)| !name.is_empty())
}

fn row(
    text: &ResultText,
    line: NumberedLine,
    columns: &[&str],
    words: &[&str],
) -> Result<ImportedResult, Diagnostic> {
    let mut figures = FigureList::default();
    let mut repetition = 0;
    for (column, word) in columns.iter().zip(words).skip(1) {
        // A phase that was not timed has a dash.
        if matches!(*word, "-" | "NA") {
            continue;
        }
        let expected = format!("a number below `{column}`, not `{word}`");
        let number = PrintedNumber::parse(word);
        let number = number.ok_or_else(|| text.unexpected(line, &expected))?;
        match *column {
            "bw(MiB/s)" => figures.add("total", BYTES_PER_SECOND, number.times(MIB)),
            "IOPS" => figures.add("total", PER_SECOND, number),
            "Latency(s)" => figures.add("total", LATENCY_MEAN, number.times(SECOND)),
            "total(s)" => figures.add("total", TIME, number.times(SECOND)),
            "open(s)" => figures.add("open", TIME, number.times(SECOND)),
            "wr/rd(s)" => figures.add(words[0], TIME, number.times(SECOND)),
            "close(s)" => figures.add("close", TIME, number.times(SECOND)),
            "iter" => repetition = number.value as u32,
            _ => {}
        }
    }
    Ok(ImportedResult {
        name: words[0].to_owned(),
        repetition,
        figures: figures.0,
        ..ImportedResult::default()
    })
}
