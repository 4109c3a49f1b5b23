//! Requests that begin when they are due.

use plan::{ArrivalKind, OpenLoop};
use stats::{Counter, KolmogorovSmirnov};

use super::*;

fn paced(iodepth: u32, worker_count: u32, per_second: f64, arrivals: ArrivalKind) -> Cell {
    let workers = (0..worker_count).map(|it| worker(it, iodepth, vec![line(4096, 100.0, 100.0)]));
    Cell {
        rate: Some(OpenLoop {
            per_second,
            arrivals,
        }),
        ..cell(iodepth, workers.collect())
    }
}

fn lasting(cell: &Cell, seconds: u64) -> Cell {
    Cell {
        run_time_ns: seconds * SECOND_NS,
        ..cell.clone()
    }
}

/// Runs the cell's only worker for some seconds after its ramp on a device that answers after
/// `delay_ns` of the time; the times at which requests were issued come back, too.
fn on_device(
    cell: &Cell,
    seconds: u64,
    mut delay_ns: impl FnMut(u64) -> u64,
) -> (WorkerOutcome, Vec<u64>) {
    let cell = &lasting(cell, seconds);
    let (mut lane, recorder) = scripted(cell, seconds * SECOND_NS, cell.ramp_time_ns);
    // A step clock advances only during a sleep.
    lane.pace.as_mut().unwrap().polls_clock = false;
    let clock = StepClock::new();
    let (watch, mut issued_ns) = (clock.clone(), Vec::new());
    let script = |request: &engine::Request, _: &mut [u8]| {
        issued_ns.push(watch.now_ns());
        engine::ScriptedOutcome {
            delay_ns: delay_ns(watch.now_ns()),
            result: request.length_bytes as i32,
        }
    };
    let engine = Scripted::new(lane.slot_count(), 4096, clock.clone(), script).unwrap();
    let parts = LoopParts {
        engine,
        recorder,
        clock,
        batch: Batch::fixed(32),
    };
    let requests = lane.requests().unwrap();
    let outcome = with_requests(parts, requests, &lane, &contents()).unwrap();
    (outcome, issued_ns)
}

fn reads(outcome: &WorkerOutcome) -> &Counter {
    let read = Operation::Read as usize;
    outcome.last_sample.spans[0].operation(read).unwrap()
}

fn due(outcome: &WorkerOutcome) -> generate::DueCounts {
    outcome
        .open_loop_end
        .as_ref()
        .unwrap()
        .backlog
        .counts()
        .clone()
}

/// The figures of a cell that had one worker with one lane.
fn figures(cell: &Cell, outcome: WorkerOutcome) -> results::DueFigures {
    let lane = lanes(cell, 7, 1).unwrap().remove(0);
    let spans = outcome.last_sample.spans.clone();
    let lanes = vec![crate::measured::MeasuredLane {
        goals: None,
        series: Vec::new(),
        lane,
        spans,
        outcome,
    }];
    crate::due::due_figures(&MeasuredCell {
        lanes,
        intervals: Vec::new(),
        engine_notes: results::EngineNotes::default(),
        transaction_kinds: generate::named(generate::RESPONSE_KINDS),
        measure_ns: cell.ramp_time_ns,
        standstills: Vec::new(),
        steady: None,
    })
}

#[test]
fn evenly_spaced_requests_start_to_the_nanosecond_without_drift() {
    for rate in [1e3, 3e4, 1e5, 3e5] {
        let cell = paced(32, 1, rate, ArrivalKind::Uniform);
        let (outcome, issued_ns) = on_device(&cell, 2, |_| 700);
        for (index, issued_ns) in issued_ns.iter().enumerate() {
            let due_ns = (index as u128 * 1_000_000_000 / rate as u128) as u64;
            assert_eq!(*issued_ns, due_ns, "request {index} at {rate}/s");
        }
        let achieved = reads(&outcome).count() as f64 / 2.0;
        assert!((achieved / rate - 1.0).abs() < 1e-3, "{achieved} of {rate}");
        let due = due(&outcome);
        assert_eq!(due.responses.latency().max_ns(), Some(700));
        assert_eq!(due.responses.count(), 2 * rate as u64);
        assert_eq!((due.late_count, due.lateness_ns_max), (0, 0));
    }
}

