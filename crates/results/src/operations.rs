//! Figures of operations and of transactions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::Counter;

use crate::real::Real;
use crate::{Latency, per_second};

/// Figures by the name of the operation (`read`, `write`, `fsync`, ...).
pub type Operations = BTreeMap<String, OperationFigures>;

/// What was measured of one operation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OperationFigures {
    /// Operations that succeeded, short transfers included.
    pub count: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Operations that moved fewer bytes than asked for.
    pub short_count: u64,
    /// `count` for each second of measured time.
    #[serde(with = "Real")]
    pub per_second: f64,
    /// `bytes` for each second of measured time.
    #[serde(with = "Real")]
    pub bytes_per_second: f64,
    /// From queued to reaped.
    pub latency: Latency,
}

impl OperationFigures {
    /// The figures of a counter over `length_ns` of measured time.
    #[must_use]
    pub fn of(counter: &Counter, length_ns: u64) -> Self {
        Self {
            count: counter.count(),
            errors: counter.errors(),
            bytes: counter.bytes(),
            short_count: counter.short_count(),
            per_second: per_second(counter.count(), length_ns),
            bytes_per_second: per_second(counter.bytes(), length_ns),
            latency: Latency::of(counter.latency()),
        }
    }
}

/// What was measured of one kind of transaction.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TransactionFigures {
    /// Transactions that succeeded.
    pub count: u64,
    /// Transactions in which an operation failed.
    pub errors: u64,
    /// `count` for each second of measured time.
    #[serde(with = "Real")]
    pub per_second: f64,
    /// From the first request queued to the last one reaped.
    pub latency: Latency,
}

impl TransactionFigures {
    /// The figures of a counter over `length_ns` of measured time.
    #[must_use]
    pub fn of(counter: &Counter, length_ns: u64) -> Self {
        Self {
            count: counter.count(),
            errors: counter.errors(),
            per_second: per_second(counter.count(), length_ns),
            latency: Latency::of(counter.latency()),
        }
    }
}
