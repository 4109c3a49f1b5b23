//! All percentiles of each operation and kind of transaction of a cell.

use maud::{Markup, html};
use results::{CellRecord, Latency, percentile_is_supported};
use units::format;

use crate::names::kind_name;
use crate::numbers::{ABSENT, LatencyUnit, mebibytes};
use crate::parts::{distinct_transactions, operations};
use crate::table::{Column, Table};
use crate::wrap::printable;

/// Returns one row per operation, then one per kind of transaction; empty if there are none.
#[must_use]
pub fn table(cell: &CellRecord) -> Markup {
    let rows = rows(cell);
    html! {
        @if !rows.rows.is_empty() {
            div.operations { (crate::html::table(&rows, "Operations", |_| None)) }
        }
    }
}

fn rows(cell: &CellRecord) -> Table {
    let operations = operations(cell);
    let medians = operations.iter();
    let medians = medians.filter_map(|(_, figures)| figures.latency.percentiles_ns.p50);
    // Other cells can be much slower, so each cell has the unit that suits it.
    let unit = LatencyUnit::fitting(medians.min());
    let moves = cell.operations.values().any(|figures| figures.bytes > 0);
    let short = cell
        .operations
        .values()
        .any(|figures| figures.short_count > 0);
    let mut rows: Vec<Vec<String>> = operations
        .into_iter()
        .map(|(name, figures)| {
            let mut row = vec![printable(name), format::count(figures.count)];
            row.push(format::iops(figures.per_second));
            row.extend(moves.then(|| mebibytes(figures.bytes_per_second)));
            row.extend(short.then(|| format::count(figures.short_count)));
            row.push(format::count(figures.errors));
            row.extend(latencies(&figures.latency, unit));
            row
        })
        .collect();
    rows.extend(distinct_transactions(cell).map(|(name, kind)| {
        let mut row = vec![printable(&kind_name(cell.phase.name(), name))];
        row.extend([format::count(kind.count), format::iops(kind.per_second)]);
        row.extend(moves.then(String::new));
        row.extend(short.then(String::new));
        row.push(format::count(kind.errors));
        row.extend(latencies(&kind.latency, unit));
        row
    }));
    let mut columns = vec![
        Column::name("operation"),
        Column::number("count", 1),
        Column::number("per second", 1),
    ];
    columns.extend(moves.then(|| Column::number("MiB/s", 1)));
    columns.extend(short.then(|| Column::number("short", 1)));
    columns.push(Column::number("errors", 1));
    let first = columns.len();
    columns.extend(LATENCIES.map(|head| Column::number(head, 1)));
    let last = columns.len() - 1;
    Table::new(columns, rows).with_span(first, last, format!("latency in {}", unit.name()))
}

const LATENCIES: [&str; 11] = [
    "min", "mean", "stddev", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "p99.999", "max",
];

fn latencies(latency: &Latency, unit: LatencyUnit) -> [String; 11] {
    let at = &latency.percentiles_ns;
    let percentile =
        |ns: Option<u64>, percent| match percentile_is_supported(latency.count, percent) {
            true => unit.show(ns.map(|ns| ns as f64)),
            false => ABSENT.to_owned(),
        };
    let exact = |ns: Option<u64>| unit.show(ns.map(|ns| ns as f64));
    [
        exact(latency.min_ns),
        unit.show(latency.mean_ns),
        unit.show(latency.stddev_ns),
        percentile(at.p50, 50.0),
        percentile(at.p90, 90.0),
        percentile(at.p95, 95.0),
        percentile(at.p99, 99.0),
        percentile(at.p99_9, 99.9),
        percentile(at.p99_99, 99.99),
        percentile(at.p99_999, 99.999),
        exact(latency.max_ns),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_operation_has_its_percentiles() {
        let rows = rows(&sample::record().cells[0]);
        let heads: Vec<&str> = rows.columns.iter().map(|column| &*column.head).collect();
        assert_eq!(
            heads[..5],
            ["operation", "count", "per second", "MiB/s", "errors"]
        );
        assert_eq!(rows.rows.len(), 2);
        assert!(rows.rows.iter().all(|row| row.len() == heads.len()));
        assert_eq!(rows.rows[0][..4], ["read", "80,000", "8.000k", "31.25"]);
        assert_eq!(rows.span, Some((5, 15, "latency in µs".to_owned())));
    }

    #[test]
    fn transactions_have_rows_where_they_are_not_operations() {
        let mut cell = sample::record().cells.remove(0);
        cell.transactions.get_mut("transfer").unwrap().count = 50_000;
        let rows = rows(&cell);
        assert_eq!(rows.rows[2][..2], ["transfer (transaction)", "50,000"]);
        assert!(rows.rows.iter().all(|row| row.len() == rows.columns.len()));
    }

    #[test]
    fn a_percentile_with_too_few_samples_is_not_shown() {
        let rows = rows(&sample::record().cells[1]);
        let at = |head: &str| {
            let index = rows
                .columns
                .iter()
                .position(|column| column.head == head)
                .unwrap();
            rows.rows[0][index].clone()
        };
        assert_eq!((at("p99.9").as_str(), at("p99.99").as_str()), ("-", "-"));
        assert_ne!(at("p99"), "-");
    }
}
