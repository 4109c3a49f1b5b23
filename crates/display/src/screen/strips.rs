//! History of a cell as strips above one time axis: rates, latency percentiles, and the
//! distribution of latencies.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::{Axis, Block, Borders, Chart, Dataset, GraphType, Paragraph, Sparkline};
use units::format;

use super::Screen;
use crate::current::CellHistory;

/// Columns for the ticks.
const TICK_WIDTH: u16 = 12;
/// Narrower strips have no ticks.
const TICKED_WIDTH_MIN: u16 = 30;
/// A title and two lines.
const HEIGHT_MIN: u16 = 3;
/// Narrower axes do not show the time in their middle.
const MIDDLE_WIDTH_MIN: usize = 30;
/// Shades, each with the smallest share of a column's latencies that it stands for.
const SHADES: [(f64, char); 4] = [(0.5, '█'), (0.1, '▓'), (0.01, '▒'), (0.0, '░')];

/// Contents of a strip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strip {
    Iops,
    Bandwidth,
    Latency,
    Heat,
}

/// The strips that fit into `height` lines. While several processes measure, only the distribution
/// of latencies is known, not their percentiles.
fn strips(height: u16, has_percentiles: bool) -> &'static [Strip] {
    match height / HEIGHT_MIN {
        0 => &[],
        1 => &[Strip::Iops],
        2 if !has_percentiles => &[Strip::Iops, Strip::Heat],
        _ if !has_percentiles => &[Strip::Iops, Strip::Bandwidth, Strip::Heat],
        2 => &[Strip::Iops, Strip::Latency],
        3 => &[Strip::Iops, Strip::Latency, Strip::Heat],
        _ => &[Strip::Iops, Strip::Bandwidth, Strip::Latency, Strip::Heat],
    }
}

/// Draws the strips that fit into the area.
pub fn draw(frame: &mut Frame, area: Rect, screen: &Screen, past: &CellHistory, elapsed_ns: u64) {
    let has_percentiles = screen.state().cluster.is_none();
    let shown = strips(area.height.saturating_sub(1), has_percentiles);
    if shown.is_empty() {
        return;
    }
    let [above, axis] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(area);
    let rows = Layout::vertical(vec![Constraint::Fill(1); shown.len()]).split(above);
    for (strip, row) in shown.iter().zip(rows.iter()) {
        strip.draw(frame, *row, screen, past);
    }
    // Below the columns of the strips, not below their ticks.
    let axis = inner(axis);
    let columns = past.iops.points(usize::from(axis.width)).len();
    let text = time_axis(columns, elapsed_ns);
    let dim = Style::new().add_modifier(Modifier::DIM);
    frame.render_widget(Paragraph::new(Line::styled(text, dim)), axis);
}

/// Area for the columns of a strip, to the right of the ticks.
fn inner(area: Rect) -> Rect {
    let ticks = if area.width < TICKED_WIDTH_MIN {
        0
    } else {
        TICK_WIDTH
    };
    Rect {
        x: area.x + ticks,
        width: area.width - ticks,
        ..area
    }
}

/// The times at both ends of the axis, and in the middle if it is wide enough.
fn time_axis(columns: usize, elapsed_ns: u64) -> String {
    let (start, end) = ("0:00", format::span(elapsed_ns));
    if columns < start.len() + end.len() + 1 {
        return end;
    }
    let mut axis = start.to_owned();
    if columns >= MIDDLE_WIDTH_MIN {
        let middle = format::span(elapsed_ns / 2);
        let at = columns / 2 - middle.len() / 2;
        axis = format!("{axis:<at$}{middle}");
    }
    let at = columns - end.len();
    format!("{axis:<at$}{end}")
}

impl Strip {
    fn draw(self, frame: &mut Frame, area: Rect, screen: &Screen, past: &CellHistory) {
        let title = match self {
            Self::Iops => " IOPS ",
            Self::Bandwidth => " bandwidth ",
            Self::Latency => " latency: p99 (top), p50 (bottom) ",
            Self::Heat => " latency distribution ",
        };
        let block = Block::new().borders(Borders::TOP).title(title);
        let below = block.inner(area);
        frame.render_widget(block, area);
        let plot = inner(below);
        if plot.width == 0 || plot.height == 0 {
            return;
        }
        let width = usize::from(plot.width);
        let ticks = match self {
            Self::Iops => {
                let points = past.iops.points(width);
                rate(frame, plot, &points, screen.style(Color::Cyan));
                rate_ticks(&points, format::iops)
            }
            Self::Bandwidth => {
                let points = past.bandwidth.points(width);
                rate(frame, plot, &points, screen.style(Color::Magenta));
                rate_ticks(&points, format::bandwidth)
            }
            Self::Latency => latency(frame, plot, screen, past),
            Self::Heat => heat(frame, plot, screen, &past.octaves.points(width)),
        };
        if let Some(ticks) = ticks.filter(|_| plot.x > below.x) {
            draw_ticks(frame, below, &ticks);
        }
    }
}

/// Labels for the top and the bottom of a strip.
type Ticks = [String; 2];

