//! Warnings about limits that held the run back.

use std::collections::BTreeSet;

use plan::{CacheMode, Cell, EngineKind, Plan};

use super::Finding;
use crate::title::target_indexes;
use crate::{CellRecord, Environment, Limit, LimitedResource, WarningCode};

/// From this share of its limit on, a device counts as throttled.
const LIMIT_REACHED_SHARE: f64 = 0.8;
/// Above this share, the limit cannot apply to this I/O. Control groups version 1 do not limit the
/// writes of the page cache.
const LIMIT_EXCEEDED_SHARE: f64 = 1.25;
/// Above this share of throttled periods, a CPU quota held the run back.
const THROTTLED_SHARE_MAX: f64 = 0.01;

/// Limits that held a cell back, at most one of each kind.
pub(super) fn limits_in_force(
    cell: &CellRecord,
    planned: Option<&Cell>,
    environment: &Environment,
    plan: &Plan,
) -> [Finding; 3] {
    [
        device_limit(cell, planned, environment),
        processor_limit(cell, environment),
        memory_limit(cell, planned, environment, plan),
    ]
}

/// Upper bound of the bytes that a cell uses on its targets; `None` if unknown beforehand. Each of
/// several processes has its own files, so only processes on the first one's host count.
pub fn used_bytes(cell: &CellRecord, planned: &Cell, plan: &Plan) -> Option<u64> {
    if let Some(program) = planned.program() {
        let need = program.space_needed();
        return (!need.is_growing).then_some(need.bytes);
    }
    if let Some(jobs) = planned.job_files() {
        let sizes = jobs.files.iter().map(|file| file.size_bytes);
        return Some(sizes.fold(0_u64, u64::saturating_add));
    }
    let size = |index: u32| {
        let target = plan.targets.get(index as usize);
        target.map_or(0, |target| target.size_bytes)
    };
    let ranks = cell.cluster.iter().flat_map(|cluster| &cluster.ranks);
    let first = ranks.clone().next().map(|it| &it.host);
    let local_ranks: BTreeSet<u32> = ranks
        .filter(|it| Some(&it.host) == first)
        .map(|it| it.rank)
        .collect();
    // Without several processes, all workers belong to rank 0.
    let local = planned.workers.iter();
    let local = local.filter(|worker| local_ranks.is_empty() || local_ranks.contains(&worker.rank));
    let used: BTreeSet<(u32, u32)> = local
        .flat_map(|worker| {
            let spans = worker.spans.iter();
            spans.map(|span| (worker.rank, span.target_index))
        })
        .collect();
    let sizes = used.into_iter().map(|(_, index)| size(index));
    Some(sizes.fold(0_u64, u64::saturating_add))
}

fn limit_in_force(limit: &Limit, effect: &str) -> (WarningCode, String) {
    let message = format!(
        "{effect} {limit}, set by the control group `{}`",
        limit.group
    );
    (WarningCode::LimitInForce, message)
}

fn device_limit(cell: &CellRecord, planned: Option<&Cell>, environment: &Environment) -> Finding {
    let device = cell.device.as_ref()?;
    if device.source.contains(", ") {
        // The counters are the sum of several devices.
        return None;
    }
    let seconds = cell.run_time_ns as f64 / 1e9;
    let targets = planned.map(target_indexes);
    let reached = |limit: &Limit| {
        let name = limit.device.as_deref()?;
        // Limits are listed for the devices of all targets, but a cell may use only some of them.
        if targets
            .as_ref()
            .is_some_and(|it| !environment.is_under(name, it))
        {
            return None;
        }
        let counted = match limit.resource {
            LimitedResource::ReadsPerSecond => device.reads,
            LimitedResource::WritesPerSecond => device.writes,
            LimitedResource::ReadBytesPerSecond => device.read_bytes,
            LimitedResource::WriteBytesPerSecond => device.write_bytes,
            LimitedResource::Processors | LimitedResource::MemoryBytes => return None,
        };
        let rate = counted as f64 / seconds;
        let is_reached = LIMIT_REACHED_SHARE..LIMIT_EXCEEDED_SHARE;
        is_reached.contains(&(rate / limit.value)).then_some(rate)
    };
    let mut limits = environment.limits.iter();
    let (limit, rate) = limits.find_map(|limit| Some((limit, reached(limit)?)))?;
    let rate = match limit.resource {
        LimitedResource::ReadBytesPerSecond | LimitedResource::WriteBytesPerSecond => {
            units::format::size(rate as u64)
        }
        _ => format!("{rate:.0}"),
    };
    Some(limit_in_force(
        limit,
        &format!("I/O was throttled: {rate} of at most"),
    ))
}

fn processor_limit(cell: &CellRecord, environment: &Environment) -> Finding {
    cell.cpu.throttled.filter(|it| *it > THROTTLED_SHARE_MAX)?;
    // The kernel's count of throttled periods is the proof; the limit only completes the message.
    let limit = environment.processor_limit()?;
    Some(limit_in_force(limit, "the run was throttled at"))
}

/// Warns if a control group limits the page cache to less than the size of the targets.
fn memory_limit(
    cell: &CellRecord,
    planned: Option<&Cell>,
    environment: &Environment,
    plan: &Plan,
) -> Finding {
    // Without the page cache, a memory limit does not affect the I/O.
    if cell.cache != CacheMode::Buffered || cell.engine == EngineKind::Null {
        return None;
    }
    let limit = environment.memory_limit()?;
    let used = used_bytes(cell, planned?, plan)? as f64;
    (used >= limit.value)
        .then(|| limit_in_force(limit, "the page cache could not hold the targets: at most"))
}
