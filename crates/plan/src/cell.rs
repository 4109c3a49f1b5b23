//! How a cell is made, and what it is asked.

use crate::job::JobFiles;
use crate::program::Program;

use super::{CacheMode, Cell, EngineKind, RingOptions, Work, WorkerPlan};

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
