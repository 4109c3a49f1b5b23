//! Results of the cell that the user selected.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use results::Status;
use unicode_width::UnicodeWidthStr;
use units::{format, wrap};

use super::{Screen, rule};
use crate::line::counted;
use crate::row::DoneCell;

/// Columns for each value.
const FIGURE_WIDTH: usize = 9;
/// Latencies by index in [`DoneOperation`](crate::DoneOperation), most important first.
const LATENCIES: [(usize, &str); 5] = [
    (1, "p50"),
    (2, "p99"),
    (4, "max"),
    (0, "mean"),
    (3, "p99.9"),
];

/// The results, and a title for the charts below them, which show the current cell.
pub fn lines<'a>(screen: &Screen, index: usize, width: usize) -> Vec<Line<'a>> {
    let state = &screen.state;
    let Some(row) = state.cells.get(index) else {
        return Vec::new();
    };
    let mut lines = vec![rule(&format!("[{}]", state.place_of_done(index)), width)];
    lines.extend(wrap(&row.description, width).into_iter().map(Line::from));
    match &row.done {
        Some(done) => lines.extend(figures(done, screen, width)),
        None => lines.push(Line::from("not measured yet")),
    }
    if let Some(current) = &state.current {
        lines.push(rule(&format!("now: {}", current.description), width));
    }
    lines
}

fn figures<'a>(done: &DoneCell, screen: &Screen, width: usize) -> Vec<Line<'a>> {
    let span = format::span(done.run_time_ns);
    let summary = match done.status {
        Status::Complete => format!("measured for {span}"),
        Status::Interrupted => format!("cut short after {span}"),
        Status::Failed => "not valid".to_owned(),
    };
    let strong = Style::new().add_modifier(Modifier::BOLD);
    let rate = format::iops(done.iops);
    let bandwidth = format::bandwidth(done.bytes_per_second);
    let mut lines = vec![
        Line::styled(format!("{rate} IOPS   {bandwidth}"), strong),
        Line::from(summary),
    ];
    if done.errors > 0 {
        let errors = counted(done.errors, "error");
        lines.push(Line::styled(errors, screen.style(Color::Red)));
    }
    lines.extend(table(done, width));
    lines
}

/// Rates and latencies by operation.
fn table<'a>(done: &DoneCell, width: usize) -> Vec<Line<'a>> {
    let names = done.operations.keys().map(|name| name.width());
    let name_width = names.max().unwrap_or(0);
    let room = width.saturating_sub(name_width + FIGURE_WIDTH) / FIGURE_WIDTH;
    let mut shown: Vec<_> = LATENCIES.into_iter().take(room).collect();
    // The room decides which latencies are shown, but not their order.
    shown.sort_by_key(|(latency_index, _)| *latency_index);
    let heads = shown
        .iter()
        .map(|(_, head)| format!("{head:>FIGURE_WIDTH$}"));
    let head = format!("{:name_width$}{:>FIGURE_WIDTH$}", "", "IOPS");
    let dim = Style::new().add_modifier(Modifier::DIM);
    let mut lines = vec![Line::styled(head + &heads.collect::<String>(), dim)];
    for (name, operation) in &done.operations {
        let latency = |(latency_index, _): &(usize, &str)| {
            let ns = operation.latencies_ns[*latency_index];
            let text = ns.map_or_else(|| "-".to_owned(), format::latency_ns);
            format!("{text:>FIGURE_WIDTH$}")
        };
        let latencies: String = shown.iter().map(latency).collect();
        let rate = format::iops(operation.per_second);
        let line = format!("{name:<name_width$}{rate:>FIGURE_WIDTH$}{latencies}");
        lines.push(Line::from(line));
    }
    lines
}
