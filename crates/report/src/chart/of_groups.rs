//! Views of metrics of groups of cells, for charts against a setting.

use super::{Axis, ChartNumber, Ends, LineStyle, Series, View};
use crate::group::{Metric, RepeatedCell};
use crate::measure::WorkloadMeasure;

/// Returns the views of operations and bytes per second. The view of `measure` comes first.
pub(super) fn rate_views(
    measure: WorkloadMeasure,
    view: impl Fn(&str, Metric) -> View,
) -> Vec<View> {
    let mut views = vec![
        view("IOPS", Metric::PerSecond),
        view("bandwidth", Metric::BytesPerSecond),
    ];
    // The reader sees the first view before selecting another.
    if measure == WorkloadMeasure::Bandwidth {
        views.reverse();
    }
    views
}

/// Returns the views of latencies.
pub(super) fn latency_views(view: impl Fn(&str, Metric) -> View) -> Vec<View> {
    vec![
        view("p50", Metric::LatencyP50),
        view("p99", Metric::LatencyP99),
        view("mean", Metric::LatencyMean),
    ]
}

/// Returns a view of a metric: per line its name, and the group at each position of the axis, if it
/// was measured there.
pub(super) fn group_view<'a>(
    label: &str,
    metric: Metric,
    style: LineStyle,
    lines: impl Iterator<Item = (&'a str, Vec<Option<&'a RepeatedCell<'a>>>)>,
) -> View {
    let y = axis_of(metric);
    let number = |value: Option<f64>| value.map_or(ChartNumber::NONE, |it| y.number(it));
    let series = lines.enumerate().map(|(color, (name, groups))| {
        let figures = groups
            .iter()
            .map(|it| it.and_then(|group| group.figure(metric)));
        let figures: Vec<_> = figures.collect();
        let end = |index: usize| {
            let ends = figures.iter().map(|it| it.and_then(|one| one.interval));
            ends.map(|ends| number(ends.map(|ends| ends[index])))
                .collect()
        };
        let is_repeated = figures.iter().flatten().any(|it| it.interval.is_some());
        let means = figures.iter().map(|it| number(it.map(|one| one.mean)));
        Series {
            ends: is_repeated.then(|| Ends {
                low: end(0),
                high: end(1),
            }),
            ..Series::new(name, color, style, means)
        }
    });
    View::new(label, y, series)
}

/// Returns the axis of a metric.
pub(super) const fn axis_of(metric: Metric) -> Axis {
    match metric {
        Metric::PerSecond => Axis::RATE,
        Metric::BytesPerSecond => Axis::BANDWIDTH,
        _ => Axis::LATENCY,
    }
}
