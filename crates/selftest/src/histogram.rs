//! Checks the histogram against sorted values.

use stats::Counter;

/// Maximum error of a percentile, as a share of the value of its rank.
// Half the width of the widest bucket.
const ERROR_MAX: f64 = 0.008;
/// Factor from one value to the next. A bucket is 0.8 to 1.6 % wide, so its first and last values
/// are too far from the middle of a neighboring bucket.
const STEP: f64 = 1.002;
/// Larger values share one bucket.
const VALUE_MAX_NS: u64 = 1 << 44;

/// Number of known values that the histogram does not reproduce, and number of values checked. Each
/// value is checked by its percentile, and all together by count, sum, minimum and maximum.
/// `record` counts a value.
pub(crate) fn lost(record: impl Fn(&mut Counter, u64)) -> (u64, u64) {
    let values = values();
    // Two workers count separately, and a record merges their counters.
    let mut counters = [Counter::new(), Counter::new()];
    for (index, value) in values.iter().enumerate() {
        record(&mut counters[index % 2], *value);
    }
    let [mut all, other] = counters;
    all.merge(&other);
    let histogram = all.latency();
    let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
    let totals = [
        histogram.count() == values.len() as u64,
        histogram.sum_ns() == sum,
        histogram.min_ns() == values.first().copied(),
        histogram.max_ns() == values.last().copied(),
        histogram.buckets().map(|bucket| bucket.count).sum::<u64>() == values.len() as u64,
    ];
    let wrong_count = totals.iter().filter(|is_right| !**is_right).count() as u64;
    let count = values.len() as f64;
    let ranked = values.iter().enumerate().filter(|(index, value)| {
        // The middle of the rank, so that rounding cannot reach the next one.
        let percent = 100.0 * (*index as f64 + 0.5) / count;
        let result = histogram.percentile(percent);
        !result.is_some_and(|it| is_close(it, **value))
    });
    let lost = ranked.count() as u64;
    (lost + wrong_count, (values.len() + totals.len()) as u64)
}

fn is_close(measured: u64, value: u64) -> bool {
    measured.abs_diff(value) as f64 <= ERROR_MAX * value as f64
}

/// Ascending distinct values, with some in every bucket.
fn values() -> Vec<u64> {
    let mut values = Vec::new();
    let mut value = 0;
    while value < VALUE_MAX_NS {
        values.push(value);
        // Below 500, the factor does not reach the next integer.
        value = (value + 1).max((value as f64 * STEP) as u64);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correct_histogram_returns_every_value() {
        let (lost, count) = lost(|counter, value| counter.record(0, value));
        assert_eq!(lost, 0);
        assert!(count > 5000, "{count}");
    }

    /// All buckets of a histogram that counted every value.
    fn buckets() -> Vec<stats::Bucket> {
        let mut counter = Counter::new();
        values().into_iter().for_each(|it| counter.record(0, it));
        counter.latency().buckets().collect()
    }

    /// Counts a value of a broken bucket.
    type Break = fn(&mut Counter, &stats::Bucket, u64);

    #[test]
    fn any_broken_bucket_is_found() {
        let buckets = buckets();
        assert!(buckets.len() > 2400, "{}", buckets.len());
        let breaks: [Break; 4] = [
            |_, _, _| (),
            // Counts it twice.
            |counter, _, value| {
                counter.record(0, value);
                counter.record(0, value);
            },
            // Counts it in the previous or the next bucket.
            |counter, bucket, _| counter.record(0, bucket.low_ns.saturating_sub(1)),
            |counter, bucket, _| counter.record(0, bucket.high_ns.saturating_add(1)),
        ];
        // Some buckets of every octave, at all positions in an octave, with all kinds of errors.
        for (index, broken) in buckets.iter().step_by(7).enumerate() {
            // The first bucket has no predecessor, and the last one has no successor.
            let number = match broken {
                it if it.low_ns == 0 || it.high_ns == u64::MAX => 0,
                _ => index % breaks.len(),
            };
            let record = |counter: &mut Counter, value| match (broken.low_ns..=broken.high_ns)
                .contains(&value)
            {
                true => breaks[number](counter, broken, value),
                false => counter.record(0, value),
            };
            assert!(lost(record).0 > 0, "{broken:?} {number}");
        }
    }
}
