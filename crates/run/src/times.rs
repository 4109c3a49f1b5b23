//! Times of a cell that follow from its plan: intervals, rounds and end.

use plan::Cell;
use results::SteadyRule;

/// Intervals of a measurement. Judging its rate needs at least 20.
pub(crate) const INTERVAL_COUNT: u64 = 40;
/// Shorter intervals would often be late on a busy machine.
const INTERVAL_MIN_NS: u64 = 100_000_000;
/// Longer intervals would hide changes.
pub(crate) const INTERVAL_MAX_NS: u64 = 1_000_000_000;
/// First length of intervals in a measurement of unknown duration. It is doubled until it reaches
/// the maximum.
pub(crate) const INTERVAL_FIRST_NS: u64 = INTERVAL_MAX_NS / 8;
// `INTERVAL_MAX_NS` divided by `INTERVAL_FIRST_NS`.
const DOUBLED_MAX: i64 = 8;

/// Maximum time for which a phase waits for a request at its end, in nanoseconds, or this part of
/// the run time if that is longer. A permanent stall must not make a run endless.
const GRACE_MIN_NS: u64 = 1_000_000_000;
const GRACE_PART: u64 = 10;

/// Maximum time after the end in which due requests may start, in nanoseconds, or this part of the
/// run time if that is longer. Devices that stall recover within seconds. The backlog of a device
/// that is too slow lasts as long as the run and adds no information.
const DRAIN_MIN_NS: u64 = 10_000_000_000;
const DRAIN_PART: u64 = 10;

/// Lengths of a cell's intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IntervalSteps {
    /// Length of the intervals that workers hand over, in nanoseconds.
    pub length_ns: u64,
    /// Maximum number of them per interval of the record, a power of two.
    pub merged_count_max: i64,
}

impl IntervalSteps {
    /// Intervals of a fixed length.
    pub const fn even(length_ns: u64) -> Self {
        Self {
            length_ns,
            merged_count_max: 1,
        }
    }

    /// Intervals of a measurement of this duration; 0 if it is not known.
    pub fn of(measure_ns: u64) -> Self {
        match measure_ns {
            0 => Self {
                length_ns: INTERVAL_FIRST_NS,
                merged_count_max: DOUBLED_MAX,
            },
            _ => Self::even((measure_ns / INTERVAL_COUNT).clamp(INTERVAL_MIN_NS, INTERVAL_MAX_NS)),
        }
    }

    /// Number of intervals in about a second, the unit of live displays and storing.
    pub fn count_per_second(self) -> i64 {
        let rounded = (INTERVAL_MAX_NS + self.length_ns / 2) / self.length_ns.max(1);
        i64::try_from(rounded).unwrap_or(i64::MAX).max(1)
    }
}

/// Intervals per round, chosen so that a window has as many as a measurement without rounds.
pub(crate) fn intervals_per_round(cell: &Cell, rule: &SteadyRule) -> u64 {
    let window_ns = cell.run_time_ns.saturating_mul(rule.window_count as u64);
    (cell.run_time_ns / IntervalSteps::of(window_ns).length_ns).max(1)
}

/// Lengths of a cell's intervals. A round has a whole number of them.
pub(crate) fn steps(cell: &Cell) -> IntervalSteps {
    match &cell.steady {
        Some(rule) => {
            IntervalSteps::even((cell.run_time_ns / intervals_per_round(cell, rule)).max(1))
        }
        // Operations end the cell, so its duration is not known.
        None if cell.operations.is_some() => IntervalSteps::of(0),
        None => IntervalSteps::of(cell.run_time_ns),
    }
}

/// Length of the intervals that workers hand over, in nanoseconds.
pub(crate) fn interval_ns(cell: &Cell) -> u64 {
    steps(cell).length_ns
}

/// Maximum duration of a cell's measurement with all its rounds, in nanoseconds; 0 if something
/// other than time ends it.
pub(crate) fn measure_ns(cell: &Cell) -> u64 {
    let rounds = cell.steady.map_or(1, |rule| rule.rounds_max as u64);
    match round_ns(cell) {
        Some(round_ns) => round_ns.saturating_mul(rounds),
        None => cell.run_time_ns,
    }
}

/// Length of a round, in nanoseconds; `None` if the cell has no rounds.
pub(crate) fn round_ns(cell: &Cell) -> Option<u64> {
    let per_round = intervals_per_round(cell, cell.steady.as_ref()?);
    Some(interval_ns(cell).saturating_mul(per_round))
}

/// Maximum time by which a phase is extended until a request completes, in nanoseconds.
///
/// It is 0 for rounds and open loops, whose ends must be the same for all workers, and for work on
/// many files, which counts transactions of several requests.
pub(crate) fn grace_ns(cell: &Cell) -> u64 {
    match cell.rate.is_some() || cell.steady.is_some() || cell.work.is_acts() {
        true => 0,
        false => grace_of(cell.run_time_ns),
    }
}

/// Maximum extension of a phase with this run time, in nanoseconds, without the exceptions of
/// [`grace_ns`].
pub(crate) fn grace_of(run_time_ns: u64) -> u64 {
    GRACE_MIN_NS.max(run_time_ns / GRACE_PART)
}

/// Duration for which due requests are measured, in nanoseconds; unlimited if the number of
/// operations ends the measurement.
pub(crate) const fn due_window_ns(run_time_ns: u64) -> u64 {
    match run_time_ns {
        0 => u64::MAX,
        run_time_ns => run_time_ns,
    }
}

/// End of a measurement that starts at `begin_ns`, in nanoseconds of the clock; `u64::MAX` if the
/// number of operations ends it, which a `run_time_ns` of 0 means.
pub(crate) const fn end_ns(begin_ns: u64, run_time_ns: u64) -> u64 {
    begin_ns.saturating_add(due_window_ns(run_time_ns))
}

/// Maximum time after a cell's end in which due requests may start, in nanoseconds.
pub(crate) fn drain_max_ns(cell: &Cell) -> u64 {
    DRAIN_MIN_NS.max(cell.run_time_ns / DRAIN_PART)
}
