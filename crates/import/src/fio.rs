//! JSON and JSON+ of fio 3.

use std::collections::BTreeMap;

use jiff::Timestamp;
use plan::Diagnostic;
use results::{ImportedFigure, ImportedResult, ImportedStatement};
use serde::Deserialize;
use serde_json::Value;

use crate::draft::ImportDraft;
use crate::figures::{
    BYTES, BYTES_PER_SECOND, COUNT, CPU, FigureList, FigureMetric, KIB, MILLISECOND, PER_SECOND,
    PrintedNumber, TIME, statement, whole,
};
use crate::json::{error_at, text_of};
use crate::source::{NumberedLine, ResultText};

/// Number of buckets per power of two in fio's histograms, as a power of two (`stat.h`).
const BUCKET_BITS: u32 = 6;

/// An output document of fio. Fields that are not read here stay in the original text.
#[derive(Debug, Deserialize)]
struct FioResults {
    #[serde(rename = "fio version")]
    version: String,
    timestamp: Option<i64>,
    timestamp_ms: Option<i64>,
    /// An object; a client adds a list of them.
    #[serde(rename = "global options", default)]
    global_options: Value,
    #[serde(default)]
    jobs: Vec<FioJobResult>,
    /// The jobs of each client, and their sum.
    #[serde(default)]
    client_stats: Vec<FioJobResult>,
}

/// Results of a job, or of all jobs of a group.
#[derive(Debug, Deserialize)]
struct FioJobResult {
    jobname: String,
    #[serde(default)]
    groupid: i64,
    hostname: Option<String>,
    #[serde(default)]
    error: i64,
    /// Start in milliseconds since 1970, from fio 3.36 on.
    job_start: Option<i64>,
    #[serde(rename = "job options", default)]
    options: BTreeMap<String, Value>,
    read: Option<FioDirection>,
    write: Option<FioDirection>,
    trim: Option<FioDirection>,
    sync: Option<FioDirection>,
    usr_cpu: Option<f64>,
    sys_cpu: Option<f64>,
}

/// Results of one direction of transfer.
#[derive(Debug, Deserialize)]
struct FioDirection {
    total_ios: u64,
    io_bytes: Option<u64>,
    /// Bytes per second; the first versions have only `bw`.
    bw_bytes: Option<u64>,
    /// KiB per second.
    bw: Option<f64>,
    iops: Option<f64>,
    /// In milliseconds.
    runtime: Option<u64>,
    short_ios: Option<u64>,
    drop_ios: Option<u64>,
    slat_ns: Option<FioLatency>,
    clat_ns: Option<FioLatency>,
    lat_ns: Option<FioLatency>,
}

/// Statistics of one kind of latency.
#[derive(Debug, Deserialize)]
struct FioLatency {
    min: f64,
    max: f64,
    mean: f64,
    stddev: f64,
    /// Number of latencies; 0 if they were not measured.
    #[serde(rename = "N")]
    n: Option<u64>,
    #[serde(default)]
    percentile: BTreeMap<String, Value>,
    /// Counts by the middle of the bucket, in JSON+.
    #[serde(default)]
    bins: BTreeMap<String, u64>,
}

/// `true` if the text is an output of fio. fio may print messages before it.
pub fn recognizes(text: &ResultText) -> bool {
    text.text.contains("\"fio version\"")
}

/// Reads the document.
pub fn read(text: &ResultText) -> Result<ImportDraft, Diagnostic> {
    let document = document(text)?;
    let version = document.version.trim_start_matches("fio-");
    if !version.starts_with("3.") {
        let message = format!("expected results of fio 3, not of `{}`", document.version);
        let help = "fio 2 prints other units; measure again with a newer fio";
        let line = line_of(text, "\"fio version\"");
        return Err(Diagnostic::error(text.name, message)
            .at_line(line)
            .help(help));
    }
    let jobs: Vec<&FioJobResult> = document.jobs.iter().chain(&document.client_stats).collect();
    let starts = jobs.iter().filter_map(|job| job.job_start).min();
    let end = document.timestamp_ms;
    let end = end.or(document
        .timestamp
        .and_then(|seconds| seconds.checked_mul(1000)));
    let time = starts.filter(|start| *start > 0).or(end);
    let results = jobs.iter().enumerate().map(|(index, job)| {
        let result = result(&jobs, index, &document.global_options);
        result.map_err(|expected| {
            let line = line_of(text, &format!("\"{}\"", job.jobname));
            Diagnostic::error(
                text.name,
                format!("expected {expected} in job `{}`", job.jobname),
            )
            .at_line(line)
            .help("import the file as the program wrote it")
        })
    });
    Ok(ImportDraft {
        version: Some(version.to_owned()),
        time: time.and_then(|ms| Timestamp::from_millisecond(ms).ok()),
        statements: options(&document.global_options),
        results: results.collect::<Result<_, _>>()?,
    })
}

