//! Shows a simulated run: `cargo run -p display --example demo -- line|full|none`.

use std::time::Duration;

use display::{Display, DisplayKind, TerminalFacts, UserRequest};
use results::{IntervalFigures, IntervalRecord, Phase, RunEvent, Status, Warning, WarningCode};

#[path = "../../results/tests/results/sample.rs"]
mod sample;

/// Time between two events.
const STEP: Duration = Duration::from_millis(100);
/// Progress events per phase.
const STEPS: u64 = 40;

fn main() -> std::io::Result<()> {
    use std::io::IsTerminal;
    let kind = match std::env::args().nth(1).as_deref() {
        Some("full") => DisplayKind::Full,
        Some("none") => DisplayKind::None,
        _ => DisplayKind::Line,
    };
    let surroundings = TerminalFacts {
        is_terminal: std::io::stderr().is_terminal(),
        is_dumb: false,
        no_color: std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
    };
    let mut display = Display::new(kind, surroundings)?;
    for event in events() {
        std::thread::sleep(STEP);
        if display.on_event(&event) != UserRequest::None {
            break;
        }
    }
    display.finish();
    Ok(())
}

fn events() -> Vec<RunEvent> {
    let record = sample::record();
    let mut events = vec![RunEvent::Started {
        record: Box::new(record.clone()),
    }];
    events.extend((0..=STEPS / 2).map(|step| RunEvent::Prepare {
        target: "/mnt/array".into(),
        done_bytes: step << 28,
        total_bytes: STEPS << 27,
    }));
    for cell in &record.cells {
        events.push(RunEvent::CellStarted {
            index: cell.index,
            count: 2,
            what: results::cell_title(&record.plan.cells[cell.index as usize], &record.plan),
            budget_left_ns: None,
        });
        for phase in [Phase::Ramp, Phase::Measure] {
            events.extend((0..STEPS).map(|step| progress(cell.index, &phase, step)));
            events.push(interval(cell.index));
        }
        events.push(RunEvent::Warning {
            warning: Warning::of_run(WarningCode::StealTime, "the hypervisor gave 2 % to others"),
        });
        events.push(RunEvent::CellDone {
            record: Box::new(cell.clone()),
        });
    }
    events.push(RunEvent::Finished {
        status: Status::Complete,
    });
    events
}

fn progress(cell: u32, phase: &Phase, step: u64) -> RunEvent {
    let iops = 12_000.0 + 3_000.0 * (step as f64 / 3.0).sin();
    RunEvent::Progress {
        cell,
        phase: phase.clone(),
        elapsed_ns: step * 250_000_000,
        total_ns: STEPS * 250_000_000,
        iops,
        bytes_per_second: iops * 8192.0,
        p50_ns: Some(150_000 + step * 1000),
        p99_ns: Some(1_230_000 + step * 1000),
        octaves: [&[0; 16][..], &[10, 800, 170, 15, 5, step]].concat(),
        errors: 0,
    }
}

fn interval(cell: u32) -> RunEvent {
    let figures = IntervalFigures {
        count: 12_000,
        p50_ns: Some(150_000),
        p99_ns: Some(1_230_000),
        max_ns: Some(12_000_000),
        ..IntervalFigures::default()
    };
    let operations = ["read", "write"].map(|name| (name.to_owned(), figures));
    let interval = IntervalRecord {
        at_ns: 0,
        length_ns: 1_000_000_000,
        operations: operations.into(),
        ..IntervalRecord::default()
    };
    RunEvent::Interval { cell, interval }
}
