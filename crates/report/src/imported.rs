//! The report of imported results: what their source states, and what stays unknown.

use maud::html;
use results::{
    HistogramRecord, ImportRecord, ImportedFigure, ImportedResult, ImportedStatement, Latency,
    RunRecord,
};
use units::{format, printable_lines};

use crate::chart::{Detail, figures, histogram_of};
use crate::document::{Block, Document, DocumentPart, ReportMedium, TextLine};
use crate::html::opening;
use crate::numbers::{ABSENT, digits};
use crate::table::{Column, Table};
use crate::wrap::printable;

/// Text for a value that the source does not state.
pub const UNKNOWN: &str = "unknown";

/// Quantities with their own columns, and the heads of the columns.
const COLUMNS: [(&str, &str, u8); 6] = [
    ("per_second", "per s", 30),
    ("bytes_per_second", "MiB/s", 30),
    ("transactions_per_second", "transactions/s", 30),
    ("latency_mean", "mean latency", 20),
    ("latency_p99", "p99 latency", 20),
    ("count", "count", 10),
];

/// Reads a setting of a result.
type ReadNumber = fn(&ImportedResult) -> Option<u32>;

/// Settings with their own columns, if a source states them for any result.
const NUMBERS: [(&str, ReadNumber); 2] = [
    ("workers", |result| result.workers),
    ("queue depth", |result| result.iodepth),
];

/// Maximum number of rows of a table for people; the record and CSV have all.
const ROWS_MAX: usize = 500;

/// Maximum number of bytes of an original text that the page includes as it is; the script unpacks
/// larger ones.
const PLAIN_BYTES: usize = 64 * 1024;

/// Returns the report of a record with imported results.
pub fn document(record: &RunRecord, import: &ImportRecord, medium: ReportMedium) -> Document {
    let facts = facts(record, import);
    let facts = facts
        .into_iter()
        .map(|(name, text)| TextLine::labeled(medium.heading(name), text));
    Document {
        title: title(import),
        head: vec![Block::list(facts)],
        parts: parts(import, medium, |id| id.to_owned()),
    }
}

/// Returns the title of the results.
pub fn title(import: &ImportRecord) -> String {
    const SHOWN: usize = 3;
    let names = import.names();
    let shown: Vec<String> = names.iter().take(SHOWN).map(|it| printable(it)).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let program = printable(&import.origin.title());
    format!("{program}: {}{more}", shown.join(", "))
}

