//! A process's part in a run that another leads.

use engine::TscClock;
use plan::{Cell, Plan};
use results::{CellRecord, PreconditionRecord, RunEvent};

use crate::RunError;
use crate::session::{Finished, RunOptions, Session};

/// A process's part in a run that another leads.
pub struct Member<'a> {
    session: Session<'a>,
    /// How many preconditioned targets have been reported.
    told_count: usize,
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
        session.find_peers()?;
        let admitted = session.admit_all()?;
        for doubt in session.peers.doubts(plan) {
            session.warn(doubt);
        }
        match session.prepare_all(admitted) {
            Ok(()) => Ok(Self {
                session,
                told_count: 0,
            }),
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

    /// Measures its part of a cell, whose `rank` says which that is; what was measured, and an
    /// error when it could not go on.
    pub fn measure(&mut self, cell: &Cell) -> (Vec<CellRecord>, Result<(), RunError>) {
        let outcome = self.session.measure_cell(cell, None);
        (std::mem::take(&mut self.session.record.cells), outcome)
    }

    /// What was written before cells were measured, since this was asked last.
    pub fn preconditioned(&mut self) -> Vec<PreconditionRecord> {
        let known = &self.session.record.preconditions;
        let told = std::mem::replace(&mut self.told_count, known.len());
        known[told..].to_vec()
    }

    /// Removes what it made.
    #[must_use]
    pub fn finish(self) -> Finished {
        self.session.finish(Ok(()))
    }
}
