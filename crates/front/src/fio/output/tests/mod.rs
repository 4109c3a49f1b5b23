//! Texts of records that were made by hand.

mod against_fio;
mod documents;
mod goals;
mod mismatch;
mod texts;

use results::{
    CellRecord, HistogramRecord, IntervalFigures, IntervalRecord, Latency, OperationFigures,
    RunRecord, ThreadUsage, WorkerFigures,
};
use serde_json::json;

use super::super::{JobSet, ParserEnvironment, read_arguments, read_file};
use super::*;

/// Jobs of a file.
fn jobs(text: &str) -> JobSet {
    read_file("test.fio", text.as_bytes(), &ParserEnvironment::EMPTY)
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Jobs of a command line.
fn jobs_and_options(line: &str) -> (JobSet, OutputOptions) {
    let words: Vec<String> = line.split_ascii_whitespace().map(str::to_owned).collect();
    let (invocation, set) =
        read_arguments(&words, &ParserEnvironment::EMPTY).unwrap_or_else(|error| panic!("{error}"));
    (set, OutputOptions::from(&invocation))
}

/// Latencies of one nanosecond's buckets.
fn latency(values_ns: &[u64]) -> Latency {
    let mut sorted = values_ns.to_vec();
    sorted.sort_unstable();
    let count = sorted.len() as u64;
    let sum_ns: u64 = sorted.iter().sum();
    let mean = sum_ns as f64 / count as f64;
    let squares: f64 = sorted.iter().map(|it| (*it as f64 - mean).powi(2)).sum();
    Latency {
        count,
        min_ns: sorted.first().copied(),
        max_ns: sorted.last().copied(),
        mean_ns: Some(mean),
        stddev_ns: Some((squares / count as f64).sqrt()),
        sum_ns,
        histogram: HistogramRecord {
            buckets_ns: sorted
                .chunk_by(|one, other| one == other)
                .map(|same| [same[0], same[0], same.len() as u64])
                .collect(),
            ..HistogramRecord::default()
        },
        ..Latency::default()
    }
}

/// An operation of 4 KiB each.
fn operation(latencies_ns: &[u64]) -> OperationFigures {
    OperationFigures {
        count: latencies_ns.len() as u64,
        bytes: latencies_ns.len() as u64 * 4096,
        latency: latency(latencies_ns),
        ..OperationFigures::default()
    }
}

/// Intervals of half a second with so many requests of 4 KiB in each.
fn intervals(name: &str, counts: &[u64]) -> Vec<IntervalRecord> {
    let interval = |(at, count): (usize, &u64)| IntervalRecord {
        at_ns: at as u64 * 500_000_000,
        length_ns: 500_000_000,
        operations: [(
            name.to_owned(),
            IntervalFigures {
                count: *count,
                bytes: count * 4096,
                p50_ns: (*count > 0).then_some(2000),
                max_ns: (*count > 0).then_some(9000),
                ..IntervalFigures::default()
            },
        )]
        .into(),
        ..IntervalRecord::default()
    };
    counts.iter().enumerate().map(interval).collect()
}

/// A worker of two seconds that did these operations.
fn worker(operations: &[(&str, OperationFigures)]) -> WorkerFigures {
    let operations = operations.iter().cloned();
    WorkerFigures {
        run_time_ns: 2_000_000_000,
        user_ns: 500_000_000,
        system_ns: 1_000_000_000,
        operations: operations.map(|(name, it)| (name.to_owned(), it)).collect(),
        usage: Some(ThreadUsage {
            voluntary_switches: 7,
            involuntary_switches: 2,
            minor_faults: 3,
            major_faults: 1,
        }),
        ..WorkerFigures::default()
    }
}

/// A worker that read, with its bandwidth over time.
fn reader(latencies_ns: &[u64], counts: &[u64]) -> WorkerFigures {
    WorkerFigures {
        intervals: intervals("read", counts),
        ..worker(&[("read", operation(latencies_ns))])
    }
}

/// A record of a run of three seconds whose waves had these workers.
fn record(waves: Vec<Vec<WorkerFigures>>) -> RunRecord {
    let cell = |(index, mut workers): (usize, Vec<WorkerFigures>)| {
        for (at, worker) in workers.iter_mut().enumerate() {
            worker.worker_index = at as u32;
        }
        let cell = json!({
            "index": index, "workload": "fio", "target": "/mnt/x", "engine": "psync",
            "cache": "buffered", "iodepth": 1, "workers": workers.len(), "ranks": 1,
            "repetition": 0, "phase": "measure", "status": "complete",
            "started_at": "2026-11-21T01:36:54.250Z", "run_time_ns": 2_000_000_000_u64,
            "ramp_time_ns": 0, "operations": {}, "total": OperationFigures::default(),
            "worker_figures": workers,
        });
        serde_json::from_value::<CellRecord>(cell).unwrap()
    };
    let mut record = RunRecord::from_json(
        &json!({
            "format": results::FORMAT,
            "id": "20261121-013654-000-1f", "started_at": "2026-11-21T01:36:54Z",
            "finished_at": "2026-11-21T01:36:57Z", "pgmeter": { "version": "0" }, "command": [],
            "status": "complete",
            "plan": {
                "workloads": [], "targets": [], "cells": [], "seed": 1, "settings": [],
            },
            "cells": [],
        })
        .to_string(),
    )
    .unwrap();
    record.cells = waves.into_iter().enumerate().map(cell).collect();
    record
}
