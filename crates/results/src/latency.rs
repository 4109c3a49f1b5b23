//! Latencies as they are recorded.

use serde::{Deserialize, Serialize};

/// What was measured of the latencies of one operation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Latency {
    /// How many latencies were measured.
    pub count: u64,
    /// The smallest, in nanoseconds; none when nothing was measured.
    pub min_ns: Option<u64>,
    /// The arithmetic mean, in nanoseconds.
    pub mean_ns: Option<f64>,
    /// The standard deviation of the latencies, in nanoseconds.
    pub stddev_ns: Option<f64>,
    /// The largest, in nanoseconds.
    pub max_ns: Option<u64>,
    /// The sum of all latencies, in nanoseconds.
    pub sum_ns: u64,
    /// Latencies that so many percent of the operations did not exceed.
    pub percentiles_ns: Percentiles,
}

/// The percentiles that every record holds, in nanoseconds; none when nothing was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Percentiles {
    /// 50 %.
    #[serde(rename = "50")]
    pub p50: Option<u64>,
    /// 90 %.
    #[serde(rename = "90")]
    pub p90: Option<u64>,
    /// 95 %.
    #[serde(rename = "95")]
    pub p95: Option<u64>,
    /// 99 %.
    #[serde(rename = "99")]
    pub p99: Option<u64>,
    /// 99.9 %.
    #[serde(rename = "99.9")]
    pub p99_9: Option<u64>,
    /// 99.99 %.
    #[serde(rename = "99.99")]
    pub p99_99: Option<u64>,
    /// 99.999 %.
    #[serde(rename = "99.999")]
    pub p99_999: Option<u64>,
}
