use proptest::prelude::*;

use super::*;

/// Operation or kind, bytes, latency.
type Event = (bool, usize, u16, u64);

fn of(at_ns: u64, length_ns: u64, events: &[Event]) -> Interval {
    let used = events.iter().filter(|event| event.0).map(|event| event.1);
    let kinds = events
        .iter()
        .filter(|event| !event.0)
        .map(|event| event.1 + 1)
        .max();
    let mut interval = Interval::with(used, kinds.unwrap_or(0));
    (interval.at_ns, interval.length_ns) = (at_ns, length_ns);
    for (is_operation, index, bytes, latency_ns) in events.iter().copied() {
        let counter = match is_operation {
            true => interval.operation_mut(index),
            false => interval.transaction_mut(index),
        };
        counter.record(bytes.into(), latency_ns);
    }
    interval
}

fn merged(mut a: Interval, b: &Interval) -> Interval {
    a.merge(b);
    a
}

#[test]
fn only_requested_operations_have_a_counter() {
    let mut interval = Interval::with([0, 31, 0], 2);
    interval.operation_mut(31).record(1, 2);
    interval.transaction_mut(1).record(3, 4);
    assert_eq!(
        interval
            .operations()
            .map(|(index, _)| index)
            .collect::<Vec<_>>(),
        [0, 31]
    );
    assert!(interval.operation(1).is_none() && interval.operation(32).is_none());
    assert_eq!(interval.transactions().len(), 2);
    assert_eq!(
        interval.total().count(),
        1,
        "transactions are not operations"
    );
}

#[test]
#[should_panic = "an interval is made for every operation that its generator issues, but not for 1"]
fn an_undeclared_operation_is_a_broken_invariant() {
    Interval::with([0], 0).operation_mut(1);
}

#[test]
#[should_panic = "an interval is made for every transaction kind that its generator issues"]
fn an_undeclared_transaction_kind_is_a_broken_invariant() {
    Interval::with([0], 1).transaction_mut(1);
}

#[test]
fn workers_of_one_slice_merge_into_that_slice() {
    let worker = of(5_000, 1_000, &[(true, 0, 512, 70)]);
    let all = merged(merged(Interval::default(), &worker), &worker);
    assert_eq!(
        (all.at_ns, all.length_ns, all.end_ns()),
        (5_000, 1_000, 6_000)
    );
    assert_eq!(all.total().bytes(), 1024);
}

#[test]
fn consecutive_slices_merge_into_the_whole() {
    let all = merged(of(0, 1_000, &[]), &of(1_000, 500, &[]));
    assert_eq!((all.at_ns, all.length_ns), (0, 1_500));
    let end = of(u64::MAX, u64::MAX, &[]);
    assert_eq!(merged(end, &all).at_ns, 0);
}

#[test]
fn clearing_keeps_the_counters_and_empties_them() {
    let mut interval = of(1, 2, &[(true, 3, 4, 5), (false, 0, 6, 7)]);
    assert!(!interval.is_empty());
    interval.clear();
    assert!(interval.is_empty());
    assert_eq!(interval, Interval::with([3], 1));
    assert_eq!(interval.like(), interval);
}

fn intervals() -> impl Strategy<Value = (u64, u64, Vec<Event>)> {
    let event = (any::<bool>(), 0..4_usize, any::<u16>(), any::<u64>());
    (
        0..5_000_u64,
        0..3_000_u64,
        prop::collection::vec(event, 0..20),
    )
}

proptest! {
    #[test]
    fn merging_equals_counting_everything_in_one(a in intervals(), b in intervals()) {
        let both = merged(of(7, 9, &a.2), &of(7, 9, &b.2));
        prop_assert_eq!(both, of(7, 9, &[a.2, b.2].concat()));
    }

    #[test]
    fn merging_is_commutative(a in intervals(), b in intervals()) {
        let (a, b) = (of(a.0, a.1, &a.2), of(b.0, b.1, &b.2));
        prop_assert_eq!(merged(a.clone(), &b), merged(b, &a));
    }

    #[test]
    fn merging_is_associative(a in intervals(), b in intervals(), c in intervals()) {
        let [a, b, c] = [a, b, c].map(|(at_ns, length_ns, events)| of(at_ns, length_ns, &events));
        let left = merged(merged(a.clone(), &b), &c);
        prop_assert_eq!(left, merged(a, &merged(b, &c)));
    }
}
