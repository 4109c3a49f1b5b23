//! Tables of a report.

use results::{
    CellNames, CellRecord, EstimateRecord, IntervalKind, Latency, OperationFigures, RunRecord,
    percentile_is_supported,
};
use units::format;

use crate::names::{cache_name, kind_name};
use crate::numbers::{ABSENT, LatencyUnit, mebibytes, percent};
use crate::parts::{distinct_transactions, is_classic};
use crate::table::{Column, Table};
use crate::wrap::printable;

/// Heads of columns that are omitted if all rows are equal.
pub(super) const OMITTED_IF_UNIFORM: [&str; 6] =
    ["target", "engine", "cache", "workers", "rate /s", "rep"];

/// Returns one row per cell.
pub fn cells(record: &RunRecord, unit: LatencyUnit) -> Table {
    let identity = places(record);
    let rows = record.cells.iter().map(|cell| {
        let mut row = identity(cell);
        let mut own = figures(&cell.total, unit);
        // Nothing was measured, so there is no rate.
        if cell.run_time_ns == 0 {
            own[..2].fill_with(|| ABSENT.to_owned());
        }
        row.extend(own);
        row
    });
    let mut table = with_figures(place_columns(), rows.collect(), unit);
    fit_to_classics(record, &mut table);
    table
}

/// Adapts a table to cells of classic programs, which count operations on whole files. If all cells
/// are classic, a uniform queue depth is omitted.
pub(super) fn fit_to_classics(record: &RunRecord, table: &mut Table) {
    if !record.cells.iter().any(is_classic) {
        return;
    }
    if record.cells.iter().all(is_classic) {
        table.drop_uniform(&["queue depth"]);
    }
    // This counts single operations, but the original counts pairs as transactions.
    let is_paired = |cell: &CellRecord| cell.transactions_per_second().is_some();
    let head = match record.cells.iter().any(is_paired) {
        true => "op/s",
        false => "per s",
    };
    for column in table.columns.iter_mut().filter(|it| it.head == "IOPS") {
        column.head = head.to_owned();
    }
}

/// Returns one row per operation and kind of transaction; `None` if no cell has several.
pub fn operations(record: &RunRecord, unit: LatencyUnit) -> Option<Table> {
    let identity = places(record);
    let mut rows = Vec::new();
    for cell in &record.cells {
        let parts = parts(cell);
        if parts.len() < 2 {
            continue;
        }
        for (name, part) in parts {
            let mut row = identity(cell);
            row.push(printable(&name));
            row.extend(figures(&part, unit));
            rows.push(row);
        }
    }
    let mut columns = place_columns();
    columns.push(Column::name("operation"));
    (!rows.is_empty()).then(|| {
        let mut table = with_figures(columns, rows, unit);
        fit_to_classics(record, &mut table);
        table
    })
}

/// Returns the operations of a cell, then its transactions if they are not single operations.
fn parts(cell: &CellRecord) -> Vec<(String, OperationFigures)> {
    let done = |figures: &OperationFigures| figures.count + figures.errors > 0;
    let mut parts: Vec<(String, OperationFigures)> = cell
        .operations
        .iter()
        .filter(|(_, figures)| done(figures))
        .map(|(name, figures)| (name.clone(), figures.clone()))
        .collect();
    parts.extend(distinct_transactions(cell).map(|(name, kind)| {
        let figures = OperationFigures {
            count: kind.count,
            errors: kind.errors,
            per_second: kind.per_second,
            // Not 0, which would look like a result.
            bytes_per_second: f64::NAN,
            latency: kind.latency.clone(),
            ..OperationFigures::default()
        };
        (kind_name(cell.phase.name(), name), figures)
    }));
    parts
}

fn with_figures(mut columns: Vec<Column>, rows: Vec<Vec<String>>, unit: LatencyUnit) -> Table {
    let first = columns.len() + 2;
    let failed = rows
        .iter()
        .any(|row| row.last().is_some_and(|errors| errors != "0"));
    columns.extend([
        Column::number("IOPS", 30),
        Column::number("MiB/s", 8),
        Column::number("mean", 3),
        Column::number("p50", 5),
        Column::number("p99", 9),
        Column::number("p99.9", 4),
        Column::number("max", 2),
        // A column without errors may be dropped early in narrow output; one with errors should
        // stay.
        Column::number("errors", if failed { 20 } else { 1 }),
    ]);
    let span = format!("latency in {}", unit.name());
    let mut table = Table::new(columns, rows).with_span(first, first + 4, span);
    table.drop_uniform(&OMITTED_IF_UNIFORM);
    table
}

