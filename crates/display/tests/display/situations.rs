//! Screens in many situations.

use std::path::Path;
use std::sync::LazyLock;

use display::{PressedKey, Screen};
use plan::TargetPlan;
use results::{IntervalFigures, IntervalRecord, Phase, RunEvent, RunRecord};

use crate::events::{prepare, progress, warning};
use crate::sample;

const S: u64 = 1_000_000_000;
/// Time between two progress events.
const STEP_NS: u64 = S / 5;
pub const LONG_CELL: &str = "nightly mixed 4 KiB and 64 KiB random reads of a very large database";
pub const LONG_TARGET: &str = "/mnt/arrays/first-rack/nvme-over-fabrics/volume-with-a-long-name-17";

/// A record with one cell for each name and queue depth.
pub fn record(cells: &[(&str, u32)]) -> RunRecord {
    let mut record = sample::record();
    let cells = (0..).zip(cells);
    record.plan.cells = cells
        .map(|(index, (name, depth))| sample::cell(index, name, *depth, 1, 80.0))
        .collect();
    record
}

/// A screen on which the first `done` cells of the run are completed and the next one has measured
/// for `steps` progress events.
pub fn running(record: &RunRecord, done: usize, steps: u64) -> Screen {
    let mut screen = Screen::new(false);
    screen.take(&started(record), 0);
    for index in 0..done {
        screen.take(&begun(record, index), index as u64 * 12 * S);
        let cell = sample::cell_record(&record.plan, index, 10_000 + index as u64 * 700);
        let event = RunEvent::CellDone {
            record: Box::new(cell),
        };
        screen.take(&event, (index as u64 + 1) * 12 * S);
    }
    let since_ns = done as u64 * 12 * S;
    screen.take(&begun(record, done), since_ns);
    for step in 0..steps {
        let now_ns = since_ns + step * STEP_NS;
        screen.take(&wave(done, step), now_ns);
    }
    if steps > 5 {
        let interval = interval(&["read", "write"]);
        let cell = u32::try_from(done).unwrap();
        screen.take(
            &RunEvent::Interval { cell, interval },
            since_ns + steps * STEP_NS,
        );
    }
    screen
}

fn started(record: &RunRecord) -> RunEvent {
    RunEvent::Started {
        record: Box::new(record.clone()),
    }
}

fn begun(record: &RunRecord, index: usize) -> RunEvent {
    let cell = &record.plan.cells[index];
    RunEvent::CellStarted {
        index: cell.index,
        count: u32::try_from(record.plan.cells.len()).unwrap(),
        what: results::cell_title(cell, &record.plan),
        budget_left_ns: None,
    }
}

/// Progress whose values go up and down.
fn wave(cell: usize, step: u64) -> RunEvent {
    let cell = u32::try_from(cell).unwrap();
    let mut event = progress(cell, Phase::Measure, step * STEP_NS);
    let swing = (step as f64 / 4.0).sin();
    if let RunEvent::Progress {
        iops,
        bytes_per_second,
        p50_ns,
        p99_ns,
        octaves,
        ..
    } = &mut event
    {
        *iops = 12_000.0 + 3_000.0 * swing;
        *bytes_per_second = *iops * 8192.0;
        *p50_ns = Some((150_000.0 - 20_000.0 * swing) as u64);
        *p99_ns = Some((1_230_000.0 - 400_000.0 * swing) as u64);
        *octaves = [
            &[0; 15][..],
            &[5, 100 + 10 * step, 890, 70, 20, 10, step % 7],
        ]
        .concat();
    }
    event
}

pub fn interval(operations: &[&str]) -> IntervalRecord {
    let figures = IntervalFigures {
        count: 12_000,
        bytes: 12_000 << 12,
        p50_ns: Some(150_000),
        p99_ns: Some(1_230_000),
        max_ns: Some(12_000_000),
        ..IntervalFigures::default()
    };
    let operations = operations.iter().map(|name| ((*name).to_owned(), figures));
    IntervalRecord {
        length_ns: S,
        operations: operations.collect(),
        ..IntervalRecord::default()
    }
}

