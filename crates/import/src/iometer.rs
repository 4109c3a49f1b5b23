//! Result files of Iometer 2006 to 1.1.0.

use plan::Diagnostic;
use results::ImportedResult;

use crate::draft::ImportDraft;
use crate::figures::{
    BYTES, BYTES_PER_SECOND, COUNT, CPU, ERRORS, FigureList, FigureMetric, LATENCY_MAX,
    LATENCY_MEAN, MIB, MICROSECOND, MILLISECOND, PER_SECOND, PrintedNumber, SECOND, statement,
};
use crate::source::{NumberedLine, ResultText};

/// Columns with figures: the heads in all versions, the operation, the quantity and the factor.
const COLUMNS: [(&[&str], &str, FigureMetric, f64); 20] = [
    (&["IOps"], "total", PER_SECOND, 1.0),
    (
        &["MiBps (Binary)", "MBps (Binary)", "MBps"],
        "total",
        BYTES_PER_SECOND,
        MIB,
    ),
    (
        &["Average Response Time"],
        "total",
        LATENCY_MEAN,
        MILLISECOND,
    ),
    (
        &["Maximum Response Time"],
        "total",
        LATENCY_MAX,
        MILLISECOND,
    ),
    (&["Errors"], "total", ERRORS, 1.0),
    (&["Read IOps"], "read", PER_SECOND, 1.0),
    (
        &["Read MiBps (Binary)", "Read MBps (Binary)", "Read MBps"],
        "read",
        BYTES_PER_SECOND,
        MIB,
    ),
    (
        &["Average Read Response Time"],
        "read",
        LATENCY_MEAN,
        MILLISECOND,
    ),
    (
        &["Maximum Read Response Time"],
        "read",
        LATENCY_MAX,
        MILLISECOND,
    ),
    (&["Read Errors"], "read", ERRORS, 1.0),
    (&["Bytes Read"], "read", BYTES, 1.0),
    (&["Read I/Os"], "read", COUNT, 1.0),
    (&["Write IOps"], "write", PER_SECOND, 1.0),
    (
        &["Write MiBps (Binary)", "Write MBps (Binary)", "Write MBps"],
        "write",
        BYTES_PER_SECOND,
        MIB,
    ),
    (
        &["Average Write Response Time"],
        "write",
        LATENCY_MEAN,
        MILLISECOND,
    ),
    (
        &["Maximum Write Response Time"],
        "write",
        LATENCY_MAX,
        MILLISECOND,
    ),
    (&["Write Errors"], "write", ERRORS, 1.0),
    (&["Bytes Written"], "write", BYTES, 1.0),
    (&["Write I/Os"], "write", COUNT, 1.0),
    (&["% CPU Utilization"], "total", CPU, 1.0),
];

/// `true` if the text has the head of a table of results.
pub fn recognizes(text: &ResultText) -> bool {
    text.text.lines().any(is_head) || text.has_line("'Test Type,Test Description")
}

fn is_head(line: &str) -> bool {
    line.contains("'Target Type,Target Name,Access Specification Name")
}

/// Reads the rows for all managers together.
pub fn read(text: &ResultText) -> Result<ImportDraft, Diagnostic> {
    let mut draft = ImportDraft::default();
    let mut heads: Vec<&str> = Vec::new();
    let mut label = "";
    let mut settings = Vec::new();
    for line in text.lines() {
        let line = NumberedLine {
            text: line.text.trim_end_matches('\r'),
            ..line
        };
        let fields: Vec<&str> = line.text.split(',').collect();
        if is_head(line.text) {
            heads = fields;
        } else if line.text.starts_with('\'') {
            label = line.text;
        } else if label == "'Version" && draft.version.is_none() {
            draft.version = Some(line.text.trim().to_owned());
            label = "";
        } else if label == "'Time Stamp" {
            // Without a time zone, so it is no point in time.
            draft.statements.push(statement("time stamp", line.text));
            label = "";
        } else if label.starts_with("'Test Type") {
            let description = fields.get(1).copied().unwrap_or_default();
            settings = vec![statement("test", description)];
            label = "";
        } else if label.starts_with("'size,") {
            // The same name may stand for other lines in the next test.
            settings.push(statement("access line", line.text));
        } else if is_row(&fields) {
            let result = ImportedResult {
                settings: settings.clone(),
                ..row(text, line, &heads, &fields)?
            };
            let is_same = |it: &&ImportedResult| {
                it.name == result.name
                    && it.settings == result.settings
                    && it.iodepth == result.iodepth
                    && it.workers == result.workers
            };
            let repetition = draft.results.iter().filter(is_same).count();
            let repetition = u32::try_from(repetition).unwrap_or(u32::MAX);
            draft.results.push(ImportedResult {
                repetition,
                ..result
            });
        }
    }
    match draft.results.is_empty() {
        true => Err(text.ends_early("a row of results for `ALL`")),
        false => Ok(draft),
    }
}

