//! Part of one process in a run that another process leads.

use engine::TscClock;
use plan::{Cell, Plan};
use results::{CellRecord, PreconditionRecord, RunEvent};

use crate::RunError;
use crate::session::{Finished, RunOptions, Session};

/// Part of one process in a run that another process leads.
pub struct Member<'a> {
    session: Session<'a>,
    /// Number of preconditioned targets already reported.
    reported_count: usize,
}

impl<'a> Member<'a> {
    /// Prepares the targets.
    ///
    /// # Errors
    /// A target cannot be prepared. Its files were removed, or a warning lists them.
    pub fn begin(
        plan: &'a Plan,
        options: &'a RunOptions,
        listener: &'a mut dyn FnMut(&RunEvent),
    ) -> Result<Self, RunError> {
        let mut session = Session::new(plan, options, listener);
        crate::preflight::try_engines(plan)?;
        session.connect_peers()?;
        let admitted = session.admit_all()?;
        for warning in session.peers.warnings(plan) {
            session.warn(warning);
        }
        match session.prepare_all(admitted) {
            Ok(()) => Ok(Self {
                session,
                reported_count: 0,
            }),
            // `finish` removes what was prepared before the failure.
            Err(error) => match session.finish(Err(error)).error {
                Some(error) => Err(error),
                None => Err(RunError::Stopped),
            },
        }
    }

    /// Clock of the workers.
    #[must_use]
    pub fn clock(&self) -> TscClock {
        self.session.clock.clone()
    }

    /// Measures this process's part of a cell, which the cell's `rank` selects. Returns its
    /// records, and an error if it could not continue.
    pub fn measure(&mut self, cell: &Cell) -> (Vec<CellRecord>, Result<(), RunError>) {
        let outcome = self.session.measure_cell(cell, None);
        (std::mem::take(&mut self.session.record.cells), outcome)
    }

    /// Takes the preconditioning done before cells since the last call.
    pub fn preconditioned(&mut self) -> Vec<PreconditionRecord> {
        let records = &self.session.record.preconditions;
        let reported = std::mem::replace(&mut self.reported_count, records.len());
        records[reported..].to_vec()
    }

    /// Removes the files made here.
    #[must_use]
    pub fn finish(self) -> Finished {
        self.session.finish(Ok(()))
    }
}