/// Parses the only document of the text.
fn document(text: &ResultText) -> Result<FioResults, Diagnostic> {
    let start = text.lines().find(|line| line.text.starts_with('{'));
    let start = start.ok_or_else(|| text.ends_early("a line that begins with `{`"))?;
    // fio writes its messages to the same stream, before and after the document.
    let skipped: usize = text
        .text
        .split_inclusive('\n')
        .take(start.number as usize - 1)
        .map(str::len)
        .sum();
    let json = &text.text[skipped..];
    let mut documents = serde_json::Deserializer::from_str(json).into_iter::<FioResults>();
    let document = match documents.next() {
        Some(Ok(document)) => document,
        Some(Err(error)) => return Err(error_at(text, start.number - 1, &error)),
        None => return Err(text.ends_early("a JSON document")),
    };
    let end = documents.byte_offset();
    let lines_before = json[..end].matches('\n').count() as u32;
    let first = start.number + lines_before;
    let rest = (first..).zip(json[end..].lines());
    for (number, line) in rest {
        let is_message = line.trim().is_empty() || line.starts_with("fio");
        if !is_message {
            let line = NumberedLine { number, text: line };
            return Err(text
                .unexpected(line, "the end of the file after the JSON document")
                .help("keep the last document, which has the totals"));
        }
    }
    Ok(document)
}

/// Line of the first occurrence of a text, from 1.
fn line_of(text: &ResultText, part: &str) -> u32 {
    let line = text.lines().find(|line| line.text.contains(part));
    line.map_or(1, |line| line.number)
}

/// Results of a job. The error says what was expected.
fn result(jobs: &[&FioJobResult], index: usize, global: &Value) -> Result<ImportedResult, String> {
    let job = jobs[index];
    let is_same = |other: &&&FioJobResult| {
        other.jobname == job.jobname
            && other.groupid == job.groupid
            && other.hostname == job.hostname
    };
    let same_count = jobs.iter().filter(is_same).count();
    let option = |name: &str| {
        let value = job.options.get(name).or_else(|| global.get(name))?;
        Some(text_of(value))
    };
    let number = |name: &str| option(name)?.parse::<u32>().ok();
    let workers = number("numjobs").map(|count| match same_count {
        // One entry for all clones: the group was reported together.
        1 => count,
        _ => 1,
    });
    let mut name = job.jobname.clone();
    if let Some(host) = &job.hostname {
        name.push_str(&format!(" on {host}"));
    }
    if same_count > 1 {
        let before = jobs[..index].iter().filter(is_same).count();
        name.push_str(&format!(" #{}", before + 1));
    }
    let mut settings: Vec<ImportedStatement> = job
        .options
        .iter()
        .map(|(name, value)| statement(name, text_of(value)))
        .collect();
    if job.error != 0 {
        settings.push(statement("error", job.error.to_string()));
    }
    let mut figures = FigureList::default();
    let directions = [
        ("read", &job.read),
        ("write", &job.write),
        ("trim", &job.trim),
        ("sync", &job.sync),
    ];
    for (operation, direction) in directions {
        if let Some(direction) = direction.as_ref().filter(|it| it.total_ios > 0) {
            add_direction(&mut figures, operation, direction)?;
        }
    }
    if !figures.0.is_empty() {
        for (name, share) in [("user_cpu", job.usr_cpu), ("system_cpu", job.sys_cpu)] {
            let quantity = FigureMetric(name, CPU.1);
            add(&mut figures, "total", quantity, share, 1.0);
        }
    }
    Ok(ImportedResult {
        name,
        settings,
        target: option("filename").or_else(|| option("directory")),
        iodepth: number("iodepth"),
        workers,
        figures: figures.0,
        ..ImportedResult::default()
    })
}

