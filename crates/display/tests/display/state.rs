//! What is known of a run from its events.

use display::State;
use results::{Phase, RunEvent, Status, SteadyVerdict};

use crate::events::{cell_done, cell_started, prepare, progress, round, started, warning};
use crate::sample;

const S: u64 = 1_000_000_000;

fn after(events: &[(RunEvent, u64)]) -> State {
    let mut state = State::default();
    for (event, now_ns) in events {
        state.apply(event, *now_ns);
    }
    state
}

#[test]
fn a_started_run_lists_its_cells() {
    let state = after(&[(started(), 0)]);
    let titles: Vec<_> = state.cells.iter().map(|cell| cell.what.as_str()).collect();
    let wanted = [
        "File Server, iodepth 8, 2 workers",
        "4 KiB random read, iodepth 1, 1 worker",
    ];
    assert_eq!(titles, wanted);
    assert!(state.cells.iter().all(|cell| cell.done.is_none()));
}

#[test]
fn remaining_time_comes_from_what_was_written_here() {
    // 40 of 100 bytes were there already; 20 more took 2 seconds, so 40 take 4.
    let state = after(&[(prepare(40, 100), 10 * S), (prepare(60, 100), 12 * S)]);
    let preparation = state.preparation.unwrap();
    assert_eq!(preparation.share(), Some(0.6));
    assert_eq!(preparation.bytes_per_second(12 * S), Some(10.0));
    assert_eq!(preparation.left_ns(12 * S), Some(4 * S));
    assert_eq!(preparation.left_ns(10 * S), None);
}

#[test]
fn a_preparation_of_nothing_has_no_share() {
    let state = after(&[(prepare(0, 0), 0), (prepare(0, 0), S)]);
    let preparation = state.preparation.unwrap();
    assert_eq!(preparation.share(), None);
    assert_eq!(preparation.left_ns(S), None);
}

#[test]
fn progress_of_another_cell_is_passed_over() {
    let state = after(&[(cell_started(0), 0), (progress(1, Phase::Measure, S), S)]);
    assert_eq!(state.current.unwrap().phase, None);
}

#[test]
fn a_cell_in_rounds_is_named_by_its_round_and_state() {
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
        let what = &state.current.as_ref().unwrap().what;
        assert_eq!(
            *what,
            format!("File Server, iodepth 8, 2 workers, {wanted}")
        );
    }
}

#[test]
fn a_done_cell_keeps_its_figures() {
    let state = after(&[(started(), 0), (cell_started(0), 0), (cell_done(0), S)]);
    let done = state.cells[0].done.unwrap();
    assert_eq!(
        (done.iops, done.errors, done.status),
        (1000.0, 0, Status::Complete)
    );
    assert!(state.cells[1].done.is_none());
}

#[test]
fn a_cell_that_was_not_planned_is_passed_over() {
    let mut record = sample::cell_record(&sample::plan(), 0, 100);
    record.index = u32::MAX;
    let event = RunEvent::CellDone {
        record: Box::new(record),
    };
    assert!(after(&[(started(), 0), (event, S)]).cells[0].done.is_none());
}

#[test]
fn memory_stays_bounded_however_long_a_run_takes() {
    let mut state = State::default();
    state.apply(&cell_started(0), 0);
    for step in 0..100_000 {
        state.apply(&progress(0, Phase::Measure, step), step);
        state.apply(&warning("again"), step);
    }
    let current = state.current.unwrap();
    assert!(current.iops_history.points(usize::MAX).len() <= 512);
    assert!(current.iops_history.points(40).len() <= 40);
    assert!(current.iops_history.points(0).len() <= 1);
    assert!(
        current
            .iops_history
            .points(40)
            .iter()
            .all(|point| *point == 12_345)
    );
    assert_eq!(state.warnings.len(), 50);
    assert_eq!(state.warning_count, 100_000);
}

#[test]
fn figures_that_are_no_numbers_do_no_harm() {
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
    assert!(display::live_line(&state, 80).contains("- IOPS"));
}
