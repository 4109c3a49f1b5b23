//! The best rates of a run, for lists of runs.

use plan::CurvePart;
use results::{CellRecord, ImportRecord, ImportedFigure, Phase, Status};
use schemars::JsonSchema;
use serde::Serialize;

/// From this request size on, bandwidth is more informative than requests per second.
const LARGE_BYTES: f64 = 65_536.0;

/// Unit of a run's headline rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HeadlineUnit {
    /// Read and write requests.
    Requests,
    /// Bytes read and written.
    Bytes,
    /// File operations.
    Operations,
    /// PostMark transactions; each is a pair of operations.
    Transactions,
}

impl HeadlineUnit {
    const ALL: [Self; 4] = [
        Self::Requests,
        Self::Bytes,
        Self::Operations,
        Self::Transactions,
    ];

    /// The word in the store.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Bytes => "bytes",
            Self::Operations => "operations",
            Self::Transactions => "transactions",
        }
    }

    /// The unit from the word in the store.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

/// The most informative rate of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Headline {
    /// Unit of the rate.
    pub of: HeadlineUnit,
    /// Rate of the best cell, per second. The rate of a repeated cell is the mean of its complete
    /// repetitions.
    pub per_second: f64,
}

/// The best rates among a run's cells, not always of the same cell. The rate of a repeated cell is
/// the mean of its complete repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Best {
    /// `None` if nothing was measured.
    pub per_second_max: Option<f64>,
    /// `None` if nothing was measured.
    pub bytes_per_second_max: Option<f64>,
    /// `None` if nothing was measured.
    pub headline: Option<Headline>,
}

impl Best {
    /// The best rates of all cells.
    pub(crate) fn of(cells: &[CellRecord]) -> Self {
        let mut rates = BestRates::default();
        cells.iter().for_each(|cell| rates.add(cell));
        rates.best()
    }

    /// The best rates of imported results.
    pub(crate) fn of_import(import: &ImportRecord) -> Self {
        let figures = import.results.iter().flat_map(|it| &it.figures);
        let of = |metric: &str, operations: Option<&[&str]>| {
            let is_it = |it: &&ImportedFigure| {
                let is_wanted = operations.is_none_or(|all| all.contains(&it.operation.as_str()));
                it.metric == metric && is_wanted
            };
            figures
                .clone()
                .filter(is_it)
                .map(|it| it.value)
                .reduce(f64::max)
        };
        let per_second_max = of("per_second", None);
        let bytes_per_second_max = of("bytes_per_second", None);
        // A total alone may count any operation, such as the creation of files.
        let has_requests = of("per_second", Some(&["read", "write"])).is_some();
        let requests = of("per_second", Some(&["total", "read", "write"]));
        let requests = requests.filter(|_| has_requests);
        let is_large = |rate: f64| bytes_per_second_max.is_some_and(|it| it >= LARGE_BYTES * rate);
        let (unit, rate) = match (of("transactions_per_second", None), requests) {
            (Some(rate), _) => (HeadlineUnit::Transactions, Some(rate)),
            (None, Some(rate)) if !is_large(rate) => (HeadlineUnit::Requests, Some(rate)),
            _ if bytes_per_second_max.is_some() => (HeadlineUnit::Bytes, bytes_per_second_max),
            _ => (HeadlineUnit::Operations, per_second_max),
        };
        Self {
            per_second_max,
            bytes_per_second_max,
            headline: rate.map(|per_second| Headline {
                of: unit,
                per_second,
            }),
        }
    }
}

/// Collects the rates of a run's cells, grouped by repetition.
#[derive(Debug, Clone, Default)]
pub(crate) struct BestRates {
    groups: Vec<CellRepetitions>,
    /// Number of cells with results.
    cell_count: u32,
    /// Number of these cells with large requests.
    large_count: u32,
    /// Number of these cells that are phases of work on files.
    classic_count: u32,
}

