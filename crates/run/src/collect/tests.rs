use proptest::prelude::*;

use results::IntervalRecord;

use super::*;
use crate::sample::{Outbox, exchange};
use crate::times;

const SECOND_NS: u64 = 1_000_000_000;
const TENTH_NS: u64 = SECOND_NS / 10;
/// When the measurement begins, by the clock.
const MEASURE_NS: u64 = 5 * SECOND_NS;

/// Lanes whose samples are made by hand.
struct Lanes {
    collection: CollectedCounts,
    /// Intervals that the collection reported.
    reported: Vec<IntervalRecord>,
    outboxes: Vec<Outbox>,
}

fn lanes(count: usize) -> Lanes {
    lanes_of(count, SECOND_NS)
}

/// With intervals of this length.
fn lanes_of(count: usize, interval_ns: u64) -> Lanes {
    let shape = Sample {
        spans: vec![Interval::with([0], 0)],
        ..Sample::default()
    };
    let (mut inboxes, mut outboxes) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let (_, outbox, inbox) = exchange(shape.clone());
        inboxes.push(inbox);
        outboxes.push(outbox);
    }
    let mut collection = CollectedCounts::new(
        inboxes,
        vec![shape; count],
        IntervalSteps::even(interval_ns),
    );
    collection.set_measure_start(MEASURE_NS);
    Lanes {
        collection,
        reported: Vec::new(),
        outboxes,
    }
}

/// Milliseconds since the measurement began.
fn sample(from_ms: i64, to_ms: i64, count: u64) -> Sample {
    let clock_ns = |ms: i64| MEASURE_NS.checked_add_signed(ms * 1_000_000).unwrap();
    let mut span = Interval::with([0], 0);
    for _ in 0..count {
        span.operation_mut(0).record(512, 1000);
    }
    Sample {
        at_ns: clock_ns(from_ms),
        length_ns: clock_ns(to_ms) - clock_ns(from_ms),
        ramp: from_ms < 0,
        spans: vec![span],
    }
}

impl Lanes {
    /// A lane hands over; the monitor looks. Returns how many intervals it tells.
    fn give(&mut self, lane: usize, sample: Sample) -> usize {
        self.outboxes[lane].give(Box::new(sample));
        self.collection.collect();
        let unreported = self.collection.timeline.take_unreported();
        let count = unreported.len();
        self.reported.extend(unreported);
        count
    }

    /// When each interval begins and how long it is, in milliseconds, and what was counted in it;
    /// with the index of each.
    fn kept(&mut self) -> (Vec<(u64, u64, u64)>, Vec<i64>) {
        let (intervals, indexes) = self.collection.timeline.take();
        (intervals.iter().map(start_length_count).collect(), indexes)
    }

    fn total(&self) -> u64 {
        let spans = self.collection.lanes.iter().flatten();
        spans.map(|span| span.total().count()).sum()
    }

    /// Holds that intervals ascend and add up; returns them.
    fn assert_in_order(&mut self) -> Vec<(u64, u64, u64)> {
        let (intervals, indexes) = self.collection.timeline.take();
        let kept: Vec<_> = intervals.iter().map(start_length_count).collect();
        let sum: u64 = kept.iter().map(|(.., count)| count).sum();
        assert_eq!(sum, self.total());
        assert_eq!(kept.len(), indexes.len());
        assert!(indexes.is_sorted_by(|a, b| a < b), "{indexes:?}");
        let follows = |pair: &[IntervalRecord]| {
            pair[0].at_ns < pair[1].at_ns && pair[0].at_ns + pair[0].length_ns <= pair[1].at_ns
        };
        assert!(intervals.windows(2).all(follows), "{kept:?}");
        assert!(intervals.iter().all(|it| it.length_ns > 0), "{kept:?}");
        kept
    }
}

/// When it begins and how long it is, in milliseconds, and what was counted in it.
fn start_length_count(interval: &IntervalRecord) -> (u64, u64, u64) {
    let count = interval.operations.values().map(|it| it.count).sum();
    (
        interval.at_ns / 1_000_000,
        interval.length_ns / 1_000_000,
        count,
    )
}

