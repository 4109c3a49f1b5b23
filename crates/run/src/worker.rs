//! One lane's thread. All choices are made here, once, before the loop.

use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::{Fileset, OperationSet};
use plan::Cell;

use crate::RunError;
use crate::file_task::{self, FileTask};
use crate::job_task::{self, JobTask};
use crate::lane::Lane;
use crate::outcome::WorkerOutcome;
use crate::spans::{self, SpanTask};
use crate::start::Start;
use crate::thread::{pin, thread_cpu};

pub(crate) struct LaneWork {
    pub lane: Lane,
    pub task: Task,
    /// Operations that the requests may have.
    pub operations: OperationSet,
    /// Names of the transaction kinds.
    pub transaction_kinds: Vec<String>,
}

pub(crate) enum Task {
    /// Requests on one large file or device per target.
    Spans(Box<SpanTask>),
    /// Operations on many files.
    Files(Box<FileTask>),
    /// A job's work on its files.
    Job(Box<JobTask>),
}

impl Task {
    /// Files that must outlive the lane's thread. The thread may have its own descriptor table, in
    /// which dropping files would close only copies and leave these open.
    pub fn held(&self) -> KeepAlive {
        match self {
            Self::Spans(task) => KeepAlive::Files(Arc::clone(&task.shared_files)),
            Self::Files(task) => KeepAlive::Fileset(
                task.open_fileset
                    .as_ref()
                    .map(|field| Arc::clone(&field.fileset)),
            ),
            Self::Job(_) => KeepAlive::Fileset(None),
        }
    }
}

/// Files that a lane's thread uses but does not close.
#[expect(dead_code, reason = "it is held and nothing else")]
pub(crate) enum KeepAlive {
    Files(Arc<[OwnedFd]>),
    Fileset(Option<Arc<Fileset>>),
}

/// State handed to a lane's thread.
pub(crate) struct LaneContext<'a> {
    pub lane: &'a Lane,
    pub task: Task,
    pub cell: &'a Cell,
    pub start: Start<'a>,
}

/// Creates the engine, waits for the other workers and runs the loop. `None` if the gate's signal
/// was to abandon the cell.
pub(crate) fn work(context: LaneContext<'_>) -> Result<Option<WorkerOutcome>, RunError> {
    pin(context.lane.plan.cpu)?;
    // The default timer slack would end delays and waits up to 50 µs late. If it cannot be set,
    // they are.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let mut outcome = match context.task {
        Task::Job(task) => match context.lane.plan.job.as_deref() {
            Some(job) => job_task::work(*task, context.lane, job, context.start)?,
            None => None,
        },
        Task::Spans(task) => spans::work(*task, context.lane, context.cell, context.start)?,
        Task::Files(task) => file_task::work(*task, context.lane, context.cell, context.start)?,
    };
    if let Some(outcome) = &mut outcome {
        outcome.hand_over_rest();
        outcome.cpu_at_end = outcome.cpu_at_end.or_else(thread_cpu);
    }
    Ok(outcome)
}