fn add_direction(
    figures: &mut FigureList,
    operation: &str,
    direction: &FioDirection,
) -> Result<(), String> {
    let whole = |value: Option<u64>| value.map(|it| it as f64);
    let bandwidth = match (direction.bw_bytes, direction.bw) {
        (Some(bytes), _) => Some(PrintedNumber::exact(bytes as f64)),
        (None, Some(kib)) => Some(
            PrintedNumber {
                value: kib,
                step: Some(1.0),
            }
            .times(KIB),
        ),
        (None, None) => None,
    };
    add(
        figures,
        operation,
        COUNT,
        Some(direction.total_ios as f64),
        1.0,
    );
    add(figures, operation, BYTES, whole(direction.io_bytes), 1.0);
    add(figures, operation, PER_SECOND, direction.iops, 1.0);
    if let Some(bandwidth) = bandwidth {
        figures.add(operation, BYTES_PER_SECOND, bandwidth);
    }
    add(
        figures,
        operation,
        TIME,
        whole(direction.runtime),
        MILLISECOND,
    );
    let some = |count: Option<u64>| whole(count.filter(|count| *count > 0));
    add(
        figures,
        operation,
        FigureMetric("short_count", "1"),
        some(direction.short_ios),
        1.0,
    );
    add(
        figures,
        operation,
        FigureMetric("drop_count", "1"),
        some(direction.drop_ios),
        1.0,
    );
    let latencies = [
        ("latency", &direction.lat_ns),
        ("completion_latency", &direction.clat_ns),
        ("submission_latency", &direction.slat_ns),
    ];
    for (kind, latency) in latencies {
        // fio prints zeros for a kind that it did not measure.
        if let Some(latency) = latency.as_ref().filter(|it| it.n != Some(0)) {
            add_latency(figures, operation, kind, latency)?;
        }
    }
    Ok(())
}

fn add_latency(
    figures: &mut FigureList,
    operation: &str,
    kind: &str,
    latency: &FioLatency,
) -> Result<(), String> {
    let mut push = |name: String, value: f64| {
        figures.add(
            operation,
            FigureMetric(&name, "ns"),
            PrintedNumber::exact(value),
        );
    };
    push(format!("{kind}_min"), latency.min);
    push(format!("{kind}_mean"), latency.mean);
    push(format!("{kind}_stddev"), latency.stddev);
    push(format!("{kind}_max"), latency.max);
    let mut percentiles = Vec::new();
    for (percent, value) in &latency.percentile {
        let at = percent
            .parse::<f64>()
            .ok()
            .filter(|it| (0.0..=100.0).contains(it));
        let value = value.as_f64();
        let (Some(at), Some(value)) = (at, value) else {
            return Err(format!("a percentile, not `{percent}`"));
        };
        percentiles.push((at, value));
    }
    // By number, because the names of a JSON object are sorted as text.
    percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (at, value) in percentiles {
        push(
            format!("{kind}_p{}", at.to_string().replace('.', "_")),
            value,
        );
    }
    let buckets_ns = buckets(latency)?;
    let mean = format!("{kind}_mean");
    let is_mean = |it: &&mut ImportedFigure| it.metric == mean && it.operation == operation;
    if let Some(mean) = figures.0.iter_mut().find(is_mean) {
        mean.buckets_ns = buckets_ns;
    }
    Ok(())
}

/// The buckets of a histogram, from the middle of each.
fn buckets(latency: &FioLatency) -> Result<Vec<[u64; 3]>, String> {
    let mut buckets = Vec::new();
    for (middle, &count) in &latency.bins {
        let middle_ns =
            whole(middle).ok_or_else(|| format!("a bucket in nanoseconds, not `{middle}`"))?;
        // A bucket is 1/64 of its power of two wide, and small values have their own buckets.
        let width_ns = match middle_ns.checked_ilog2() {
            Some(power) if power > BUCKET_BITS => 1 << (power - BUCKET_BITS),
            _ => 1,
        };
        let low_ns = middle_ns - middle_ns % width_ns;
        if count > 0 {
            buckets.push([low_ns, low_ns + (width_ns - 1), count]);
        }
    }
    buckets.sort_unstable();
    let overlap = buckets.windows(2).find(|pair| pair[0][1] >= pair[1][0]);
    match overlap {
        Some(pair) => Err(format!(
            "separate buckets, not {} and {}",
            pair[0][0], pair[1][0]
        )),
        None => Ok(buckets),
    }
}

/// Adds a figure that the document has.
fn add(
    figures: &mut FigureList,
    operation: &str,
    of: FigureMetric,
    value: Option<f64>,
    factor: f64,
) {
    if let Some(value) = value {
        figures.add(operation, of, PrintedNumber::exact(value).times(factor));
    }
}

fn options(options: &Value) -> Vec<ImportedStatement> {
    let options = options.as_object().into_iter().flatten();
    options
        .map(|(name, value)| statement(name, text_of(value)))
        .collect()
}
