//! Rows of one run: all, manager, processors, workers, and the targets of each worker.

use std::collections::BTreeSet;

use plan::{Cell, SpanPlan, WorkerPlan};
use results::{CONNECTION, CellRecord, MachineCpu, RunRecord, TargetFigures, WorkerFigures};

use super::columns::IometerRow;
use super::figures::{IometerFigures, IometerFlows};

/// Raw times are in nanoseconds.
const TICKS_PER_SECOND: f64 = 1e9;
/// Iometer's sector size, regardless of the device.
const SECTOR_BYTES: u64 = 512;
/// Written by Iometer if workers differ, or if a test is off.
const NONE: &str = "-1";
/// The same for unsigned 64-bit fields of Iometer.
const NONE_UNSIGNED: &str = "18446744073709551615";

/// Returns the lines of one cell, in Iometer's order.
pub fn of_cell(record: &RunRecord, cell: &CellRecord) -> Vec<String> {
    let planned = record
        .plan
        .cells
        .iter()
        .find(|planned| planned.index == cell.index);
    let planned_workers: Vec<&WorkerPlan> =
        planned.map_or_else(Vec::new, |cell| cell.workers.iter().collect());
    let own: Vec<&WorkerFigures> = cell.worker_figures.iter().collect();
    let figures = if own.is_empty() {
        figures_of_whole_cell(cell)
    } else {
        sum(&own)
    };
    let mut lines = vec![summary("ALL", "All", cell, &planned_workers, &figures)];
    let Some(cluster) = &cell.cluster else {
        let host = record.environment.host.as_str();
        lines.push(summary(
            "MANAGER",
            named(host),
            cell,
            &planned_workers,
            &figures,
        ));
        lines.extend(processors(cell));
        lines.extend(
            own.iter()
                .flat_map(|worker| worker_and_target_lines(worker, planned)),
        );
        return lines;
    };
    // In Iometer, managers are processes whose threads are the workers.
    for rank in &cluster.ranks {
        let mut rank_workers = planned_workers.clone();
        rank_workers.retain(|worker| worker.rank == rank.rank);
        let is_on_rank = |worker: &&WorkerFigures| {
            let mut known = rank_workers.iter();
            known.any(|it| it.worker_index == worker.worker_index)
        };
        let rank_figures: Vec<&WorkerFigures> = own.iter().copied().filter(is_on_rank).collect();
        // A lost process leaves no results of its workers.
        if rank_figures.is_empty() {
            continue;
        }
        let host = named(&rank.host);
        lines.push(summary(
            "MANAGER",
            host,
            cell,
            &rank_workers,
            &sum(&rank_figures),
        ));
        lines.extend(
            rank_figures
                .iter()
                .flat_map(|worker| worker_and_target_lines(worker, planned)),
        );
    }
    lines
}

fn named(host: &str) -> &str {
    if host.is_empty() { "localhost" } else { host }
}

fn processors(cell: &CellRecord) -> impl Iterator<Item = String> {
    cell.cpu.processors.iter().map(|processor| {
        let mut row = IometerRow::new("PROCESSOR", &format!("CPU {}", processor.cpu));
        fill_cpu(&mut row, &processor.shares);
        // Programs that read the file divide raw times by this timer resolution.
        row.real("Processor Speed", TICKS_PER_SECOND);
        row.line_without_bins()
    })
}

fn worker_and_target_lines(worker: &WorkerFigures, planned: Option<&Cell>) -> Vec<String> {
    let plan = planned.and_then(|cell| {
        let mut known = cell.workers.iter();
        known.find(|it| it.worker_index == worker.worker_index)
    });
    let targets = worker.targets.iter();
    let targets = targets.map(|target| of_target(worker, target, plan));
    std::iter::once(of_worker(worker, plan))
        .chain(targets)
        .collect()
}

/// Adds up the rates of workers, as Iometer does.
fn sum(workers: &[&WorkerFigures]) -> IometerFigures {
    let mut all = IometerFigures::default();
    workers
        .iter()
        .for_each(|worker| all.add(&figures_of(worker)));
    all
}

/// Returns the values of the cell, for records without values of workers.
fn figures_of_whole_cell(cell: &CellRecord) -> IometerFigures {
    let connection = cell.transactions.get(CONNECTION);
    let kinds = cell.transactions.iter();
    let flows = IometerFlows {
        transactions: kinds
            .filter(|(name, _)| *name != CONNECTION)
            .map(|(_, kind)| kind.count)
            .sum(),
        transaction_latency: None,
        connections: connection.map_or(0, |kind| kind.count),
        connection_latency: connection.map(|kind| &kind.latency),
    };
    let mut all = IometerFigures::default();
    all.add(&IometerFigures::of(
        &cell.operations,
        cell.run_time_ns,
        flows,
    ));
    all
}

fn figures_of(worker: &WorkerFigures) -> IometerFigures {
    let flows = IometerFlows {
        transactions: worker.transactions,
        transaction_latency: worker.transaction_latency.as_ref(),
        connections: worker.connections,
        connection_latency: worker.connection_latency.as_ref(),
    };
    IometerFigures::of(&worker.operations, worker.run_time_ns, flows)
}

