//! The permanent lines for completed cells: one per cell, with aligned columns.

use plan::{CurvePart, ResponseLimit};
use results::{CellRecord, Phase, RateTrial, Status};
use unicode_width::UnicodeWidthStr;
use units::format;

use crate::line::{counted, cut, cut_start, unit};
use crate::row::{CellRow, DoneCell};
use crate::state::RunState;

/// First, names are cut to 12 columns. When all optional columns are dropped, they are cut to 8.
const NAME_WIDTHS: [usize; 2] = [12, 8];
/// Targets are cut to this width before columns are dropped.
const TARGET_WIDTH: usize = 12;
/// Blanks between two columns.
const GAP: usize = 2;

/// The optional columns of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DoneColumn {
    Repetition,
    P50,
    Bandwidth,
    P99,
    Target,
    Tag,
}

/// The order in which columns are dropped on a narrow terminal.
// The tag is the last: it alone tells the cells of a sweep apart.
const DROP_ORDER: [DoneColumn; 6] = [
    DoneColumn::Repetition,
    DoneColumn::P50,
    DoneColumn::Bandwidth,
    DoneColumn::P99,
    DoneColumn::Target,
    DoneColumn::Tag,
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
}

/// Formatted results of a cell, with remarks such as errors.
struct DoneFigures {
    rate: String,
    bandwidth: String,
    p50: String,
    p99: String,
    remarks: Vec<String>,
}

/// The line for a completed cell, at most `width` columns wide; `None` if the plan has no such
/// cell.
#[must_use]
pub fn done_line(state: &RunState, record: &CellRecord, width: usize) -> Option<String> {
    let index = record.index as usize;
    let row = state.cells.get(index)?;
    let texts = told(record);
    let mut layout = LineWidths::of(state, record);
    let fixed = texts.remarks.iter().map(|it| GAP + it.width()).sum();
    layout.fit(width, fixed);
    let position = format!("[{}]", state.place_of_done(index));
    let name = name(row, record);
    let pad_left = |text: &str, width: usize| {
        let blanks = width.saturating_sub(text.width());
        format!("{}{text}", " ".repeat(blanks))
    };
    let pad = |text: &str, width: usize| {
        let blanks = width.saturating_sub(text.width());
        format!("{text}{}", " ".repeat(blanks))
    };
    let mut parts = vec![format!(
        "{} {}",
        pad_left(&position, layout.position),
        pad(&cut(&name, layout.name), layout.name)
    )];
    if layout.has(DoneColumn::Tag) {
        parts.push(pad(&row.tag, layout.tag));
    }
    if layout.has(DoneColumn::Target) {
        let target = row.target.as_deref().unwrap_or_default();
        parts.push(pad(&cut_start(target, layout.target), layout.target));
    }
    if layout.has(DoneColumn::Repetition) {
        let number = row.repetition.unwrap_or(1);
        parts.push(pad_left(&format!("rep {number}"), layout.repetition));
    }
    parts.push(pad_left(&texts.rate, layout.rate));
    let figures = [
        (DoneColumn::Bandwidth, &texts.bandwidth, BANDWIDTH_WIDTH),
        (DoneColumn::P50, &texts.p50, PERCENTILE_WIDTH),
        (DoneColumn::P99, &texts.p99, PERCENTILE_WIDTH),
    ];
    let shown = figures.into_iter().filter(|it| layout.has(it.0));
    parts.extend(shown.map(|(_, text, width)| pad_left(text, width)));
    parts.extend(texts.remarks);
    // Remarks are never dropped, so the line may still be too wide.
    Some(cut(parts.join(&" ".repeat(GAP)).trim_end(), width))
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
        }
    }

    fn has(&self, column: DoneColumn) -> bool {
        let is_dropped = DROP_ORDER[..self.dropped_count].contains(&column);
        let width = match column {
            DoneColumn::Repetition => self.repetition,
            DoneColumn::Target => self.target,
            DoneColumn::Tag => self.tag,
            DoneColumn::Bandwidth | DoneColumn::P50 | DoneColumn::P99 => 1,
        };
        !is_dropped && width > 0
    }

    fn width(&self) -> usize {
        let columns = [
            (DoneColumn::Tag, self.tag),
            (DoneColumn::Target, self.target),
            (DoneColumn::Repetition, self.repetition),
            (DoneColumn::Bandwidth, BANDWIDTH_WIDTH),
            (DoneColumn::P50, PERCENTILE_WIDTH),
            (DoneColumn::P99, PERCENTILE_WIDTH),
        ];
        let shown = columns.into_iter().filter(|it| self.has(it.0));
        let columns: usize = shown.map(|it| GAP + it.1).sum();
        self.position + 1 + self.name + columns + GAP + self.rate
    }

    /// Narrows names and targets, then drops columns, until `fixed` more columns fit into `width`.
    fn fit(&mut self, width: usize, fixed: usize) {
        let excess = |layout: &Self| (layout.width() + fixed).saturating_sub(width);
        let narrow = |column: usize, least: usize, excess: usize| {
            // A column that is narrower than `least` anyway keeps its width.
            column.saturating_sub(excess).max(column.min(least))
        };
        self.name = narrow(self.name, NAME_WIDTHS[0], excess(self));
        self.target = narrow(self.target, TARGET_WIDTH, excess(self));
        while excess(self) > 0 && self.dropped_count < DROP_ORDER.len() {
            self.dropped_count += 1;
        }
        self.name = narrow(self.name, NAME_WIDTHS[1], excess(self));
    }
}

/// Name of the cell, followed by the phase if it ran one of an emulated program.
fn name(row: &CellRow, record: &CellRecord) -> String {
    match &record.phase {
        Phase::Classic(phase) => format!("{}: {phase}", row.name),
        _ => row.name.clone(),
    }
}

fn told(record: &CellRecord) -> DoneFigures {
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
        let holds = if trial.holds { "holds" } else { "misses" };
        self.remarks.push(holds.to_owned());
    }
}
