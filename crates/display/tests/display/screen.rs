//! The full screen, drawn on a terminal in memory.

use display::{Asked, Key, Screen, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use results::{IntervalRecord, Phase, RunEvent};

use crate::events::{cell_done, cell_started, prepare, progress, started, warning};
use crate::sample;

const S: u64 = 1_000_000_000;

fn measuring(no_color: bool) -> Screen {
    let mut screen = Screen::new(no_color);
    screen.take(&started(), 0);
    screen.take(&cell_started(0), 0);
    screen.take(&cell_done(0), 40 * S);
    screen.take(&warning("the hypervisor gave 2 % to others"), 40 * S);
    screen.take(&cell_started(1), 41 * S);
    for step in 0..20 {
        screen.take(&progress(1, Phase::Measure, step * S), 41 * S + step * S);
    }
    let interval = IntervalRecord::of(&sample::totals(1000, true), sample::NAMES);
    screen.take(&RunEvent::Interval { cell: 1, interval }, 61 * S);
    screen
}

fn drawn(screen: &Screen, width: u16, height: u16) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, screen)).unwrap();
    terminal
}

fn text(screen: &Screen, width: u16, height: u16) -> String {
    drawn(screen, width, height).backend().to_string()
}

#[test]
fn the_screen_shows_cells_figures_and_warnings() {
    let shown = text(&measuring(false), 80, 24);
    for wanted in [
        "pgmeter  1 of 2 cells done  1:01  warnings: 1  run run-1",
        "+ File Server, iod… 1.000k  3.906 MiB/s│",
        "> 4 KiB random read, iodepth 1, 1 work…│",
        "measure 0:19/0:30",
        "IOPS 12.35k       bandwidth 96.45 MiB/s",
        "p99  1.23 ms      errors    0",
        "IOPS, up to 12.35k",
        "bandwidth, up to 96.45 MiB/s",
        "             p50       p99       max",
        "read      151 µs    200 µs    200 µs",
        "the hypervisor gave 2 % to others",
        "q or Ctrl-C: stop and keep what was measured",
    ] {
        assert!(shown.contains(wanted), "`{wanted}` is missing:\n{shown}");
    }
}

#[test]
fn preparing_shows_speed_and_time_left() {
    let mut screen = Screen::new(false);
    screen.take(&prepare(0, 10 << 30), 0);
    screen.take(&prepare(1 << 30, 10 << 30), 2 * S);
    let shown = text(&screen, 80, 24);
    for wanted in [
        "prepare /mnt/array",
        "1 GiB of 10 GiB",
        "512.0 MiB/s",
        "0:18 left",
    ] {
        assert!(shown.contains(wanted), "`{wanted}` is missing:\n{shown}");
    }
}

#[test]
fn a_screen_of_any_size_is_drawn() {
    let screens = [Screen::new(false), measuring(false)];
    for screen in &screens {
        for (width, height) in [
            (1, 1),
            (2, 50),
            (10, 3),
            (59, 10),
            (60, 19),
            (200, 60),
            (300, 2),
        ] {
            let _ = text(screen, width, height);
        }
    }
}

#[test]
fn wide_names_do_not_break_the_list() {
    let mut record = sample::record();
    record.plan.cells[0].access_spec = Some("企鹅测量仪企鹅测量仪企鹅测量仪企鹅测量仪企鹅".into());
    let mut screen = Screen::new(false);
    screen.take(
        &RunEvent::Started {
            record: Box::new(record),
        },
        0,
    );
    let shown = text(&screen, 80, 24);
    assert!(shown.contains("…"), "{shown}");
}

#[test]
fn no_color_means_no_color() {
    let colors = |no_color| {
        let terminal = drawn(&measuring(no_color), 80, 24);
        let buffer = terminal.backend().buffer().clone();
        buffer
            .content
            .iter()
            .any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
    };
    assert!(colors(false));
    assert!(!colors(true));
}

#[test]
fn asking_twice_ends_at_once() {
    let mut screen = measuring(false);
    assert_eq!(screen.press(Key::Stop), Asked::Stop);
    let shown = text(&screen, 80, 24);
    assert!(
        shown.contains("stopping: what was measured is kept; q again ends at once"),
        "{shown}"
    );
    assert_eq!(screen.press(Key::Stop), Asked::StopNow);
}
