//! The table of open loops.

use plan::CurvePart;
use results::{CellRecord, OpenLoopFigures, RateTrial, RunRecord};
use units::format;

use super::tables::{OMITTED_IF_UNIFORM, percentile, place_columns, places};
use crate::numbers::LatencyUnit;
use crate::table::{Column, Table};

/// Head of the column with a point's share of its curve's peak.
const PEAK_SHARE_HEADER: &str = "of peak %";
/// Head of the column with the results of search trials.
const PASSED_HEADER: &str = "passed";

/// Returns one row per open loop; `None` if all cells are closed loops.
pub fn table(record: &RunRecord, unit: LatencyUnit) -> Option<Table> {
    let identity = places(record);
    let has_trials = record
        .cells
        .iter()
        .any(|cell| RateTrial::of(cell).is_some());
    let row = |cell: &CellRecord| {
        let figures = cell.open_loop.as_ref()?;
        let verdict = has_trials.then(|| has_passed(cell));
        let own = row(figures, unit);
        let row = [
            identity(cell).as_slice(),
            &[share(cell)],
            &own,
            verdict.as_slice(),
        ]
        .concat();
        Some(row)
    };
    let rows: Vec<Vec<String>> = record.cells.iter().filter_map(row).collect();
    let has_curve = record.cells.iter().any(|cell| cell.curve.is_some());
    let mut columns = place_columns();
    // Share of the peak, arrivals and achieved rate come before the response times.
    let first = columns.len() + 3;
    columns.extend([
        Column::number(PEAK_SHARE_HEADER, 22),
        Column::number("arrivals", 7),
        Column::number("achieved /s", 30),
        // Response-time curves are based on means, so they need this column more.
        Column::number("mean", if has_curve { 12 } else { 3 }),
        Column::number("p50", 6),
        Column::number("p99", 9),
        Column::number("p99.9", 5),
        Column::number("max", 8),
        Column::number("late", 10),
        Column::number(&format!("latest {}", unit.name()), 4),
        Column::number("backlog", 11),
    ]);
    if has_trials {
        columns.push(Column::number(PASSED_HEADER, 40));
    }
    let span = format!("response time in {}", unit.name());
    let mut table = Table::new(columns, rows).with_span(first, first + 4, span);
    if table.rows.is_empty() {
        return None;
    }
    // The requested rate stays, because results of an open loop are meaningless without it.
    let heads = OMITTED_IF_UNIFORM.map(|head| if head == "rate /s" { "" } else { head });
    table.drop_uniform(&heads);
    table.drop_uniform(&[PEAK_SHARE_HEADER]);
    Some(table)
}

/// Returns whether a trial of a search met the limit; empty for other cells.
fn has_passed(cell: &CellRecord) -> String {
    let answer = RateTrial::of(cell).map(|it| if it.holds { "yes" } else { "no" });
    answer.unwrap_or_default().to_owned()
}

/// Returns the point's share of its curve's peak; empty for other cells.
fn share(cell: &CellRecord) -> String {
    match cell.curve {
        Some(CurvePart::Point { percent, .. }) => percent.to_string(),
        _ => String::new(),
    }
}

fn row(figures: &OpenLoopFigures, unit: LatencyUnit) -> [String; 10] {
    let response = &figures.response;
    let at = &response.percentiles_ns;
    let percentile = |ns: Option<u64>, percent| {
        let is_bound = ns.is_some_and(|ns| figures.is_lower_bound(ns));
        mark_lower_bound(is_bound, percentile(response, ns, percent, unit))
    };
    let is_bound = figures.is_mean_lower_bound();
    [
        figures.arrivals.name().to_owned(),
        format::iops(figures.achieved_per_second),
        mark_lower_bound(is_bound, unit.show(response.mean_ns)),
        percentile(at.p50, 50.0),
        percentile(at.p99, 99.0),
        percentile(at.p99_9, 99.9),
        // A request that never began counts with its wait, which is shorter than its response.
        mark_lower_bound(is_bound, unit.show(response.max_ns.map(|ns| ns as f64))),
        figures.late_count.to_string(),
        mark_lower_bound(is_bound, unit.show(Some(figures.lateness_max_ns as f64))),
        figures.backlog_end.to_string(),
    ]
}

/// Marks a shown value that is a lower bound.
pub(super) fn mark_lower_bound(is_bound: bool, shown: String) -> String {
    // A missing value is shown as `-`, which has no bound.
    match is_bound && shown.starts_with(|it: char| it.is_ascii_digit()) {
        true => format!(">={shown}"),
        false => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::tests::record;

    #[test]
    fn unanswered_requests_turn_affected_figures_into_lower_bounds() {
        let mut record = record(&[(10, 2000.0)]);
        let figures = record.cells[1].open_loop.as_mut().unwrap();
        figures.response.percentiles_ns.p50 = Some(1000);
        figures.response.percentiles_ns.p99 = Some(9000);
        figures.response.max_ns = Some(9000);
        let line = |figures: &OpenLoopFigures| row(figures, LatencyUnit::Micro).join(" ");
        assert!(
            line(figures).contains(" 2.000 1.000 9.000 "),
            "{}",
            line(figures)
        );
        figures.censored_count = 1;
        figures.censored_min_ns = Some(5000);
        let bounds = line(figures);
        assert!(
            bounds.contains(" >=2.000 1.000 >=9.000 - >=9.000 "),
            "{bounds}"
        );
        let overall = super::super::curve::table(&record, LatencyUnit::Micro).unwrap();
        assert!(overall.rows[0].join(" ").contains(">="), "{overall:?}");
    }
}
