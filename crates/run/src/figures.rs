//! Turns counters into the cell's record.

use std::collections::BTreeMap;

use plan::{Cell, Plan};
use results::{
    CellRecord, CounterNames, DueFigures, Latency, MismatchFigures, OpenLoopFigures, SplitLatency,
    Status, TargetFigures, WorkerFigures,
};
use stats::{Histogram, Interval};

use crate::due::due_figures;
use crate::measured::{MeasuredCell, MeasuredLane};
use crate::outcome::WorkerOutcome;

/// Names of all operations, by number.
pub(crate) fn operation_names() -> Vec<&'static str> {
    engine::Operation::ALL
        .iter()
        .map(|operation| operation.name())
        .collect()
}

/// Record of a cell, without CPU and device usage.
pub(crate) fn cell_record(plan: &Plan, cell: &Cell, measured: &MeasuredCell) -> CellRecord {
    let due = cell.rate.map(|_| due_figures(measured));
    record_with_due(plan, cell, measured, due.as_ref())
}

/// As [`cell_record`], with the outcome of the due requests if it is already known; `None` if no
/// requests had due times.
pub(crate) fn record_with_due(
    plan: &Plan,
    cell: &Cell,
    measured: &MeasuredCell,
    due: Option<&DueFigures>,
) -> CellRecord {
    let operations = operation_names();
    let kinds = measured.transaction_kinds.iter();
    let transactions: Vec<&str> = kinds.map(String::as_str).collect();
    let names = CounterNames {
        operations: &operations,
        transactions: &transactions,
    };
    let mut totals = Interval::default();
    for span in measured.lanes.iter().flat_map(|lane| &lane.spans) {
        totals.merge(span);
    }
    let run_time_ns = run_time_ns(cell, measured);
    let mut record = CellRecord::of(cell, plan, &totals, run_time_ns, names);
    let stopped = measured.lanes.iter().any(|lane| lane.outcome.stopped);
    let is_valid = measured.standstills.iter().all(|it| it.is_left_out)
        // If standstills leave no time, nothing was measured.
        && (measured.standstills.is_empty() || record.run_time_ns > 0);
    record.status = match (stopped, is_valid) {
        (_, false) => Status::Failed,
        (true, true) => Status::Interrupted,
        (false, true) => Status::Complete,
    };
    record.standstills.clone_from(&measured.standstills);
    if let (Some(asked), Some(due)) = (cell.rate, due) {
        let figures = OpenLoopFigures::of(asked, &totals, run_time_ns, names, due);
        record.set_open_loop(figures);
    }
    record.steady = measured.steady.as_ref().map(|it| it.record.clone());
    record.engine_notes = measured.engine_notes.clone();
    record.intervals = measured.intervals.clone();
    let threads = u32::try_from(cell.own_workers().count()).unwrap_or(u32::MAX);
    // The plan counts each thread of work on many files as a worker. The record counts the user's
    // workers.
    record.workers = threads / cell.threads_per_worker();
    record.set_workers(
        cell.own_workers()
            .map(|(index, _)| worker_figures(index, plan, cell, measured, names))
            .collect(),
    );
    record.target_figures = target_figures(plan, measured, run_time_ns, names);
    record
}

/// Record for the usage of a cell's stage, which [`Observer::complete`] fills in. It has no results
/// of operations: encoding their histograms takes 1 ms, which evicts from the CPU caches the files
/// that the next stage is to find there.
///
/// [`Observer::complete`]: crate::observe::Observer::complete
pub(crate) fn usage_record(plan: &Plan, cell: &Cell, measured: &MeasuredCell) -> CellRecord {
    // Empty names leave out all operations.
    let names = CounterNames {
        operations: &[],
        transactions: &[],
    };
    let none = Interval::default();
    let mut record = CellRecord::of(cell, plan, &none, run_time_ns(cell, measured), names);
    let to_figures = |(index, worker)| {
        let times = measured.lanes.iter();
        let times = times.filter(|lane| lane.lane.worker_index == index);
        let run_time_ns = mean(times.map(|lane| lane.outcome.measured_ns));
        WorkerFigures::of(worker, &none, run_time_ns, names)
    };
    record.worker_figures = cell.own_workers().map(to_figures).collect();
    record
}

/// Measured time of the cell, in nanoseconds.
///
/// In a cell that ends by time, each worker measures for that time, give or take one request, so
/// the mean preserves the sum of the workers' rates. A cell that ends by operations lasts until the
/// last worker is done.
fn run_time_ns(cell: &Cell, measured: &MeasuredCell) -> u64 {
    // Jobs may start and end at different times.
    if cell.work.is_requests() {
        return overall_time_ns(measured);
    }
    let times = measured.lanes.iter().map(|lane| lane.outcome.measured_ns);
    if cell.operations.is_some() || cell.run_time_ns == 0 {
        return times.max().unwrap_or(0);
    }
    mean(times)
}

