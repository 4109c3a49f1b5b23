use proptest::prelude::*;

use super::*;
use crate::times::{INTERVAL_FIRST_NS, INTERVAL_MAX_NS};

const MS_NS: u64 = 1_000_000;
/// When the measurement begins, by the clock.
const MEASURE_NS: u64 = 5 * INTERVAL_MAX_NS;

fn timeline(steps: IntervalSteps) -> Timeline {
    let mut timeline = Timeline::new(steps);
    timeline.set_measure_start(MEASURE_NS);
    timeline
}

/// From and until these nanoseconds since the measurement began; the latencies tell which it is.
fn slice(from_ns: u64, until_ns: u64, count: u64) -> Slice {
    let mut span = Interval::with([0], 0);
    for number in 0..count {
        span.operation_mut(0).record(512, (number % 100 + 1) * 1000);
    }
    Slice::of(
        &Sample {
            at_ns: MEASURE_NS + from_ns,
            length_ns: until_ns - from_ns,
            ramp: false,
            spans: vec![span],
        },
        Shares::default(),
        true,
    )
}

/// Finishes `count` intervals; the one with index `i` has `i + 1` operations.
fn run(timeline: &mut Timeline, count: u64) {
    let length_ns = timeline.steps.length_ns;
    for index in 0..count {
        let from_ns = index * length_ns;
        timeline.finish(index as i64, slice(from_ns, from_ns + length_ns, index + 1));
    }
}

fn count(intervals: &[IntervalRecord]) -> u64 {
    let figures = intervals.iter().flat_map(|it| it.operations.values());
    figures.map(|it| it.count).sum()
}

#[test]
fn a_run_has_forty_intervals_within_the_length_limits() {
    let length_ms = |seconds: u64| IntervalSteps::of(seconds * INTERVAL_MAX_NS).length_ns / MS_NS;
    assert_eq!(
        [1, 3, 4, 10, 20, 40, 3600].map(length_ms),
        [100, 100, 100, 250, 500, 1000, 1000]
    );
    let unknown = IntervalSteps::of(0);
    assert_eq!(
        (unknown.length_ns / MS_NS, unknown.merged_count_max),
        (125, 8)
    );
    assert_eq!(
        unknown.length_ns * unknown.merged_count_max as u64,
        INTERVAL_MAX_NS
    );
}

#[test]
fn intervals_are_reported_every_second_and_all_are_kept() {
    let mut timeline = timeline(IntervalSteps::of(10 * INTERVAL_MAX_NS));
    run(&mut timeline, 40);
    let reported = timeline.take_unreported();
    assert!(
        reported.iter().all(|it| it.length_ns == INTERVAL_MAX_NS),
        "{reported:?}"
    );
    assert_eq!(reported[1].at_ns, INTERVAL_MAX_NS);
    assert_eq!(reported[1].operations["read"].count, 5 + 6 + 7 + 8);
    assert_eq!(reported[1].operations["read"].bytes, (5 + 6 + 7 + 8) * 512);
    let latest = timeline.latest.as_ref().map(|it| it.counted.length_ns);
    assert_eq!(latest, Some(INTERVAL_MAX_NS));
    let (kept, indexes) = timeline.take();
    assert_eq!(
        (reported.len(), kept.len(), count(&reported)),
        (10, 40, count(&kept))
    );
    assert_eq!(indexes, (0..40).collect::<Vec<i64>>());
}

#[test]
fn intervals_double_in_length_during_a_run_of_unknown_length() {
    for (run_count, kept_count, length_ms) in [
        (7, 7, 125),
        (80, 80, 125),
        (81, 41, 250),
        (160, 80, 250),
        (161, 41, 500),
        (321, 41, 1000),
        (8000, 1000, 1000),
    ] {
        let mut timeline = timeline(IntervalSteps::of(0));
        run(&mut timeline, run_count);
        let (kept, indexes) = timeline.take();
        assert_eq!(kept.len(), kept_count, "{run_count}");
        let (first, all) = (&kept[0], run_count * (run_count + 1) / 2);
        assert_eq!((first.length_ns / MS_NS, count(&kept)), (length_ms, all));
        let length_ns = timeline.steps.length_ns;
        let begins = |(it, index): (&IntervalRecord, &i64)| it.at_ns == *index as u64 * length_ns;
        assert!(kept.iter().zip(&indexes).all(begins));
    }
}

