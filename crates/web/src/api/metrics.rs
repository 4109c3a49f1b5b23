//! Metrics of the stored runs for Prometheus, in OpenMetrics text.
//!
//! A scrape must not disturb a measurement on the same machine, so it reads only what has changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use results::{IntervalFigures, IntervalRecord, Status, per_second};
use store::{
    CellView, OperationView, RunCursor, RunOrder, RunQuery, RunRow, RunStatus, Store, StoreError,
};
use units::{MetricKind, MetricLabels, MetricsText, metric_seconds};

use crate::answer::{Answer, RefusedAnswer, typed};
use crate::metrics_cache::MetricsCache;
use crate::shared::State;

/// Number of the newest complete runs whose results are shown.
const RUNS_MAX: usize = 100;
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// `GET /metrics`
pub(crate) async fn metrics(shared: State) -> Answer {
    if !shared.options.has_metrics {
        let error = "this server shows no metrics";
        return Err(RefusedAnswer::missing(error).help("start `pgmeter serve` with `--metrics`"));
    }
    let state = Arc::clone(&shared);
    let text = shared.with_store(move |store| {
        let mut text = MetricsText::default();
        text.head("pgmeter", MetricKind::Info, "The server.");
        let version = [("version", &*state.options.version)];
        text.sample(&MetricLabels::of(&version), 1);
        add_counts(&mut text, store)?;
        add_results(&mut text, store, &state.metrics)?;
        add_running(&mut text, store)?;
        Ok(text.finish())
    });
    Ok(typed(CONTENT_TYPE, text.await?))
}

fn add_counts(text: &mut MetricsText, store: &Store) -> Result<(), StoreError> {
    text.head("pgmeter_runs", MetricKind::Gauge, "Stored runs.");
    for status in RunStatus::ALL {
        let query = RunQuery {
            status: Some(status),
            ..RunQuery::default()
        };
        let labels = MetricLabels::of(&[("status", status.as_str())]);
        text.sample(&labels, store.page(&query)?.matching_count);
    }
    Ok(())
}

/// Result of one operation in the newest run that measured its cell.
struct NewestResult<'a> {
    run: &'a RunRow,
    cell: &'a CellView,
    operations: Vec<(MetricLabels, &'a OperationView)>,
}

fn add_results(
    text: &mut MetricsText,
    store: &Store,
    cache: &MetricsCache,
) -> Result<(), StoreError> {
    let query = RunQuery {
        status: Some(RunStatus::Complete),
        order: RunOrder::Started,
        limit: RUNS_MAX,
        ..RunQuery::default()
    };
    let runs = store.page(&query)?.runs;
    let cells = cache.cells(store, &runs)?;
    let mut newest: BTreeMap<MetricLabels, NewestResult<'_>> = BTreeMap::new();
    for (run, cells) in runs.iter().zip(&cells) {
        for cell in cells.iter() {
            let labels = cell_labels(run, cell);
            // The newest run comes first. A label for the run would begin a new series with each
            // run, and hide from Prometheus how a result changes.
            newest
                .entry(labels.clone())
                .or_insert_with(|| NewestResult {
                    run,
                    cell,
                    operations: operations(&labels, cell),
                });
        }
    }
    add_cells(text, &newest);
    add_rates(text, &newest);
    add_latencies(text, &newest);
    Ok(())
}

fn cell_labels(run: &RunRow, cell: &CellView) -> MetricLabels {
    // As in reports, so that one query finds both.
    let workload = cell.access_spec.as_ref().unwrap_or(&cell.workload);
    let phase = match cell.phase.as_str() {
        "measure" => "",
        phase => phase,
    };
    MetricLabels::of(&[
        ("host", &*run.host),
        ("cell", &*cell.index.to_string()),
        ("workload", &**workload),
        ("target", &*cell.target),
        ("engine", &*cell.engine),
        ("cache", &*cell.cache),
        ("iodepth", &*cell.iodepth.to_string()),
        ("workers", &*cell.workers.to_string()),
        ("repetition", &*cell.repetition.to_string()),
        ("phase", phase),
    ])
}

fn operations<'a>(
    labels: &MetricLabels,
    cell: &'a CellView,
) -> Vec<(MetricLabels, &'a OperationView)> {
    let named = cell.operations.iter();
    let named = named.map(|(name, view)| ("operation", name.as_str(), view));
    named
        .chain([("total", "total", &cell.total)])
        .map(|(kind, name, view)| {
            let labels = labels.with(&[("kind", kind), ("operation", name)]);
            (labels, view)
        })
        .collect()
}

type NewestResults<'a> = BTreeMap<MetricLabels, NewestResult<'a>>;

