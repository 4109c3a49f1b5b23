//! One lane's thread: everything is chosen here, once, before the loop.

use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::{Fileset, OperationSet};
use plan::Cell;

use crate::RunError;
use crate::files::task::{self, FileTask};
use crate::jobs::task::{self as job_task, JobTask};
use crate::lane::Lane;
use crate::outcome::Outcome;
use crate::spans::{self, SpanTask};
use crate::start::Start;
use crate::thread::{pin, thread_cpu};

/// A lane with what it does.
pub(crate) struct Part {
    pub lane: Lane,
    pub task: Task,
    /// The operations that may come.
    pub operations: OperationSet,
    /// The names of the transaction kinds.
    pub transaction_kinds: Vec<String>,
}

/// What a lane does.
pub(crate) enum Task {
    /// Requests on one large file or device a target.
    Spans(Box<SpanTask>),
    /// Operations on many files.
    Files(Box<FileTask>),
    /// What a job does with its files.
    Job(Box<JobTask>),
}

impl Task {
    /// What must outlive the lane's thread: it may work on a descriptor table of its own, in which
    /// dropping files would close copies and leave these open.
    pub fn held(&self) -> Held {
        match self {
            Self::Spans(task) => Held::Files(Arc::clone(&task.lent)),
            Self::Files(task) => {
                Held::Fileset(task.field.as_ref().map(|field| Arc::clone(&field.fileset)))
            }
            Self::Job(_) => Held::Fileset(None),
        }
    }
}

/// What a lane's thread works on and does not close.
#[expect(dead_code, reason = "it is held and nothing else")]
pub(crate) enum Held {
    Files(Arc<[OwnedFd]>),
    Fileset(Option<Arc<Fileset>>),
}

/// What a lane's thread is given.
pub(crate) struct Kit<'a> {
    pub lane: &'a Lane,
    pub task: Task,
    pub cell: &'a Cell,
    pub start: Start<'a>,
}

/// Makes the engine, waits for the others, runs the loop. `None` when the gate said to abandon.
pub(crate) fn work(kit: Kit<'_>) -> Result<Option<Outcome>, RunError> {
    pin(kit.lane.plan.cpu)?;
    // Delays and waits otherwise end up to 50 us late. Where it cannot be set, they do.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let mut outcome = match kit.task {
        Task::Job(task) => match kit.lane.plan.job.as_deref() {
            Some(job) => job_task::work(*task, kit.lane, job, kit.start)?,
            None => None,
        },
        Task::Spans(task) => spans::work(*task, kit.lane, kit.cell, kit.start)?,
        Task::Files(task) => task::work(*task, kit.lane, kit.cell, kit.start)?,
    };
    if let Some(outcome) = &mut outcome {
        outcome.hand_over_rest();
        outcome.cpu_at_end = outcome.cpu_at_end.or_else(thread_cpu);
    }
    Ok(outcome)
}
