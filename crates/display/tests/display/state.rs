//! Tests of the state collected from events.

use display::RunState;
use plan::{ArrivalKind, Cell, CurvePart, RepetitionRule};
use results::{Phase, RunEvent, Status, SteadyVerdict};

use crate::events::{cell_done, cell_started, prepare, progress, round, started, warning};
use crate::sample;

const S: u64 = 1_000_000_000;

fn after(events: &[(RunEvent, u64)]) -> RunState {
    let mut state = RunState::default();
    for (event, now_ns) in events {
        state.apply(event, *now_ns);
    }
    state
}

#[test]
fn a_started_run_lists_its_cells() {
    let state = after(&[(started(), 0)]);
    let titles: Vec<_> = state
        .cells
        .iter()
        .map(|cell| cell.description.as_str())
        .collect();
    let wanted = [
        "File Server, iodepth 8, 2 workers",
        "4 KiB random read, iodepth 1, 1 worker",
    ];
    assert_eq!(titles, wanted);
    assert!(state.cells.iter().all(|cell| cell.done.is_none()));
}

#[test]
fn remaining_time_is_based_on_bytes_written_in_this_run() {
    // 40 of 100 bytes existed at the start. 20 more took 2 s, so the remaining 40 take 4 s.
    let state = after(&[(prepare(40, 100), 10 * S), (prepare(60, 100), 12 * S)]);
    let preparation = state.preparation.unwrap();
    assert_eq!(preparation.share(), Some(0.6));
    assert_eq!(preparation.bytes_per_second(12 * S), Some(10.0));
    assert_eq!(preparation.left_ns(12 * S), Some(4 * S));
    assert_eq!(preparation.left_ns(10 * S), None);
}

#[test]
fn a_removal_is_over_once_the_cell_makes_progress() {
    let removal = RunEvent::Cleanup {
        target: "/mnt/array".into(),
        removed: 7,
    };
    let events = [(cell_started(0), 0), (removal, S)];
    assert!(after(&events).cleanup.is_some());
    for next in [prepare(0, 100), progress(0, Phase::Measure, S)] {
        let mut state = after(&events);
        state.apply(&next, 2 * S);
        assert_eq!(state.cleanup, None);
    }
}

#[test]
fn an_empty_preparation_has_no_share() {
    let state = after(&[(prepare(0, 0), 0), (prepare(0, 0), S)]);
    let preparation = state.preparation.unwrap();
    assert_eq!(preparation.share(), None);
    assert_eq!(preparation.left_ns(S), None);
}

#[test]
fn progress_of_another_cell_is_ignored() {
    let state = after(&[(cell_started(0), 0), (progress(1, Phase::Measure, S), S)]);
    assert_eq!(state.current.unwrap().phase, None);
}

#[test]
fn a_cell_with_rounds_shows_its_round_and_state() {
    let mut state = after(&[(started(), 0), (cell_started(0), 0)]);
    let far = Some((0.314, 0.12));
    for (done, verdict, shares, wanted) in [
        (0, SteadyVerdict::NotYet, None, "round 1/25"),
        (
            5,
            SteadyVerdict::NotYet,
            far,
            "round 6/25, not yet steady: range 31 %, line 12 %",
        ),
        (9, SteadyVerdict::Steady, far, "round 9/25, steady"),
        (25, SteadyVerdict::NotSteady, far, "round 25/25, not steady"),
    ] {
        state.apply(&round(done, verdict, shares), S);
        let what = &state.current.as_ref().unwrap().description;
        assert_eq!(
            *what,
            format!("File Server, iodepth 8, 2 workers, {wanted}")
        );
    }
}

#[test]
fn a_done_cell_keeps_its_figures() {
    let state = after(&[(started(), 0), (cell_started(0), 0), (cell_done(0), S)]);
    let done = state.cells[0].done.as_ref().unwrap();
    assert_eq!(
        (done.iops, done.errors, done.status),
        (1000.0, 0, Status::Complete)
    );
    assert!(state.cells[1].done.is_none());
}

#[test]
fn an_unplanned_cell_is_ignored() {
    let mut record = sample::cell_record(&sample::plan(), 0, 100);
    record.index = u32::MAX;
    let event = RunEvent::CellDone {
        record: Box::new(record),
    };
    assert!(after(&[(started(), 0), (event, S)]).cells[0].done.is_none());
}

#[test]
fn memory_stays_bounded_however_long_a_run_takes() {
    let mut state = RunState::default();
    state.apply(&cell_started(0), 0);
    for step in 0..100_000 {
        state.apply(&progress(0, Phase::Measure, step), step);
        state.apply(&warning("again"), step);
    }
    let past = state.current.unwrap().history;
    assert!(past.iops.points(usize::MAX).len() <= 512);
    assert!(past.octaves.points(usize::MAX).len() <= 512);
    assert_eq!(past.iops.points(40), [12_345; 40]);
    assert_eq!(past.iops.points(0), [0; 0]);
    assert_eq!(state.warnings.len(), 50);
    assert_eq!(state.warning_count, 100_000);
}

