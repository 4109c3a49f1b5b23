//! The best rates of a run, for lists.

use results::{CellRecord, Phase};
use schemars::JsonSchema;
use serde::Serialize;

/// From so many bytes a request on, bandwidth tells more than requests a second do.
const LARGE_BYTES: f64 = 65_536.0;
/// The phase in which PostMark does what it is run for.
const TRANSACTIONS: &str = "transactions";

/// What the headline rate of a run counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RateOf {
    /// Requests for reads and writes.
    Requests,
    /// Bytes that were read and written.
    Bytes,
    /// Operations on files.
    Operations,
    /// Transactions of PostMark.
    Transactions,
}

impl RateOf {
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

    /// What the word in the store stands for.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

/// The rate that tells most of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Headline {
    /// What it counts.
    pub of: RateOf,
    /// So many a second, the best of all cells.
    pub per_second: f64,
}

/// The best rates among a run's cells, not always of the same cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Best {
    /// None when nothing was measured.
    pub per_second_max: Option<f64>,
    /// None when nothing was measured.
    pub bytes_per_second_max: Option<f64>,
    transactions_per_second_max: Option<f64>,
    /// Cells that measured something.
    cell_count: u32,
    /// Those of them with large requests.
    large_count: u32,
    /// Those of them that are phases of work on files.
    classic_count: u32,
}

impl Best {
    /// Of all cells.
    pub(crate) fn of(cells: &[CellRecord]) -> Self {
        let mut best = Self::default();
        cells.iter().for_each(|cell| best.add(cell));
        best
    }

    /// Takes note of a cell's figures.
    pub(crate) fn add(&mut self, cell: &CellRecord) {
        let larger = |one: Option<f64>, other: f64| {
            let other = Some(other).filter(|rate| rate.is_finite());
            [one, other].into_iter().flatten().reduce(f64::max)
        };
        let total = &cell.total;
        self.per_second_max = larger(self.per_second_max, total.per_second);
        self.bytes_per_second_max = larger(self.bytes_per_second_max, total.bytes_per_second);
        if total.per_second.is_nan() || total.per_second <= 0.0 {
            return;
        }
        self.cell_count += 1;
        let is_large = total.bytes_per_second >= LARGE_BYTES * total.per_second;
        self.large_count += u32::from(is_large);
        if let Phase::Classic(name) = &cell.phase {
            self.classic_count += 1;
            if name == TRANSACTIONS {
                let best = self.transactions_per_second_max;
                self.transactions_per_second_max = larger(best, total.per_second);
            }
        }
    }

    /// The rate that tells most; none when nothing was measured.
    pub(crate) fn headline(&self) -> Option<Headline> {
        let (of, rate) = match self.transactions_per_second_max {
            _ if self.cell_count == 0 => return None,
            Some(_) => (RateOf::Transactions, self.transactions_per_second_max),
            None if self.classic_count > 0 => (RateOf::Operations, self.per_second_max),
            None if 2 * self.large_count > self.cell_count => {
                (RateOf::Bytes, self.bytes_per_second_max)
            }
            None => (RateOf::Requests, self.per_second_max),
        };
        rate.map(|per_second| Headline { of, per_second })
    }
}

#[cfg(test)]
mod tests {
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

    fn headline(cells: &[CellRecord]) -> Option<(RateOf, f64)> {
        let headline = Best::of(cells).headline()?;
        Some((headline.of, headline.per_second))
    }

    #[test]
    fn the_headline_is_in_the_unit_that_means_something() {
        let (small, large) = (cell("measure", 1000.0, 4096.0), cell("measure", 9.0, 1e6));
        assert_eq!(headline(&[]), None);
        assert_eq!(
            headline(&[small.clone(), large.clone()]),
            Some((RateOf::Requests, 1000.0))
        );
        assert_eq!(
            headline(&[small, large.clone(), large]),
            Some((RateOf::Bytes, 9e6))
        );
        let phases = [cell("create", 50.0, 1e6), cell("transactions", 20.0, 0.0)];
        assert_eq!(headline(&phases), Some((RateOf::Transactions, 20.0)));
        assert_eq!(headline(&phases[..1]), Some((RateOf::Operations, 50.0)));
    }

    #[test]
    fn a_run_that_did_nothing_has_no_headline() {
        assert_eq!(headline(&[cell("measure", 0.0, 0.0)]), None);
        assert_eq!(headline(&[cell("measure", f64::NAN, 0.0)]), None);
    }

    #[test]
    fn each_word_in_the_store_stands_for_what_it_was_written_for() {
        for of in RateOf::ALL {
            assert_eq!(RateOf::of(of.as_str()), Some(of));
        }
        assert_eq!(RateOf::of("miles"), None);
    }
}
