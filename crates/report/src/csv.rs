//! The report as CSV for programs: one row per cell and operation, in base units, without rounding.

use std::borrow::Cow;

use results::{
    CellRecord, EstimateRecord, Latency, OpenLoopFigures, OperationFigures, RESPONSE, RunRecord,
    SteadyRecord, TransactionFigures, WithinRun,
};

use plan::CurvePart;

use crate::names::{cache_name, status_name, verdict_name};

const HEADERS: [&str; 66] = [
    "run",
    "started_at",
    "cell",
    "workload",
    "access_spec",
    "target",
    "engine",
    "cache",
    "iodepth",
    "workers",
    "ranks",
    "repetition",
    "phase",
    "status",
    "run_time_ns",
    "ramp_time_ns",
    "kind",
    "operation",
    "count",
    "errors",
    "short_count",
    "bytes",
    "per_second",
    "bytes_per_second",
    "latency_count",
    "latency_min_ns",
    "latency_mean_ns",
    "latency_stddev_ns",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p95_ns",
    "latency_p99_ns",
    "latency_p99_9_ns",
    "latency_p99_99_ns",
    "latency_p99_999_ns",
    "latency_max_ns",
    "cpu_user_ns",
    "cpu_system_ns",
    "within_intervals",
    "within_effective",
    "within_mean_per_second",
    "within_ci95_low",
    "within_ci95_high",
    "within_stddev",
    "within_warm_up_ns",
    "within_settled_per_second",
    "within_warm_up_p",
    "within_drift",
    "within_drift_p",
    "steady",
    "steady_rounds",
    "steady_range",
    "steady_excursion",
    "asked_per_second",
    "curve_percent",
    "estimate_metric",
    "estimate_unit",
    "estimate_n",
    "estimate_mean",
    "estimate_ci95_low",
    "estimate_ci95_high",
    "estimate_interval",
    "estimate_stddev",
    "estimate_smallest_difference",
    "estimate_verdict",
    "first_cell",
];

/// Number of columns about intervals, filled only in rows of totals.
const INTERVAL_COLUMNS: usize = 11;
/// Number of columns about rounds until steady, filled only in rows of totals.
const STEADY_COLUMNS: usize = 4;

/// Number of columns about repetitions, filled only in rows of estimates.
const ESTIMATE_COLUMNS: usize = 10;

/// Returns heads and rows, with line endings according to RFC 4180.
pub fn render(record: &RunRecord) -> String {
    // The writer rejects rows of different lengths, so a forgotten column fails the tests.
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::new());
    let mut write = |row: &[String]| {
        writer
            .write_record(row)
            .expect("memory takes every row and all rows are equally long");
    };
    write(&HEADERS.map(str::to_owned));
    for cell in &record.cells {
        for shown in rows(cell) {
            write(&row(record, cell, [shown.kind, shown.name], &shown.figures));
        }
    }
    for estimate in &record.estimates {
        write(&estimate_row(record, estimate));
    }
    let bytes = writer.into_inner().expect("memory can always be flushed");
    String::from_utf8(bytes).expect("rows of text are text")
}

/// Results of a cell under a name.
pub struct Row<'a> {
    /// `operation`, `transaction` or `total`.
    pub kind: &'static str,
    /// Name of the operation or of the kind of transaction, or `total`.
    pub name: &'a str,
    pub figures: Cow<'a, OperationFigures>,
}

impl Row<'_> {
    /// `false` for transactions: bytes are counted by operation.
    pub fn has_bytes(&self) -> bool {
        self.kind != "transaction"
    }
}

/// Returns the results of a cell: its operations, its transactions, the responses of an open loop,
/// and the total.
pub fn rows(cell: &CellRecord) -> Vec<Row<'_>> {
    let operations = cell.operations.iter().map(|(name, figures)| Row {
        kind: "operation",
        name,
        figures: Cow::Borrowed(figures),
    });
    let transactions = cell.transactions.iter().map(|(name, kind)| Row {
        kind: "transaction",
        name,
        figures: Cow::Owned(as_operation(kind)),
    });
    let responses = cell.open_loop.iter().map(|open_loop| Row {
        kind: "transaction",
        name: RESPONSE,
        figures: Cow::Owned(responses(open_loop)),
    });
    let total = Row {
        kind: "total",
        name: "total",
        figures: Cow::Borrowed(&cell.total),
    };
    operations
        .chain(transactions)
        .chain(responses)
        .chain([total])
        .collect()
}

fn as_operation(kind: &TransactionFigures) -> OperationFigures {
    OperationFigures {
        count: kind.count,
        errors: kind.errors,
        per_second: kind.per_second,
        latency: kind.latency.clone(),
        ..OperationFigures::default()
    }
}

fn responses(open_loop: &OpenLoopFigures) -> OperationFigures {
    OperationFigures {
        count: open_loop.response.count,
        errors: open_loop.errors,
        per_second: open_loop.achieved_per_second,
        latency: open_loop.response.clone(),
        ..OperationFigures::default()
    }
}

fn row(
    record: &RunRecord,
    cell: &CellRecord,
    [kind, name]: [&str; 2],
    figures: &OperationFigures,
) -> Vec<String> {
    let mut row = cell_fields(record, cell);
    row.extend([kind.to_owned(), name.to_owned()]);
    row.extend(
        [
            figures.count,
            figures.errors,
            figures.short_count,
            figures.bytes,
        ]
        .map(integer),
    );
    row.extend([figures.per_second, figures.bytes_per_second].map(real));
    row.extend(latency_fields(&figures.latency));
    row.extend([cell.cpu.user_ns, cell.cpu.system_ns].map(integer));
    // They describe the whole cell, so only its last row has them.
    let within = cell.within.as_ref().filter(|_| kind == "total");
    row.extend(within.map_or_else(Default::default, within_fields));
    let steady = cell.steady.as_ref().filter(|_| kind == "total");
    row.extend(steady.map_or_else(Default::default, steady_fields));
    row.push(cell.rate_per_second().map_or_else(String::new, real));
    row.push(curve_percent(cell.curve));
    row.extend(<[String; ESTIMATE_COLUMNS]>::default());
    row.push(optional(cell.first_index.map(u64::from)));
    row
}

