//! Tests of the full screen, drawn on a terminal in memory.

use display::{PressedKey, Screen, UserRequest, draw};
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use results::{IntervalRecord, Phase, RunEvent};

use crate::events::{
    cell_done, cell_started, prepare, progress, progress_of_several, started, started_by_four,
    warning,
};
use crate::sample;
use crate::situations::{self, LONG_CELL, record, running};

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
        "+ File Server Q8T2        1.000k IOPS    > 4 KiB random read Q1T1 ",
        "measure 0:19/0:30 ━━━",
        "IOPS 12.35k   bandwidth 96.45 MiB/s  p50 150 µs   p99 1.23 ms",
        " latency: p99 (top), p50 (bottom) ",
        " 2 ms ┤",
        "100 µs ┤",
        " latency distribution ",
        "read    80.00/s  320.0 KiB/s  p50  151 µs  p99  200 µs  max  200 µs",
        "the hypervisor gave 2 % to others",
        "? help   s stop   n next cell   ↑↓ select a cell   q leave the screen",
    ] {
        assert!(shown.contains(wanted), "`{wanted}` is missing:\n{shown}");
    }
}

#[test]
fn strips_have_round_ticks_with_units_and_share_one_time_axis() {
    let shown = text(&measuring(false), 100, 40);
    let strong = "█".repeat(88);
    for wanted in [
        " 14k ┤",
        " 0 ┤⣿⣿⣿⣿",
        " 100 MiB/s ┤",
        " 0 MiB/s ┤⣿⣿⣿⣿",
        "            0:00                0:05                  0:10                  0:15     ",
        // All latencies are in the second and third octaves, except a few in the sixth.
        "│▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓",
        &format!("100 µs ┤{strong}"),
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
        "          IOPS     mean      p50      p99    p99.9      max",
        "read     800.0   150 µs",
        "write    200.0   209 µs",
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
fn a_wide_name_is_cut_where_it_does_not_fit() {
    let name = "企鹅测量仪企鹅测量仪企鹅测量仪企鹅测量仪企鹅";
    let record = record(&[(name, 8), ("short", 8), ("other", 8)]);
    let screen = running(&record, 1, 10);
    let (wide, narrow) = (text(&screen, 80, 24), text(&screen, 40, 24));
    assert!(wide.contains(name) && !wide.contains("…"), "{wide}");
    assert!(narrow.contains("…"), "{narrow}");
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
fn colors_come_from_the_theme_of_the_terminal() {
    for (name, screen) in situations::all() {
        let terminal = drawn(screen, 120, 40);
        for cell in &terminal.backend().buffer().content {
            // Black and white would be invisible on some backgrounds.
            let is_theme = matches!(
                cell.fg,
                Color::Reset
                    | Color::Red
                    | Color::Green
                    | Color::Yellow
                    | Color::Magenta
                    | Color::Cyan
            );
            assert!(is_theme && cell.bg == Color::Reset, "{name}: {cell:?}");
        }
    }
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
        "p50 -        p99 -",
        " bandwidth ",
        " latency distribution ",
    ] {
        assert!(shown.contains(wanted), "`{wanted}` is missing:\n{shown}");
    }
    assert!(!shown.contains("p99 (top)"), "{shown}");
}

/// The sizes that must be used well.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 50)];

/// The symbols of each row.
fn rows(screen: &Screen, width: u16, height: u16) -> Vec<Vec<String>> {
    let terminal = drawn(screen, width, height);
    let buffer = terminal.backend().buffer();
    let row = |y| (0..width).map(move |x| buffer[(x, y)].symbol().to_owned());
    (0..height).map(|y| row(y).collect()).collect()
}

/// A blank, or a Braille pattern without dots.
fn is_empty(symbol: &str) -> bool {
    [" ", "\u{2800}"].contains(&symbol)
}

/// Columns times rows of the largest rectangle without any symbol.
fn largest_gap(rows: &[Vec<String>]) -> usize {
    // For each column, the number of empty symbols that end in the current row.
    let mut heights = vec![0; rows[0].len()];
    let mut largest = 0;
    for row in rows {
        for (height, symbol) in heights.iter_mut().zip(row) {
            *height = if is_empty(symbol) { *height + 1 } else { 0 };
        }
        for start in 0..heights.len() {
            let mut lowest = usize::MAX;
            for (width, height) in (1..).zip(&heights[start..]) {
                lowest = lowest.min(*height);
                largest = largest.max(lowest * width);
            }
        }
    }
    largest
}

#[test]
fn every_situation_fills_the_screen() {
    for (name, screen) in situations::all() {
        for (width, height) in SIZES {
            let shown = text(screen, width, height);
            let rows = rows(screen, width, height);
            let area = usize::from(width) * usize::from(height);
            let gap = largest_gap(&rows) * 100 / area;
            let is_used = |row: &Vec<String>| !row.iter().all(|it| is_empty(it));
            assert!(rows.iter().all(is_used), "{name}: an empty line:\n{shown}");
            let is_measured = !["starting", "preparing", "no values"].contains(name);
            let gap_max = if is_measured { 12 } else { 20 };
            assert!(
                gap <= gap_max,
                "{name}: a gap of {gap} % of the screen:\n{shown}"
            );
            let empty = rows.iter().flatten().filter(|it| is_empty(it)).count();
            let empty = empty * 100 / area;
            assert!(
                !is_measured || empty <= 45,
                "{name}: {empty} % empty:\n{shown}"
            );
        }
    }
}

#[test]
fn charts_are_as_wide_as_the_screen() {
    for (name, screen) in situations::all() {
        if ["starting", "no values", "help"].contains(name) {
            continue;
        }
        for (width, height) in SIZES {
            let shown = text(screen, width, height);
            let rows = rows(screen, width, height);
            let bottom = rows.iter().find(|row| row.concat().contains(" 0 ┤"));
            let bottom = bottom.or(rows.iter().find(|row| row.concat().contains(" 0 MiB/s ┤")));
            let bottom = bottom.unwrap_or_else(|| panic!("{name}: no rate:\n{shown}"));
            // The labels take 12 columns.
            assert!(
                !bottom[12..].iter().any(|it| is_empty(it)),
                "{name}:\n{shown}"
            );
            let has_heat = shown.contains(" latency distribution ─");
            assert_eq!(has_heat, *name != "preparing", "{name}:\n{shown}");
        }
    }
}

#[test]
fn nothing_is_cut_at_usual_sizes_except_long_names_in_lists() {
    for (name, screen) in situations::all() {
        for (width, height) in SIZES {
            let shown = text(screen, width, height);
            if !name.starts_with("long") {
                assert!(!shown.contains("…"), "{name}:\n{shown}");
                continue;
            }
            let letters = |text: &str| text.split_whitespace().collect::<String>();
            let rows = rows(screen, width, height).concat().concat();
            // The title has as many lines as it needs.
            let title = format!("{LONG_CELL}, iodepth");
            assert!(
                letters(&rows).contains(&letters(&title)),
                "{name}:\n{shown}"
            );
            // The repetition distinguishes the cells, so the title must keep it.
            let shows_repetition = ["rep 1 ", "repetition 1 "]
                .iter()
                .any(|it| rows.contains(it));
            assert!(shows_repetition || *name != "long names", "{shown}");
        }
    }
}

#[test]
fn short_lists_are_folded() {
    let lines = |screen: &Screen, size: (u16, u16), wanted: &str| {
        let rows = rows(screen, size.0, size.1);
        let rows = rows.iter().filter(|row| row.concat().contains(wanted));
        rows.count()
    };
    let one = running(&record(&[("File Server", 8)]), 0, 100);
    let two = running(&record(&[("File Server", 8), ("Web Server", 8)]), 0, 100);
    let three = [("File Server", 8), ("Web Server", 8), ("Mail Server", 8)];
    let three = running(&record(&three), 0, 100);
    for size in SIZES {
        assert_eq!(lines(&one, size, " cells ──"), 0);
        // The title and the only line of the list.
        assert_eq!(lines(&one, size, "File Server"), 1);
        assert_eq!(lines(&two, size, " cells ──"), 0);
        assert_eq!(lines(&two, size, "Web Server"), 1);
        assert_eq!(lines(&three, size, " cells ──"), 1);
    }
    // 20 cells on a low screen need one line.
    let low = rows(&running(&situations::sweep(), 7, 100), 80, 12);
    let low = low.iter().filter(|row| row.concat().contains("4k random"));
    assert_eq!(low.count(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_screen_of_any_size_is_drawn(width in 1_u16..260, height in 1_u16..70) {
        for (_, screen) in situations::all() {
            let _ = text(screen, width, height);
        }
    }

    #[test]
    fn a_small_screen_shows_the_title_and_the_keys(width in 20_u16..60, height in 5_u16..14) {
        for (name, screen) in situations::all() {
            let rows = rows(screen, width, height);
            if *name != "help" {
                prop_assert!(rows[0].concat().starts_with("pgmeter"));
                prop_assert!(rows[usize::from(height) - 1].concat().starts_with("? help"));
            }
        }
    }
}