/// Returns the targets that the source states.
pub fn targets(import: &ImportRecord) -> String {
    let mut names: Vec<String> = Vec::new();
    for target in import.results.iter().filter_map(|it| it.target.as_ref()) {
        let name = printable(target);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match names.is_empty() {
        true => format!("{UNKNOWN} target"),
        false => names.join(", "),
    }
}

/// Returns the time of the run, if the source states it.
pub fn time(import: &ImportRecord) -> String {
    let time = import.origin.time;
    let text = time.map(|it| it.strftime("%Y-%m-%d %H:%M:%S UTC").to_string());
    text.unwrap_or_else(|| UNKNOWN.to_owned())
}

/// Returns the origin of the results, and the facts that a run of pgmeter has.
pub fn facts(record: &RunRecord, import: &ImportRecord) -> Vec<(&'static str, String)> {
    let origin = &import.origin;
    let version = origin
        .version
        .as_deref()
        .map_or_else(|| UNKNOWN.to_owned(), printable);
    let host = import
        .statement("host")
        .map_or_else(|| UNKNOWN.to_owned(), printable);
    let repetitions = import.results.iter().map(|it| it.repetition + 1).max();
    let stated = import.results.iter().flat_map(|it| &it.figures);
    let stated = stated.filter_map(|figure| figure.n).max();
    let repetitions = repetitions.max(stated).filter(|count| *count > 1);
    let repetitions = repetitions.map_or_else(
        || format!("{UNKNOWN}; without them, there is no confidence interval"),
        |count| count.to_string(),
    );
    let files: Vec<String> = import
        .sources
        .iter()
        .map(|it| printable(&it.name))
        .collect();
    vec![
        (
            "program",
            format!("{}, version {version}", printable(&origin.program)),
        ),
        (
            "source",
            format!("{} ({})", files.join(", "), printable(&origin.format)),
        ),
        ("time", time(import)),
        ("target", targets(import)),
        ("host", host),
        ("machine", format!("{UNKNOWN}, with kernel and device")),
        ("repeats", repetitions),
        (
            "run",
            format!(
                "{}, imported by pgmeter {}",
                printable(&record.id),
                printable(&record.pgmeter.version)
            ),
        ),
    ]
}

/// Returns the results. `id` makes an anchor from its name.
pub fn parts(
    import: &ImportRecord,
    medium: ReportMedium,
    id: impl Fn(&str) -> String,
) -> Vec<DocumentPart> {
    let heading = |words: &str| medium.heading(words);
    let results = main_table(import);
    let others = other_figures(import);
    let mut parts = vec![
        DocumentPart::new(
            heading("results"),
            [left_out(&results), Block::Table(cut(results))],
        )
        .at(id("results")),
        DocumentPart::new(
            heading("other figures of the source"),
            [left_out(&others), Block::Table(cut(others))],
        ),
        DocumentPart::new(
            heading("settings of the source"),
            [Block::Table(cut(settings(import)))],
        ),
    ];
    if medium == ReportMedium::Page {
        parts.insert(1, distributions(import));
    }
    parts.push(original(import, medium));
    parts.retain(|part| part.blocks.iter().any(|block| !block.is_empty()));
    parts
}

/// One row per result and operation, with the quantities that most sources have.
fn main_table(import: &ImportRecord) -> Table {
    let shown = COLUMNS
        .iter()
        .filter(|(metric, ..)| has_metric(import, metric));
    let shown: Vec<_> = shown.collect();
    let settings: Vec<_> = NUMBERS
        .iter()
        .filter(|(_, of)| import.results.iter().any(|it| of(it).is_some()))
        .collect();
    let rows = import.results.iter().flat_map(|result| {
        let (shown, settings) = (&shown, &settings);
        let operations = result.operations().into_iter();
        operations.filter_map(move |operation| {
            let texts = shown.iter();
            let texts: Vec<String> = texts
                .map(|(metric, ..)| text_of(result, operation, metric))
                .collect();
            let has_value = texts.iter().any(|text| text != ABSENT);
            let numbers = settings.iter().map(|(_, of)| {
                let number = of(result);
                number.map_or_else(|| UNKNOWN.to_owned(), |number| number.to_string())
            });
            let names = [printable(&result_name(result)), printable(operation)];
            has_value.then(|| names.into_iter().chain(numbers).chain(texts).collect())
        })
    });
    let names = ["result", "operation"].map(Column::name).into_iter();
    let numbers = settings.iter().map(|(head, _)| Column::number(head, 25));
    let figures = shown.iter();
    let figures = figures.map(|(_, head, priority)| Column::number(head, *priority));
    let mut table = Table::new(names.chain(numbers).chain(figures), rows);
    table.is_split = true;
    table
}

fn has_metric(import: &ImportRecord, metric: &str) -> bool {
    let mut figures = import.results.iter().flat_map(|it| &it.figures);
    figures.any(|figure| figure.metric == metric)
}

/// Name of a result, with its repetition if it is not the first.
fn result_name(result: &ImportedResult) -> String {
    match result.repetition {
        0 => result.name.clone(),
        repetition => format!("{} (repetition {})", result.name, u64::from(repetition) + 1),
    }
}

fn text_of(result: &ImportedResult, operation: &str, metric: &str) -> String {
    let mut figures = result.figures.iter();
    let found = figures.find(|it| it.operation == operation && it.metric == metric);
    let Some(figure) = found else {
        return ABSENT.to_owned();
    };
    match metric {
        // The head of the column has the unit.
        "bytes_per_second" => digits(figure.value / 1_048_576.0),
        "per_second" | "transactions_per_second" => digits(figure.value),
        _ => with_unit(figure),
    }
}

/// Formats a value with its unit.
fn with_unit(figure: &ImportedFigure) -> String {
    let value = figure.value;
    match figure.unit.as_str() {
        "1" if value.fract() == 0.0 && value.abs() < 1e15 => format::count(value as u64),
        "1" => digits(value),
        "1/s" => format!("{}/s", digits(value)),
        "B/s" => format!("{} MiB/s", digits(value / 1_048_576.0)),
        "B" if value >= 0.0 => format::size(value as u64),
        "ns" if value >= 1e9 => format!("{} s", digits(value / 1e9)),
        "ns" => format::latency(value),
        unit => format!("{} {}", digits(value), printable(unit)),
    }
}

/// All figures without a separate column.
fn other_figures(import: &ImportRecord) -> Table {
    let is_other = |it: &&ImportedFigure| COLUMNS.iter().all(|(metric, ..)| *metric != it.metric);
    let rows = import.results.iter().flat_map(|result| {
        let figures = result.figures.iter().filter(is_other);
        figures.map(|figure| {
            vec![
                printable(&result_name(result)),
                printable(&figure.operation),
                printable(&metric_name(&figure.metric)),
                with_unit(figure),
            ]
        })
    });
    let columns = [
        Column::name("result"),
        Column::name("operation"),
        Column::name("figure"),
        Column::number("value", 30),
    ];
    Table::new(columns, rows)
}

/// Words of a metric: `completion latency p99.9` for `completion_latency_p99_9`.
fn metric_name(metric: &str) -> String {
    match metric.rsplit_once("_p") {
        Some((kind, percent)) if percent.starts_with(|it: char| it.is_ascii_digit()) => {
            format!("{} p{}", kind.replace('_', " "), percent.replace('_', "."))
        }
        _ => metric.replace('_', " "),
    }
}

/// Statements about the whole run, then the settings of each result.
fn settings(import: &ImportRecord) -> Table {
    let row = |of: &str, it: &ImportedStatement| {
        vec![printable(of), printable(&it.name), printable(&it.value)]
    };
    let of_run = import.statements.iter().map(|it| row("run", it));
    let of_results = import.results.iter().flat_map(|result| {
        let settings = result.settings.iter();
        settings.map(move |it| row(&result_name(result), it))
    });
    let columns = ["of", "setting", "value"].map(Column::name);
    Table::new(columns, of_run.chain(of_results))
}

fn cut(mut table: Table) -> Table {
    table.rows.truncate(ROWS_MAX);
    table
}

/// Says how many rows a table leaves out.
fn left_out(table: &Table) -> Block {
    let count = table.rows.len().saturating_sub(ROWS_MAX);
    let line = (count > 0).then(|| {
        format!("the first {ROWS_MAX} rows; the record has {count} more (`--format csv`)")
    });
    Block::paragraphs(line)
}

/// Returns a chart for each result with latency distributions.
fn distributions(import: &ImportRecord) -> DocumentPart {
    let count = import.results.iter().flat_map(|it| &it.figures);
    let detail = Detail::of(count.filter(|it| !it.buckets_ns.is_empty()).count());
    let charts = import.results.iter().filter_map(|result| {
        let with_buckets = result.figures.iter().filter(|it| !it.buckets_ns.is_empty());
        let latencies: Vec<(String, Latency)> = with_buckets
            .map(|figure| (distribution_name(figure), latency(figure)))
            .collect();
        let latencies = latencies
            .iter()
            .map(|(name, latency)| (name.as_str(), latency));
        histogram_of(
            &printable(&result_name(result)),
            latencies.collect(),
            detail,
        )
    });
    let charts: Vec<_> = charts.collect();
    DocumentPart::new("Distributions", [Block::Markup(figures(&charts))])
}

/// `read, completion latency`, from the name of the mean that the distribution belongs to.
fn distribution_name(figure: &ImportedFigure) -> String {
    let kind = figure.metric.trim_end_matches("_mean").replace('_', " ");
    printable(&format!("{}, {kind}", figure.operation))
}

fn latency(figure: &ImportedFigure) -> Latency {
    let counts = figure.buckets_ns.iter().map(|bucket| bucket[2]);
    Latency {
        count: counts.fold(0, u64::saturating_add),
        min_ns: figure.buckets_ns.first().map(|bucket| bucket[0]),
        max_ns: figure.buckets_ns.last().map(|bucket| bucket[1]),
        histogram: HistogramRecord {
            buckets_ns: figure.buckets_ns.clone(),
            ..HistogramRecord::default()
        },
        ..Latency::default()
    }
}

/// The original texts, or where to find them.
fn original(import: &ImportRecord, medium: ReportMedium) -> DocumentPart {
    if medium != ReportMedium::Page {
        let line = "the record keeps the original text: `pgmeter report RUN --format classic`";
        return DocumentPart::new("", [Block::paragraphs([line])]);
    }
    let texts = import.sources.iter().map(|source| {
        let content = html! { pre.command tabindex="0" { (printable_lines(&source.text)) } };
        let summary = html! { (printable(&source.name)) };
        Block::Markup(html! {
            details { (opening(&summary, &content, source.text.len() <= PLAIN_BYTES)) }
        })
    });
    DocumentPart::new("Original text", texts)
}

/// Returns the original texts, one after the other.
pub fn original_text(import: &ImportRecord) -> String {
    import.sources.iter().map(|it| it.text.as_str()).collect()
}

/// Returns one row per figure, in base units, as CSV.
pub fn csv(record: &RunRecord, import: &ImportRecord) -> String {
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::new());
    let heads = [
        "run",
        "program",
        "version",
        "result",
        "repetition",
        "operation",
        "metric",
        "unit",
        "value",
        "step",
        "stddev",
        "n",
    ];
    let origin = &import.origin;
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let rows = import.results.iter().flat_map(|result| {
        result.figures.iter().map(move |figure| {
            [
                record.id.clone(),
                origin.program.clone(),
                origin.version.clone().unwrap_or_default(),
                result.name.clone(),
                result.repetition.to_string(),
                figure.operation.clone(),
                figure.metric.clone(),
                figure.unit.clone(),
                figure.value.to_string(),
                number(figure.step),
                number(figure.stddev),
                figure.n.map_or_else(String::new, |n| n.to_string()),
            ]
        })
    });
    let heads = heads.map(str::to_owned);
    for row in std::iter::once(heads).chain(rows) {
        writer.write_record(&row).expect("memory takes every row");
    }
    let bytes = writer.into_inner().expect("memory takes every row");
    String::from_utf8_lossy(&bytes).into_owned()
}
