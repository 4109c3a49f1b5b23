//! The current cell: its progress, current values, their history, and the last interval.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Gauge, Paragraph};
use results::IntervalRecord;
use units::format;

use super::{Screen, strips};
use crate::current::{CurrentCell, Preparation};

/// Title, gauge, and two lines of values.
const FIGURES_HEIGHT: u16 = 4;
/// The strips need at least three lines each for three of them, and an axis line, before the last
/// interval is shown.
const STRIPS_HEIGHT_MIN: u16 = 10;

pub fn draw(frame: &mut Frame, area: Rect, screen: &Screen) {
    let block = Block::new().borders(Borders::TOP).title(" now ");
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let state = screen.state();
    match (&state.preparation, &state.current) {
        (Some(preparation), _) => preparing(frame, inner, screen, preparation),
        (None, Some(current)) => measuring(frame, inner, screen, current),
        (None, None) => frame.render_widget(Paragraph::new("starting"), inner),
    }
}

fn preparing(frame: &mut Frame, area: Rect, screen: &Screen, preparation: &Preparation) {
    let [title, bar, figures] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Fill(1),
    ])
    .areas(area);
    frame.render_widget(
        Paragraph::new(format!("prepare {}", preparation.target)),
        title,
    );
    let done = format::size(preparation.done_bytes);
    let label = format!("{done} of {}", format::size(preparation.total_bytes));
    gauge(frame, bar, screen, preparation.share(), label);
    let now_ns = screen.state().now_ns;
    let rate = preparation.bytes_per_second(now_ns).map(format::bandwidth);
    let left = preparation
        .left_ns(now_ns)
        .map(|ns| format!("{} left", format::span(ns)));
    let lines: Vec<Line> = rate.into_iter().chain(left).map(Line::from).collect();
    frame.render_widget(Paragraph::new(lines), figures);
}

fn measuring(frame: &mut Frame, area: Rect, screen: &Screen, current: &CurrentCell) {
    let interval_height = current.interval.as_ref().map_or(0, |interval| {
        let height = u16::try_from(interval.operations.len() + 1).unwrap_or(u16::MAX);
        let room = area
            .height
            .saturating_sub(FIGURES_HEIGHT + STRIPS_HEIGHT_MIN);
        // A part of the table would look like all operations, so it is shown whole or not at all.
        if height > room { 0 } else { height }
    });
    let [figures, past, interval] = Layout::vertical([
        Constraint::Length(FIGURES_HEIGHT),
        Constraint::Fill(1),
        Constraint::Length(interval_height),
    ])
    .areas(area);
    draw_figures(frame, figures, screen, current);
    let now_ns = screen.state().now_ns;
    let since_ns = current.history.since_ns.unwrap_or(now_ns);
    let elapsed_ns = now_ns.saturating_sub(since_ns);
    strips::draw(frame, past, screen, &current.history, elapsed_ns);
    if let Some(last) = &current.interval {
        draw_interval(frame, interval, last);
    }
}

fn draw_figures(frame: &mut Frame, area: Rect, screen: &Screen, current: &CurrentCell) {
    let [title, bar, upper, lower] = Layout::vertical([Constraint::Length(1); 4]).areas(area);
    frame.render_widget(Paragraph::new(current.description.as_str()), title);
    let phase = current
        .phase
        .as_ref()
        .map_or("starting", |phase| phase.name());
    let elapsed = format::span(current.elapsed_ns);
    let label = match current.total_ns {
        0 => format!("{phase} {elapsed}"),
        total_ns => format!("{phase} {elapsed}/{}", format::span(total_ns)),
    };
    gauge(frame, bar, screen, current.share(), label);
    let latency = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), format::latency_ns);
    let (p50, p99) = (latency(current.p50_ns), latency(current.p99_ns));
    let strong = Style::new().add_modifier(Modifier::BOLD);
    let errors = if current.errors > 0 {
        screen.style(Color::Red)
    } else {
        Style::new()
    };
    // A fixed width, so that values do not move when their lengths change.
    let figure = |name: &'static str, text: String, style: Style| {
        [Span::raw(name), Span::styled(format!("{text:<12} "), style)]
    };
    let rates = [
        figure("IOPS ", format::iops(current.iops), strong),
        figure(
            "bandwidth ",
            format::bandwidth(current.bytes_per_second),
            strong,
        ),
    ];
    let mut others = vec![
        figure("p50  ", p50, strong),
        figure("p99       ", p99, strong),
    ];
    if current.errors > 0 {
        let count = format::count(current.errors);
        others.insert(0, figure("errors ", count, errors));
    }
    frame.render_widget(Paragraph::new(Line::from(rates.concat())), upper);
    frame.render_widget(Paragraph::new(Line::from(others.concat())), lower);
}

fn gauge(frame: &mut Frame, area: Rect, screen: &Screen, share: Option<f64>, label: String) {
    let gauge = Gauge::default()
        // `ratio` panics outside 0 to 1, so shares are clamped.
        .ratio(share.unwrap_or(0.0))
        .label(label)
        .gauge_style(screen.style(Color::Blue).add_modifier(Modifier::REVERSED));
    frame.render_widget(gauge, area);
}

/// Draws the latencies of an interval by operation.
fn draw_interval(frame: &mut Frame, area: Rect, interval: &IntervalRecord) {
    let dim = Style::new().add_modifier(Modifier::DIM);
    let head = format!("{:<8}{:>8}{:>10}{:>10}", "", "p50", "p99", "max");
    let mut lines = vec![Line::styled(head, dim)];
    let latency = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), format::latency_ns);
    lines.extend(interval.operations.iter().map(|(name, figures)| {
        Line::from(format!(
            "{name:<8}{:>8}{:>10}{:>10}",
            latency(figures.p50_ns),
            latency(figures.p99_ns),
            latency(figures.max_ns),
        ))
    }));
    frame.render_widget(Paragraph::new(lines), area);
}