#[test]
fn a_merged_interval_has_the_percentiles_of_all_its_parts() {
    let mut timeline = timeline(IntervalSteps::of(0));
    for index in 0..8_u64 {
        let from_ns = index * INTERVAL_FIRST_NS;
        // A hundred latencies from 1 to 100 µs each.
        timeline.finish(
            index as i64,
            slice(from_ns, from_ns + INTERVAL_FIRST_NS, 100),
        );
    }
    let figures = timeline.take_unreported()[0].operations["read"];
    assert_eq!((figures.count, figures.max_ns), (800, Some(100_000)));
    let p50_us = figures.p50_ns.unwrap() as f64 / 1e3;
    assert!((49.5..50.5).contains(&p50_us), "{p50_us}");
}

#[test]
fn late_samples_are_reported_with_the_next_interval() {
    let mut timeline = timeline(IntervalSteps::even(INTERVAL_MAX_NS / 4));
    run(&mut timeline, 4);
    timeline.finish(4, slice(0, INTERVAL_MAX_NS / 2, 7));
    assert_eq!(count(&timeline.take_unreported()), 10);
    for index in 5..8_u64 {
        let from_ns = index * INTERVAL_MAX_NS / 4;
        timeline.finish(
            index as i64,
            slice(from_ns, from_ns + INTERVAL_MAX_NS / 4, 1),
        );
    }
    let reported = timeline.take_unreported();
    assert_eq!(
        (reported[0].at_ns, count(&reported)),
        (5 * INTERVAL_MAX_NS / 4, 10)
    );
    let (kept, _) = timeline.take();
    assert_eq!((kept.len(), kept[3].operations["read"].count), (7, 11));
}

#[test]
fn excluded_time_is_not_in_any_reported_interval() {
    let mut timeline = timeline(IntervalSteps::even(INTERVAL_MAX_NS / 4));
    timeline.finish(0, slice(0, INTERVAL_MAX_NS / 4, 3));
    timeline.finish(3, slice(3 * INTERVAL_MAX_NS / 4, INTERVAL_MAX_NS, 3));
    let lengths = timeline.take_unreported();
    let lengths: Vec<u64> = lengths.iter().map(|it| it.length_ns).collect();
    assert_eq!(lengths, [INTERVAL_MAX_NS / 4; 2]);
}

proptest! {
    #[test]
    fn every_operation_is_kept_and_reported_once(
        steps in prop_oneof![
            Just(IntervalSteps::of(0)),
            (1_u64..100).prop_map(|seconds| IntervalSteps::of(seconds * INTERVAL_MAX_NS)),
        ],
        parts in prop::collection::vec((0_i64..4, 0_u64..9, -20_i64..20), 1..400),
    ) {
        let mut timeline = timeline(steps);
        let length_ns = steps.length_ns as i64;
        let (mut index, mut all, mut from_ns) = (0_i64, 0, 0);
        for (skipped, count, off_percent) in parts {
            index += skipped;
            let until_ns = (index + 1) * length_ns + off_percent * length_ns / 100;
            let until_ns = until_ns.max(1) as u64;
            timeline.finish(index, slice(from_ns.min(until_ns - 1), until_ns, count));
            (from_ns, all) = (until_ns, all + count);
            index += 1;
        }
        timeline.report_open_slice();
        let reported = timeline.take_unreported();
        let owed = timeline.late.counted.total().count();
        prop_assert_eq!(count(&reported) + owed, all);
        let (kept, indexes) = timeline.take();
        prop_assert_eq!(count(&kept), all);
        prop_assert!(indexes.is_sorted_by(|a, b| a < b));
        let follows = |pair: &[IntervalRecord]| pair[0].at_ns + pair[0].length_ns <= pair[1].at_ns;
        prop_assert!(kept.windows(2).all(follows) && reported.windows(2).all(follows));
    }
}
