use proptest::prelude::*;

use super::*;

/// One outcome of an operation.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    Done(u32, u64),
    Short(u32, u64),
    Failed(i32, u64),
}

fn outcomes() -> impl Strategy<Value = Vec<Outcome>> {
    let outcome = prop_oneof![
        (any::<u32>(), any::<u64>()).prop_map(|(bytes, ns)| Outcome::Done(bytes, ns)),
        (any::<u32>(), any::<u64>()).prop_map(|(bytes, ns)| Outcome::Short(bytes, ns)),
        (-140..140_i32, any::<u64>()).prop_map(|(errno, ns)| Outcome::Failed(errno, ns)),
    ];
    prop::collection::vec(outcome, 0..60)
}

fn of(outcomes: &[Outcome]) -> Counter {
    let mut counter = Counter::new();
    for outcome in outcomes.iter().copied() {
        match outcome {
            Outcome::Done(bytes, ns) => counter.record(bytes.into(), ns),
            Outcome::Short(bytes, ns) => counter.record_short(bytes.into(), ns),
            Outcome::Failed(errno, ns) => counter.record_error(errno, ns),
        }
    }
    counter
}

fn merged(mut a: Counter, b: &Counter) -> Counter {
    a.merge(b);
    a
}

#[test]
fn errors_are_counted_by_number_and_not_in_the_latencies() {
    let mut counter = Counter::new();
    counter.record(4096, 1000);
    counter.record_short(512, 3000);
    counter.record_error(5, 9_000_000);
    counter.record_error(-5, 8_000_000);
    counter.record_error(28, 7);
    assert_eq!(
        (counter.count(), counter.short_count(), counter.errors()),
        (2, 1, 3)
    );
    assert_eq!(counter.bytes(), 4608);
    assert_eq!(counter.latency().max_ns(), Some(3000));
    assert_eq!(counter.error_latency_ns_max(), 9_000_000);
    assert_eq!(counter.errnos().collect::<Vec<_>>(), [(5, 2), (28, 1)]);
}

#[test]
fn unknown_error_numbers_share_one_count() {
    let mut counter = Counter::new();
    for errno in [133, 134, 4095, i32::MIN, i32::MAX] {
        counter.record_error(errno, 0);
    }
    assert_eq!(
        counter.errnos().collect::<Vec<_>>(),
        [(133, 1), (ERRNO_OTHER, 4)]
    );
}

#[test]
fn clearing_leaves_nothing_behind() {
    let mut counter = of(&[Outcome::Short(1, 2), Outcome::Failed(5, 6)]);
    assert!(!counter.is_empty());
    counter.clear();
    assert!(counter.is_empty());
    assert_eq!(counter, Counter::default());
}

#[test]
fn a_counter_with_errors_alone_is_not_empty() {
    assert!(!of(&[Outcome::Failed(5, 0)]).is_empty());
}

proptest! {
    #[test]
    fn merging_equals_recording_everything_in_one(a in outcomes(), b in outcomes()) {
        let (first, second) = (of(&a), of(&b));
        let all = of(&[a, b].concat());
        prop_assert_eq!(&merged(first.clone(), &second), &all);
        prop_assert_eq!(&merged(second, &first), &all);
    }

    #[test]
    fn merging_is_associative(a in outcomes(), b in outcomes(), c in outcomes()) {
        let (a, b, c) = (of(&a), of(&b), of(&c));
        let left = merged(merged(a.clone(), &b), &c);
        prop_assert_eq!(left, merged(a, &merged(b, &c)));
    }
}
