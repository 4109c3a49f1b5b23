//! The table of what began when it was due.

use results::{CellRecord, OpenLoopFigures, RunRecord};
use units::format;
use workload::plan::CurvePart;

use super::tables::{UNIFORM, percentile, place_columns, places};
use crate::numbers::LatencyUnit;
use crate::table::{Column, Table};

/// The head of the column with a point's share of its curve's peak.
const OF_PEAK: &str = "of peak %";

/// One row for each open loop; none where every request followed the one before.
pub fn table(record: &RunRecord, unit: LatencyUnit) -> Option<Table> {
    let place = places(record);
    let row = |cell: &CellRecord| {
        let figures = cell.open_loop.as_ref()?;
        let row = [place(cell).as_slice(), &[share(cell)], &row(figures, unit)].concat();
        Some(row)
    };
    let rows: Vec<Vec<String>> = record.cells.iter().filter_map(row).collect();
    let has_curve = record.cells.iter().any(|cell| cell.curve.is_some());
    let mut columns = place_columns();
    let first = columns.len() + 3;
    columns.extend([
        Column::number(OF_PEAK, 22),
        Column::number("arrivals", 7),
        Column::number("achieved /s", 30),
        // A curve is one of means.
        Column::number("mean", if has_curve { 12 } else { 3 }),
        Column::number("p50", 6),
        Column::number("p99", 9),
        Column::number("p99.9", 5),
        Column::number("max", 8),
        Column::number("late", 10),
        Column::number(&format!("latest {}", unit.name()), 4),
        Column::number("backlog", 11),
    ]);
    let span = (
        first,
        first + 4,
        format!("response time in {}", unit.name()),
    );
    let mut table = Table {
        columns,
        rows,
        span: Some(span),
    };
    if table.rows.is_empty() {
        return None;
    }
    let unasked = UNIFORM.map(|head| if head == "rate /s" { "" } else { head });
    table.drop_uniform(&unasked);
    table.drop_uniform(&[OF_PEAK]);
    Some(table)
}

/// A point's share of its curve's peak; nothing elsewhere.
fn share(cell: &CellRecord) -> String {
    match cell.curve {
        Some(CurvePart::Point { percent, .. }) => percent.to_string(),
        _ => String::new(),
    }
}

fn row(figures: &OpenLoopFigures, unit: LatencyUnit) -> [String; 10] {
    let response = &figures.response;
    let at = &response.percentiles_ns;
    [
        figures.arrivals.name().to_owned(),
        format::iops(figures.achieved_per_second),
        unit.show(response.mean_ns),
        percentile(response, at.p50, 50.0, unit),
        percentile(response, at.p99, 99.0, unit),
        percentile(response, at.p99_9, 99.9, unit),
        unit.show(response.max_ns.map(|ns| ns as f64)),
        figures.late_count.to_string(),
        unit.show(Some(figures.lateness_max_ns as f64)),
        figures.backlog_end.to_string(),
    ]
}
