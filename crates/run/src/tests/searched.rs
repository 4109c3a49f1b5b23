//! Jobs with a search for the depth: the part that is measured, with exact times.

use generate::job::{GoalLimited, GoalProgress, JobStream};
use plan::job::{
    BlockRule, DepthTarget, JobFile, JobGoals, JobPlan, ReadWriteMix, SizeRule, StreamEnd,
    StreamPlan,
};

use super::*;
use crate::pace::{ClosedLoop, Pace};

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
    let end = StreamEnd {
        bytes: u64::MAX,
        requests: None,
        loops: None,
        starts_over: true,
    };
    JobPlan {
        iodepth: 16,
        files: vec![JobFile {
            file_index: 0,
            start_bytes: 0,
            size_bytes: 256 * MIB,
        }],
        ramp_time_ns: ramp_ns,
        run_time_ns: run_ns,
        goals,
        ..JobPlan::new(
            EngineKind::Null,
            StreamPlan::sequential(ReadWriteMix::Read, block, end),
        )
    }
}

/// Measures a job on a device whose delay depends on the depth that the search tries.
fn measured(job: &JobPlan, delay_ns: impl Fn(u32) -> u64) -> (WorkerOutcome, Arc<GoalProgress>) {
    let cell = cell(16, vec![worker(0, 16, vec![line(4096, 100.0, 0.0)])]);
    let (lane, mut recorder) = scripted(&cell, job.run_time_ns, job.ramp_time_ns);
    let board = Arc::new(GoalProgress::default());
    recorder.measure_after_search(Arc::clone(&board));
    let clock = StepClock::new();
    let shared = Arc::clone(&board);
    let script = |request: &engine::Request, _: &mut [u8]| engine::ScriptedOutcome {
        delay_ns: delay_ns(shared.depth().depth),
        result: request.length_bytes as i32,
    };
    let parts = LoopParts {
        engine: Scripted::new(16, 4096, clock.clone(), script).unwrap(),
        recorder,
        clock,
        batch: Batch::fixed(1),
    };
    let stream = JobStream::new(job, 1).unwrap();
    let stream = GoalLimited::new(stream, job, Arc::clone(&board));
    let plain = contents().source.plain(lane.plan.seed);
    let outcome = ClosedLoop.run(parts, stream, plain).unwrap();
    (outcome, board)
}

fn total(outcome: &WorkerOutcome) -> (u64, u64) {
    let total = outcome.last_sample.spans[0].total();
    (total.count(), outcome.measured_ns)
}

#[test]
fn the_result_is_the_last_window_at_the_found_depth() {
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
fn an_endless_search_reports_everything_after_the_ramp() {
    let (outcome, board) = measured(&job(SECOND_NS, 50 * MS), |_| 5 * MS);
    assert!(!board.is_settled());
    let (count, measured_ns) = total(&outcome);
    // Ten requests in 50 ms, in the first window at a depth of 1.
    assert!((50 * MS..=56 * MS).contains(&measured_ns), "{measured_ns}");
    assert!((10..=11).contains(&count), "{count}");
    assert!(!outcome.last_sample.ramp);
}
