//! The streams of requests on many files.

use engine::OperationSet;
use generate::Generator;
use generate::classics::Pass;
use generate::postmark::Play;

/// A lane's generator, which may go on in the next stage.
pub(crate) enum FileRequests {
    Pass(Pass),
    Postmark(Box<Play>),
}

impl FileRequests {
    /// The operations that may come.
    pub fn operations(&self) -> OperationSet {
        match self {
            Self::Pass(pass) => pass.operations(),
            Self::Postmark(play) => play.operations(),
        }
    }

    /// Files that stay open, at most; 0 where each is closed in its slot.
    pub fn kept_open_max(&self) -> u32 {
        match self {
            Self::Pass(_) => 0,
            Self::Postmark(play) => play.kept_open_max(),
        }
    }

    /// The names of the transaction kinds.
    pub fn transaction_kinds(&self) -> &'static [&'static str] {
        match self {
            Self::Pass(pass) => pass.transaction_kinds(),
            Self::Postmark(play) => play.transaction_kinds(),
        }
    }
}

impl From<Pass> for FileRequests {
    fn from(pass: Pass) -> Self {
        Self::Pass(pass)
    }
}

impl From<Play> for FileRequests {
    fn from(play: Play) -> Self {
        Self::Postmark(Box::new(play))
    }
}
