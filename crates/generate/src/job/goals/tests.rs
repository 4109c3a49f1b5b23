//! Goals with exact times: a device that takes as long as the test says.

use engine::StepClock;
use engine::clock::Clock;
use plan::job::{DepthTarget, MinRate, PerDirection, RateFloor, ReadWriteMix};

use super::*;
use crate::job::JobStream;
use crate::job::tests::plan;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

/// Runs a job on slots that answer after `delay_ns` of what is in flight; until when, and how many
/// requests were done.
fn run(plan: &JobPlan, delay_ns: impl Fn(u64, u32) -> u64) -> (Arc<GoalProgress>, u64, u64) {
    let board = Arc::new(GoalProgress::default());
    let stream = JobStream::new(plan, 1).unwrap();
    let mut watched = GoalLimited::new(stream, plan, Arc::clone(&board));
    let clock = StepClock::new();
    clock.advance_to(SECOND);
    // By slot: when what is in flight is done.
    let mut flights: Vec<Option<(u64, u32)>> = vec![None; plan.iodepth as usize];
    let mut count = 0;
    loop {
        let now_ns = clock.now_ns();
        let mut until_ns = u64::MAX;
        for slot in 0..plan.iodepth {
            if flights[slot as usize].is_some() {
                continue;
            }
            match watched.next(slot, now_ns) {
                Step::Issue(request) => {
                    let in_flight = flights.iter().flatten().count() as u32 + 1;
                    let done_ns = now_ns + delay_ns(now_ns - SECOND, in_flight);
                    flights[slot as usize] = Some((done_ns, request.length_bytes));
                }
                Step::Wait { until_ns: at_ns } => until_ns = until_ns.min(at_ns),
                Step::Park | Step::Finished | Step::Again => {}
            }
        }
        let first = flights.iter().enumerate();
        let first = first.filter_map(|(slot, it)| it.map(|(at_ns, bytes)| (at_ns, slot, bytes)));
        match first.min() {
            Some((at_ns, ..)) if until_ns < at_ns => clock.advance_to(until_ns),
            Some((at_ns, slot, bytes)) => {
                clock.advance_to(at_ns);
                flights[slot] = None;
                count += 1;
                let completion = Completion {
                    slot: slot as u32,
                    result: bytes as i32,
                };
                watched.complete(completion, at_ns);
            }
            None if until_ns < u64::MAX => clock.advance_to(until_ns),
            None => return (board, clock.now_ns() - SECOND, count),
        }
    }
}

fn floor(per_second: u64, is_of_bytes: bool) -> Option<RateFloor> {
    let least = MinRate {
        per_second,
        is_of_bytes,
    };
    Some(RateFloor {
        least: PerDirection {
            read: Some(least),
            write: None,
        },
        window_ns: SECOND / 2,
        settle_ns: 2 * SECOND,
    })
}

#[test]
fn a_settled_job_ends_in_the_first_window_below_its_minimum_rate() {
    let mut slow = plan(ReadWriteMix::Read, 1 << 30);
    slow.goals.rate_floor = floor(1000, false);
    // 100 a second: the window from 2 s to 2.5 s is the first.
    let (board, end_ns, count) = run(&slow, |_, _| 10 * MS);
    let missed = *board.missed().unwrap();
    assert_eq!((end_ns, count), (2 * SECOND + SECOND / 2, 250));
    assert_eq!(missed.kind, MissKind::Iops);
    assert_eq!(
        (missed.wanted, missed.seen, missed.at_ns),
        (1000, 100, end_ns)
    );
    assert_eq!(board.counts().requests, 250);
    slow.goals.rate_floor = floor(1 << 20, true);
    let (board, end_ns, _) = run(&slow, |_, _| 10 * MS);
    let missed = *board.missed().unwrap();
    assert_eq!((missed.kind, missed.seen), (MissKind::Bandwidth, 409_600));
    assert_eq!(end_ns, 2 * SECOND + SECOND / 2);
}

#[test]
fn a_job_continues_as_long_as_it_keeps_its_minimum_rate() {
    let mut job = plan(ReadWriteMix::Read, 4 << 20);
    job.goals.rate_floor = floor(100, false);
    let (board, _, count) = run(&job, |_, _| 10 * MS);
    assert_eq!((board.missed(), count), (None, 1024));
    // From 4 s on it takes ten times as long.
    let (board, end_ns, _) = run(&job, |now_ns, _| match now_ns < 4 * SECOND {
        true => 10 * MS,
        false => 100 * MS,
    });
    assert_eq!(board.missed().unwrap().seen, 10);
    assert_eq!(end_ns, 4 * SECOND + SECOND / 2);
}

#[test]
fn minimum_rates_do_not_apply_in_the_ramp_and_grace_period() {
    let mut job = plan(ReadWriteMix::Read, 1 << 30);
    job.ramp_time_ns = 3 * SECOND;
    job.goals.rate_floor = floor(1000, false);
    let (board, end_ns, _) = run(&job, |_, _| 10 * MS);
    assert_eq!(end_ns, 5 * SECOND + SECOND / 2);
    assert_eq!(board.missed().unwrap().at_ns, end_ns - 3 * SECOND);
}

