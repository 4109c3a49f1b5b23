//! Engines and streams of requests are tried before anything is prepared for them.

use engine::{Buffers, EngineError, IoUring, UringOptions};
use generate::ContentSource;
use generate::job::JobStream;
use workload::plan::{Cell, EngineKind, Plan};

use crate::RunError;
use crate::lane::lanes;

/// Makes each stream of requests once, so that a value that no stream can have is found before
/// anything is prepared. Programs of work on files are not looked at: planning checks them.
///
/// # Errors
/// The first stream that cannot be made, and the first buffer that no engine can have.
pub fn try_streams(plan: &Plan) -> Result<(), RunError> {
    let first = plan.cells.iter().filter(|cell| cell.repetition == 0);
    for cell in first.filter(|cell| cell.files.is_none()) {
        for worker in &cell.workers {
            if let Some(job) = &worker.job {
                check_buffer(job.buffer_bytes())?;
                JobStream::new(job, worker.seed)?;
                ContentSource::new(&worker.content)?;
            }
        }
        if cell.jobs.is_some() {
            continue;
        }
        for lane in lanes(cell, plan.seed, plan.targets.len())? {
            check_buffer(lane.buffer_bytes())?;
            lane.requests()?;
            ContentSource::new(&lane.plan.content)?;
        }
    }
    Ok(())
}

fn check_buffer(asked_bytes: u32) -> Result<(), EngineError> {
    let most_bytes = Buffers::BUFFER_BYTES_MAX;
    match asked_bytes <= most_bytes {
        true => Ok(()),
        false => Err(EngineError::BufferSize {
            asked_bytes,
            most_bytes,
        }),
    }
}

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
    // A file that is there on every system, whatever is below `/dev`.
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    let file = rustix::fs::memfd_create("pgmeter", flags).map_err(|errno| RunError::System {
        what: "make a file in memory".to_owned(),
        source: errno.into(),
    })?;
    // Polling and dropping behind depend on the target; its own open tries them.
    let options = UringOptions {
        sqpoll: cell.ring.sqpoll,
        iopoll: false,
        dontcache: false,
    };
    IoUring::new(vec![file], slot_count, buffer_bytes, options)?;
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
