//! Made-up runs.

use std::collections::BTreeMap;

use generate::Rng;
use plan::Plan;
use results::{
    CellRecord, Environment, IntervalFigures, IntervalRecord, OperationFigures, RunRecord, Status,
};
use serde_json::{Value, json};

/// Samples of each cell, so that a 99th percentile is supported.
const SAMPLE_COUNT: u64 = 100_000;

/// A plan of one workload with a cell of each iodepth, on one target.
pub fn plan(iodepths: &[u32], target: &str) -> Value {
    let cells: Vec<Value> = iodepths
        .iter()
        .enumerate()
        .map(|(index, iodepth)| planned(index, *iodepth))
        .collect();
    json!({
        "workloads": [{"name": "random-read", "title": "Random read", "source": "made up"}],
        "targets": [{
            "path": target, "kind": "directory", "size_bytes": 1 << 30, "block_bytes": 512,
        }],
        "cells": cells,
        "seed": 7,
        "settings": [
            setting("run_time", "30s"), setting("size", "1GiB"), setting("targets", target),
        ],
    })
}

pub fn setting(key: &str, value: &str) -> Value {
    json!({"workload": "random-read", "key": key, "value": value, "source": "default"})
}

fn planned(index: usize, iodepth: u32) -> Value {
    json!({
        "index": index, "workload": "random-read", "access_spec": "4 KiB random read",
        "engine": "io_uring", "cache": "direct", "iodepth": iodepth, "repetition": 0,
        "run_time_ns": 30_000_000_000_u64, "ramp_time_ns": 0, "operations": null, "warm": false,
        "ring": {"sqpoll": false, "iopoll": false, "batch": 32},
        "workers": [{
            "worker_index": 0, "name": "worker 1", "access_spec": "4 KiB random read",
            "lines": [{
                "size_bytes": 4096, "of_size_percent": 100.0, "read_percent": 100.0,
                "random_percent": 100.0, "delay_ns": 0, "burst": 1, "align_bytes": 0,
                "reply_bytes": 0, "distribution": {"kind": "uniform"},
                "sequence": {"kind": "forward"},
            }],
            "spans": [{
                "target_index": 0, "iodepth": iodepth, "start_bytes": 0, "size_bytes": 1 << 30,
                "sector_bytes": 512,
            }],
            "seed": 11, "position": "uniform", "cursor": "worker",
            "content": {"kind": "incompressible"}, "verify": false,
            "transactions_per_connection": null, "cpu": null,
        }],
    })
}

/// A complete run without cells.
pub fn run(plan: Value) -> RunRecord {
    let plan: Plan = serde_json::from_value(plan).expect("a plan");
    let environment = Environment {
        kernel: "6.18".into(),
        ..Environment::default()
    };
    let mut run = RunRecord::new(plan, environment, vec!["pgmeter".into()]);
    run.finish(Status::Complete);
    run
}

/// A cell of which reads came at a rate, with intervals of a second each.
pub fn cell(
    plan: &Plan,
    index: usize,
    repetition: u32,
    rate: f64,
    intervals: &[f64],
) -> CellRecord {
    let planned = &plan.cells[index];
    let cell = json!({
        "index": index, "first_index": index,
        "workload": planned.workload, "access_spec": planned.access_spec,
        "target": plan.targets[0].path, "engine": planned.engine, "cache": planned.cache,
        "iodepth": planned.iodepth, "workers": planned.workers.len(), "ranks": 1,
        "repetition": repetition, "phase": "measure", "status": "complete",
        "run_time_ns": 30_000_000_000_u64, "ramp_time_ns": 0,
        "operations": {"read": {}}, "total": {},
    });
    let cell: CellRecord = serde_json::from_value(cell).expect("a cell's record");
    cell_at_rate(&cell, repetition, rate, intervals)
}

/// A cell like another at another rate.
pub fn cell_at_rate(
    cell: &CellRecord,
    repetition: u32,
    rate: f64,
    intervals: &[f64],
) -> CellRecord {
    let mut cell = cell.clone();
    let latency_ns = |rate: f64| f64::from(cell.iodepth) * 1e9 / rate;
    let mut figures = OperationFigures {
        count: SAMPLE_COUNT,
        bytes: SAMPLE_COUNT * 4096,
        per_second: rate,
        bytes_per_second: rate * 4096.0,
        ..OperationFigures::default()
    };
    figures.latency.count = SAMPLE_COUNT;
    figures.latency.mean_ns = Some(latency_ns(rate));
    figures.latency.percentiles_ns.p99 = Some((3.0 * latency_ns(rate)) as u64);
    cell.intervals = (0..)
        .zip(intervals)
        .map(|(second, rate)| IntervalRecord {
            at_ns: second * 1_000_000_000,
            length_ns: 1_000_000_000,
            operations: BTreeMap::from([(
                "read".to_owned(),
                IntervalFigures {
                    count: *rate as u64,
                    bytes: *rate as u64 * 4096,
                    p99_ns: Some((3.0 * latency_ns(*rate)) as u64),
                    ..IntervalFigures::default()
                },
            )]),
            ..IntervalRecord::default()
        })
        .collect();
    cell.operations.insert("read".to_owned(), figures.clone());
    cell.total = figures;
    cell.repetition = repetition;
    cell
}

/// A run of one cell at these rates, one a repetition.
pub fn measured(target: &str, rates: &[f64]) -> RunRecord {
    let mut run = run(plan(&[8], target));
    run.cells = (0..)
        .zip(rates)
        .map(|(repetition, rate)| cell(&run.plan, 0, repetition, *rate, &[]))
        .collect();
    run
}

/// A standard normal number.
pub fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

/// Intervals around `mean` that vary by `variation` (a share), each correlated with the one before.
pub fn intervals(rng: &mut Rng, count: usize, mean: f64, variation: f64) -> Vec<f64> {
    const PHI: f64 = 0.5;
    let mut state = normal(rng);
    (0..count)
        .map(|_| {
            let value = mean * (1.0 + variation * state);
            state = PHI * state + (1.0 - PHI * PHI).sqrt() * normal(rng);
            value
        })
        .collect()
}

/// A run of several repetitions; each one's rate varies by `between` and its intervals around that
/// by `within`.
pub fn simulated(rng: &mut Rng, rate: f64, (between, within): (f64, f64), n: u32) -> RunRecord {
    let mut run = run(plan(&[8], "/mnt/a"));
    let like = cell(&run.plan, 0, 0, rate, &[]);
    run.cells = (0..n)
        .map(|repetition| {
            let level = rate * (1.0 + between * normal(rng));
            let series = intervals(rng, 30, level, within);
            let mean = series.iter().sum::<f64>() / series.len() as f64;
            cell_at_rate(&like, repetition, mean, &series)
        })
        .collect();
    run
}
