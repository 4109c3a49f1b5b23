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
    fn percentiles_are_those_of_all_samples(
        parts in prop::collection::vec(prop::collection::vec(0..1_u64 << 45, 0..200), 1..6),
    ) {
        let time_ns = 1_000_000_000;
        let all: Vec<u64> = parts.concat();
        let each: Vec<OperationFigures> =
            parts.iter().map(|samples| figures(samples, time_ns)).collect();
        prop_assert_eq!(operation(each.iter(), time_ns), figures(&all, time_ns));
    }
}

#[test]
fn steps_of_latencies_add_up_wherever_they_begin() {
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
