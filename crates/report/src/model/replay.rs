//! The table of replayed traces.

use plan::job::{RecordedPlan, TracePlan};
use results::{CellRecord, Latency, RunRecord};
use units::format;

use super::tables::{OMITTED_IF_UNIFORM, percentile, place_columns, places};
use crate::numbers::{ABSENT, LatencyUnit, percent};
use crate::parts::replayed;
use crate::table::{Column, Table};

/// Returns one row per replay of a trace, recorded next to achieved; `None` without any.
pub fn table(record: &RunRecord, unit: LatencyUnit) -> Option<Table> {
    let identity = places(record);
    let row = |cell: &CellRecord| {
        let own = row(cell, replayed(record, cell)?, unit);
        Some([identity(cell).as_slice(), &own].concat())
    };
    let rows: Vec<Vec<String>> = record.cells.iter().filter_map(row).collect();
    if rows.is_empty() {
        return None;
    }
    let mut columns = place_columns();
    let first_lateness = columns.len() + 5;
    columns.extend([
        Column::number("speed", 12),
        Column::number("recorded s", 20),
        Column::number("took s", 20),
        Column::number("recorded /s", 16),
        Column::number("achieved /s", 18),
        Column::number("p50", 6),
        Column::number("p99", 14),
        Column::number("p99.9", 5),
        Column::number("max", 13),
        Column::number("map", 8),
        Column::number("touched", 4),
        Column::number("sequence kept %", 3),
    ]);
    let span = format!("started late by, in {}", unit.name());
    let mut table = Table::new(columns, rows).with_span(first_lateness, first_lateness + 3, span);
    table.drop_uniform(&OMITTED_IF_UNIFORM);
    Some(table)
}

fn row(
    cell: &CellRecord,
    (recorded, trace): (&RecordedPlan, &TracePlan),
    unit: LatencyUnit,
) -> [String; 12] {
    let seconds = |ns: u64| format!("{:.3}", ns as f64 / 1e9);
    let all: u64 = cell.operations.values().map(|it| it.count).sum();
    let recorded_rate = results::per_second(recorded.request_count, trace.span_ns);
    let lateness = cell.open_loop.as_ref().and_then(|it| it.lateness.as_ref());
    let late = |ns: fn(&Latency) -> Option<u64>, rank| match lateness {
        Some(lateness) => percentile(lateness, ns(lateness), rank, unit),
        None => ABSENT.to_owned(),
    };
    let latest_ns = lateness.and_then(|it| it.max_ns);
    // Without any, this is no number, and shown as unknown.
    let kept = trace.kept_successor_count as f64 / trace.successor_count as f64;
    [
        match trace.speed {
            Some(speed) => format!("{speed}x"),
            None => "as fast".to_owned(),
        },
        seconds(trace.span_ns),
        seconds(cell.run_time_ns),
        format::iops(recorded_rate),
        format::iops(results::per_second(all, cell.run_time_ns)),
        late(|it| it.percentiles_ns.p50, 50.0),
        late(|it| it.percentiles_ns.p99, 99.0),
        late(|it| it.percentiles_ns.p99_9, 99.9),
        unit.show(latest_ns.map(|ns| ns as f64)),
        trace.map.name().to_owned(),
        format::size(trace.touched_bytes),
        percent(kept),
    ]
}
