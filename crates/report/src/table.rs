//! Plain-text tables, with two spaces between columns and no lines.

use crate::styled::{Style, Styled};
use crate::wrap::{width, wrap};

/// Number of spaces between two columns.
const GAP: usize = 2;
/// Minimum width of a column of names.
const NAME_WIDTH_MIN: usize = 12;

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// For names, which may be wrapped in narrow output.
    Left,
    /// For numbers, which are never wrapped.
    Right,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Head of the column.
    pub head: String,
    /// Alignment of its texts.
    pub align: Align,
    /// Columns with the lowest priority are dropped first if the output is too narrow.
    pub priority: u8,
}

impl Column {
    /// Creates a column of names, which is never dropped.
    #[must_use]
    pub fn name(head: &str) -> Self {
        Self {
            head: head.to_owned(),
            align: Align::Left,
            priority: u8::MAX,
        }
    }

    /// Returns the head in lines. Heads of numbers have one word per line, because their columns
    /// are narrow.
    fn head_lines(&self) -> impl Iterator<Item = &str> {
        let broken = self.align == Align::Right;
        self.head.split(move |character| broken && character == ' ')
    }

    /// Creates a column of numbers.
    #[must_use]
    pub fn number(head: &str, priority: u8) -> Self {
        Self {
            head: head.to_owned(),
            align: Align::Right,
            priority,
        }
    }
}

/// Rows of text with heads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// Columns from left to right.
    pub columns: Vec<Column>,
    /// Rows, with one text per column.
    pub rows: Vec<Vec<String>>,
    /// A head above several columns: first index, last index, text.
    pub span: Option<(usize, usize, String)>,
    /// Style of the last text of each row; empty for a table without verdicts.
    pub styles: Vec<Option<Style>>,
    /// `true` to continue with further tables below if columns do not fit, instead of dropping
    /// them.
    pub is_split: bool,
}

