//! Parts of a session that differ if other processes measure for this one, or this one for another.

use plan::Cell;
use results::{PreconditionRecord, target_indexes};

use crate::RunError;
use crate::blank::{blank_files, blank_storage};
use crate::crew::{Crew, CrewWatch};
use crate::session::Session;

impl<'a> Session<'a> {
    /// Lets other processes measure.
    pub fn set_crew(&mut self, crew: &'a mut dyn Crew) {
        let record = crew.record();
        if let Some(first) = record.hosts.first() {
            // This machine does not measure, so the record describes the first host that does.
            self.record.environment = first.environment.clone();
        }
        self.record.crew = Some(record);
        self.crew = Some(crew);
    }

    /// Prepares the targets for the cell; `false` if the run was stopped meanwhile.
    pub fn is_ready_for(&mut self, cell: &Cell) -> Result<bool, RunError> {
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
    pub fn measure_by_crew(&mut self, cell: &Cell) -> Result<(), RunError> {
        let measured = self.with_crew(|crew, watch| crew.measure(cell, watch));
        for record in measured.transpose()?.unwrap_or_default() {
            self.take(record);
        }
        Ok(())
    }

    /// Calls `act` with the other processes and stores their warnings; `None` without other
    /// processes.
    pub fn with_crew<T>(
        &mut self,
        act: impl FnOnce(&mut dyn Crew, &mut CrewWatch<'_>) -> T,
    ) -> Option<T> {
        let crew = self.crew.as_deref_mut()?;
        let mut watch = CrewWatch {
            listener: &mut *self.listener,
            warnings: Vec::new(),
            preconditions: Vec::new(),
            stop: &self.options.stop,
            skip: &self.options.skip,
        };
        let done = act(crew, &mut watch);
        let CrewWatch {
            warnings,
            preconditions,
            ..
        } = watch;
        // Added after the call, because the listener is lent to `act` until then.
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
    pub fn doubt_all(&mut self) {
        let record = &self.record;
        let short = results::doubt_short(&record.plan, &record.cells);
        let load = results::doubt_load(&record.environment, &record.cells);
        short.into_iter().chain(load).for_each(|it| self.warn(it));
    }
}
