//! Everything that was counted in a cell.

use results::{EngineNotes, GoalFigures, IntervalRecord, Standstill, SteadyRecord};
use stats::Interval;

use crate::lane::Lane;
use crate::outcome::Outcome;

/// Everything that was counted in a cell.
pub(crate) struct Measured {
    pub lanes: Vec<MeasuredLane>,
    pub intervals: Vec<results::IntervalRecord>,
    pub engine_notes: EngineNotes,
    pub transaction_kinds: Vec<String>,
    /// When the measurement was to begin, in nanoseconds of the clock.
    pub measure_ns: u64,
    /// When everything stood still.
    pub standstills: Vec<Standstill>,
    /// The rounds, where there were any.
    pub steady: Option<MeasuredRounds>,
}

/// The rounds of a cell; what was measured is that of their window.
pub(crate) struct MeasuredRounds {
    pub record: SteadyRecord,
    /// 0-based indexes of the window's first round and of the one behind it; none where no round
    /// was measured in full.
    pub window: Option<(u64, u64)>,
}

/// What was counted in a lane.
pub(crate) struct MeasuredLane {
    pub lane: Lane,
    /// One a span of the lane's plan.
    pub spans: Vec<Interval>,
    pub outcome: Outcome,
    /// Its own intervals, where they are kept.
    pub series: Vec<IntervalRecord>,
    /// What became of the goals of its job.
    pub goals: Option<GoalFigures>,
}
