//! Results of IO500: the summary, or the directory of a run with it.

use plan::Diagnostic;
use results::ImportedResult;

use crate::draft::ImportDraft;
use crate::figures::{
    BYTES_PER_SECOND, FigureList, FigureMetric, GIB, PER_SECOND, PrintedNumber, SECOND, TIME,
    statement,
};
use crate::source::{NumberedLine, ResultText};

/// Mark of a line with the result of a phase.
const RESULT: &str = "[RESULT]";

/// `true` if one of the texts is a summary.
pub fn recognizes(texts: &[ResultText]) -> bool {
    summary(texts).is_some()
}

fn summary<'a, 'b>(texts: &'a [ResultText<'b>]) -> Option<&'a ResultText<'b>> {
    texts.iter().find(|text| text.has_line(RESULT))
}

/// Reads the summary; the other files of the directory are kept as they are.
pub fn read(texts: &[ResultText]) -> Result<ImportDraft, Diagnostic> {
    let text = summary(texts).unwrap_or(&texts[0]);
    let mut draft = ImportDraft::default();
    let mut is_complete = false;
    for line in text.lines() {
        if let Some(version) = line.text.strip_prefix("IO500 version ") {
            draft.version = version.split(' ').next().map(str::to_owned);
        } else if let Some(phase) = line.text.strip_prefix(RESULT) {
            draft.results.push(phase_result(text, line, phase)?);
        } else if line.text.starts_with("[SCORE") {
            is_complete = true;
            draft.results.push(score(text, line)?);
        } else if line.text.starts_with("ERROR INVALID") {
            draft.statements.push(statement("invalid", line.text));
        }
    }
    match is_complete {
        true => Ok(draft),
        false => Err(text.ends_early("the line `[SCORE ]`")),
    }
}

/// A quantity and a factor for a unit of the summary.
fn unit(word: &str) -> Option<(FigureMetric<'static>, f64)> {
    match word.to_lowercase().as_str() {
        "gib/s" => Some((BYTES_PER_SECOND, GIB)),
        "gb/s" => Some((BYTES_PER_SECOND, 1e9)),
        "kiops" => Some((PER_SECOND, 1e3)),
        _ => None,
    }
}

fn phase_result(
    text: &ResultText,
    line: NumberedLine,
    phase: &str,
) -> Result<ImportedResult, Diagnostic> {
    let bad = || text.unexpected(line, "a phase, its result in GiB/s or kIOPS, and its time");
    let words: Vec<&str> = phase.split_whitespace().collect();
    // Before 2020, the kind and the number of the phase came before its name.
    let place = words
        .iter()
        .position(|word| unit(word).is_some())
        .ok_or_else(bad)?;
    let (Some(value), Some(name)) = (place.checked_sub(1), place.checked_sub(2)) else {
        return Err(bad());
    };
    let (quantity, factor) = unit(words[place]).ok_or_else(bad)?;
    let number = PrintedNumber::parse(words[value]).ok_or_else(bad)?;
    let time = words.iter().position(|word| *word == "time");
    let time = time.and_then(|place| PrintedNumber::parse(words.get(place + 1)?));
    let time = time.ok_or_else(bad)?;
    let mut figures = FigureList::default();
    figures.add("total", quantity, number.times(factor));
    figures.add("total", TIME, time.times(SECOND));
    Ok(result(words[name], &words, figures))
}

fn score(text: &ResultText, line: NumberedLine) -> Result<ImportedResult, Diagnostic> {
    let words: Vec<&str> = line.text.split_whitespace().collect();
    let after = |name: &str| {
        let place = words.iter().position(|word| *word == name)?;
        PrintedNumber::parse(words.get(place + 1)?)
    };
    let mut figures = FigureList::default();
    for (name, quantity) in [
        ("Bandwidth", FigureMetric("bandwidth_score", "GiB/s")),
        ("IOPS", FigureMetric("rate_score", "kIOPS")),
        ("TOTAL", FigureMetric("total_score", "1")),
    ] {
        let number = after(name);
        let number =
            number.ok_or_else(|| text.unexpected(line, &format!("a number after `{name}`")))?;
        figures.add("total", quantity, number);
    }
    Ok(result("score", &words, figures))
}

/// The result of a line, whose last word may say that it is not valid.
fn result(name: &str, words: &[&str], figures: FigureList) -> ImportedResult {
    let is_invalid = words.last() == Some(&"[INVALID]");
    ImportedResult {
        name: name.to_owned(),
        settings: is_invalid
            .then(|| statement("valid", "no, says IO500"))
            .into_iter()
            .collect(),
        figures: figures.0,
        ..ImportedResult::default()
    }
}