#[test]
fn poisson_requests_have_the_requested_rate_and_exponential_gaps() {
    for rate in [1e3, 3e4, 1e5, 3e5] {
        let cell = paced(512, 1, rate, ArrivalKind::Poisson);
        let (outcome, issued_ns) = on_device(&cell, 1, |_| 700);
        let count = issued_ns.len() as f64;
        assert!((count - rate).abs() < 3.0 * rate.sqrt(), "{count}");
        assert!((reads(&outcome).count() as f64 - count).abs() < 10.0);
        let gap = |pair: &[u64]| (pair[1] - pair[0]) as f64;
        let gaps: Vec<f64> = issued_ns.windows(2).map(gap).collect();
        let test = KolmogorovSmirnov::exponential(&gaps, 1e9 / rate).unwrap();
        assert!(test.p_value > 0.01, "{test:?} at {rate}/s");
    }
}

#[test]
fn a_stall_of_two_seconds_is_seen_in_a_third_of_the_response_times() {
    let cell = paced(8, 1, 1e3, ArrivalKind::Uniform);
    let stall = 2 * SECOND_NS..4 * SECOND_NS;
    let delay_ns = |now_ns| match stall.contains(&now_ns) {
        true => stall.end - now_ns,
        false => 100_000,
    };
    let (outcome, _) = on_device(&cell, 6, delay_ns);
    let (reads, due) = (reads(&outcome), due(&outcome));
    let responses = &due.responses;
    assert_eq!((responses.count(), reads.count()), (6000, 6000));
    assert!(
        (1980..=2050).contains(&due.late_count),
        "{}",
        due.late_count
    );
    assert_eq!((due.lateness_ns_max, due.left_count), (1_992_000_000, 0));
    assert_eq!(responses.latency().max_ns(), Some(2 * SECOND_NS));
    let at = |counter: &Counter, percent| counter.latency().percentile(percent).unwrap();
    assert!(at(responses, 99.0) > 19 * SECOND_NS / 10);
    assert!(at(responses, 70.0) > SECOND_NS / 10);
    assert!(at(responses, 60.0) < 110_000);
    // From queued to reaped, the stall is eight requests of six thousand.
    assert!(at(reads, 99.8) < 110_000);
}

#[test]
fn a_stall_at_the_end_counts_in_response_times_to_the_nanosecond() {
    for iodepth in [1, 8] {
        let cell = paced(iodepth, 1, 1e3, ArrivalKind::Uniform);
        // It lasts over the last second and 0.3 s more.
        let stall = 9 * SECOND_NS..10_300_000_000;
        let delay_ns = |now_ns| match stall.contains(&now_ns) {
            true => stall.end - now_ns,
            false => 100_000,
        };
        let (outcome, issued_ns) = on_device(&cell, 10, delay_ns);
        // Those due at 0 ms, 1 ms, ... 8999 ms were answered in time.
        assert_eq!(reads(&outcome).count(), 9000);
        assert_eq!(outcome.measured_ns, 10 * SECOND_NS);
        assert_eq!(
            issued_ns.len(),
            10_000,
            "each that was due began, and no other"
        );
        let all = figures(&cell, outcome);
        assert_eq!((all.responses.count(), all.censored_count), (10_000, 0));
        assert_eq!(all.responses.max_ns(), Some(1_300_000_000));
        // `depth` requests were in flight, and the others follow in groups of `depth`.
        let depth = u64::from(iodepth);
        let turns = (1000 - depth).div_ceil(depth);
        assert_eq!(all.drain_ns, 300_000_000 + turns * 100_000);
        assert_eq!(all.lateness_max_ns, 1_300_000_000 - depth * 1_000_000);
        assert_eq!(all.backlog_end, 1000 - depth);
        assert_eq!(all.late_count, 1000 - depth);
        // The request due at 9.1 s waits for the hundred requests before it.
        let exact_ns = 1_200_000_000 + (100 / depth) * 100_000;
        let p99_ns = all.responses.percentile(99.0).unwrap();
        assert!(p99_ns.abs_diff(exact_ns) <= exact_ns / 128, "{p99_ns}");
    }
}

