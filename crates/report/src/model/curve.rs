//! The table of response-time curves.

use results::RunRecord;
use units::format;

use super::open_loop::mark_lower_bound;
use super::tables::{of_places, places};
use crate::curve::{Curve, curves};
use crate::numbers::{ABSENT, LatencyUnit};
use crate::table::{Column, Table};

/// Returns one row per curve; `None` without curves.
pub fn table(record: &RunRecord, unit: LatencyUnit) -> Option<Table> {
    let identity = places(record);
    let row = |curve: &Curve| {
        let row = [
            format::iops(curve.peak.total.per_second),
            curve.points.len().to_string(),
            curve.overall_response_ns().map_or_else(
                || ABSENT.to_owned(),
                |ns| mark_lower_bound(curve.is_lower_bound(), unit.show(Some(ns))),
            ),
        ];
        [identity(curve.peak).as_slice(), &row].concat()
    };
    let columns = [
        Column::number("peak /s", 28),
        Column::number("points", 9),
        Column::number(&format!("overall response {}", unit.name()), 30),
    ];
    of_places(columns, curves(record).iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::tests::record;

    #[test]
    fn a_curve_shows_its_peak_and_overall_response_time() {
        let record = record(&[(10, 1000.0), (20, 3000.0)]);
        let table = table(&record, LatencyUnit::Micro).unwrap();
        let row = table.rows[0].join(" ");
        assert!(row.ends_with("1.000k 2 1.000"), "{row}");
    }
}
