//! Finds a limited period in which the workers waited for a CPU.

use crate::{CellRecord, IntervalRecord};

/// Intervals with a smaller share of waiting belong to no stretch.
const SHARE_MIN: f64 = 0.05;
/// Minimum number of intervals.
const INTERVALS_MIN: usize = 4;
/// Minimum share of the time outside of a stretch.
const REST_MIN: f64 = 0.1;
/// Waiting outside of a stretch is at most this share of the waiting inside.
const REST_RATIO_MAX: f64 = 0.5;

/// Adjacent intervals in which the workers waited much longer than in all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch {
    /// Start and end, in nanoseconds from the start of the measurement.
    pub from_ns: u64,
    pub until_ns: u64,
    /// Waiting in the stretch as a share of the workers' time in it.
    pub waiting: f64,
    /// The same waiting as a share of the workers' time in all intervals.
    pub share_of_run: f64,
}

/// The stretch with the most waiting above the cell's average.
pub(super) fn worst(cell: &CellRecord) -> Option<Stretch> {
    let intervals = &cell.intervals[..];
    let threads = f64::from(cell.cpu.threads.max(1));
    let waits: Option<Vec<f64>> = intervals
        .iter()
        // One unknown interval could be the one with the most waiting, so it is all or none.
        .map(|interval| Some(interval.waited_ns? as f64))
        .collect();
    let waits = waits.filter(|waits| waits.len() >= INTERVALS_MIN)?;
    let times = intervals.iter().map(|it| it.length_ns as f64 * threads);
    let times: Vec<f64> = times.collect();
    let (waited, time) = (waits.iter().sum::<f64>(), times.iter().sum::<f64>());
    // Gains are above the cell's mean, so that even waiting has no stretch.
    // With little waiting on average, a burst of a kernel thread must not count as a stretch.
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
    // Almost the whole run, or hardly more than the rest, is not a limited stretch.
    if time_beside < time * REST_MIN || waited_beside / time_beside > waiting * REST_RATIO_MAX {
        return None;
    }
    let end_ns = |interval: &IntervalRecord| interval.at_ns.saturating_add(interval.length_ns);
    Some(Stretch {
        from_ns: intervals[first].at_ns,
        until_ns: end_ns(&intervals[last]),
        waiting: waiting.min(1.0),
        share_of_run: waited_within / time,
    })
}

/// First and last index of the adjacent values with the largest sum; `None` if all are negative.
///
/// Source: Bentley, Programming Pearls, column 8.
fn largest_sum(gains: &[f64]) -> Option<(usize, usize)> {
    let mut best: Option<(f64, usize, usize)> = None;
    let (mut sum, mut first) = (0.0, 0);
    for (index, gain) in gains.iter().enumerate() {
        // A beginning with a negative sum would only lower what follows.
        if sum <= 0.0 {
            (sum, first) = (0.0, index);
        }
        sum += gain;
        if sum > best.map_or(0.0, |(sum, ..)| sum) {
            best = Some((sum, first, index));
        }
    }
    best.map(|(_, first, last)| (first, last))
}
