//! Text output of mdtest 1 to 4.

use plan::Diagnostic;
use results::{ImportedFigure, ImportedResult};

use crate::draft::ImportDraft;
use crate::figures::{FigureList, FigureMetric, PER_SECOND, PrintedNumber, statement};
use crate::source::ResultText;

/// `true` if the text is an output of mdtest.
pub fn recognizes(text: &ResultText) -> bool {
    let is_launch =
        |line: &str| line.starts_with("mdtest-") && line.contains(" was launched with ");
    text.text.lines().any(is_launch)
}

/// Reads the tables of rates.
pub fn read(text: &ResultText) -> Result<ImportDraft, Diagnostic> {
    let mut draft = ImportDraft::default();
    let mut workers = None;
    let mut target = None;
    let mut iterations = None;
    // Tables of times have the same operations.
    let mut is_rates = false;
    let mut is_complete = false;
    for line in text.lines() {
        let words = line.text.trim();
        if let Some((version, tasks)) = launch(words) {
            draft.version = Some(version.to_owned());
            workers = tasks;
        } else if let Some(path) = words.strip_prefix("Path") {
            target = path.split_once(':').map(|(_, path)| path.trim().to_owned());
        } else if words.starts_with("SUMMARY") {
            is_rates = !words.starts_with("SUMMARY time");
            is_complete = false;
            let count = words
                .split_once("(of ")
                .and_then(|(_, rest)| rest.split(' ').next());
            iterations = count.and_then(|count| count.parse().ok());
        } else if words.is_empty() || words.starts_with("-- finished") {
            is_complete = is_complete || words.starts_with("-- finished");
            is_rates = is_rates && words.is_empty() && draft.results.is_empty();
        } else if let Some(command) = words.strip_prefix("Command line used: ") {
            draft.statements.push(statement("command", command));
        } else if is_rates && !words.starts_with("Operation") && !words.starts_with("--") {
            let (name, numbers) = rates(words).ok_or_else(|| {
                text.unexpected(
                    line,
                    "an operation with maximum, minimum, mean and deviation",
                )
            })?;
            draft.results.push(ImportedResult {
                workers,
                target: target.clone(),
                ..result(name, numbers, iterations)
            });
        }
    }
    match is_complete {
        true => Ok(draft),
        false => Err(text.ends_early("the line `-- finished at`")),
    }
}

/// Version and number of tasks of the line that every run begins with.
fn launch(line: &str) -> Option<(&str, Option<u32>)> {
    let (program, rest) = line.split_once(" was launched with ")?;
    let version = program.strip_prefix("mdtest-")?;
    Some((version, rest.split(' ').next()?.parse().ok()))
}

/// An operation, which early versions end with a colon, and its four numbers.
fn rates(line: &str) -> Option<(&str, [PrintedNumber; 4])> {
    let mut words = line.split_whitespace().rev();
    let mut next = || PrintedNumber::parse(words.next()?);
    let (deviation, mean, least, most) = (next()?, next()?, next()?, next()?);
    let first = line.split_whitespace().count().checked_sub(4)?;
    let start = line.split_whitespace().nth(first)?.as_ptr() as usize - line.as_ptr() as usize;
    let name = line[..start].trim().trim_end_matches(':').trim();
    (!name.is_empty()).then_some((name, [most, least, mean, deviation]))
}

fn result(name: &str, numbers: [PrintedNumber; 4], iterations: Option<u32>) -> ImportedResult {
    let [most, least, mean, deviation] = numbers;
    let mut figures = FigureList::default();
    figures.add("total", FigureMetric("per_second_max", "1/s"), most);
    figures.add("total", FigureMetric("per_second_min", "1/s"), least);
    let FigureMetric(metric, unit) = PER_SECOND;
    figures.0.insert(
        0,
        ImportedFigure {
            operation: "total".to_owned(),
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            value: mean.value,
            step: mean.step,
            stddev: Some(deviation.value),
            n: iterations,
            ..ImportedFigure::default()
        },
    );
    ImportedResult {
        name: name.to_owned(),
        figures: figures.0,
        ..ImportedResult::default()
    }
}
