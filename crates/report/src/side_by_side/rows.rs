//! Rows of a table: metrics of records, and additional ones.

use ::compare::{
    CellComparison, CellName, Comparison, ComparisonOptions, Figure, FigureComparison, Scope,
    compare,
};
use results::{BetterDirection, LabFigure, RunRecord};
use stats::{Estimate, Ratio};

use super::UNCERTAIN_MARK;
use crate::html::{BarInterval, axis_max};
use crate::numbers::{self, LatencyUnit, digits};
use crate::wrap::printable;

/// Mark before times that are not ranked.
pub(super) const GUEST_MARK: &str = "~";

/// A metric in all columns.
#[derive(Debug, Clone)]
pub(crate) struct FigureRow {
    pub label: String,
    /// Label for programs, in base units.
    pub base_label: String,
    pub values: Vec<Option<ColumnValue>>,
    pub better: BetterDirection,
    /// `true` for a rate of the work.
    pub is_rate: bool,
    /// `true` if the measurement of a column was too short.
    pub is_short: bool,
    /// Relative error of a ratio that results from rounding both values.
    pub rounding: f64,
    /// Pairs of significantly different columns, once all rows are judged.
    pub significant_pairs: Vec<SignificantPair>,
    is_time: bool,
}

/// The value of one column.
#[derive(Debug, Clone)]
pub(crate) struct ColumnValue {
    pub mean: f64,
    pub text: String,
    /// `None` for words.
    pub estimate: Option<Estimate>,
    /// Ends of the confidence interval from within the run, if it was measured once.
    pub within_run: Option<[f64; 2]>,
    /// Ratio to the first column with a value; `None` for that column itself.
    pub ratio: Option<Ratio>,
}

/// A pair of significantly different columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SignificantPair {
    pub(super) columns: [usize; 2],
    pub(super) better: usize,
}

impl ColumnValue {
    /// Returns the confidence interval of the value.
    pub fn interval(&self) -> Option<BarInterval> {
        let repeated = self.estimate.and_then(|it| it.ci95_low.zip(it.ci95_high));
        BarInterval::of(repeated.map(<[f64; 2]>::from), self.within_run)
    }
}

impl FigureRow {
    /// Returns the row of a metric that records do not have.
    pub fn of_extra(extra: &LabFigure) -> Self {
        let estimates: Vec<_> = extra
            .samples
            .iter()
            .map(|samples| Estimate::from_samples(samples))
            .collect();
        let first = estimates.iter().position(Option::is_some).unwrap_or(0);
        let value = |(column, estimate): (usize, &Option<Estimate>)| {
            let estimate = estimate.as_ref()?;
            let first_estimate = estimates[first].as_ref()?;
            Some(ColumnValue {
                mean: estimate.mean,
                text: digits(estimate.mean),
                estimate: Some(*estimate),
                within_run: None,
                ratio: (column != first)
                    .then(|| Ratio::of_estimates(first_estimate, estimate))
                    .flatten(),
            })
        };
        let values = estimates.iter().enumerate().map(value);
        Self {
            better: extra.better,
            is_time: extra.is_time,
            ..Self::new(&extra.label, values.collect())
        }
        .without_neutral_ratios()
    }

    /// Creates a row without a direction of better values.
    fn new(label: &str, values: Vec<Option<ColumnValue>>) -> Self {
        Self {
            label: label.to_owned(),
            base_label: label.to_owned(),
            values,
            better: BetterDirection::Neither,
            is_rate: false,
            is_short: false,
            rounding: 0.0,
            significant_pairs: Vec::new(),
            is_time: false,
        }
    }

    /// Removes the ratios if no direction is better.
    fn without_neutral_ratios(mut self) -> Self {
        if self.better == BetterDirection::Neither {
            for value in self.values.iter_mut().flatten() {
                value.ratio = None;
            }
        }
        self
    }

    /// Marks a row of times from guests, which are not ranked. Other rows stay unchanged.
    pub fn of_guests(mut self) -> Self {
        if self.is_time {
            self.label = format!("{GUEST_MARK} {}", self.label);
            self.better = BetterDirection::Neither;
        }
        self.without_neutral_ratios()
    }

    /// Creates a row of words.
    pub fn of_words(label: &str, words: &[Option<String>]) -> Self {
        let value = |word: &String| ColumnValue {
            mean: 0.0,
            text: word.clone(),
            estimate: None,
            within_run: None,
            ratio: None,
        };
        let values = words.iter().map(|it| it.as_ref().map(value));
        Self::new(label, values.collect())
    }

