//! Metrics of a comparison.

use results::{CellRecord, Latency, OperationFigures, percentile_is_supported};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A metric of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Successful operations per second, or IOPS.
    PerSecond,
    /// Bytes moved per second.
    BytesPerSecond,
    /// Mean latency, in nanoseconds.
    LatencyMean,
    /// 99th percentile of the latency, in nanoseconds.
    LatencyP99,
    /// PostMark's transactions per second. Each is a pair of the operations that
    /// [`PerSecond`](Self::PerSecond) counts.
    TransactionsPerSecond,
}

impl Figure {
    /// All metrics, in the order of tables.
    pub const ALL: [Self; 5] = [
        // The bandwidth follows the rate, because `mark_proportional` expects the two as neighbors.
        Self::PerSecond,
        Self::BytesPerSecond,
        Self::LatencyMean,
        Self::LatencyP99,
        Self::TransactionsPerSecond,
    ];

    /// Returns `true` if larger values are better.
    #[must_use]
    pub const fn higher_is_better(self) -> bool {
        matches!(
            self,
            Self::PerSecond | Self::BytesPerSecond | Self::TransactionsPerSecond
        )
    }

    /// Returns the unit of the values: `1/s`, `B/s` or `ns`.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::PerSecond | Self::TransactionsPerSecond => "1/s",
            Self::BytesPerSecond => "B/s",
            Self::LatencyMean | Self::LatencyP99 => "ns",
        }
    }

    /// Returns the largest rounding step of the values, relative to the value; 0 if they are exact.
    #[must_use]
    pub const fn step(self) -> f64 {
        match self {
            // Percentiles are midpoints of histogram buckets, 64 per power of two.
            Self::LatencyP99 => 1.0 / 64.0,
            _ => 0.0,
        }
    }
}

/// The operations that a metric covers.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase", tag = "of", content = "name")]
pub enum Scope {
    /// All operations that move bytes; if there are none, all operations.
    Total,
    /// One operation, if there are several.
    Operation(String),
    /// One kind of transaction, if there are several.
    Transaction(String),
}

/// Returns the value of a metric; `None` if it was not measured or has too few samples.
pub(crate) fn value(cell: &CellRecord, scope: &Scope, figure: Figure) -> Option<f64> {
    let figure_of = |figures: &OperationFigures| match figure {
        Figure::PerSecond => Some(figures.per_second),
        Figure::BytesPerSecond => Some(figures.bytes_per_second),
        Figure::TransactionsPerSecond => None,
        Figure::LatencyMean | Figure::LatencyP99 => of_latency(&figures.latency, figure),
    };
    let value = match scope {
        Scope::Total if figure == Figure::TransactionsPerSecond => cell.transactions_per_second(),
        Scope::Total => figure_of(&cell.total),
        Scope::Operation(name) => figure_of(cell.operation(name)?),
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