#[test]
fn requests_due_in_the_ramp_count_in_no_response_time() {
    let mut cell = paced(4, 1, 1e3, ArrivalKind::Uniform);
    cell.ramp_time_ns = SECOND_NS;
    // Answers of requests of the ramp come in the measurement.
    let stall = 500_000_000..1_200_000_000;
    let delay_ns = |now_ns| match stall.contains(&now_ns) {
        true => stall.end - now_ns,
        false => 100_000,
    };
    let (outcome, _) = on_device(&cell, 2, delay_ns);
    assert!(reads(&outcome).count() > 2400);
    let all = figures(&cell, outcome);
    assert_eq!(all.responses.count(), 2000);
    // The first measured request waits for 496 requests of the ramp, four at a time.
    let first_ns = 200_000_000 + 125 * 100_000;
    assert_eq!(all.responses.max_ns(), Some(first_ns));
}

#[test]
fn requests_that_cannot_be_drained_count_with_their_waiting_time() {
    // 2000 are due and one a second begins; the limit is 10 s.
    let cell = paced(1, 1, 1e3, ArrivalKind::Uniform);
    let (outcome, issued_ns) = on_device(&cell, 2, |_| SECOND_NS);
    assert_eq!(reads(&outcome).count(), 2);
    assert_eq!(issued_ns.last(), Some(&(11 * SECOND_NS)));
    let all = figures(&cell, outcome);
    assert_eq!(all.responses.count(), 2000);
    assert_eq!(all.censored_count, 2000 - 12);
    // Nothing more began at 12 s, and the last was due at 1.999 s.
    assert_eq!(all.censored_min_ns, Some(10_001_000_000));
    // The last that was answered was due at 0.011 s.
    assert_eq!(all.responses.max_ns(), Some(12 * SECOND_NS - 11_000_000));
    assert_eq!(all.drain_ns, 10 * SECOND_NS);
    assert_eq!(all.backlog_end, 2000 - 2);
}

#[test]
fn a_backlog_of_billions_is_reported_in_bounded_time() {
    for arrivals in [ArrivalKind::Uniform, ArrivalKind::Poisson] {
        let cell = paced(1, 1, 1e7, arrivals);
        let (outcome, _) = on_device(&cell, 600, |_| 4 * SECOND_NS);
        let all = figures(&cell, outcome);
        let due = all.responses.count() as f64 / 6e9;
        assert!((due - 1.0).abs() < 1e-3, "{due}");
        // Due times are spread evenly from 0 to 600 s, and nothing more began at 660 s.
        let p50_s = all.responses.percentile(50.0).unwrap() as f64 / 1e9;
        assert!((p50_s / 360.0 - 1.0).abs() < 0.02, "{p50_s}");
        let min_ns = all.censored_min_ns.unwrap();
        assert!(
            (59 * SECOND_NS..62 * SECOND_NS).contains(&min_ns),
            "{min_ns}"
        );
    }
}

