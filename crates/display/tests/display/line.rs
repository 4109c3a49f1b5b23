//! Tests of the progress line.

use display::{RunState, live_lines};
use results::{Phase, RunEvent};
use unicode_width::UnicodeWidthStr;

use crate::events::{
    cell_started, prepare, progress, progress_of_several, started, started_by_four, warning,
};

const S: u64 = 1_000_000_000;

/// The lines, joined by line breaks.
fn shown(state: &RunState, width: usize) -> String {
    live_lines(state, width).join("\n")
}

/// The first of two cells; the planned duration of each is 12 s.
fn measuring() -> RunState {
    let mut state = RunState::default();
    state.apply(&started(), 0);
    state.apply(&cell_started(0), 0);
    state.apply(&progress(0, Phase::Measure, 4 * S), 6 * S);
    state
}

#[test]
fn everything_is_shown_where_there_is_room() {
    let wanted = "[1/2] File Server, iodepth 8  0:04/0:30  12.35k IOPS  96.45 MiB/s  p99 1.23 ms  \
                  ~40 s left  0 errors";
    assert_eq!(shown(&measuring(), 200), wanted);
}

#[test]
fn eighty_columns_keep_the_queue_depth() {
    let wanted = "[1/2] File Server Q8T2  12.35k IOPS  96.45 MiB/s  p99 1.23 ms  ~40 s left";
    assert_eq!(shown(&measuring(), 80), wanted);
}

#[test]
fn a_narrow_line_drops_the_least_important_but_never_the_queue_depth() {
    let state = measuring();
    for (width, wanted) in [
        (
            72,
            "[1/2] File Server Q8T2  12.35k IOPS  96.45 MiB/s  ~40 s left",
        ),
        (
            60,
            "[1/2] File Server Q8T2  12.35k IOPS  96.45 MiB/s  ~40 s left",
        ),
        (40, "[1/2] File Server Q8T2  12.35k IOPS"),
        (30, "[1/2] File Server, iodepth 8\n12.35k IOPS  ~40 s left"),
        (16, "[1/2] File\nServer Q8T2\n12.35k IOPS"),
    ] {
        assert_eq!(shown(&state, width), wanted);
    }
}

#[test]
fn phases_other_than_measuring_are_named() {
    let mut state = measuring();
    state.apply(&progress(0, Phase::Ramp, 2 * S), 6 * S);
    assert!(shown(&state, 200).contains("  ramp 0:02/0:30  "));
}

#[test]
fn a_narrow_line_still_shows_errors() {
    let mut state = measuring();
    state.current.as_mut().unwrap().errors = 1234;
    assert!(shown(&state, 60).ends_with("1,234 errors"));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let mut state = measuring();
    state.current.as_mut().unwrap().description = "企鹅测量仪 企鹅测量仪".into();
    state.cells[0].name = "企鹅测量仪".into();
    state.apply(&warning("w"), 13 * S);
    for width in 0..150 {
        for line in live_lines(&state, width) {
            assert!(line.width() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn preparing_shows_the_time_that_is_left() {
    let mut state = RunState::default();
    state.apply(&prepare(0, 10 << 30), 0);
    state.apply(&prepare(1 << 30, 10 << 30), 2 * S);
    let wanted = "prepare /mnt/array  10 %  1 GiB of 10 GiB  512.0 MiB/s  0:18 left";
    assert_eq!(shown(&state, 80), wanted);
}

#[test]
fn warnings_are_counted_until_the_user_stops_the_run() {
    let mut state = measuring();
    state.apply(&warning("w"), 13 * S);
    assert!(shown(&state, 200).ends_with("  1 warning"));
    state.stopping = true;
    assert!(shown(&state, 200).ends_with("  stopping"));
}

#[test]
fn names_cannot_control_the_terminal() {
    let mut state = RunState::default();
    let what = "\x1b[2J\r\nx".to_owned();
    state.apply(
        &RunEvent::CellStarted {
            index: 0,
            count: 1,
            what,
            budget_left_ns: None,
        },
        0,
    );
    assert_eq!(shown(&state, 80), "[1/1] \\u{1b}[2J\\r\\nx");
}

#[test]
fn a_line_of_several_processes_shows_their_number_but_no_percentile() {
    let mut state = RunState::default();
    state.apply(&started_by_four(), 0);
    state.apply(&cell_started(0), 0);
    state.apply(&progress_of_several(0, Phase::Measure, 4 * S), 6 * S);
    let wanted = "[1/2] File Server, iodepth 8  0:04/0:30  12.35k IOPS  96.45 MiB/s  ~40 s left  \
                  0 errors  4 processes on 2 hosts";
    assert_eq!(shown(&state, 200), wanted);
    let narrow = shown(&state, 60);
    assert!(
        narrow.contains("12.35k IOPS") && !narrow.contains("processes"),
        "{narrow}"
    );
}
