//! Results of the cell that the user selected.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Paragraph, Wrap};
use results::Status;
use units::format;

use super::Screen;
use crate::line::counted;
use crate::row::{CellRow, DoneCell};

/// Columns for the name of an operation.
const NAME_WIDTH: usize = 8;
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

pub fn draw(frame: &mut Frame, area: Rect, screen: &Screen, index: usize) {
    let state = screen.state();
    let Some(row) = state.cells.get(index) else {
        return;
    };
    let title = format!(" [{}] ", state.place_of_done(index));
    let block = Block::new().borders(Borders::TOP).title(title);
    let mut lines = vec![Line::from(row.description.as_str())];
    lines.extend(match &row.done {
        Some(done) => figures(row, done, screen, usize::from(area.width)),
        None => vec![Line::from("not measured yet")],
    });
    let text = Paragraph::new(lines)
        .wrap(Wrap { trim: false })
        .block(block);
    frame.render_widget(text, area);
}

fn figures<'a>(row: &CellRow, done: &DoneCell, screen: &Screen, width: usize) -> Vec<Line<'a>> {
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
        Line::from(summary),
        Line::from(""),
        Line::styled(format!("{rate} IOPS   {bandwidth}"), strong),
    ];
    if let Some(target) = &row.target {
        lines.insert(0, Line::from(target.clone()));
    }
    if done.errors > 0 {
        let errors = counted(done.errors, "error");
        lines.push(Line::styled(errors, screen.style(Color::Red)));
    }
    let room = width.saturating_sub(NAME_WIDTH + FIGURE_WIDTH) / FIGURE_WIDTH;
    let mut shown: Vec<_> = LATENCIES.into_iter().take(room).collect();
    // The room decides which latencies are shown, but not their order.
    shown.sort_by_key(|(place, _)| *place);
    let heads = shown
        .iter()
        .map(|(_, head)| format!("{head:>FIGURE_WIDTH$}"));
    let head = format!("{:NAME_WIDTH$}{:>FIGURE_WIDTH$}", "", "IOPS");
    let dim = Style::new().add_modifier(Modifier::DIM);
    lines.push(Line::from(""));
    lines.push(Line::styled(head + &heads.collect::<String>(), dim));
    for (name, operation) in &done.operations {
        let latency = |(place, _): &(usize, &str)| {
            let ns = operation.latencies_ns[*place];
            let text = ns.map_or_else(|| "-".to_owned(), format::latency_ns);
            format!("{text:>FIGURE_WIDTH$}")
        };
        let latencies: String = shown.iter().map(latency).collect();
        let rate = format::iops(operation.per_second);
        let line = format!("{name:<NAME_WIDTH$}{rate:>FIGURE_WIDTH$}{latencies}");
        lines.push(Line::from(line));
    }
    lines
}
