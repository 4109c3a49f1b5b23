//! Merges the latencies of several workers.

use std::collections::BTreeMap;

use results::Latency;

/// Exclusive upper bounds of fio's latency classes in nanoseconds: ten in nanoseconds, ten in
/// microseconds, eleven in milliseconds. Higher latencies form a further class.
const CLASS_ENDS_NS: [u64; 31] = [
    2,
    4,
    10,
    20,
    50,
    100,
    250,
    500,
    750,
    1000,
    2000,
    4000,
    10_000,
    20_000,
    50_000,
    100_000,
    250_000,
    500_000,
    750_000,
    1_000_000,
    2_000_000,
    4_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    750_000_000,
    1_000_000_000,
    2_000_000_000,
];

/// Latencies of one or more workers.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct LatencySamples {
    pub(super) count: u64,
    /// In nanoseconds; 0 without samples.
    pub(super) min_ns: u64,
    pub(super) max_ns: u64,
    pub(super) mean_ns: f64,
    /// Sum of the squared deviations from the mean.
    squares: f64,
    /// Lowest latency of each bucket, with the highest latency and the count.
    buckets: BTreeMap<u64, (u64, u64)>,
}

impl LatencySamples {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds the latencies of a worker.
    ///
    /// Source: Chan, Golub, LeVeque 1979, for the combined sum of squares.
    pub(super) fn add(&mut self, latency: &Latency) {
        if latency.count == 0 {
            return;
        }
        let (before, more) = (self.count as f64, latency.count as f64);
        let mean_ns = latency.mean_ns.unwrap_or_default();
        let apart = mean_ns - self.mean_ns;
        let stddev_ns = latency.stddev_ns.unwrap_or_default();
        // Records have the deviation of the population, so its square times the count is a sum of
        // squares.
        self.squares += stddev_ns.powi(2) * more + apart.powi(2) * before * more / (before + more);
        self.mean_ns += apart * more / (before + more);
        let min_ns = latency.min_ns.unwrap_or_default();
        self.min_ns = if self.is_empty() {
            min_ns
        } else {
            self.min_ns.min(min_ns)
        };
        self.max_ns = self.max_ns.max(latency.max_ns.unwrap_or_default());
        self.count = self.count.saturating_add(latency.count);
        for &[low_ns, high_ns, count] in &latency.histogram.buckets_ns {
            let bucket = self.buckets.entry(low_ns).or_insert((high_ns, 0));
            bucket.1 = bucket.1.saturating_add(count);
        }
    }

    /// Sample standard deviation in nanoseconds; 0 with fewer than two samples.
    pub(super) fn stddev_ns(&self) -> f64 {
        match self.count {
            0 | 1 => 0.0,
            count => (self.squares / (count - 1) as f64).sqrt(),
        }
    }

    /// The middle of each bucket in nanoseconds, with the count.
    pub(super) fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets.iter().map(|(&low_ns, &(high_ns, count))| {
            let width_ns = high_ns.saturating_sub(low_ns).saturating_add(1);
            // fio also reports the middle of a bucket (`plat_idx_to_val`).
            (low_ns.saturating_add(width_ns / 2), count)
        })
    }

    /// Percentile of the latencies in nanoseconds; 0 without samples.
    pub(super) fn percentile_ns(&self, percent: f64) -> u64 {
        let rank = (percent * self.count as f64 / 100.0).ceil().max(1.0) as u64;
        // The largest sample is known exactly, unlike the others of its bucket.
        if rank >= self.count {
            return self.max_ns;
        }
        let mut below = 0_u64;
        for (middle_ns, count) in self.bins() {
            below = below.saturating_add(count);
            if below >= rank {
                // The middle of the first or last bucket may lie outside of the measured range.
                return middle_ns.clamp(self.min_ns, self.max_ns);
            }
        }
        self.max_ns
    }

    /// Percentages of latencies in fio's classes of nanoseconds, microseconds and milliseconds.
    /// As in fio, a class with any latency has at least 0.01 %.
    pub(super) fn class_percents(&self) -> [Vec<f64>; 3] {
        let mut counts = vec![0_u64; CLASS_ENDS_NS.len() + 1];
        for (middle_ns, count) in self.bins() {
            // A bucket counts in one class, even if it reaches into the next one.
            let class = CLASS_ENDS_NS.partition_point(|end_ns| *end_ns <= middle_ns);
            counts[class] = counts[class].saturating_add(count);
        }
        let percent = |count: u64| match count {
            0 => 0.0,
            _ => (count as f64 * 100.0 / self.count.max(1) as f64).max(0.01),
        };
        let percents: Vec<f64> = counts.into_iter().map(percent).collect();
        [
            percents[..10].to_vec(),
            percents[10..20].to_vec(),
            percents[20..].to_vec(),
        ]
    }
}
