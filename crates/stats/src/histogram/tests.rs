use proptest::prelude::*;

use super::*;

/// The largest relative error that the documentation guarantees.
const RELATIVE_ERROR: f64 = 0.008;

fn of(samples: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    samples.iter().for_each(|ns| histogram.record(*ns));
    histogram
}

fn merged(parts: &[&Histogram]) -> Histogram {
    let mut all = Histogram::new();
    parts.iter().for_each(|part| all.merge(part));
    all
}

#[test]
fn an_empty_histogram_has_no_figures() {
    let empty = Histogram::default();
    assert!(empty.is_empty());
    assert_eq!((empty.count(), empty.sum_ns()), (0, 0));
    assert_eq!(
        (empty.min_ns(), empty.max_ns(), empty.percentile(50.0)),
        (None, None, None)
    );
    assert_eq!((empty.mean_ns(), empty.stddev_ns()), (None, None));
    assert_eq!(empty.buckets().count(), 0);
    assert!(!empty.supports_percentile(50.0));
}

#[test]
fn values_below_128_are_exact() {
    let histogram = of(&(0..100).collect::<Vec<_>>());
    for percent in 1..=100 {
        assert_eq!(
            histogram.percentile(f64::from(percent)),
            Some(percent as u64 - 1)
        );
    }
    assert_eq!(histogram.mean_ns(), Some(49.5));
    assert!((histogram.stddev_ns().unwrap() - 28.866_07).abs() < 1e-5);
}

#[test]
fn the_rank_is_rounded_up_except_for_rounding_errors() {
    let mut histogram = of(&[1]);
    histogram.record_n(0, 998);
    histogram.record(2);
    assert_eq!(histogram.percentile(99.8), Some(0));
    assert_eq!(histogram.percentile(99.81), Some(1));
    assert_eq!(histogram.percentile(99.9), Some(1), "rank 999 of 1000");
    assert_eq!(histogram.percentile(99.91), Some(2));
}

#[test]
fn the_ends_are_exact_and_other_percents_have_no_value() {
    let histogram = of(&[1_000_003, 5_000_007, 9_000_011]);
    assert_eq!(histogram.percentile(0.0), Some(1_000_003));
    assert_eq!(histogram.percentile(100.0), Some(9_000_011));
    for percent in [-0.1, 100.1, f64::NAN, f64::INFINITY] {
        assert_eq!(histogram.percentile(percent), None);
    }
}

#[test]
fn equal_samples_have_their_own_value_and_no_deviation() {
    let mut histogram = Histogram::new();
    histogram.record_n(1_000_003, 7);
    assert_eq!(histogram.percentile(50.0), Some(1_000_003));
    assert_eq!(histogram.stddev_ns(), Some(0.0));
}

#[test]
fn huge_samples_share_a_bucket_whose_value_is_the_largest() {
    let histogram = of(&[5, 1 << 44, 1 << 50, u64::MAX - 1, u64::MAX]);
    assert_eq!(histogram.percentile(60.0), Some(u64::MAX));
    assert_eq!(
        histogram.sum_ns(),
        5 + (1 << 44) + (1 << 50) + 2 * u128::from(u64::MAX) - 1
    );
    let last = histogram.buckets().last().unwrap();
    assert_eq!(
        (last.low_ns, last.high_ns, last.count),
        (1 << 44, u64::MAX, 4)
    );
}

#[test]
fn counts_saturate_at_the_largest_number() {
    let mut histogram = of(&[7]);
    histogram.record_n(u64::MAX, u64::MAX);
    assert_eq!(histogram.count(), u64::MAX);
    histogram.record_n(9, 3);
    assert_eq!((histogram.count(), histogram.min_ns()), (u64::MAX, Some(7)));
    let other = histogram.clone();
    histogram.merge(&other);
    assert_eq!(histogram.count(), u64::MAX);
    assert_eq!(histogram.percentile(50.0), Some(u64::MAX));
    assert!(histogram.stddev_ns().unwrap().is_finite());
}

#[test]
fn clearing_leaves_nothing_behind() {
    let mut histogram = of(&[0, 77, 1 << 20, u64::MAX]);
    histogram.clear();
    assert_eq!(histogram, Histogram::new());
    histogram.record(3);
    assert_eq!(histogram, of(&[3]));
}

