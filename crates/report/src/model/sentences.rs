//! Sentences of a report.

use std::collections::BTreeSet;

use plan::EngineKind;
use results::{
    CellRecord, Environment, Phase, PrecisionVerdict, PreconditionRecord, RunRecord, Status,
    used_bytes,
};
use units::{Span, format};

use crate::names::{cache_name, status_name, workers};
use crate::wrap::printable;

/// Names program, run and start time.
pub fn title(record: &RunRecord) -> String {
    let start = record.started_at.strftime("%Y-%m-%d %H:%M:%S UTC");
    format!(
        "pgmeter {}, run {}, {start}",
        printable(&record.pgmeter.version),
        printable(&record.id)
    )
}

/// Describes the final status of the run, unless it is complete.
pub fn outcome(record: &RunRecord) -> Option<String> {
    let planned = record.plan.cells.len();
    // A cell of a classic program has one record per phase.
    let of = |complete: bool| {
        let cells = record.cells.iter();
        let cells = cells.filter(move |cell| (cell.status == Status::Complete) == complete);
        cells.map(|cell| cell.index).collect::<BTreeSet<u32>>()
    };
    let measured = of(true).difference(&of(false)).count();
    (record.status != Status::Complete).then(|| {
        format!(
            "{}: {measured} of {planned} cells were measured in full",
            status_name(record.status)
        )
    })
}

/// Describes the result of repetitions that continued until every rate was precise.
pub fn precision(record: &RunRecord) -> Option<String> {
    let rule = record.plan.repetition_rule?;
    let verdicts: Vec<PrecisionVerdict> = record
        .estimates
        .iter()
        .filter_map(|estimate| estimate.verdict)
        .collect();
    let count = |wanted: PrecisionVerdict| verdicts.iter().filter(|it| **it == wanted).count();
    let reached = count(PrecisionVerdict::PrecisionReached);
    let mut outcome = match verdicts.len() {
        0 => "not known".to_owned(),
        all if all == reached => "reached".to_owned(),
        all => format!("reached by {reached} of {all}"),
    };
    if count(PrecisionVerdict::BudgetSpent) > 0 {
        outcome.push_str(&format!(
            "; the budget of {} is spent",
            Span(rule.budget_ns)
        ));
    }
    Some(format!(
        "repeated until every rate is known to ±{} with 95 % confidence: {outcome}",
        rule.precision_percent()
    ))
}

/// Describes the machine in one line. For several processes, names their number, their hosts, and
/// what all machines have in common.
pub fn environment(record: &RunRecord) -> String {
    let Some(cluster) = &record.cluster else {
        return machine(&record.environment);
    };
    let mut hosts = cluster.hosts.iter().map(|host| parts(&host.environment));
    let mut common = hosts.next().unwrap_or_default();
    hosts.for_each(|other| common.retain(|part| other.contains(part)));
    let processes = cluster.place();
    match common.is_empty() {
        true => printable(&processes),
        false => printable(&format!("{processes}: {}", common.join(", "))),
    }
}

/// Describes a machine with its host name, in one line.
pub fn host_and_machine(environment: &Environment) -> String {
    let machine = machine(environment);
    match environment.host.as_str() {
        "" => machine,
        host => format!("{}: {machine}", printable(host)),
    }
}

/// Describes a machine, in one line.
pub fn machine(environment: &Environment) -> String {
    printable(&parts(environment).join(", "))
}

fn parts(environment: &Environment) -> Vec<String> {
    let mut parts = Vec::new();
    if !environment.kernel.is_empty() {
        parts.push(format!("Linux {}", environment.kernel));
    }
    parts.extend(storage(environment));
    parts.push(processor(environment));
    if environment.memory_bytes > 0 {
        parts.push(format!("{} memory", format::size(environment.memory_bytes)));
    }
    parts.extend(environment.virtualization.clone());
    parts.retain(|part| !part.is_empty());
    parts
}

pub(super) fn processor(environment: &Environment) -> String {
    let cpu = &environment.cpu;
    match (cpu.logical_count, cpu.model.as_str()) {
        (0, model) => model.to_owned(),
        (1, model) => format!("1 CPU ({model})"),
        (count, "") => format!("{count} CPUs"),
        (count, model) => format!("{count} CPUs ({model})"),
    }
}