#[test]
fn nan_and_infinite_figures_are_harmless() {
    let mut event = progress(0, Phase::Measure, S);
    if let RunEvent::Progress {
        iops,
        bytes_per_second,
        total_ns,
        ..
    } = &mut event
    {
        (*iops, *bytes_per_second, *total_ns) = (f64::NAN, f64::INFINITY, 0);
    }
    let state = after(&[(cell_started(0), 0), (event, S)]);
    let current = state.current.clone().unwrap();
    assert_eq!(current.share(), None);
    assert!(display::live_lines(&state, 80)[0].contains("- IOPS"));
}

/// A search for the highest rate instead of the second cell: its peak and 20 trials.
fn with_search() -> results::RunRecord {
    let mut record = sample::record();
    let peak = Cell {
        curve: Some(CurvePart::Peak),
        ..record.plan.cells[1].clone()
    };
    let trial = |number: u32| Cell {
        index: 1 + number,
        curve: Some(CurvePart::Trial {
            number,
            limit: "p99<=2ms".parse().unwrap(),
            arrivals: ArrivalKind::Poisson,
        }),
        ..peak.clone()
    };
    let trials: Vec<Cell> = (1..=20).map(trial).collect();
    record.plan.cells = [&record.plan.cells[..1], &[peak], &trials].concat();
    record
}

#[test]
fn a_search_shows_the_expected_and_not_the_maximum_number_of_trials() {
    let record = Box::new(with_search());
    let plan = record.plan.clone();
    let mut state = after(&[(RunEvent::Started { record }, 0), (cell_started(0), 0)]);
    assert_eq!(state.place(0), "1/22");
    let done = |index: usize| RunEvent::CellDone {
        record: Box::new(sample::cell_record(&plan, index, 10_000)),
    };
    state.apply(&done(0), 10 * S);
    state.apply(&cell_started(1), 10 * S);
    let position = state.place(1);
    let trials = position.strip_prefix("2/2, peak, then ~");
    let trials = trials.and_then(|it| it.strip_suffix(" trials")).unwrap();
    let trials: usize = trials.parse().unwrap();
    assert!((6..12).contains(&trials), "{position}");
    // The peak and the expected trials take 12 s each.
    let left = display::time_left(&state).unwrap();
    assert_eq!(left.ns, 12 * S * (1 + trials as u64));
    state.apply(&done(1), 20 * S);
    state.apply(&cell_started(2), 20 * S);
    assert_eq!(state.place(2), format!("2/2, trial 1 of ~{trials}"));
    assert_eq!(
        (state.place_of_done(1), state.place_of_done(2)),
        ("peak".into(), "trial 1".into())
    );
}

#[test]
fn cells_that_may_be_skipped_or_added_are_indicated() {
    let mut record = sample::record();
    record.plan.cells[1].find_depth = true;
    let started = |record: &results::RunRecord| RunEvent::Started {
        record: Box::new(record.clone()),
    };
    let state = after(&[(started(&record), 0), (cell_started(0), 0)]);
    assert_eq!(state.place(0), "1/≤2");
    assert_eq!(display::time_left(&state).unwrap().text(), "≤25 s left");
    record.plan.repetition_rule = Some(RepetitionRule {
        precision: 0.01,
        budget_ns: 600 * S,
        repetitions_max: 30,
    });
    let begun = RunEvent::CellStarted {
        index: 0,
        count: 2,
        what: "File Server".into(),
        budget_left_ns: Some(600 * S),
    };
    let state = after(&[(started(&record), 0), (begun, 0)]);
    assert_eq!(state.place(0), "1/2+");
    assert_eq!(display::time_left(&state).unwrap().text(), "≤10 min left");
}

#[test]
fn skipped_cells_are_not_counted() {
    let events = [(started(), 0), (cell_started(1), 0)];
    assert_eq!(after(&events).place(1), "1/1");
}

#[test]
fn time_left_includes_the_observed_overhead_of_cells() {
    let mut record = sample::record();
    let third = record.plan.cells[1].clone();
    record.plan.cells.push(Cell { index: 2, ..third });
    let record = Box::new(record);
    let mut state = after(&[(RunEvent::Started { record }, 0), (cell_started(0), 0)]);
    assert_eq!(display::time_left(&state).unwrap().ns, 36 * S);
    state.apply(&cell_done(0), 13 * S);
    state.apply(&cell_started(1), 15 * S);
    state.apply(&cell_done(1), 29 * S);
    state.apply(&cell_started(2), 30 * S);
    // The second cell and the time before it took 16 s: 4 s more than planned.
    assert_eq!(display::time_left(&state).unwrap().ns, 16 * S);
}
