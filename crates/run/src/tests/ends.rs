//! Begin and end of a measurement.

use super::*;

fn reads(iodepth: u32) -> Cell {
    cell(
        iodepth,
        vec![worker(0, iodepth, vec![line(4096, 100.0, 100.0)])],
    )
}

/// Measures reads from a device with the given delay.
fn measured(
    iodepth: u32,
    (run_ns, ramp_ns): (u64, u64),
    delay_ns: impl Fn(u32, u64) -> u64,
) -> (u64, u64, u64) {
    let (lane, recorder) = scripted(&reads(iodepth), run_ns, ramp_ns);
    let clock = StepClock::new();
    let watch = clock.clone();
    let script = |request: &engine::Request, _: &mut [u8]| engine::ScriptedOutcome {
        delay_ns: delay_ns(request.slot, watch.now_ns()),
        result: request.length_bytes as i32,
    };
    let parts = LoopParts {
        engine: Scripted::new(iodepth, 4096, clock.clone(), script).unwrap(),
        recorder,
        clock,
        batch: Batch::fixed(32),
    };
    let outcome = with_requests(parts, lane.requests().unwrap(), &lane, &contents()).unwrap();
    let total = outcome.last_sample.spans[0].total();
    let max_ns = total.latency().max_ns().unwrap();
    (total.count(), outcome.measured_ns, max_ns)
}

const SLOW_NS: u64 = 300_000_000;
const RUN: (u64, u64) = (10 * SECOND_NS, 0);
const RAMPED: (u64, u64) = (10 * SECOND_NS, SECOND_NS);

#[test]
fn slow_requests_are_not_cut_off_at_the_end() {
    let slow = |_, _| SLOW_NS;
    // 34 requests of 0.3 s, and what is measured lasts as long.
    assert_eq!(measured(1, RUN, slow), (34, 34 * SLOW_NS, SLOW_NS));
    assert_eq!(measured(16, RUN, slow), (34 * 16, 34 * SLOW_NS, SLOW_NS));
}

#[test]
fn requests_in_flight_at_the_end_of_the_ramp_belong_to_the_ramp() {
    let slow = |_, _| SLOW_NS;
    // From 1.2 s to 11.4 s.
    assert_eq!(measured(1, RAMPED, slow), (34, 34 * SLOW_NS, SLOW_NS));
    assert_eq!(measured(16, RAMPED, slow), (34 * 16, 34 * SLOW_NS, SLOW_NS));
}

#[test]
fn staggered_requests_are_counted_from_one_completion_to_another() {
    // Four requests a third of a second, one after the other.
    let in_turn = |slot: u32, now_ns: u64| match now_ns {
        0 => SLOW_NS + u64::from(slot) * 1000,
        _ => SLOW_NS,
    };
    let (count, measured_ns, _) = measured(4, RAMPED, in_turn);
    assert_eq!((count, measured_ns), (34 * 4, 34 * SLOW_NS));
}

#[test]
fn fast_requests_end_in_time() {
    for (iodepth, times) in [(1, RUN), (4, RUN), (4, RAMPED)] {
        let (count, measured_ns, _) = measured(iodepth, times, |_, _| 1_000_000);
        assert_eq!(count, u64::from(iodepth) * 10_000);
        assert_eq!(measured_ns, 10 * SECOND_NS);
    }
}

#[test]
fn a_stall_at_the_end_is_counted_and_does_not_raise_the_rate() {
    let stalled_until = |end_ns: u64| {
        move |_, now_ns: u64| match now_ns >= 8 * SECOND_NS {
            true => end_ns.saturating_sub(now_ns).max(1_000_000),
            false => 1_000_000,
        }
    };
    // It goes on in time: its end is the measurement's.
    let (count, measured_ns, max_ns) = measured(4, RUN, stalled_until(10_500_000_000));
    assert_eq!((count, measured_ns), (4 * 8001, 10_500_000_000));
    assert_eq!(max_ns, 2_500_000_000);
    // It does not: what was measured until then counts, and all of the time.
    let (count, measured_ns, max_ns) = measured(4, RUN, stalled_until(60 * SECOND_NS));
    assert_eq!((count, measured_ns), (4 * 8000, 11 * SECOND_NS));
    assert_eq!(max_ns, 1_000_000);
}

#[test]
fn a_number_of_slow_operations_counts_from_the_last_of_the_ramp() {
    let mut cell = reads(1);
    cell.operations = Some(10);
    let (lane, recorder) = scripted(&cell, 0, SECOND_NS);
    let clock = StepClock::new();
    let script = |request: &engine::Request, _: &mut [u8]| engine::ScriptedOutcome {
        delay_ns: SLOW_NS,
        result: request.length_bytes as i32,
    };
    let parts = LoopParts {
        engine: Scripted::new(1, 4096, clock.clone(), script).unwrap(),
        recorder,
        clock,
        batch: Batch::fixed(32),
    };
    let outcome = with_requests(parts, lane.requests().unwrap(), &lane, &contents()).unwrap();
    assert_eq!(outcome.last_sample.spans[0].total().count(), 10);
    assert_eq!(outcome.measured_ns, 10 * SLOW_NS);
}

#[test]
fn requests_unanswered_at_the_end_have_failed() {
    let iodepth = 4;
    let (lane, recorder) = scripted(&reads(iodepth), SECOND_NS, 0);
    let clock = StepClock::new();
    // Of four requests one is answered in time, one late, and two when the engine gives up.
    let script = |request: &engine::Request, _: &mut [u8]| match request.slot {
        0 => engine::ScriptedOutcome {
            delay_ns: SLOW_NS,
            result: request.length_bytes as i32,
        },
        1 => engine::ScriptedOutcome {
            delay_ns: 20 * SECOND_NS,
            result: request.length_bytes as i32,
        },
        _ => engine::ScriptedOutcome {
            delay_ns: 30 * SECOND_NS,
            result: -110,
        },
    };
    let parts = LoopParts {
        engine: Scripted::new(iodepth, 4096, clock.clone(), script).unwrap(),
        recorder,
        clock,
        batch: Batch::fixed(32),
    };
    let outcome = with_requests(parts, lane.requests().unwrap(), &lane, &contents()).unwrap();
    let total = outcome.last_sample.spans[0].total();
    assert_eq!(total.errors(), 2, "{total:?}");
}
