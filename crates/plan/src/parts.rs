//! Cells of a plan, and targets of a cell.

use std::collections::BTreeSet;

use super::{Cell, Plan, WorkerPlan};

impl Plan {
    /// The cell with this index; `None` if the plan has none.
    #[must_use]
    pub fn cell(&self, index: u32) -> Option<&Cell> {
        // A part of a plan lacks cells, so an index is a position only in a whole one.
        let at_its_position = self.cells.get(index as usize);
        let found = at_its_position.filter(|cell| cell.index == index);
        found.or_else(|| self.cells.iter().find(|cell| cell.index == index))
    }
}

impl Cell {
    /// Indexes of the targets that its workers use, each once, in ascending order. Results by
    /// target are stored in this order.
    pub fn target_indexes(&self) -> impl Iterator<Item = u32> + use<> {
        let spans = self.workers.iter().flat_map(|worker| &worker.spans);
        let all: BTreeSet<u32> = spans.map(|span| span.target_index).collect();
        all.into_iter()
    }

    /// Indexes of the targets that the workers of this process use. For work on many files these
    /// are all targets, because workers may use files that others created.
    pub fn own_target_indexes(&self) -> impl Iterator<Item = u32> + use<> {
        let is_own = |worker: &&WorkerPlan| self.work.is_acts() || self.is_own(worker);
        let workers = self.workers.iter().filter(is_own);
        let spans = workers.flat_map(|worker| &worker.spans);
        let own: BTreeSet<u32> = spans.map(|span| span.target_index).collect();
        own.into_iter()
    }
}
