//! Which targets a cell uses.

use std::collections::BTreeSet;

use super::{Cell, WorkerPlan};

impl Cell {
    /// Indexes of the targets that its workers use, each once, ascending: the order in which
    /// figures by target stand.
    pub fn target_indexes(&self) -> impl Iterator<Item = u32> + use<> {
        let spans = self.workers.iter().flat_map(|worker| &worker.spans);
        let all: BTreeSet<u32> = spans.map(|span| span.target_index).collect();
        all.into_iter()
    }

    /// Those of them that the workers of this process use; of work on files all, as workers may
    /// take what others made.
    pub fn own_target_indexes(&self) -> impl Iterator<Item = u32> + use<> {
        let is_own = |worker: &&WorkerPlan| self.work.is_acts() || self.is_own(worker);
        let workers = self.workers.iter().filter(is_own);
        let spans = workers.flat_map(|worker| &worker.spans);
        let own: BTreeSet<u32> = spans.map(|span| span.target_index).collect();
        own.into_iter()
    }
}
