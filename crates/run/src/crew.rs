//! Runs that several processes share: how they begin together, and how the one that leads sees the
//! others.

use std::sync::atomic::AtomicBool;

use plan::{Cell, Plan};
use results::{CellRecord, CrewRecord, PreconditionRecord, RunEvent, Warning};

use crate::RunError;
use crate::cut::is_cut;

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
    /// What they wrote before a cell, by the targets of the plan, all of them together.
    pub preconditions: Vec<PreconditionRecord>,
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
