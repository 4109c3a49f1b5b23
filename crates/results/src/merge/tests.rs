use proptest::prelude::*;

use super::*;

fn figures(samples: &[u64], time_ns: u64) -> OperationFigures {
    let mut counter = stats::Counter::new();
    for ns in samples {
        counter.record(*ns, 4096);
    }
    OperationFigures::of(&counter, time_ns)
}

proptest! {
    #[test]
    fn merged_percentiles_equal_those_of_all_samples(
        parts in prop::collection::vec(prop::collection::vec(0..1_u64 << 45, 0..200), 1..6),
    ) {
        let time_ns = 1_000_000_000;
        let all: Vec<u64> = parts.concat();
        let per_part: Vec<OperationFigures> =
            parts.iter().map(|samples| figures(samples, time_ns)).collect();
        prop_assert_eq!(operation(per_part.iter(), time_ns), figures(&all, time_ns));
    }
}

#[test]
fn latency_counts_with_different_first_steps_add_up() {
    let of = |samples: &[u64]| {
        let mut histogram = Histogram::new();
        samples.iter().for_each(|ns| histogram.record(*ns));
        crate::LatencyCounts::of(&histogram)
    };
    let mut sum = of(&[1000, 70_000]);
    sum.merge(&of(&[200, 1000, 1 << 30]));
    sum.merge(&of(&[]));
    assert_eq!(sum, of(&[200, 1000, 1000, 70_000, 1 << 30]));
    let median = sum.percentile(50.0).expect("there are samples");
    assert!((900..1100).contains(&median), "{median}");
    assert_eq!(of(&[]).percentile(50.0), None);
}

#[test]
fn the_rate_until_the_first_finishes_counts_what_the_total_counts() {
    let interval = |at_ns, count| {
        let figures = crate::IntervalFigures {
            count,
            ..crate::IntervalFigures::default()
        };
        crate::IntervalRecord {
            at_ns,
            length_ns: 1_000_000_000,
            // Opening, writing and closing make one transaction.
            operations: ["close", "open", "write"]
                .map(|name| (name.to_owned(), figures))
                .into(),
            ..crate::IntervalRecord::default()
        }
    };
    let both = [interval(0, 1000), interval(1_000_000_000, 600)];
    let rate = |end_ns| intervals::rate_until(&both, 1600, end_ns);
    assert_eq!(rate(1_000_000_000), Some(1000.0));
    let later = rate(1_500_000_000).expect("all is known");
    assert!((later - 1300.0 / 1.5).abs() < 1e-6, "{later}");
    assert_eq!(intervals::rate_until(&[], 1600, 1_000_000_000), None);
}
