//! The panel above the charts: the current activity, its progress and its values, or the results of
//! the selected cell.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{LineGauge, Paragraph};
use unicode_width::UnicodeWidthStr;
use units::{format, wrap};

use super::{Screen, chosen};
use crate::current::{CurrentCell, Preparation};
use crate::line::{counted, cut_middle, unit};

/// Blanks between two values.
const GAP: usize = 2;
/// A screen has at least this many times the lines of a title.
const TITLE_SHARE: usize = 6;

/// Contents of the panel.
#[derive(Debug, Clone, Default)]
pub struct ScreenPanel<'a> {
    /// Lines above the gauge.
    title: Vec<Line<'a>>,
    /// Completed share, if it is known, and its label; no gauge if `None`.
    gauge: Option<(f64, String)>,
    /// Lines below the gauge.
    values: Vec<Line<'a>>,
}

impl ScreenPanel<'_> {
    /// The panel for a screen of this size.
    pub fn of(screen: &Screen, width: usize, height: usize) -> Self {
        let state = &screen.state;
        let title = |text: &str| title(text, width, height);
        if let Some(index) = screen.selected {
            return Self {
                title: chosen::lines(screen, index, width),
                ..Self::default()
            };
        }
        match (&state.cleanup, &state.preparation, &state.current) {
            (Some(cleanup), _, _) => Self {
                title: title(&format!("remove {}", cleanup.target)),
                values: vec![Line::from(counted(cleanup.removed, "file"))],
                ..Self::default()
            },
            (None, Some(preparation), _) => Self {
                title: title(&format!("prepare {}", preparation.target)),
                gauge: Some(prepared(preparation)),
                values: flow(&speed(preparation, state.now_ns), width),
            },
            (None, None, Some(current)) => Self {
                title: title(&current.description),
                gauge: Some(measured(current)),
                values: flow(&values(current, screen), width),
            },
            (None, None, None) => Self {
                title: title("starting"),
                ..Self::default()
            },
        }
    }

    /// Number of lines.
    pub fn height(&self) -> usize {
        self.title.len() + usize::from(self.gauge.is_some()) + self.values.len()
    }

    /// Draws the panel.
    pub fn draw(self, frame: &mut Frame, area: Rect, screen: &Screen) {
        let length = |lines: usize| Constraint::Length(u16::try_from(lines).unwrap_or(u16::MAX));
        let [title, bar, values] = Layout::vertical([
            length(self.title.len()),
            length(usize::from(self.gauge.is_some())),
            Constraint::Fill(1),
        ])
        .areas(area);
        frame.render_widget(Paragraph::new(self.title), title);
        frame.render_widget(Paragraph::new(self.values), values);
        let Some((share, label)) = self.gauge else {
            return;
        };
        let dim = Style::new().add_modifier(Modifier::DIM);
        let gauge = LineGauge::default()
            .ratio(share)
            .label(label)
            .filled_symbol("━")
            .unfilled_symbol("─")
            .filled_style(screen.style(Color::Green))
            .unfilled_style(dim);
        frame.render_widget(gauge, bar);
    }
}

/// A title on as many lines as it needs. On a low screen, it is cut in its middle.
fn title<'a>(text: &str, width: usize, height: usize) -> Vec<Line<'a>> {
    let strong = Style::new().add_modifier(Modifier::BOLD);
    let lines_max = (height / TITLE_SHARE).max(1);
    let mut lines = wrap(text, width);
    let mut limit = lines_max * width;
    while lines.len() > lines_max {
        lines = wrap(&cut_middle(text, limit), width);
        // Words do not fill their lines, so that the text may still be too long.
        limit = limit.saturating_sub(width.div_ceil(4));
        if limit == 0 {
            lines.truncate(lines_max);
        }
    }
    let lines = lines.into_iter();
    lines.map(|line| Line::styled(line, strong)).collect()
}

fn prepared(preparation: &Preparation) -> (f64, String) {
    let done = format::size(preparation.done_bytes);
    let label = format!("{done} of {}", format::size(preparation.total_bytes));
    (preparation.share().unwrap_or(0.0), label)
}

fn speed<'a>(preparation: &Preparation, now_ns: u64) -> Vec<Span<'a>> {
    let rate = preparation.bytes_per_second(now_ns).map(format::bandwidth);
    let left_ns = preparation.left_ns(now_ns);
    let left = left_ns.map(|ns| format!("{} left", format::span(ns)));
    rate.into_iter().chain(left).map(Span::raw).collect()
}

fn measured(current: &CurrentCell) -> (f64, String) {
    let phase = current.phase.as_ref();
    let phase = phase.map_or("starting", |phase| phase.name());
    let elapsed = format::span(current.elapsed_ns);
    let label = match current.total_ns {
        0 => format!("{phase} {elapsed}"),
        total_ns => format!("{phase} {elapsed}/{}", format::span(total_ns)),
    };
    (current.share().unwrap_or(0.0), label)
}

/// The current values. Their widths are fixed, so that they do not move when their lengths change.
fn values<'a>(current: &CurrentCell, screen: &Screen) -> Vec<Span<'a>> {
    let strong = Style::new().add_modifier(Modifier::BOLD);
    let latency = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), format::latency_ns);
    let rate = current.phase.as_ref().map_or("IOPS", unit);
    let bandwidth = format::bandwidth(current.bytes_per_second);
    let texts = [
        format!("{rate} {:<7}", format::iops(current.iops)),
        format!("bandwidth {bandwidth:<11}"),
        format!("p50 {:<7}", latency(current.p50_ns)),
        format!("p99 {:<7}", latency(current.p99_ns)),
    ];
    let mut values: Vec<Span> = texts
        .into_iter()
        .map(|text| Span::styled(text, strong))
        .collect();
    if current.errors > 0 {
        let style = screen.style(Color::Red).add_modifier(Modifier::BOLD);
        // First, because errors must stay visible on any terminal.
        values.insert(0, Span::styled(counted(current.errors, "error"), style));
    }
    values
}

/// Puts values on as many lines as they need.
fn flow<'a>(values: &[Span<'a>], width: usize) -> Vec<Line<'a>> {
    let mut lines: Vec<Line> = Vec::new();
    for value in values {
        let needed = GAP + value.content.trim_end().width();
        match lines
            .last_mut()
            .filter(|line| line.width() + needed <= width)
        {
            Some(line) => {
                line.push_span(Span::raw(" ".repeat(GAP)));
                line.push_span(value.clone());
            }
            None => lines.push(Line::from(value.clone())),
        }
    }
    lines
}
