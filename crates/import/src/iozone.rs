//! Text and spreadsheets of IOzone: the table by size, the report of several children, and the
//! part that `-R` adds.

use plan::Diagnostic;
use results::{ImportedFigure, ImportedResult};

use crate::draft::ImportDraft;
use crate::figures::{
    BYTES_PER_SECOND, FigureList, FigureMetric, KIB, LATENCY_MEAN, MICROSECOND, PER_SECOND,
    PrintedNumber, statement,
};
use crate::source::{NumberedLine, ResultText};

/// Tests of the table, in the order of its columns.
const TESTS: [&str; 13] = [
    "write",
    "rewrite",
    "read",
    "reread",
    "random read",
    "random write",
    "backward read",
    "record rewrite",
    "stride read",
    "fwrite",
    "frewrite",
    "fread",
    "freread",
];

/// Ends of the columns of the tests in characters.
const ENDS: [usize; 13] = [33, 42, 51, 60, 69, 78, 87, 97, 107, 116, 125, 134, 143];
/// Ends of the columns in early versions, which are narrower. They call a kilobyte `KB`.
const OLD_ENDS: [usize; 13] = [32, 40, 49, 58, 66, 74, 82, 91, 100, 109, 118, 126, 135];
/// A result may end this far from the end of its column, because early versions leave a test out
/// with one space too few.
const END_TOLERANCE: usize = 2;

/// Tests of the spreadsheet, by the start of their heading. A longer heading comes first.
const REPORTS: [(&str, &str); 13] = [
    ("Writer", "write"),
    ("Re-writer", "rewrite"),
    ("Reader", "read"),
    ("Re-Reader", "reread"),
    ("Random read", "random read"),
    ("Random write", "random write"),
    ("Backward read", "backward read"),
    ("Record rewrite", "record rewrite"),
    ("Stride read", "stride read"),
    ("Fwrite", "fwrite"),
    ("Re-Fwrite", "frewrite"),
    ("Fread", "fread"),
    ("Re-Fread", "freread"),
];

