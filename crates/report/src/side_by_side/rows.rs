//! The rows of a table: figures of records, and others.

use ::compare::{
    CellComparison, CellName, Comparison, ComparisonOptions, Figure, FigureComparison, Scope,
    compare,
};
use results::{Better, LabFigure, RunRecord};
use stats::{Estimate, Ratio};

use super::MAYBE;
use crate::numbers::{self, LatencyUnit, digits};
use crate::wrap::printable;

/// Stands before times that are not ranked.
pub(super) const GUEST_TIME: &str = "~";

/// A figure in all columns.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub label: String,
    /// The same for programs, which read base units.
    pub base_label: String,
    pub values: Vec<Option<Value>>,
    pub better: Better,
    /// Whether it says how fast the work was done.
    pub is_rate: bool,
    /// Whether a column was measured for too short a time.
    pub is_short: bool,
    /// The error that the rounding of two figures gives their ratio, as a share.
    pub rounding: f64,
    /// Pairs of columns that differ by more than chance, once all rows are judged.
    pub beyond_chance: Vec<Beyond>,
    is_time: bool,
}

/// A figure of one column.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    pub mean: f64,
    pub shown: String,
    /// None where it is told in words.
    pub estimate: Option<Estimate>,
    /// To the first column that has the figure; none there.
    pub ratio: Option<Ratio>,
}

/// A pair of columns that differ by more than chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Beyond {
    pub(super) columns: [usize; 2],
    pub(super) better: usize,
}

impl Row {
    /// The row of a figure that no record has.
    pub fn of_extra(extra: &LabFigure) -> Self {
        let estimates: Vec<_> = extra
            .samples
            .iter()
            .map(|samples| Estimate::from_samples(samples))
            .collect();
        let first = estimates.iter().position(Option::is_some).unwrap_or(0);
        let value = |(place, estimate): (usize, &Option<Estimate>)| {
            let estimate = estimate.as_ref()?;
            let of_first = estimates[first].as_ref()?;
            Some(Value {
                mean: estimate.mean,
                shown: digits(estimate.mean),
                estimate: Some(*estimate),
                ratio: (place != first)
                    .then(|| Ratio::of_estimates(of_first, estimate))
                    .flatten(),
            })
        };
        let values = estimates.iter().enumerate().map(value);
        Self {
            better: extra.better,
            is_time: extra.is_time,
            ..Self::new(&extra.label, values.collect())
        }
        .told()
    }

    /// A row of which no value is better than another.
    fn new(label: &str, values: Vec<Option<Value>>) -> Self {
        Self {
            label: label.to_owned(),
            base_label: label.to_owned(),
            values,
            better: Better::Neither,
            is_rate: false,
            is_short: false,
            rounding: 0.0,
            beyond_chance: Vec::new(),
            is_time: false,
        }
    }

    /// Without ratios where they say nothing.
    fn told(mut self) -> Self {
        if self.better == Better::Neither {
            for value in self.values.iter_mut().flatten() {
                value.ratio = None;
            }
        }
        self
    }

    /// Marked as a time that is not ranked, where it is a time.
    pub fn of_guests(mut self) -> Self {
        if self.is_time {
            self.label = format!("{GUEST_TIME} {}", self.label);
            self.better = Better::Neither;
        }
        self.told()
    }

    /// A row that is told in words.
    pub fn of_words(label: &str, words: &[Option<String>]) -> Self {
        let value = |shown: &String| Value {
            mean: 0.0,
            shown: shown.clone(),
            estimate: None,
            ratio: None,
        };
        let values = words.iter().map(|it| it.as_ref().map(value));
        Self::new(label, values.collect())
    }

    /// The columns that have the figure, the best first.
    pub fn ranked(&self) -> Vec<(usize, &Value)> {
        let values = self.values.iter().enumerate();
        let mut known: Vec<(usize, &Value)> = values
            .filter_map(|(place, value)| Some((place, value.as_ref()?)))
            .collect();
        known.sort_by(|(_, a), (_, b)| match self.better {
            Better::Lower => a.mean.total_cmp(&b.mean),
            _ => b.mean.total_cmp(&a.mean),
        });
        known
    }

    /// Which values are the better ones, in words; nothing where none is.
    pub fn direction(&self) -> &'static str {
        match self.better {
            Better::Higher => "higher is better",
            Better::Lower => "lower is better",
            Better::Neither => "",
        }
    }

    /// The largest mean or end of an interval, for bars; an interval far beyond all means is cut,
    /// so that the bars are seen.
    pub fn most(&self) -> f64 {
        const MEANS_MAX: f64 = 2.0;
        let end = |value: &Value| value.estimate.and_then(|it| it.ci95_high);
        let values = || self.values.iter().flatten();
        let mean = values().map(|value| value.mean).fold(0.0, f64::max);
        let ends = values().filter_map(end).fold(mean, f64::max);
        ends.min(mean * MEANS_MAX)
    }
}

