//! Results of operations and transactions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::Counter;

use crate::real::Real;
use crate::{Latency, per_second};

/// Results by operation name (`read`, `write`, `fsync`, ...).
pub type Operations = BTreeMap<String, OperationFigures>;

/// Results of one operation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OperationFigures {
    /// Successful operations, including short transfers.
    pub count: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Operations that moved fewer bytes than requested.
    pub short_count: u64,
    /// `count` per second of measured time.
    #[serde(with = "Real")]
    pub per_second: f64,
    /// `bytes` per second of measured time.
    #[serde(with = "Real")]
    pub bytes_per_second: f64,
    /// Time from queued to reaped.
    pub latency: Latency,
}

impl OperationFigures {
    /// Results of a counter over `length_ns` of measured time.
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

/// Results of one kind of transaction.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TransactionFigures {
    /// Successful transactions.
    pub count: u64,
    /// Transactions in which an operation failed.
    pub errors: u64,
    /// `count` per second of measured time.
    #[serde(with = "Real")]
    pub per_second: f64,
    /// Time from the first request queued to the last one reaped.
    pub latency: Latency,
}

impl TransactionFigures {
    /// Results of a counter over `length_ns` of measured time.
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
