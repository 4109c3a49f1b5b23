//! Response-time curves: their cells, and the single value that summarizes each curve.

use plan::CurvePart;
use results::{CellRecord, OpenLoopFigures, RunRecord};
use stats::{CurveOrigin, ResponsePoint, overall_response_time};

/// Shape of the curve below its lowest load: none, because nothing was measured there.
// The wording of SPEC's rule for this part was not available (`docs/methodology.md`).
pub const ORIGIN: CurveOrigin = CurveOrigin::MeasuredOnly;

/// The points of a curve, with the peak they are based on.
#[derive(Debug, Clone)]
pub struct Curve<'a> {
    /// The closed loop at full load.
    pub peak: &'a CellRecord,
    /// The open loops, in the order of their share of the peak.
    pub points: Vec<&'a CellRecord>,
}

/// Returns the curves of a record, in the order of execution.
pub fn curves(record: &RunRecord) -> Vec<Curve<'_>> {
    let is_peak = |cell: &&CellRecord| cell.curve == Some(CurvePart::Peak);
    let peaks = record.cells.iter().filter(is_peak);
    let curve = |peak| {
        let own = record.cells.iter().filter(|cell| belongs(cell, peak));
        let mut points: Vec<(u32, &CellRecord)> = own
            .filter_map(|cell| match cell.curve {
                Some(CurvePart::Point { percent, .. }) => Some((percent, cell)),
                _ => None,
            })
            .collect();
        // Further repetitions run their cells in a random order.
        points.sort_by_key(|(percent, _)| *percent);
        let points = points.into_iter().map(|(_, cell)| cell).collect();
        Curve { peak, points }
    };
    peaks
        .map(curve)
        .filter(|it| !it.points.is_empty())
        .collect()
}

fn belongs(cell: &CellRecord, peak: &CellRecord) -> bool {
    // By index, because two workloads of a pack can have the same name.
    cell.first_index == peak.first_index
        && cell.repetition == peak.repetition
        && cell.phase == peak.phase
}

impl Curve<'_> {
    /// Returns SPECstorage's overall response time, in nanoseconds; `None` if a point has no
    /// response.
    pub fn overall_response_ns(&self) -> Option<f64> {
        let point = |cell: &&CellRecord| {
            let figures = cell.open_loop.as_ref()?;
            Some(ResponsePoint {
                per_second: figures.achieved_per_second,
                response_ns: figures.response.mean_ns?,
            })
        };
        // Without one of its points, the area would belong to another curve.
        let points: Option<Vec<ResponsePoint>> = self.points.iter().map(point).collect();
        overall_response_time(&points?, ORIGIN)
    }

    /// Returns `true` if some requests of a point were never answered. Its mean response time, and
    /// results based on it, are then lower bounds.
    pub fn is_lower_bound(&self) -> bool {
        let mut figures = self.points.iter().filter_map(|it| it.open_loop.as_ref());
        figures.any(OpenLoopFigures::is_mean_lower_bound)
    }
}

#[cfg(test)]
pub mod tests {
    use plan::ArrivalKind;
    use results::Latency;

    use super::*;
    use crate::sample;

    /// A peak of 1000 per second and points at these shares of it with these responses.
    pub fn record(points: &[(u32, f64)]) -> RunRecord {
        let mut record = sample::record();
        let mut peak = record.cells.remove(1);
        peak.curve = Some(CurvePart::Peak);
        peak.total.per_second = 1000.0;
        record.cells = vec![peak.clone()];
        for (percent, response_ns) in points {
            let arrivals = ArrivalKind::Poisson;
            let mut cell = peak.clone();
            cell.curve = Some(CurvePart::Point {
                percent: *percent,
                arrivals,
            });
            let rate = f64::from(*percent) * 10.0;
            cell.open_loop = Some(OpenLoopFigures {
                asked_per_second: rate,
                arrivals,
                achieved_per_second: rate,
                response: Latency {
                    count: 10_000,
                    mean_ns: Some(*response_ns),
                    ..Latency::default()
                },
                errors: 0,
                censored_count: 0,
                censored_min_ns: None,
                drain_ns: 0,
                late_count: 0,
                lateness_max_ns: 0,
                lateness: None,
                backlog_end: 0,
            });
            record.cells.push(cell);
        }
        record
    }

    #[test]
    fn the_points_of_a_curve_are_found_and_sorted() {
        let record = record(&[(20, 3.0), (10, 1.0)]);
        let curves = curves(&record);
        assert_eq!((curves.len(), curves[0].points.len()), (1, 2));
        let first = curves[0].points[0].open_loop.as_ref().unwrap();
        assert_eq!(first.asked_per_second, 100.0);
        // From 100 to 200 per second at 2 ns in the mean, over the highest rate of 200.
        assert_eq!(curves[0].overall_response_ns(), Some(1.0));
    }

    #[test]
    fn points_of_another_cell_belong_to_another_curve() {
        let mut record = record(&[(10, 1.0)]);
        record.cells[1].first_index = Some(7);
        assert!(curves(&record).is_empty());
        assert!(curves(&sample::record()).is_empty());
    }
}
