//! The permanent lines for completed cells: one per cell, or more if its name is long, with aligned
//! columns.

use plan::{CurvePart, ResponseLimit};
use results::{CellRecord, Phase, RateTrial, Status};
use unicode_width::UnicodeWidthStr;
use units::{format, wrap};

use crate::line::{counted, cut, unit};
use crate::row::{CellRow, DoneCell};
use crate::state::RunState;

/// Blanks between two columns.
const GAP: usize = 2;

/// The optional columns of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DoneColumn {
    Repetition,
    P50,
    Bandwidth,
    P99,
}

/// The order in which columns are dropped on a narrow terminal.
// Name, tag and target are not in it: they tell the cells of a run apart.
const DROP_ORDER: [DoneColumn; 4] = [
    DoneColumn::Repetition,
    DoneColumn::P50,
    DoneColumn::Bandwidth,
    DoneColumn::P99,
];

/// Column widths, the same for all lines of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LineWidths {
    position: usize,
    name: usize,
    tag: usize,
    target: usize,
    repetition: usize,
    rate: usize,
    /// Number of columns dropped, in the order of `DROP_ORDER`.
    dropped_count: usize,
    /// `true` if the results are on the line after the name.
    is_broken: bool,
}

/// Formatted results of a cell, with remarks such as errors.
struct DoneFigures {
    rate: String,
    bandwidth: String,
    p50: String,
    p99: String,
    remarks: Vec<String>,
}

/// The lines for a completed cell, at most `width` columns wide: one, or more if its name is too
/// long for that; none if the plan has no such cell.
#[must_use]
pub fn done_lines(state: &RunState, record: &CellRecord, width: usize) -> Vec<String> {
    let index = record.index as usize;
    let Some(row) = state.cells.get(index) else {
        return Vec::new();
    };
    let texts = done_figures(record);
    let mut layout = LineWidths::of(state, record);
    let fixed: usize = texts.remarks.iter().map(|it| GAP + it.width()).sum();
    layout.fit(width, fixed);
    let position = format!("[{}]", state.place_of_done(index));
    let position = pad_left(&position, layout.position);
    let mut title = vec![format!(
        "{position} {}",
        pad(&name(row, record), layout.name)
    )];
    if layout.tag > 0 {
        title.push(pad(&row.tag, layout.tag));
    }
    if layout.target > 0 {
        let target = row.target.as_deref().unwrap_or_default();
        title.push(pad(target, layout.target));
    }
    if layout.has(DoneColumn::Repetition) {
        let number = row.repetition.unwrap_or(1);
        title.push(pad_left(&format!("rep {number}"), layout.repetition));
    }
    let title = title.join(&" ".repeat(GAP));
    let figures = layout.figures(texts);
    if !layout.is_broken {
        let line = format!("{title}{}{figures}", " ".repeat(GAP));
        return vec![cut(line.trim_end(), width)];
    }
    let mut lines = match title.trim_end() {
        title if title.width() <= width => vec![title.to_owned()],
        title => wrap(title, width),
    };
    // Remarks are never dropped, so the line may still be too wide.
    let line = format!("{}{figures}", " ".repeat(layout.indent()));
    lines.push(cut(line.trim_end(), width));
    lines
}

fn pad_left(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(text.width());
    format!("{}{text}", " ".repeat(blanks))
}

fn pad(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(blanks))
}

/// Enough for `123.4 MiB/s`.
const BANDWIDTH_WIDTH: usize = 11;
/// Enough for `p99 12.3 µs`.
const PERCENTILE_WIDTH: usize = 11;

impl LineWidths {
    /// The widths with all columns, each as wide as its widest entry in the run.
    fn of(state: &RunState, record: &CellRecord) -> Self {
        let widest = |text: &dyn Fn(&CellRow) -> usize| state.cells.iter().map(text).max();
        let widths = (0..state.cells.len()).map(|index| state.place_of_done(index).width());
        let has_trials = state.cells.iter().any(|row| row.part.is_some());
        let index_width = match has_trials {
            true => widths.max(),
            // A run can have thousands of cells, and each place takes time in their number.
            false => None,
        };
        let repetitions = widest(&|row| row.repetition.map_or(0, |it| it.to_string().len() + 4));
        let name_of = |row: &CellRow| name(row, record).width();
        Self {
            position: index_width.unwrap_or(0).max(state.place_width_max()) + "[]".len(),
            name: widest(&name_of).unwrap_or(0),
            tag: widest(&|row| row.tag.width()).unwrap_or(0),
            target: widest(&|row| row.target.as_deref().map_or(0, UnicodeWidthStr::width))
                .unwrap_or(0),
            repetition: repetitions.unwrap_or(0),
            // Rates of later cells are unknown; this is the widest form of one.
            rate: "12.34k ".len() + unit(&record.phase).len(),
            dropped_count: 0,
            is_broken: false,
        }
    }

