//! Streams of requests on many files.

use engine::{Completion, OperationSet, Request};
use generate::job::RequestLogger;
use generate::pool::PoolRun;
use generate::program::{FastPath, Interpreter};
use generate::trace::TracePlayer;
use generate::{Backlog, DueQueue, Flow, Generator, OpenStream, Step};

/// Generator of a lane, which may continue in the next stage.
pub(crate) enum FileRequests {
    Pool(Box<PoolRun>),
    Program(Box<Interpreter>),
    Trace(Box<TracePlayer>),
}

impl FileRequests {
    fn stream(&self) -> &dyn OpenStream {
        match self {
            Self::Pool(play) => &**play,
            Self::Program(interpreter) => &**interpreter,
            Self::Trace(player) => &**player,
        }
    }

    fn stream_mut(&mut self) -> &mut dyn OpenStream {
        match self {
            Self::Pool(play) => &mut **play,
            Self::Program(interpreter) => &mut **interpreter,
            Self::Trace(player) => &mut **player,
        }
    }

    /// Sets the due times of its transactions, which then start when they are due.
    pub fn set_due_queue(&mut self, queue: DueQueue) {
        match self {
            Self::Pool(play) => play.set_due_queue(queue),
            Self::Program(interpreter) => interpreter.set_due_queue(queue),
            Self::Trace(player) => player.set_due_queue(queue),
        }
    }

    /// Number of registers that the engine needs; `None` for pools, whose engine has none.
    pub fn register_count(&self) -> Option<u8> {
        match self {
            Self::Pool(_) => None,
            Self::Program(interpreter) => Some(interpreter.register_count()),
            Self::Trace(player) => Some(player.register_count()),
        }
    }

    /// Maximum number of files that stay open; 0 if each is closed in its slot.
    pub fn kept_open_max(&self) -> u32 {
        match self {
            Self::Program(_) | Self::Trace(_) => 0,
            Self::Pool(play) => play.kept_open_max(),
        }
    }
}

/// Slower than the streams themselves, for loops that wait for due times.
impl Generator for FileRequests {
    fn operations(&self) -> OperationSet {
        self.stream().operations()
    }

    fn transaction_kinds(&self) -> Vec<String> {
        self.stream().transaction_kinds()
    }

    fn enter(&mut self) -> bool {
        self.stream_mut().enter()
    }

    fn begin(&mut self) {
        self.stream_mut().begin();
    }

    fn leave(&mut self) -> bool {
        self.stream_mut().leave()
    }

    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        self.stream_mut().next(slot, now_ns)
    }

    fn expected_bytes(&self, request: &Request, result: i32) -> u32 {
        self.stream().expected_bytes(request, result)
    }

    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        self.stream_mut().complete(completion, now_ns)
    }
}

impl OpenStream for FileRequests {
    fn close(&mut self, end_ns: u64) {
        self.stream_mut().close(end_ns);
    }

    fn backlog(&self) -> Option<Backlog> {
        self.stream().backlog()
    }
}

impl From<PoolRun> for FileRequests {
    fn from(play: PoolRun) -> Self {
        Self::Pool(Box::new(play))
    }
}

impl From<Interpreter> for FileRequests {
    fn from(interpreter: Interpreter) -> Self {
        Self::Program(Box::new(interpreter))
    }
}

impl From<RequestLogger<Interpreter>> for FileRequests {
    fn from(logger: RequestLogger<Interpreter>) -> Self {
        // The log ends here. The next stage has its own.
        logger.into_inner().into()
    }
}

impl From<FastPath> for FileRequests {
    fn from(straight: FastPath) -> Self {
        // The next stage decides again whether it has a fast path.
        straight.into_interpreter().into()
    }
}

impl From<TracePlayer> for FileRequests {
    fn from(player: TracePlayer) -> Self {
        Self::Trace(Box::new(player))
    }
}
