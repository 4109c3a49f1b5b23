//! Converts the intervals of a cell into evenly spaced rates, which statistics over time need.
//!
//! Intervals may be late, or shorter at the end. On a slow target they contain hardly one operation
//! each.

use stats::UncertainMean;

use crate::{CellRecord, IntervalFigures, IntervalRecord};

/// Minimum mean number of operations per slice. With fewer, rounding to whole operations adds more
/// scatter than the target.
const OPERATIONS_MIN: u128 = 10;
/// An incomplete slice at the end counts only from this share of a slice on.
const LAST_SHARE_MIN: f64 = 0.5;
/// Stands for infinite degrees of freedom, of a value known without measuring.
const FREEDOM_MAX: f64 = 1e6;

/// Rates over slices of measured time of the same length; the last slice may be shorter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EvenRates {
    /// Length of a slice, in nanoseconds.
    pub slice_ns: u64,
    /// Start of each slice, in nanoseconds from the start of the measurement.
    pub starts_ns: Vec<u64>,
    /// Rate in each slice.
    pub per_second: Vec<f64>,
}

impl EvenRates {
    /// Rates of these operations together: `amount` of each, per second.
    ///
    /// A slice is as long as the median interval, or a multiple of it if intervals contain fewer
    /// than ten operations. An interval that spans several slices, such as a late one, gives its
    /// rate to each of them. Gaps between intervals are skipped.
    #[must_use]
    pub fn of(
        intervals: &[IntervalRecord],
        names: &[&str],
        amount: fn(&IntervalFigures) -> u64,
    ) -> Self {
        // A length of 0 has no rate and would divide by zero.
        let has_length = |interval: &&IntervalRecord| interval.length_ns > 0;
        let intervals: Vec<&IntervalRecord> = intervals.iter().filter(has_length).collect();
        let count = |interval: &&IntervalRecord| sum(interval, names, |figures| figures.count);
        let operations: u64 = intervals.iter().map(count).fold(0, u64::saturating_add);
        let Some(median_ns) = median_length_ns(&intervals).filter(|_| operations > 0) else {
            return Self::default();
        };
        let total_ns: u128 = intervals.iter().map(|it| u128::from(it.length_ns)).sum();
        // Rounded up, so that a slice has at least the minimum on average.
        let needed_ns = (OPERATIONS_MIN * total_ns).div_ceil(operations.into());
        let intervals_per_slice = needed_ns.div_ceil(median_ns.into());
        // A multiple of the interval, so that most cuts fall between two intervals.
        let slice_ns =
            median_ns.saturating_mul(u64::try_from(intervals_per_slice).unwrap_or(u64::MAX));
        let mut cut = SliceCutter::new(slice_ns);
        for interval in intervals {
            cut.add(interval, sum(interval, names, amount) as f64);
        }
        cut.finish()
    }
}

/// Cuts intervals into slices.
struct SliceCutter {
    slice_ns: u64,
    finished: EvenRates,
    /// State of the current slice.
    start_ns: u64,
    length_ns: u64,
    amount: f64,
}

impl SliceCutter {
    fn new(slice_ns: u64) -> Self {
        Self {
            slice_ns,
            finished: EvenRates {
                slice_ns,
                ..EvenRates::default()
            },
            start_ns: 0,
            length_ns: 0,
            amount: 0.0,
        }
    }

    fn add(&mut self, interval: &IntervalRecord, amount: f64) {
        let (mut at_ns, mut left_ns) = (interval.at_ns, interval.length_ns);
        while left_ns > 0 {
            if self.length_ns == 0 {
                self.start_ns = at_ns;
            }
            let part_ns = left_ns.min(self.slice_ns - self.length_ns);
            // Nothing is known about the distribution within an interval, so it counts as even.
            self.amount += amount * part_ns as f64 / interval.length_ns as f64;
            self.length_ns += part_ns;
            left_ns -= part_ns;
            at_ns = at_ns.saturating_add(part_ns);
            if self.length_ns == self.slice_ns {
                self.next();
            }
        }
    }

    fn next(&mut self) {
        let per_second = self.amount * 1e9 / self.length_ns as f64;
        self.finished.starts_ns.push(self.start_ns);
        self.finished.per_second.push(per_second);
        (self.length_ns, self.amount) = (0, 0.0);
    }

    fn finish(mut self) -> EvenRates {
        if self.length_ns as f64 >= self.slice_ns as f64 * LAST_SHARE_MIN {
            self.next();
        }
        self.finished
    }
}

