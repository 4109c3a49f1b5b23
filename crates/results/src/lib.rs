//! Events, records, warnings and the environment: all data that displays and reports use.
//!
//! Nothing here measures. A record is self-contained: a later report needs nothing else, and
//! reading an exported record gives back the record that was written.

/// A point in time, written in records as RFC 3339 text in UTC.
pub use jiff::Timestamp;

mod advice;
mod build;
mod cell;
mod claim;
mod cluster;
mod doubt;
mod effect;
mod environment;
mod errno_count;
mod estimate;
mod even_intervals;
mod event;
mod flows;
mod format;
mod goals;
mod imported;
mod interval;
mod key;
mod lab;
mod latency;
mod merge;
mod names;
mod next_action;
mod open_loop;
mod operations;
mod over_time;
mod owner;
mod parts;
mod phase;
mod phase_figures;
mod precondition;
mod real;
mod record;
mod repetition;
mod search;
mod standstill;
mod status;
mod steady;
mod title;
mod unfinished;
mod verdict;
mod warning;
mod within_cell;
mod zero;

pub use cell::CellRecord;
pub use claim::Claim;
pub use cluster::{CellCluster, ClockOffset, ClusterRecord, HostRecord, RankFigures};
pub use doubt::{
    MEASURED_NS_MIN, SAMPLES_BEYOND_MIN, cpus_used_by_others, doubt, doubt_cluster,
    environment_warnings, host_difference_warning, lengthening_options, load_warning,
    memory_target_warnings, short_run_warning, store_io_warning, used_bytes,
};
pub use effect::effect;
pub use environment::{
    ClockRecord, Device, Environment, FileSystem, Limit, LimitedResource, Load, Mount, Processor,
    Stack,
};
pub use errno_count::ErrnoCount;
pub use estimate::{EstimateRecord, IntervalKind, PrecisionVerdict};
pub use even_intervals::{EvenRates, uncertain_rate};
pub use event::{EventLine, Listener, RunEvent};
pub use flows::CONNECTION;
pub use format::{FORMAT, upgrade_cell};
pub use goals::{
    FoundDepth, GoalFigures, GoalKind, LateRequest, MissedGoal, SteadyReading, SteadyReadings,
};
pub use imported::{
    ImportOrigin, ImportRecord, ImportedFigure, ImportedResult, ImportedStatement, ImportedText,
};
pub use interval::{IntervalDevice, IntervalFigures, IntervalRecord, LatencyCounts, PartFigures};
pub use key::CellKey;
pub use lab::{
    BetterDirection, LAB_FORMAT, LabColumn, LabFigure, LabRecord, LabSection, LabText, LabTrial,
};
pub use latency::{HistogramRecord, Latency, Percentiles, percentile_is_supported};
pub use merge::{MergedInterval, RankCell, merged};
pub use names::CounterNames;
pub use next_action::next_action;
pub use open_loop::{DueFigures, OpenLoopFigures, RESPONSE};
pub use operations::{OperationFigures, Operations, TransactionFigures};
pub use owner::{ProcessIdentity, ProcessState};
pub use parts::{
    CpuFigures, DeviceFigures, EngineNotes, MachineCpu, MismatchFigures, ProcessorFigures,
    RingSetup, SplitLatency, TargetFigures, ThreadUsage, WorkerFigures,
};
pub use phase::Phase;
pub use phase_figures::{
    CallTimes, FilesetFigures, FreeSpace, LabelFigures, PhaseFigures, PoolFailure, PoolFailures,
    PoolFigures, ReportedRound, RoundFigures, RoundRule, StepFigures, WorkerAtStonewall,
    WorkerTimes, WorkerWindow,
};
pub use precondition::PreconditionRecord;
pub use real::{per_second, share_of_time};
pub use record::{Alternation, ProgramRecord, ReadError, RunRecord};
pub use repetition::{estimates, principal_phases};
pub use search::{RateBracket, RateSearch, RateTrial};
pub use standstill::{Standstill, StandstillCause};
pub use stats::{SteadyRule, SteadyVerdict, SteadyWindow};
pub use status::Status;
pub use steady::{RoundRecord, SteadyRecord};
pub use title::{CellNames, Distinction, cell_title, target_indexes};
pub use warning::{Warning, WarningCode, WarningLevel};
pub use within_cell::{DriftRecord, WarmUpRecord, WithinRun};