/// Returns the distinct storage under the targets.
fn storage(environment: &Environment) -> Vec<String> {
    let mut targets: BTreeSet<u32> = environment
        .file_systems
        .iter()
        .map(|file_system| file_system.target_index)
        .collect();
    targets.extend(environment.stacks.iter().map(|stack| stack.target_index));
    targets.extend(environment.devices.iter().map(|device| device.target_index));
    let mut storages = Vec::new();
    for target in targets {
        // Not every record has stacks. File system and device then describe it less precisely.
        let mut stacks = environment.stacks.iter();
        if let Some(stack) = stacks.find(|it| it.target_index == target) {
            if !storages.contains(&stack.layers) {
                storages.push(stack.layers.clone());
            }
            continue;
        }
        let kind = environment
            .file_systems
            .iter()
            .find(|one| one.target_index == target);
        // The last device is the physical one.
        let device = environment
            .devices
            .iter()
            .rfind(|one| one.target_index == target);
        let device = device.map(|device| match device.model.as_str() {
            "" => device.name.clone(),
            model => format!("{} ({model})", device.name),
        });
        let storage = match (kind, device) {
            (Some(kind), Some(device)) => format!("{} on {device}", kind.kind),
            (Some(kind), None) => kind.kind.clone(),
            (None, device) => device.unwrap_or_default(),
        };
        if !storages.contains(&storage) {
            storages.push(storage);
        }
    }
    storages
}

/// Describes the settings that all cells share, in one line. Tables show the others.
pub fn settings(record: &RunRecord) -> String {
    let cells = &record.cells;
    let mut parts = methods(record);
    parts.extend(common(cells, |cell| target(record, cell)));
    parts.extend(record.preconditions.iter().map(precondition));
    parts.push(format!("seed {}", record.plan.seed));
    printable(&parts.join(", "))
}

/// Describes how all cells were measured, without their target.
pub fn method(record: &RunRecord) -> String {
    printable(&methods(record).join(", "))
}

fn methods(record: &RunRecord) -> Vec<String> {
    let cells = &record.cells;
    let mut parts = Vec::new();
    parts.extend(common(cells, |cell| cell.engine.name().to_owned()));
    parts.extend(common(cells, |cell| cache_name(cell.cache).to_owned()));
    parts.extend(common(cells, |cell| workers(cell.workers)));
    let amount = common(cells, |cell| amount(record, cell).unwrap_or_default());
    parts.extend(amount.filter(|it| !it.is_empty()));
    let in_full = cells.iter().all(|cell| cell.status == Status::Complete);
    // Cells that did not complete were measured for less than the planned time.
    let up_to = if in_full { "" } else { "up to " };
    parts.extend(common(cells, |cell| match cell.planned_run_time_ns {
        0 if matches!(cell.phase, Phase::Classic(_)) => "run to completion".to_owned(),
        0 => "for a fixed number of operations".to_owned(),
        ns if cell.steady.is_some() => format!("rounds of {} until steady", seconds(ns)),
        ns => format!("{up_to}{} measured", seconds(ns)),
    }));
    parts.extend(
        common(cells, |cell| format!("{} ramp", seconds(cell.ramp_time_ns)))
            .filter(|_| cells[0].ramp_time_ns > 0),
    );
    parts
}

/// Returns the amount of data that the requests of a cell are spread over; `None` if it is the
/// workload itself that decides how much it creates, or if nothing is stored.
fn amount(record: &RunRecord, cell: &CellRecord) -> Option<String> {
    let planned = record.plan.cell(cell.index)?;
    if planned.program().is_some() || cell.engine == EngineKind::Null {
        return None;
    }
    let bytes = used_bytes(cell, planned, &record.plan).filter(|bytes| *bytes > 0)?;
    Some(format!("{} of data", format::size(bytes)))
}

/// Describes the preconditioning of a target.
fn precondition(done: &PreconditionRecord) -> String {
    format!(
        "{} preconditioned with {} ({}x) in {} s",
        done.target,
        format::size(done.bytes),
        done.times,
        crate::numbers::digits(done.time_ns as f64 / 1e9)
    )
}

/// Returns the target of a cell, as its full path if the plan has such a target.
fn target(record: &RunRecord, cell: &CellRecord) -> String {
    let mut targets = record.plan.targets.iter();
    let own = targets.find(|target| target.path.to_string_lossy() == cell.target);
    match own {
        Some(target) => record.full_path(target).to_string_lossy().into_owned(),
        None => cell.target.clone(),
    }
}

fn seconds(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    format!("{seconds} s")
}

fn common(cells: &[CellRecord], of: impl Fn(&CellRecord) -> String) -> Option<String> {
    let first = of(cells.first()?);
    cells.iter().all(|cell| of(cell) == first).then_some(first)
}
