//! Tries engines and streams of requests before anything is prepared for them.

use engine::{Buffers, EngineError, IoUring, UringOptions, share_arena};
use generate::ContentSource;
use generate::job::JobStream;
use plan::{Cell, EngineKind, Plan};
use rustix::process::{Resource, getrlimit};

use crate::RunError;
use crate::lane::lanes;

/// Creates each stream of requests once, so that an impossible value is found before anything is
/// prepared. Programs of work on files are left out because planning checks them.
///
/// # Errors
/// The first stream that cannot be created, or the first buffer that is too large for an engine.
pub fn try_streams(plan: &Plan) -> Result<(), RunError> {
    let first = plan.cells.iter().filter(|cell| cell.repetition == 0);
    for cell in first.filter(|cell| !cell.work.is_acts()) {
        for worker in &cell.workers {
            if let Some(job) = &worker.job {
                check_buffer(job.buffer_bytes())?;
                JobStream::new(job, worker.seed)?;
                ContentSource::new(&worker.content)?;
            }
        }
        if cell.work.is_requests() {
            continue;
        }
        let mut lanes = lanes(cell, plan.seed, plan.targets.len())?;
        // Lanes of one span of a worker differ only in their seeds.
        lanes.dedup_by_key(|lane| (lane.worker_index, lane.span_indexes.first().copied()));
        for lane in lanes {
            check_buffer(lane.buffer_bytes())?;
            lane.requests()?;
            ContentSource::new(&lane.plan.content)?;
        }
    }
    Ok(())
}

fn check_buffer(requested_bytes: u32) -> Result<(), EngineError> {
    let most_bytes = Buffers::BUFFER_BYTES_MAX;
    match requested_bytes <= most_bytes {
        true => Ok(()),
        false => Err(EngineError::BufferSize {
            asked_bytes: requested_bytes,
            most_bytes,
        }),
    }
}

/// Address space of a run without its workers, in bytes.
const RUN_BYTES: u64 = 8 << 20;
/// Address space of a worker for its stack (2 MiB) and its results, in bytes.
const WORKER_BYTES: u64 = 3 << 20;

/// Compares the run's needs with the address space limit of this process (`ulimit -v`). If an
/// allocation fails later, the process aborts and its test files stay.
fn try_memory(plan: &Plan) -> Result<(), RunError> {
    let Some(limit_bytes) = getrlimit(Resource::As).current else {
        return Ok(());
    };
    // glibc reserves 64 MiB of address space for each thread's own arena, which may exceed the
    // limit.
    share_arena();
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    // The first number is the address space in pages (proc(5)).
    let pages = statm.split(' ').next().and_then(|it| it.parse().ok());
    let used_bytes = pages.unwrap_or(0_u64) * rustix::param::page_size() as u64;
    // Later repetitions need as much as the first one.
    let cells = plan.cells.iter().filter(|cell| cell.repetition == 0);
    let largest = cells.map(|cell| cell_bytes(cell, plan)).max().unwrap_or(0);
    let needed_bytes = used_bytes.saturating_add(RUN_BYTES.saturating_add(largest));
    match needed_bytes <= limit_bytes {
        true => Ok(()),
        false => Err(RunError::AddressSpace {
            limit_bytes,
            needed_bytes,
        }),
    }
}

/// Address space of a cell's workers and their buffers, in bytes.
fn cell_bytes(cell: &Cell, plan: &Plan) -> u64 {
    let buffer_bytes = |slot_count: u32, bytes: u32| u64::from(slot_count) * u64::from(bytes);
    let jobs = cell.workers.iter().filter_map(|worker| worker.job.as_ref());
    let job_bytes = jobs.map(|job| buffer_bytes(job.iodepth, job.buffer_bytes()));
    let lanes = match cell.work.is_access() {
        true => sizes(cell, plan),
        false => Vec::new(),
    };
    let lanes = lanes.into_iter();
    let lane_bytes = lanes.map(|(_, slot_count, bytes)| buffer_bytes(slot_count, bytes));
    let workers = WORKER_BYTES * cell.workers.len() as u64;
    job_bytes
        .chain(lane_bytes)
        .fold(workers, u64::saturating_add)
}

/// Creates the ring that needs the most memory of all cells, on a file that exists on every system.
/// This immediately detects a system without io_uring, or with too little lockable memory or
/// address space.
pub(crate) fn try_engines(plan: &Plan) -> Result<(), RunError> {
    try_memory(plan)?;
    let rings = plan
        .cells
        .iter()
        .filter(|cell| cell.engine == EngineKind::IoUring);
    let sizes = rings.flat_map(|cell| sizes(cell, plan));
    let largest = sizes.max_by_key(|(_, slots, bytes)| u64::from(*slots) * u64::from(*bytes));
    let Some((cell, slot_count, buffer_bytes)) = largest else {
        return Ok(());
    };
    // A file that is available on every system, whatever is in `/dev`.
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    let file = rustix::fs::memfd_create("pgmeter", flags).map_err(|errno| RunError::System {
        what: "create a file in memory".to_owned(),
        source: errno.into(),
    })?;
    // `iopoll` and `dontcache` depend on the target, whose own opening tests them.
    let options = UringOptions {
        sqpoll: cell.ring.sqpoll,
        iopoll: false,
        dontcache: false,
        nowait: false,
    };
    IoUring::new(vec![file], slot_count, buffer_bytes, options)?;
    Ok(())
}

/// Slots and buffer size of each lane of a cell.
fn sizes<'a>(cell: &'a Cell, plan: &Plan) -> Vec<(&'a Cell, u32, u32)> {
    let jobs = cell.workers.iter().filter_map(|worker| worker.job.as_ref());
    let rings = jobs.filter(|job| job.engine == EngineKind::IoUring);
    if cell.work.is_requests() {
        return rings
            .map(|job| (cell, job.iodepth, job.buffer_bytes().max(512)))
            .collect();
    }
    // A rate that is not possible is rejected when the run creates the lanes.
    let lanes = lanes(cell, plan.seed, plan.targets.len()).unwrap_or_default();
    lanes
        .iter()
        .map(|lane| match lane.plan.network {
            // Buffers of network lanes are not registered.
            true => (cell, lane.slot_count(), 512),
            false => (cell, lane.slot_count(), lane.buffer_bytes()),
        })
        .collect()
}