fn add_cells(text: &mut MetricsText, newest: &NewestResults<'_>) {
    let help = "The newest complete run that measured the cell.";
    text.head("pgmeter_cell_run", MetricKind::Info, help);
    for (labels, it) in newest {
        text.sample(&labels.with(&[("run", &it.run.id)]), 1);
    }
    let help = "Start of that run, in seconds since 1970.";
    text.head("pgmeter_cell_start_seconds", MetricKind::Gauge, help);
    for (labels, it) in newest {
        text.sample(labels, it.run.started_at.as_microsecond() as f64 / 1e6);
    }
    let help = "Measured time of the cell.";
    text.head("pgmeter_measured_seconds", MetricKind::Gauge, help);
    for (labels, it) in newest {
        text.sample(labels, metric_seconds(it.cell.run_time_ns));
    }
    let help = "1 if the cell was measured completely, else 0.";
    text.head("pgmeter_cell_complete", MetricKind::Gauge, help);
    for (labels, it) in newest {
        let is_complete = it.cell.status == Status::Complete;
        text.sample(labels, u8::from(is_complete));
    }
}

fn add_rates(text: &mut MetricsText, newest: &NewestResults<'_>) {
    let all = || newest.values().flat_map(|it| &it.operations);
    let help = "Operations that failed.";
    text.head("pgmeter_operation_errors", MetricKind::Counter, help);
    for (labels, view) in all() {
        text.sample(labels, view.errors);
    }
    let help = "Operations per second of measured time.";
    text.head("pgmeter_operations_per_second", MetricKind::Gauge, help);
    for (labels, view) in all() {
        if let Some(rate) = view.per_second {
            text.sample(labels, rate);
        }
    }
    let help = "Bytes read and written per second of measured time.";
    text.head("pgmeter_bytes_per_second", MetricKind::Gauge, help);
    for (labels, view) in all() {
        if let Some(rate) = view.bytes_per_second {
            text.sample(labels, rate);
        }
    }
}

fn add_latencies(text: &mut MetricsText, newest: &NewestResults<'_>) {
    let all = || newest.values().flat_map(|it| &it.operations);
    let help = "Time from queued to reaped.";
    text.head("pgmeter_latency_seconds", MetricKind::Summary, help);
    for (labels, view) in all() {
        for (percent, ns) in view.latency.percentiles_ns.supported(view.count) {
            text.sample(&labels.with_percentile(percent), metric_seconds(ns));
        }
    }
    let help = "Longest time from queued to reaped.";
    text.head("pgmeter_latency_max_seconds", MetricKind::Gauge, help);
    for (labels, view) in all() {
        if let Some(ns) = view.latency.max_ns {
            text.sample(labels, metric_seconds(ns));
        }
    }
}

/// A run that is measuring.
struct RunningRun {
    labels: MetricLabels,
    complete_cells: u32,
    /// The last interval of the cell that is being measured.
    interval: Option<IntervalRecord>,
}

impl RunningRun {
    fn load(store: &Store, id: &str) -> Result<Self, StoreError> {
        let row = store.row(id)?;
        let end = store.end_cursor(id)?;
        // Only the last interval, because a long cell has many.
        let last = RunCursor {
            step: end.step.saturating_sub(1),
            ..end
        };
        let (cells, _) = store.intervals(id, last, Some(end.cell))?;
        let intervals = cells.into_iter().flat_map(|cell| cell.intervals);
        let (workload, target) = (row.workloads.join(", "), row.targets.join(", "));
        Ok(Self {
            labels: MetricLabels::of(&[
                ("host", &*row.host),
                ("run", id),
                ("workload", &*workload),
                ("target", &*target),
            ]),
            complete_cells: row.cell_count,
            interval: intervals.last(),
        })
    }
}

fn add_running(text: &mut MetricsText, store: &Store) -> Result<(), StoreError> {
    let live = store.live_runs()?;
    let running: Result<Vec<RunningRun>, StoreError> = live
        .iter()
        .map(|run| RunningRun::load(store, &run.id))
        .collect();
    let running = running?;
    let help = "Complete cells of a run that is measuring.";
    text.head("pgmeter_running_complete_cells", MetricKind::Gauge, help);
    for it in &running {
        text.sample(&it.labels, it.complete_cells);
    }
    let help = "Operations per second in the last interval of a run that is measuring.";
    let name = "pgmeter_running_operations_per_second";
    text.head(name, MetricKind::Gauge, help);
    add_interval_rates(text, &running, |it| it.count);
    let help = "Bytes per second in the last interval of a run that is measuring.";
    text.head("pgmeter_running_bytes_per_second", MetricKind::Gauge, help);
    add_interval_rates(text, &running, |it| it.bytes);
    Ok(())
}

fn add_interval_rates(
    text: &mut MetricsText,
    running: &[RunningRun],
    amount: fn(&IntervalFigures) -> u64,
) {
    for run in running {
        // A rate over no time is unknown.
        let Some(interval) = run.interval.as_ref().filter(|it| it.length_ns > 0) else {
            continue;
        };
        for (name, figures) in &interval.operations {
            let labels = run.labels.with(&[("operation", name)]);
            text.sample(&labels, per_second(amount(figures), interval.length_ns));
        }
    }
}
