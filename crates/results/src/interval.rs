//! Figures of a stretch of measured time.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::Interval;

use crate::Names;

/// Figures of a stretch of measured time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct IntervalRecord {
    /// Where the interval starts, in nanoseconds from the start of the measurement.
    pub at_ns: u64,
    /// How long it is, in nanoseconds.
    pub length_ns: u64,
    /// Time that the workers' threads could run and waited for a processor, added up, in
    /// nanoseconds; none where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// Time in which any task of the machine waited for a processor, in nanoseconds; none where
    /// it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure_ns: Option<u64>,
    /// Figures of each operation.
    pub operations: BTreeMap<String, IntervalFigures>,
}

impl IntervalRecord {
    /// The figures of an interval.
    #[must_use]
    pub fn of(interval: &Interval, names: Names) -> Self {
        let operations = interval
            .operations()
            .filter(|(_, counter)| !counter.is_empty())
            .map(|(index, counter)| {
                let latency = counter.latency();
                let figures = IntervalFigures {
                    count: counter.count(),
                    bytes: counter.bytes(),
                    errors: counter.errors(),
                    p50_ns: latency.percentile(50.0),
                    p99_ns: latency.percentile(99.0),
                    max_ns: latency.max_ns(),
                };
                (Names::of(names.operations, index), figures)
            })
            .collect();
        Self {
            at_ns: interval.at_ns,
            length_ns: interval.length_ns,
            operations,
            ..Self::default()
        }
    }
}

/// Figures of one operation in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct IntervalFigures {
    /// Operations that succeeded.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Median latency, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the latency, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// Largest latency, in nanoseconds.
    pub max_ns: Option<u64>,
}