/// A sweep of four access patterns over five queue depths.
pub fn sweep() -> RunRecord {
    let names = ["4k random read", "4k random write", "64k read", "1m write"];
    let depths = [1, 2, 4, 16, 64];
    let cells = names
        .iter()
        .flat_map(|name| depths.map(|depth| (*name, depth)));
    record(&cells.collect::<Vec<_>>())
}

/// Several workers, targets and repetitions, all with long names.
fn long_names() -> RunRecord {
    let mut record = record(&[(LONG_CELL, 8), (LONG_CELL, 32), ("short", 1)]);
    let first = record.plan.targets[0].clone();
    let target = |number: u32| TargetPlan {
        path: Path::new(LONG_TARGET).join(number.to_string()),
        ..first.clone()
    };
    record.plan.targets = (0..3).map(target).collect();
    for (repetition, cell) in (0..).zip(&mut record.plan.cells) {
        cell.repetition = repetition;
    }
    record
}

/// A file workload: many operations, and a phase of the program.
fn postmark() -> Screen {
    let record = record(&[("PostMark", 1)]);
    let mut screen = running(&record, 0, 100);
    let mut event = wave(0, 100);
    if let RunEvent::Progress {
        phase, total_ns, ..
    } = &mut event
    {
        (*phase, *total_ns) = (Phase::Classic("transactions".into()), 0);
    }
    screen.take(&event, 20 * S);
    let operations = ["append", "close", "create", "delete", "open", "read"];
    let interval = interval(&operations);
    screen.take(&RunEvent::Interval { cell: 0, interval }, 20 * S);
    screen
}

fn warned(mut screen: Screen) -> Screen {
    let now_ns = screen.state().now_ns;
    screen.take(&warning("the hypervisor gave 2 % to others"), now_ns);
    let long = "the device was 34 % busy before the run; other programs use it, so results are not \
                reproducible; stop them, or choose another device";
    screen.take(&warning(long), now_ns);
    screen
}

fn selected(mut screen: Screen) -> Screen {
    let _ = screen.press(PressedKey::Up);
    screen
}

fn helped(mut screen: Screen) -> Screen {
    let _ = screen.press(PressedKey::Help);
    screen
}

fn preparing() -> Screen {
    let mut screen = Screen::new(false);
    screen.take(&started(&record(&[("File Server", 8)])), 0);
    for step in 0..40 {
        screen.take(&prepare((step * step) << 20, 10 << 30), step * STEP_NS);
    }
    screen
}

/// Every situation that a screen must show, with its name.
pub fn all() -> &'static [(&'static str, Screen)] {
    static ALL: LazyLock<Vec<(&str, Screen)>> = LazyLock::new(created);
    &ALL
}

fn created() -> Vec<(&'static str, Screen)> {
    let one = record(&[("File Server", 8)]);
    let three = record(&[("File Server", 8), ("File Server", 16), ("Web Server", 8)]);
    let long = long_names();
    vec![
        ("starting", Screen::new(false)),
        ("preparing", preparing()),
        ("one cell", running(&one, 0, 100)),
        ("very short", running(&one, 0, 2)),
        ("no values", running(&one, 0, 0)),
        ("three cells", running(&three, 1, 100)),
        ("sweep", warned(running(&sweep(), 7, 100))),
        ("postmark", postmark()),
        ("long names", running(&long, 1, 100)),
        ("one warned", warned(running(&one, 0, 100))),
        ("selected", selected(running(&three, 1, 100))),
        ("long selected", selected(running(&long, 1, 100))),
        (
            "sweep selected",
            selected(warned(running(&sweep(), 7, 100))),
        ),
        ("help", helped(running(&three, 1, 100))),
    ]
}
