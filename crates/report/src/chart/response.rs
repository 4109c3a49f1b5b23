//! Response time by achieved rate.

use results::{Latency, percentile_is_supported};
use units::format;

use super::{Axis, AxisScale, AxisUnit, Chart, ChartNumber, LineStyle, Series, View};
use crate::curve::Curve;

const RATE: Axis = Axis::new(
    "requests answered per second",
    AxisUnit::PerSecond,
    AxisScale::Linear,
);

/// Returns the chart of a response-time curve.
#[must_use]
pub fn response_curve(curve: &Curve, name: &str) -> Chart {
    let mut points: Vec<(f64, &Latency)> = curve
        .points
        .iter()
        .filter_map(|cell| cell.open_loop.as_ref())
        .map(|figures| (figures.achieved_per_second, &figures.response))
        .collect();
    // Beyond saturation the achieved rate may fall as the load grows, but the axis must ascend.
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let series = |label: &str, color, line, of: fn(&Latency) -> Option<f64>| {
        let values = points.iter();
        let values = values.map(|(_, response)| ChartNumber::latency(of(response)));
        Series::new(label, color, line, values)
    };
    let series = [
        series("mean", 0, LineStyle::Marked, |it| it.mean_ns),
        series("p50", 1, LineStyle::Dashed, |it| {
            supported_ns(it, 50.0, it.percentiles_ns.p50)
        }),
        series("p99", 2, LineStyle::Dotted, |it| {
            supported_ns(it, 99.0, it.percentiles_ns.p99)
        }),
    ];
    let title = "Response time against achieved rate";
    let at = points.iter().map(|(rate, _)| ChartNumber::rounded(*rate));
    let views = [View::new("response time", Axis::RESPONSE_TIME, series)];
    Chart::new(title, summary(curve, name, &points), RATE, at, views)
}

fn supported_ns(response: &Latency, percent: f64, ns: Option<u64>) -> Option<f64> {
    ns.filter(|_| percentile_is_supported(response.count, percent))
        .map(|ns| ns as f64)
}

fn summary(curve: &Curve, name: &str, points: &[(f64, &Latency)]) -> String {
    let end = |point: Option<&(f64, &Latency)>| {
        let (rate, response) = point?;
        let mean = format::latency(response.mean_ns?);
        Some(format!("{mean} at {} per second", format::iops(*rate)))
    };
    let ends = [end(points.first()), end(points.last())];
    let ends: Vec<String> = ends.into_iter().flatten().collect();
    let overall = curve.overall_response_ns().map_or_else(String::new, |ns| {
        format!("; overall response time {}", format::latency(ns))
    });
    let bounds = match curve.is_lower_bound() {
        true => " Where requests were never answered, these are lower bounds.",
        false => "",
    };
    format!(
        "{name}: mean response time {}{overall}. The peak of the closed loop is {} per second.\
         {bounds}",
        ends.join(", "),
        format::iops(curve.peak.total.per_second)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::{curves, tests::record};

    #[test]
    fn points_are_sorted_by_rate() {
        let record = record(&[(10, 1000.0), (30, 3000.0), (20, 2000.0)]);
        let chart = response_curve(&curves(&record)[0], "reads");
        let at: Vec<f64> = chart.at.iter().map(|it| it.get()).collect();
        assert_eq!(at, [100.0, 200.0, 300.0]);
        let means = &chart.views[0].series[0].values;
        assert_eq!(
            means.iter().map(|it| it.get()).collect::<Vec<_>>(),
            [1000.0, 2000.0, 3000.0]
        );
        assert!(
            chart.summary.starts_with("reads: mean response time "),
            "{}",
            chart.summary
        );
        assert!(
            chart.summary.contains("overall response time"),
            "{}",
            chart.summary
        );
    }
}