/// The rows of records, a column's runs taken together, and what speaks against comparing them.
pub(super) fn of_records(columns: &[&[RunRecord]]) -> (Vec<Row>, Vec<String>) {
    let options = ComparisonOptions {
        force: true,
        paired: false,
    };
    let Some(first) = columns.iter().position(|runs| !runs.is_empty()) else {
        return (Vec::new(), Vec::new());
    };
    let held = |runs: &&[RunRecord]| compare(columns[first], runs, options).ok();
    let comparisons: Vec<Option<Comparison>> = columns.iter().map(held).collect();
    let Some(own) = &comparisons[first] else {
        return (Vec::new(), Vec::new());
    };
    let names: Vec<&CellName> = own.cells.iter().map(|cell| &cell.name).collect();
    let mut rows = Vec::new();
    for (place, cell) in own.cells.iter().enumerate() {
        let occurrence = names[..place]
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
    (rows, unlike(&comparisons))
}

/// Which work was not the same in all columns.
fn unlike(comparisons: &[Option<Comparison>]) -> Vec<String> {
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

/// What tells a cell from the others of its workload.
fn label(name: &CellName, all: &[&CellName]) -> String {
    let mut parts = Vec::new();
    let differs = |of: fn(&CellName) -> String| all.iter().any(|it| of(it) != of(name));
    if differs(|it| it.workload.clone()) {
        parts.push(printable(&it_name(name)));
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
    if differs(|it| it.iodepth.to_string()) {
        parts.push(format!("depth {}", name.iodepth));
    }
    if differs(|it| it.workers.to_string()) {
        parts.push(format!("{} workers", name.workers));
    }
    parts.join(", ")
}

fn it_name(name: &CellName) -> String {
    name.access_spec
        .clone()
        .unwrap_or_else(|| name.workload.clone())
}

/// The rate, as PostMark counts it first, the bandwidth where it says more, and the slowest in a
/// hundred.
fn of_cell(label: &str, cells: &[Option<&CellComparison>], first: usize) -> Vec<Row> {
    let find = |cell: &Option<&CellComparison>, figure: Figure| -> Option<FigureComparison> {
        let figures = &(*cell)?.figures;
        let is_it = |it: &&FigureComparison| it.scope == Scope::Total && it.figure == figure;
        figures.iter().find(is_it).cloned()
    };
    let row = |figure: Figure| -> Option<Row> {
        let found: Vec<Option<FigureComparison>> =
            cells.iter().map(|cell| find(cell, figure)).collect();
        let of_first = found.get(first)?.as_ref()?;
        if of_first.same_as.is_some() || of_first.b.mean <= 0.0 {
            return None;
        }
        let smallest = found
            .iter()
            .flatten()
            .map(|it| it.b.mean)
            .fold(f64::MAX, f64::min);
        let unit = LatencyUnit::fitting(Some(smallest.max(0.0) as u64));
        let rounding = figure.step() / 6.0_f64.sqrt();
        let ratio_to_first = |of: &Estimate| {
            let ratio = Ratio::of_estimates(&of_first.b, of)?;
            Some(ratio.widened(rounding))
        };
        let value = |(place, found): (usize, &Option<FigureComparison>)| {
            found.as_ref().map(|found| Value {
                mean: found.b.mean,
                shown: numbers::figure(figure, found.b.mean, unit),
                estimate: Some(found.b),
                ratio: (place != first).then(|| ratio_to_first(&found.b)).flatten(),
            })
        };
        let values = found.iter().enumerate().map(value);
        Some(Row {
            base_label: joined(label, base_name(figure)),
            better: match figure.higher_is_better() {
                true => Better::Higher,
                false => Better::Lower,
            },
            is_rate: matches!(figure, Figure::PerSecond | Figure::TransactionsPerSecond),
            is_short: cells.iter().flatten().any(|cell| cell.is_short_b),
            rounding,
            is_time: true,
            ..Row::new(
                &joined(label, &numbers::figure_name(figure, unit)),
                values.collect(),
            )
        })
    };
    let slow = row(Figure::LatencyP99).or_else(|| row(Figure::LatencyMean));
    let transactions = row(Figure::TransactionsPerSecond);
    let mut operations = row(Figure::PerSecond);
    if let Some(row) = operations.as_mut().filter(|_| transactions.is_some()) {
        // Two of them are one transaction.
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

/// A ratio: two decimals, more where it is small and fewer where it is large.
pub(super) fn ratio(value: f64) -> String {
    if (0.095..10.0).contains(&value) {
        format!("{value:.2}")
    } else {
        digits(value)
    }
}

/// The interval of a ratio, with a mark where it is beside 1 as one of so many; nothing where the
/// ratio has none.
pub(super) fn interval(row: &Row, place: usize, value: &Value) -> String {
    let certainty = value.ratio.and_then(|ratio| ratio.certainty);
    certainty.map_or_else(String::new, |certainty| {
        let (low, high) = (certainty.ci95_low, certainty.ci95_high);
        let is_beside = low > 1.0 || high < 1.0;
        let mark = match is_beside && !row.differs_from_first(place) {
            true => MAYBE,
            false => "",
        };
        format!("{}-{}{mark}", ratio(low), ratio(high))
    })
}