#[test]
fn a_percentile_needs_ten_samples_beyond_it() {
    for (percent, needed) in [
        (50.0, 20),
        (90.0, 100),
        (99.0, 1000),
        (99.9, 10_000),
        (99.99, 100_000),
        (1.0, 1000),
    ] {
        assert_eq!(samples_needed(percent), Some(needed), "{percent}");
        let mut histogram = Histogram::new();
        histogram.record_n(5, needed - 1);
        assert!(!histogram.supports_percentile(percent));
        histogram.record(5);
        assert!(histogram.supports_percentile(percent));
    }
    assert_eq!(samples_needed(99.999), Some(1_000_000));
    for percent in [0.0, 100.0, -1.0, 101.0, f64::NAN] {
        assert_eq!(samples_needed(percent), None);
    }
}

/// Samples of every order of magnitude, below saturation.
fn samples() -> impl Strategy<Value = Vec<u64>> {
    let sample = (any::<u64>(), 20_u32..64).prop_map(|(bits, shift)| bits >> shift);
    prop::collection::vec(sample, 1..200)
}

proptest! {
    #[test]
    fn a_percentile_is_within_8_in_1000_of_the_sample_of_its_rank(
        mut samples in samples(),
        percent in 0.0..=100.0_f64,
    ) {
        let histogram = of(&samples);
        samples.sort_unstable();
        let rank = (percent * samples.len() as f64 / 100.0).ceil().max(1.0) as usize;
        let wanted = samples[rank - 1] as f64;
        let estimate = histogram.percentile(percent).unwrap() as f64;
        prop_assert!((estimate - wanted).abs() <= wanted * RELATIVE_ERROR, "{estimate} {wanted}");
    }

    #[test]
    fn percentiles_ascend(samples in samples(), a in 0.0..=100.0_f64, b in 0.0..=100.0_f64) {
        let histogram = of(&samples);
        prop_assert!(histogram.percentile(a.min(b)) <= histogram.percentile(a.max(b)));
    }

    #[test]
    fn merging_equals_recording_everything_in_one(a in samples(), b in samples()) {
        let (first, second) = (of(&a), of(&b));
        let all = of(&[a, b].concat());
        prop_assert_eq!(&merged(&[&first, &second]), &all);
        prop_assert_eq!(&merged(&[&second, &first]), &all);
    }

    #[test]
    fn merging_is_associative(a in samples(), b in samples(), c in samples()) {
        let (a, b, c) = (of(&a), of(&b), of(&c));
        let left = merged(&[&merged(&[&a, &b]), &c]);
        prop_assert_eq!(left, merged(&[&a, &merged(&[&b, &c])]));
    }

    #[test]
    fn recording_n_times_equals_recording_once_n_times(ns: u64, count in 0_u64..50) {
        let mut histogram = Histogram::new();
        histogram.record_n(ns, count);
        prop_assert_eq!(histogram, of(&vec![ns; count as usize]));
    }

    #[test]
    fn exact_figures_match_the_samples(
        samples in prop::collection::vec(any::<u64>(), 1..99),
    ) {
        let histogram = of(&samples);
        prop_assert_eq!(histogram.count(), samples.len() as u64);
        prop_assert_eq!(histogram.sum_ns(), samples.iter().map(|ns| u128::from(*ns)).sum::<u128>());
        prop_assert_eq!(histogram.min_ns(), samples.iter().copied().min());
        prop_assert_eq!(histogram.max_ns(), samples.iter().copied().max());
        let in_buckets: u64 = histogram.buckets().map(|bucket| bucket.count).sum();
        prop_assert_eq!(in_buckets, histogram.count());
    }

    #[test]
    fn the_deviation_is_near_that_of_the_samples(samples in samples()) {
        let mean = samples.iter().sum::<u64>() as f64 / samples.len() as f64;
        let squares: f64 = samples.iter().map(|ns| (*ns as f64 - mean).powi(2)).sum();
        let wanted = (squares / samples.len() as f64).sqrt();
        let largest = *samples.iter().max().unwrap() as f64;
        let estimate = of(&samples).stddev_ns().unwrap();
        let limit = largest * RELATIVE_ERROR + 1e-6;
        prop_assert!((estimate - wanted).abs() <= limit, "{estimate} {wanted}");
    }
}