#[test]
fn an_interval_is_finished_once_no_lane_can_add_to_it() {
    let mut lanes = lanes(2);
    assert_eq!(lanes.give(0, sample(0, 1000, 10)), 0);
    // A second sample of this lane in the same second; the other lane has sent none.
    assert_eq!(lanes.give(0, sample(1000, 1001, 1)), 0);
    assert_eq!(lanes.give(1, sample(10, 1010, 5)), 1);
    assert_eq!(
        lanes
            .reported
            .iter()
            .map(start_length_count)
            .collect::<Vec<_>>(),
        [(0, 1010, 15)]
    );
}

#[test]
fn late_samples_after_a_stall_do_not_reopen_an_interval() {
    let mut lanes = lanes(2);
    for second in 0..3 {
        lanes.give(0, sample(second * 1000, (second + 1) * 1000, 10));
        lanes.give(1, sample(second * 1000, (second + 1) * 1000, 10));
    }
    for second in 3..9 {
        lanes.give(0, sample(second * 1000, (second + 1) * 1000, 10));
    }
    let before: Vec<_> = lanes.reported.iter().map(start_length_count).collect();
    assert!(before.len() >= 6, "{before:?}");
    // The middle of this sample is in a second that was already reported.
    lanes.give(1, sample(3000, 9000, 7));
    lanes.give(0, sample(9000, 10_000, 10));
    lanes.give(1, sample(9000, 10_000, 10));
    lanes.collection.close();
    let intervals = lanes.assert_in_order();
    assert_eq!(intervals[..before.len()], before);
    assert_eq!(intervals.len(), 10);
    assert!(intervals.iter().all(|(_, length_ms, _)| *length_ms == 1000));
}

#[test]
fn a_long_sample_does_not_make_the_interval_of_others_long() {
    let mut lanes = lanes(2);
    lanes.give(0, sample(0, 1000, 10));
    lanes.give(0, sample(1000, 2000, 10));
    lanes.give(1, sample(0, 3000, 4));
    lanes.give(0, sample(2000, 3000, 10));
    lanes.collection.close();
    assert_eq!(
        lanes.kept().0,
        [(0, 1000, 10), (1000, 1000, 14), (2000, 1000, 10)]
    );
}

#[test]
fn a_stall_of_all_lanes_is_one_long_interval() {
    let mut lanes = lanes(2);
    for lane in 0..2 {
        lanes.give(lane, sample(0, 1000, 10));
    }
    for lane in 0..2 {
        lanes.give(lane, sample(1000, 6000, 10));
    }
    for lane in 0..2 {
        lanes.give(lane, sample(6000, 7000, 10));
    }
    lanes.collection.close();
    assert_eq!(
        lanes.kept().0,
        [(0, 1000, 20), (1000, 5000, 20), (6000, 1000, 20)]
    );
}

#[test]
fn samples_that_began_in_the_ramp_are_in_no_interval() {
    let mut lanes = lanes(2);
    lanes.give(0, sample(-500, 1, 100));
    lanes.give(0, sample(1, 1001, 10));
    lanes.give(1, sample(-500, 2600, 100));
    lanes.give(1, sample(2600, 3000, 10));
    lanes.collection.close();
    lanes.assert_in_order();
    assert_eq!(lanes.total(), 20);
}

#[test]
fn the_rest_of_a_lane_that_ended_early_counts_even_if_it_arrives_last() {
    let mut lanes = lanes(2);
    let outcome = WorkerOutcome {
        last_sample: Box::new(sample(0, 300, 3)),
        measured_ns: 300_000_000,
        ..WorkerOutcome::default()
    };
    for second in 0..4 {
        lanes.give(1, sample(second * 1000, (second + 1) * 1000, 10));
    }
    lanes.collection.close();
    lanes.collection.add_rest(0, &outcome);
    lanes.collection.close();
    assert_eq!(lanes.assert_in_order().len(), 4);
    assert_eq!(lanes.total(), 43);
}

#[test]
fn a_lane_that_handed_everything_over_has_no_rest() {
    let mut lanes = lanes(1);
    lanes.give(0, sample(0, 700, 3));
    let outcome = WorkerOutcome {
        last_sample: Box::new(sample(700, 700, 0)),
        measured_ns: 700_000_000,
        ..WorkerOutcome::default()
    };
    lanes.collection.add_rest(0, &outcome);
    lanes.collection.close();
    assert_eq!(lanes.kept().0, [(0, 700, 3)]);
}

