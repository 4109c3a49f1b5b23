//! The lanes of a cell that works on one large file or device a target, with what each does.

use engine::OperationSet;
use workload::plan::{Cell, EngineKind};

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
    let mut reopen = Vec::new();
    for span in spans {
        let opened = (sources.open)(span.target_index, operations)?;
        files.push(opened.file);
        reopen.extend(opened.reopen);
    }
    let contents = (sources.contents)(&lane);
    Ok(Part {
        task: Task::Spans(Box::new(SpanTask {
            requests,
            files,
            reopen,
            contents,
        })),
        operations,
        transaction_kinds,
        lane,
    })
}
