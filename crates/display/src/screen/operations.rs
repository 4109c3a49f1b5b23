//! The operations of the last interval.

use ratatui::text::{Line, Span};
use results::{IntervalFigures, IntervalRecord};
use unicode_width::UnicodeWidthStr;
use units::format;

use super::grid::ItemList;

/// Widths of `12.35k/s`, `96.45 MiB/s`, `p50 12.3 µs`, `p99 12.3 µs` and `max 12.3 µs`.
const FIGURE_WIDTHS: [usize; 5] = [8, 11, 11, 11, 11];
/// Indexes of figures, most important first.
const IMPORTANCE: [usize; 5] = [0, 3, 2, 4, 1];

/// One item per operation, in at most `rows_max` rows. A part of the list would look like all
/// operations, so it is empty if not all fit.
pub fn lines<'a>(interval: &IntervalRecord, width: usize, rows_max: usize) -> Vec<Line<'a>> {
    let operations: Vec<_> = interval.operations.iter().collect();
    let label_width = operations.iter().map(|it| it.0.width()).max().unwrap_or(0);
    let list = ItemList {
        count: operations.len(),
        label_widths: [label_width; 2],
        figure_widths: &FIGURE_WIDTHS,
        importance: &IMPORTANCE,
    };
    let shape = list.shape(width, rows_max);
    if operations.is_empty() || shape.capacity() < operations.len() {
        return Vec::new();
    }
    let row = |row: usize| {
        let column = operations.iter().skip(row).step_by(shape.rows);
        let items = column.flat_map(|(name, it)| {
            let mut item = shape.item(Span::raw(""), name, &figures(it, interval.length_ns));
            item.push(shape.blanks(&item));
            item
        });
        Line::from(items.collect::<Vec<_>>())
    };
    (0..shape.rows).map(row).collect()
}

fn figures(figures: &IntervalFigures, length_ns: u64) -> Vec<String> {
    let per_second = |count: u64| count as f64 * 1e9 / length_ns as f64;
    let latency = |name: &str, ns: Option<u64>| {
        let value = ns.map_or_else(|| "-".to_owned(), format::latency_ns);
        format!("{name} {value:>7}")
    };
    // Many operations move no bytes.
    let bandwidth = match figures.bytes {
        0 => String::new(),
        bytes => format::bandwidth(per_second(bytes)),
    };
    vec![
        format!("{}/s", format::iops(per_second(figures.count))),
        bandwidth,
        latency("p50", figures.p50_ns),
        latency("p99", figures.p99_ns),
        latency("max", figures.max_ns),
    ]
}
