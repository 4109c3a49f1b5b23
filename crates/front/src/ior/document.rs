//! The results as JSON or CSV, as `summaryFormat` asks for them.

use results::RunRecord;
use serde_json::{Map, Value, json};

use super::options::{IorOptions, SummaryFormat};
use super::script::IorTests;
use super::text::{self, MIB, RankTimes, RepetitionTimes, TestResults};
use crate::acts::NS_PER_SECOND;
use crate::figures::format_scientific;
use crate::space::space_parts;
use crate::text::ParsedArguments;

const CSV_HEAD: &str = "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),\
                        close(s),total(s),numTasks,iter\n";

/// Text for standard output; empty if the results go to a file.
pub(super) fn page(parsed: &ParsedArguments<IorTests>, record: &RunRecord) -> String {
    match summary_file(&parsed.options).is_empty() {
        true => output(&parsed.options, record),
        false => String::new(),
    }
}

/// The file that `summaryFile` names, with its text, and the files that `stoneWallingStatusFile`
/// names, with the number of transfers.
pub(super) fn documents(
    parsed: &ParsedArguments<IorTests>,
    record: &RunRecord,
) -> Vec<(String, String)> {
    let file = summary_file(&parsed.options);
    let summary = (!file.is_empty()).then(|| (file.to_owned(), output(&parsed.options, record)));
    let tests = text::results(&parsed.options, record);
    let status = tests.iter().filter_map(|test| {
        let file = &test.options.status_file;
        let (_, passes) = test.passes.iter().find(|(name, _)| *name == "write")?;
        let count = passes.last()?.transfers_max;
        (!file.is_empty()).then(|| (file.clone(), count.to_string()))
    });
    let ranks = rank_documents(&tests);
    summary.into_iter().chain(status).chain(ranks).collect()
}

/// The files that `saveRankPerformanceDetailsCSV` names. Tests of a script may share one.
fn rank_documents(tests: &[TestResults<'_>]) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for test in tests.iter().filter(|it| !it.options.rank_file.is_empty()) {
        let name = &test.options.rank_file;
        let index = files.iter().position(|(known, _)| known == name);
        let index = index.unwrap_or_else(|| {
            files.push((name.clone(), String::new()));
            files.len() - 1
        });
        let passes = test.by_repetition();
        files[index].1 += &passes.map(rank_rows).collect::<String>();
    }
    files
}

fn rank_rows((_, name, pass): (usize, &str, &RepetitionTimes)) -> String {
    let bytes = pass.bytes as f64 / pass.ranks.len().max(1) as f64;
    let row = |(rank, it): (usize, &RankTimes)| {
        let rate = |seconds: f64| format_scientific(bytes / seconds.max(1e-9));
        format!(
            "{name},{rank},{},{},{},{}\n",
            format_scientific(it.total),
            format_scientific(it.transfer),
            rate(it.total),
            rate(it.transfer)
        )
    };
    pass.ranks.iter().enumerate().map(row).collect()
}

/// File of the whole output. As in the original, a later test may set it for all.
fn summary_file(parsed: &IorTests) -> &str {
    parsed.tests.last().map_or("", |it| &it.summary_file)
}

fn output(parsed: &IorTests, record: &RunRecord) -> String {
    let format = parsed.tests.last().map(|it| it.summary_format);
    match format.unwrap_or_default() {
        SummaryFormat::Default => text::page(parsed, record),
        SummaryFormat::Json => format!("{:#}\n", document(parsed, record)),
        SummaryFormat::Csv => {
            let tests = text::results(parsed, record);
            CSV_HEAD.to_owned() + &tests.iter().map(rows).collect::<String>()
        }
    }
}

fn rows(test: &TestResults<'_>) -> String {
    let options = test.options;
    let row = |(repetition, name, pass): (usize, &str, &RepetitionTimes)| {
        let figures: String = pass
            .figures(options)
            .iter()
            .map(|(_, value)| format!("{value:.4},"))
            .collect();
        format!("{name},{figures}{},{repetition}\n", options.ranks)
    };
    test.by_repetition().map(row).collect()
}

fn document(parsed: &IorTests, record: &RunRecord) -> Value {
    let results = text::results(parsed, record);
    let arguments = parsed.arguments.iter();
    let words: String = arguments.map(|word| format!(" {word}")).collect();
    let end = record.finished_at.unwrap_or(record.started_at);
    let tests = results.iter().map(|it| test(it, record));
    let summary = results.iter().flat_map(|test| {
        let passes = test.passes.iter();
        passes.map(move |(name, passes)| summary(test, name, passes))
    });
    json!({
        "Version": text::VERSION,
        "Began": text::stamp(record.started_at),
        "Command line": format!("ior{words}"),
        "Machine": format!("Linux {}", record.environment.host),
        "tests": tests.collect::<Vec<_>>(),
        "summary": summary.collect::<Vec<_>>(),
        "Finished": text::stamp(end),
    })
}

