//! Tests of the progress line.

use display::{RunState, done_lines, live_lines};
use results::{Phase, RunEvent};
use unicode_width::UnicodeWidthStr;

use crate::sample;
use crate::situations::{LONG_CELL, LONG_TARGET, record, running};

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

/// `text` without its line breaks and blanks.
fn letters(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn a_long_name_is_never_cut() {
    let mut record = record(&[(LONG_CELL, 8), ("short", 8)]);
    let mut second = record.plan.targets[0].clone();
    second.path = LONG_TARGET.into();
    record.plan.targets.push(second);
    record.plan.cells[0].workers[0].spans[0].target_index = 1;
    let state = running(&record, 0, 20).state().clone();
    let done = sample::cell_record(&record.plan, 0, 10_000);
    for width in [8, 20, 40, 80, 120, 200] {
        let line = live_lines(&state, width);
        let done = done_lines(&state, &done, width);
        for lines in [&line, &done] {
            let text = lines.join("\n");
            assert!(
                letters(&text).contains(&letters(LONG_CELL)),
                "{width}: {text}"
            );
            assert!(text.contains("QD8"), "{width}: {text}");
            assert!(
                lines.iter().all(|it| it.width() <= width),
                "{width}: {text}"
            );
        }
        assert!(
            width < 20 || line.join(" ").contains("k IOPS"),
            "{width}: {line:?}"
        );
        assert!(
            width < 40 || done.join(" ").contains("IOPS"),
            "{width}: {done:?}"
        );
        assert!(
            letters(&done.concat()).contains(LONG_TARGET),
            "{width}: {done:?}"
        );
    }
}

#[test]
fn a_long_name_gets_lines_before_the_results() {
    let state = running(&record(&[(LONG_CELL, 8)]), 0, 20).state().clone();
    let lines = live_lines(&state, 80);
    let wanted = [
        "[1/1] nightly mixed 4 KiB and 64 KiB random reads of a very large database QD8",
        "0:03/0:30  9.002k IOPS  70.33 MiB/s  p99 1.63 ms  ~30 s left  0 errors",
    ];
    assert_eq!(lines, wanted);
    assert_eq!(live_lines(&state, 120).len(), 1);
    assert_eq!(live_lines(&state, 40).len(), 4);
}

#[test]
fn a_long_target_that_is_prepared_is_never_cut() {
    let mut state = RunState::default();
    let event = RunEvent::Prepare {
        target: LONG_TARGET.into(),
        done_bytes: 1 << 30,
        total_bytes: 2 << 30,
    };
    state.apply(&event, 0);
    for width in [20, 40, 80] {
        let text = live_lines(&state, width).concat();
        assert!(
            text.contains(LONG_TARGET) || text.replace("prepare ", "prepare").contains(LONG_TARGET)
        );
        assert!(text.contains("50 %"), "{text}");
    }
}
