//! History of a cell as charts above a time axis: rates, latency percentiles, and the distribution
//! of latencies.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Borders, Chart, Dataset, GraphType, Paragraph};

use super::scale::{PlotScale, time_axis};
use super::{Screen, heat};
use crate::current::CellHistory;
use crate::history::History;
use crate::line::unit;

/// Columns for the labels and the line next to them.
const TICK_WIDTH: u16 = 12;
/// Narrower strips have no labels.
const TICKED_WIDTH_MIN: u16 = 30;
/// A title and two lines.
const HEIGHT_MIN: u16 = 3;
/// Height at which all strips are shown below each other.
const STACKED_HEIGHT_MIN: u16 = 4;
/// On wider but low screens, strips are shown side by side.
const SIDE_BY_SIDE_WIDTH_MIN: u16 = 100;
/// Lines for one strip and its time axis.
pub const STRIPS_HEIGHT_MIN: u16 = HEIGHT_MIN + 1;

/// Contents of a strip, from top to bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strip {
    Iops,
    Bandwidth,
    Latency,
    Heat,
}

/// Most important first.
const IMPORTANCE: [Strip; 4] = [Strip::Iops, Strip::Latency, Strip::Heat, Strip::Bandwidth];

/// The strips with values, most important first; all before the first values.
fn known_strips(past: &CellHistory) -> Vec<Strip> {
    let has_values = |history: &History| history.points(usize::MAX).iter().any(|it| *it > 0);
    let is_known = |strip: &Strip| match strip {
        Strip::Iops => has_values(&past.iops),
        Strip::Bandwidth => has_values(&past.bandwidth),
        // While several processes measure, only the distribution is known.
        Strip::Latency => has_values(&past.p99_ns),
        Strip::Heat => past.octaves.points(1).iter().flatten().any(|it| *it > 0),
    };
    let known: Vec<Strip> = IMPORTANCE.into_iter().filter(is_known).collect();
    if known.is_empty() {
        return IMPORTANCE.to_vec();
    }
    known
}

/// The strips that fit, in one or two columns, each from top to bottom.
fn arranged(width: u16, height: u16, mut strips: Vec<Strip>) -> Vec<Vec<Strip>> {
    let count = u16::try_from(strips.len()).unwrap_or(u16::MAX);
    let are_stacked = height / STACKED_HEIGHT_MIN >= count;
    let column_count = match are_stacked || count < 2 || width < SIDE_BY_SIDE_WIDTH_MIN {
        true => 1,
        false => 2,
    };
    let in_column = match are_stacked {
        true => count,
        false => (height / HEIGHT_MIN)
            .min(count.div_ceil(column_count))
            .min(3),
    };
    strips.truncate(usize::from(in_column * column_count));
    strips.sort_unstable();
    let chunks = strips.chunks(usize::from(in_column.max(1)));
    chunks.map(<[Strip]>::to_vec).collect()
}

/// Draws the strips that fit into the area.
pub fn draw(frame: &mut Frame, area: Rect, screen: &Screen, past: &CellHistory) {
    let room = area.height.saturating_sub(1);
    let shown = arranged(area.width, room, known_strips(past));
    let since_ns = past.since_ns.unwrap_or(screen.state.now_ns);
    let elapsed_ns = screen.state.now_ns.saturating_sub(since_ns);
    let columns = Layout::horizontal(vec![Constraint::Fill(1); shown.len()]).spacing(1);
    for (strips, column) in shown.iter().zip(columns.split(area).iter()) {
        let [above, axis] =
            Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(*column);
        let rows = Layout::vertical(vec![Constraint::Fill(1); strips.len()]).split(above);
        for (strip, row) in strips.iter().zip(rows.iter()) {
            strip.draw(frame, *row, screen, past);
        }
        // Below the columns of the strips, not below their labels.
        let axis = plot(axis);
        let text = time_axis(usize::from(axis.width), elapsed_ns);
        frame.render_widget(Paragraph::new(Line::styled(text, dim())), axis);
    }
}

fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

/// Area for the columns of a strip, to the right of the labels.
fn plot(area: Rect) -> Rect {
    let ticks = match area.width < TICKED_WIDTH_MIN {
        true => 0,
        false => TICK_WIDTH,
    };
    Rect {
        x: area.x + ticks,
        width: area.width - ticks,
        ..area
    }
}

impl Strip {
    fn draw(self, frame: &mut Frame, area: Rect, screen: &Screen, past: &CellHistory) {
        let block = Block::new()
            .borders(Borders::TOP)
            .border_style(dim())
            // The title would otherwise be as dim as the border.
            .title_style(Style::new().remove_modifier(Modifier::DIM));
        let below = block.inner(area);
        frame.render_widget(block.title(self.title(screen)), area);
        let plot = plot(below);
        if plot.is_empty() {
            return;
        }
        let scale = match self {
            Self::Iops => {
                let scale = PlotScale::of_count;
                rate(frame, plot, &past.iops, (scale, screen.style(Color::Cyan)))
            }
            Self::Bandwidth => {
                let scale = PlotScale::of_bandwidth;
                let style = screen.style(Color::Green);
                rate(frame, plot, &past.bandwidth, (scale, style))
            }
            Self::Latency => latency(frame, plot, screen, past),
            Self::Heat => {
                let columns = past.octaves.columns(usize::from(plot.width));
                heat::draw(frame, plot, screen.style(Color::Magenta), &columns)
            }
        };
        if plot.x > below.x {
            draw_ticks(frame, below, &scale.unwrap_or_default());
        }
    }