    /// Returns the columns with a value, the best first.
    pub fn ranked(&self) -> Vec<(usize, &ColumnValue)> {
        let values = self.values.iter().enumerate();
        let mut present: Vec<(usize, &ColumnValue)> = values
            .filter_map(|(column, value)| Some((column, value.as_ref()?)))
            .collect();
        present.sort_by(|(_, a), (_, b)| match self.better {
            BetterDirection::Lower => a.mean.total_cmp(&b.mean),
            _ => b.mean.total_cmp(&a.mean),
        });
        present
    }

    /// Describes which values are better; empty if there is no direction.
    pub fn direction(&self) -> &'static str {
        match self.better {
            BetterDirection::Higher => "higher is better",
            BetterDirection::Lower => "lower is better",
            BetterDirection::Neither => "",
        }
    }

    /// Returns the full scale of the bars.
    pub fn scale_max(&self) -> f64 {
        let values = self.values.iter().flatten();
        axis_max(values.map(|value| (value.mean, value.interval())))
    }
}

/// Returns the rows of records, with the runs of each column taken together, and reasons against a
/// comparison.
pub(super) fn of_records(columns: &[&[RunRecord]]) -> (Vec<FigureRow>, Vec<String>) {
    // Different work must not end the report. `work_differences` turns it into alarms.
    let options = ComparisonOptions {
        force: true,
        paired: false,
    };
    let Some(first) = columns.iter().position(|runs| !runs.is_empty()) else {
        return (Vec::new(), Vec::new());
    };
    // The first column is compared with itself, too, so that all columns are read in the same way.
    let compared = |runs: &&[RunRecord]| compare(columns[first], runs, options).ok();
    let comparisons: Vec<Option<Comparison>> = columns.iter().map(compared).collect();
    let Some(own) = &comparisons[first] else {
        return (Vec::new(), Vec::new());
    };
    let names: Vec<&CellName> = own.cells.iter().map(|cell| &cell.name).collect();
    let mut rows = Vec::new();
    for (cell_index, cell) in own.cells.iter().enumerate() {
        // Cells may have equal names. The n-th one of each column then belongs together.
        let occurrence = names[..cell_index]
            .iter()
            .filter(|it| **it == &cell.name)
            .count();
        let cells: Vec<Option<&CellComparison>> = comparisons
            .iter()
            .map(|comparison| {
                let same = comparison.as_ref()?.cells.iter();
                same.filter(|it| it.name == cell.name).nth(occurrence)
            })
            .collect();
        let label = label(&cell.name, &names);
        rows.extend(of_cell(&label, &cells, first));
    }
    (rows, work_differences(&comparisons))
}

/// Lists differences in the work of the columns.
fn work_differences(comparisons: &[Option<Comparison>]) -> Vec<String> {
    let mut alarms = Vec::new();
    let forced = comparisons.iter().flatten().filter(|it| it.forced);
    for difference in forced.flat_map(|it| &it.plan_differences) {
        if difference.is_circumstance() {
            continue;
        }
        let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "nothing".to_owned());
        let alarm = format!(
            "not the same work in all columns: {} is {} in one and {} in another",
            difference.what,
            side(&difference.a),
            side(&difference.b)
        );
        if !alarms.contains(&alarm) {
            alarms.push(alarm);
        }
    }
    alarms
}

/// Returns the properties that distinguish a cell from the others of its workload.
fn label(name: &CellName, all: &[&CellName]) -> String {
    let mut parts = Vec::new();
    let differs = |of: fn(&CellName) -> String| all.iter().any(|it| of(it) != of(name));
    if differs(|it| it.workload.clone()) {
        parts.push(printable(&work_name(name)));
    } else if differs(|it| it.access_spec.clone().unwrap_or_default()) {
        parts.push(printable(name.access_spec.as_deref().unwrap_or_default()));
    }
    if name.number > 1 {
        let number = format!("({})", name.number);
        match parts.last_mut() {
            Some(last) => last.push_str(&format!(" {number}")),
            None => parts.push(number),
        }
    }
    if name.phase != "measure" {
        parts.push(printable(&name.phase));
    }
    let number =
        |value: Option<u32>| value.map_or_else(|| "unknown".to_owned(), |it| it.to_string());
    if all.iter().any(|it| it.iodepth != name.iodepth) {
        parts.push(format!("depth {}", number(name.iodepth)));
    }
    if all.iter().any(|it| it.workers != name.workers) {
        parts.push(format!("{} workers", number(name.workers)));
    }
    parts.join(", ")
}

fn work_name(name: &CellName) -> String {
    name.access_spec
        .clone()
        .unwrap_or_else(|| name.workload.clone())
}

