//! Jobs whose depth is looked for: what of them is measured, with exact time.

use generate::job::{GoalBoard, JobStream, Watched};
use workload::job::{
    BlockRule, DepthTarget, DurableWrites, FileOrder, JobFile, JobGoals, JobPlan, JobThread, Mix,
    PerDirection, SizeRule, StreamEnd, StreamPlan, SyncRule, Visits, Wrap,
};

use super::*;
use crate::pace::{Closed, Pace};

const MS: u64 = 1_000_000;

fn job(ramp_ns: u64, run_ns: u64) -> JobPlan {
    let block = BlockRule {
        sizes: SizeRule::Fixed { bytes: 4096 },
        align_bytes: 4096,
    };
    let goals = JobGoals {
        depth_target: Some(DepthTarget {
            latency_ns: 10 * MS,
            window_ns: 100 * MS,
            percentile: 100.0,
            goes_on: false,
        }),
        ..JobGoals::default()
    };
    JobPlan {
        engine: EngineKind::Null,
        cache: CacheMode::Buffered,
        ring: cell(1, Vec::new()).ring,
        durable: DurableWrites::No,
        iodepth: 16,
        files: vec![JobFile {
            file_index: 0,
            start_bytes: 0,
            size_bytes: 256 * MIB,
        }],
        start_delay_ns: 0,
        after: None,
        ends_others_on_error: false,
        ramp_time_ns: ramp_ns,
        run_time_ns: run_ns,
        ends_others: false,
        goes_on_after_errors: false,
        stream: StreamPlan {
            mix: Mix::Read,
            random_percent: PerDirection::both(0.0),
            run_length: 1,
            wrap: Wrap::Onward,
            step_bytes: 0,
            blocks: PerDirection {
                read: block.clone(),
                write: block,
            },
            visits: Visits::Once,
            file_order: FileOrder::RoundRobin,
            requests_per_file: 1,
            zones: None,
            end: StreamEnd {
                bytes: u64::MAX,
                requests: None,
                loops: None,
                starts_over: true,
            },
            sync: SyncRule::default(),
            think: None,
            pace: PerDirection::default(),
            read_back: None,
            is_to_the_letter: false,
        },
        recorded: None,
        names: None,
        thread: JobThread::default(),
        goals,
        is_noted: false,
    }
}

/// Measures a job on a device that takes so long at the depth that is looked for.
fn measured(job: &JobPlan, delay_ns: impl Fn(u32) -> u64) -> (Outcome, Arc<GoalBoard>) {
    let cell = cell(16, vec![worker(0, 16, vec![line(4096, 100.0, 0.0)])]);
    let (lane, mut recorder) = scripted(&cell, job.run_time_ns, job.ramp_time_ns);
    let board = Arc::new(GoalBoard::default());
    recorder.measure_found(Arc::clone(&board));
    let clock = StepClock::new();
    let seen = Arc::clone(&board);
    let script = |request: &engine::Request, _: &mut [u8]| engine::Outcome {
        delay_ns: delay_ns(seen.depth().depth),
        result: request.length_bytes as i32,
    };
    let parts = Parts {
        engine: Scripted::new(16, 4096, clock.clone(), script).unwrap(),
        recorder,
        clock,
        batch: Batch::fixed(1),
    };
    let stream = JobStream::new(job, 1).unwrap();
    let stream = Watched::new(stream, job, Arc::clone(&board));
    let plain = contents().source.plain(lane.plan.seed);
    let outcome = Closed.run(parts, stream, plain).unwrap();
    (outcome, board)
}

fn total(outcome: &Outcome) -> (u64, u64) {
    let total = outcome.rest.spans[0].total();
    (total.count(), outcome.measured_ns)
}

#[test]
fn what_is_measured_is_the_last_window_at_the_depth_that_was_found() {
    // Depths of 5 and more are too much: 4 remains.
    let (outcome, board) = measured(&job(0, 60 * SECOND_NS), |depth| match depth {
        ..=4 => 10 * MS,
        _ => 11 * MS,
    });
    assert_eq!(board.depth().depth, 4);
    assert!(board.is_settled() && !outcome.stopped);
    let (count, measured_ns) = total(&outcome);
    // A hundred milliseconds at depth 4, of which the recorder heard within one.
    assert!((98 * MS..=111 * MS).contains(&measured_ns), "{measured_ns}");
    assert!((36..=44).contains(&count), "{count}");
}

#[test]
fn a_search_without_an_end_is_what_is_measured_without_the_ramp() {
    let (outcome, board) = measured(&job(SECOND_NS, 50 * MS), |_| 5 * MS);
    assert!(!board.is_settled());
    let (count, measured_ns) = total(&outcome);
    // Ten requests in 50 ms, in the first window at a depth of 1.
    assert!((50 * MS..=56 * MS).contains(&measured_ns), "{measured_ns}");
    assert!((10..=11).contains(&count), "{count}");
    assert!(!outcome.rest.ramp);
}
