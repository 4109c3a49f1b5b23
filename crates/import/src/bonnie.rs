//! CSV lines of Bonnie++ 1.03, 1.9x and 2.x, alone or below the tables.

use plan::Diagnostic;
use results::{ImportedResult, ImportedStatement};

use crate::draft::ImportDraft;
use crate::figures::{
    BYTES_PER_SECOND, CPU, FigureList, KIB, LATENCY_MAX, MICROSECOND, MILLISECOND, PER_SECOND,
    PrintedNumber, SECOND, statement,
};
use crate::source::{NumberedLine, ResultText};

/// Fields of a line of 1.03.
const FIELDS_103: usize = 27;
/// Fields of a line of the formats 1.96 and 1.97.
const FIELDS_19: usize = 48;
/// Fields from 1.98 on: with the number of seeks and of seekers.
const FIELDS_198: usize = 50;

/// Tests with a bandwidth, then seeks.
const DATA_TESTS: [&str; 6] = [
    "put char",
    "put block",
    "rewrite",
    "get char",
    "get block",
    "seeks",
];
/// Tests of small files.
const FILE_TESTS: [&str; 6] = [
    "sequential create",
    "sequential stat",
    "sequential delete",
    "random create",
    "random stat",
    "random delete",
];

/// Positions of the parts of a line.
struct FieldLayout {
    data: usize,
    files: usize,
    /// Number of fields that describe the files.
    file_settings: usize,
    latencies: Option<usize>,
}

/// `true` if the text has such a line.
pub fn recognizes(text: &ResultText) -> bool {
    text.lines().any(|line| is_result(line.text))
}

fn is_result(line: &str) -> bool {
    let fields: Vec<&str> = line.trim().split(',').collect();
    let is_rate = |field: Option<&&str>| {
        field.is_some_and(|it| {
            it.is_empty() || it.starts_with('+') || PrintedNumber::parse(it).is_some()
        })
    };
    let has_version = fields[0].starts_with("1.9") || fields[0].starts_with("2.");
    match fields.len() {
        FIELDS_103 => is_rate(fields.get(2)) && is_rate(fields.get(25)),
        // A shorter line is a damaged one, which the reader refuses.
        count => has_version && count > 10 && fields[1].starts_with(|it: char| it.is_ascii_digit()),
    }
}

/// Reads all lines; each is a run of the program.
pub fn read(text: &ResultText) -> Result<ImportDraft, Diagnostic> {
    let mut draft = ImportDraft::default();
    let mut repetitions: Vec<Vec<ImportedStatement>> = Vec::new();
    for line in text.lines().filter(|line| is_result(line.text)) {
        let fields: Vec<&str> = line.text.trim().split(',').collect();
        let layout = layout(&fields).ok_or_else(|| {
            let expected = "27 fields of Bonnie++ 1.03, 48 of 1.97 or 50 of 1.98";
            text.unexpected(line, expected)
        })?;
        let is_old = layout.latencies.is_none();
        if !is_old {
            draft.version = Some(fields[1].to_owned());
        }
        let host = fields[if is_old { 0 } else { 2 }];
        if !draft.statements.iter().any(|it| it.value == host) {
            draft.statements.push(statement("host", host));
        }
        let settings = settings(&fields, &layout);
        let repetition = repetitions.iter().filter(|it| **it == settings).count();
        repetitions.push(settings.clone());
        let repetition = u32::try_from(repetition).unwrap_or(u32::MAX);
        let results = results(text, line, &fields, &layout)?;
        draft
            .results
            .extend(results.into_iter().map(|result| ImportedResult {
                repetition,
                settings: settings.clone(),
                workers: (!is_old).then(|| fields[3].parse().ok()).flatten(),
                ..result
            }));
    }
    Ok(draft)
}

fn layout(fields: &[&str]) -> Option<FieldLayout> {
    let layout = |data, file_settings, has_latencies| {
        let files = data + 2 * DATA_TESTS.len() + file_settings;
        let end = files + 2 * FILE_TESTS.len();
        FieldLayout {
            data,
            files,
            file_settings,
            latencies: Some(end).filter(|_| has_latencies),
        }
    };
    match fields.len() {
        FIELDS_103 => Some(layout(2, 1, false)),
        FIELDS_19 => Some(layout(7, 5, true)),
        FIELDS_198 => Some(layout(9, 5, true)),
        _ => None,
    }
}

fn settings(fields: &[&str], layout: &FieldLayout) -> Vec<ImportedStatement> {
    let first_of_files = layout.files - layout.file_settings;
    let names: &[(&str, usize)] = match layout.latencies {
        None => &[("size", 1), ("files", 14)],
        Some(_) => &[
            ("size", 5),
            ("chunk size", 6),
            ("files", first_of_files),
            ("largest file", first_of_files + 1),
            ("smallest file", first_of_files + 2),
            ("directories", first_of_files + 3),
        ],
    };
    let stated = names.iter().filter(|(_, index)| !fields[*index].is_empty());
    stated
        .map(|(name, index)| statement(name, fields[*index]))
        .collect()
}

/// One result per test that was long enough to be measured.
fn results(
    text: &ResultText,
    line: NumberedLine,
    fields: &[&str],
    layout: &FieldLayout,
) -> Result<Vec<ImportedResult>, Diagnostic> {
    let places = |from: usize, tests: [&'static str; 6]| {
        let places = tests.into_iter().enumerate();
        places.map(move |(index, test)| (test, from + 2 * index))
    };
    let tests = places(layout.data, DATA_TESTS).chain(places(layout.files, FILE_TESTS));
    let mut results = Vec::new();
    for (index, (test, place)) in tests.enumerate() {
        let mut figures = FigureList::default();
        // Pluses stand for a test that was too short, and nothing for one that did not run.
        if let Some(rate) = number(text, line, fields[place])? {
            match index {
                0..=4 => figures.add("total", BYTES_PER_SECOND, rate.times(KIB)),
                _ => figures.add("total", PER_SECOND, rate),
            }
            if let Some(cpu) = number(text, line, fields[place + 1])? {
                figures.add("total", CPU, cpu);
            }
        }
        let latency = layout.latencies.map_or("", |from| fields[from + index]);
        if !latency.is_empty() {
            let time = latency_ns(latency)
                .ok_or_else(|| text.unexpected(line, "a latency such as `10717us`"))?;
            figures.add("total", LATENCY_MAX, time);
        }
        if !figures.0.is_empty() {
            results.push(ImportedResult {
                name: test.to_owned(),
                figures: figures.0,
                ..ImportedResult::default()
            });
        }
    }
    Ok(results)
}

fn number(
    text: &ResultText,
    line: NumberedLine,
    field: &str,
) -> Result<Option<PrintedNumber>, Diagnostic> {
    match field {
        "" => Ok(None),
        field if field.starts_with('+') => Ok(None),
        field => PrintedNumber::parse(field)
            .map(Some)
            .ok_or_else(|| text.unexpected(line, &format!("a number, not `{field}`"))),
    }
}

fn latency_ns(text: &str) -> Option<PrintedNumber> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "us" => MICROSECOND,
        "ms" => MILLISECOND,
        "s" => SECOND,
        _ => return None,
    };
    Some(PrintedNumber::parse(digits)?.times(factor))
}