#[test]
fn stopping_the_run_stops_waiting_for_due_requests() {
    let cell = lasting(&paced(2, 1, 1e3, ArrivalKind::Uniform), 2);
    let (mut lane, recorder) = scripted(&cell, 2 * SECOND_NS, 0);
    lane.pace.as_mut().unwrap().polls_clock = false;
    let clock = StepClock::new();
    let (watch, stop) = (clock.clone(), recorder.stop());
    let script = |request: &engine::Request, _: &mut [u8]| {
        // Someone has had enough a second after the end.
        if watch.now_ns() >= 3 * SECOND_NS {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        engine::ScriptedOutcome {
            delay_ns: SECOND_NS / 2,
            result: request.length_bytes as i32,
        }
    };
    let parts = LoopParts {
        engine: Scripted::new(2, 4096, clock.clone(), script).unwrap(),
        recorder,
        clock,
        batch: Batch::fixed(32),
    };
    let requests = lane.requests().unwrap();
    let outcome = with_requests(parts, requests, &lane, &contents()).unwrap();
    assert!(!outcome.stopped, "what was to be measured is");
    let all = figures(&cell, outcome);
    // Requests in flight are awaited, because the kernel still uses their buffers.
    assert_eq!(all.responses.count(), 2000);
    assert!((1986..=1987).contains(&all.censored_count), "{all:?}");
    assert!(all.drain_ns <= 1_510_000_000, "{}", all.drain_ns);
}

#[test]
fn a_rate_beyond_the_device_leaves_a_backlog() {
    let cell = paced(1, 1, 1e3, ArrivalKind::Uniform);
    let (outcome, _) = on_device(&cell, 4, |_| 2_000_000);
    assert_eq!(reads(&outcome).count(), 2000);
    let all = figures(&cell, outcome);
    assert_eq!((all.backlog_end, all.censored_count), (2000, 0));
    // The run takes twice as long as requested; the last due request waited for half of that.
    assert_eq!(all.lateness_max_ns, 3999 * 1_000_000);
    assert_eq!(all.drain_ns, 4 * SECOND_NS);
}

#[test]
fn lateness_in_the_ramp_does_not_count() {
    // Too slow for its rate at first; it has caught up before the ramp ends.
    let delay_ns = |now_ns| match now_ns < SECOND_NS / 2 {
        true => 2_000_000,
        false => 100_000,
    };
    let mut cell = paced(1, 1, 1e3, ArrivalKind::Uniform);
    let late = |cell: &Cell| {
        let due = due(&on_device(cell, 1, delay_ns).0);
        (due.late_count, due.lateness_ns_max)
    };
    let (late_count, lateness_ns) = late(&cell);
    assert!(late_count > 400 && lateness_ns > SECOND_NS / 5);
    cell.ramp_time_ns = SECOND_NS;
    assert_eq!(late(&cell), (0, 0));
}

#[test]
fn an_open_loop_record_has_response_times_and_backlog() {
    let mut cell = paced(4, 2, 2e3, ArrivalKind::Uniform);
    cell.run_time_ns = SECOND_NS / 2;
    let measured = run(&cell, &mut Vec::new());
    let plan = plan::Plan {
        workloads: Vec::new(),
        targets: Vec::new(),
        cells: vec![cell.clone()],
        seed: 1,
        settings: Vec::new(),
        repetition_rule: None,
    };
    let record = crate::figures::cell_record(&plan, &cell, &measured);
    let figures = record.open_loop.unwrap();
    assert!(record.transactions.is_empty());
    assert_eq!(figures.asked_per_second, 2e3);
    // A thread may start only after the first requests were due.
    assert!((1..=1000).contains(&figures.response.count), "{figures:?}");
    assert_eq!((figures.censored_count, figures.errors), (0, 0));
    assert!(figures.late_count <= figures.response.count);
}

#[test]
fn a_number_of_operations_takes_as_long_as_the_rate_implies() {
    for (rate, operations) in [(1e3, 1000), (2e4, 20_000), (3e5, 30_000)] {
        let mut cell = paced(16, 1, rate, ArrivalKind::Uniform);
        cell.operations = Some(operations);
        let (outcome, issued_ns) = on_device(&cell, 60, |_| 700);
        assert_eq!(reads(&outcome).count(), operations);
        assert_eq!(issued_ns.len() as u64, operations);
        // From the first request, due immediately, to the completion of the last.
        let last_due_ns = (u128::from(operations - 1) * 1_000_000_000 / rate as u128) as u64;
        assert_eq!(outcome.measured_ns, last_due_ns + 700, "at {rate}/s");
    }
}

#[test]
fn an_open_loop_allocates_nothing_between_ramp_and_end() {
    let mut cell = paced(32, 1, 5e4, ArrivalKind::Poisson);
    cell.operations = Some(2000);
    let (lane, recorder) = scripted(&cell, 0, 5_000_000);
    let crate::lane::Requests::Transfer(generator) = lane.requests().unwrap() else {
        unreachable!("the worker has its own cursor");
    };
    let clock = TscClock::new();
    let timing = generate::Timing {
        start_ns: 0,
        now_ns: clock.now_ns(),
        window: generate::DueWindow {
            start_ns: 5_000_000,
            length_ns: u64::MAX,
        },
    };
    let due = lane.pace.unwrap().due;
    let mut turns = LoopState::new(32);
    let mut measured = Loop {
        engine: engine::Null::new(32, 4096).unwrap(),
        generator: generate::OpenLoopGenerator::new(generator, due, timing, 32),
        content: contents().source.plain(1),
        clock,
        recorder,
        batch: Batch::fixed(32),
    };
    let counts = allocation_counter::measure(|| measured.turn(&mut turns).unwrap());
    assert_eq!(counts.count_total, 0);
    let outcome = measured.recorder.into_outcome();
    assert_eq!(outcome.last_sample.spans[0].transactions()[0].count(), 2000);
}
