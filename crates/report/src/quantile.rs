//! Computes percentiles from the histograms of a record.

use results::Latency;

/// Returns the latencies at percentages in ascending order. The result is the midpoint of the
/// bucket that contains the rank, as in records; the first and the last rank are exact.
#[must_use]
pub fn values_at(latency: &Latency, percents: &[f64]) -> Vec<Option<u64>> {
    let count = latency.count;
    let smallest = latency.min_ns.unwrap_or(0);
    let largest = latency.max_ns.unwrap_or(u64::MAX).max(smallest);
    let mut buckets = latency.histogram.buckets_ns.iter();
    let mut below = 0_u64;
    let mut value = None;
    percents
        .iter()
        .map(|percent| {
            let rank = rank_of(*percent, count);
            while below < rank {
                let &[low_ns, high_ns, found] = buckets.next()?;
                below = below.saturating_add(found);
                // Rounded as in `stats::Histogram`, so that both yield the same percentiles.
                let half = high_ns.saturating_sub(low_ns).div_ceil(2);
                // The middle of the first or last bucket may be outside the recorded extremes.
                value = Some(low_ns.saturating_add(half).clamp(smallest, largest));
            }
            match rank {
                1 => latency.min_ns,
                rank if rank == count => latency.max_ns,
                _ => value,
            }
        })
        .collect()
}

/// Returns the rank of the sample that `percent` of the samples do not exceed. For 99.9 % of 1000
/// it is 999.
fn rank_of(percent: f64, count: u64) -> u64 {
    let exact = percent * count as f64 / 100.0;
    // Percentages such as 99.9 are not exact in binary, so a whole rank may come out slightly
    // larger.
    let nearest = exact.round();
    let is_whole = (exact - nearest).abs() <= nearest * 1e-10;
    let rank = if is_whole { nearest } else { exact.ceil() };
    (rank as u64).clamp(1, count.max(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use stats::Histogram;

    use super::*;

    #[test]
    fn an_empty_latency_has_no_percentiles() {
        assert_eq!(values_at(&Latency::default(), &[50.0, 99.0]), [None, None]);
    }

    proptest! {
        #[test]
        fn percentiles_match_the_histogram(
            samples in proptest::collection::vec(1_u64..10_000_000, 1..400),
            percents in proptest::collection::vec(1_u32..1000, 1..20),
        ) {
            let mut histogram = Histogram::new();
            samples.iter().for_each(|ns| histogram.record(*ns));
            let latency = Latency::of(&histogram);
            let percents = percents.into_iter().map(|tenths| f64::from(tenths) / 10.0);
            let mut percents: Vec<f64> = percents.collect();
            percents.sort_by(f64::total_cmp);
            for (seen, percent) in values_at(&latency, &percents).into_iter().zip(&percents) {
                prop_assert_eq!(seen, histogram.percentile(*percent));
            }
        }
    }
}
