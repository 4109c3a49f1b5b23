//! Reports of PostMark, verbose or terse: 1.13 and 1.5 print the same lines.

use plan::Diagnostic;
use results::{ImportedResult, ImportedStatement};

use crate::draft::ImportDraft;
use crate::figures::{
    BYTES, BYTES_PER_SECOND, COUNT, FigureList, FigureMetric, KIB, MIB, PER_SECOND, PrintedNumber,
    SECOND, TIME, statement,
};
use crate::source::{NumberedLine, ResultText};

/// Each transaction is a pair of operations.
const TRANSACTIONS_PER_SECOND: FigureMetric = FigureMetric("transactions_per_second", "1/s");

/// First version whose megabyte has 1048576 bytes. The versions before it, 1.0 to 1.14, have
/// megabytes of 1000 kilobytes.
const BINARY_MEGABYTES_FROM: f64 = 1.5;
/// Bytes of a megabyte before that version.
const EARLY_MEGABYTE: f64 = 1000.0 * KIB;

/// Line of a step that only runs with subdirectories have.
const SUBDIRECTORIES: &str = "Creating subdirectories";

/// Number of figures in a terse report.
const TERSE_COUNT: usize = 13;

/// Rates of a terse report, after the two times and before the two bandwidths.
const TERSE_RATES: [(&str, FigureMetric); 9] = [
    ("total", TRANSACTIONS_PER_SECOND),
    ("create", PER_SECOND),
    ("create before transactions", PER_SECOND),
    ("create in transactions", PER_SECOND),
    ("read", PER_SECOND),
    ("append", PER_SECOND),
    ("delete", PER_SECOND),
    ("delete after transactions", PER_SECOND),
    ("delete in transactions", PER_SECOND),
];

/// Lines of a verbose report with files: the words after the count, and the name here.
const FILE_LINES: [(&str, &str); 4] = [
    ("created", "create"),
    ("read", "read"),
    ("appended", "append"),
    ("deleted", "delete"),
];

/// `true` if the text is a session of PostMark, or only its report.
pub fn recognizes(text: &ResultText) -> bool {
    text.has_line("PostMark v") || text.text.contains("seconds of transactions (")
}

/// Reads all reports of a session.
pub fn read(text: &ResultText) -> Result<ImportDraft, Diagnostic> {
    let mut draft = ImportDraft::default();
    let mut settings: Vec<ImportedStatement> = Vec::new();
    let mut is_configuration = false;
    let mut lines = text.lines();
    let mut unfinished = None;
    let mut megabyte = MIB;
    while let Some(line) = lines.next() {
        // Each command follows a prompt, and so does its output.
        let words = line.text.trim_start_matches("pm>").trim();
        if let Some(version) = words.strip_prefix("PostMark v") {
            let version = version.split(' ').next().unwrap_or_default();
            draft.version = Some(version.to_owned());
            megabyte = megabyte_of(version);
        } else if words == "Current configuration is:" {
            is_configuration = true;
            settings.clear();
        } else if words.starts_with("Creating ") {
            is_configuration = false;
            // Only runs with subdirectories have this step, also if their number was not shown.
            if words.starts_with(SUBDIRECTORIES) {
                settings.push(statement("step", SUBDIRECTORIES));
            }
            unfinished = Some(line);
        } else if words == "Time:" {
            unfinished = None;
            draft
                .results
                .push(verbose(text, &mut lines, &settings, megabyte)?);
        } else if let Some(numbers) = terse_numbers(words) {
            unfinished = None;
            draft.results.push(terse(&numbers, &settings));
        } else if is_configuration && !words.is_empty() && !line.text.starts_with("pm>") {
            settings.push(setting(words));
        }
    }
    if let Some(line) = unfinished {
        let expected = "the report of this run, which begins with `Time:`";
        return Err(text.unexpected(line, expected));
    }
    // Runs of a session may differ in settings that were not shown, so they are not repetitions.
    let count = draft.results.len();
    for (index, result) in draft.results.iter_mut().enumerate().filter(|_| count > 1) {
        result.name = format!("PostMark #{}", index + 1);
    }
    Ok(draft)
}

/// Bytes of a megabyte in a version.
fn megabyte_of(version: &str) -> f64 {
    let number = version.parse::<f64>();
    match number.is_ok_and(|it| it < BINARY_MEGABYTES_FROM) {
        true => EARLY_MEGABYTE,
        false => MIB,
    }
}

/// A line of the configuration.
fn setting(line: &str) -> ImportedStatement {
    match line.split_once(": ").or_else(|| line.split_once(" is ")) {
        Some((name, value)) => statement(name, value.trim()),
        None => statement("configuration", line),
    }
}

fn new_result(figures: FigureList, settings: &[ImportedStatement]) -> ImportedResult {
    ImportedResult {
        name: "PostMark".to_owned(),
        settings: settings.to_vec(),
        // PostMark has one process and waits for each call.
        iodepth: None,
        workers: None,
        figures: figures.0,
        ..ImportedResult::default()
    }
}