/// Returns the columns that identify the cell of a row.
pub(super) fn place_columns() -> Vec<Column> {
    vec![
        Column::name("workload"),
        Column::name("target"),
        Column::name("engine"),
        Column::name("cache"),
        Column::number("workers", 6),
        Column::number("queue depth", 25),
        Column::number("rate /s", 24),
        Column::number("rep", 19),
    ]
}

/// Returns a function for the first texts of a row, which identify its cell.
pub(super) fn places(record: &RunRecord) -> impl Fn(&CellRecord) -> Vec<String> + use<> {
    let names = CellNames::of(&record.plan);
    move |cell| place(&names, cell)
}

fn place(names: &CellNames, cell: &CellRecord) -> Vec<String> {
    let title = printable(&names.title(cell));
    vec![
        match cell.is_valid() {
            true => title,
            false => format!("{title} (not valid)"),
        },
        printable(&cell.target),
        cell.engine.name().to_owned(),
        cache_name(cell.cache).to_owned(),
        cell.workers.to_string(),
        cell.iodepth.to_string(),
        rate(cell.rate_per_second()),
        (u64::from(cell.repetition) + 1).to_string(),
    ]
}

/// Returns the requested rate; empty for a closed loop.
fn rate(per_second: Option<f64>) -> String {
    per_second.map_or_else(String::new, |rate| match rate.fract() == 0.0 {
        true => rate.to_string(),
        // The mean rate of a trace has more digits than mean anything.
        false => format!("{rate:.2}"),
    })
}

fn figures(figures: &OperationFigures, unit: LatencyUnit) -> [String; 8] {
    let latency = &figures.latency;
    [
        format::iops(figures.per_second),
        // Transactions have no bandwidth.
        Some(figures.bytes_per_second)
            .filter(|rate| !rate.is_nan())
            .map_or_else(String::new, mebibytes),
        unit.show(latency.mean_ns),
        percentile(latency, latency.percentiles_ns.p50, 50.0, unit),
        percentile(latency, latency.percentiles_ns.p99, 99.0, unit),
        percentile(latency, latency.percentiles_ns.p99_9, 99.9, unit),
        unit.show(latency.max_ns.map(|ns| ns as f64)),
        figures.errors.to_string(),
    ]
}

pub(super) fn percentile(
    latency: &Latency,
    ns: Option<u64>,
    percent: f64,
    unit: LatencyUnit,
) -> String {
    if percentile_is_supported(latency.count, percent) {
        unit.show(ns.map(|ns| ns as f64))
    } else {
        ABSENT.to_owned()
    }
}

/// Creates a table of rows that each begin with their [`place`]. Omits columns of places with equal
/// values; `None` without rows.
pub(super) fn of_places(
    own: impl IntoIterator<Item = Column>,
    rows: Vec<Vec<String>>,
) -> Option<Table> {
    let mut columns = place_columns();
    columns.extend(own);
    let mut table = Table::new(columns, rows);
    table.drop_uniform(&OMITTED_IF_UNIFORM);
    (!table.rows.is_empty()).then_some(table)
}

/// Returns the results of classic programs, under their original names; `None` without such cells.
pub fn classic(record: &RunRecord) -> Option<Table> {
    let names = CellNames::of(&record.plan);
    let mut rows = Vec::new();
    for cell in &record.cells {
        for [name, value] in crate::classics::rows(record, cell) {
            let mut row = place(&names, cell);
            row[0] = printable(&names.name(cell));
            row.extend([printable(&name), printable(&value)]);
            rows.push(row);
        }
    }
    let columns = [Column::name("figure"), Column::number("value", 30)];
    let mut table = of_places(columns, rows)?;
    table.drop_uniform(&["queue depth", "workload"]);
    Some(table)
}

/// Returns one row per group of repetitions; `None` if nothing was repeated.
pub fn estimates(record: &RunRecord, unit: LatencyUnit) -> Option<Table> {
    let totals = record.estimates.iter();
    let groups = group_estimates(totals.filter(|estimate| estimate.operation == TOTAL));
    estimate_table(record, &groups, None, unit)
}

/// Same as [`estimates`], per operation, for cells that have several.
pub fn operation_estimates(record: &RunRecord, unit: LatencyUnit) -> Option<Table> {
    let parts = record.estimates.iter();
    let mut groups = group_estimates(parts.filter(|estimate| estimate.operation != TOTAL));
    let keys: Vec<_> = groups.iter().map(|group| group[0].key()).collect();
    let is_one_of_several =
        |group: &[&EstimateRecord]| keys.iter().filter(|key| **key == group[0].key()).count() > 1;
    // A single operation has the same values as the total.
    groups.retain(|group| is_one_of_several(group));
    estimate_table(record, &groups, Some(Column::name("operation")), unit)
}

/// Name of all operations together in estimates.
const TOTAL: &str = "total";