#[test]
fn a_direction_below_its_minimum_rate_is_noticed_despite_the_other() {
    let mut job = plan(ReadWriteMix::Both { read_percent: 50.0 }, 1 << 30);
    job.goals.rate_floor = floor(60, false);
    // Reads and writes are about 50 a second each, and only reads have to be more.
    let (board, ..) = run(&job, |_, _| 10 * MS);
    let missed = board.missed().unwrap();
    assert_eq!(missed.request.operation, Operation::Read);
    assert!(missed.seen < 60);
}

#[test]
fn one_request_above_the_largest_latency_ends_a_job() {
    let mut job = plan(ReadWriteMix::Read, 1 << 20);
    job.goals.latency_ns_max.read = Some(20 * MS);
    let (board, _, count) = run(&job, |now_ns, _| match now_ns {
        1_000_000_000 => 20 * MS + 1,
        _ => 20 * MS,
    });
    let missed = *board.missed().unwrap();
    assert_eq!((count, missed.kind), (51, MissKind::Latency));
    assert_eq!((missed.wanted, missed.seen), (20 * MS, 20 * MS + 1));
    assert_eq!(missed.request.offset_bytes, 50 * 4096);
    // The limit of writes is nothing to reads.
    job.goals.latency_ns_max = PerDirection {
        read: None,
        write: Some(1),
    };
    let (board, _, count) = run(&job, |_, _| 20 * MS);
    assert_eq!((board.missed(), count), (None, 256));
}

fn searching(percentile: f64, goes_on: bool) -> JobPlan {
    let mut job = plan(ReadWriteMix::Read, 1 << 30);
    job.iodepth = 64;
    job.goals.depth_target = Some(DepthTarget {
        latency_ns: 10 * MS,
        window_ns: 100 * MS,
        percentile,
        goes_on,
    });
    job
}

#[test]
fn the_largest_depth_within_the_latency_target_is_found() {
    // So many milliseconds as requests are in flight, up to ten of them within the target.
    for percentile in [100.0, 90.0] {
        let (board, _, _) = run(&searching(percentile, false), |_, depth| {
            MS * u64::from(depth)
        });
        assert_eq!(board.depth().depth, 10, "{percentile}");
        assert_eq!(board.depth().kept, Some(true));
        assert!(board.is_settled() && board.missed().is_none());
    }
}

#[test]
fn a_device_within_the_target_at_every_depth_gets_the_largest_depth() {
    let (board, end_ns, _) = run(&searching(100.0, false), |_, _| MS);
    assert_eq!((board.depth().depth, board.is_settled()), (64, true));
    // Depths 1, 2, 4, 8, 16, 32 and 64, and 64 once more.
    assert_eq!(end_ns, 800 * MS);
}

#[test]
fn a_maximum_depth_that_alone_misses_the_target_is_not_tried_forever() {
    let (board, ..) = run(&searching(100.0, false), |_, depth| match depth {
        64 => 20 * MS,
        _ => MS,
    });
    assert_eq!(board.depth().depth, 63);
}

#[test]
fn no_depth_is_an_error_only_if_every_request_must_meet_the_target() {
    let (board, end_ns, count) = run(&searching(100.0, false), |_, _| 11 * MS);
    let missed = *board.missed().unwrap();
    assert_eq!(
        (missed.kind, missed.wanted),
        (MissKind::DepthLatency, 10 * MS)
    );
    assert_eq!((end_ns, count), (11 * MS, 1));
    let mut job = searching(90.0, false);
    job.stream.end.bytes = 1 << 20;
    let (board, _, count) = run(&job, |_, _| 11 * MS);
    assert_eq!((board.missed(), count), (None, 256));
    let result = board.depth();
    assert_eq!(
        (result.depth, result.kept, board.is_settled()),
        (1, Some(false), false)
    );
}

#[test]
fn a_continuous_search_follows_the_device() {
    let mut job = searching(100.0, true);
    job.stream.end.bytes = 64 << 20;
    // It becomes half as fast.
    let (board, end_ns, count) = run(&job, |now_ns, depth| {
        let service_ns = if now_ns < 5 * SECOND { MS } else { 2 * MS };
        service_ns * u64::from(depth)
    });
    assert_eq!(count, 16384);
    assert!(end_ns > 6 * SECOND && !board.is_settled());
    let depth = board.depth().depth;
    assert!((4..=6).contains(&depth), "{depth}");
}

#[test]
fn a_job_ended_by_another_issues_no_more_requests() {
    let job = plan(ReadWriteMix::Read, 1 << 30);
    let board = Arc::new(GoalProgress::default());
    let stream = JobStream::new(&job, 1).unwrap();
    let mut watched = GoalLimited::new(stream, &job, Arc::clone(&board));
    assert_eq!(board.begin_ns(), None);
    assert!(matches!(watched.next(0, 7), Step::Issue(_)));
    assert_eq!(board.begin_ns(), Some(7));
    watched.complete(
        Completion {
            slot: 0,
            result: 4096,
        },
        9,
    );
    board.end();
    assert_eq!(watched.next(0, 9), Step::Finished);
    assert!(!board.has_left());
    drop(watched);
    assert!(board.has_left());
    let counts = GoalCounts {
        requests: 1,
        bytes: 4096,
        latency_ns: 2,
    };
    assert_eq!(board.counts(), counts);
}