/// Reads a verbose report, after its first line.
fn verbose<'a>(
    text: &ResultText,
    lines: &mut impl Iterator<Item = NumberedLine<'a>>,
    settings: &[ImportedStatement],
    megabyte: f64,
) -> Result<ImportedResult, Diagnostic> {
    let mut figures = FigureList::default();
    let mut group = "";
    for line in lines {
        let words = line.text.trim();
        if words.is_empty() || words == "Files:" || words == "Data:" {
            continue;
        }
        let bad = |expected: &str| text.unexpected(line, expected);
        let parsed = ReportLine::parse(words, megabyte)
            .ok_or_else(|| bad("a line of PostMark's report, such as `12 read (3 per second)`"))?;
        let (number, rate) = (parsed.number, parsed.rate);
        match parsed.words {
            "seconds total" => figures.add("total", TIME, number.times(SECOND)),
            "seconds of transactions" => {
                figures.add("transactions", TIME, number.times(SECOND));
                let rate = rate.ok_or_else(|| bad("a rate in parentheses"))?;
                figures.add("total", TRANSACTIONS_PER_SECOND, rate);
            }
            "Creation alone" | "Deletion alone" | "Mixed with transactions" => {
                let name = match (parsed.words, group) {
                    ("Creation alone", _) => "create before transactions",
                    ("Deletion alone", _) => "delete after transactions",
                    (_, "delete") => "delete in transactions",
                    _ => "create in transactions",
                };
                add_files(&mut figures, name, number, rate);
            }
            _ => match (parsed.bytes_per_unit, parsed.direction()) {
                (Some(unit), Some(direction)) => {
                    figures.add(direction, BYTES, number.times(unit));
                    if let Some(rate) = rate {
                        let rate_unit = parsed.rate_bytes_per_unit.unwrap_or(unit);
                        figures.add(direction, BYTES_PER_SECOND, rate.times(rate_unit));
                    }
                    if direction == "write" {
                        return Ok(new_result(figures, settings));
                    }
                }
                _ => {
                    let known = FILE_LINES.iter().find(|(word, _)| *word == parsed.words);
                    let (_, name) = known.ok_or_else(|| {
                        bad("`created`, `read`, `appended` or `deleted` files, or bytes")
                    })?;
                    group = name;
                    add_files(&mut figures, name, number, rate);
                }
            },
        }
    }
    Err(text.ends_early("the amount of written data, the last line of a report"))
}

fn add_files(
    figures: &mut FigureList,
    name: &str,
    count: PrintedNumber,
    rate: Option<PrintedNumber>,
) {
    figures.add(name, COUNT, PrintedNumber::exact(count.value));
    if let Some(rate) = rate {
        figures.add(name, PER_SECOND, rate);
    }
}

/// A line of a verbose report: a number, words, and a rate in parentheses.
#[derive(Debug)]
struct ReportLine<'a> {
    number: PrintedNumber,
    words: &'a str,
    rate: Option<PrintedNumber>,
    /// Unit of the number, if it is an amount of data.
    bytes_per_unit: Option<f64>,
    /// Unit of the rate, if it is an amount of data.
    rate_bytes_per_unit: Option<f64>,
}

impl<'a> ReportLine<'a> {
    fn parse(line: &'a str, megabyte: f64) -> Option<Self> {
        let (start, rate) = match line.split_once(" (") {
            Some((start, rest)) => (start, Some(rest.strip_suffix(" per second)")?)),
            None => (line, None),
        };
        // `Creation alone: 500 files` has its number after the words.
        let (number, words) = match start.split_once(": ") {
            Some((words, count)) => (count.strip_suffix(" files")?, words),
            None => start.split_once(' ')?,
        };
        let (rate, rate_unit) = match rate.map(|it| it.split_once(' ').unwrap_or((it, ""))) {
            Some((number, unit)) => (Some(PrintedNumber::parse(number)?), unit),
            None => (None, ""),
        };
        Some(Self {
            number: PrintedNumber::parse(number)?,
            words,
            rate,
            bytes_per_unit: unit(words, megabyte),
            rate_bytes_per_unit: unit(rate_unit, megabyte),
        })
    }

    fn direction(&self) -> Option<&'static str> {
        match self.words.split(' ').next_back() {
            Some("read") => Some("read"),
            Some("written") => Some("write"),
            _ => None,
        }
    }
}

/// Bytes per unit of an amount such as `megabytes read`.
fn unit(words: &str, megabyte: f64) -> Option<f64> {
    match words.split(' ').next()? {
        "bytes" => Some(1.0),
        "kilobytes" => Some(KIB),
        "megabytes" => Some(megabyte),
        "gigabytes" => Some(megabyte * KIB),
        _ => None,
    }
}

/// The numbers of a terse report; `None` for any other line.
fn terse_numbers(line: &str) -> Option<Vec<PrintedNumber>> {
    let numbers: Option<Vec<PrintedNumber>> = line.split(' ').map(PrintedNumber::parse).collect();
    numbers.filter(|numbers| numbers.len() == TERSE_COUNT)
}

fn terse(numbers: &[PrintedNumber], settings: &[ImportedStatement]) -> ImportedResult {
    let mut figures = FigureList::default();
    figures.add("total", TIME, numbers[0].times(SECOND));
    figures.add("transactions", TIME, numbers[1].times(SECOND));
    for ((operation, quantity), number) in TERSE_RATES.into_iter().zip(&numbers[2..]) {
        figures.add(operation, quantity, *number);
    }
    figures.add("read", BYTES_PER_SECOND, numbers[11]);
    figures.add("write", BYTES_PER_SECOND, numbers[12]);
    new_result(figures, settings)
}
