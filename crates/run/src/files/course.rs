//! Stages of work on files: who does what, and what it came to.

use std::collections::BTreeMap;

use engine::Operation;
use plan::WorkerPlan;
use results::{CallTimes, CellRecord};
use stats::{Counter, Interval};
use target::Tree;

use crate::lane::{Cursors, Lane};
use crate::measured::{Measured, MeasuredLane};

use super::requests::FileRequests;
use super::started::{ProgramTimes, Programs};
use super::task::FileTask;

/// One thing that all workers do, measured as a whole.
pub(super) struct Stage {
    /// The phase that it is part of; stages of the same name are added up.
    pub phase: String,
    /// Transactions of all workers, where they are known.
    pub transactions: Option<u64>,
    /// How long it is to take, in nanoseconds; 0 where it ends by itself.
    pub time_ns: u64,
    /// Time before that which does not count, in nanoseconds.
    pub ramp_ns: u64,
    /// The workers of all processes that share the cell's rate; none where that is not of this
    /// stage.
    pub rate_workers: Option<u32>,
    /// Whether it is measured in rounds, each as long as its phase, until they are steady.
    pub is_until_steady: bool,
    /// Whether it is kept out of the record.
    pub is_hidden: bool,
    pub work: Work,
}

/// Who works in a stage.
pub(super) enum Work {
    /// The workers, one task each.
    Tasks(Vec<FileTask>),
    /// Programs, one a file.
    Exec(Programs),
}

/// What a stage came to.
pub(super) struct Done<'a> {
    /// How long it took, in nanoseconds: until the last worker was done.
    pub time_ns: u64,
    /// The same with the ramp before it.
    pub whole_ns: u64,
    /// When all processes were to begin, in nanoseconds of the clock, where several share the run.
    pub since_ns: Option<u64>,
    /// Whether it was stopped before all was done: its time says nothing of the whole.
    pub is_cut: bool,
    pub effort: Effort,
    /// The streams of the workers, to go on with.
    pub requests: Vec<FileRequests>,
    /// What was counted of each worker.
    pub lanes: &'a [MeasuredLane],
    /// Processor time of each worker, in user mode and in the kernel, in nanoseconds.
    pub cpu: Vec<(u64, u64)>,
    /// What programs took.
    pub programs: Option<&'a ProgramTimes>,
}

/// What a stage's workers did, and what that took of the processor.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Effort {
    /// Transactions that succeeded.
    pub count: u64,
    /// Transactions that failed.
    pub errors: u64,
    pub user_ns: u64,
    pub system_ns: u64,
}

impl Effort {
    /// What was measured, and the processor time that its record holds.
    pub fn of(measured: &Measured, usage: &CellRecord) -> Self {
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

impl<'a> Done<'a> {
    /// What programs did.
    pub fn by_programs(times: &'a ProgramTimes) -> Self {
        Self {
            programs: Some(times),
            is_cut: times.executed.is_stopped,
            ..Self::timed(times.executed.real_ns)
        }
    }

    /// What took that long, and no more is known of it.
    pub fn timed(time_ns: u64) -> Self {
        Self {
            time_ns,
            whole_ns: time_ns,
            since_ns: None,
            is_cut: false,
            effort: Effort::default(),
            requests: Vec::new(),
            lanes: &[],
            cpu: Vec::new(),
            programs: None,
        }
    }
}

/// The trees in which the files of a cell lie.
#[derive(Default)]
pub(super) struct Grounds {
    /// By the index of their target; none with the `null` engine.
    pub trees: BTreeMap<u32, Tree>,
}

impl Grounds {
    /// The tree of a worker; none with the `null` engine.
    pub fn of(&self, worker: &WorkerPlan) -> Option<&Tree> {
        let span = worker.spans.first()?;
        self.trees.get(&span.target_index)
    }

    /// The first tree; none with the `null` engine.
    pub fn first(&self) -> Option<&Tree> {
        self.trees.values().next()
    }
}

/// The lane of a worker: one for each, whatever the engine and on however many targets.
pub(super) fn lane(worker_index: usize, worker: &WorkerPlan) -> Lane {
    let mut plan = worker.clone();
    plan.spans.truncate(1);
    Lane {
        worker_index,
        span_indexes: vec![0],
        plan,
        cursors: Cursors::Own(Vec::new()),
        pace: None,
        operations: None,
    }
}

/// Times of the calls that a lane counted, by kind.
pub(super) fn call_times(counted: &Interval) -> impl Iterator<Item = (String, CallTimes)> {
    counted.operations().filter_map(|(index, counter)| {
        let operation = Operation::ALL.get(index)?;
        Some((operation.name().to_owned(), times_of(counter)?))
    })
}

/// Times of what was counted; none where there was nothing.
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
pub(super) fn longest_ns(measured: &Measured) -> u64 {
    let times = measured.lanes.iter().map(|lane| lane.outcome.measured_ns);
    times.max().unwrap_or(0)
}

/// How long a stage took with the ramp before its measurement, in nanoseconds.
pub(super) fn with_ramp_ns(measured: &Measured, ramp_ns: u64) -> u64 {
    if ramp_ns == 0 {
        return longest_ns(measured);
    }
    let ends = measured.lanes.iter().map(|lane| lane.outcome.finish_ns);
    let begin_ns = measured.measure_ns.saturating_sub(ramp_ns);
    ends.max().unwrap_or(0).saturating_sub(begin_ns)
}

/// Files worked on at once by a worker.
pub(super) fn iodepth(worker: &WorkerPlan) -> u32 {
    worker.spans.first().map_or(1, |span| span.iodepth)
}