    fn title(self, screen: &Screen) -> Line<'static> {
        let strong = Style::new().add_modifier(Modifier::BOLD);
        Line::from(match self {
            Self::Iops => {
                let current = screen.state.current.as_ref();
                let phase = current.and_then(|current| current.phase.as_ref());
                let unit = phase.map_or("IOPS", unit);
                vec![Span::styled(format!(" {unit} "), strong)]
            }
            Self::Bandwidth => vec![Span::styled(" bandwidth ", strong)],
            Self::Latency => vec![
                Span::styled(" latency: ", strong),
                Span::styled("p99 (top)", screen.style(Color::Magenta)),
                Span::raw(", "),
                Span::styled("p50 (bottom) ", screen.style(Color::Cyan)),
            ],
            Self::Heat => vec![Span::styled(" latency distribution ", strong)],
        })
    }
}

/// Draws the labels of a strip and the line next to them.
fn draw_ticks(frame: &mut Frame, area: Rect, scale: &PlotScale) {
    let room = usize::from(TICK_WIDTH) - 1;
    let labels = scale.rows(area.height);
    let line = |row| {
        let label = labels.iter().find(|(other, _)| *other == row);
        let text = match label {
            Some((_, label)) => format!("{label:>width$} ┤", width = room - 1),
            None => format!("{:>room$}│", ""),
        };
        Line::styled(text, dim())
    };
    let lines: Vec<Line> = (0..area.height).map(line).collect();
    let area = Rect {
        width: TICK_WIDTH,
        ..area
    };
    frame.render_widget(Paragraph::new(lines), area);
}

/// Number of points that a chart with Braille symbols can show: two per column.
fn point_count(area: Rect) -> usize {
    usize::from(area.width) * 2
}

/// Numbers the points. A single point has no extent, so it is shown twice.
fn numbered(points: &[u64]) -> Vec<(f64, f64)> {
    let repeated = points.iter().filter(|_| points.len() == 1);
    let points = (0..).zip(points.iter().chain(repeated));
    points
        .map(|(x, y): (u32, _)| (f64::from(x), *y as f64))
        .collect()
}

/// Draws a rate as an area above 0.
fn rate(
    frame: &mut Frame,
    area: Rect,
    history: &History,
    (scale, style): (fn(f64) -> PlotScale, Style),
) -> Option<PlotScale> {
    let points = history.points(point_count(area));
    let scale = scale(*points.iter().max()? as f64);
    let points = numbered(&points);
    let data = dataset(&points, style).graph_type(GraphType::Area);
    draw_chart(frame, area, vec![data], (points.len(), &scale));
    Some(scale)
}

/// Draws p50 and p99 on a logarithmic scale.
fn latency(
    frame: &mut Frame,
    area: Rect,
    screen: &Screen,
    past: &CellHistory,
) -> Option<PlotScale> {
    let count = point_count(area);
    let histories = [&past.p99_ns, &past.p50_ns].map(|it| numbered(&it.points(count)));
    // 0 stands for an unknown value and has no logarithm.
    let known = || histories.iter().flatten().filter(|point| point.1 > 0.0);
    let low = known().map(|point| point.1).reduce(f64::min)?;
    let high = known().map(|point| point.1).reduce(f64::max)?;
    let scale = PlotScale::of_latency(low, high);
    let length = histories[0].len();
    let [p99, p50] = histories.map(|points| -> Vec<(f64, f64)> {
        let known = points.into_iter().filter(|point| point.1 > 0.0);
        known.map(|(x, ns)| (x, ns.log10())).collect()
    });
    let data = [(&p99, Color::Magenta), (&p50, Color::Cyan)];
    let data = data
        .map(|(points, color)| dataset(points, screen.style(color)).graph_type(GraphType::Line));
    draw_chart(frame, area, data.to_vec(), (length, &scale));
    Some(scale)
}

fn dataset(points: &[(f64, f64)], style: Style) -> Dataset<'_> {
    let data = Dataset::default().data(points);
    data.marker(Marker::Braille).style(style)
}

fn draw_chart(
    frame: &mut Frame,
    area: Rect,
    data: Vec<Dataset>,
    (length, scale): (usize, &PlotScale),
) {
    let last = length.saturating_sub(1).max(1) as f64;
    let chart = Chart::new(data)
        .x_axis(Axis::default().bounds([0.0, last]))
        .y_axis(Axis::default().bounds(scale.bounds));
    frame.render_widget(chart, area);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_use_the_whole_width_unless_the_screen_is_low() {
        let [iops, bandwidth, latency, heat] =
            [Strip::Iops, Strip::Bandwidth, Strip::Latency, Strip::Heat];
        for (width, height, wanted) in [
            (80, 2, vec![]),
            (80, 3, vec![vec![iops]]),
            (80, 8, vec![vec![iops, latency]]),
            (80, 12, vec![vec![iops, latency, heat]]),
            (80, 16, vec![vec![iops, bandwidth, latency, heat]]),
            (200, 3, vec![vec![iops], vec![latency]]),
            (200, 12, vec![vec![iops, bandwidth], vec![latency, heat]]),
            (200, 30, vec![vec![iops, bandwidth, latency, heat]]),
        ] {
            let shown = arranged(width, height, IMPORTANCE.to_vec());
            assert_eq!(shown, wanted, "{width} x {height}");
        }
        assert_eq!(arranged(80, 12, vec![bandwidth]), [[bandwidth]]);
    }
}
