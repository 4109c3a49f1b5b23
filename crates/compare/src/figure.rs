//! The figures that are compared.

use std::collections::BTreeSet;

use results::{CellRecord, Latency, OperationFigures, percentile_is_supported};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A figure that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Successes per second; IOPS of operations.
    PerSecond,
    /// Bytes moved per second.
    BytesPerSecond,
    /// Mean latency, in nanoseconds.
    LatencyMean,
    /// The latency that 99 of 100 do not exceed, in nanoseconds.
    LatencyP99,
    /// PostMark's transactions per second, each a pair of the operations that
    /// [`PerSecond`](Self::PerSecond) counts.
    TransactionsPerSecond,
}

impl Figure {
    /// Every figure, in the order of tables.
    pub const ALL: [Self; 5] = [
        Self::PerSecond,
        Self::BytesPerSecond,
        Self::LatencyMean,
        Self::LatencyP99,
        Self::TransactionsPerSecond,
    ];

    /// Whether a larger value is the better one.
    #[must_use]
    pub const fn higher_is_better(self) -> bool {
        matches!(
            self,
            Self::PerSecond | Self::BytesPerSecond | Self::TransactionsPerSecond
        )
    }

    /// The unit of its values: `1/s`, `B/s`, `ns`.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::PerSecond | Self::TransactionsPerSecond => "1/s",
            Self::BytesPerSecond => "B/s",
            Self::LatencyMean | Self::LatencyP99 => "ns",
        }
    }

    /// The largest step, as a share, to which its values are rounded; 0 where they are exact.
    #[must_use]
    pub const fn step(self) -> f64 {
        match self {
            // Percentiles are middles of buckets, 64 to an octave.
            Self::LatencyP99 => 1.0 / 64.0,
            _ => 0.0,
        }
    }
}

/// What a figure belongs to.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase", tag = "of", content = "name")]
pub enum Scope {
    /// All operations that move bytes, or all where none moves any.
    Total,
    /// One of several operations.
    Operation(String),
    /// One of several kinds of transaction.
    Transaction(String),
}

/// The scopes of two groups of cells: the total, and what there is several of.
pub(crate) fn scopes(cells: &[&CellRecord]) -> Vec<Scope> {
    let names = |of: fn(&CellRecord) -> Vec<&String>| -> BTreeSet<&String> {
        cells.iter().flat_map(|cell| of(cell)).collect()
    };
    let operations = names(|cell| {
        let counted = cell.operations.iter().filter(|(_, f)| f.count > 0);
        counted.map(|(name, _)| name).collect()
    });
    let transactions = names(|cell| {
        let counted = cell.transactions.iter().filter(|(_, f)| f.count > 0);
        counted.map(|(name, _)| name).collect()
    });
    let several = |names: BTreeSet<&String>, scope: fn(String) -> Scope| -> Vec<Scope> {
        if names.len() < 2 {
            return Vec::new();
        }
        names.into_iter().cloned().map(scope).collect()
    };
    [
        vec![Scope::Total],
        several(operations, Scope::Operation),
        several(transactions, Scope::Transaction),
    ]
    .concat()
}

/// A figure of a cell; none where it was not measured, or from too few samples.
pub(crate) fn value(cell: &CellRecord, scope: &Scope, figure: Figure) -> Option<f64> {
    let of_operation = |figures: &OperationFigures| match figure {
        Figure::PerSecond => Some(figures.per_second),
        Figure::BytesPerSecond => Some(figures.bytes_per_second),
        Figure::TransactionsPerSecond => None,
        Figure::LatencyMean | Figure::LatencyP99 => of_latency(&figures.latency, figure),
    };
    let value = match scope {
        Scope::Total if figure == Figure::TransactionsPerSecond => cell.transactions_per_second(),
        Scope::Total => of_operation(&cell.total),
        Scope::Operation(name) => of_operation(cell.operation(name)?),
        Scope::Transaction(name) => {
            let figures = cell.transactions.get(name)?;
            match figure {
                Figure::PerSecond => Some(figures.per_second),
                Figure::BytesPerSecond | Figure::TransactionsPerSecond => None,
                Figure::LatencyMean | Figure::LatencyP99 => of_latency(&figures.latency, figure),
            }
        }
    };
    value.filter(|value| value.is_finite())
}

fn of_latency(latency: &Latency, figure: Figure) -> Option<f64> {
    if figure == Figure::LatencyMean {
        return latency.mean_ns;
    }
    let p99 = latency.percentiles_ns.p99?;
    percentile_is_supported(latency.count, 99.0).then_some(p99 as f64)
}
