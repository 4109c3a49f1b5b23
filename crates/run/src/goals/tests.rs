//! Decisions on steady states, from given readings.

use super::*;

const SECOND: u64 = 1_000_000_000;

fn goal(measure: GoalMeasure, is_slope: bool, limit: f64, is_percent: bool) -> SteadyGoal {
    SteadyGoal {
        measure,
        is_slope,
        limit,
        is_percent,
        window_ns: 3 * SECOND,
        ramp_ns: 0,
        interval_ns: SECOND,
        group_index: None,
    }
}

fn readings(values: &[u64]) -> VecDeque<SteadyReading> {
    let reading = |value: &u64| SteadyReading {
        iops: *value,
        bytes_per_second: value * 4096,
        latency_ns: 1_000_000 / value.max(&1),
    };
    values.iter().map(reading).collect()
}

#[test]
fn readings_are_judged_as_by_fio() {
    // As fio 3.33 judged these, with a limit of 10 %.
    let deviation = judge(
        &goal(GoalMeasure::Iops, false, 10.0, true),
        &readings(&[1001, 1001, 1000]),
    );
    assert!(deviation.is_reached);
    assert_eq!(format!("{:.6}", deviation.deviation), "0.666667");
    assert_eq!(format!("{:.6}", deviation.criterion), "0.066622");
    let slope = judge(
        &goal(GoalMeasure::Iops, true, 1.0, false),
        &readings(&[100, 102, 104]),
    );
    assert_eq!(
        (slope.slope, slope.criterion, slope.is_reached),
        (2.0, 2.0, false)
    );
    let falling = judge(
        &goal(GoalMeasure::Bandwidth, true, 2.0, true),
        &readings(&[104, 102, 100]),
    );
    assert_eq!(falling.slope, -2.0 * 4096.0);
    assert!(falling.is_reached && falling.criterion < -1.9);
}

#[test]
fn each_measure_is_judged_alone_and_no_readings_are_not_steady() {
    let limits = |measure, values: &[u64]| {
        judge(&goal(measure, false, 20.0, true), &readings(values)).is_reached
    };
    assert!(limits(GoalMeasure::Latency, &[90, 100, 110]));
    assert!(!limits(GoalMeasure::Latency, &[50, 100, 150]));
    for measure in [GoalMeasure::Iops, GoalMeasure::Bandwidth] {
        assert!(limits(measure, &[90, 100, 110]));
        assert!(!limits(measure, &[50, 100, 150]));
        assert!(!limits(measure, &[0, 0, 0]));
    }
}

/// Watches jobs that are judged by this goal.
fn watched(goal: SteadyGoal, count: usize) -> (GoalWatch, Vec<Arc<GoalProgress>>) {
    let boards: Vec<Arc<GoalProgress>> = (0..count).map(|_| Arc::default()).collect();
    let goals = JobGoals {
        steady: Some(goal),
        ..JobGoals::default()
    };
    let lanes = boards
        .iter()
        .map(|it| Some((goals.clone(), Arc::clone(it))));
    (GoalWatch::of_lanes(lanes.collect()), boards)
}

fn work(board: &GoalProgress, count: u64) {
    (0..count).for_each(|_| board.count(4096, 1000));
}

fn steady(watch: &GoalWatch, lane_index: usize) -> SteadyReadings {
    watch.figures(lane_index).unwrap().steady.unwrap()
}

#[test]
fn a_job_ends_with_the_first_window_that_is_steady() {
    let (mut watch, boards) = watched(goal(GoalMeasure::Iops, false, 10.0, true), 1);
    let board = &boards[0];
    watch.look(0);
    assert_eq!(watch.next_ns(), u64::MAX);
    board.begin(5 * SECOND);
    watch.look(5 * SECOND + 1);
    for (second, count) in (1..).zip([10, 50, 100, 101, 99]) {
        assert!(!board.is_ended(), "{second}");
        assert_eq!(watch.next_ns(), (5 + second) * SECOND);
        watch.look((5 + second) * SECOND - 1);
        work(board, count);
        watch.look((5 + second) * SECOND);
    }
    assert!(board.is_ended());
    assert_eq!(watch.next_ns(), u64::MAX);
    let outcome = steady(&watch, 0);
    assert!(outcome.is_reached);
    assert_eq!((outcome.criterion, outcome.deviation), (1.0, 1.0));
    let iops: Vec<u64> = outcome.readings.iter().map(|it| it.iops).collect();
    assert_eq!(iops, [100, 101, 99]);
    assert_eq!(outcome.readings[0].bytes_per_second, 409_600);
    assert_eq!(outcome.readings[0].latency_ns, 1000);
}

#[test]
fn a_late_reading_divides_by_the_elapsed_time() {
    let (mut watch, boards) = watched(goal(GoalMeasure::Iops, false, 10.0, true), 1);
    boards[0].begin(SECOND);
    watch.look(SECOND);
    work(&boards[0], 300);
    watch.look(4 * SECOND);
    assert_eq!(watch.next_ns(), 5 * SECOND);
    let outcome = steady(&watch, 0);
    assert_eq!(outcome.readings.len(), 1);
    assert_eq!(outcome.readings[0].iops, 100);
    assert!(!outcome.is_reached);
}

#[test]
fn a_ramp_is_not_judged() {
    let ramped = SteadyGoal {
        ramp_ns: 2 * SECOND,
        ..goal(GoalMeasure::Iops, false, 10.0, true)
    };
    let (mut watch, boards) = watched(ramped, 1);
    boards[0].begin(SECOND);
    work(&boards[0], 5000);
    watch.look(SECOND);
    assert_eq!(watch.next_ns(), 3 * SECOND);
    for second in 3..=6 {
        watch.look(second * SECOND);
        work(&boards[0], 100);
    }
    assert!(boards[0].is_ended());
    assert_eq!(steady(&watch, 0).readings[0].iops, 100);
}

#[test]
fn jobs_of_a_group_are_summed_and_end_together() {
    let grouped = SteadyGoal {
        group_index: Some(0),
        ..goal(GoalMeasure::Iops, false, 1.0, true)
    };
    let (mut watch, boards) = watched(grouped, 2);
    boards.iter().for_each(|it| it.begin(SECOND));
    watch.look(SECOND);
    // One becomes faster as the other becomes slower.
    for second in 1..=3 {
        work(&boards[0], 10 * second);
        work(&boards[1], 100 - 10 * second);
        watch.look((1 + second) * SECOND);
    }
    assert!(boards.iter().all(|it| it.is_ended()));
    assert_eq!(watch.figures(0).unwrap().steady, None);
    let outcome = steady(&watch, 1);
    assert_eq!((outcome.is_reached, outcome.readings[2].iops), (true, 100));
}

#[test]
fn ungrouped_jobs_end_independently() {
    let (mut watch, boards) = watched(goal(GoalMeasure::Iops, false, 1.0, true), 2);
    boards.iter().for_each(|it| it.begin(SECOND));
    watch.look(SECOND);
    for second in 1..=3 {
        work(&boards[0], 10);
        work(&boards[1], 10 * second);
        watch.look((1 + second) * SECOND);
    }
    assert!(boards[0].is_ended() && !boards[1].is_ended());
    assert!(steady(&watch, 0).is_reached && !steady(&watch, 1).is_reached);
    boards[1].leave();
    watch.look(60 * SECOND);
    assert_eq!(steady(&watch, 1).readings.len(), 3);
}
