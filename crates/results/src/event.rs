//! Events of a run, for displays and stores.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::JsonDocument;

use plan::Cell;
use plan::program::PoolPart;

use crate::real::Real;
use crate::{
    CellRecord, IntervalRecord, Phase, PoolFailures, PoolFigures, RoundFigures, RunRecord, Status,
    SteadyVerdict, Warning,
};

/// An event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "event")]
#[non_exhaustive]
pub enum RunEvent {
    /// The run begins.
    Started {
        /// The record so far: with its id, the plan and the environment, but no results.
        record: Box<RunRecord>,
    },
    /// A target is being prepared.
    Prepare {
        /// The target's path.
        target: String,
        /// Bytes written so far.
        done_bytes: u64,
        /// Bytes to write.
        total_bytes: u64,
    },
    /// The files of a cell are being removed from a target.
    Cleanup {
        /// The target's path.
        target: String,
        /// Files and directories removed so far.
        removed: u64,
    },
    /// A cell begins.
    CellStarted {
        /// Number of the cell, 0-based.
        index: u32,
        /// Number of cells, as far as known.
        count: u32,
        /// Short description of the cell.
        what: String,
        /// Time left in which repetitions may start, in nanoseconds, if the cell is repeated until
        /// its results are precise. None if `count` is exact.
        #[serde(default)]
        budget_left_ns: Option<u64>,
    },
    /// The cells of another repetition are added to the plan and run next.
    CellsAdded {
        /// The cells, in running order.
        cells: Vec<Cell>,
        /// Short description of each cell.
        whats: Vec<String>,
    },
    /// Current results, several times a second.
    Progress {
        /// Number of the cell, 0-based.
        cell: u32,
        /// The phase: ramp or measure.
        phase: Phase,
        /// Time spent in the phase, in nanoseconds.
        elapsed_ns: u64,
        /// Length of the phase in nanoseconds; 0 if unknown.
        total_ns: u64,
        /// Recent operations per second; not a number before the first results.
        #[serde(with = "Real")]
        iops: f64,
        /// Recent bytes per second; not a number before the first results.
        #[serde(with = "Real")]
        bytes_per_second: f64,
        /// Recent median latency, in nanoseconds.
        #[serde(default)]
        p50_ns: Option<u64>,
        /// Recent 99th percentile of the latency, in nanoseconds.
        p99_ns: Option<u64>,
        /// Number of recent latencies per power of two: element i counts latencies from 2^i
        /// nanoseconds to below 2^(i+1). Empty if unknown.
        #[serde(default)]
        octaves: Vec<u64>,
        /// Failed operations of the cell so far.
        errors: u64,
    },
    /// A round of a cell that is measured until it is steady begins, or the last round is done.
    Round {
        /// Number of the cell, 0-based.
        cell: u32,
        /// Number of completed rounds.
        done: u32,
        /// Maximum number of rounds; after them the cell ends as not steady.
        rounds_max: u32,
        /// Whether the last rounds are steady.
        verdict: SteadyVerdict,
        /// Range of the last rounds' values, as a share of their mean; none until they fill a
        /// window.
        range_share: Option<f64>,
        /// Change of the line fitted through the last rounds, as a share of their mean.
        excursion_share: Option<f64>,
    },
    /// Before a phase, the run waits for a line on standard input.
    Prompted {
        /// Number of the phase, to print.
        number: u16,
    },
    /// A round of a phase with several rounds is over.
    RoundDone {
        /// Number of the cell, 0-based.
        cell: u32,
        /// Name of the phase.
        phase: String,
        /// Results of the round.
        figures: Box<RoundFigures>,
    },
    /// Another round would not fit into the file systems, so the rounds end.
    Full {
        /// Number of the cell, 0-based.
        cell: u32,
        /// Target paths of the workers that have no space left.
        targets: Vec<String>,
    },
    /// A part of the work on a pool of files begins.
    PoolPartBegun {
        /// Number of the cell, 0-based.
        cell: u32,
        /// The part.
        part: PoolPart,
    },
    /// A part of the work on a pool of files is over.
    PoolPartDone {
        /// Number of the cell, 0-based.
        cell: u32,
        /// The part.
        part: PoolPart,
        /// Results of the pool so far.
        figures: Box<PoolFigures>,
        /// Files that could not be processed in this part.
        failures: Box<PoolFailures>,
    },
    /// An interval of measured time is complete.
    Interval {
        /// Number of the cell, 0-based.
        cell: u32,
        /// Results of the interval.
        interval: IntervalRecord,
    },
    /// Intermediate results of a cell of jobs, if requested.
    SoFar {
        /// Results as if the cell had ended with the last complete interval.
        record: Box<CellRecord>,
        /// Time at which the results were summed up.
        at: Timestamp,
    },
    /// A cell was measured.
    CellDone {
        /// Results of the cell.
        record: Box<CellRecord>,
    },
    /// A result is doubtful.
    Warning {
        /// The warning.
        warning: Warning,
    },
    /// The run is over.
    Finished {
        /// How it ended.
        status: Status,
    },
}

/// A line of an event file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventLine<'a> {
    /// Time at which the event was reported.
    pub at: Timestamp,
    /// The event.
    #[serde(flatten)]
    pub event: &'a RunEvent,
}

impl JsonDocument for EventLine<'_> {
    const FORMAT: &'static str = "pgmeter-events/1";
}

/// Receives the events of a run. It must return quickly because the monitor waits for it.
pub trait Listener: FnMut(&RunEvent) {}

impl<F: FnMut(&RunEvent)> Listener for F {}
