//! Tests of the lines for pipes.

use display::PlainLines;
use results::{Phase, RunEvent, Status};

use crate::events::{cell_done, cell_started, prepare, progress, started, started_by_four};

const S: u64 = 1_000_000_000;

#[test]
fn a_run_is_logged_in_a_few_lines() {
    let mut events = vec![(started(), 0), (prepare(0, 100 << 20), S)];
    events.extend((1..=100).map(|step| (prepare(step << 20, 100 << 20), S + step * S / 10)));
    events.push((cell_started(0), 12 * S));
    for step in 0..300 {
        let (phase, start) = if step < 60 {
            (Phase::Ramp, 0)
        } else {
            (Phase::Measure, 60)
        };
        let at = (step - start) * S / 10;
        events.push((progress(0, phase, at), 12 * S + step * S / 10));
    }
    events.push((cell_done(0), 43 * S));
    events.push((
        RunEvent::Finished {
            status: Status::Complete,
        },
        43 * S,
    ));
    let mut plain = PlainLines::default();
    let lines: Vec<String> = events
        .iter()
        .filter_map(|(event, now_ns)| plain.line(event, *now_ns))
        .collect();
    let wanted = [
        "run run-1: 2 cells",
        "[1/2] File Server        Q8T2  1.000k IOPS  3.906 MiB/s  p50  151 µs  p99  200 µs",
        "run complete",
    ];
    assert_eq!(lines, wanted);
}

#[test]
fn lines_of_ten_cells_are_aligned_from_the_start() {
    let mut event = started();
    let RunEvent::Started { record } = &mut event else {
        panic!("{event:?}")
    };
    let cells = std::mem::take(&mut record.plan.cells);
    let mut cells: Vec<_> = cells.into_iter().cycle().take(10).collect();
    for (cell, index) in cells.iter_mut().zip(0..) {
        cell.index = index;
    }
    record.plan.cells = cells;
    let mut plain = PlainLines::default();
    assert!(plain.line(&event, 0).is_some());
    let line = plain.line(&cell_done(0), S).unwrap();
    assert!(line.starts_with(" [1/10] "), "{line:?}");
}

#[test]
fn a_long_cell_is_logged_once_a_minute() {
    let mut plain = PlainLines::default();
    let mut lines = vec![plain.line(&started(), 0)];
    lines.push(plain.line(&cell_started(0), 0));
    lines.extend((0..700).map(|step| plain.line(&progress(0, Phase::Measure, step * S), step * S)));
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    assert_eq!(lines.len(), 12, "{lines:?}");
    assert!(lines[1].starts_with("[1/2] File Server, iodepth 8  1:00/0:30  12.35k IOPS"));
}

#[test]
fn a_log_says_how_many_processes_there_are() {
    let mut plain = PlainLines::default();
    let line = plain.line(&started_by_four(), 0);
    assert_eq!(
        line.as_deref(),
        Some("run run-1: 2 cells, 4 processes on 2 hosts")
    );
}
