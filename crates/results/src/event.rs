//! What happens in a run, as displays and stores see it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use plan::Cell;
use plan::program::PoolPart;

use crate::real::Real;
use crate::{
    CellRecord, IntervalRecord, Phase, PoolFailures, PoolFigures, RoundFigures, RunRecord, Status,
    SteadyVerdict, Warning,
};

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
#[non_exhaustive]
pub enum RunEvent {
    /// The run begins.
    Started {
        /// The record as it is now: with its id, the plan and the environment, without figures.
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
    /// What a cell made on a target is being removed.
    Cleanup {
        /// The target's path.
        target: String,
        /// Files and directories removed so far.
        removed: u64,
    },
    /// A cell begins.
    CellStarted {
        /// 0-based.
        index: u32,
        /// How many cells there are, as far as that is known.
        count: u32,
        /// The cell in a few words.
        what: String,
        /// Time until no more repetitions are begun, in nanoseconds, where they are added until
        /// figures are precise; none where `count` is known to be right.
        #[serde(default)]
        budget_left_ns: Option<u64>,
    },
    /// The cells of a further repetition, which are measured next, are added to the plan.
    CellsAdded {
        /// The cells, in the order of running.
        cells: Vec<Cell>,
        /// Each in a few words.
        whats: Vec<String>,
    },
    /// Current figures, several times a second.
    Progress {
        /// 0-based.
        cell: u32,
        /// Ramp or measure.
        phase: Phase,
        /// Time spent in the phase, in nanoseconds.
        elapsed_ns: u64,
        /// The phase's length in nanoseconds; 0 when not known.
        total_ns: u64,
        /// Operations per second, lately; not a number before there are any figures.
        #[serde(with = "Real")]
        iops: f64,
        /// Bytes per second, lately; not a number before there are any figures.
        #[serde(with = "Real")]
        bytes_per_second: f64,
        /// Median of the latency, lately, in nanoseconds.
        #[serde(default)]
        p50_ns: Option<u64>,
        /// 99th percentile of the latency, lately, in nanoseconds.
        p99_ns: Option<u64>,
        /// How many of these latencies lie from 2^i nanoseconds to below 2^(i+1), by i; empty where
        /// nothing is known.
        #[serde(default)]
        octaves: Vec<u64>,
        /// Failed operations of the cell so far.
        errors: u64,
    },
    /// A round of a cell that is measured until it is steady begins, or the last one is done.
    Round {
        /// 0-based.
        cell: u32,
        /// How many rounds are done.
        done: u32,
        /// After so many it is given up.
        rounds_max: u32,
        /// Whether the last ones are steady.
        verdict: SteadyVerdict,
        /// How far they lie apart, as a share of their mean; none before they fill a window.
        range_share: Option<f64>,
        /// How far the ends of the line fitted through them lie apart, as a share of their mean.
        excursion_share: Option<f64>,
    },
    /// A round of a phase is over that is repeated with others.
    RoundDone {
        /// 0-based.
        cell: u32,
        /// The name of the phase.
        phase: String,
        /// Its figures.
        figures: Box<RoundFigures>,
    },
    /// Another round would not fit into the file systems, which ends the rounds.
    Full {
        /// 0-based.
        cell: u32,
        /// For each worker that has no room, its target's path.
        targets: Vec<String>,
    },
    /// A part of what becomes of a pool of files begins.
    PoolPartBegun {
        /// 0-based.
        cell: u32,
        /// Which.
        part: PoolPart,
    },
    /// A part of what becomes of a pool of files is over.
    PoolPartDone {
        /// 0-based.
        cell: u32,
        /// Which.
        part: PoolPart,
        /// What became of it so far.
        figures: Box<PoolFigures>,
        /// What could not be done in this part.
        failures: Box<PoolFailures>,
    },
    /// An interval of measured time is complete.
    Interval {
        /// 0-based.
        cell: u32,
        /// Its figures.
        interval: IntervalRecord,
    },
    /// What a cell of jobs has done so far, where that is asked for.
    SoFar {
        /// Its figures, as if it had ended with the last whole interval.
        record: Box<CellRecord>,
        /// When they were added up.
        at: Timestamp,
    },
    /// A cell is measured.
    CellDone {
        /// Its figures.
        record: Box<CellRecord>,
    },
    /// There is a reason to doubt a figure.
    Warning {
        /// Which.
        warning: Warning,
    },
    /// The run is over.
    Finished {
        /// How it ended.
        status: Status,
    },
}

/// Whoever wants to know what happens in a run; must return soon, since the monitor waits for it.
pub trait Listener: FnMut(&RunEvent) {}

impl<F: FnMut(&RunEvent)> Listener for F {}
