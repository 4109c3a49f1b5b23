//! Latencies in records.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::Histogram;

/// Latency statistics of one operation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Latency {
    /// Number of latencies measured.
    pub count: u64,
    /// The smallest, in nanoseconds; none if nothing was measured.
    pub min_ns: Option<u64>,
    /// Arithmetic mean, in nanoseconds.
    pub mean_ns: Option<f64>,
    /// Standard deviation, in nanoseconds.
    pub stddev_ns: Option<f64>,
    /// The largest, in nanoseconds.
    pub max_ns: Option<u64>,
    /// Sum of all latencies, in nanoseconds.
    pub sum_ns: u64,
    /// Percentiles: latencies that this share of operations did not exceed.
    pub percentiles_ns: Percentiles,
    /// The distribution; empty if only the values above were kept.
    pub histogram: HistogramRecord,
}

impl Latency {
    /// Statistics of a histogram.
    #[must_use]
    pub fn of(histogram: &Histogram) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        let at = |percent| histogram.percentile(percent);
        Self {
            count: histogram.count(),
            min_ns: histogram.min_ns(),
            mean_ns: histogram.mean_ns(),
            stddev_ns: histogram.stddev_ns(),
            max_ns: histogram.max_ns(),
            // 64 bits hold 584 years of latency, which no run adds up.
            sum_ns: u64::try_from(histogram.sum_ns()).unwrap_or(u64::MAX),
            percentiles_ns: Percentiles {
                p50: at(50.0),
                p90: at(90.0),
                p95: at(95.0),
                p99: at(99.0),
                p99_9: at(99.9),
                p99_99: at(99.99),
                p99_999: at(99.999),
            },
            histogram: HistogramRecord {
                hdr_v2_base64: histogram.to_hdr_v2_base64(),
                buckets_ns: histogram
                    .buckets()
                    .map(|bucket| [bucket.low_ns, bucket.high_ns, bucket.count])
                    .collect(),
            },
        }
    }

    /// The histogram of the recorded buckets; empty if they were not kept.
    #[must_use]
    pub fn histogram(&self) -> Histogram {
        let buckets = self.histogram.buckets_ns.iter();
        // Minimum and maximum are recorded exactly; the buckets would round them.
        let ends = (self.min_ns.unwrap_or(0), self.max_ns.unwrap_or(0));
        let counts = buckets.map(|[low_ns, _, count]| (*low_ns, *count));
        Histogram::of_buckets(counts, self.sum_ns.into(), ends)
    }

    /// Counts the latencies between adjacent values of the increasing `bounds_ns`: each count
    /// includes its lower bound and excludes its upper bound. The last count holds the latencies at
    /// or above every bound.
    ///
    /// A bucket counts at its middle, so a count may be off by the bucket that contains the bound.
    /// A bucket is at most 0.8 % wide.
    #[must_use]
    pub fn counts_between(&self, bounds_ns: &[u64]) -> Vec<u64> {
        let mut counts = vec![0; bounds_ns.len() + 1];
        for &[low_ns, high_ns, count] in &self.histogram.buckets_ns {
            // Saturating, because buckets of an imported record may be in the wrong order.
            let middle_ns = low_ns + high_ns.saturating_sub(low_ns) / 2;
            let index = bounds_ns.partition_point(|bound| *bound <= middle_ns);
            counts[index] = u64::saturating_add(counts[index], count);
        }
        counts
    }
}

/// A latency histogram, as stored in records.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HistogramRecord {
    /// Interchange form: HdrHistogram V2, compressed, in base 64; empty if nothing was measured.
    /// Other programs can read it, but it rounds latencies.
    pub hdr_v2_base64: String,
    /// Exact form: lowest and highest latency of each bucket in nanoseconds, both inclusive, and
    /// the number of latencies in it. Only nonempty buckets, in increasing order.
    pub buckets_ns: Vec<[u64; 3]>,
}

/// Percentiles in nanoseconds; none if nothing was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
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

/// `true` if enough of `count` samples lie beyond a percentile: `SAMPLES_BEYOND_MIN`. Otherwise the
/// percentile is not shown.
#[must_use]
pub fn percentile_is_supported(count: u64, percent: f64) -> bool {
    stats::samples_needed(percent).is_some_and(|needed| count >= needed)
}

impl Percentiles {
    /// Percentages and percentiles in nanoseconds. As in tables, those with too few of `count`
    /// samples are left out.
    pub fn supported(&self, count: u64) -> impl Iterator<Item = (f64, u64)> {
        let all = [
            (50.0, self.p50),
            (90.0, self.p90),
            (95.0, self.p95),
            (99.0, self.p99),
            (99.9, self.p99_9),
            (99.99, self.p99_99),
            (99.999, self.p99_999),
        ];
        all.into_iter()
            .filter(move |(percent, _)| percentile_is_supported(count, *percent))
            .filter_map(|(percent, ns)| Some((percent, ns?)))
    }
}
