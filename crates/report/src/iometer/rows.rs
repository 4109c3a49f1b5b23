//! The rows of one run: all, manager, processors, workers, and each worker's targets.

use std::collections::BTreeSet;

use results::{CONNECTION, CellRecord, MachineCpu, RunRecord, TargetFigures, WorkerFigures};
use workload::plan::{Cell, SpanPlan, WorkerPlan};

use super::columns::Row;
use super::figures::{Figures, Flows};

/// Raw times are in nanoseconds.
const TICKS_PER_SECOND: f64 = 1e9;
/// Iometer's sectors have this size, whatever the device says.
const SECTOR_BYTES: u64 = 512;
/// What Iometer writes where workers differ or a test is off.
const NONE: &str = "-1";
/// The same where Iometer's field has 64 bits and no sign.
const NONE_UNSIGNED: &str = "18446744073709551615";

/// The lines of one cell in Iometer's order.
pub fn of_cell(record: &RunRecord, cell: &CellRecord) -> Vec<String> {
    let planned = record
        .plan
        .cells
        .iter()
        .find(|planned| planned.index == cell.index);
    let all = sum(cell);
    let host = match record.environment.host.as_str() {
        "" => "localhost",
        host => host,
    };
    let mut lines = vec![
        summary("ALL", "All", cell, planned, &all),
        summary("MANAGER", host, cell, planned, &all),
    ];
    lines.extend(cell.cpu.processors.iter().map(|processor| {
        let mut row = Row::new("PROCESSOR", &format!("CPU {}", processor.cpu));
        fill_cpu(&mut row, &processor.shares);
        row.real("Processor Speed", TICKS_PER_SECOND);
        row.line_without_bins()
    }));
    for worker in &cell.worker_figures {
        let plan = planned.and_then(|cell| {
            cell.workers
                .iter()
                .find(|w| w.worker_index == worker.worker_index)
        });
        lines.push(of_worker(worker, plan));
        lines.extend(
            worker
                .targets
                .iter()
                .map(|target| of_target(worker, target, plan)),
        );
    }
    lines
}

/// Iometer adds up its workers' rates; without workers' figures the cell's stand for them.
fn sum(cell: &CellRecord) -> Figures {
    let mut all = Figures::default();
    for worker in &cell.worker_figures {
        all.add(&figures_of(worker));
    }
    if cell.worker_figures.is_empty() {
        let connection = cell.transactions.get(CONNECTION);
        let kinds = cell.transactions.iter();
        let flows = Flows {
            transactions: kinds
                .filter(|(name, _)| *name != CONNECTION)
                .map(|(_, kind)| kind.count)
                .sum(),
            transaction_latency: None,
            connections: connection.map_or(0, |kind| kind.count),
            connection_latency: connection.map(|kind| &kind.latency),
        };
        all.add(&Figures::of(&cell.operations, cell.run_time_ns, flows));
    }
    all
}

fn figures_of(worker: &WorkerFigures) -> Figures {
    let flows = Flows {
        transactions: worker.transactions,
        transaction_latency: worker.transaction_latency.as_ref(),
        connections: worker.connections,
        connection_latency: worker.connection_latency.as_ref(),
    };
    Figures::of(&worker.operations, worker.run_time_ns, flows)
}

fn summary(
    kind: &str,
    name: &str,
    cell: &CellRecord,
    planned: Option<&Cell>,
    figures: &Figures,
) -> String {
    let is_manager = kind == "MANAGER";
    let mut row = Row::new(kind, name);
    row.text("Access Specification Name", &super::name(cell.name()));
    if !is_manager {
        row.whole("# Managers", u64::from(cell.ranks));
    }
    row.whole("# Workers", u64::from(cell.workers));
    let workers: Vec<&WorkerPlan> =
        planned.map_or_else(Vec::new, |cell| cell.workers.iter().collect());
    row.whole(
        "# Disks",
        workers.iter().map(|worker| worker.spans.len() as u64).sum(),
    );
    figures.fill(&mut row, is_manager);
    fill_place(&mut row, &workers);
    if let Some(machine) = &cell.cpu.machine {
        fill_cpu(&mut row, machine);
        if machine.busy > 0.0 {
            row.real("CPU Effectiveness", figures.iops() / (machine.busy * 100.0));
        }
    }
    if is_manager {
        row.real("Processor Speed", TICKS_PER_SECOND);
    }
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
    let mut row = Row::new("WORKER", &worker.name);
    row.text(
        "Access Specification Name",
        &super::name(&worker.access_spec),
    );
    row.whole(
        "# Disks",
        plan.map_or(worker.targets.len(), |plan| plan.spans.len()) as u64,
    );
    figures_of(worker).fill(&mut row, true);
    fill_place(&mut row, plan.as_slice());
    row.real("Processor Speed", TICKS_PER_SECOND);
    row.line()
}

fn of_target(worker: &WorkerFigures, target: &TargetFigures, plan: Option<&WorkerPlan>) -> String {
    let mut row = Row::new("DISK", &target.target);
    let flows = Flows {
        transactions: target.transactions,
        transaction_latency: None,
        connections: target.connections,
        connection_latency: target.connection_latency.as_ref(),
    };
    let figures = Figures::of(&target.operations, worker.run_time_ns, flows);
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

/// Where the workers' requests go and how many are in flight.
fn fill_place(row: &mut Row, workers: &[&WorkerPlan]) {
    fill_connection(row, workers);
    fill_spans(row, workers.iter().flat_map(|worker| &worker.spans));
}

fn fill_connection(row: &mut Row, workers: &[&WorkerPlan]) {
    let tested: BTreeSet<_> = workers
        .iter()
        .map(|worker| worker.transactions_per_connection)
        .collect();
    let mut tested = tested.into_iter();
    match (tested.next().flatten(), tested.next()) {
        (Some(transactions), None) => {
            row.whole("Transactions per Connection", u64::from(transactions));
        }
        _ => row.text("Transactions per Connection", NONE),
    }
}

fn fill_spans<'a>(row: &mut Row, spans: impl Iterator<Item = &'a SpanPlan> + Clone) {
    let start = spans.clone().map(|span| span.start_bytes / SECTOR_BYTES);
    let size = spans.clone().map(|span| span.size_bytes / SECTOR_BYTES);
    let depth = spans.map(|span| u64::from(span.iodepth));
    row.text("Starting Sector", &common(start, NONE_UNSIGNED));
    row.text("Maximum Size", &common(size, NONE_UNSIGNED));
    row.text("Queue Depth", &common(depth, NONE));
}

/// The value that all have, or `none`.
fn common(mut values: impl Iterator<Item = u64>, none: &str) -> String {
    let first = values.next();
    match first {
        Some(first) if values.all(|value| value == first) => first.to_string(),
        _ => none.to_owned(),
    }
}

fn fill_cpu(row: &mut Row, shares: &MachineCpu) {
    for (head, share) in [
        ("% CPU Utilization", shares.busy),
        ("% User Time", shares.user),
        // Iometer's privileged time includes interrupts.
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