fn test(test: &TestResults<'_>, record: &RunRecord) -> Value {
    let options = test.options;
    let results = test.by_repetition().map(|(_, name, pass)| {
        let figures = pass.figures(options);
        let figures = figures.map(|(key, value)| (key.to_owned(), json!(value)));
        let mut result: Map<String, Value> = figures.into_iter().collect();
        result.insert("access".to_owned(), json!(name));
        Value::Object(result)
    });
    let mut object = json!({
        "TestID": test.number,
        "StartTime": text::stamp(test.started_at),
        "Parameters": parameters(test),
        "Options": settings(options),
        "Results": results.collect::<Vec<_>>(),
    });
    if let Some(path) = text::path(options, record) {
        object["Path"] = json!(path);
    }
    if let Some(space) = record.environment.file_systems.first() {
        let space = space_parts(space);
        object["Capacity"] = json!(space.size);
        object["Used Capacity"] = json!(space.used);
        object["Inodes"] = json!(space.inodes);
        object["Used Inodes"] = json!(space.used_inodes);
    }
    object
}

/// The settings as the text shows them.
fn settings(options: &IorOptions) -> Value {
    let rows = text::settings_rows(options).into_iter();
    let rows = rows.map(|(key, value)| {
        // Numbers are numbers, texts are texts.
        let value = value.parse::<u64>().map_or(json!(value), |it| json!(it));
        (key.to_owned(), value)
    });
    Value::Object(rows.collect())
}

fn parameters(test: &TestResults<'_>) -> Value {
    let options = test.options;
    let whole_seconds = options.delay_ns / NS_PER_SECOND;
    let delay = match options.delay_ns % NS_PER_SECOND {
        0 => json!(whole_seconds),
        _ => json!(options.delay_ns as f64 / NS_PER_SECOND as f64),
    };
    json!({
        "testID": test.number,
        "refnum": options.ref_number,
        "api": options.api(),
        "testFileName": options.file,
        "deadlineForStonewall": options.stonewall_seconds,
        "stoneWallingWearOut": u8::from(options.wears_out),
        "nodes": 1,
        "tasksPerNode": options.ranks,
        "repetitions": options.repetitions,
        "multiFile": u8::from(options.has_file_per_repetition),
        "interTestDelay": delay,
        "fsync": u8::from(options.is_synced),
        "fsyncperwrite": u8::from(options.syncs_each_write),
        "uniqueDir": u8::from(options.has_directory_per_rank),
        "readFile": u8::from(options.reads),
        "writeFile": u8::from(options.writes),
        "filePerProc": u8::from(options.has_file_per_rank),
        "reorderTasks": u8::from(options.is_shifted),
        "reorderTasksRandom": options.reorder_level,
        "randomOffset": options.random_level,
        "checkWrite": u8::from(options.checks_written),
        "checkRead": u8::from(options.checks_read),
        "setTimeStampSignature/incompressibleSeed": options.signature,
        "keepFile": u8::from(options.keeps_files),
        "segmentCount": options.segments,
        "transferSize": options.transfer_bytes,
        "blockSize": options.block_bytes,
    })
}

fn summary(test: &TestResults<'_>, name: &str, passes: &[RepetitionTimes]) -> Value {
    let options = test.options;
    let [
        bandwidth_most,
        bandwidth_least,
        bandwidth_mean,
        bandwidth_deviation,
    ] = text::rates(passes, MIB);
    let [rate_most, rate_least, rate_mean, rate_deviation] =
        text::rates(passes, options.transfer_bytes as f64);
    let bytes = passes.first().map_or(0, |it| it.bytes);
    let mut summary = json!({
        "operation": name,
        "API": options.api(),
        "TestID": test.number,
        "ReferenceNumber": options.ref_number,
        "segmentCount": options.segments,
        "blockSize": options.block_bytes,
        "transferSize": options.transfer_bytes,
        "numTasks": options.ranks,
        "tasksPerNode": options.ranks,
        "repetitions": options.repetitions,
        "filePerProc": u8::from(options.has_file_per_rank),
        "reorderTasks": u8::from(options.is_shifted),
        "taskPerNodeOffset": options.shift().max(1),
        "reorderTasksRandom": options.reorder_level,
        "reorderTasksRandomSeed": options.reorder_seed,
        "bwMaxMIB": bandwidth_most,
        "bwMinMIB": bandwidth_least,
        "bwMeanMIB": bandwidth_mean,
        "bwStdMIB": bandwidth_deviation,
        "OPsMax": rate_most,
        "OPsMin": rate_least,
        "OPsMean": rate_mean,
        "OPsSD": rate_deviation,
        "MeanTime": text::mean_seconds(passes),
        "xsizeMiB": bytes as f64 / MIB,
    });
    if let Some(wall) = passes.first().and_then(|it| it.stonewall) {
        summary["StoneWallTime"] = json!(wall.seconds());
        summary["StoneWallbwMeanMIB"] = json!(wall.bytes as f64 / MIB / wall.seconds().max(1e-9));
    }
    summary
}
