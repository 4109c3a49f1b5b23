//! Finds when the workers waited for a processor, where they did not do so all the time.

use crate::{CellRecord, IntervalRecord};

/// Intervals in which the workers waited for less than this share belong to no stretch.
const SHARE_MIN: f64 = 0.05;
/// Fewer intervals have no stretch.
const INTERVALS_MIN: usize = 4;
/// A stretch leaves at least this share of the time.
const REST_MIN: f64 = 0.1;
/// Beside a stretch, workers waited at most this much of what they waited within.
const REST_RATIO_MAX: f64 = 0.5;

/// Neighboring intervals in which the workers waited much more than in all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch {
    /// From the start of the measurement, in nanoseconds.
    pub from_ns: u64,
    pub until_ns: u64,
    /// Share of the workers' time in it that they waited.
    pub waiting: f64,
    /// The same waiting as a share of their time in all intervals.
    pub of_all: f64,
}

/// The stretch that holds the most waiting above what is usual in the cell.
pub(super) fn worst(cell: &CellRecord) -> Option<Stretch> {
    let intervals = &cell.intervals[..];
    let threads = f64::from(cell.cpu.threads.max(1));
    let waits: Option<Vec<f64>> = intervals
        .iter()
        .map(|interval| Some(interval.waited_ns? as f64))
        .collect();
    let waits = waits.filter(|waits| waits.len() >= INTERVALS_MIN)?;
    let times = intervals.iter().map(|it| it.length_ns as f64 * threads);
    let times: Vec<f64> = times.collect();
    let (waited, time) = (waits.iter().sum::<f64>(), times.iter().sum::<f64>());
    let usual = (waited / time).max(SHARE_MIN);
    let gains: Vec<f64> = waits
        .iter()
        .zip(&times)
        .map(|(waited, time)| waited - usual * time)
        .collect();
    let (first, last) = largest_sum(&gains)?;
    let within = |values: &[f64]| values[first..=last].iter().sum::<f64>();
    let (waited_within, time_within) = (within(&waits), within(&times));
    let (waited_beside, time_beside) = (waited - waited_within, time - time_within);
    let waiting = waited_within / time_within;
    if time_beside < time * REST_MIN || waited_beside / time_beside > waiting * REST_RATIO_MAX {
        return None;
    }
    let end_ns = |interval: &IntervalRecord| interval.at_ns.saturating_add(interval.length_ns);
    Some(Stretch {
        from_ns: intervals[first].at_ns,
        until_ns: end_ns(&intervals[last]),
        waiting: waiting.min(1.0),
        of_all: waited_within / time,
    })
}

/// The first and the last of the neighbors whose sum is the largest; none where all are negative.
///
/// Source: Bentley, Programming Pearls, column 8.
fn largest_sum(gains: &[f64]) -> Option<(usize, usize)> {
    let mut best: Option<(f64, usize, usize)> = None;
    let (mut sum, mut first) = (0.0, 0);
    for (place, gain) in gains.iter().enumerate() {
        if sum <= 0.0 {
            (sum, first) = (0.0, place);
        }
        sum += gain;
        if sum > best.map_or(0.0, |(sum, ..)| sum) {
            best = Some((sum, first, place));
        }
    }
    best.map(|(_, first, last)| (first, last))
}
