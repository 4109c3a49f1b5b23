//! Files of `--response-times`: the start and the duration of each operation, one file per thread.

use plan::job::LoggedRequest;
use results::RunRecord;

use super::operation::FileEffect;
use super::options::SmallfileOptions;
use crate::windows::{phase, rounds};

const NS_PER_SECOND: f64 = 1e9;

/// The files of a run with their paths; empty files if nothing was measured yet.
pub(super) fn files(options: &SmallfileOptions, record: &RunRecord) -> Vec<(String, String)> {
    let name = options.operation.name();
    let host = &record.environment.host;
    let start = record.started_at.as_microsecond() as f64 / 1e6;
    let directory = options.shared_directory();
    let cell = phase(record, name);
    let round = rounds(record, name).first();
    let rows_of = |thread: usize| {
        let worker = cell?.worker_figures.get(thread)?;
        let times = round?.workers.get(thread)?;
        let count = times.of(options.operation.counted_call()).count;
        Some(rows(options, &worker.noted, count))
    };
    let file = |thread: u32| {
        let path = format!("{directory}/rsptimes_{thread:02}_{host}_{name}_{start:?}.csv");
        (path, rows_of(thread as usize).unwrap_or_default())
    };
    (0..options.threads).map(file).collect()
}

/// A line per operation of a thread, which has finished `count` of its files or listings.
fn rows(options: &SmallfileOptions, calls: &[LoggedRequest], count: u64) -> String {
    let name = options.operation.name();
    match options.operation.effect {
        // Each call is an operation, and a directory is listed before its first file.
        FileEffect::ListAndStat => {
            let mut last = None;
            let lines = calls
                .iter()
                .zip(calls.iter().skip(1).map(Some).chain([None]));
            let lines = lines.map(|(call, next)| {
                let file = call.request.part_index;
                let is_listing = last.replace(file) != Some(file)
                    && next.is_some_and(|it| it.request.part_index == file);
                let kind = if is_listing { "readdir" } else { "stat" };
                line(&format!("{name}-{kind}"), std::slice::from_ref(call))
            });
            lines.collect()
        }
        _ => {
            let by_file = |one: &LoggedRequest, other: &LoggedRequest| {
                one.request.part_index == other.request.part_index
            };
            // The stonewall may have stopped the last one.
            let operations = calls.chunk_by(by_file).take(count as usize);
            operations.map(|calls| line(name, calls)).collect()
        }
    }
}

/// The line of an operation, which may make several calls.
fn line(name: &str, calls: &[LoggedRequest]) -> String {
    let (Some(first), Some(last)) = (calls.first(), calls.last()) else {
        return String::new();
    };
    let start_ns = first.request.due_ns;
    let start = start_ns as f64 / NS_PER_SECOND;
    let duration = last.done_ns.saturating_sub(start_ns) as f64 / NS_PER_SECOND;
    format!("{name:>8}, {start:9.6}, {duration:9.6}\n")
}
