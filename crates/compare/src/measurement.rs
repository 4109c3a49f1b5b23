//! One measurement of a side: a cell of pgmeter, or a result of another program.

use std::collections::BTreeSet;

use results::{CellRecord, ImportedResult};

use crate::figure::{self, Figure, Scope};

/// Operations whose rate stands for the whole result, if the source has no total.
const DATA_OPERATIONS: [&str; 2] = ["read", "write"];

/// One measurement of a side.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Measurement<'a> {
    /// A cell of pgmeter.
    Cell(&'a CellRecord),
    /// A result of another program.
    Imported(&'a ImportedResult),
}

impl<'a> Measurement<'a> {
    /// Returns the cell, if pgmeter measured.
    pub fn cell(self) -> Option<&'a CellRecord> {
        match self {
            Self::Cell(cell) => Some(cell),
            Self::Imported(_) => None,
        }
    }

    /// Returns the value of a metric; `None` if it was not measured, is not stated, or has too few
    /// samples.
    pub fn value(self, scope: &Scope, figure: Figure) -> Option<f64> {
        match self {
            Self::Cell(cell) => figure::value(cell, scope, figure),
            Self::Imported(result) => imported_value(result, scope, figure),
        }
    }

    /// Returns the names of the operations with successful requests.
    pub fn operations(self) -> Vec<&'a str> {
        match self {
            Self::Cell(cell) => {
                // Operations that always failed have a rate of 0, to which there is no ratio.
                let counted = cell.operations.iter().filter(|(_, f)| f.count > 0);
                counted.map(|(name, _)| name.as_str()).collect()
            }
            Self::Imported(result) => {
                let mut names = result.operations();
                names.retain(|name| *name != "total");
                names
            }
        }
    }

    /// Returns the kinds of transactions.
    pub fn transactions(self) -> Vec<&'a str> {
        let transactions = self.cell().into_iter().flat_map(|cell| &cell.transactions);
        let counted = transactions.filter(|(_, figures)| figures.count > 0);
        counted.map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the target; empty if it is unknown.
    pub fn target(self) -> &'a str {
        match self {
            Self::Cell(cell) => &cell.target,
            Self::Imported(result) => result.target.as_deref().unwrap_or_default(),
        }
    }

    /// Returns the number of failed operations; `None` if it is unknown.
    pub fn errors(self) -> Option<u64> {
        match self {
            Self::Cell(cell) => Some(cell.total.errors),
            Self::Imported(result) => result.value("total", "errors").map(|count| count as u64),
        }
    }
}

fn imported_value(result: &ImportedResult, scope: &Scope, figure: Figure) -> Option<f64> {
    let metric = match figure {
        Figure::PerSecond => "per_second",
        Figure::BytesPerSecond => "bytes_per_second",
        Figure::LatencyMean => "latency_mean",
        Figure::LatencyP99 => "latency_p99",
        Figure::TransactionsPerSecond => "transactions_per_second",
    };
    match scope {
        Scope::Transaction(_) => None,
        Scope::Operation(name) => result.value(name, metric),
        Scope::Total => result.value("total", metric).or_else(|| {
            let operations = DATA_OPERATIONS.iter();
            let mut values = operations.filter_map(|name| result.value(name, metric));
            // The sum of two is no rate of the whole: they may have run one after the other.
            values.next().filter(|_| values.next().is_none())
        }),
    }
    // A rate of 0 has no ratio.
    .filter(|value| value.is_finite() && *value > 0.0)
}

/// Returns the scopes of two groups of cells: the total, and each operation or kind if there are
/// several.
pub(crate) fn scopes(cells: &[Measurement]) -> Vec<Scope> {
    let operations = cells.iter().flat_map(|cell| cell.operations()).collect();
    let transactions = cells.iter().flat_map(|cell| cell.transactions()).collect();
    let several = |names: BTreeSet<&str>, scope: fn(String) -> Scope| -> Vec<Scope> {
        // A single operation equals the total and would only add tests to Holm's correction.
        if names.len() < 2 {
            return Vec::new();
        }
        names.into_iter().map(str::to_owned).map(scope).collect()
    };
    [
        vec![Scope::Total],
        several(operations, Scope::Operation),
        several(transactions, Scope::Transaction),
    ]
    .concat()
}
