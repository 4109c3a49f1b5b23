//! Records for tests of texts.

use plan::FrontOrigin;
use results::{RoundFigures, RunRecord, WorkerTimes, WorkerWindow};
use serde_json::{Value, json};

/// A record of one cell of that origin, whose phases had these rounds.
pub fn record(origin: &FrontOrigin, phases: &[(&str, Vec<RoundFigures>)]) -> RunRecord {
    let cells: Vec<Value> = phases
        .iter()
        .map(|(name, rounds)| {
            json!({
                "index": 0, "workload": origin.name, "target": "/mnt/x", "engine": "psync",
                "cache": "buffered", "iodepth": 1, "workers": 1, "ranks": 1, "repetition": 0,
                "phase": name, "status": "complete", "run_time_ns": 1, "ramp_time_ns": 0,
                "operations": {}, "total": results::OperationFigures::default(),
                "phase_figures": { "rounds": rounds },
            })
        })
        .collect();
    let record = json!({
        "format": results::FORMAT,
        "id": "a", "started_at": "2026-11-21T01:36:54Z", "finished_at": "2026-11-21T01:36:55Z",
        "pgmeter": { "version": "0" }, "command": [], "status": "complete",
        "plan": {
            "workloads": [{
                "name": origin.name, "title": "", "source": "", "front": origin,
            }],
            "targets": [{
                "path": "/mnt/x", "kind": "directory", "size_bytes": 0, "block_bytes": 512,
            }],
            "cells": [], "seed": 1, "settings": [],
        },
        "environment": {
            "host": "vm", "directory": "/",
            "file_systems": [{
                "size_bytes": 47_u64 << 29, "free_bytes": 45_u64 << 29, "inodes": 3_040_870,
                "free_inodes": 3_040_000,
            }],
        },
        "cells": cells,
    });
    RunRecord::from_json(&record.to_string()).unwrap()
}

/// A round of workers, of each of which that many transactions took that many nanoseconds.
pub fn round(workers: &[(u64, u64)]) -> RoundFigures {
    let times = |&(count, time_ns): &(u64, u64)| WorkerTimes {
        time_ns,
        window: Some(WorkerWindow {
            body_end_ns: time_ns,
            end_ns: time_ns,
            rounds: count,
            calls: count,
            ..WorkerWindow::default()
        }),
        ..WorkerTimes::default()
    };
    RoundFigures {
        file_count: workers.iter().map(|(count, _)| count).sum(),
        time_ns: workers.iter().map(|(_, ns)| *ns).max().unwrap_or(0),
        workers: workers.iter().map(times).collect(),
        ..RoundFigures::default()
    }
}
