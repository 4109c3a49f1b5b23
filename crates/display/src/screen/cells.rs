//! The list of cells with their results; scrolls to keep the selected or current cell in view.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};
use results::Status;
use unicode_width::UnicodeWidthStr;
use units::format;

use super::Screen;
use crate::line::cut;
use crate::row::{CellRow, DoneCell};

/// In a narrower list, only the IOPS are shown.
const BANDWIDTH_WIDTH_MIN: usize = 44;
/// The mark before a name and the blank after it.
const MARK_WIDTH: usize = 2;

pub fn draw(frame: &mut Frame, area: Rect, screen: &Screen) {
    let block = Block::new()
        .borders(Borders::TOP | Borders::RIGHT)
        .title(" cells ");
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let state = screen.state();
    let current = screen.current_index();
    let height = usize::from(inner.height);
    let focus = screen.selected.unwrap_or(current);
    let first = first_in_view(focus, state.cells.len(), height);
    let measuring = state.current.is_some() && state.finished.is_none();
    let rows = state.cells.iter().enumerate().skip(first).take(height);
    let lines: Vec<Line> = rows
        .map(|(index, row)| {
            let is_current = measuring && index == current;
            let line = line(row, is_current, usize::from(inner.width), screen);
            match screen.selected == Some(index) {
                true => line.style(Style::new().add_modifier(Modifier::REVERSED)),
                false => line,
            }
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

/// First cell to show so that `current` is in the middle, if possible.
fn first_in_view(current: usize, count: usize, height: usize) -> usize {
    current
        .saturating_sub(height / 2)
        .min(count.saturating_sub(height))
}

fn line<'a>(row: &'a CellRow, is_current: bool, width: usize, screen: &Screen) -> Line<'a> {
    let (mark, style) = match &row.done {
        _ if is_current && row.done.is_none() => (">", Style::new().add_modifier(Modifier::BOLD)),
        None => (" ", Style::new().add_modifier(Modifier::DIM)),
        Some(done) => mark(done, screen),
    };
    let figures = row.done.as_ref().map(|done| figures(done, width));
    let figures = figures.unwrap_or_default();
    let figures_width = if figures.is_empty() {
        0
    } else {
        figures.width() + 1
    };
    let name = label(row, width.saturating_sub(MARK_WIDTH + figures_width));
    let gap = width.saturating_sub(MARK_WIDTH + name.width() + figures.width());
    Line::from(vec![
        Span::styled(format!("{mark} {name}"), style),
        Span::raw(" ".repeat(gap)),
        Span::raw(figures),
    ])
}

fn mark(done: &DoneCell, screen: &Screen) -> (&'static str, Style) {
    match done.status {
        _ if done.errors > 0 => ("!", screen.style(Color::Red)),
        Status::Complete => ("+", screen.style(Color::Green)),
        Status::Interrupted | Status::Failed => ("-", screen.style(Color::Yellow)),
    }
}

/// Description of the cell, or a shortened name and its tag if there is too little room.
fn label(row: &CellRow, room: usize) -> String {
    if row.description.width() <= room || row.tag.is_empty() {
        return cut(&row.description, room);
    }
    let name = cut(&row.name, room.saturating_sub(row.tag.width() + 1));
    cut(&format!("{name} {}", row.tag), room)
}

fn figures(done: &DoneCell, width: usize) -> String {
    let iops = format!("{:>6}", format::iops(done.iops));
    match width < BANDWIDTH_WIDTH_MIN {
        true => iops,
        false => format!("{iops} {:>12}", format::bandwidth(done.bytes_per_second)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_cell_is_in_view() {
        for (current, count, height, wanted) in [
            (0, 5, 10, 0),
            (4, 5, 3, 2),
            (50, 100, 10, 45),
            (99, 100, 10, 90),
            (3, 5, 0, 3),
        ] {
            let first = first_in_view(current, count, height);
            assert_eq!(first, wanted);
            assert!(height == 0 || (first..first + height).contains(&current));
        }
    }
}
