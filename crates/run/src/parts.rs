//! Lanes of a cell that works on one large file or device per target, with their work.

use std::sync::Arc;

use engine::OperationSet;
use network::Peer;
use plan::{Cell, EngineKind};

use crate::RunError;
use crate::lane::{Lane, lanes};
use crate::spans::{Contents, SpanTask};
use crate::targets::OpenFile;
use crate::worker::{LaneWork, Task};

/// Sources of the files and contents of a cell's lanes.
pub(crate) struct Sources<'a> {
    pub seed: u64,
    pub target_count: usize,
    /// Opens the target with this index for a lane with these operations.
    pub open: &'a dyn Fn(u32, OperationSet) -> Result<OpenFile, RunError>,
    /// TCP peer of the target with this index.
    pub peer: &'a dyn Fn(u32) -> Option<Arc<Peer>>,
    pub contents: &'a dyn Fn(&Lane) -> Contents,
}

/// Lanes of a cell, with the work of each.
pub(crate) fn parts(cell: &Cell, sources: &Sources<'_>) -> Result<Vec<LaneWork>, RunError> {
    let lanes = lanes(cell, sources.seed, sources.target_count)?;
    lanes
        .into_iter()
        .map(|lane| part(cell, lane, sources))
        .collect()
}

fn part(cell: &Cell, lane: Lane, sources: &Sources<'_>) -> Result<LaneWork, RunError> {
    let requests = lane.requests()?;
    let (operations, transaction_kinds) = lane.announced(&requests);
    let spans = match cell.engine {
        EngineKind::Null => &[],
        _ => lane.plan.spans.as_slice(),
    };
    let mut files = Vec::with_capacity(spans.len());
    let (mut reopen, mut peers) = (Vec::new(), Vec::new());
    for span in spans {
        if lane.plan.network {
            let peer = (sources.peer)(span.target_index);
            peers.push(peer.expect("every peer of a cell was found before the run"));
            continue;
        }
        let opened = (sources.open)(span.target_index, operations)?;
        files.push(opened.file);
        reopen.extend(opened.reopen);
    }
    // Threads that make a system call per request use their own descriptor tables, unless they
    // close and open files themselves.
    let thread_files = match cell.engine {
        EngineKind::Psync if reopen.is_empty() => std::mem::take(&mut files).into(),
        _ => Arc::default(),
    };
    let contents = (sources.contents)(&lane);
    Ok(LaneWork {
        task: Task::Spans(Box::new(SpanTask {
            requests,
            files,
            shared_files: thread_files,
            reopen,
            peers,
            contents,
        })),
        operations,
        transaction_kinds,
        lane,
    })
}
