//! The line that is kept up to date: what matters most stays when the terminal is narrow.

use results::Phase;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};
use units::format;

use crate::state::{Current, Preparation, State};

/// A title is never cut below this many columns while other parts could go.
const TITLE_WIDTH_MIN: usize = 10;
/// Blanks between two parts.
const GAP: &str = "  ";

/// The state of a run in one line of at most `width` columns.
#[must_use]
pub fn live_line(state: &State, width: usize) -> String {
    let (title, parts) = match (&state.preparation, &state.current) {
        _ if state.cleanup.is_some() => removing(state),
        (Some(preparation), _) => preparing(preparation, state.now_ns),
        (None, Some(current)) => measuring(current, state.now_ns),
        (None, None) => ("starting".to_owned(), Vec::new()),
    };
    let mut parts = parts;
    if state.stopping {
        parts.push((9, "stopping".to_owned()));
    } else if state.warning_count > 0 {
        parts.push((1, counted(state.warning_count, "warning")));
    }
    fit(&title, parts, width)
}

/// What a part is worth, the least going first, and its text.
type Part = (u8, String);

fn preparing(preparation: &Preparation, now_ns: u64) -> (String, Vec<Part>) {
    let mut parts = Vec::new();
    if let Some(share) = preparation.share() {
        parts.push((8, format!("{:.0} %", share * 100.0)));
        let done = format::size(preparation.done_bytes);
        parts.push((
            3,
            format!("{done} of {}", format::size(preparation.total_bytes)),
        ));
    }
    if let Some(rate) = preparation.bytes_per_second(now_ns) {
        parts.push((5, format::bandwidth(rate)));
    }
    if let Some(left_ns) = preparation.left_ns(now_ns) {
        parts.push((7, format!("{} left", format::span(left_ns))));
    }
    (format!("prepare {}", preparation.target), parts)
}

fn removing(state: &State) -> (String, Vec<Part>) {
    let Some(cleanup) = &state.cleanup else {
        return (String::new(), Vec::new());
    };
    let removed = counted(cleanup.removed, "file");
    (format!("remove {}", cleanup.target), vec![(8, removed)])
}

fn measuring(current: &Current, now_ns: u64) -> (String, Vec<Part>) {
    let number = u64::from(current.index) + 1;
    let place = match current.budget_end_ns {
        None => format!("{number}/{}", current.count),
        // Nobody knows how many there will be, but until when they may begin.
        Some(end_ns) => match end_ns.saturating_sub(now_ns) {
            0 => format!("{number}, budget spent"),
            left_ns => format!("{number}, {} of budget left", format::span(left_ns)),
        },
    };
    let title = format!("[{place}] {}", current.what);
    let Some(phase) = &current.phase else {
        return (title, Vec::new());
    };
    let elapsed = format::span(current.elapsed_ns);
    let time = match current.total_ns {
        0 => format!("{} {elapsed}", phase.name()),
        total_ns => format!("{} {elapsed}/{}", phase.name(), format::span(total_ns)),
    };
    let mut parts = vec![
        (8, time),
        (7, format!("{} {}", format::iops(current.iops), unit(phase))),
        (6, format::bandwidth(current.bytes_per_second)),
    ];
    parts.extend(
        current
            .p99_ns
            .map(|ns| (4, format!("p99 {}", format::latency_ns(ns)))),
    );
    let errors_worth = if current.errors > 0 { 9 } else { 2 };
    parts.push((errors_worth, counted(current.errors, "error")));
    (title, parts)
}

/// What is counted in a second.
fn unit(phase: &Phase) -> &'static str {
    match phase {
        Phase::Classic(_) => "files/s",
        _ => "IOPS",
    }
}

/// `1 error`, `2 errors`.
fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", format::count(count))
}

/// Cuts the title, then leaves out the parts of least worth, until the line fits.
fn fit(title: &str, mut parts: Vec<Part>, width: usize) -> String {
    loop {
        let rest: usize = parts.iter().map(|(_, text)| GAP.len() + text.width()).sum();
        let room = width.saturating_sub(rest);
        let enough = title.width().min(TITLE_WIDTH_MIN);
        if room >= enough || parts.is_empty() {
            let mut line = cut(title, room.min(width));
            for (_, text) in &parts {
                line.push_str(GAP);
                line.push_str(text);
            }
            return line;
        }
        let least = (0..parts.len())
            .min_by_key(|index| parts[*index].0)
            .unwrap_or(0);
        parts.remove(least);
    }
}

/// `text` in at most `limit` columns, an ellipsis telling that something is missing.
pub fn cut(text: &str, limit: usize) -> String {
    if text.width() <= limit {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > limit {
            break;
        }
        cut.push(character);
    }
    if limit > 0 {
        cut.push('…');
    }
    cut
}