/// `true` for a row about all managers. Some versions write a time before it.
fn is_row(fields: &[&str]) -> bool {
    matches!(fields, ["ALL", ..] | [_, "ALL", ..])
}

fn row(
    text: &ResultText,
    line: NumberedLine,
    heads: &[&str],
    fields: &[&str],
) -> Result<ImportedResult, Diagnostic> {
    if heads.is_empty() || fields.len() < heads.len() {
        let expected = format!(
            "{} fields, one per column of the table, not {}",
            heads.len(),
            fields.len()
        );
        return Err(text.unexpected(line, &expected));
    }
    let field = |names: &[&str]| {
        let place = names
            .iter()
            .find_map(|name| heads.iter().position(|head| head == name));
        place
            .map(|place| fields[place])
            .filter(|field| !field.is_empty())
    };
    let mut figures = FigureList::default();
    for (names, operation, quantity, factor) in COLUMNS {
        let Some(value) = field(names) else { continue };
        let expected = format!("a number in the column `{}`, not `{value}`", names[0]);
        let number = PrintedNumber::parse(value);
        let number = number.ok_or_else(|| text.unexpected(line, &expected))?;
        // A direction without requests has zeros everywhere.
        if operation == "total" || number.value != 0.0 {
            figures.add(operation, quantity, number.times(factor));
        }
    }
    let buckets_ns = buckets(heads, fields);
    let mean = |it: &&mut results::ImportedFigure| it.metric == "latency_mean";
    if let Some(mean) = figures.0.iter_mut().find(mean) {
        mean.buckets_ns = buckets_ns;
    }
    let whole = |names: &[&str]| field(names)?.parse().ok();
    Ok(ImportedResult {
        name: field(&["Access Specification Name"])
            .unwrap_or_default()
            .to_owned(),
        iodepth: whole(&["Queue Depth"]),
        workers: whole(&["# Workers"]),
        figures: figures.0,
        ..ImportedResult::default()
    })
}

/// The distribution of response times, which 1.1.0 adds in columns such as `0.5 to 1 mS`.
fn buckets(heads: &[&str], fields: &[&str]) -> Vec<[u64; 3]> {
    let columns = heads.iter().zip(fields);
    let buckets = columns.filter_map(|(head, count)| {
        let (low, high) = bucket(head.trim())?;
        let count: u64 = count.trim().parse().ok().filter(|count| *count > 0)?;
        Some([low, high, count])
    });
    let buckets: Vec<[u64; 3]> = buckets.collect();
    let is_rising = buckets.windows(2).all(|pair| pair[0][1] < pair[1][0]);
    match is_rising {
        true => buckets,
        false => Vec::new(),
    }
}

/// Lowest and highest latency of a column, in nanoseconds.
fn bucket(head: &str) -> Option<(u64, u64)> {
    let (range, unit) = head.rsplit_once(' ')?;
    let factor = match unit {
        "uS" => MICROSECOND,
        "mS" => MILLISECOND,
        "S" | "s" => SECOND,
        _ => return None,
    };
    let ns = |text: &str| Some((PrintedNumber::parse(text)?.value * factor).round() as u64);
    if let Some(low) = range.strip_prefix(">= ") {
        return Some((ns(low)?, u64::MAX));
    }
    let (low, high) = range.split_once(" to ")?;
    Some((ns(low)?, ns(high)?.checked_sub(1)?))
}
