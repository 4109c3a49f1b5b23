//! The distribution of latencies over time: a stronger shade means more operations.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::scale::PlotScale;
use crate::history::stretched;

/// Shades, each with its least share of the largest count.
// Powers of ten: 1 % of the operations must be visible next to the rest. Shades of a theme's color
// fade into any background; a color for each share would not.
const SHADES: [(f64, char); 4] = [(0.1, '█'), (0.01, '▓'), (0.001, '▒'), (0.0, '░')];

/// Draws `columns`, which count the latencies in octaves, with the slowest on top. The octaves in
/// use fill the area.
pub fn draw(
    frame: &mut Frame,
    area: Rect,
    style: Style,
    columns: &[Vec<u64>],
) -> Option<PlotScale> {
    let is_used = |octave: &usize| {
        let mut counts = columns.iter().filter_map(|it| it.get(*octave));
        counts.any(|count| *count > 0)
    };
    let octave_count = columns.iter().map(Vec::len).max()?;
    let low = (0..octave_count).find(is_used)?;
    let high = (0..octave_count).rfind(is_used)?;
    let count_in = |column: &Vec<u64>, octaves: std::ops::Range<usize>| -> u64 {
        let octaves = column.iter().skip(low + octaves.start).take(octaves.len());
        octaves.sum()
    };
    let mut rows: Vec<Vec<u64>> = stretched(high - low + 1, usize::from(area.height))
        .map(|octaves| {
            let counts = columns.iter().map(|it| count_in(it, octaves.clone()));
            counts.collect()
        })
        .collect();
    rows.reverse();
    let most = rows.iter().flatten().copied().max()?;
    let lines: Vec<Line> = rows
        .iter()
        .map(|row| {
            let shades: String = row.iter().map(|count| shade(*count, most)).collect();
            Line::styled(shades, style)
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
    let bound = |octave: usize| (octave as f64).exp2();
    Some(PlotScale::within_latencies(bound(low), bound(high + 1)))
}

fn shade(count: u64, most: u64) -> char {
    if count == 0 {
        return ' ';
    }
    let share = count as f64 / most as f64;
    let known = SHADES.iter().find(|(least, _)| share >= *least);
    known.map_or(' ', |(_, shade)| *shade)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_show_powers_of_ten() {
        let shades = [0, 1, 10, 100, 1000, 10_000].map(|count| shade(count, 10_000));
        assert_eq!(shades, [' ', '░', '▒', '▓', '█', '█']);
    }
}
