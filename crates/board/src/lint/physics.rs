//! Rules about rates and latencies that storage cannot have, and conditions of the measurement.

use plan::{CacheMode, EngineKind, TargetKind};
use results::{CellRecord, Phase, RunRecord, WarningCode, doubt};

use super::rule::FindingList;
use super::{BoardRule, RuleLevel, place};
use crate::DeclaredFacts;

/// Rate above a link's that measurement errors explain.
pub(super) const LINK_MARGIN: f64 = 1.05;
/// Largest rate of an NVMe device: 4 lanes of the fifth generation.
///
/// Source: PCI Express 5.0, 32 GT/s per lane with 128b/130b encoding.
const NVME_BYTES_PER_SECOND: f64 = 15.76e9;
/// Largest rate that a machine's memory copies, which no storage exceeds.
pub(super) const MEMORY_BYTES_PER_SECOND: f64 = 2e12;
/// Median below which no block device answers, in nanoseconds.
pub(super) const LATENCY_NS_MIN: u64 = 2000;
/// Share of the bytes that the devices move at least.
const MOVED_SHARE_MIN: f64 = 0.9;
/// Deviations from Little's law that are shown, and that refuse a submission.
pub(super) const LITTLE_SHOWN: f64 = 0.10;
pub(super) const LITTLE_REFUSED: f64 = 0.50;
/// Time per request outside of its latency that no program needs, in nanoseconds.
const OUTSIDE_NS_MAX: f64 = 5e6;
/// Share of CPU time taken by the hypervisor that is shown.
const STEAL_SHARE: f64 = 0.01;
/// File systems on other machines, by the beginning of their names.
const NETWORK_FILE_SYSTEMS: [&str; 10] = [
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "fuse.gluster",
    "fuse.sshfs",
    "lustre",
    "nfs",
    "smb",
];

/// Checks a cell.
pub(super) fn check(
    cell: &CellRecord,
    record: &RunRecord,
    declared: &DeclaredFacts,
    found: &mut FindingList,
) {
    link(cell, record, declared, found);
    littles_law(cell, record, found);
    let is_direct = cell.cache == CacheMode::Direct && is_on_device(record);
    for name in ["read", "write"].into_iter().filter(|_| is_direct) {
        if let Some(share) = cell.device_share(name).filter(|it| *it < MOVED_SHARE_MIN) {
            let at = format!("{}, {name}", place(cell));
            let expected = "at least 90 % of the bytes moved by the devices".to_owned();
            found.add(
                BoardRule::DeviceMoved,
                &at,
                expected,
                format!("{:.1} %", share * 100.0),
            );
        }
        let latency = cell
            .operation(name)
            .and_then(|it| it.latency.percentiles_ns.p50);
        let is_engine = cell.engine != EngineKind::Null;
        if let Some(p50) = latency.filter(|it| *it < LATENCY_NS_MIN && is_engine) {
            let at = format!("{}, {name}", place(cell));
            let expected = format!("a median of at least {LATENCY_NS_MIN} ns");
            found.add(BoardRule::ShortLatency, &at, expected, format!("{p50} ns"));
        }
    }
    if let Some(machine) = cell.cpu.machine.filter(|it| it.steal > STEAL_SHARE) {
        let actual = format!("{:.1} % taken by the hypervisor", machine.steal * 100.0);
        found.add(
            BoardRule::Quiet,
            &place(cell),
            "at most 1 % of CPU time".to_owned(),
            actual,
        );
    }
    // Recomputed, so that removing a warning from a record hides nothing.
    let again = doubt(cell, &record.environment, &record.plan);
    let mut shown: Vec<BoardRule> = Vec::new();
    // The phases of a program are records of one cell, and a warning names its phase in words.
    let is_of_phase = |message: &str| match &cell.phase {
        Phase::Classic(phase) if message.starts_with("phase ") => {
            message.starts_with(&format!("phase {phase}:"))
        }
        _ => true,
    };
    let recorded = record.warnings.iter();
    let recorded = recorded.filter(|it| it.cell == Some(cell.index) && is_of_phase(&it.message));
    for warning in again.iter().chain(recorded) {
        if let Some(rule) = rule_of(&warning.code).filter(|rule| !shown.contains(rule)) {
            shown.push(rule);
            let expected = format!("no warning `{}`", warning.code);
            found.add(rule, &place(cell), expected, warning.message.clone());
        }
    }
}

/// Checks conditions of the whole run.
pub(super) fn check_run(record: &RunRecord, declared: &DeclaredFacts, found: &mut FindingList) {
    for warning in record.warnings.iter().filter(|it| it.cell.is_none()) {
        if let Some(rule) = rule_of(&warning.code) {
            let expected = format!("no warning `{}`", warning.code);
            found.add(rule, "run", expected, warning.message.clone());
        }
    }
    let environment = &record.environment;
    if environment.cpu.governor.is_none() {
        let expected = "a known frequency governor".to_owned();
        found.add(
            BoardRule::Governor,
            "environment",
            expected,
            "none recorded".to_owned(),
        );
    }
    for file_system in &environment.file_systems {
        let is_network = NETWORK_FILE_SYSTEMS
            .iter()
            .any(|it| file_system.kind.starts_with(it));
        if is_network && declared.server.is_none() {
            let expected = "the server in `declared.server`".to_owned();
            found.add(
                BoardRule::Server,
                "environment",
                expected,
                file_system.kind.clone(),
            );
        }
    }
    let is_flash = environment
        .devices
        .iter()
        .any(|it| it.rotational == Some(false));
    let writes = record
        .cells
        .iter()
        .any(|it| it.operation("write").is_some_and(|it| it.count > 0));
    if is_flash && writes && record.preconditions.is_empty() {
        let expected = "flash that was written before, as `precondition` does".to_owned();
        found.add(
            BoardRule::Precondition,
            "run",
            expected,
            "unknown".to_owned(),
        );
    }
}

