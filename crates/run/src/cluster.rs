//! Runs that several processes share, from the point of view of the leader.

use std::sync::atomic::AtomicBool;

use plan::{Cell, Plan};
use results::{CellRecord, ClusterRecord, PreconditionRecord, RunEvent, Warning};

use crate::RunError;
use crate::stop_conditions::is_cut;

/// The processes that measure for the leader.
pub trait Cluster {
    /// Record of the processes.
    fn record(&self) -> ClusterRecord;

    /// Makes all processes prepare their targets for the plan; `run` is the name of the run.
    ///
    /// # Errors
    /// A process failed. Its files were then removed, or a warning lists them.
    fn prepare(
        &mut self,
        plan: &Plan,
        run: &str,
        watch: &mut ClusterWatch<'_>,
    ) -> Result<(), RunError>;

    /// Makes all processes measure a cell.
    ///
    /// # Errors
    /// A process was lost and the run cannot continue without it.
    fn measure(
        &mut self,
        cell: &Cell,
        watch: &mut ClusterWatch<'_>,
    ) -> Result<Vec<CellRecord>, RunError>;

    /// Makes all processes remove their files and end.
    fn finish(&mut self, watch: &mut ClusterWatch<'_>);
}

/// Resources that the run lends to the processes.
pub struct ClusterWatch<'a> {
    /// Receives events during the call.
    pub listener: &'a mut dyn FnMut(&RunEvent),
    /// Warnings for the record.
    pub warnings: Vec<Warning>,
    /// Preconditioning before a cell, by target of the plan, for all processes together.
    pub preconditions: Vec<PreconditionRecord>,
    /// Set by a signal handler to end the run.
    pub stop: &'a AtomicBool,
    /// Set by a signal handler to continue with the next cell.
    pub skip: &'a AtomicBool,
}

impl ClusterWatch<'_> {
    /// `true` if the current cell is to end early.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        is_cut(self.stop, Some(self.skip))
    }
}
