//! Tests of the full screen, drawn on a terminal in memory.

use display::{PressedKey, Screen, UserRequest, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use results::{IntervalRecord, Phase, RunEvent};

use crate::events::{
    cell_done, cell_started, prepare, progress, progress_of_several, started, started_by_four,
    warning,
};
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
        "pgmeter  [2/2]  ~15 s left  1:01  1 warning  run run-1",
        "+ File Server Q8T2           1.000k│",
        "> 4 KiB random read Q1T1           │",
        "0:19/0:30",
        "IOPS 12.35k       bandwidth 96.45 MiB/s",
        "p50  150 µs       p99       1.23 ms",
        " latency: p99 (top), p50 (bottom) ",
        " 1.23 ms ",
        "  150 µs ",
        " latency distribution ",
        "             p50       p99       max",
        "read      151 µs    200 µs    200 µs",
        "the hypervisor gave 2 % to others",
        "? help   s stop   n next cell   ↑↓ select a cell   q leave the screen",
    ] {
        assert!(shown.contains(wanted), "`{wanted}` is missing:\n{shown}");
    }
}

#[test]
fn strips_have_ticks_with_units_and_share_one_time_axis() {
    let shown = text(&measuring(false), 100, 40);
    for wanted in [
        "  12.35k ████████████████████",
        "       0 ████████████████████",
        "96.45 MiB/s",
        "            0:00            0:20",
        // All latencies are in the second and third octaves, except a few in the sixth.
        "2.10 ms ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒",
        "█████",
    ] {
        assert!(shown.contains(wanted), "`{wanted}` is missing:\n{shown}");
    }
}

#[test]
fn a_finished_cell_can_be_viewed() {
    let mut screen = measuring(false);
    assert_eq!(screen.press(PressedKey::Up), UserRequest::None);
    let shown = text(&screen, 80, 24);
    for wanted in [
        " [1/2] ",
        "File Server, iodepth 8, 2 workers",
        "measured for 0:10",
        "1.000k IOPS   3.906 MiB/s",
        "             IOPS      p50      p99      max",
        "read        800.0",
        "write       200.0",
    ] {
        assert!(shown.contains(wanted), "`{wanted}` is missing:\n{shown}");
    }
    let (narrow, wanted) = (text(&screen, 40, 10), "1.000k IOPS   3.906 MiB/s");
    assert!(narrow.contains(wanted), "{narrow}");
    for key in [PressedKey::Back, PressedKey::Down] {
        let _ = screen.press(PressedKey::Up);
        let _ = screen.press(key);
        assert!(text(&screen, 80, 24).contains("latency: p99"), "{key:?}");
    }
    let mut first = Screen::new(false);
    first.take(&started(), 0);
    first.take(&cell_started(0), 0);
    let _ = first.press(PressedKey::Down);
    assert!(text(&first, 80, 24).contains("not measured yet"));
}

#[test]
fn the_key_help_fits_the_smallest_terminal() {
    let mut screen = measuring(false);
    let _ = screen.press(PressedKey::Help);
    for (width, height) in [(40, 10), (80, 24)] {
        let shown = text(&screen, width, height);
        for wanted in [
            "s, Ctrl-C  stop; again: end at once",
            "q          leave; the run continues",
            "Ctrl-Z     suspend; `fg` resumes",
        ] {
            assert!(shown.contains(wanted), "`{wanted}` is missing:\n{shown}");
        }
    }
    let _ = screen.press(PressedKey::Help);
    assert!(!text(&screen, 80, 24).contains("suspend"));
}

#[test]
fn a_cell_is_skipped_only_while_it_is_measured() {
    let mut screen = Screen::new(false);
    screen.take(&started(), 0);
    screen.take(&prepare(0, 10 << 30), 0);
    assert_eq!(screen.press(PressedKey::Next), UserRequest::None);
    screen.take(&cell_started(0), S);
    assert_eq!(screen.press(PressedKey::Next), UserRequest::Next);
}

#[test]
fn leaving_the_screen_does_not_stop_the_run() {
    let mut screen = measuring(false);
    assert_eq!(screen.press(PressedKey::Leave), UserRequest::None);
    assert!(screen.is_left() && !screen.state().stopping);
    // While the help is shown, the key closes only the help.
    let mut screen = measuring(false);
    let _ = screen.press(PressedKey::Help);
    let _ = screen.press(PressedKey::Leave);
    assert!(!screen.is_left());
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
    let mut screens = [Screen::new(false), measuring(false), measuring(true)];
    let _ = screens[1].press(PressedKey::Help);
    let _ = screens[2].press(PressedKey::Up);
    for screen in &screens {
        for (width, height) in [
            (1, 1),
            (2, 50),
            (10, 3),
            (40, 10),
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
fn a_second_stop_ends_the_run_at_once() {
    let mut screen = measuring(false);
    assert_eq!(screen.press(PressedKey::Stop), UserRequest::Stop);
    let shown = text(&screen, 80, 24);
    assert!(
        shown.contains("stopping: results so far are kept; s again ends at once"),
        "{shown}"
    );
    assert_eq!(screen.press(PressedKey::Stop), UserRequest::StopNow);
}

#[test]
fn a_stop_wins_over_other_keys_pressed_with_it() {
    for keys in [
        [PressedKey::Stop, PressedKey::Next],
        [PressedKey::Next, PressedKey::Stop],
    ] {
        let mut screen = measuring(false);
        let event = progress(0, Phase::Measure, 30 * S);
        let request = screen.apply(&event, 30 * S, &keys);
        assert_eq!(request, UserRequest::Stop, "{keys:?}");
    }
}

#[test]
fn a_screen_of_several_processes_shows_and_draws_no_percentile() {
    let mut screen = Screen::new(false);
    screen.take(&started_by_four(), 0);
    screen.take(&cell_started(0), 0);
    for step in 0..20 {
        screen.take(&progress_of_several(0, Phase::Measure, step * S), step * S);
    }
    let shown = text(&screen, 100, 24);
    for wanted in [
        "4 processes on 2 hosts",
        "p50  -            p99       -",
        " bandwidth ",
        " latency distribution ",
    ] {
        assert!(shown.contains(wanted), "`{wanted}` is missing:\n{shown}");
    }
    assert!(!shown.contains("p99 (top)"), "{shown}");
}
