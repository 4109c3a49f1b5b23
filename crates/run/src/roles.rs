//! Parts of a session that differ if other processes measure for this one, or this one for another.

use plan::Cell;
use results::{PreconditionRecord, target_indexes};

use crate::RunError;
use crate::cluster::{Cluster, ClusterWatch};
use crate::session::Session;
use crate::unwritten::{blank_files, blank_storage};

impl<'a> Session<'a> {
    /// Lets other processes measure.
    pub fn set_cluster(&mut self, cluster: &'a mut dyn Cluster) {
        let record = cluster.record();
        if let Some(first) = record.hosts.first() {
            // This machine does not measure, so the record describes the first host that does.
            self.record.environment = first.environment.clone();
        }
        self.record.cluster = Some(record);
        self.cluster = Some(cluster);
    }

    /// Prepares the targets for the cell; `false` if the run was stopped meanwhile.
    pub fn prepare_for(&mut self, cell: &Cell) -> Result<bool, RunError> {
        // First, because it changes the content of the targets and of the page cache.
        self.precondition(cell)?;
        if self.stopped() {
            return Ok(false);
        }
        for target_index in target_indexes(cell) {
            self.make_ready(target_index, cell)?;
        }
        let blank = blank_storage(self.plan, cell);
        for warning in blank.into_iter().chain(blank_files(&self.targets, cell)) {
            self.warn(warning);
        }
        Ok(true)
    }

    /// Lets the other processes measure a cell.
    pub fn measure_by_cluster(&mut self, cell: &Cell) -> Result<(), RunError> {
        let measured = self.with_cluster(|cluster, watch| cluster.measure(cell, watch));
        for record in measured.transpose()?.unwrap_or_default() {
            self.take(record);
        }
        Ok(())
    }

    /// Calls `act` with the other processes and stores their warnings; `None` without other
    /// processes.
    pub fn with_cluster<T>(
        &mut self,
        act: impl FnOnce(&mut dyn Cluster, &mut ClusterWatch<'_>) -> T,
    ) -> Option<T> {
        let cluster = self.cluster.as_deref_mut()?;
        let mut watch = ClusterWatch {
            listener: &mut *self.listener,
            warnings: Vec::new(),
            preconditions: Vec::new(),
            stop: &self.options.stop,
            skip: &self.options.skip,
        };
        let done = act(cluster, &mut watch);
        let ClusterWatch {
            warnings,
            preconditions,
            ..
        } = watch;
        // Added after the call, because `act` borrows the listener until then.
        for warning in warnings {
            self.warn(warning);
        }
        for written in preconditions {
            if let Some(target) = self.plan.targets.get(written.target_index as usize) {
                self.record.preconditions.push(PreconditionRecord {
                    target: target.path.display().to_string(),
                    ..written
                });
            }
        }
        Some(done)
    }

    /// Adds the warnings that concern the run as a whole.
    pub fn add_run_warnings(&mut self) {
        let record = &self.record;
        let short = results::short_run_warning(&record.plan, &record.cells);
        let load = results::load_warning(&record.environment, &record.cells);
        short.into_iter().chain(load).for_each(|it| self.warn(it));
    }
}