impl Table {
    /// Creates a table.
    pub fn new(
        columns: impl IntoIterator<Item = Column>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        Self {
            columns: columns.into_iter().collect(),
            rows: rows.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Adds a head above the columns from `first` to `last`.
    #[must_use]
    pub fn with_span(self, first: usize, last: usize, text: impl Into<String>) -> Self {
        Self {
            span: Some((first, last, text.into())),
            ..self
        }
    }

    /// Removes each named column in which all rows are equal.
    pub fn drop_uniform(&mut self, heads: &[&str]) {
        // Without rows, `all` is true before it reads `rows[0]`.
        let keep: Vec<bool> = (0..self.columns.len())
            .map(|index| {
                let uniform = self
                    .rows
                    .iter()
                    .all(|row| row[index] == self.rows[0][index]);
                !(uniform && heads.contains(&self.columns[index].head.as_str()))
            })
            .collect();
        self.retain(&keep);
    }

    /// Removes the columns with this head.
    pub fn drop_column(&mut self, head: &str) {
        let keep: Vec<bool> = self.columns.iter().map(|it| it.head != head).collect();
        self.retain(&keep);
    }

    fn retain(&mut self, keep: &[bool]) {
        fn filter<T>(items: &mut Vec<T>, keep: &[bool]) {
            let mut keep = keep.iter();
            items.retain(|_| *keep.next().unwrap_or(&true));
        }
        if let Some((first, last, text)) = self.span.take() {
            // Other code drops columns after the span is set, so the span has to follow them.
            let left = keep[..first].iter().filter(|keep| **keep).count();
            let inside = keep[first..=last].iter().filter(|keep| **keep).count();
            self.span = (inside > 0).then(|| (left, left + inside - 1, text));
        }
        filter(&mut self.columns, keep);
        for row in &mut self.rows {
            filter(row, keep);
        }
    }

    /// Returns the lines of the table for this width: bold heads, then the rows.
    ///
    /// If the table is too wide, names are wrapped first. Then columns are dropped by priority. If
    /// that is not enough, or no column of numbers would be left, each row becomes a block of lines
    /// with all its texts.
    #[must_use]
    pub fn lines(&self, page_width: usize) -> Vec<Styled> {
        if self.is_split {
            let parts = self.parts(page_width);
            return parts.iter().flat_map(|it| it.lines(page_width)).collect();
        }
        let mut table = self.clone();
        loop {
            let widths = table.widths(page_width);
            if total(&widths) <= page_width {
                return table.arrange(&widths);
            }
            if !table.drop_lowest_priority() {
                return self.blocks(page_width);
            }
        }
    }

    /// Splits the table into as few tables as possible, of equal numbers of columns. Each repeats
    /// the first column.
    fn parts(&self, page_width: usize) -> Vec<Self> {
        let count = self.columns.len().saturating_sub(1);
        let with = |first: usize, each: usize| {
            let mut part = Self {
                is_split: false,
                ..self.clone()
            };
            let is_kept = |index| index == 0 || (first + 1..=first + each).contains(&index);
            part.retain(&(0..=count).map(is_kept).collect::<Vec<bool>>());
            part
        };
        // With `page_width`, names would be wrapped to fit instead of moved to another part.
        let fits = |part: &Self| total(&part.widths(usize::MAX)) <= page_width;
        let mut parts = Vec::new();
        for number in 1..=count {
            let per_part = count.div_ceil(number);
            let firsts = (0..count).step_by(per_part);
            parts = firsts.map(|first| with(first, per_part)).collect();
            if parts.iter().all(fits) {
                break;
            }
        }
        parts
    }

    /// Returns a block of lines per row: its first text, then each other text with its head.
    fn blocks(&self, page_width: usize) -> Vec<Styled> {
        let mut body = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            let mut texts = row.iter().zip(&self.columns);
            if let Some((first, _)) = texts.next() {
                body.extend(wrap(first, page_width).into_iter().map(Styled::from));
            }
            for (text, column) in texts.filter(|(text, _)| !text.is_empty()) {
                let line = format!("{}: {text}", column.head);
                let pieces = wrap(&line, page_width.saturating_sub(2 * GAP)).into_iter();
                body.extend(pieces.enumerate().map(|(number, piece)| {
                    let indent = if number == 0 { GAP } else { 2 * GAP };
                    self.painted(index, format!("{}{piece}", " ".repeat(indent)))
                }));
            }
        }
        body
    }

    /// Applies the style of a row to its last text in a line.
    fn painted(&self, row: usize, line: String) -> Styled {
        let style = self.styles.get(row).copied().flatten();
        let before = self.rows[row]
            .last()
            .and_then(|last| line.strip_suffix(last.as_str()))
            // The same letters at the end of a longer word are another text.
            .filter(|before| before.is_empty() || before.ends_with(' '));
        match style.zip(before) {
            Some((style, before)) => {
                Styled::from(before).then(Styled::new(&line[before.len()..], style))
            }
            None => line.into(),
        }
    }

    /// Removes the column of numbers with the lowest priority. Returns `false` if it is the last
    /// one.
    fn drop_lowest_priority(&mut self) -> bool {
        let numbers =
            (0..self.columns.len()).filter(|index| self.columns[*index].align == Align::Right);
        let least = numbers
            .clone()
            .min_by_key(|index| self.columns[*index].priority);
        let Some(least) = least.filter(|_| numbers.count() > 1) else {
            return false;
        };
        let keep: Vec<bool> = (0..self.columns.len())
            .map(|index| index != least)
            .collect();
        self.retain(&keep);
        true
    }

    /// Returns the widths of the columns: the longest text of each, with columns of names reduced
    /// to fit the page.
    fn widths(&self, page_width: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = (0..self.columns.len())
            .map(|index| {
                let texts = self.rows.iter().map(|row| width(&row[index]));
                let head = self.columns[index].head_lines();
                texts.chain(head.map(width)).max().unwrap_or(0)
            })
            .collect();
        let mut excess = total(&widths).saturating_sub(page_width);
        // One column by one, so that the widest columns become equally wide.
        while excess > 0 {
            let widest = (0..widths.len())
                .filter(|index| self.columns[*index].align == Align::Left)
                .filter(|index| widths[*index] > NAME_WIDTH_MIN)
                .max_by_key(|index| widths[*index]);
            let Some(widest) = widest else { break };
            widths[widest] -= 1;
            excess -= 1;
        }
        widths
    }

    fn arrange(&self, widths: &[usize]) -> Vec<Styled> {
        let heads = self.span_line(widths).into_iter();
        let heads = heads.chain(self.head_lines(widths));
        let heads = heads.map(|line| Styled::new(line, Style::Bold));
        let rows = self.rows.iter().enumerate().flat_map(|(index, row)| {
            let lines = self.row_lines(row, widths).into_iter();
            lines.map(move |line| self.painted(index, line))
        });
        heads.chain(rows).collect()
    }

    fn span_line(&self, widths: &[usize]) -> Option<String> {
        let (first, last, text) = self.span.as_ref()?;
        let left: usize = widths[..*first].iter().map(|width| width + GAP).sum();
        let inside: usize = widths[*first..=*last].iter().sum::<usize>() + GAP * (last - first);
        let rules = inside.saturating_sub(width(text) + 2);
        if rules < 2 {
            // Too narrow for dashes: right-align the text with the columns.
            let indent = (left + inside).saturating_sub(width(text));
            return Some(format!("{}{text}", " ".repeat(indent)));
        }
        let (before, after) = ("-".repeat(rules / 2), "-".repeat(rules - rules / 2));
        Some(format!("{}{before} {text} {after}", " ".repeat(left)))
    }

    /// Returns the lines of the heads, aligned at the bottom.
    fn head_lines(&self, widths: &[usize]) -> Vec<String> {
        let mut heads: Vec<Vec<String>> = self
            .columns
            .iter()
            .map(|column| column.head_lines().map(str::to_owned).collect())
            .collect();
        let height = heads.iter().map(Vec::len).max().unwrap_or(0);
        for head in &mut heads {
            let missing = height - head.len();
            head.splice(0..0, std::iter::repeat_n(String::new(), missing));
        }
        (0..height)
            .map(|line| self.line(&heads, widths, line))
            .collect()
    }

    fn row_lines(&self, row: &[String], widths: &[usize]) -> Vec<String> {
        let cells: Vec<Vec<String>> = row
            .iter()
            .zip(&self.columns)
            .zip(widths)
            .map(|((text, column), width)| match column.align {
                // Texts that fit keep their leading spaces.
                Align::Left if self::width(text) <= *width => vec![text.clone()],
                Align::Left => wrap(text, *width),
                Align::Right => vec![text.clone()],
            })
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        (0..height)
            .map(|line| self.line(&cells, widths, line))
            .collect()
    }

    fn line(&self, cells: &[Vec<String>], widths: &[usize], line: usize) -> String {
        let mut text = String::new();
        for (index, cell) in cells.iter().enumerate() {
            let part = cell.get(line).map_or("", String::as_str);
            let padding = " ".repeat(widths[index].saturating_sub(width(part)));
            if index > 0 {
                text.push_str(&" ".repeat(GAP));
            }
            match self.columns[index].align {
                Align::Left => text.extend([part, &padding]),
                Align::Right => text.extend([&padding, part]),
            }
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// Returns the width of a line with columns of these widths.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        Table {
            columns: vec![
                Column::name("workload"),
                Column::number("IOPS", 9),
                Column::number("mean", 1),
                Column::number("p99", 5),
            ],
            rows: vec![
                ["file server, all lines", "12.3k", "81.2", "200"]
                    .map(str::to_owned)
                    .into(),
                ["企鹅", "1", "2", "3"].map(str::to_owned).into(),
            ],
            span: Some((2, 3, "µs".to_owned())),
            ..Table::default()
        }
    }

    fn text(table: &Table, width: usize) -> String {
        Styled::join(table.lines(width), "\n").to_string()
    }

    #[test]
    fn numbers_are_right_aligned_and_names_left_aligned() {
        let wanted = "
                               -- µs ---
workload                 IOPS  mean  p99
file server, all lines  12.3k  81.2  200
企鹅                        1     2    3";
        assert_eq!(text(&sample(), 80), wanted[1..]);
    }

    #[test]
    fn names_wrap_before_columns_are_dropped() {
        let wanted = "
                     -- µs ---
workload       IOPS  mean  p99
file server,  12.3k  81.2  200
all lines
企鹅              1     2    3";
        assert_eq!(text(&sample(), 30), wanted[1..]);
    }

    #[test]
    fn the_least_important_column_is_dropped_first() {
        let wanted = "
                      µs
workload       IOPS  p99
file server,  12.3k  200
all lines
企鹅              1    3";
        assert_eq!(text(&sample(), 24), wanted[1..]);
    }

    #[test]
    fn headers_of_number_columns_have_one_word_per_line() {
        let mut table = sample();
        table.columns[1].head = "queue depth".to_owned();
        table.span = None;
        let wanted = "
                        queue
workload                depth  mean  p99";
        let heads = Styled::join(table.lines(80).into_iter().take(2), "\n");
        assert_eq!(heads, wanted[1..]);
    }

    #[test]
    fn a_page_too_narrow_for_a_table_shows_each_row_as_a_block() {
        let wanted = "
file server,
all lines
  IOPS: 12.3k
  mean: 81.2
  p99: 200
企鹅
  IOPS: 1
  mean: 2
  p99: 3";
        assert_eq!(text(&sample(), 15), wanted[1..]);
        let mut names = sample();
        names.columns = ["workload", "target", "status"].map(Column::name).into();
        names.rows = vec![["a", "/mnt/a/long/way/down", ""].map(str::to_owned).into()];
        names.span = None;
        let wanted = "
a
  target:
    /mnt/a/long/way/d
    own";
        assert_eq!(text(&names, 21), wanted[1..]);
    }

    #[test]
    fn a_uniform_column_can_be_dropped() {
        let mut table = sample();
        table.rows[1][1] = "12.3k".to_owned();
        table.drop_uniform(&["IOPS", "mean"]);
        let heads: Vec<_> = table
            .columns
            .iter()
            .map(|column| column.head.as_str())
            .collect();
        assert_eq!(heads, ["workload", "mean", "p99"]);
        assert_eq!(table.span, Some((1, 2, "µs".to_owned())));
    }

    #[test]
    fn a_table_without_rows_has_headers() {
        let table = Table {
            rows: Vec::new(),
            ..sample()
        };
        assert_eq!(table.lines(80).len(), 2);
    }
}