/// Returns the rule that a warning of a record breaks.
fn rule_of(code: &WarningCode) -> Option<BoardRule> {
    use WarningCode as W;
    Some(match code {
        W::CacheServedReads | W::CacheAbsorbedWrites | W::DirectNotHonored | W::DirectFallsBack => {
            BoardRule::CachedReads
        }
        W::CompressibleContent => BoardRule::Compressible,
        W::NotSteady | W::WarmUp | W::TooShort => BoardRule::Steady,
        W::StealTime | W::LoadBefore | W::OtherIoOnDevice | W::WaitedForProcessor => {
            BoardRule::Quiet
        }
        W::FileSmallerThanMemory => BoardRule::FitsMemory,
        W::StoreOnTarget => BoardRule::Store,
        W::BlankStorage => BoardRule::Precondition,
        _ => return None,
    })
}

/// Returns `true` if all targets are on block devices of this machine.
fn is_on_device(record: &RunRecord) -> bool {
    let environment = &record.environment;
    let is_path = |kind: TargetKind| kind.is_path() && kind != TargetKind::Endless;
    !environment.devices.is_empty()
        && environment.stacks.iter().all(|it| !it.in_memory)
        && record.plan.targets.iter().all(|it| is_path(it.kind))
}

/// Checks the rate against the slowest known part on the way to the storage.
fn link(cell: &CellRecord, record: &RunRecord, declared: &DeclaredFacts, found: &mut FindingList) {
    if cell.engine == EngineKind::Null {
        return;
    }
    let environment = &record.environment;
    let is_cached = cell.cache != CacheMode::Direct || declared.cache.is_some();
    let devices = environment.devices.iter().filter(|it| it.kind == "disk");
    let nvme = devices
        .clone()
        .filter(|it| it.name.starts_with("nvme"))
        .count();
    let is_all_nvme = nvme > 0 && devices.count() == nvme && environment.virtualization.is_none();
    let limit = match declared.link_bytes_per_second {
        _ if is_cached => MEMORY_BYTES_PER_SECOND,
        Some(limit) => limit,
        None if is_all_nvme => nvme as f64 * NVME_BYTES_PER_SECOND,
        None => MEMORY_BYTES_PER_SECOND,
    };
    let rate = cell.total.bytes_per_second;
    if rate > limit * LINK_MARGIN {
        let expected = format!("at most {limit:.0} bytes per second and 5 %");
        found.add(
            BoardRule::Link,
            &place(cell),
            expected,
            format!("{rate:.0}"),
        );
    }
}

/// Checks that rate times latency equals the number of requests in flight.
///
/// Source: Little, "A proof for the queuing formula L = λW", Operations Research 9, 1961.
fn littles_law(cell: &CellRecord, record: &RunRecord, found: &mut FindingList) {
    let Some(planned) = record
        .plan
        .cell(cell.index)
        .filter(|_| cell.run_time_ns > 0)
    else {
        return;
    };
    let sums = cell.operations.values().map(|it| it.latency.sum_ns as f64);
    let in_flight = sums.sum::<f64>() / cell.run_time_ns as f64;
    let targets = planned.workers.iter().map(|worker| {
        let depths = worker.spans.iter().map(|it| f64::from(it.iodepth.max(1)));
        depths.sum::<f64>().max(1.0)
    });
    // Jobs have separate queues, and threads of work on many files each have one request.
    let depth = match planned.work.is_access() {
        true => targets.sum::<f64>(),
        false => f64::from(cell.workers.max(1)) * f64::from(cell.iodepth.max(1)),
    };
    let count = cell.operations.values().map(|it| it.count).sum::<u64>();
    let level = |deviation: f64| match deviation > LITTLE_REFUSED {
        true => RuleLevel::Error,
        false => RuleLevel::Warning,
    };
    let above = in_flight / depth - 1.0;
    let is_exact = planned.work.is_access() || planned.program().is_some();
    if above > LITTLE_SHOWN && is_exact {
        // A request that was in flight at both ends counts with all of its latency.
        let ends_ns = cell
            .operations
            .values()
            .filter_map(|it| it.latency.max_ns)
            .max();
        let ends = ends_ns.unwrap_or(0) as f64 / cell.run_time_ns as f64;
        if above > LITTLE_SHOWN + ends {
            let expected = format!("at most {depth} requests in flight");
            let actual = format!("{in_flight:.2} from rate and latency");
            found.add_with(
                (BoardRule::LittlesLaw, level(above - ends)),
                &place(cell),
                expected,
                actual,
            );
        }
    }
    let has_pauses = planned.workers.iter().any(|worker| {
        planned.has_rate(worker) || worker.lines.iter().any(|line| line.delay_ns > 0)
    });
    let below = 1.0 - in_flight / depth;
    if planned.work.is_access() && !has_pauses && below > LITTLE_SHOWN && count > 0 {
        let idle_ns = (depth - in_flight) * cell.run_time_ns as f64 / count as f64;
        // The program's own time per request explains the rest, unless it is far too long.
        let level = match idle_ns > OUTSIDE_NS_MAX {
            true => level(below),
            false => RuleLevel::Warning,
        };
        let expected = format!("about {depth} requests in flight");
        let actual = format!("{in_flight:.2} from rate and latency");
        found.add_with(
            (BoardRule::LittlesLaw, level),
            &place(cell),
            expected,
            actual,
        );
    }
}