fn median_length_ns(intervals: &[&IntervalRecord]) -> Option<u64> {
    let mut lengths: Vec<u64> = intervals.iter().map(|it| it.length_ns).collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied()
}

fn sum(interval: &IntervalRecord, names: &[&str], amount: fn(&IntervalFigures) -> u64) -> u64 {
    let found = names
        .iter()
        .filter_map(|name| interval.operations.get(*name));
    found.map(amount).fold(0, u64::saturating_add)
}

/// Uncertainty of a cell's mean rate, from its scatter within the run and from the requests cut off
/// at both ends of the measurement. `count` is the number of operations that the rate counts.
/// `None` for fewer than 20 slices.
///
/// For each request in flight, the measurement counts a whole number where a fraction f more was
/// due. The error has the variance f (1 - f), which is 1/6 on average over f.
#[must_use]
pub fn uncertain_rate(cell: &CellRecord, rates: &EvenRates, count: u64) -> Option<UncertainMean> {
    let scatter = UncertainMean::of_series(&rates.per_second)?;
    let in_flight = f64::from(cell.workers.max(1)) * f64::from(cell.iodepth.max(1));
    let cut = scatter.mean * (in_flight / 6.0).sqrt() / count.max(1) as f64;
    let (estimated_variance, known_variance) = (scatter.standard_error.powi(2), cut.powi(2));
    // Satterthwaite's degrees of freedom; the known part has no uncertainty.
    let freedom = scatter.freedom * (1.0 + known_variance / estimated_variance).powi(2);
    Some(UncertainMean {
        standard_error: (estimated_variance + known_variance).sqrt(),
        // Without scatter this is infinite, and NaN for a mean of 0; `min` replaces both.
        freedom: freedom.min(FREEDOM_MAX),
        ..scatter
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    /// Intervals from pairs of a length in milliseconds and a number of reads.
    fn intervals(pairs: &[(u64, u64)]) -> Vec<IntervalRecord> {
        let mut at_ns = 0;
        let records = pairs.iter().map(|(length_ms, count)| {
            let figures = IntervalFigures {
                count: *count,
                bytes: count * 512,
                ..IntervalFigures::default()
            };
            let interval = IntervalRecord {
                at_ns,
                length_ns: length_ms * SECOND_NS / 1000,
                operations: [("read".to_owned(), figures)].into(),
                ..IntervalRecord::default()
            };
            at_ns += interval.length_ns;
            interval
        });
        records.collect()
    }

    fn rates(pairs: &[(u64, u64)]) -> EvenRates {
        EvenRates::of(&intervals(pairs), &["read"], |figures| figures.count)
    }

    #[test]
    fn even_intervals_become_the_slices() {
        let even = rates(&[(250, 100), (250, 110), (250, 90)]);
        assert_eq!(even.per_second, [400.0, 440.0, 360.0]);
        let ms = SECOND_NS / 1000;
        assert_eq!(even.starts_ns, [0, 250 * ms, 500 * ms]);
        let bytes = |figures: &IntervalFigures| figures.bytes;
        let even = EvenRates::of(&intervals(&[(1000, 100); 2]), &["read"], bytes);
        assert_eq!(even.per_second, [51_200.0; 2]);
    }

    #[test]
    fn a_late_interval_gives_its_rate_to_every_slice_it_covers() {
        let even = rates(&[(250, 100), (750, 240), (250, 100), (250, 100)]);
        assert_eq!(even.per_second, [400.0, 320.0, 320.0, 320.0, 400.0, 400.0]);
    }

    #[test]
    fn a_short_remainder_is_dropped_and_a_long_one_is_kept() {
        assert_eq!(
            rates(&[(100, 10), (100, 10), (49, 5)]).per_second,
            [100.0; 2]
        );
        assert_eq!(
            rates(&[(100, 10), (100, 10), (50, 5)]).per_second,
            [100.0; 3]
        );
    }

    #[test]
    fn intervals_with_few_operations_are_merged() {
        // Three operations a second, in intervals of 100 ms.
        let pairs: Vec<(u64, u64)> = (0..100)
            .map(|n| (100, u64::from(n % 10 % 3 == 1)))
            .collect();
        let even = rates(&pairs);
        assert_eq!(even.per_second.len(), 3);
        assert!(even.per_second.iter().all(|rate| (2.5..3.5).contains(rate)));
        assert_eq!(rates(&[(100, 0); 9]), EvenRates::default());
        assert_eq!(rates(&[]), EvenRates::default());
    }
}