/// Lanes whose cell is measured in rounds of two tenths of a second until three are steady.
fn lanes_in_rounds(count: usize) -> Lanes {
    let mut cell = crate::tests::cell(1, Vec::new());
    cell.run_time_ns = 2 * TENTH_NS;
    cell.steady = Some(results::SteadyRule {
        window_count: 3,
        range_max: 1e6,
        excursion_max: 1e6,
        rounds_max: 100,
    });
    let mut lanes = lanes_of(count, times::interval_ns(&cell));
    let lane = |spans: &Vec<Interval>| Sample {
        spans: spans.clone(),
        ..Sample::default()
    };
    let shapes: Vec<Sample> = lanes.collection.lanes.iter().map(lane).collect();
    lanes.collection.rounds = Rounds::new(&cell, &shapes);
    lanes
}

#[test]
fn rounds_are_judged_once_their_intervals_are_complete() {
    let mut lanes = lanes_in_rounds(2);
    for tenth in 0..6 {
        assert_eq!(lanes.collection.judge(None), 0);
        lanes.give(0, sample(tenth * 100, (tenth + 1) * 100, 10));
        assert_eq!(lanes.collection.judge(None), 0);
        lanes.give(1, sample(tenth * 100, (tenth + 1) * 100, 5));
        assert_eq!(lanes.collection.judge(None), (tenth % 2) as usize);
    }
    assert!(lanes.collection.is_decided());
    let report = lanes.collection.rounds.as_ref().unwrap().steady_record();
    for (index, round) in (0..).zip(&report.rounds) {
        assert_eq!((round.at_ns, round.count), (index * 2 * TENTH_NS, 30));
        assert_eq!(round.length_ns, 2 * TENTH_NS);
        assert_eq!(round.latency_p99_ns, Some(1000));
    }
}

#[test]
fn samples_that_arrive_after_their_round_count_in_a_later_one() {
    let mut lanes = lanes_in_rounds(2);
    for tenth in 0..5 {
        lanes.give(0, sample(tenth * 100, (tenth + 1) * 100, 10));
    }
    assert_eq!(lanes.collection.judge(None), 1);
    // The middle of this sample is in the first round.
    lanes.give(1, sample(0, 350, 7));
    lanes.give(1, sample(350, 600, 7));
    lanes.give(0, sample(500, 600, 10));
    assert_eq!(lanes.collection.judge(None), 2);
    let report = lanes.collection.rounds.as_ref().unwrap().steady_record();
    let counts: Vec<u64> = report.rounds.iter().map(|round| round.count).collect();
    assert_eq!(counts[0], 20);
    assert_eq!(counts.iter().sum::<u64>(), lanes.total());
}

/// Steps of a random test: the lane, the length of its next sample in milliseconds, its number of
/// operations, and `true` if the monitor collects afterwards.
fn steps() -> impl Strategy<Value = Vec<(usize, i64, u64, bool)>> {
    let length_ms = prop_oneof![
        6 => 900_i64..1100,
        2 => 1_i64..900,
        1 => 1100_i64..9000,
    ];
    prop::collection::vec((0_usize..3, length_ms, 0_u64..20, any::<bool>()), 1..60)
}

proptest! {
    #[test]
    fn intervals_ascend_and_add_up_with_any_late_lane(
        steps in steps(),
        starts_ms in prop::array::uniform3(-3000_i64..500),
        ended_ms in prop::array::uniform3(1_i64..700),
    ) {
        let mut lanes = lanes(3);
        let mut at_ms = starts_ms;
        for (lane, length_ms, count, looks) in steps {
            let from_ms = at_ms[lane];
            at_ms[lane] += length_ms;
            // The recorder does the same when the reader is late.
            if lanes.outboxes[lane].full.is_full() {
                lanes.collection.collect();
            }
            lanes.outboxes[lane].give(Box::new(sample(from_ms, at_ms[lane], count)));
            if looks {
                lanes.collection.collect();
            }
        }
        lanes.collection.collect();
        for lane in 0..3 {
            let from_ms = at_ms[lane].max(0);
            let outcome = WorkerOutcome {
                last_sample: Box::new(sample(from_ms, from_ms + ended_ms[lane], 5)),
                measured_ns: 1,
                ..WorkerOutcome::default()
            };
            lanes.collection.add_rest(lane, &outcome);
        }
        lanes.collection.close();
        lanes.assert_in_order();
    }
}
