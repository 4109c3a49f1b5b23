//! Results of complete runs, kept between two scrapes of the metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use store::{CellView, RunRow, Store, StoreError};

/// Results of complete runs, by id. They do not change any more.
#[derive(Debug, Default)]
pub(crate) struct MetricsCache(Mutex<BTreeMap<String, Arc<Vec<CellView>>>>);

impl MetricsCache {
    /// The cells of these runs. Other runs are forgotten.
    pub fn cells(
        &self,
        store: &Store,
        runs: &[RunRow],
    ) -> Result<Vec<Arc<Vec<CellView>>>, StoreError> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ids: BTreeSet<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        cached.retain(|id, _| ids.contains(id.as_str()));
        let mut found = Vec::new();
        for run in runs {
            let cells = match cached.get(&run.id) {
                Some(cells) => Arc::clone(cells),
                None => Arc::new(store.cells(&run.id)?),
            };
            cached.insert(run.id.clone(), Arc::clone(&cells));
            found.push(cells);
        }
        Ok(found)
    }
}