/// Unit of all results of a run.
#[derive(Debug, Clone, Copy)]
struct ResultUnit(FigureMetric<'static>, f64);

const KBYTES: ResultUnit = ResultUnit(BYTES_PER_SECOND, KIB);

/// `true` if the text is an output of IOzone, or only its spreadsheet.
pub fn recognizes(text: &ResultText) -> bool {
    let is_banner = |line: &str| line.contains("Iozone: Performance Test of File I/O");
    text.text
        .lines()
        .any(|line| is_banner(line) || report_test(line).is_some())
}

/// Reads the output.
pub fn read(text: &ResultText) -> Result<ImportDraft, Diagnostic> {
    let mut draft = ImportDraft::default();
    let mut unit = KBYTES;
    let mut is_table = false;
    let mut ends = ENDS;
    let mut report: Option<(&str, Vec<&str>)> = None;
    let has_table = text.text.lines().any(is_head);
    for line in text.lines() {
        let words = line.text.trim();
        if let Some(version) = words.strip_prefix("Version $Revision: ") {
            draft.version = Some(version.trim_end_matches('$').trim().to_owned());
        } else if let Some(found) = unit_of(words) {
            unit = found.ok_or_else(|| text.unexpected(line, "a unit of IOzone"))?;
            draft.statements.push(statement("setting", words));
        } else if let Some(command) = words.strip_prefix("Command line used: ") {
            draft.statements.push(statement("command", command));
        } else if is_setting(words) {
            draft.statements.push(statement("setting", words));
        } else if is_head(line.text) {
            ends = match words.starts_with("KB") {
                true => OLD_ENDS,
                false => ENDS,
            };
            is_table = true;
        } else if let Some(test) = report_test(words) {
            report = Some((test, Vec::new()));
            is_table = false;
        } else if words.is_empty() || words.starts_with("iozone test complete") {
            is_table = is_table && words.is_empty();
        } else if is_table {
            draft.results.extend(row(text, line, (unit, ends))?);
        } else if let Some((test, records)) = report.as_mut().filter(|_| !has_table) {
            let fields: Vec<&str> = words
                .split_whitespace()
                .map(|it| it.trim_matches('"'))
                .collect();
            match words.starts_with('"') && line.text.starts_with('"') {
                // The sizes of the records, above the rows.
                false => *records = fields,
                true => {
                    draft
                        .results
                        .extend(report_row(text, line, test, (records, &fields), unit)?)
                }
            }
        } else if let Some((name, value)) = words.split_once('=') {
            together(&mut draft.results, text, line, (name.trim(), value.trim()))?;
        }
    }
    let is_complete = text.text.contains("iozone test complete") || report.is_some();
    match is_complete {
        true => Ok(draft),
        false => Err(text.ends_early("the line `iozone test complete.`")),
    }
}

/// `true` for the line that names the columns.
fn is_head(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let size = words.next().unwrap_or_default();
    size.eq_ignore_ascii_case("kb") && words.next() == Some("reclen")
}

fn is_setting(words: &str) -> bool {
    let starts = [
        "Run began:",
        "File size set",
        "Record Size",
        "Include ",
        "O_DIRECT",
        "SYNC Mode",
    ];
    starts.iter().any(|start| words.starts_with(start))
}

/// The unit that a line announces; `Some(None)` if it is unknown.
fn unit_of(words: &str) -> Option<Option<ResultUnit>> {
    let unit = words.strip_prefix("Output is in ")?.to_lowercase();
    Some(match unit.as_str() {
        "kbytes/sec" => Some(KBYTES),
        "operations per second." | "ops/sec" | "operations per second" => {
            Some(ResultUnit(PER_SECOND, 1.0))
        }
        "microseconds/op." | "microseconds per operation." | "microseconds per operation" => {
            Some(ResultUnit(LATENCY_MEAN, MICROSECOND))
        }
        _ => None,
    })
}

/// Results of a row of the table.
fn row(
    text: &ResultText,
    line: NumberedLine,
    (unit, ends): (ResultUnit, [usize; 13]),
) -> Result<Vec<ImportedResult>, Diagnostic> {
    let bad = |expected: &str| text.unexpected(line, expected);
    let words = words_with_ends(line.text);
    let [(file, _), (record, _), rates @ ..] = words.as_slice() else {
        return Err(bad("the sizes of file and record, and their results"));
    };
    let tests = tests(rates, ends).ok_or_else(|| {
        bad("a result below each test, at the end of its column, as IOzone prints it")
    })?;
    let results = tests.iter().zip(rates).map(|(test, (rate, _))| {
        let rate = PrintedNumber::parse(rate).ok_or_else(|| bad("a number"))?;
        Ok(result(test, (file, record), rate, unit))
    });
    results.collect()
}

/// The tests of a row, by the ends of its results.
fn tests(rates: &[(&str, usize)], ends: [usize; 13]) -> Option<Vec<&'static str>> {
    if rates.len() == TESTS.len() {
        return Some(TESTS.to_vec());
    }
    let test = |end: usize| {
        let mut ends = ends.iter();
        let place = ends.position(|it| it.abs_diff(end) <= END_TOLERANCE);
        Some(TESTS[place?])
    };
    let tests: Option<Vec<&str>> = rates.iter().map(|(_, end)| test(*end)).collect();
    // Two results that end in one column belong to no test for sure.
    tests.filter(|tests| tests.windows(2).all(|pair| pair[0] != pair[1]))
}

/// The words of a line with the columns at which they end.
fn words_with_ends(line: &str) -> Vec<(&str, usize)> {
    let words = line.split_whitespace();
    let start = line.as_ptr() as usize;
    words
        .map(|word| (word, word.as_ptr() as usize - start + word.len()))
        .collect()
}

