//! Response time as a function of throughput, and one number that summarizes the curve.

use serde::{Deserialize, Serialize};

/// One load level of a response-time curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ResponsePoint {
    /// Achieved throughput, per second.
    pub per_second: f64,
    /// Mean response time, in nanoseconds.
    pub response_ns: f64,
}

/// Assumed shape of the curve below its lowest load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CurveOrigin {
    /// No curve: only the area between measured points counts.
    MeasuredOnly,
    /// Constant response time: that of the lowest load, down to no load at all.
    LowestLoad,
}

/// SPECstorage's overall response time in nanoseconds: the area under the curve of response time
/// over achieved throughput, divided by the peak throughput.
///
/// `points` are in the order of the requested load. The peak is the highest throughput; later
/// points belong to an overloaded system and are left out. The area consists of the trapezoids
/// between points that are neighbors in throughput, and of the part below the lowest point
/// according to `origin`. With ten evenly spaced loads and a constant response time r, the result
/// is 0.9 r for [`CurveOrigin::MeasuredOnly`] and r for [`CurveOrigin::LowestLoad`].
///
/// `None` without points, without throughput, or if a value is negative or not finite.
///
/// Source: SPEC, "SPEC SFS 2014 SP2 Run and Reporting Rules" and the rules of SPECstorage Solution
/// 2020, section 5.4.
#[must_use]
pub fn overall_response_time(points: &[ResponsePoint], origin: CurveOrigin) -> Option<f64> {
    let is_measured = |value: f64| value.is_finite() && value >= 0.0;
    if !points
        .iter()
        .all(|point| is_measured(point.per_second) && is_measured(point.response_ns))
    {
        return None;
    }
    let by_throughput =
        |a: &ResponsePoint, b: &ResponsePoint| a.per_second.total_cmp(&b.per_second);
    let peak = points.iter().copied().max_by(by_throughput)?;
    let peak_index = points.iter().position(|point| *point == peak)?;
    let mut curve = points[..=peak_index].to_vec();
    // A higher load may achieve less than a lower one, which would give a negative width.
    curve.sort_by(by_throughput);
    let below = match origin {
        CurveOrigin::MeasuredOnly => 0.0,
        CurveOrigin::LowestLoad => curve[0].per_second * curve[0].response_ns,
    };
    let between: f64 = curve
        .windows(2)
        .map(|pair| {
            let height = f64::midpoint(pair[0].response_ns, pair[1].response_ns);
            (pair[1].per_second - pair[0].per_second) * height
        })
        .sum();
    (peak.per_second > 0.0).then(|| (below + between) / peak.per_second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use CurveOrigin::{LowestLoad, MeasuredOnly};

    fn curve(points: &[(f64, f64)]) -> Vec<ResponsePoint> {
        let point = |&(per_second, response_ns): &(f64, f64)| ResponsePoint {
            per_second,
            response_ns,
        };
        points.iter().map(point).collect()
    }

    #[test]
    fn the_area_is_the_sum_of_the_trapezoids() {
        let points = curve(&[(100.0, 1.0), (200.0, 2.0), (400.0, 5.0)]);
        // 100 * 1.5 + 200 * 3.5 = 850; below the lowest load 100 more; the peak is 400.
        assert_eq!(overall_response_time(&points, MeasuredOnly), Some(2.125));
        assert_eq!(overall_response_time(&points, LowestLoad), Some(2.375));
    }

    #[test]
    fn a_constant_response_time_equals_the_overall_one() {
        let points: Vec<(f64, f64)> = (1..=10).map(|load| (f64::from(load) * 50.0, 8.0)).collect();
        let points = curve(&points);
        assert_eq!(overall_response_time(&points, LowestLoad), Some(8.0));
        assert!((overall_response_time(&points, MeasuredOnly).unwrap() - 7.2).abs() < 1e-12);
    }

    #[test]
    fn an_overloaded_system_does_not_count() {
        let (upto, beyond) = ([(100.0, 1.0), (200.0, 3.0)], (180.0, 90.0));
        let with = curve(&[upto[0], upto[1], beyond]);
        assert_eq!(
            overall_response_time(&with, LowestLoad),
            overall_response_time(&curve(&upto), LowestLoad)
        );
    }

    #[test]
    fn unsorted_loads_are_sorted() {
        let points = curve(&[(200.0, 2.0), (100.0, 1.0), (400.0, 5.0)]);
        assert_eq!(overall_response_time(&points, LowestLoad), Some(2.375));
    }

    #[test]
    fn one_point_gives_a_rectangle_or_zero() {
        let point = curve(&[(100.0, 4.0)]);
        assert_eq!(overall_response_time(&point, LowestLoad), Some(4.0));
        assert_eq!(overall_response_time(&point, MeasuredOnly), Some(0.0));
    }

    #[test]
    fn unmeasured_points_give_no_overall_response_time() {
        assert_eq!(overall_response_time(&[], LowestLoad), None);
        for bad in [
            (0.0, 1.0),
            (f64::NAN, 1.0),
            (1.0, f64::INFINITY),
            (-1.0, 1.0),
        ] {
            assert_eq!(overall_response_time(&curve(&[bad]), LowestLoad), None);
        }
    }
}
