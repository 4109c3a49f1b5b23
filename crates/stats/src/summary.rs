//! The figures that records and reports show of a counter.

use serde::{Deserialize, Serialize};

use crate::{Counter, Histogram, samples_needed};

/// The percentiles of every summary, in percent.
pub const PERCENTILES: [f64; 7] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999];

/// The figures of a latency distribution in nanoseconds; the optional ones need a sample.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LatencySummary {
    /// How many samples there are.
    pub count: u64,
    /// The smallest sample.
    pub min_ns: Option<u64>,
    /// The arithmetic mean.
    pub mean_ns: Option<f64>,
    /// The standard deviation (divisor n).
    pub stddev_ns: Option<f64>,
    /// The largest sample.
    pub max_ns: Option<u64>,
    /// Percents of [`PERCENTILES`] with their values, supported by enough samples or not.
    pub percentiles: Vec<(f64, Option<u64>)>,
}

impl LatencySummary {
    /// The figures of a histogram.
    #[must_use]
    pub fn of(histogram: &Histogram) -> Self {
        let percentiles = PERCENTILES.map(|percent| (percent, histogram.percentile(percent)));
        Self {
            count: histogram.count(),
            min_ns: histogram.min_ns(),
            mean_ns: histogram.mean_ns(),
            stddev_ns: histogram.stddev_ns(),
            max_ns: histogram.max_ns(),
            percentiles: percentiles.to_vec(),
        }
    }

    /// The value of one of the [`PERCENTILES`].
    #[must_use]
    pub fn percentile_ns(&self, percent: f64) -> Option<u64> {
        self.percentiles
            .iter()
            .find(|(known, _)| *known == percent)?
            .1
    }

    /// The percents whose values too few samples support; empty without samples.
    pub fn unsupported(&self) -> impl Iterator<Item = f64> + '_ {
        let shown = self.percentiles.iter().filter(|(_, value)| value.is_some());
        shown
            .map(|(percent, _)| *percent)
            .filter(|percent| samples_needed(*percent).is_none_or(|needed| self.count < needed))
    }
}

/// The figures of a counter over a length of time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// How many operations succeeded.
    pub count: u64,
    /// How many operations failed.
    pub errors: u64,
    /// How many of the successes moved fewer bytes than asked for.
    pub short_count: u64,
    /// How many bytes were moved.
    pub bytes: u64,
    /// Successes each second; 0 if no time passed.
    pub per_second: f64,
    /// Bytes each second; 0 if no time passed.
    pub bytes_per_second: f64,
    /// The latencies of the successes.
    pub latency: LatencySummary,
}

impl Summary {
    /// The figures of what a counter counted in `length_ns` nanoseconds.
    #[must_use]
    pub fn of(counter: &Counter, length_ns: u64) -> Self {
        let per_second = |amount: u64| match length_ns {
            0 => 0.0,
            _ => amount as f64 * 1e9 / length_ns as f64,
        };
        Self {
            count: counter.count(),
            errors: counter.errors(),
            short_count: counter.short_count(),
            bytes: counter.bytes(),
            per_second: per_second(counter.count()),
            bytes_per_second: per_second(counter.bytes()),
            latency: LatencySummary::of(counter.latency()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_gives_rates_over_the_length_of_time() {
        let mut counter = Counter::new();
        for latency_ns in 1..=100 {
            counter.record(4096, latency_ns);
        }
        counter.record_error(5, 7);
        let summary = Summary::of(&counter, 500_000_000);
        assert_eq!(
            (summary.count, summary.errors, summary.bytes),
            (100, 1, 409_600)
        );
        assert_eq!(summary.per_second, 200.0);
        assert_eq!(summary.bytes_per_second, 819_200.0);
        assert_eq!(summary.latency.mean_ns, Some(50.5));
        assert_eq!(summary.latency.percentile_ns(99.0), Some(99));
        assert_eq!(summary.latency.percentile_ns(42.0), None);
    }

    #[test]
    fn nothing_in_no_time_has_no_figures() {
        let summary = Summary::of(&Counter::new(), 0);
        assert_eq!((summary.per_second, summary.bytes_per_second), (0.0, 0.0));
        assert_eq!(summary.latency.max_ns, None);
        assert_eq!(summary.latency.percentile_ns(50.0), None);
        assert_eq!(summary.latency.unsupported().count(), 0);
    }

    #[test]
    fn percentiles_that_too_few_samples_support_are_named() {
        let mut histogram = Histogram::new();
        histogram.record_n(5, 1000);
        let summary = LatencySummary::of(&histogram);
        assert_eq!(
            summary.unsupported().collect::<Vec<_>>(),
            [99.9, 99.99, 99.999]
        );
    }

    #[test]
    fn a_summary_survives_storage() {
        let mut counter = Counter::new();
        counter.record(512, 1234);
        let summary = Summary::of(&counter, 1_000_000_000);
        let text = serde_json::to_string(&summary).unwrap();
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
    }
}