/// Returns the row of an estimate over repetitions. Columns of single repetitions are empty.
fn estimate_row(record: &RunRecord, estimate: &EstimateRecord) -> Vec<String> {
    let real_or_empty = |value: Option<f64>| value.map_or_else(String::new, real);
    let none = || String::new();
    let mut row = vec![
        record.id.clone(),
        record.started_at.to_string(),
        none(),
        estimate.workload.clone(),
        estimate.access_spec.clone().unwrap_or_default(),
        estimate.target.clone(),
        estimate.engine.name().to_owned(),
        cache_name(estimate.cache).to_owned(),
        estimate.iodepth.to_string(),
        estimate.workers.to_string(),
        none(),
        none(),
        estimate.phase.text().into_owned(),
    ];
    row.extend([none(), none(), none(), "estimate".to_owned()]);
    row.push(estimate.operation.clone());
    // Three more columns follow in addition to the estimate: rate, share of the peak, first index.
    let column_count = HEADERS.len() - ESTIMATE_COLUMNS - 3;
    row.resize(column_count, none());
    row.push(real_or_empty(estimate.rate_per_second));
    row.push(curve_percent(estimate.curve));
    row.extend([
        estimate.metric.clone(),
        estimate.unit.clone(),
        estimate.n.to_string(),
        real(estimate.mean),
        real_or_empty(estimate.ci95_low),
        real_or_empty(estimate.ci95_high),
        estimate.interval.map_or_else(none, |it| text_of(&it)),
        real_or_empty(estimate.stddev),
        real_or_empty(estimate.smallest_difference),
        estimate.verdict.map_or_else(none, |it| text_of(&it)),
        optional(estimate.first_index.map(u64::from)),
    ]);
    row
}

/// Returns the share of the peak for a point of a response-time curve; empty otherwise.
fn curve_percent(curve: Option<CurvePart>) -> String {
    match curve {
        Some(CurvePart::Point { percent, .. }) => percent.to_string(),
        _ => String::new(),
    }
}

/// Returns the name of a value in records.
fn text_of(value: &impl serde::Serialize) -> String {
    let value = units::json_value(value).ok();
    value
        .and_then(|it| it.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn cell_fields(record: &RunRecord, cell: &CellRecord) -> Vec<String> {
    vec![
        record.id.clone(),
        cell.started_at.unwrap_or(record.started_at).to_string(),
        cell.index.to_string(),
        cell.workload.clone(),
        cell.access_spec.clone().unwrap_or_default(),
        cell.target.clone(),
        cell.engine.name().to_owned(),
        cache_name(cell.cache).to_owned(),
        cell.iodepth.to_string(),
        cell.workers.to_string(),
        cell.ranks.to_string(),
        cell.repetition.to_string(),
        cell.phase.text().into_owned(),
        status_name(cell.status).to_owned(),
        cell.run_time_ns.to_string(),
        cell.ramp_time_ns.to_string(),
    ]
}

fn latency_fields(latency: &Latency) -> Vec<String> {
    let at = &latency.percentiles_ns;
    let mut fields = vec![integer(latency.count), optional(latency.min_ns)];
    fields.extend([latency.mean_ns, latency.stddev_ns].map(|ns| ns.map_or_else(String::new, real)));
    let percentiles = [
        at.p50, at.p90, at.p95, at.p99, at.p99_9, at.p99_99, at.p99_999,
    ];
    fields.extend(percentiles.map(optional));
    fields.push(optional(latency.max_ns));
    fields
}

fn within_fields(within: &WithinRun) -> [String; INTERVAL_COLUMNS] {
    let real_or_empty = |value: Option<f64>| value.map_or_else(String::new, real);
    let warm_up = within.warm_up.as_ref();
    let drift = within.drift.as_ref();
    [
        within.intervals.to_string(),
        real_or_empty(within.effective),
        real(within.mean),
        real_or_empty(within.ci95_low),
        real_or_empty(within.ci95_high),
        real(within.stddev),
        optional(warm_up.map(|it| it.length_ns)),
        real_or_empty(warm_up.map(|it| it.settled_mean)),
        real_or_empty(warm_up.map(|it| it.p_value)),
        real_or_empty(drift.map(|it| it.change)),
        real_or_empty(drift.map(|it| it.p_value)),
    ]
}

fn steady_fields(steady: &SteadyRecord) -> [String; STEADY_COLUMNS] {
    let shares = steady.shares();
    let real_or_empty = |value: Option<f64>| value.map_or_else(String::new, real);
    [
        verdict_name(steady.verdict).to_owned(),
        steady.rounds.len().to_string(),
        real_or_empty(shares.map(|it| it.0)),
        real_or_empty(shares.map(|it| it.1)),
    ]
}

fn integer(value: u64) -> String {
    value.to_string()
}

fn optional(value: Option<u64>) -> String {
    value.map_or_else(String::new, integer)
}

/// Formats the shortest text that parses to the same number; empty if it is not finite.
fn real(value: f64) -> String {
    if value.is_finite() {
        value.to_string()
    } else {
        String::new()
    }
}