/// A cell with all its repetitions.
#[derive(Debug, Clone)]
struct CellRepetitions {
    first_index: u32,
    phase: Phase,
    curve: Option<CurvePart>,
    complete: RateSums,
    /// Repetitions that were cut short; used only if none is complete.
    incomplete: RateSums,
}

/// Sums of the rates of several cells.
#[derive(Debug, Clone, Copy, Default)]
struct RateSums {
    per_second: RunningMean,
    bytes_per_second: RunningMean,
    transactions_per_second: RunningMean,
}

/// Mean of the finite values.
#[derive(Debug, Clone, Copy, Default)]
struct RunningMean {
    sum: f64,
    count: u32,
}

impl RunningMean {
    fn add(&mut self, value: f64) {
        if value.is_finite() {
            self.sum += value;
            self.count += 1;
        }
    }

    fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

impl RateSums {
    fn add(&mut self, cell: &CellRecord) {
        self.per_second.add(cell.total.per_second);
        self.bytes_per_second.add(cell.total.bytes_per_second);
        if let Some(rate) = cell.transactions_per_second() {
            self.transactions_per_second.add(rate);
        }
    }
}

impl CellRepetitions {
    fn is_of(&self, cell: &CellRecord) -> bool {
        self.first_index == cell.first_index.unwrap_or(cell.index)
            && self.phase == cell.phase
            && self.curve == cell.curve
    }

    fn mean(&self, of: fn(&RateSums) -> RunningMean) -> Option<f64> {
        of(&self.complete)
            .value()
            .or_else(|| of(&self.incomplete).value())
    }
}

impl BestRates {
    /// Adds a cell's results.
    pub(crate) fn add(&mut self, cell: &CellRecord) {
        // Repetitions are close to their cell, so the search from the end is short.
        let known = self.groups.iter().rposition(|group| group.is_of(cell));
        let index = known.unwrap_or(self.groups.len());
        if known.is_none() {
            self.groups.push(CellRepetitions {
                first_index: cell.first_index.unwrap_or(cell.index),
                phase: cell.phase.clone(),
                curve: cell.curve,
                complete: RateSums::default(),
                incomplete: RateSums::default(),
            });
        }
        let group = &mut self.groups[index];
        match cell.status {
            Status::Complete => group.complete.add(cell),
            Status::Interrupted | Status::Failed => group.incomplete.add(cell),
        }
        let total = &cell.total;
        // A cell that measured nothing must not decide which unit suits the run.
        if total.per_second.is_nan() || total.per_second <= 0.0 {
            return;
        }
        self.cell_count += 1;
        // The mean request size, without a division by a small rate.
        let is_large = total.bytes_per_second >= LARGE_BYTES * total.per_second;
        self.large_count += u32::from(is_large);
        self.classic_count += u32::from(matches!(cell.phase, Phase::Classic(_)));
    }

    /// The best rates of the cells added so far.
    pub(crate) fn best(&self) -> Best {
        let most = |of: fn(&RateSums) -> RunningMean| {
            let means = self.groups.iter().filter_map(|group| group.mean(of));
            means.reduce(f64::max)
        };
        let per_second_max = most(|sums| sums.per_second);
        let bytes_per_second_max = most(|sums| sums.bytes_per_second);
        let transactions = most(|sums| sums.transactions_per_second);
        let (of, rate) = match transactions {
            Some(_) => (HeadlineUnit::Transactions, transactions),
            None if self.classic_count > 0 => (HeadlineUnit::Operations, per_second_max),
            // The majority of the cells decides: a single sequential cell does not.
            None if 2 * self.large_count > self.cell_count => {
                (HeadlineUnit::Bytes, bytes_per_second_max)
            }
            None => (HeadlineUnit::Requests, per_second_max),
        };
        let rate = rate.filter(|_| self.cell_count > 0);
        Best {
            per_second_max,
            bytes_per_second_max,
            headline: rate.map(|per_second| Headline { of, per_second }),
        }
    }
}

#[cfg(test)]
mod tests {
    use results::{PhaseFigures, PoolFigures};

