//! Simulated events.

use results::{ClusterRecord, HostRecord, Phase, RunEvent, SteadyVerdict, Warning, WarningCode};

use crate::sample;

pub fn started() -> RunEvent {
    RunEvent::Started {
        record: Box::new(results::RunRecord {
            id: "run-1".into(),
            ..sample::record()
        }),
    }
}

/// A run of four processes on two hosts.
pub fn started_by_four() -> RunEvent {
    let host = |name: &str, ranks| HostRecord {
        name: name.into(),
        ranks,
        ..HostRecord::default()
    };
    RunEvent::Started {
        record: Box::new(results::RunRecord {
            id: "run-1".into(),
            cluster: Some(ClusterRecord {
                ranks: 4,
                hosts: vec![host("a", vec![0, 1]), host("b", vec![2, 3])],
                ..ClusterRecord::default()
            }),
            ..sample::record()
        }),
    }
}

/// Like [`progress`], but for several processes.
pub fn progress_of_several(cell: u32, phase: Phase, elapsed_ns: u64) -> RunEvent {
    let mut event = progress(cell, phase, elapsed_ns);
    if let RunEvent::Progress { p50_ns, p99_ns, .. } = &mut event {
        (*p50_ns, *p99_ns) = (None, None);
    }
    event
}

pub fn prepare(done_bytes: u64, total_bytes: u64) -> RunEvent {
    RunEvent::Prepare {
        target: "/mnt/array".into(),
        done_bytes,
        total_bytes,
    }
}

pub fn cell_started(index: u32) -> RunEvent {
    RunEvent::CellStarted {
        index,
        count: 2,
        what: "File Server, iodepth 8".into(),
        budget_left_ns: None,
    }
}

pub fn progress(cell: u32, phase: Phase, elapsed_ns: u64) -> RunEvent {
    RunEvent::Progress {
        cell,
        phase,
        elapsed_ns,
        total_ns: 30_000_000_000,
        iops: 12_345.0,
        bytes_per_second: 12_345.0 * 8192.0,
        p50_ns: Some(150_000),
        p99_ns: Some(1_230_000),
        // 66 to 262 us, and some of 1 ms.
        octaves: [&[0; 16][..], &[100, 890, 0, 0, 10]].concat(),
        errors: 0,
    }
}

pub fn warning(message: &str) -> RunEvent {
    RunEvent::Warning {
        warning: Warning::of_run(WarningCode::StealTime, message),
    }
}

pub fn cell_done(index: usize) -> RunEvent {
    let plan = sample::plan();
    RunEvent::CellDone {
        record: Box::new(sample::cell_record(&plan, index, 10_000)),
    }
}

pub fn round(done: u32, verdict: SteadyVerdict, shares: Option<(f64, f64)>) -> RunEvent {
    RunEvent::Round {
        cell: 0,
        done,
        rounds_max: 25,
        verdict,
        range_share: shares.map(|it| it.0),
        excursion_share: shares.map(|it| it.1),
    }
}
