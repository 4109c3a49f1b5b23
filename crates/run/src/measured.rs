//! Everything counted in a cell.

use results::{EngineNotes, GoalFigures, IntervalRecord, Standstill, SteadyRecord};
use stats::Interval;

use crate::lane::Lane;
use crate::outcome::WorkerOutcome;

/// Everything counted in a cell.
pub(crate) struct MeasuredCell {
    pub lanes: Vec<MeasuredLane>,
    pub intervals: Vec<results::IntervalRecord>,
    pub engine_notes: EngineNotes,
    pub transaction_kinds: Vec<String>,
    /// Planned start of the measurement, in nanoseconds of the clock.
    pub measure_ns: u64,
    /// Standstills of the whole process.
    pub standstills: Vec<Standstill>,
    /// Rounds; `None` unless the cell is measured until it is steady.
    pub steady: Option<MeasuredRounds>,
}

/// Rounds of a cell. The results cover only the window.
pub(crate) struct MeasuredRounds {
    pub record: SteadyRecord,
    /// Half-open range of the window's rounds, as 0-based indexes; `None` if no round was complete.
    pub window: Option<(u64, u64)>,
}

/// Everything counted in a lane.
pub(crate) struct MeasuredLane {
    pub lane: Lane,
    /// Counters, one per span of the lane's plan.
    pub spans: Vec<Interval>,
    pub outcome: WorkerOutcome,
    /// Intervals of the lane, if they are kept.
    pub series: Vec<IntervalRecord>,
    /// Outcome of its job's goals.
    pub goals: Option<GoalFigures>,
}

impl MeasuredLane {
    /// Start of the measurement after the ramp, in nanoseconds of the clock. Rounds that end late
    /// make the measured time longer than the time until its end.
    pub fn begin_ns(&self) -> u64 {
        let outcome = &self.outcome;
        outcome.finish_ns.saturating_sub(outcome.measured_ns)
    }
}
