//! Which targets a cell uses.

use std::collections::BTreeSet;

use super::Cell;

impl Cell {
    /// Indexes of the targets that its workers use, each once, ascending: the order in which
    /// figures by target stand.
    pub fn target_indexes(&self) -> impl Iterator<Item = u32> + use<> {
        let spans = self.workers.iter().flat_map(|worker| &worker.spans);
        let all: BTreeSet<u32> = spans.map(|span| span.target_index).collect();
        all.into_iter()
    }
}