/// Time from the start of the first lane's measurement to the end of the last one's.
fn overall_time_ns(measured: &MeasuredCell) -> u64 {
    let lanes = measured.lanes.iter();
    let lanes = lanes.filter(|it| it.outcome.measured_ns > 0);
    let begin_ns = lanes.clone().map(MeasuredLane::begin_ns).min();
    let end_ns = lanes.map(|it| it.outcome.finish_ns).max();
    end_ns.unwrap_or(0) - begin_ns.unwrap_or(0)
}

fn mean(values: impl Iterator<Item = u64> + Clone) -> u64 {
    let count = values.clone().count().max(1) as u128;
    (values.map(u128::from).sum::<u128>() / count) as u64
}

fn worker_figures(
    worker_index: usize,
    plan: &Plan,
    cell: &Cell,
    measured: &MeasuredCell,
    names: CounterNames<'_>,
) -> WorkerFigures {
    let lanes: Vec<&MeasuredLane> = measured
        .lanes
        .iter()
        .filter(|lane| lane.lane.worker_index == worker_index)
        .collect();
    let worker = &cell.workers[worker_index];
    let mut spans = vec![Interval::default(); worker.spans.len()];
    for lane in &lanes {
        for (span_index, counted) in lane.lane.span_indexes.iter().zip(&lane.spans) {
            spans[*span_index].merge(counted);
        }
    }
    let mut totals = Interval::default();
    spans.iter().for_each(|span| totals.merge(span));
    let run_time_ns = mean(lanes.iter().map(|lane| lane.outcome.measured_ns));
    let mut figures = WorkerFigures::of(worker, &totals, run_time_ns, names);
    let finished_ns = lanes.iter().map(|lane| lane.outcome.finish_ns).max();
    figures.done_ns = finished_ns.map(|finish_ns| finish_ns.saturating_sub(measured.measure_ns));
    let logged = lanes.iter().flat_map(|it| it.outcome.logged.clone());
    figures.noted = logged.collect();
    if worker.job.is_some() {
        let begin_ns = lanes.iter().map(|lane| lane.begin_ns()).min();
        figures.begin_ns = begin_ns.map(|it| it.saturating_sub(measured.measure_ns));
        let usages = lanes.iter().filter_map(|lane| lane.outcome.usage);
        figures.usage = usages.reduce(|all, usage| all.with(&usage));
        figures.goals = lanes.iter().find_map(|lane| lane.goals.clone());
        figures.mismatch = lanes.iter().find_map(|lane| mismatch(&lane.outcome));
        figures.split_latencies = split_latencies(&lanes);
        // Intervals of several threads overlap, and a series has only one at a time.
        if let [lane] = lanes[..] {
            figures.intervals.clone_from(&lane.series);
        }
    }
    let to_figures = |(span, counted): (&plan::SpanPlan, &Interval)| TargetFigures {
        iodepth: span.iodepth,
        start_bytes: Some(span.start_bytes),
        size_bytes: Some(span.size_bytes),
        ..TargetFigures::of(plan, span.target_index, counted, run_time_ns, names)
    };
    figures.targets = worker.spans.iter().zip(&spans).map(to_figures).collect();
    figures
}

/// Split latencies of a job's lanes together, by the name of the operation.
fn split_latencies(lanes: &[&MeasuredLane]) -> BTreeMap<String, SplitLatency> {
    let mut merged: BTreeMap<&str, (Histogram, Histogram)> = BTreeMap::new();
    for split in lanes.iter().flat_map(|lane| &lane.outcome.split) {
        let (submission, completion) = merged.entry(split.operation.name()).or_default();
        submission.merge(&split.submission);
        completion.merge(&split.completion);
    }
    let to_figures = |(name, (submission, completion)): (&str, (Histogram, Histogram))| {
        let figures = SplitLatency {
            submission: Latency::of(&submission),
            completion: Latency::of(&completion),
        };
        (name.to_owned(), figures)
    };
    merged.into_iter().map(to_figures).collect()
}

fn mismatch(outcome: &WorkerOutcome) -> Option<MismatchFigures> {
    let first = outcome.first_mismatch.as_ref()?;
    Some(MismatchFigures {
        count: outcome.mismatch_count,
        file_index: first.mismatch.file_index,
        offset_bytes: first.mismatch.offset_bytes,
        length_bytes: first.length_bytes,
        wanted: first.mismatch.expected.clone(),
        seen: first.mismatch.actual.clone(),
    })
}

fn target_figures(
    plan: &Plan,
    measured: &MeasuredCell,
    run_time_ns: u64,
    names: CounterNames<'_>,
) -> Vec<TargetFigures> {
    let mut totals: BTreeMap<u32, Interval> = BTreeMap::new();
    for lane in &measured.lanes {
        for (span, counted) in lane.lane.plan.spans.iter().zip(&lane.spans) {
            totals.entry(span.target_index).or_default().merge(counted);
        }
    }
    totals
        .into_iter()
        .map(|(index, counted)| TargetFigures::of(plan, index, &counted, run_time_ns, names))
        .collect()
}
