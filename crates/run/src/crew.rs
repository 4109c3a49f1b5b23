//! Runs that several processes share: how they begin together, and how the one that leads sees the
//! others.

use std::fmt::Debug;
use std::sync::atomic::AtomicBool;

use engine::TscClock;
use results::{CellRecord, CrewRecord, RunEvent, Warning};
use serde::{Deserialize, Serialize};
use workload::plan::{Cell, Plan};

use crate::RunError;
use crate::kit::is_cut;
use crate::session::{Finished, RunOptions, Session};

/// Where a process that shares a run agrees with the others on when to begin.
pub trait Meeting: Debug + Send + Sync {
    /// All workers here are ready. When they are to begin, in nanoseconds of this process's
    /// [clock](Member::clock), which may lie ahead; none where nobody begins any more.
    fn start(&self, stop: &AtomicBool) -> Option<u64>;

    /// What became of files here since the last time, for what became of them elsewhere: comes
    /// back when all processes are as far; none where nobody goes on.
    fn exchange(&self, news: Vec<FileNews>) -> Option<Vec<FileNews>>;

    /// Workers here have done so many rounds at most; `then` hears how many any has, once all
    /// processes have said so.
    fn level(&self, rounds: u64, then: HearRounds);

    /// The first of the workers here began at that time of the clock.
    fn begun(&self, begin_ns: u64);
}

/// Hears how many rounds any worker of all processes has done.
pub type HearRounds = Box<dyn FnOnce(u64) + Send>;

/// What became of some files of a fileset.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileNews {
    /// The number of the fileset.
    pub fileset: u32,
    /// The worker whose they are; none for those of all.
    pub worker: Option<u32>,
    /// The target that they are on; none where nothing is touched.
    pub target: Option<u32>,
    /// Files that were made: the first, how many follow each other, bytes of each.
    pub made: Vec<[u64; 3]>,
    /// Files that were removed: the first, how many follow each other.
    pub removed: Vec<[u64; 2]>,
}

/// The processes that measure in the place of the one that leads, as that one sees them.
pub trait Crew {
    /// Who they are.
    fn record(&self) -> CrewRecord;

    /// Has them make all targets ready for the plan of the run of that name.
    ///
    /// # Errors
    /// When one of them cannot; then what they had made is gone, or told of.
    fn prepare(
        &mut self,
        plan: &Plan,
        run: &str,
        watch: &mut CrewWatch<'_>,
    ) -> Result<(), RunError>;

    /// Has them measure a cell.
    ///
    /// # Errors
    /// When the run cannot go on without one that was lost.
    fn measure(
        &mut self,
        cell: &Cell,
        watch: &mut CrewWatch<'_>,
    ) -> Result<Vec<CellRecord>, RunError>;

    /// Has them remove what they made, and end.
    fn finish(&mut self, watch: &mut CrewWatch<'_>);
}

/// What the run lends to its crew.
pub struct CrewWatch<'a> {
    /// Hears what happens meanwhile.
    pub listener: &'a mut dyn FnMut(&RunEvent),
    /// Reasons to doubt, for the record.
    pub warnings: Vec<Warning>,
    /// Set from outside to end the run.
    pub stop: &'a AtomicBool,
    /// Set from outside to go on with the next cell.
    pub skip: &'a AtomicBool,
}

impl CrewWatch<'_> {
    /// Whether the cell at hand is to end before it is over.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        is_cut(self.stop, Some(self.skip))
    }
}

/// A process's part in a run that another leads.
pub struct Member<'a> {
    session: Session<'a>,
}

impl<'a> Member<'a> {
    /// Makes the targets ready.
    ///
    /// # Errors
    /// When they cannot be; what was made is gone, or told of as a warning.
    pub fn begin(
        plan: &'a Plan,
        options: &'a RunOptions,
        listener: &'a mut dyn FnMut(&RunEvent),
    ) -> Result<Self, RunError> {
        let mut session = Session::new(plan, options, listener);
        crate::preflight::try_engines(plan)?;
        let admitted = session.admit_all()?;
        match session.prepare_all(admitted) {
            Ok(()) => Ok(Self { session }),
            Err(error) => match session.finish(Err(error)).error {
                Some(error) => Err(error),
                None => Err(RunError::Stopped),
            },
        }
    }

    /// The clock of its workers.
    #[must_use]
    pub fn clock(&self) -> TscClock {
        self.session.clock.clone()
    }

    /// Measures its part of a cell, whose `rank` says which that is; what was measured, and an error
    /// when it could not go on.
    pub fn measure(&mut self, cell: &Cell) -> (Vec<CellRecord>, Result<(), RunError>) {
        let outcome = self.session.measure_cell(cell, None);
        (std::mem::take(&mut self.session.record.cells), outcome)
    }

    /// Removes what it made.
    #[must_use]
    pub fn finish(self) -> Finished {
        self.session.finish(Ok(()))
    }
}