fn result(
    test: &str,
    (file, record): (&str, &str),
    rate: PrintedNumber,
    ResultUnit(quantity, factor): ResultUnit,
) -> ImportedResult {
    let mut figures = FigureList::default();
    figures.add("total", quantity, rate.times(factor));
    ImportedResult {
        name: format!("{test}, {file} kB in records of {record} kB"),
        settings: vec![statement("file kB", file), statement("record kB", record)],
        figures: figures.0,
        ..ImportedResult::default()
    }
}

/// The test of a heading of the spreadsheet, such as `"Writer report"`.
fn report_test(line: &str) -> Option<&'static str> {
    let heading = line
        .trim()
        .strip_prefix('"')?
        .strip_suffix("report\"")?
        .trim();
    let mut reports = REPORTS.iter();
    reports
        .find(|(name, _)| name.eq_ignore_ascii_case(heading))
        .map(|it| it.1)
}

/// Results of a row of the spreadsheet.
fn report_row(
    text: &ResultText,
    line: NumberedLine,
    test: &str,
    (records, fields): (&[&str], &[&str]),
    unit: ResultUnit,
) -> Result<Vec<ImportedResult>, Diagnostic> {
    let [file, rates @ ..] = fields else {
        return Ok(Vec::new());
    };
    if rates.len() > records.len() {
        return Err(text.unexpected(line, "at most one result per record size"));
    }
    let results = rates.iter().zip(records).map(|(rate, record)| {
        let rate = PrintedNumber::parse(rate).ok_or_else(|| text.unexpected(line, "numbers"))?;
        Ok((rate, result(test, (file, record), rate, unit)))
    });
    let results = results.collect::<Result<Vec<_>, Diagnostic>>()?;
    // IOzone prints 0 for sizes that it did not measure.
    let measured = results.into_iter().filter(|(rate, _)| rate.value > 0.0);
    Ok(measured.map(|(_, result)| result).collect())
}

/// Adds a line of the report of several children.
fn together(
    results: &mut Vec<ImportedResult>,
    text: &ResultText,
    line: NumberedLine,
    (name, value): (&str, &str),
) -> Result<(), Diagnostic> {
    let is_child = name.starts_with("Child[");
    let metric = [
        ("Children see throughput for", "bytes_per_second"),
        ("Parent sees throughput for", "parent_bytes_per_second"),
        ("Min throughput per", "worker_bytes_per_second_min"),
        ("Max throughput per", "worker_bytes_per_second_max"),
        ("Avg throughput per", "worker_bytes_per_second_mean"),
        ("Min xfer", "worker_bytes_min"),
    ];
    let known = metric.iter().find(|(start, _)| name.starts_with(start));
    let Some((start, metric)) = known.filter(|_| !is_child) else {
        return Ok(());
    };
    let number = value
        .split_whitespace()
        .next()
        .and_then(PrintedNumber::parse);
    let unit = value
        .split_whitespace()
        .nth(1)
        .unwrap_or_default()
        .to_lowercase();
    let number = number.ok_or_else(|| text.unexpected(line, "a number after `=`"))?;
    if !unit.starts_with("kb") {
        return Err(text.unexpected(line, "a result in kB/sec"));
    }
    if *metric == "bytes_per_second" {
        let mut words = name[start.len()..].split_whitespace();
        let workers = words.next().and_then(|count| count.parse().ok());
        let test: Vec<&str> = words.collect();
        results.push(ImportedResult {
            name: test.join(" "),
            workers,
            ..ImportedResult::default()
        });
    }
    let Some(result) = results.last_mut() else {
        return Err(text.unexpected(line, "`Children see throughput` before this line"));
    };
    let number = number.times(KIB);
    let unit = match *metric {
        "worker_bytes_min" => "B",
        _ => "B/s",
    };
    result.figures.push(ImportedFigure {
        operation: "total".to_owned(),
        metric: (*metric).to_owned(),
        unit: unit.to_owned(),
        value: number.value,
        step: number.step,
        ..ImportedFigure::default()
    });
    Ok(())
}
