//! Requests that begin when they are due.

use stats::{Counter, KolmogorovSmirnov};
use workload::plan::{ArrivalKind, OpenLoop};

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

/// Runs the cell's only worker for some seconds after its ramp on a device that answers after
/// `delay_ns` of the time; the times at which requests were issued come back, too.
fn on_device(
    cell: &Cell,
    seconds: u64,
    mut delay_ns: impl FnMut(u64) -> u64,
) -> (Outcome, Vec<u64>) {
    let (mut lane, recorder) = scripted(cell, seconds * SECOND_NS, cell.ramp_time_ns);
    // A step clock moves only while somebody sleeps.
    lane.pace.as_mut().unwrap().looks = false;
    let clock = StepClock::new();
    let (watch, mut issued_ns) = (clock.clone(), Vec::new());
    let script = |request: &engine::Request, _: &mut [u8]| {
        issued_ns.push(watch.now_ns());
        engine::Outcome {
            delay_ns: delay_ns(watch.now_ns()),
            result: request.length_bytes as i32,
        }
    };
    let engine = Scripted::new(lane.slot_count(), 4096, clock.clone(), script).unwrap();
    let parts = Parts {
        engine,
        recorder,
        clock,
        batch: Batch::fixed(32),
    };
    let requests = lane.requests().unwrap();
    let outcome = with_requests(parts, requests, &lane, &contents()).unwrap();
    (outcome, issued_ns)
}

fn reads(outcome: &Outcome) -> &Counter {
    let read = Operation::Read as usize;
    outcome.rest.spans[0].operation(read).unwrap()
}

fn responses(outcome: &Outcome) -> &Counter {
    &outcome.rest.spans[0].transactions()[0]
}

#[test]
fn evenly_spaced_requests_begin_to_the_nanosecond_and_do_not_drift() {
    for rate in [1e3, 3e4, 1e5, 3e5] {
        let cell = paced(32, 1, rate, ArrivalKind::Uniform);
        let (outcome, issued_ns) = on_device(&cell, 2, |_| 700);
        for (index, issued_ns) in issued_ns.iter().enumerate() {
            let due_ns = (index as u128 * 1_000_000_000 / rate as u128) as u64;
            assert_eq!(*issued_ns, due_ns, "request {index} at {rate}/s");
        }
        let achieved = reads(&outcome).count() as f64 / 2.0;
        assert!((achieved / rate - 1.0).abs() < 1e-3, "{achieved} of {rate}");
        assert_eq!(responses(&outcome).latency().max_ns(), Some(700));
        let arrears = outcome.arrears.unwrap();
        assert_eq!((arrears.late_count, arrears.lateness_ns_max), (0, 0));
    }
}

#[test]
fn poisson_requests_come_at_the_asked_rate_with_exponential_gaps() {
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
    let (reads, responses) = (reads(&outcome), responses(&outcome));
    assert!((5999..=6000).contains(&responses.count()));
    assert_eq!(responses.count(), reads.count());
    let arrears = outcome.arrears.as_ref().unwrap();
    assert!((1980..=2050).contains(&arrears.late_count), "{arrears:?}");
    assert_eq!(arrears.lateness_ns_max, 1_992_000_000);
    assert_eq!(arrears.untaken_count(outcome.finish_ns), 0);
    assert_eq!(responses.latency().max_ns(), Some(2 * SECOND_NS));
    let at = |counter: &Counter, percent| counter.latency().percentile(percent).unwrap();
    assert!(at(responses, 99.0) > 19 * SECOND_NS / 10);
    assert!(at(responses, 70.0) > SECOND_NS / 10);
    assert!(at(responses, 60.0) < 110_000);
    // From queued to reaped, the stall is eight requests of six thousand.
    assert!(at(reads, 99.8) < 110_000);
}

#[test]
fn a_rate_beyond_the_device_leaves_a_backlog() {
    let cell = paced(1, 1, 1e3, ArrivalKind::Uniform);
    let (outcome, _) = on_device(&cell, 4, |_| 2_000_000);
    let arrears = outcome.arrears.as_ref().unwrap();
    assert_eq!(reads(&outcome).count(), 2000);
    let backlog = arrears.untaken_count(outcome.finish_ns);
    assert!((1999..=2001).contains(&backlog), "{backlog}");
    let lateness_ns = arrears.lateness_ns_max_until(outcome.finish_ns);
    assert!((1_998_000_000..=2_000_000_000).contains(&lateness_ns));
}

#[test]
fn what_was_late_in_the_ramp_does_not_count() {
    // Too slow for its rate at first; it has caught up before the ramp ends.
    let delay_ns = |now_ns| match now_ns < SECOND_NS / 2 {
        true => 2_000_000,
        false => 100_000,
    };
    let mut cell = paced(1, 1, 1e3, ArrivalKind::Uniform);
    let late = |cell: &Cell| {
        let (outcome, _) = on_device(cell, 1, delay_ns);
        let arrears = outcome.arrears.as_ref().unwrap();
        (arrears.late_count, arrears.lateness_ns_max)
    };
    let (late_count, lateness_ns) = late(&cell);
    assert!(late_count > 400 && lateness_ns > SECOND_NS / 5);
    cell.ramp_time_ns = SECOND_NS;
    assert_eq!(late(&cell), (0, 0));
}

#[test]
fn the_record_of_an_open_loop_has_its_response_times_and_arrears() {
    let mut cell = paced(4, 2, 2e3, ArrivalKind::Uniform);
    cell.run_time_ns = SECOND_NS / 2;
    let measured = run(&cell, &mut Vec::new());
    let plan = workload::plan::Plan {
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
    assert_eq!(figures.response.count, record.total.count);
    assert!(figures.response.max_ns >= record.total.latency.max_ns);
    assert!(figures.late_count <= record.total.count);
}

#[test]
fn so_many_operations_take_as_long_as_their_rate_says() {
    for (rate, operations) in [(1e3, 1000), (2e4, 20_000), (3e5, 30_000)] {
        let mut cell = paced(16, 1, rate, ArrivalKind::Uniform);
        cell.operations = Some(operations);
        let (outcome, issued_ns) = on_device(&cell, 60, |_| 700);
        assert_eq!(reads(&outcome).count(), operations);
        assert_eq!(issued_ns.len() as u64, operations);
        // From the first, due at once, to the answer of the last.
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
        measure_ns: 5_000_000,
    };
    let due = lane.pace.unwrap().due;
    let mut turns = Turns::new(32);
    let mut measured = Loop {
        engine: engine::Null::new(32, 4096).unwrap(),
        generator: generate::OpenLoop::new(generator, due, timing, 32),
        content: contents().source.plain(1),
        clock,
        recorder,
        batch: Batch::fixed(32),
    };
    let counts = allocation_counter::measure(|| measured.turn(&mut turns).unwrap());
    assert_eq!(counts.count_total, 0);
    assert_eq!(responses(&measured.recorder.into_outcome()).count(), 2000);
}
