//! The streams of requests on many files.

use engine::OperationSet;
use generate::Generator;
use generate::pool::Play;
use generate::program::{Interpreter, Straight};
use generate::trace::Player;

/// A lane's generator, which may go on in the next stage.
pub(crate) enum FileRequests {
    Pool(Box<Play>),
    Program(Box<Interpreter>),
    Trace(Box<Player>),
}

impl FileRequests {
    /// The operations that may come.
    pub fn operations(&self) -> OperationSet {
        match self {
            Self::Pool(play) => play.operations(),
            Self::Program(interpreter) => interpreter.operations(),
            Self::Trace(player) => player.operations(),
        }
    }

    /// Files that stay open, at most; 0 where each is closed in its slot.
    pub fn kept_open_max(&self) -> u32 {
        match self {
            Self::Program(_) | Self::Trace(_) => 0,
            Self::Pool(play) => play.kept_open_max(),
        }
    }

    /// The names of the transaction kinds.
    pub fn transaction_kinds(&self) -> Vec<String> {
        match self {
            Self::Pool(play) => play.transaction_kinds(),
            Self::Program(interpreter) => interpreter.transaction_kinds(),
            Self::Trace(player) => player.transaction_kinds(),
        }
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
