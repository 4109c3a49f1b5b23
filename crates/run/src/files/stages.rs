//! Stages of work on files: their workers and their results.

use std::collections::BTreeMap;

use engine::Operation;
use generate::program::TransactionUnit;
use plan::program::{PhaseEndAction, ProgramPhase};
use plan::{Cell, WorkerPlan};
use results::{CallTimes, CellRecord};
use stats::{Counter, Interval};
use storage::Tree;

use crate::file_requests::FileRequests;
use crate::file_task::FileTask;
use crate::lane::{Cursors, Lane};
use crate::measured::{MeasuredCell, MeasuredLane};

use super::started::{ProgramTimes, Programs};

/// One task of all workers, measured as a whole.
pub(super) struct Stage {
    /// Name of its phase; stages with the same name are added up.
    pub phase: String,
    /// Transactions of all workers; `None` if the number is not known.
    pub transactions: Option<u64>,
    /// Planned duration, in nanoseconds; 0 if its work ends it.
    pub time_ns: u64,
    /// Ramp time before the measurement, in nanoseconds.
    pub ramp_ns: u64,
    /// Number of workers, in all processes, that share the cell's rate; `None` if the rate does not
    /// apply to this stage.
    pub rate_workers: Option<u32>,
    /// `true` if the stage is measured in rounds, each as long as its phase, until they are steady.
    pub is_until_steady: bool,
    /// `true` if the stage is not part of the record.
    pub is_hidden: bool,
    pub work: StageWork,
}

pub(super) enum StageWork {
    /// Tasks of the workers, one each.
    Tasks(Vec<FileTask>),
    /// Programs, one per file.
    Exec(Programs),
}

/// Result of a stage.
pub(super) struct StageOutcome<'a> {
    /// Time until the last worker was done, in nanoseconds.
    pub time_ns: u64,
    /// The same time including the ramp.
    pub total_ns: u64,
    /// Agreed start of all processes, in nanoseconds of the clock; `None` unless several share the
    /// run.
    pub agreed_start_ns: Option<u64>,
    /// `true` if the stage was stopped before all was done. Its time is then meaningless.
    pub is_cut: bool,
    pub effort: StageEffort,
    /// Streams of the workers, for the next stage.
    pub requests: Vec<FileRequests>,
    /// Counters of each worker.
    pub lanes: &'a [MeasuredLane],
    /// CPU time of each worker in user mode and in the kernel, in nanoseconds.
    pub cpu: Vec<(u64, u64)>,
    /// Times of the programs, if programs did the work.
    pub programs: Option<&'a ProgramTimes>,
}

/// Transactions of a stage's workers, and the CPU time used.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StageEffort {
    /// Transactions that succeeded.
    pub count: u64,
    /// Transactions that failed.
    pub errors: u64,
    pub user_ns: u64,
    pub system_ns: u64,
}

impl StageEffort {
    /// Takes the transactions from `measured` and the CPU time from `usage`.
    pub fn of(measured: &MeasuredCell, usage: &CellRecord) -> Self {
        let spans = measured.lanes.iter().flat_map(|lane| &lane.spans);
        let kinds = || spans.clone().flat_map(|span| span.transactions());
        Self {
            count: kinds().map(Counter::count).sum(),
            errors: kinds().map(Counter::errors).sum(),
            user_ns: usage.cpu.user_ns,
            system_ns: usage.cpu.system_ns,
        }
    }
}

impl<'a> StageOutcome<'a> {
    /// Result of a stage of programs.
    pub fn from_programs(times: &'a ProgramTimes) -> Self {
        Self {
            programs: Some(times),
            is_cut: times.executed.is_stopped,
            ..Self::timed(times.executed.real_ns)
        }
    }

    /// Result of which only the time is known.
    pub fn timed(time_ns: u64) -> Self {
        Self {
            time_ns,
            total_ns: time_ns,
            agreed_start_ns: None,
            is_cut: false,
            effort: StageEffort::default(),
            requests: Vec::new(),
            lanes: &[],
            cpu: Vec::new(),
            programs: None,
        }
    }
}

/// Trees that contain the files of a cell.
#[derive(Default)]
pub(super) struct CellTrees {
    /// Trees by index of their target; empty with the `null` engine.
    pub trees: BTreeMap<u32, Tree>,
}

impl CellTrees {
    /// Tree of a worker; `None` with the `null` engine.
    pub fn of(&self, worker: &WorkerPlan) -> Option<&Tree> {
        let span = worker.spans.first()?;
        self.trees.get(&span.target_index)
    }

    /// First tree; `None` with the `null` engine.
    pub fn first(&self) -> Option<&Tree> {
        self.trees.values().next()
    }
}

/// Lane of a worker: one per worker, for any engine and any number of targets.
pub(super) fn lane(worker_index: usize, worker: &WorkerPlan) -> Lane {
    let mut plan = worker.clone();
    // Requests name files instead of spans, so all of them count for one span.
    plan.spans.truncate(1);
    Lane {
        worker_index,
        span_indexes: vec![0],
        plan,
        cursors: Cursors::Own(Vec::new()),
        pace: None,
        recorded: None,
        operations: None,
    }
}

/// Times of a lane's calls, by kind.
pub(super) fn call_times(counted: &Interval) -> impl Iterator<Item = (String, CallTimes)> {
    counted.operations().filter_map(|(index, counter)| {
        let operation = Operation::ALL.get(index)?;
        Some((operation.name().to_owned(), times_of(counter)?))
    })
}

/// Times of the counted calls; `None` if there were none.
fn times_of(counter: &Counter) -> Option<CallTimes> {
    let latency = counter.latency();
    Some(CallTimes {
        count: latency.count(),
        sum_ns: u64::try_from(latency.sum_ns()).unwrap_or(u64::MAX),
        min_ns: latency.min_ns()?,
        max_ns: latency.max_ns()?,
    })
}

/// Longest measured time of a stage's lanes, in nanoseconds.
pub(super) fn longest_ns(measured: &MeasuredCell) -> u64 {
    let times = measured.lanes.iter().map(|lane| lane.outcome.measured_ns);
    times.max().unwrap_or(0)
}

/// Time of a stage including the ramp before its measurement, in nanoseconds.
pub(super) fn with_ramp_ns(measured: &MeasuredCell, ramp_ns: u64) -> u64 {
    if ramp_ns == 0 {
        return longest_ns(measured);
    }
    let ends = measured.lanes.iter().map(|lane| lane.outcome.finish_ns);
    // All workers begin the ramp together, before the planned start of the measurement.
    let begin_ns = measured.measure_ns.saturating_sub(ramp_ns);
    ends.max().unwrap_or(0).saturating_sub(begin_ns)
}

/// Number of files that a worker uses at the same time.
pub(super) fn iodepth(worker: &WorkerPlan) -> u32 {
    worker.spans.first().map_or(1, |span| span.iodepth)
}

/// Unit of a transaction: the round that a rate applies to, if there is a rate or one to be found.
pub(super) fn unit(cell: &Cell) -> TransactionUnit {
    match (cell.rate, cell.curve) {
        (Some(_), _) => TransactionUnit::DueRound,
        (None, Some(_)) => TransactionUnit::Round,
        (None, None) => TransactionUnit::Declared,
    }
}

/// Time after which every worker of a phase stops, in nanoseconds; 0 if their work ends them.
pub(super) fn stop_ns(phase: &ProgramPhase) -> u64 {
    match phase.time_up {
        PhaseEndAction::Stop => phase.time_ns.unwrap_or(0),
        PhaseEndAction::Finish | PhaseEndAction::Level => 0,
    }
}
