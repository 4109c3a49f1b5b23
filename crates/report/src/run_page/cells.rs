//! Cells of a run: a table of all, then charts and tables of each.

use maud::{Markup, html};
use results::{CellRecord, OperationFigures, Status, WorkerFigures};
use units::format;

use super::cluster;
use super::operations;
use super::repetitions;
use super::run::Run;
use crate::chart::{
    figures, histogram, latency, percentiles, processes, replayed_rate, rounds, throughput, waiting,
};
use crate::html::{opening, pairs, plain, sentence, table};
use crate::model::{steady_sentence, within_sentence};
use crate::names::status_name;
use crate::numbers::{ABSENT, digits, mebibytes, percent};
use crate::parts::{CountedOperations, replayed};
use crate::representative::picks;
use crate::table::Column;
use crate::wrap::printable;

/// Number of cells that are open at first; the charts of the others are drawn on demand.
const OPEN_COUNT: usize = 2;
/// Number of cells with plain tables in the page; other tables are unpacked on demand.
const PLAIN_COUNT: usize = 50;

/// Maximum number of workers listed one by one; intervals have the same limit.
const WORKERS_MAX: usize = 64;

/// Returns one row per cell, and the estimates of repeated cells.
#[must_use]
pub fn results(run: &Run) -> Markup {
    let link = |row: usize| Some(cell_id(run, row));
    html! {
        section #(run.id("results")) {
            h2 { (run.heading("Results")) }
            @if run.record.cells.is_empty() {
                p.nothing { "No cell was measured." }
            } @else {
                (table(&run.model.cells, "Every cell", link))
            }
            @if let Some(estimates) = &run.model.estimates {
                @let caption = "Over repetitions: mean and half the 95 % confidence interval";
                (table(estimates, caption, |_| None))
                (repetitions::plot(run))
            }
        }
    }
}

/// Returns a part for each cell, which can be opened.
#[must_use]
pub fn each(run: &Run) -> Markup {
    html! {
        @if !run.record.cells.is_empty() {
            section #(run.id("cells")) {
                h2 { (run.heading("Cells")) }
                @for (index, cell) in run.record.cells.iter().enumerate() {
                    @let summary = html! {
                        h3 { (sentence(&run.naming.cell(cell))) }
                        span.brief { (brief(cell)) }
                    };
                    details.cell #(cell_id(run, index)) open[index < OPEN_COUNT] {
                        (opening(&summary, &one(run, cell), index < PLAIN_COUNT))
                    }
                }
            }
        }
    }
}

/// Returns the anchor of a cell, from its index in the record. The index of the cell itself is not
/// unique, because phases of a classic program share it.
fn cell_id(run: &Run, index: usize) -> String {
    run.id(&format!("cell-{}", index.saturating_add(1)))
}

/// Summarizes a cell in one line.
fn brief(cell: &CellRecord) -> String {
    let mut parts = Vec::new();
    if let Some(rate) = cell.transactions_per_second() {
        parts.push(format!("{} transactions per second", format::iops(rate)));
    }
    if cell.total.count > 0 {
        let rate = format::iops(cell.total.per_second);
        parts.push(format!(
            "{rate} {}",
            CountedOperations::of(cell).rate_name()
        ));
    }
    if let Some(median) = cell.total.latency.percentiles_ns.p50 {
        parts.push(format!("p50 {}", format::latency_ns(median)));
    }
    if cell.total.errors > 0 {
        parts.push(format!("{} failed", format::count(cell.total.errors)));
    }
    if cell.status != Status::Complete {
        parts.push(status_name(cell.status).to_owned());
    }
    parts.join(", ")
}

fn one(run: &Run, cell: &CellRecord) -> Markup {
    let charts: Vec<_> = [
        rounds(cell),
        processes(cell),
        replayed(run.record, cell)
            .and_then(|(_, trace)| replayed_rate(cell, trace.due.as_ref()?, run.detail)),
        throughput(cell, run.detail),
        latency(cell, run.detail),
        waiting(cell, run.detail),
        histogram(cell, run.detail),
        percentiles(cell, run.detail),
    ]
    .into_iter()
    .flatten()
    .collect();
    html! {
        (figures(&charts))
        (operations::table(cell))
        (pairs(&own_figures(run, cell), "The program's own results"))
        (errors(cell))
        (cluster::part(run, cell))
        (workers(cell))
        @if let Some(steady) = &cell.steady {
            p.within { "Rounds until steady: " (sentence(&steady_sentence(steady))) "." }
        }
        @if let Some(within) = &cell.within {
            p.within { "Within the run: " (sentence(&within_sentence(within))) "." }
        }
        p.circumstances { (sentence(&circumstances(cell).join(". "))) "." }
    }
}

/// Returns the results of a classic program, under their original names.
fn own_figures(run: &Run, cell: &CellRecord) -> Vec<(String, String)> {
    let rows = crate::classics::rows(run.record, cell).into_iter();
    rows.map(|[name, value]| (printable(&name), printable(&value)))
        .collect()
}

/// Returns failures by operation and cause; empty if there are none.
fn errors(cell: &CellRecord) -> Markup {
    let rows = cell.errors.iter().map(|error| {
        vec![
            printable(&error.operation),
            printable(&error.message),
            error.errno.to_string(),
            format::count(error.count),
        ]
    });
    let columns = [
        Column::name("operation"),
        Column::name("cause"),
        Column::number("errno", 1),
        Column::number("count", 1),
    ];
    plain(columns, rows, "Failed operations")
}