/// Returns the rate (for PostMark in transactions), the bandwidth if it adds information, and the
/// 99th percentile.
fn of_cell(label: &str, cells: &[Option<&CellComparison>], first: usize) -> Vec<FigureRow> {
    let find = |cell: &Option<&CellComparison>, figure: Figure| -> Option<FigureComparison> {
        let figures = &(*cell)?.figures;
        let is_it = |it: &&FigureComparison| it.scope == Scope::Total && it.figure == figure;
        figures.iter().find(is_it).cloned()
    };
    let row = |figure: Figure| -> Option<FigureRow> {
        let found: Vec<Option<FigureComparison>> =
            cells.iter().map(|cell| find(cell, figure)).collect();
        let first_figure = found.get(first)?.as_ref()?;
        // A proportional bandwidth adds no information, and there is no ratio to 0.
        if first_figure.same_as.is_some() || first_figure.b.mean <= 0.0 {
            return None;
        }
        let smallest = found
            .iter()
            .flatten()
            .map(|it| it.b.mean)
            .fold(f64::MAX, f64::min);
        let unit = LatencyUnit::fitting(Some(smallest.max(0.0) as u64));
        // Rounding to a step has a standard error of step/√12. A ratio of two rounded values has √2
        // times as much.
        let rounding = figure.step() / 6.0_f64.sqrt();
        let ratio_to_first = |of: &Estimate| {
            let ratio = Ratio::of_estimates(&first_figure.b, of)?;
            Some(ratio.widened(rounding))
        };
        let value = |(column, found): (usize, &Option<FigureComparison>)| {
            found.as_ref().map(|found| ColumnValue {
                mean: found.b.mean,
                text: numbers::figure(figure, found.b.mean, unit),
                estimate: Some(found.b),
                within_run: found.within_b,
                ratio: (column != first)
                    .then(|| ratio_to_first(&found.b))
                    .flatten(),
            })
        };
        let values = found.iter().enumerate().map(value);
        Some(FigureRow {
            base_label: joined(label, base_name(figure)),
            better: match figure.higher_is_better() {
                true => BetterDirection::Higher,
                false => BetterDirection::Lower,
            },
            is_rate: matches!(figure, Figure::PerSecond | Figure::TransactionsPerSecond),
            is_short: cells.iter().flatten().any(|cell| cell.is_short_b),
            rounding,
            is_time: true,
            ..FigureRow::new(
                &joined(label, &numbers::figure_name(figure, unit)),
                values.collect(),
            )
        })
    };
    // With too few operations for a 99th percentile, the mean is the only latency.
    let slow = row(Figure::LatencyP99).or_else(|| row(Figure::LatencyMean));
    let transactions = row(Figure::TransactionsPerSecond);
    let mut operations = row(Figure::PerSecond);
    if let Some(row) = operations.as_mut().filter(|_| transactions.is_some()) {
        // PostMark counts two of these operations as one transaction.
        row.label = joined(label, "op/s");
        row.is_rate = false;
    }
    let rows = [transactions, operations, row(Figure::BytesPerSecond), slow];
    rows.into_iter().flatten().collect()
}

fn joined(label: &str, figure: &str) -> String {
    match label {
        "" => figure.to_owned(),
        label => format!("{label}, {figure}"),
    }
}

fn base_name(figure: Figure) -> &'static str {
    match figure {
        Figure::TransactionsPerSecond => "transactions_per_second",
        Figure::PerSecond => "per_second",
        Figure::BytesPerSecond => "bytes_per_second",
        Figure::LatencyMean => "latency_mean_ns",
        Figure::LatencyP99 => "latency_p99_ns",
    }
}

/// Formats a ratio with two decimals, more if it is small, and fewer if it is large.
pub(super) fn ratio(value: f64) -> String {
    // Below 0.095, two decimals would show a single significant digit.
    if (0.095..10.0).contains(&value) {
        format!("{value:.2}")
    } else {
        digits(value)
    }
}

/// Formats the confidence interval of a ratio; empty without one. An interval that excludes 1 gets
/// a mark unless the difference is significant.
pub(super) fn interval(row: &FigureRow, column: usize, value: &ColumnValue) -> String {
    let certainty = value.ratio.and_then(|ratio| ratio.certainty);
    certainty.map_or_else(String::new, |certainty| {
        let (low, high) = (certainty.ci95_low, certainty.ci95_high);
        let excludes_one = low > 1.0 || high < 1.0;
        let mark = match excludes_one && !row.differs_from_first(column) {
            true => UNCERTAIN_MARK,
            false => "",
        };
        format!("{}-{}{mark}", ratio(low), ratio(high))
    })
}
