//! The times of a cell that follow from its plan: of intervals, rounds, and the end.

use plan::Cell;
use results::SteadyRule;

/// Intervals of a measurement; what is said about its rate needs 20.
pub(crate) const PARTS: u64 = 40;
/// Shorter ones would be late too often on a busy machine.
const SHORTEST_NS: u64 = 100_000_000;
/// Longer ones would hide what goes on.
pub(crate) const LONGEST_NS: u64 = 1_000_000_000;
/// Of a measurement of which nobody knows how long it lasts, intervals begin with this length and
/// are doubled until they are the longest.
pub(crate) const UNKNOWN_NS: u64 = LONGEST_NS / 8;
const DOUBLED_MAX: i64 = 8;

/// For so long a phase may wait for a request at its end, in nanoseconds, or for this part of the
/// run time where that is longer: a stall that lasts on must not make runs endless.
const GRACE_MIN_NS: u64 = 1_000_000_000;
const GRACE_PART: u64 = 10;

/// What was due may begin for so long after the end, in nanoseconds, or for this part of the run
/// time where that is longer: devices that stall come back within seconds, while the backlog of one
/// that is too slow takes as long as the run, and its response times say no more.
const DRAIN_MIN_NS: u64 = 10_000_000_000;
const DRAIN_PART: u64 = 10;

/// How long intervals are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Steps {
    /// Of those that workers hand over, in nanoseconds.
    pub length_ns: u64,
    /// So many of them may become one of the record, a power of two.
    pub together_max: i64,
}

impl Steps {
    /// Of intervals of this length.
    pub const fn even(length_ns: u64) -> Self {
        Self {
            length_ns,
            together_max: 1,
        }
    }

    /// Of a measurement that takes so long; 0 where nobody knows.
    pub fn of(measure_ns: u64) -> Self {
        match measure_ns {
            0 => Self {
                length_ns: UNKNOWN_NS,
                together_max: DOUBLED_MAX,
            },
            _ => Self::even((measure_ns / PARTS).clamp(SHORTEST_NS, LONGEST_NS)),
        }
    }

    /// How many make about a second, which is what is shown and stored as it comes.
    pub fn to_a_second(self) -> i64 {
        let rounded = (LONGEST_NS + self.length_ns / 2) / self.length_ns.max(1);
        i64::try_from(rounded).unwrap_or(i64::MAX).max(1)
    }
}

/// Intervals of a round: as many as give a window the intervals of a measurement.
pub(crate) fn intervals_per_round(cell: &Cell, rule: &SteadyRule) -> u64 {
    let window_ns = cell.run_time_ns.saturating_mul(rule.window_count as u64);
    (cell.run_time_ns / Steps::of(window_ns).length_ns).max(1)
}

/// How long a cell's intervals are; a round has a whole number of them.
pub(crate) fn steps(cell: &Cell) -> Steps {
    match &cell.steady {
        Some(rule) => Steps::even((cell.run_time_ns / intervals_per_round(cell, rule)).max(1)),
        // However long it may take, operations end it.
        None if cell.operations.is_some() => Steps::of(0),
        None => Steps::of(cell.run_time_ns),
    }
}

/// Length of the intervals that workers hand over, in nanoseconds.
pub(crate) fn interval_ns(cell: &Cell) -> u64 {
    steps(cell).length_ns
}

/// Length of a cell's measurement, in nanoseconds: of all rounds that there may be; 0 where
/// something else ends it.
pub(crate) fn measure_ns(cell: &Cell) -> u64 {
    let rounds = cell.steady.map_or(1, |rule| rule.rounds_max as u64);
    match round_ns(cell) {
        Some(round_ns) => round_ns.saturating_mul(rounds),
        None => cell.run_time_ns,
    }
}

/// Length of a round, in nanoseconds; none where a cell has no rounds.
pub(crate) fn round_ns(cell: &Cell) -> Option<u64> {
    let per_round = intervals_per_round(cell, cell.steady.as_ref()?);
    Some(interval_ns(cell).saturating_mul(per_round))
}

/// How much longer than its time a phase may take until a request is done.
///
/// Rounds and what begins when it is due have ends that are the same for all; work on many files
/// counts transactions of several requests.
pub(crate) fn grace_ns(cell: &Cell) -> u64 {
    match cell.rate.is_some() || cell.steady.is_some() || cell.work.is_acts() {
        true => 0,
        false => grace_of(cell.run_time_ns),
    }
}

/// The same of one job, or of a cell where nothing else says it.
pub(crate) fn grace_of(run_time_ns: u64) -> u64 {
    GRACE_MIN_NS.max(run_time_ns / GRACE_PART)
}

/// For how long what is due is measured, in nanoseconds, by a measurement of this length: without
/// end where it ends by what is done.
pub(crate) const fn due_window_ns(run_time_ns: u64) -> u64 {
    match run_time_ns {
        0 => u64::MAX,
        run_time_ns => run_time_ns,
    }
}

/// How long what was due may still begin after a cell's end, in nanoseconds.
pub(crate) fn drain_max_ns(cell: &Cell) -> u64 {
    DRAIN_MIN_NS.max(cell.run_time_ns / DRAIN_PART)
}
