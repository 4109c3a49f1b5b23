//! Doubts about what was asked for: limits that held the run back.

use std::collections::BTreeSet;

use plan::{CacheMode, Cell, EngineKind, Plan};

use super::Finding;
use crate::title::target_indexes;
use crate::{CellRecord, Environment, Limit, LimitedResource, WarningCode};

/// From this share of a limit on, a device was held at it.
const LIMIT_REACHED_SHARE: f64 = 0.8;
/// Beyond this share of a limit, it cannot hold for what was done: version 1 of control groups does
/// not limit what the page cache writes.
const LIMIT_PASSED_SHARE: f64 = 1.25;
/// Above this share of its periods, a quota of processor time held the run back.
const THROTTLED_SHARE_MAX: f64 = 0.01;

/// Limits that held a cell back, one of each kind at most.
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

/// What a cell uses of its targets at most, in bytes, where that is known beforehand; of several
/// processes, each of which has files of its own, what those on the machine of the first use.
pub(super) fn used_bytes(cell: &CellRecord, planned: &Cell, plan: &Plan) -> Option<u64> {
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
    let ranks = cell.crew.iter().flat_map(|crew| &crew.ranks);
    let first = ranks.clone().next().map(|it| &it.host);
    let there: BTreeSet<u32> = ranks
        .filter(|it| Some(&it.host) == first)
        .map(|it| it.rank)
        .collect();
    // Without processes all workers are those of the first, whose number is 0.
    let here = planned.workers.iter();
    let here = here.filter(|worker| there.is_empty() || there.contains(&worker.rank));
    let used: BTreeSet<(u32, u32)> = here
        .flat_map(|worker| {
            let spans = worker.spans.iter();
            spans.map(|span| (worker.rank, span.target_index))
        })
        .collect();
    let sizes = used.into_iter().map(|(_, index)| size(index));
    Some(sizes.fold(0_u64, u64::saturating_add))
}

fn told(limit: &Limit, what: &str) -> (WarningCode, String) {
    let message = format!(
        "{what} {limit}, set by the control group `{}`; run outside of it",
        limit.group
    );
    (WarningCode::LimitInForce, message)
}

fn device_limit(cell: &CellRecord, planned: Option<&Cell>, environment: &Environment) -> Finding {
    let device = cell.device.as_ref()?;
    if device.source.contains(", ") {
        // The counters of several devices are added up.
        return None;
    }
    let seconds = cell.run_time_ns as f64 / 1e9;
    let targets = planned.map(target_indexes);
    let reached = |limit: &Limit| {
        let name = limit.device.as_deref()?;
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
        let is_reached = LIMIT_REACHED_SHARE..LIMIT_PASSED_SHARE;
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
    Some(told(
        limit,
        &format!("I/O was throttled: {rate} of at most"),
    ))
}

fn processor_limit(cell: &CellRecord, environment: &Environment) -> Finding {
    cell.cpu.throttled.filter(|it| *it > THROTTLED_SHARE_MAX)?;
    let limit = environment.processor_limit()?;
    Some(told(limit, "the run was throttled at"))
}

/// Whether a control group keeps less in the page cache than the machine could.
fn memory_limit(
    cell: &CellRecord,
    planned: Option<&Cell>,
    environment: &Environment,
    plan: &Plan,
) -> Finding {
    if cell.cache != CacheMode::Buffered || cell.engine == EngineKind::Null {
        return None;
    }
    let limit = environment.memory_limit()?;
    let used = used_bytes(cell, planned?, plan)? as f64;
    (used >= limit.value).then(|| told(limit, "the page cache could not hold the targets: at most"))
}