fn draw_ticks(frame: &mut Frame, area: Rect, [top, bottom]: &Ticks) {
    let dim = Style::new().add_modifier(Modifier::DIM);
    let room = usize::from(TICK_WIDTH) - 1;
    let rows = [(0, top), (area.height - 1, bottom)];
    let count = if area.height > 1 { 2 } else { 1 };
    for (row, text) in rows.into_iter().take(count) {
        let row_area = Rect {
            y: area.y + row,
            height: 1,
            width: TICK_WIDTH,
            ..area
        };
        let line = Line::styled(format!("{text:>room$}"), dim);
        frame.render_widget(Paragraph::new(line), row_area);
    }
}

fn rate(frame: &mut Frame, area: Rect, points: &[u64], style: Style) {
    frame.render_widget(Sparkline::default().data(points).style(style), area);
}

fn rate_ticks(points: &[u64], show: fn(f64) -> String) -> Option<Ticks> {
    let most = points.iter().max()?;
    Some([show(*most as f64), "0".to_owned()])
}

/// Draws p50 and p99 on a logarithmic scale.
fn latency(frame: &mut Frame, area: Rect, screen: &Screen, past: &CellHistory) -> Option<Ticks> {
    // A Braille cell is two points wide, so each value has two points.
    let columns = usize::from(area.width);
    let known = |points: Vec<u64>| -> Vec<(f64, f64)> {
        let numbered = points.into_iter().enumerate();
        // 0 stands for an unknown value and has no logarithm.
        let known = numbered.filter(|(_, ns)| *ns > 0);
        known
            .map(|(x, ns)| (x as f64, (ns as f64).log2()))
            .collect()
    };
    let p50 = known(past.p50_ns.points(columns));
    let p99 = known(past.p99_ns.points(columns));
    let all = || p50.iter().chain(&p99).map(|point| point.1);
    let (low, high) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
    // With less than one octave of values, widen the scale: noise must not fill the whole strip.
    let (bottom, top) = if high - low < 1.0 {
        (low - 1.0, high + 1.0)
    } else {
        (low, high)
    };
    let of = |data, color| {
        Dataset::default()
            .data(data)
            .marker(Marker::Braille)
            .graph_type(GraphType::Line)
            .style(screen.style(color))
    };
    let chart = Chart::new(vec![of(&p99, Color::Yellow), of(&p50, Color::Green)])
        .x_axis(Axis::default().bounds([0.0, columns.saturating_sub(1).max(1) as f64]))
        .y_axis(Axis::default().bounds([bottom, top]));
    frame.render_widget(chart, area);
    Some([top, bottom].map(|octave| format::latency(octave.exp2())))
}

/// Draws the distribution of latencies over time, one or more octaves per line, the slowest on top.
fn heat(frame: &mut Frame, area: Rect, screen: &Screen, columns: &[Vec<u64>]) -> Option<Ticks> {
    let is_used = |octave: &usize| {
        let mut counts = columns.iter().filter_map(|it| it.get(*octave));
        counts.any(|count| *count > 0)
    };
    let octave_count = columns.iter().map(Vec::len).max()?;
    let low = (0..octave_count).find(is_used)?;
    let high = (0..octave_count).rfind(is_used)?;
    let per_row = (high - low + 1).div_ceil(usize::from(area.height));
    let rows = (high - low + 1).div_ceil(per_row);
    let line = |row: usize| {
        let first = low + (rows - 1 - row) * per_row;
        let shade = |column: &Vec<u64>| {
            let all: u64 = column.iter().sum();
            let own: u64 = column.iter().skip(first).take(per_row).sum();
            shade(own, all)
        };
        let shades: String = columns.iter().map(shade).collect();
        Line::styled(shades, screen.style(Color::Yellow))
    };
    let lines: Vec<Line> = (0..rows).map(line).collect();
    // Unused lines stay empty at the top.
    let free = area.height - u16::try_from(rows).unwrap_or(area.height);
    let used = Rect {
        y: area.y + free,
        height: area.height - free,
        ..area
    };
    frame.render_widget(Paragraph::new(lines), used);
    let bound = |octave: usize| format::latency((octave as f64).exp2());
    // The upper label stands above the unused lines, so they count as octaves.
    let top = low + (rows + usize::from(free)) * per_row;
    Some([bound(top), bound(low)])
}

fn shade(own: u64, all: u64) -> char {
    if own == 0 {
        return ' ';
    }
    let share = own as f64 / all as f64;
    let known = SHADES.iter().find(|(least, _)| share >= *least);
    known.map_or(' ', |(_, shade)| *shade)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_show_the_share() {
        let shades = [0, 1, 10, 100, 500, 1000].map(|own| shade(own, 1000));
        assert_eq!(shades, [' ', '░', '▒', '▓', '█', '█']);
        assert_eq!(shade(0, 0), ' ');
    }

    #[test]
    fn the_axis_ends_where_the_columns_do() {
        const S: u64 = 1_000_000_000;
        assert_eq!(time_axis(3, 7 * S), "0:07");
        assert_eq!(time_axis(12, 7 * S), "0:00    0:07");
        assert_eq!(time_axis(30, 20 * S), "0:00         0:10         0:20");
    }
}
