//! One lane's thread: everything is chosen here, once, before the loop.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;

use engine::{Fileset, OperationSet, TscClock};
use results::EngineNotes;
use workload::plan::Cell;

use crate::RunError;
use crate::batch::Batch;
use crate::cell::Ready;
use crate::files::{self, FileTask};
use crate::gate::{Gate, Signal};
use crate::lane::Lane;
use crate::recorder::{Counting, Outbox, Outcome, Recorder, Sample, Schedule};
use crate::spans::{self, SpanTask};

/// A lane with what it does.
pub(crate) struct Part {
    pub lane: Lane,
    pub task: Task,
    /// The operations that may come.
    pub operations: OperationSet,
    /// The names of the transaction kinds.
    pub transaction_kinds: &'static [&'static str],
}

/// What a lane does.
pub(crate) enum Task {
    /// Requests on one large file or device a target.
    Spans(Box<SpanTask>),
    /// Operations on many files.
    Files(Box<FileTask>),
}

impl Task {
    /// The files, which must outlive the lane's thread: it may work on a descriptor table of its
    /// own, in which dropping them would close copies and leave these open.
    pub fn fileset(&self) -> Option<Arc<Fileset>> {
        match self {
            Self::Spans(_) => None,
            Self::Files(task) => task.field.as_ref().map(|field| Arc::clone(&field.fileset)),
        }
    }
}

/// What a lane's thread is given.
pub(crate) struct Kit<'a> {
    pub lane: &'a Lane,
    pub task: Task,
    pub cell: &'a Cell,
    pub start: Start<'a>,
}

/// How a thread takes part in the start.
pub(crate) struct Start<'a> {
    pub sample: Box<Sample>,
    pub outbox: Outbox,
    /// Without the start, which the gate tells.
    pub schedule: Schedule,
    pub clock: TscClock,
    pub batch: Batch,
    pub gate: &'a Gate,
    pub stop: Arc<AtomicBool>,
    /// Told once, when the thread can begin; dropped without a word when it cannot.
    pub ready: Sender<Ready>,
}

impl Start<'_> {
    /// Waits for the others. `None` when the gate said to abandon.
    pub fn begin(mut self, notes: EngineNotes, counting: Counting) -> Option<Recorder> {
        let thread_id = thread_id();
        // Nobody listens any more once another thread has failed; the gate tells.
        let _ = self.ready.send(Ready { notes, thread_id });
        drop(self.ready);
        let Signal::Start { start_ns } = self.gate.wait() else {
            return None;
        };
        self.schedule.start_ns = start_ns;
        let recorder = Recorder::new(self.sample, self.outbox, self.schedule, self.stop, counting);
        Some(recorder)
    }
}

/// Makes the engine, waits for the others, runs the loop. `None` when the gate said to abandon.
pub(crate) fn work(kit: Kit<'_>) -> Result<Option<Outcome>, RunError> {
    pin(kit.lane.plan.cpu)?;
    // Delays and waits otherwise end up to 50 us late. Where it cannot be set, they do.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let mut outcome = match kit.task {
        Task::Spans(task) => spans::work(*task, kit.lane, kit.cell, kit.start)?,
        Task::Files(task) => files::work(*task, kit.lane, kit.cell, kit.start)?,
    };
    if let Some(outcome) = &mut outcome {
        outcome.hand_over_rest();
        outcome.cpu_at_end = outcome.cpu_at_end.or_else(thread_cpu);
    }
    Ok(outcome)
}

/// Processor time of the calling thread so far.
pub(crate) fn thread_cpu() -> Option<target::CpuSample> {
    target::CpuSample::of_thread_id(thread_id())
}

fn thread_id() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

fn pin(cpu: Option<u32>) -> Result<(), RunError> {
    let Some(cpu) = cpu else { return Ok(()) };
    let mut set = rustix::thread::CpuSet::new();
    let limit = rustix::thread::CpuSet::MAX_CPU as u32;
    if cpu < limit {
        set.set(cpu as usize);
    }
    rustix::thread::sched_setaffinity(None, &set).map_err(|errno| RunError::System {
        what: format!("run a worker on CPU {cpu}"),
        source: errno.into(),
    })
}

pub(crate) fn ring_notes(setup: &engine::RingSetup) -> EngineNotes {
    let names = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_owned()).collect();
    EngineNotes {
        ring: Some(results::RingSetup {
            flags: names(&setup.granted),
            missing: names(&setup.refused),
            registered_ring: setup.registered_ring,
            registered_files: true,
            registered_buffers: true,
        }),
        notes: setup.notes(),
    }
}
