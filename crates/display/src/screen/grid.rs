//! Lists with as many columns of items as fit.

use ratatui::text::Span;
use unicode_width::UnicodeWidthStr;

use crate::line::cut_middle;

/// Blanks between two figures, and between two columns.
pub const GAP: usize = 2;
/// Labels are not cut below this width for a figure.
const LABEL_WIDTH_MIN: usize = 12;

/// A list before it is fitted to a width.
#[derive(Debug, Clone)]
pub struct ItemList<'a> {
    /// Number of items.
    pub count: usize,
    /// Width of the longest full label, and of the longest short one.
    pub label_widths: [usize; 2],
    /// Width of each figure.
    pub figure_widths: &'a [usize],
    /// Indexes of the figures, most important first.
    pub importance: &'a [usize],
}

/// A list as it fits into a width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListShape {
    /// Number of items side by side.
    pub columns: usize,
    /// Number of items below each other.
    pub rows: usize,
    /// `true` if short labels are shown.
    pub is_short: bool,
    label_width: usize,
    /// Index and width of each figure that fits, in order.
    figures: Vec<(usize, usize)>,
    /// Width of an item without the gap after it.
    item_width: usize,
}

impl ItemList<'_> {
    /// The shape with all figures if that needs at most `rows_max` rows. Otherwise, figures make
    /// room for more columns.
    pub fn shape(&self, width: usize, rows_max: usize) -> ListShape {
        let all: usize = self.figure_widths.iter().map(|it| it + GAP).sum();
        let [full, short] = self.label_widths;
        let least = short + self.first_figure_width();
        let count = self.count.max(1);
        let columns_of = |item: usize| ((width + GAP) / (item + GAP)).clamp(1, count);
        let needed = count.div_ceil(rows_max.max(1));
        let columns = columns_of(full + all).max(needed.min(columns_of(least)));
        let item_width = ((width + GAP) / columns).saturating_sub(GAP);
        let is_short = full + self.first_figure_width() > item_width;
        let label = if is_short { short } else { full };
        let figures = self.fitting(item_width, label);
        let figures_width: usize = figures.iter().map(|it| GAP + it.1).sum();
        ListShape {
            columns,
            rows: count.div_ceil(columns).min(rows_max),
            is_short,
            label_width: label.min(item_width - figures_width),
            figures,
            item_width,
        }
    }

    fn first_figure_width(&self) -> usize {
        let first = self.importance.first();
        first.map_or(0, |index| GAP + self.figure_widths[*index])
    }

    /// The most important figures that fit after a label, in their order.
    fn fitting(&self, item_width: usize, label: usize) -> Vec<(usize, usize)> {
        let mut room = item_width.saturating_sub(label);
        // A long label is cut for the first figure, but not for the others.
        let least = label.min(LABEL_WIDTH_MIN) + self.first_figure_width();
        if item_width >= least {
            room = room.max(self.first_figure_width());
        }
        let widths = self
            .importance
            .iter()
            .map(|it| (*it, self.figure_widths[*it]));
        let mut fitting: Vec<_> = widths
            .map_while(|(index, width)| {
                room = room.checked_sub(GAP + width)?;
                Some((index, width))
            })
            .collect();
        fitting.sort_unstable();
        fitting
    }
}

impl ListShape {
    /// Number of items that are shown.
    pub fn capacity(&self) -> usize {
        self.columns * self.rows
    }

    /// Width of a label after its mark.
    pub fn label_room(&self, mark: &Span) -> usize {
        self.label_width.saturating_sub(mark.width())
    }

    /// An item: its mark, and its label and figures, each in its column.
    pub fn item<'a>(&self, mark: Span<'a>, label: &str, figures: &[String]) -> Vec<Span<'a>> {
        let room = self.label_room(&mark);
        let label = cut_middle(label, room);
        let mut text = label.clone() + &" ".repeat(room - label.width());
        for (index, width) in &self.figures {
            let figure = figures.get(*index).map_or("", String::as_str);
            let blanks = GAP + width.saturating_sub(figure.width());
            text += &" ".repeat(blanks);
            text += figure;
        }
        vec![mark, Span::raw(text)]
    }

    /// Blanks between an item and the next one in its row.
    pub fn blanks(&self, item: &[Span]) -> Span<'static> {
        let width: usize = item.iter().map(Span::width).sum();
        Span::raw(" ".repeat((self.item_width + GAP).saturating_sub(width)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(count: usize) -> ItemList<'static> {
        ItemList {
            count,
            label_widths: [30, 16],
            figure_widths: &[10, 12, 10],
            importance: &[0, 2, 1],
        }
    }

    #[test]
    fn figures_make_room_for_columns_only_if_rows_are_few() {
        for (count, width, rows_max, wanted) in [
            // All figures need 68 columns per item.
            (3, 80, 5, (1, 3, 3)),
            (3, 140, 5, (2, 2, 3)),
            (20, 140, 5, (4, 5, 1)),
            (20, 200, 50, (2, 10, 3)),
            (2, 80, 1, (2, 1, 1)),
            (20, 40, 5, (1, 5, 2)),
        ] {
            let shape = list(count).shape(width, rows_max);
            let dimensions = (shape.columns, shape.rows, shape.figures.len());
            assert_eq!(dimensions, wanted, "{count} items, {width} columns");
        }
    }

    #[test]
    fn a_label_is_cut_in_the_middle_only_if_it_does_not_fit() {
        let shape = list(1).shape(26, 1);
        let item = |label| shape.item(Span::raw("+ "), label, &["1k".to_owned()]);
        assert_eq!(item("a long name")[1].content, "a long name           1k");
        assert_eq!(
            item("a name that is long")[1].content,
            "a nam…s long          1k"
        );
    }
}
