//! The streams of requests on many files.

use engine::{Completion, OperationSet, Request};
use generate::pool::Play;
use generate::program::{Interpreter, Straight};
use generate::trace::Player;
use generate::{Backlog, DueQueue, Flow, Generator, OpenStream, Step};

/// A lane's generator, which may go on in the next stage.
pub(crate) enum FileRequests {
    Pool(Box<Play>),
    Program(Box<Interpreter>),
    Trace(Box<Player>),
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

    /// Tells it when its transactions are due, which begin then.
    pub fn begin_when_due(&mut self, queue: DueQueue) {
        match self {
            Self::Pool(play) => play.begin_when_due(queue),
            Self::Program(interpreter) => interpreter.begin_when_due(queue),
            Self::Trace(player) => player.begin_when_due(queue),
        }
    }

    /// Registers that the engine needs; none where it needs none.
    pub fn register_count(&self) -> Option<u8> {
        match self {
            Self::Pool(_) => None,
            Self::Program(interpreter) => Some(interpreter.register_count()),
            Self::Trace(player) => Some(player.register_count()),
        }
    }

    /// Files that stay open, at most; 0 where each is closed in its slot.
    pub fn kept_open_max(&self) -> u32 {
        match self {
            Self::Program(_) | Self::Trace(_) => 0,
            Self::Pool(play) => play.kept_open_max(),
        }
    }
}

/// Slower than the streams themselves: for those who wait for due times.
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

impl From<Play> for FileRequests {
    fn from(play: Play) -> Self {
        Self::Pool(Box::new(play))
    }
}

impl From<Interpreter> for FileRequests {
    fn from(interpreter: Interpreter) -> Self {
        Self::Program(Box::new(interpreter))
    }
}

impl From<Straight> for FileRequests {
    fn from(straight: Straight) -> Self {
        straight.into_interpreter().into()
    }
}

impl From<Player> for FileRequests {
    fn from(player: Player) -> Self {
        Self::Trace(Box::new(player))
    }
}