/// Returns the results of each worker if there are several. If there are many, only the extremes
/// and the median.
fn workers(cell: &CellRecord) -> Markup {
    let all = &cell.worker_figures;
    if all.len() < 2 {
        return html! {};
    }
    // The same operations as in the total of the cell, so that the workers add up to it.
    let names = CountedOperations::of(cell).names(cell);
    let is_counted = |name: &str| names.as_ref().is_none_or(|names| names.contains(&name));
    let sum = |worker: &WorkerFigures, of: fn(&OperationFigures) -> f64| {
        let counted = worker
            .operations
            .iter()
            .filter(|(name, _)| is_counted(name));
        counted.map(|(_, figures)| of(figures)).sum::<f64>()
    };
    let rate = |worker: &WorkerFigures| sum(worker, |it| it.per_second);
    let rates: Vec<f64> = all.iter().map(rate).collect();
    let (caption, shown): (String, Vec<&WorkerFigures>) = match all.len() {
        count if count > WORKERS_MAX => {
            let picked = picks(&rates).into_iter();
            let caption = format!("Workers: the slowest, the median and the fastest of {count}");
            (caption, picked.map(|(_, index)| &all[index]).collect())
        }
        _ => ("Workers".to_owned(), all.iter().collect()),
    };
    let rows = shown.into_iter().map(|worker| {
        vec![
            printable(&worker.name),
            printable(&worker.access_spec),
            format::iops(rate(worker)),
            mebibytes(sum(worker, |it| it.bytes_per_second)),
            percent(worker.utilization),
            worker.waiting.map_or_else(|| ABSENT.to_owned(), percent),
        ]
    });
    let columns = [
        Column::name("worker"),
        Column::name("access specification"),
        Column::number("IOPS", 1),
        Column::number("MiB/s", 1),
        Column::number("processor %", 1),
        Column::number("wait %", 1),
    ];
    plain(columns, rows, &caption)
}

/// Describes circumstances of the cell that the tables of the run do not show.
fn circumstances(cell: &CellRecord) -> Vec<String> {
    let seconds = |ns: u64| format!("{} s", digits(ns as f64 / 1e9));
    let mut parts = vec![format!("Measured for {}", seconds(cell.run_time_ns))];
    if let (Some(first), Some(last)) = (cell.first_done_ns, cell.last_done_ns) {
        let times = format!("{} and {}", seconds(first), seconds(last));
        parts.push(format!("First and last worker done after {times}"));
    }
    if let Some(machine) = &cell.cpu.machine {
        let shares = [
            ("busy", machine.busy),
            ("waiting for I/O", machine.iowait),
            ("taken by the hypervisor", machine.steal),
        ];
        let shares = shares.map(|(name, share)| format!("{} % {name}", percent(share)));
        parts.push(format!("All CPUs: {}", shares.join(", ")));
    }
    if let Some(share) = cell.cpu.waiting {
        let any = cell.cpu.pressure;
        let any = any.map(|any| format!(", any task for {} % of the time", percent(any)));
        parts.push(format!(
            "The workers waited for a CPU for {} % of their time{}",
            percent(share),
            any.unwrap_or_default()
        ));
    }
    if let Some(device) = &cell.device {
        parts.push(format!(
            "Requests of {}: {} reads, {} writes",
            printable(&device.source),
            format::count(device.reads),
            format::count(device.writes)
        ));
        if let Some(own) = device.own_read_bytes {
            parts.push(format!(
                "Read from it: {}, {} of that by pgmeter",
                format::size(device.read_bytes),
                // Requests in flight at either end can make pgmeter's count the larger one.
                format::size(own.min(device.read_bytes))
            ));
        }
    }
    if let Some(ring) = &cell.engine_notes.ring {
        parts.push(format!("Ring: {}", printable(&ring.flags.join(", "))));
        if !ring.missing.is_empty() {
            let missing = printable(&ring.missing.join(", "));
            parts.push(format!("Not known to this kernel: {missing}"));
        }
    }
    parts.extend(cell.engine_notes.notes.iter().map(|note| printable(note)));
    parts
}

/// Returns the use of CPU and device by each cell; empty if nothing is known.
#[must_use]
pub fn usage(run: &Run) -> Markup {
    let link = |row: usize| Some(cell_id(run, row));
    html! {
        @if let Some(usage) = &run.model.usage {
            section #(run.id("usage")) {
                h2 { (run.heading("Processor and device")) }
                p {
                    "user, sys: CPU time of pgmeter, as a share of the measured time. wait: share \
                     of their time that the workers waited for a CPU. own ns/op: CPU time of \
                     pgmeter's own loop per operation. user ns/op: time in user mode per \
                     operation of the cell. The other columns show the I/O of the block device. \
                     A multiple below 1 is due to a cache; above 1, to read-ahead, to writes of \
                     the file system itself, or to other programs."
                }
                (table(usage, "Processor and device of each cell", link))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn workers_count_the_operations_of_the_total() {
        let mut cell = sample::record().cells.remove(0);
        let figures = |per_second| OperationFigures {
            count: 1,
            per_second,
            ..OperationFigures::default()
        };
        let operations = [("read", 100.0), ("write", 20.0), ("open", 7.0)];
        let operations = operations.map(|(name, rate)| (name.to_owned(), figures(rate)));
        let worker = WorkerFigures {
            operations: operations.clone().into(),
            ..WorkerFigures::default()
        };
        cell.operations = operations.into();
        cell.worker_figures = vec![worker.clone(), worker];
        let page = workers(&cell).into_string();
        assert_eq!(page.matches("<td>120.0</td>").count(), 2, "{page}");
    }
}