fn summary(
    kind: &str,
    name: &str,
    cell: &CellRecord,
    workers: &[&WorkerPlan],
    figures: &IometerFigures,
) -> String {
    let is_manager = kind == "MANAGER";
    let mut row = IometerRow::new(kind, name);
    row.text("Access Specification Name", &super::name(cell.name()));
    // Iometer leaves this column empty in rows of managers.
    if !is_manager {
        row.integer("# Managers", u64::from(cell.ranks));
    }
    let is_part = is_manager && cell.cluster.is_some();
    let count = if is_part {
        workers.len() as u64
    } else {
        u64::from(cell.workers)
    };
    row.integer("# Workers", count);
    row.integer(
        "# Disks",
        workers.iter().map(|worker| worker.spans.len() as u64).sum(),
    );
    // Iometer leaves the raw times of the row ALL empty.
    figures.fill(&mut row, is_manager);
    fill_place(&mut row, workers);
    // With several processes, the CPUs of the machine belong to no single manager.
    if let Some(machine) = cell.cpu.machine.as_ref().filter(|_| !is_part) {
        fill_cpu(&mut row, machine);
        if machine.busy > 0.0 {
            // Iometer's definition: IOps per percent of CPU utilization.
            row.real("CPU Effectiveness", figures.iops() / (machine.busy * 100.0));
        }
    }
    if is_manager {
        row.real("Processor Speed", TICKS_PER_SECOND);
    }
    // Iometer fills these columns only in the rows ALL and MANAGER.
    for head in [
        "Packets/Second",
        "Packet Errors",
        "Segments Retransmitted/Second",
    ] {
        row.real(head, 0.0);
    }
    row.line()
}

fn of_worker(worker: &WorkerFigures, plan: Option<&WorkerPlan>) -> String {
    let mut row = IometerRow::new("WORKER", &worker.name);
    row.text(
        "Access Specification Name",
        &super::name(&worker.access_spec),
    );
    row.integer(
        "# Disks",
        plan.map_or(worker.targets.len(), |plan| plan.spans.len()) as u64,
    );
    figures_of(worker).fill(&mut row, true);
    fill_place(&mut row, plan.as_slice());
    row.real("Processor Speed", TICKS_PER_SECOND);
    row.line()
}

fn of_target(worker: &WorkerFigures, target: &TargetFigures, plan: Option<&WorkerPlan>) -> String {
    let mut row = IometerRow::new("DISK", &target.target);
    let flows = IometerFlows {
        transactions: target.transactions,
        transaction_latency: None,
        connections: target.connections,
        connection_latency: target.connection_latency.as_ref(),
    };
    // Iometer also divides the counts of a target by the worker's time.
    let figures = IometerFigures::of(&target.operations, worker.run_time_ns, flows);
    figures.fill(&mut row, true);
    let spans = plan.map_or(&[][..], |plan| &plan.spans[..]);
    let span = spans
        .iter()
        .find(|span| span.target_index == target.target_index);
    fill_connection(&mut row, plan.as_slice());
    fill_spans(&mut row, span.into_iter());
    row.real("Processor Speed", TICKS_PER_SECOND);
    row.line()
}

/// Fills in the location of the workers' requests, and the queue depth.
fn fill_place(row: &mut IometerRow, workers: &[&WorkerPlan]) {
    fill_connection(row, workers);
    fill_spans(row, workers.iter().flat_map(|worker| &worker.spans));
}

fn fill_connection(row: &mut IometerRow, workers: &[&WorkerPlan]) {
    let tested: BTreeSet<_> = workers
        .iter()
        .map(|worker| worker.transactions_per_connection)
        .collect();
    let mut tested = tested.into_iter();
    match (tested.next().flatten(), tested.next()) {
        (Some(transactions), None) => {
            row.integer("Transactions per Connection", u64::from(transactions));
        }
        _ => row.text("Transactions per Connection", NONE),
    }
}

fn fill_spans<'a>(row: &mut IometerRow, spans: impl Iterator<Item = &'a SpanPlan> + Clone) {
    let start = spans.clone().map(|span| span.start_bytes / SECTOR_BYTES);
    let size = spans.clone().map(|span| span.size_bytes / SECTOR_BYTES);
    let depth = spans.map(|span| u64::from(span.iodepth));
    row.text("Starting Sector", &common(start, NONE_UNSIGNED));
    row.text("Maximum Size", &common(size, NONE_UNSIGNED));
    row.text("Queue Depth", &common(depth, NONE));
}

/// Returns the value if all are equal, or else `none`.
fn common(mut values: impl Iterator<Item = u64>, none: &str) -> String {
    let first = values.next();
    match first {
        Some(first) if values.all(|value| value == first) => first.to_string(),
        _ => none.to_owned(),
    }
}

fn fill_cpu(row: &mut IometerRow, shares: &MachineCpu) {
    for (head, share) in [
        ("% CPU Utilization", shares.busy),
        ("% User Time", shares.user),
        // Iometer counts interrupts as privileged time.
        (
            "% Privileged Time",
            shares.system + shares.irq + shares.softirq,
        ),
        ("% DPC Time", shares.softirq),
        ("% Interrupt Time", shares.irq),
    ] {
        row.real(head, share * 100.0);
    }
    if let Some(interrupts) = shares.interrupts_per_second {
        row.real("Interrupts per Second", interrupts);
    }
}
