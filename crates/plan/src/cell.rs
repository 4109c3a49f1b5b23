//! A cell: the unit of measurement of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::SteadyRule;

use crate::job::JobFiles;
use crate::program::Program;

use super::{CacheMode, CurvePart, EngineKind, OpenLoop, RingOptions, Work, WorkerPlan};

/// One measurement: a workload on its targets at one queue depth with a number of workers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// 0-based position in the order of running.
    pub index: u32,
    /// `index` of the cell that this one repeats; its own index in the first repetition. The parts
    /// of a response-time curve have the index of their peak. `None` in plans of versions before
    /// this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_index: Option<u32>,
    /// 0-based index of its workload in the plan; names may repeat. `None` in plans of versions
    /// before this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_index: Option<u32>,
    /// Name of the workload.
    pub workload: String,
    /// Name of the access specification, when all workers use the same.
    pub access_spec: Option<String>,
    /// Engine that issues the I/O.
    pub engine: EngineKind,
    /// Use of the page cache.
    pub cache: CacheMode,
    /// Requests that each worker keeps in flight on each of its targets, as shown in reports.
    pub iodepth: u32,
    /// 0-based number of the repetition.
    pub repetition: u32,
    /// Measured time in nanoseconds; 0 means until `operations` are done.
    pub run_time_ns: u64,
    /// Ramp time before the measurement, in nanoseconds.
    pub ramp_time_ns: u64,
    /// Stop after this many operations of all workers together, not counting the ramp.
    pub operations: Option<u64>,
    /// Workers of the cell.
    pub workers: Vec<WorkerPlan>,
    /// Options of the `io_uring` engine.
    pub ring: RingOptions,
    /// Read the targets into the page cache before the cell, instead of dropping their pages.
    #[serde(default)]
    pub warm: bool,
    /// The test file is empty when the cell starts.
    #[serde(default, skip_serializing_if = "is_false")]
    pub new_file: bool,
    /// Rate of an open loop; `None` for a closed loop, in which each request waits for the previous
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<OpenLoop>,
    /// Part of a response-time curve that the cell measures; the rate of a point is known once the
    /// peak is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<CurvePart>,
    /// The cell is one of several queue depths; depths beyond the best one are skipped.
    #[serde(default, skip_serializing_if = "is_false")]
    pub find_depth: bool,
    /// The cell is measured in rounds of `run_time_ns` each until they are steady; `None` for a
    /// single measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyRule>,
    /// Number of times the used part of each target is written before the run's first cell that
    /// uses it; `None` to write nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition: Option<f64>,
    /// Work of the workers.
    #[serde(flatten)]
    pub work: Work,
    /// Rank of the process whose workers are measured, if several processes share the run; `None`
    /// for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
}

impl Cell {
    /// A cell that starts immediately, ends when its work is done, runs as a closed loop and is
    /// measured once. Planning changes the fields that differ.
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

    /// `true` if a rate of the cell or of its job limits this worker.
    #[must_use]
    pub fn has_rate(&self, worker: &WorkerPlan) -> bool {
        let pace = worker.job.as_ref().map(|job| &job.stream.pace);
        self.rate.is_some()
            || self.curve.is_some_and(CurvePart::depends_on_peak)
            || pace.is_some_and(|pace| pace.read.is_some() || pace.write.is_some())
    }

    /// Number of threads per worker that are listed as separate `workers`: the flows of work on
    /// many files at a queue depth, if each thread has one request in flight.
    #[must_use]
    pub fn threads_per_worker(&self) -> u32 {
        let spans = self.workers.iter().flat_map(|worker| &worker.spans);
        // Planning lists such flows as workers with a depth of 1, and the cell keeps the depth.
        let is_flow = self.program().is_some() && spans.map(|it| it.iodepth).all(|it| it == 1);
        if is_flow { self.iodepth.max(1) } else { 1 }
    }

    /// The program of its workers, if they work on many files.
    #[must_use]
    pub fn program(&self) -> Option<&Program> {
        self.work.program()
    }

    /// The files of its jobs, if its workers run jobs.
    #[must_use]
    pub fn job_files(&self) -> Option<&JobFiles> {
        self.work.job_files()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(value: &bool) -> bool {
    !value
}
