//! Cells of jobs: workers that each have their own engine, files, pace and end.

mod files;
mod left;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{Operation, OperationSet};
use generate::job::{FlowTotal, GoalProgress, JobStream};
use generate::{ContentSource, Generator, RESPONSE_KINDS, Stripes, named};
use plan::job::{JobFiles, JobPlan};
use plan::{Cell, EngineKind, WorkerPlan};
use results::Warning;

use crate::RunError;
use crate::gate::{JobEnd, JobEndGuard};
use crate::job_task::{JobContent, JobTask};
use crate::lane::{Lane, job_lanes};
use crate::session::Session;
use crate::spans::{Contents, Verify};
use crate::targets::stamp_bytes;
use crate::worker::{LaneWork, Task};

impl Session<'_> {
    pub(crate) fn measure_jobs(&mut self, cell: &Cell, files: &JobFiles) -> Result<(), RunError> {
        self.make_job_files(cell, files)?;
        if self.precondition_jobs(cell, files)? {
            // Restores missing files and the page cache state that the cell requires.
            self.make_job_files(cell, files)?;
        }
        if files.is_layout_only || self.stopped() {
            return Ok(());
        }
        let warnings = RefCell::new(BTreeMap::new());
        let parts = self.job_parts(cell, files, &warnings)?;
        let warnings = warnings.into_inner().into_values().collect();
        self.measure_parts(cell, parts, None, warnings)?;
        self.note_stamps(cell, files)?;
        self.remove_job_files(files)
    }

    /// Lanes of all jobs, with the work of each.
    pub(crate) fn job_parts(
        &self,
        cell: &Cell,
        files: &JobFiles,
        warnings: &RefCell<BTreeMap<u32, Warning>>,
    ) -> Result<Vec<LaneWork>, RunError> {
        let verified = cell.workers.iter().any(|worker| worker.verify);
        let block_bytes = match verified {
            true => Some(stamp_bytes(self.plan)?),
            false => None,
        };
        // Only verified reads need these locks.
        let stripes: Vec<Stripes> = match cell.workers.iter().any(is_checked) {
            true => files.files.iter().map(|_| Stripes::default()).collect(),
            false => Vec::new(),
        };
        let lanes = job_lanes(cell)?;
        let ends: Vec<(usize, Arc<JobEnd>)> = lanes
            .iter()
            .map(|lane| (lane.worker_index, Arc::default()))
            .collect();
        let mut flows: BTreeMap<u32, Arc<FlowTotal>> = BTreeMap::new();
        let part = |(index, lane): (usize, Lane)| {
            let worker = lane.plan.clone();
            let Some(job) = worker.job.as_deref() else {
                return Ok(None);
            };
            let stream = JobStream::new(job, worker.seed)?;
            let operations = stream.operations();
            let stamps = block_bytes.filter(|_| worker.verify);
            let verify = stamps.map(|block_bytes| Verify {
                file_seeds: self.job_seeds(job, files),
                block_bytes,
                stripes: parts_of(job, &stripes),
            });
            let source = ContentSource::new(&worker.content)?;
            Ok(Some(LaneWork {
                operations,
                transaction_kinds: match &lane.pace {
                    Some(_) => named(RESPONSE_KINDS),
                    None => stream.transaction_kinds(),
                },
                task: Task::Job(Box::new(JobTask {
                    files: self.open_all(cell, (job, files), operations, warnings)?,
                    names: match job.names.filter(|_| job.engine != EngineKind::Null) {
                        Some(_) => Some(Arc::new(self.names_of(job, files)?)),
                        None => None,
                    },
                    stream,
                    request_log: None,
                    split: None,
                    progress: (!job.goals.is_empty()).then(|| {
                        let flow = job.goals.flow.as_ref();
                        let flow = flow.map(|it| Arc::clone(flows.entry(it.group).or_default()));
                        Arc::new(GoalProgress::new(flow))
                    }),
                    predecessors: before(job, &ends),
                    end: Some(JobEndGuard(Arc::clone(&ends[index].1))),
                    own_content: own_content(&source, &worker, job, &stripes)?,
                    contents: Contents { source, verify },
                })),
                lane,
            }))
        };
        let parts = lanes.into_iter().enumerate().map(part);
        parts.filter_map(Result::transpose).collect()
    }

    fn open_all(
        &self,
        cell: &Cell,
        (job, files): (&JobPlan, &JobFiles),
        operations: OperationSet,
        warnings: &RefCell<BTreeMap<u32, Warning>>,
    ) -> Result<Vec<std::os::fd::OwnedFd>, RunError> {
        if job.engine == EngineKind::Null || job.names.is_some() {
            return Ok(Vec::new());
        }
        // To allocate space, the kernel needs a file that is open for writing, also for a read.
        let writes = operations.contains(Operation::Write)
            || operations.contains(Operation::Trim)
            || job.space.is_some();
        // A shared mapping that is written to needs read access too.
        let reads = operations.contains(Operation::Read) || job.engine == EngineKind::Mmap;
        let open = |part: &plan::job::JobFile| {
            let file = &files.files[part.file_index as usize];
            self.open_job_file(cell, (job, file), (reads, writes), warnings)
        };
        job.files.iter().map(open).collect()
    }
}

/// Ends of other jobs that a job waits for; `ends` has the worker and the end of each lane.
fn before(job: &JobPlan, ends: &[(usize, Arc<JobEnd>)]) -> Vec<Arc<JobEnd>> {
    let Some(after) = job.after else {
        return Vec::new();
    };
    let first = after.first_index as usize;
    let workers = first..first + after.count as usize;
    let before = ends.iter().filter(|(worker, _)| workers.contains(worker));
    before.map(|(_, end)| Arc::clone(end)).collect()
}

/// `true` if the worker checks what it reads, so that no read may overlap a write in flight.
fn is_checked(worker: &WorkerPlan) -> bool {
    let job = worker.job.as_deref();
    worker.verify || job.is_some_and(|it| it.check.is_some())
}

/// Content of the job itself, if it has a pattern or headers.
fn own_content(
    source: &ContentSource,
    worker: &WorkerPlan,
    job: &JobPlan,
    stripes: &[Stripes],
) -> Result<Option<JobContent>, RunError> {
    let content = source.checked(job, worker.seed)?;
    Ok(content.map(|content| JobContent {
        stripes: job.check.map(|_| parts_of(job, stripes)),
        content,
    }))
}

fn parts_of(job: &JobPlan, stripes: &[Stripes]) -> Vec<Stripes> {
    let files = job.files.iter();
    files
        .map(|part| stripes[part.file_index as usize].clone())
        .collect()
}