    fn has(&self, column: DoneColumn) -> bool {
        let is_dropped = DROP_ORDER[..self.dropped_count].contains(&column);
        !is_dropped && (column != DoneColumn::Repetition || self.repetition > 0)
    }

    /// Width of the blanks before the results if they are on a separate line.
    fn indent(&self) -> usize {
        self.position + 1
    }

    /// Width of the optional columns with results, and of the rate before them.
    fn figures_width(&self) -> usize {
        let columns = [
            (DoneColumn::Bandwidth, BANDWIDTH_WIDTH),
            (DoneColumn::P50, PERCENTILE_WIDTH),
            (DoneColumn::P99, PERCENTILE_WIDTH),
        ];
        let shown = columns.into_iter().filter(|it| self.has(it.0));
        self.rate + shown.map(|it| GAP + it.1).sum::<usize>()
    }

    fn width(&self) -> usize {
        if self.is_broken {
            return self.indent() + self.figures_width();
        }
        let repetition = match self.has(DoneColumn::Repetition) {
            true => self.repetition,
            false => 0,
        };
        let columns = [self.tag, self.target, repetition];
        let columns = columns.iter().filter(|width| **width > 0);
        let columns: usize = columns.map(|width| GAP + width).sum();
        self.indent() + self.name + columns + GAP + self.figures_width()
    }

    /// Drops columns until `fixed` more columns fit into `width`. If the name still does not fit,
    /// the results are put on the next line.
    fn fit(&mut self, width: usize, fixed: usize) {
        self.drop_columns(width, fixed);
        if self.width() + fixed > width {
            (self.is_broken, self.dropped_count) = (true, 0);
            self.drop_columns(width, fixed);
        }
    }

    fn drop_columns(&mut self, width: usize, fixed: usize) {
        while self.width() + fixed > width && self.dropped_count < DROP_ORDER.len() {
            self.dropped_count += 1;
        }
    }

    /// The rate, the optional columns and the remarks.
    fn figures(&self, texts: DoneFigures) -> String {
        let columns = [
            (DoneColumn::Bandwidth, texts.bandwidth, BANDWIDTH_WIDTH),
            (DoneColumn::P50, texts.p50, PERCENTILE_WIDTH),
            (DoneColumn::P99, texts.p99, PERCENTILE_WIDTH),
        ];
        let shown = columns.into_iter().filter(|it| self.has(it.0));
        let mut parts = vec![pad_left(&texts.rate, self.rate)];
        parts.extend(shown.map(|(_, text, width)| pad_left(&text, width)));
        parts.extend(texts.remarks);
        parts.join(&" ".repeat(GAP))
    }
}

/// Name of the cell, followed by the phase if it ran one of an emulated program.
fn name(row: &CellRow, record: &CellRecord) -> String {
    match &record.phase {
        Phase::Classic(phase) => format!("{}: {phase}", row.name),
        _ => row.name.clone(),
    }
}

fn done_figures(record: &CellRecord) -> DoneFigures {
    let figures = DoneCell::of(record);
    // Right-aligned in its column, so that the values of all lines have the same position.
    let percentile = |name: &str, ns: Option<u64>| {
        let value = ns.map_or_else(|| "-".to_owned(), format::latency_ns);
        format!("{name} {value:>7}")
    };
    // A cell that was interrupted during its ramp has no rate.
    let measured = |rate: String| match figures.run_time_ns {
        0 => "-".to_owned(),
        _ => rate,
    };
    let rate = measured(format::iops(figures.iops));
    let mut texts = DoneFigures {
        rate: format!("{rate} {}", unit(&record.phase)),
        bandwidth: measured(format::bandwidth(figures.bytes_per_second)),
        p50: percentile("p50", figures.p50_ns),
        p99: percentile("p99", figures.p99_ns),
        remarks: Vec::new(),
    };
    if let (Some(trial), Some(CurvePart::Trial { limit, .. })) =
        (RateTrial::of(record), record.curve)
    {
        texts.remark_trial(&trial, limit);
    }
    if figures.errors > 0 {
        texts.remarks.push(counted(figures.errors, "error"));
    }
    match figures.status {
        Status::Complete => {}
        Status::Interrupted => texts.remarks.push("cut short".to_owned()),
        Status::Failed => texts.remarks.push("not valid".to_owned()),
    }
    texts
}

impl DoneFigures {
    /// For a trial, shows the requested rate instead of the bandwidth and the response time instead
    /// of the p99 latency.
    fn remark_trial(&mut self, trial: &RateTrial, limit: ResponseLimit) {
        let response = trial.response_ns;
        let response = response.map_or_else(|| "-".to_owned(), format::latency_ns);
        self.bandwidth = format!("{} due", format::iops(trial.per_second));
        self.p99 = format!("{} {response:>7}", limit.percentile.name());
        let result = if trial.holds { "passed" } else { "failed" };
        self.remarks.push(result.to_owned());
    }
}
