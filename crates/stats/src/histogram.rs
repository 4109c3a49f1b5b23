//! A histogram of latencies with a fixed relative error.

use std::fmt;

use crate::bucket::{self, Bucket};

/// A percentile is trusted only if this many samples lie beyond it.
const SAMPLES_BEYOND: f64 = 10.0;

/// A histogram of nanoseconds, exact below 128 and within 0.8 % above.
///
/// Samples of 2^44 ns (4.9 hours) and more share one bucket, which has the value of the largest
/// sample. Count, sum, minimum and maximum are exact. [`Histogram::new`] allocates all memory.
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    /// Samples per bucket; zero outside the buckets of `min_ns` and `max_ns`.
    pub(crate) counts: Box<[u64; bucket::COUNT]>,
    /// The total of `counts`.
    pub(crate) count: u64,
    pub(crate) sum_ns: u128,
    /// `u64::MAX` while there are no samples.
    pub(crate) min_ns: u64,
    /// 0 while there are no samples.
    pub(crate) max_ns: u64,
}

impl Histogram {
    /// An empty histogram. Allocates all the memory it will ever use (20 KB).
    #[must_use]
    pub fn new() -> Self {
        Self {
            counts: Box::new([0; bucket::COUNT]),
            count: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }

    /// Adds one sample.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.record_alike(ns, 1);
    }

    /// Adds `more` equal samples of a measurement. Counts wrap on overflow, which no measurement
    /// reaches; [`Histogram::record_n`] guards against it.
    #[inline]
    pub(crate) fn record_alike(&mut self, ns: u64, more: u64) {
        let count = &mut self.counts[bucket::index_of(ns)];
        *count = count.wrapping_add(more);
        self.count = self.count.wrapping_add(more);
        let sum_ns = u128::from(ns) * u128::from(more);
        self.sum_ns = self.sum_ns.wrapping_add(sum_ns);
        // A branch that is rarely taken costs less than two stores per sample.
        if ns < self.min_ns || ns > self.max_ns {
            self.widen(ns);
        }
    }

    /// Records a new minimum or maximum, which becomes ever rarer: hence not inlined.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, ns: u64) {
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds the same sample `count` times.
    pub fn record_n(&mut self, ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        // No bucket exceeds the total, so limiting the increase keeps all counts consistent.
        let count = count.min(u64::MAX - self.count);
        self.counts[bucket::index_of(ns)] += count;
        self.count += count;
        let sum_ns = u128::from(ns) * u128::from(count);
        self.sum_ns = self.sum_ns.saturating_add(sum_ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Rebuilds a histogram from [`Histogram::buckets`] and the exact sum, minimum and maximum.
    /// `buckets` has the lowest value and the sample count of each bucket. A minimum or maximum
    /// outside its bucket is replaced by that bucket's lowest value.
    #[must_use]
    pub fn of_buckets(
        buckets: impl IntoIterator<Item = (u64, u64)>,
        sum_ns: u128,
        (min_ns, max_ns): (u64, u64),
    ) -> Self {
        let mut it = Self::new();
        for (low_ns, count) in buckets {
            it.record_n(low_ns, count);
        }
        if !it.is_empty() {
            it.sum_ns = sum_ns;
            let (lowest, highest) = (it.min_ns, it.max_ns);
            let same = |a: u64, b: u64| bucket::index_of(a) == bucket::index_of(b);
            it.min_ns = if same(min_ns, lowest) { min_ns } else { lowest };
            it.max_ns = if same(max_ns, highest) {
                max_ns
            } else {
                highest
            };
        }
        it
    }

    /// Adds every sample of another histogram.
    ///
    /// Counts stop at the largest 64-bit number, which no measurement reaches.
    pub fn merge(&mut self, other: &Self) {
        // Most of the 20 KB are unused, so only the buckets in between are visited.
        for index in other.used() {
            self.counts[index] = self.counts[index].saturating_add(other.counts[index]);
        }
        self.count = self.count.saturating_add(other.count);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Drops all samples and keeps the memory. The cost depends on the range of buckets in use.
    pub fn clear(&mut self) {
        let used = self.used();
        self.counts[used].fill(0);
        (self.count, self.sum_ns) = (0, 0);
        (self.min_ns, self.max_ns) = (u64::MAX, 0);
    }

    /// The indices of the buckets that may hold samples.
    pub(crate) fn used(&self) -> std::ops::Range<usize> {
        match self.is_empty() {
            true => 0..0,
            false => bucket::index_of(self.min_ns)..bucket::index_of(self.max_ns) + 1,
        }
    }

    /// `true` if there are no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum of all samples in nanoseconds.
    #[must_use]
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Exact smallest sample in nanoseconds.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.min_ns)
    }

    /// Exact largest sample in nanoseconds.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.max_ns)
    }

