//! The list of cells with their results; scrolls to keep the selected or current cell in view.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use results::Status;
use unicode_width::UnicodeWidthStr;
use units::format;

use super::Screen;
use super::grid::{ItemList, ListShape};
use crate::line::cut_middle;
use crate::row::{CellRow, DoneCell};

/// The mark before a name and the blank after it.
const MARK_WIDTH: usize = 2;
/// Widths of `12.35k IOPS`, `96.45 MiB/s`, `p50 12.3 µs` and `p99 12.3 µs`.
const FIGURE_WIDTHS: [usize; 4] = [11, 11, 11, 11];
/// Indexes of figures, most important first.
const IMPORTANCE: [usize; 4] = [0, 1, 3, 2];

/// The list of a run with several cells; `None` for fewer, which are shown elsewhere.
pub fn list(screen: &Screen) -> Option<ItemList<'static>> {
    let cells = &screen.state.cells;
    let widest = |label: &dyn Fn(&CellRow) -> usize| cells.iter().map(label).max().unwrap_or(0);
    (cells.len() > 1).then(|| ItemList {
        count: cells.len(),
        label_widths: [
            MARK_WIDTH + widest(&|row| row.description.width()),
            MARK_WIDTH + widest(&|row| short_label(row, usize::MAX).width()),
        ],
        figure_widths: &FIGURE_WIDTHS,
        importance: &IMPORTANCE,
    })
}

/// Number of rows for the list on a screen of this size. Two cells share a row if they fit.
pub fn rows_wanted(list: &ItemList, width: usize, height: usize) -> usize {
    match list.count {
        2 if list.shape(width, 1).capacity() == 2 => 1,
        _ => list.shape(width, height / 4).rows,
    }
}

/// The rows of the list.
pub fn lines<'a>(screen: &Screen, shape: &ListShape) -> Vec<Line<'a>> {
    let state = &screen.state;
    let focus = screen.selected.unwrap_or(screen.current_index());
    let first = first_in_view(focus, state.cells.len(), shape.capacity());
    let row = |row: usize| {
        let indexes = (0..shape.columns).map(|column| first + column * shape.rows + row);
        let items = indexes.filter_map(|index| item(screen, index, shape));
        Line::from(items.flatten().collect::<Vec<_>>())
    };
    (0..shape.rows).map(row).collect()
}

/// First cell to show so that `current` is in the middle, if possible.
fn first_in_view(current: usize, count: usize, capacity: usize) -> usize {
    current
        .saturating_sub(capacity / 2)
        .min(count.saturating_sub(capacity))
}

/// The item of a cell and the blanks after it; `None` if there is no such cell.
fn item<'a>(screen: &Screen, index: usize, shape: &ListShape) -> Option<Vec<Span<'a>>> {
    let state = &screen.state;
    let row = state.cells.get(index)?;
    let measuring = state.current.is_some() && state.finished.is_none();
    let is_current = measuring && index == screen.current_index();
    let (mark, style) = match &row.done {
        None if is_current => (Span::raw("> "), Style::new().add_modifier(Modifier::BOLD)),
        None => (Span::raw("  "), Style::new().add_modifier(Modifier::DIM)),
        Some(done) => (mark(done, screen), Style::new()),
    };
    let label = match shape.is_short {
        true => short_label(row, shape.label_room(&mark)),
        false => row.description.clone(),
    };
    let figures = row.done.as_ref().map(figures).unwrap_or_default();
    let mut item = shape.item(mark, &label, &figures);
    let blanks = shape.blanks(&item);
    let style = match screen.selected == Some(index) {
        true => style.add_modifier(Modifier::REVERSED),
        false => style,
    };
    for span in &mut item {
        *span = span.clone().patch_style(style);
    }
    item.push(blanks);
    Some(item)
}

fn mark(done: &DoneCell, screen: &Screen) -> Span<'static> {
    let (mark, color) = match done.status {
        _ if done.errors > 0 => ("! ", Color::Red),
        Status::Complete => ("+ ", Color::Green),
        Status::Interrupted | Status::Failed => ("- ", Color::Yellow),
    };
    Span::styled(mark, screen.style(color))
}

/// The properties that tell the cells of a run apart, in at most `room` columns. The name and the
/// target are cut if necessary, but not the queue depth and the repetition.
fn short_label(row: &CellRow, room: usize) -> String {
    let repetition = row.repetition.map(|number| format!("rep {number}"));
    let repetition = repetition.unwrap_or_default();
    let target = row.target.as_deref().unwrap_or_default();
    let others = [row.tag.as_str(), target, repetition.as_str()];
    let blanks = others.iter().filter(|it| !it.is_empty()).count();
    let rest = room.saturating_sub(row.tag.width() + repetition.width() + blanks);
    let for_target = (rest / 2).max(rest.saturating_sub(row.name.width()));
    let target = cut_middle(target, for_target);
    let name = cut_middle(&row.name, rest.saturating_sub(target.width()));
    let parts = [name.as_str(), &row.tag, &target, &repetition];
    let parts = parts.into_iter().filter(|it| !it.is_empty());
    parts.collect::<Vec<_>>().join(" ")
}

fn figures(done: &DoneCell) -> Vec<String> {
    let latency = |name: &str, ns: Option<u64>| {
        let value = ns.map_or_else(|| "-".to_owned(), format::latency_ns);
        format!("{name} {value:>7}")
    };
    vec![
        format!("{} IOPS", format::iops(done.iops)),
        format::bandwidth(done.bytes_per_second),
        latency("p50", done.p50_ns),
        latency("p99", done.p99_ns),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_cell_is_in_view() {
        for (current, count, capacity, wanted) in [
            (0, 5, 10, 0),
            (4, 5, 3, 2),
            (50, 100, 10, 45),
            (99, 100, 10, 90),
            (3, 5, 0, 3),
        ] {
            let first = first_in_view(current, count, capacity);
            assert_eq!(first, wanted);
            assert!(capacity == 0 || (first..first + capacity).contains(&current));
        }
    }
}
