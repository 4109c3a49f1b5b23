//! Which workers of a cell this process has, where several share it.

use super::{Cell, WorkerPlan};

impl Cell {
    /// Whether a worker is measured by this process.
    #[must_use]
    pub fn is_own(&self, worker: &WorkerPlan) -> bool {
        self.rank.is_none_or(|rank| rank == worker.rank)
    }

    /// The workers that this process measures, with their places among all.
    pub fn own_workers(&self) -> impl Iterator<Item = (usize, &WorkerPlan)> {
        let workers = self.workers.iter().enumerate();
        workers.filter(|(_, worker)| self.is_own(worker))
    }
}