/// Estimates of an operation of a cell over its repetitions.
type Group<'a> = Vec<&'a EstimateRecord>;

fn group_estimates<'a>(estimates: impl Iterator<Item = &'a EstimateRecord>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    for estimate in estimates {
        let is_same = |group: &Group| {
            group[0].operation == estimate.operation && group[0].key() == estimate.key()
        };
        match groups.iter_mut().find(|group| is_same(group)) {
            Some(group) => group.push(estimate),
            None => groups.push(vec![estimate]),
        }
    }
    groups
}

/// Returns one row per group, including its operation if there is a column for it.
fn estimate_table(
    record: &RunRecord,
    groups: &[Group],
    operation: Option<Column>,
    unit: LatencyUnit,
) -> Option<Table> {
    if groups.is_empty() {
        return None;
    }
    let mut columns = place_columns();
    // The last column is the repetition, which an estimate does not have.
    columns.pop();
    let place_count = columns.len();
    let has_operation = operation.is_some();
    columns.extend(operation);
    columns.extend([
        Column::number("n", 15),
        Column::number("IOPS", 30),
        Column::number("MiB/s", 8),
        Column::number("detects", 7),
        Column::number(&format!("mean {}", unit.name()), 6),
        Column::number(&format!("p50 {}", unit.name()), 3),
        Column::number(&format!("p99 {}", unit.name()), 5),
        Column::number(&format!("p99.9 {}", unit.name()), 2),
    ]);
    let is_judged = groups.iter().flatten().any(|it| it.verdict.is_some());
    if is_judged {
        columns.push(Column::name("ended by"));
    }
    let names = CellNames::of(&record.plan);
    let row = |group: &Group| {
        let mut row = estimate_row(&names, group, unit);
        if has_operation {
            row.insert(place_count, printable(&group[0].operation));
        }
        row.extend(is_judged.then(|| ending(group)));
        row
    };
    let mut table = Table::new(columns, groups.iter().map(row));
    table.drop_uniform(&OMITTED_IF_UNIFORM);
    fit_to_classics(record, &mut table);
    Some(table)
}

fn estimate_row(names: &CellNames, group: &[&EstimateRecord], unit: LatencyUnit) -> Vec<String> {
    let first = group[0];
    let cell_text = |metric: &str, show: &dyn Fn(f64) -> String| {
        group
            .iter()
            .find(|estimate| estimate.metric == metric)
            .map_or_else(
                || ABSENT.to_owned(),
                |estimate| with_interval(estimate, show),
            )
    };
    let latency = |ns: f64| unit.show(Some(ns));
    vec![
        printable(&names.estimate(first)),
        printable(&first.target),
        first.engine.name().to_owned(),
        cache_name(first.cache).to_owned(),
        first.workers.to_string(),
        first.iodepth.to_string(),
        rate(first.rate_per_second),
        first.n.to_string(),
        cell_text("per_second", &format::iops),
        cell_text("bytes_per_second", &mebibytes),
        detectable(group),
        cell_text("latency_mean", &latency),
        cell_text("latency_p50", &latency),
        cell_text("latency_p99", &latency),
        cell_text("latency_p99_9", &latency),
    ]
}

/// Returns the reason why the repetitions of a cell ended.
fn ending(group: &[&EstimateRecord]) -> String {
    let verdict = group.iter().find_map(|estimate| estimate.verdict);
    verdict.map_or_else(|| ABSENT.to_owned(), |verdict| verdict.name().to_owned())
}

/// Returns the smallest difference between two such rates that a comparison would detect, relative
/// to the mean.
fn detectable(group: &[&EstimateRecord]) -> String {
    let share = group
        .iter()
        // There is no share of a mean of 0.
        .find(|estimate| estimate.metric == "per_second" && estimate.mean > 0.0)
        .and_then(|estimate| Some(estimate.smallest_difference? / estimate.mean));
    share.map_or_else(
        || ABSENT.to_owned(),
        |share| format!("{} %", percent(share)),
    )
}

/// Formats `mean ± half the 95 % interval`, both ends of an asymmetric interval, or only the mean
/// if there is no interval.
fn with_interval(estimate: &EstimateRecord, show: &dyn Fn(f64) -> String) -> String {
    let mean = show(estimate.mean);
    match (estimate.ci95_low, estimate.ci95_high) {
        // Resampling yields asymmetric intervals, of which half the width would be misleading.
        (Some(low), Some(high)) if estimate.interval == Some(IntervalKind::Bootstrap) => {
            format!("{mean} ({} to {})", show(low), show(high))
        }
        (Some(low), Some(high)) => format!("{mean} ± {}", show((high - low) / 2.0)),
        _ => mean,
    }
}