    use super::*;

    fn cell(phase: &str, per_second: f64, bytes_each: f64) -> CellRecord {
        let mut cell = serde_json::json!({
            "index": 0, "workload": "w", "target": "/t", "engine": "psync", "cache": "direct",
            "iodepth": 1, "workers": 1, "ranks": 1, "repetition": 0, "phase": phase,
            "status": "complete", "run_time_ns": 1, "ramp_time_ns": 0, "operations": {},
            "total": {},
        });
        cell["total"]["per_second"] = per_second.into();
        cell["total"]["bytes_per_second"] = (per_second * bytes_each).into();
        serde_json::from_value(cell).unwrap()
    }

    fn headline(cells: &[CellRecord]) -> Option<(HeadlineUnit, f64)> {
        let headline = Best::of(cells).headline?;
        Some((headline.of, headline.per_second))
    }

    #[test]
    fn the_headline_uses_the_meaningful_unit() {
        let small = cell("measure", 1000.0, 4096.0);
        let [large, larger] = [1, 2].map(|index| {
            let mut cell = cell("measure", 9.0, 1e6);
            cell.index = index;
            cell
        });
        assert_eq!(headline(&[]), None);
        assert_eq!(
            headline(&[small.clone(), large.clone()]),
            Some((HeadlineUnit::Requests, 1000.0))
        );
        assert_eq!(
            headline(&[small, large, larger]),
            Some((HeadlineUnit::Bytes, 9e6))
        );
        let mut phases = [cell("create", 50.0, 1e6), cell("transactions", 20.0, 0.0)];
        assert_eq!(headline(&phases), Some((HeadlineUnit::Operations, 50.0)));
        // A pair of operations is one transaction.
        let pool = PoolFigures {
            transactions_count: 10,
            transactions_ns: 1_000_000_000,
            ..PoolFigures::default()
        };
        phases[1].phase_figures = Some(PhaseFigures {
            pool: Some(pool),
            ..PhaseFigures::default()
        });
        assert_eq!(headline(&phases), Some((HeadlineUnit::Transactions, 10.0)));
        assert_eq!(
            headline(&phases[..1]),
            Some((HeadlineUnit::Operations, 50.0))
        );
    }

    #[test]
    fn the_headline_of_repetitions_is_their_mean() {
        let mut cells = [1000.0, 1600.0, 100.0].map(|rate| cell("measure", rate, 4096.0));
        for (index, cell) in (0..).zip(&mut cells) {
            (cell.index, cell.first_index, cell.repetition) = (index, Some(0), index);
        }
        // A cell that was cut short is not a repetition.
        cells[2].status = Status::Interrupted;
        assert_eq!(headline(&cells), Some((HeadlineUnit::Requests, 1300.0)));
        let best = Best::of(&cells);
        assert_eq!(best.per_second_max, Some(1300.0));
        assert_eq!(best.bytes_per_second_max, Some(1300.0 * 4096.0));
        // Different cells are not averaged: the best one counts.
        cells[1].first_index = Some(1);
        assert_eq!(headline(&cells), Some((HeadlineUnit::Requests, 1600.0)));
        assert_eq!(headline(&cells[2..]), Some((HeadlineUnit::Requests, 100.0)));
    }

    #[test]
    fn a_run_that_did_nothing_has_no_headline() {
        assert_eq!(headline(&[cell("measure", 0.0, 0.0)]), None);
        assert_eq!(headline(&[cell("measure", f64::NAN, 0.0)]), None);
    }

    #[test]
    fn each_stored_rate_kind_reads_back() {
        for of in HeadlineUnit::ALL {
            assert_eq!(HeadlineUnit::of(of.as_str()), Some(of));
        }
        assert_eq!(HeadlineUnit::of("miles"), None);
    }
}
