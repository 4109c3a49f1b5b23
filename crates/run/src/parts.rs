//! The lanes of a cell that works on one large file or device a target, with what each does.

use std::sync::Arc;

use engine::OperationSet;
use network::Peer;
use plan::{Cell, EngineKind};

use crate::RunError;
use crate::lane::{Lane, lanes};
use crate::spans::{Contents, SpanTask};
use crate::targets::OpenFile;
use crate::worker::{Part, Task};

/// Where the lanes of a cell find their files and what is in them.
pub(crate) struct Sources<'a> {
    pub seed: u64,
    pub target_count: usize,
    /// Opens the target with this index for a lane that does these operations.
    pub open: &'a dyn Fn(u32, OperationSet) -> Result<OpenFile, RunError>,
    /// The TCP peer that the target with this index is.
    pub peer: &'a dyn Fn(u32) -> Option<Arc<Peer>>,
    /// The contents of a lane.
    pub contents: &'a dyn Fn(&Lane) -> Contents,
}

/// The lanes of a cell with what each does.
pub(crate) fn parts(cell: &Cell, sources: &Sources<'_>) -> Result<Vec<Part>, RunError> {
    let lanes = lanes(cell, sources.seed, sources.target_count)?;
    lanes
        .into_iter()
        .map(|lane| part(cell, lane, sources))
        .collect()
}

fn part(cell: &Cell, lane: Lane, sources: &Sources<'_>) -> Result<Part, RunError> {
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
    // Threads that call the kernel for each request do so on tables of descriptors of their own,
    // unless they close and open files themselves.
    let lent = match cell.engine {
        EngineKind::Psync if reopen.is_empty() => std::mem::take(&mut files).into(),
        _ => Arc::default(),
    };
    let contents = (sources.contents)(&lane);
    Ok(Part {
        task: Task::Spans(Box::new(SpanTask {
            requests,
            files,
            lent,
            reopen,
            peers,
            contents,
        })),
        operations,
        transaction_kinds,
        lane,
    })
}
