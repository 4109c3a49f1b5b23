//! A cell: what a run measures at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::SteadyRule;

use crate::job::JobFiles;
use crate::program::Program;

use super::{CacheMode, CurvePart, EngineKind, OpenLoop, RingOptions, Work, WorkerPlan};

/// One measurement: a workload on targets at one queue depth with some workers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// 0-based, in the order of running.
    pub index: u32,
    /// `index` of the cell that this one repeats, its own in the first repetition; the parts of a
    /// response-time curve have that of their peak. None in plans from before it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_index: Option<u32>,
    /// Which of the plan's workloads it belongs to, 0-based; names may repeat. None in plans from
    /// before it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_index: Option<u32>,
    /// Name of the workload.
    pub workload: String,
    /// Name of the access specification, when all workers use the same.
    pub access_spec: Option<String>,
    /// Which engine issues the I/O.
    pub engine: EngineKind,
    /// How the page cache is used.
    pub cache: CacheMode,
    /// Requests each worker keeps in flight on each of its targets, as reported.
    pub iodepth: u32,
    /// 0-based.
    pub repetition: u32,
    /// Measured time in nanoseconds; 0 means until `operations` are done.
    pub run_time_ns: u64,
    /// Time before measuring, in nanoseconds.
    pub ramp_time_ns: u64,
    /// Stop after so many operations of all workers together, ramp not counted.
    pub operations: Option<u64>,
    /// The workers that take part.
    pub workers: Vec<WorkerPlan>,
    /// Engine options that not every engine has.
    pub ring: RingOptions,
    /// Read the targets into the page cache before, instead of dropping their pages.
    #[serde(default)]
    pub warm: bool,
    /// The test file is empty when the cell begins.
    #[serde(default, skip_serializing_if = "is_false")]
    pub new_file: bool,
    /// Requests begin when they are due; without it each follows the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<OpenLoop>,
    /// Which part of a response-time curve it is; the rate of a point is known when the peak is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<CurvePart>,
    /// One of several queue depths, of which those beyond the peak are left out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub find_depth: bool,
    /// The cell is measured in rounds of `run_time_ns` each until they are steady; without it,
    /// once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyRule>,
    /// How many times what the cell uses of each target is written before the run's first cell that
    /// uses it; none for not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition: Option<f64>,
    /// What its workers do.
    #[serde(flatten)]
    pub work: Work,
    /// The process whose workers alone are measured, where several share the run; none for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
}

impl Cell {
    /// Work of the workload of this name that begins at once and ends when it is done, each request
    /// following an earlier one, measured once. Planning changes the fields that differ.
    #[must_use]
    pub fn new(
        workload: impl Into<String>,
        (engine, cache): (EngineKind, CacheMode),
        work: Work,
        workers: Vec<WorkerPlan>,
    ) -> Self {
        let spans = workers.iter().flat_map(|worker| &worker.spans);
        let iodepth = spans.map(|span| span.iodepth).max().unwrap_or(1);
        Self {
            index: 0,
            first_index: None,
            workload_index: None,
            workload: workload.into(),
            access_spec: None,
            engine,
            cache,
            iodepth,
            repetition: 0,
            run_time_ns: 0,
            ramp_time_ns: 0,
            operations: None,
            workers,
            ring: RingOptions::default(),
            warm: false,
            new_file: false,
            rate: None,
            curve: None,
            find_depth: false,
            steady: None,
            precondition: None,
            work,
            rank: None,
        }
    }

    /// Threads of a worker that stand among `workers` as if each were one: the flows of work on
    /// many files that is at a queue depth and has one request in flight in each thread.
    #[must_use]
    pub fn threads_per_worker(&self) -> u32 {
        let spans = self.workers.iter().flat_map(|worker| &worker.spans);
        let is_flow = self.program().is_some() && spans.map(|it| it.iodepth).all(|it| it == 1);
        if is_flow { self.iodepth.max(1) } else { 1 }
    }

    /// The program that its workers carry out, if they work on many files.
    #[must_use]
    pub fn program(&self) -> Option<&Program> {
        self.work.program()
    }

    /// The files of its jobs, if its workers have jobs.
    #[must_use]
    pub fn job_files(&self) -> Option<&JobFiles> {
        self.work.job_files()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(value: &bool) -> bool {
    !value
}