    /// The exact arithmetic mean in nanoseconds.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The standard deviation of the samples (divisor n) in nanoseconds.
    ///
    /// Each sample counts as its bucket's midpoint, so the result carries the bucket error of 0.8
    /// %.
    #[must_use]
    pub fn stddev_ns(&self) -> Option<f64> {
        let mean = self.mean_ns()?;
        let squares: f64 = self
            .used()
            .map(|index| {
                let deviation = self.value_of(index) as f64 - mean;
                self.counts[index] as f64 * deviation * deviation
            })
            .sum();
        Some((squares / self.count as f64).sqrt())
    }

    /// The smallest value that at least `percent` of the samples do not exceed: the sample of rank
    /// `ceil(percent / 100 * count)`, within 0.8 %. The first and the last rank are exact.
    ///
    /// `None` without samples, or if `percent` is not within 0 to 100.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        if self.is_empty() || !(0.0..=100.0).contains(&percent) {
            return None;
        }
        let rank = round_up(percent * self.count as f64 / 100.0).clamp(1, self.count);
        if rank == 1 {
            return Some(self.min_ns);
        }
        let mut below = 0_u64;
        let found = self.used().find(|index| {
            below = below.saturating_add(self.counts[*index]);
            below >= rank
        });
        match found {
            Some(index) if rank < self.count => Some(self.value_of(index)),
            _ => Some(self.max_ns),
        }
    }

    /// `true` if enough samples lie beyond a percentile to trust it; see [`samples_needed`].
    #[must_use]
    pub fn supports_percentile(&self, percent: f64) -> bool {
        samples_needed(percent).is_some_and(|needed| self.count >= needed)
    }

    /// The buckets that hold samples, in ascending order.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.used()
            .filter(|index| self.counts[*index] > 0)
            .map(|index| Bucket {
                low_ns: bucket::low_of(index),
                high_ns: bucket::high_of(index),
                count: self.counts[index],
            })
    }

    /// Lowest value and representative value of each bucket that holds samples, in ascending order.
    pub(crate) fn values(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.used()
            .filter(|index| self.counts[*index] > 0)
            .map(|index| (bucket::low_of(index), self.value_of(index)))
    }

    /// The value that represents the samples of a bucket.
    pub(crate) fn value_of(&self, index: usize) -> u64 {
        bucket::midpoint_of(index).clamp(self.min_ns, self.max_ns)
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter
            .debug_struct("Histogram")
            .field("count", &self.count)
            .field("sum_ns", &self.sum_ns)
            .field("min_ns", &self.min_ns())
            .field("max_ns", &self.max_ns())
            .finish_non_exhaustive()
    }
}

/// Number of samples a percentile needs so that about ten lie beyond it: 20 for the median, 1000
/// for p99, 1,000,000 for p99.999. `None` for 0, 100 and values outside that range.
#[must_use]
pub fn samples_needed(percent: f64) -> Option<u64> {
    let tail = percent.min(100.0 - percent);
    (tail > 0.0).then(|| round_up(SAMPLES_BEYOND * 100.0 / tail))
}

/// Rounds up, but ignores the rounding error of the preceding computation: 99.9 % of 1000 is 999.
pub(crate) fn round_up(exact: f64) -> u64 {
    let nearest = exact.round();
    let is_whole = (exact - nearest).abs() <= nearest * 1e-10;
    (if is_whole { nearest } else { exact.ceil() }) as u64
}

#[cfg(test)]
mod tests;
