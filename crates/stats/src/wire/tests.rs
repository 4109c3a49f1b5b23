use proptest::prelude::*;
use serde_json::{Value, from_str, from_value, json, to_string, to_value};

use super::*;

/// The message with which a stored histogram is refused.
fn refusal(form: Value) -> String {
    from_value::<Histogram>(form).unwrap_err().to_string()
}

#[test]
fn a_histogram_is_stored_without_empty_buckets() {
    let mut histogram = Histogram::new();
    histogram.record(5);
    histogram.record_n(130, 2);
    let form = json!({ "sum_ns": 265, "min_ns": 5, "max_ns": 130, "buckets": [[5, 1], [129, 2]] });
    assert_eq!(to_value(&histogram).unwrap(), form);
    assert_eq!(from_value::<Histogram>(form).unwrap(), histogram);
}

#[test]
fn extremes_survive_storage() {
    let mut huge = Histogram::new();
    huge.record_n(u64::MAX, u64::MAX);
    for histogram in [Histogram::new(), huge] {
        let text = to_string(&histogram).unwrap();
        assert_eq!(from_str::<Histogram>(&text).unwrap(), histogram);
    }
}

#[test]
fn buckets_that_do_not_exist_are_refused() {
    for index in [bucket::COUNT as u32, u32::MAX] {
        let form = json!({ "sum_ns": 0, "min_ns": 0, "max_ns": 0, "buckets": [[index, 1]] });
        let wanted = format!("bucket index `{index}` of a histogram is not below `2497`");
        assert_eq!(refusal(form), wanted);
    }
}

#[test]
fn buckets_out_of_order_twice_or_empty_are_refused() {
    let form =
        |buckets: Value| json!({ "sum_ns": 9, "min_ns": 4, "max_ns": 5, "buckets": buckets });
    let order = "does not follow";
    assert!(refusal(form(json!([[5, 1], [4, 1]]))).contains(order));
    assert!(refusal(form(json!([[4, 1], [4, 1]]))).contains(order));
    assert!(refusal(form(json!([[4, 1], [5, 0]]))).contains("without samples"));
    assert!(from_value::<Histogram>(form(json!([[4, 1], [5, 1]]))).is_ok());
}

#[test]
fn counts_beyond_64_bits_are_refused() {
    let buckets = json!([[4, u64::MAX], [5, 1]]);
    let form = json!({ "sum_ns": 9, "min_ns": 4, "max_ns": 5, "buckets": buckets });
    assert_eq!(
        refusal(form),
        "the counts of a histogram add up to more than 64 bits"
    );
}

#[test]
fn a_range_that_contradicts_the_buckets_is_refused() {
    for (min_ns, max_ns) in [(3, 200), (4, 300), (200, 4), (0, 0), (5, 200)] {
        let buckets = json!([[4, 1], [164, 1]]);
        let form = json!({ "sum_ns": 204, "min_ns": min_ns, "max_ns": max_ns, "buckets": buckets });
        assert!(
            refusal(form).contains("contradicts its buckets"),
            "{min_ns} {max_ns}"
        );
    }
    let one = json!({ "sum_ns": 200, "min_ns": 200, "max_ns": 201, "buckets": [[164, 1]] });
    assert!(refusal(one).contains("the range `200` to `201` ns"));
    let none = json!({ "sum_ns": 0, "min_ns": 1, "max_ns": 1, "buckets": [] });
    assert!(refusal(none).contains("the range"));
}

#[test]
fn a_sum_that_contradicts_the_buckets_is_refused() {
    for sum in [
        json!(0),
        json!(8),
        json!(10),
        json!("9x"),
        json!("9".repeat(99)),
        json!("-9"),
    ] {
        let buckets = json!([[4, 1], [5, 1]]);
        let form = json!({ "sum_ns": sum, "min_ns": 4, "max_ns": 5, "buckets": buckets });
        assert!(refusal(form).starts_with("the sum `"));
    }
    let none = json!({ "sum_ns": 1, "min_ns": 0, "max_ns": 0, "buckets": [] });
    assert!(refusal(none).starts_with("the sum `1` ns"));
}

#[test]
fn a_counter_whose_parts_contradict_each_other_is_refused() {
    let mut counter = Counter::new();
    counter.record_short(512, 77);
    counter.record_error(5, 99);
    let stored = to_value(&counter).unwrap();
    assert_eq!(from_value::<Counter>(stored.clone()).unwrap(), counter);
    for (key, value) in [
        ("short_count", json!(2)),
        ("errnos", json!([])),
        ("errnos", json!([[5, 1], [5, 1]])),
        ("errnos", json!([[135, 1]])),
        ("errnos", json!([[-1, 1]])),
        ("errnos", json!([[5, 0]])),
        ("errnos", json!([[5, u64::MAX], [6, 1]])),
        ("unknown", json!(1)),
    ] {
        let mut form = stored.clone();
        form[key] = value.clone();
        assert!(from_value::<Counter>(form).is_err(), "{key} {value}");
    }
    let mut form = to_value(Counter::new()).unwrap();
    form["bytes"] = json!(1);
    assert!(from_value::<Counter>(form).is_err());
}

#[test]
fn an_interval_survives_storage_and_refuses_foreign_operations() {
    let mut interval = Interval::with([1, 9], 2);
    (interval.at_ns, interval.length_ns) = (3, 4);
    interval.operation_mut(9).record(512, 77);
    interval.transaction_mut(0).record_error(28, 5);
    let stored = to_value(&interval).unwrap();
    assert_eq!(from_value::<Interval>(stored.clone()).unwrap(), interval);

    let counter = to_value(Counter::new()).unwrap();
    for operations in [json!([[32, counter]]), json!([[1, counter], [1, counter]])] {
        let mut form = stored.clone();
        form["operations"] = operations;
        assert!(from_value::<Interval>(form).is_err());
    }
    let mut form = stored;
    form["transactions"] = json!(vec![counter; 257]);
    let error = from_value::<Interval>(form).unwrap_err().to_string();
    assert_eq!(
        error,
        "`256` is not the number of another transaction kind of an interval"
    );
}

proptest! {
    #[test]
    fn what_was_stored_reads_back(
        samples in prop::collection::vec((any::<u64>(), 0_u32..64), 0..99),
    ) {
        let mut histogram = Histogram::new();
        samples.iter().for_each(|(bits, shift)| histogram.record(bits >> shift));
        let text = to_string(&histogram).unwrap();
        prop_assert_eq!(from_str::<Histogram>(&text).unwrap(), histogram);
    }

    #[test]
    fn hostile_forms_are_refused_or_usable(
        sum_ns: u64,
        min_ns in 0..300_u64,
        max_ns: u64,
        mut buckets in prop::collection::vec((0..2500_u32, any::<u64>()), 0..5),
        sorted: bool,
    ) {
        if sorted {
            buckets.sort_unstable();
        }
        let form = HistogramForm { sum_ns: Sum::Number(sum_ns), min_ns, max_ns, buckets };
        if let Ok(histogram) = Histogram::try_from(form) {
            prop_assert!(histogram.percentile(99.0) <= histogram.max_ns());
            let _ = (histogram.stddev_ns(), histogram.to_hdr_v2_base64());
        }
    }
}
