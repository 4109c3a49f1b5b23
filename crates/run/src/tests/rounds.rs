//! Cells that are measured in rounds until they are steady.

use std::sync::Mutex;
use std::time::Duration;

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
    let of_round = |event: &RunEvent| match event {
        RunEvent::Round { done, .. } => Some(*done),
        _ => None,
    };
    events.iter().filter_map(of_round).collect()
}

#[test]
fn rounds_end_when_they_are_steady_and_the_window_is_what_counts() {
    let mut events = Vec::new();
    let measured = run(&in_rounds(ANY), &mut events);
    let steady = measured.steady.as_ref().unwrap();
    assert_eq!(steady.record.verdict, SteadyVerdict::Steady);
    let rounds = &steady.record.rounds;
    assert_eq!((rounds.len(), steady.window), (3, Some((0, 3))));
    let in_rounds: u64 = rounds.iter().map(|round| round.count).sum();
    assert_eq!(counted(&measured), in_rounds);
    let outcome = &measured.lanes[0].outcome;
    let lengths: u64 = rounds.iter().map(|round| round.length_ns).sum();
    assert_eq!((outcome.measured_ns, outcome.stopped), (lengths, false));
    assert!((550_000_000..900_000_000).contains(&lengths), "{lengths}");
    assert!(rounds.iter().all(|round| round.latency_p99_ns.is_some()));
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
    let first = measured.intervals.first().unwrap().at_ns;
    assert!(first >= 350_000_000, "{first}");
    assert_eq!(steady.record.window.as_ref().unwrap().first_round_index, 2);
}

/// Runs the cell until so many rounds are done and then a little longer.
fn stopped_after(cell: &Cell, rounds: u32) -> Measured {
    let stop = Arc::new(AtomicBool::new(false));
    let setter = Mutex::new(Some(Arc::clone(&stop)));
    let sources = Sources {
        seed: 7,
        target_count: 1,
        open: &|_, _| unreachable!("the null engine opens nothing"),
        contents: &|_| contents(),
    };
    let kit = CellKit {
        cell,
        course: Course::default(),
        clock: &TscClock::new(),
        stop: &stop,
        mark: &mut |_, _| {},
        listener: &mut |event| match event {
            RunEvent::Round { done, .. } if *done >= rounds => {
                let Some(stop) = setter.lock().unwrap().take() else {
                    return;
                };
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(50));
                    stop.store(true, std::sync::atomic::Ordering::Relaxed);
                });
            }
            _ => {}
        },
    };
    run_cell(kit, parts(cell, &sources).unwrap()).unwrap()
}

#[test]
fn who_ends_it_keeps_the_rounds_measured_in_full() {
    let measured = stopped_after(&in_rounds(ANY), 1);
    let steady = measured.steady.as_ref().unwrap();
    assert_eq!(steady.record.verdict, SteadyVerdict::NotYet);
    assert!(measured.lanes[0].outcome.stopped);
    let in_rounds: u64 = steady.record.rounds.iter().map(|it| it.count).sum();
    assert!((1..3).contains(&steady.record.rounds.len()));
    assert_eq!(counted(&measured), in_rounds);
    assert_eq!(steady.record.window, None);
}

#[test]
fn who_ends_it_in_the_first_round_keeps_what_there_is() {
    let mut cell = in_rounds(ANY);
    cell.run_time_ns = 60_000_000_000;
    let measured = stopped_after(&cell, 0);
    let steady = measured.steady.as_ref().unwrap();
    assert_eq!((steady.record.rounds.len(), steady.window), (0, None));
    assert!(measured.lanes[0].outcome.stopped && counted(&measured) > 0);
}

#[test]
fn rounds_of_several_workers_are_sums_over_them() {
    let mut cell = in_rounds(ANY);
    cell.workers = (0..3)
        .map(|index| worker(index, 2, vec![line(4096, 100.0, 100.0)]))
        .collect();
    let measured = run(&cell, &mut Vec::new());
    let rounds = &measured.steady.as_ref().unwrap().record.rounds;
    let in_rounds: u64 = rounds.iter().map(|it| it.count).sum();
    assert_eq!(counted(&measured), in_rounds);
    assert!(
        measured
            .lanes
            .iter()
            .all(|lane| lane.outcome.measured_ns > 0)
    );
}
