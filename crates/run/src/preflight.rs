//! Engines are tried before anything is prepared for them.

use std::fs::File;

use engine::{IoUring, UringOptions};
use workload::plan::{Cell, EngineKind, Plan};

use crate::RunError;
use crate::lane::lanes;

/// Makes the ring that needs the most memory of all cells, on a file that is always there, so that
/// a system without io_uring, or with too little lockable memory, is found out at once.
pub(crate) fn try_engines(plan: &Plan) -> Result<(), RunError> {
    let rings = plan
        .cells
        .iter()
        .filter(|cell| cell.engine == EngineKind::IoUring);
    let sizes = rings.flat_map(|cell| sizes(cell, plan));
    let largest = sizes.max_by_key(|(_, slots, bytes)| u64::from(*slots) * u64::from(*bytes));
    let Some((cell, slot_count, buffer_bytes)) = largest else {
        return Ok(());
    };
    let file = File::open("/dev/null").map_err(|source| RunError::System {
        what: "open `/dev/null`".to_owned(),
        source,
    })?;
    // Polling and dropping behind depend on the target; its own open tries them.
    let options = UringOptions {
        sqpoll: cell.ring.sqpoll,
        iopoll: false,
        dontcache: false,
    };
    IoUring::new(vec![file.into()], slot_count, buffer_bytes, options)?;
    Ok(())
}

/// The cell with slots and buffer size of each of its lanes.
fn sizes<'a>(cell: &'a Cell, plan: &Plan) -> Vec<(&'a Cell, u32, u32)> {
    let jobs = cell.workers.iter().filter_map(|worker| worker.job.as_ref());
    let rings = jobs.filter(|job| job.engine == EngineKind::IoUring);
    if cell.jobs.is_some() {
        return rings
            .map(|job| (cell, job.iodepth, job.buffer_bytes().max(512)))
            .collect();
    }
    // A rate that cannot be is refused where the lanes are made to run.
    let lanes = lanes(cell, plan.seed, plan.targets.len()).unwrap_or_default();
    lanes
        .iter()
        .map(|lane| match lane.plan.network {
            // Its buffers are not registered.
            true => (cell, lane.slot_count(), 512),
            false => (cell, lane.slot_count(), lane.buffer_bytes()),
        })
        .collect()
}
