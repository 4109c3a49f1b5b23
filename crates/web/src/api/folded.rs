//! Labs in the list of runs: each is one row.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use store::{FoldedLab, RunRow, Store, is_lab_tag};

use crate::answer::RefusedAnswer;
use crate::shared::Shared;

/// The lab of the queue that is running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunningLab {
    /// Tag of its runs.
    pub tag: String,
    /// Id of its entry in the queue.
    pub entry_id: String,
    /// Number of its runs when it has ended; null if unknown.
    pub expected_count: Option<u32>,
}

impl RunningLab {
    /// `None` if no lab of the queue is running, or its first run is not yet in the store.
    pub(crate) fn find(shared: &Shared, store: &Store) -> Option<Self> {
        let entry = shared.queue.active()?;
        let request = entry.lab?;
        Some(Self {
            tag: tag(&store.row(&entry.run_id?).ok()?)?.to_owned(),
            entry_id: entry.id,
            expected_count: request.run_count(),
        })
    }
}

/// The tag of a run's lab.
fn tag(run: &RunRow) -> Option<&str> {
    let tag = run.tags.iter().find(|tag| is_lab_tag(tag));
    tag.map(String::as_str)
}

/// The labs of these runs, each once.
pub(crate) fn of_runs(store: &Store, runs: &[RunRow]) -> Result<Vec<FoldedLab>, RefusedAnswer> {
    let tags: BTreeSet<&str> = runs.iter().filter_map(tag).collect();
    let labs = tags.into_iter().map(|tag| store.folded_lab(tag));
    let labs = labs.collect::<Result<Vec<_>, _>>()?;
    Ok(labs.into_iter().flatten().collect())
}
