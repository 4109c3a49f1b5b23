//! Cells that are measured in rounds until they are steady.

use results::{SteadyRule, SteadyVerdict};

use super::*;

/// Rounds of 200 ms on an engine that touches nothing.
fn in_rounds(rule: SteadyRule) -> Cell {
    let mut cell = cell(4, vec![worker(0, 4, vec![line(512, 70.0, 100.0)])]);
    cell.ramp_time_ns = 50_000_000;
    cell.run_time_ns = 200_000_000;
    cell.steady = Some(rule);
    cell
}

/// Rounds that lie as far apart as they like are steady.
const ANY: SteadyRule = SteadyRule {
    window_count: 3,
    range_max: 1e6,
    excursion_max: 1e6,
    rounds_max: 100,
};

fn done(events: &[RunEvent]) -> Vec<u32> {
    let done_count = |event: &RunEvent| match event {
        RunEvent::Round { done, .. } => Some(*done),
        _ => None,
    };
    events.iter().filter_map(done_count).collect()
}

#[test]
fn rounds_end_when_steady_and_only_the_window_counts() {
    let mut events = Vec::new();
    let measured = run(&in_rounds(ANY), &mut events);
    let steady = measured.steady.as_ref().unwrap();
    assert_eq!(steady.record.verdict, SteadyVerdict::Steady);
    let rounds = &steady.record.rounds;
    assert_eq!((rounds.len(), steady.window), (3, Some((0, 3))));
    let in_rounds: u64 = rounds.iter().map(|round| round.count).sum();
    assert_eq!(counted(&measured), in_rounds);
    let outcome = &measured.lanes[0].outcome;
    // Of a round that a busy machine left out, the length is only what it should have been.
    let measured_rounds = rounds.iter().filter(|round| round.count > 0);
    let lengths: u64 = measured_rounds.map(|round| round.length_ns).sum();
    assert_eq!((outcome.measured_ns, outcome.stopped), (lengths, false));
    assert!(lengths > 0);
    assert_eq!(done(&events).first(), Some(&0));
    assert_eq!(done(&events).last(), Some(&3));
}

#[test]
fn rounds_that_are_never_steady_are_given_up() {
    let rule = SteadyRule {
        window_count: 2,
        range_max: 1e-12,
        rounds_max: 4,
        ..ANY
    };
    let measured = run(&in_rounds(rule), &mut Vec::new());
    let steady = measured.steady.as_ref().unwrap();
    assert_eq!(steady.record.verdict, SteadyVerdict::NotSteady);
    assert_eq!(
        (steady.record.rounds.len(), steady.window),
        (4, Some((2, 4)))
    );
    let in_window: u64 = steady.record.rounds[2..].iter().map(|it| it.count).sum();
    assert_eq!(counted(&measured), in_window);
    assert!(!measured.lanes[0].outcome.stopped);
    // It may begin before the window's 400 ms, because its middle decides where it belongs.
    let first = measured.intervals.first().unwrap();
    assert!(first.at_ns + first.length_ns > 400_000_000, "{first:?}");
    assert_eq!(steady.record.window.as_ref().unwrap().first_round_index, 2);
}

/// Runs the cell until an event for which `is_last` holds.
fn run_until_event(cell: &Cell, is_last: impl Fn(&RunEvent) -> bool) -> MeasuredCell {
    let stop = Arc::new(AtomicBool::new(false));
    run_until(cell, &stop, &mut |event| {
        if is_last(event) {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    })
}

#[test]
fn stopping_keeps_the_complete_rounds() {
    // With this window, the run is not steady when it is stopped.
    let rule = SteadyRule {
        window_count: 100,
        ..ANY
    };
    let is_last = |event: &RunEvent| matches!(event, RunEvent::Round { done: 1.., .. });
    let measured = run_until_event(&in_rounds(rule), is_last);
    let steady = measured.steady.as_ref().unwrap();
    assert_eq!(steady.record.verdict, SteadyVerdict::NotYet);
    assert!(measured.lanes[0].outcome.stopped);
    let in_rounds: u64 = steady.record.rounds.iter().map(|it| it.count).sum();
    assert!(!steady.record.rounds.is_empty());
    assert_eq!(counted(&measured), in_rounds);
    assert_eq!(steady.record.window, None);
}

#[test]
fn stopping_in_the_first_round_keeps_the_partial_round() {
    let mut cell = in_rounds(ANY);
    cell.run_time_ns = 60_000_000_000;
    let is_last = |event: &RunEvent| matches!(event, RunEvent::Interval { .. });
    let measured = run_until_event(&cell, is_last);
    let steady = measured.steady.as_ref().unwrap();
    assert_eq!((steady.record.rounds.len(), steady.window), (0, None));
    assert!(measured.lanes[0].outcome.stopped && counted(&measured) > 0);
}

#[test]
fn rounds_of_several_workers_are_summed() {
    let mut cell = in_rounds(ANY);
    cell.workers = (0..3)
        .map(|index| worker(index, 2, vec![line(4096, 100.0, 100.0)]))
        .collect();
    let measured = run(&cell, &mut Vec::new());
    let rounds = &measured.steady.as_ref().unwrap().record.rounds;
    let in_rounds: u64 = rounds.iter().map(|it| it.count).sum();
    assert_eq!(counted(&measured), in_rounds);
    assert_eq!(measured.lanes.len(), 3);
}
