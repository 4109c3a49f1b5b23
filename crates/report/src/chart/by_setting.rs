//! Throughput and latency by the values of a setting that varies.

use std::collections::BTreeMap;

use units::Bytes;

use super::{
    Axis, AxisLabels, AxisScale, AxisUnit, Chart, ChartNumber, LineStyle, View, few, group_view,
    latency_views, rate_views,
};
use crate::group::{GroupFigure, Metric, RepeatedCell};
use crate::matrix::{MatrixAxis, MatrixPoint, SettingMatrix};
use crate::measure::WorkloadMeasure;
use crate::wrap::printable;

// Equal spacing, because the values can be words, such as access patterns or engines.
const VALUES: Axis = Axis::new("value of the setting", AxisUnit::Count, AxisScale::Places);

/// A line of a chart: the cells that differ only in one setting.
struct SettingLine<'a> {
    label: String,
    /// One per value; `None` where nothing was measured.
    groups: Vec<Option<&'a RepeatedCell<'a>>>,
}

impl SettingLine<'_> {
    fn figure(&self, value: usize, metric: Metric) -> Option<GroupFigure> {
        self.groups[value].and_then(|group| group.figure(metric))
    }
}

/// Returns charts of throughput and latency by the first setting of a matrix whose values are
/// amounts, or else by its first setting. Each combination of the other settings has a line, with
/// at most `lines_max` lines per pair of charts.
#[must_use]
pub fn by_setting(matrix: &SettingMatrix, lines_max: usize) -> Vec<Chart> {
    let mut axes = matrix.axes.iter();
    // Only amounts have an order, so only along them a line shows a trend.
    let across = axes.position(has_amounts).unwrap_or(0);
    let lines = lines(matrix, across);
    let parts = lines.chunks(lines_max.max(1));
    let pairs =
        parts.flat_map(|lines| pair(&matrix.name, (&matrix.axes[across], matrix.measure), lines));
    pairs.collect()
}

fn has_amounts(axis: &MatrixAxis) -> bool {
    let is_amount = |it: &String| it.parse::<f64>().is_ok() || it.parse::<Bytes>().is_ok();
    axis.values.iter().all(is_amount)
}

/// The lines over the axis with the index `across`, in the order of the other values.
fn lines<'a>(matrix: &'a SettingMatrix<'a>, across: usize) -> Vec<SettingLine<'a>> {
    let mut lines: BTreeMap<Vec<usize>, SettingLine> = BTreeMap::new();
    for MatrixPoint {
        value_indexes: place,
        group,
    } in &matrix.points
    {
        let mut rest = place.clone();
        let value = rest.remove(across);
        let line = lines.entry(rest).or_insert_with(|| {
            let others = place.iter().zip(&matrix.axes).enumerate();
            let others = others.filter(|(index, _)| *index != across);
            let words = others.map(|(_, (value, axis))| axis.named(*value));
            SettingLine {
                label: printable(&words.collect::<Vec<_>>().join(", ")),
                // A stopped run lacks some combinations, and a line needs a gap there.
                groups: vec![None; matrix.axes[across].values.len()],
            }
        });
        line.groups[value] = Some(group);
    }
    lines.into_values().collect()
}

fn pair(
    name: &str,
    (axis, measure): (&MatrixAxis, WorkloadMeasure),
    lines: &[SettingLine],
) -> [Chart; 2] {
    // Values without an order are not joined by lines.
    let style = match has_amounts(axis) {
        true => LineStyle::Marked,
        false => LineStyle::Dots,
    };
    let view = |label: &str, metric| {
        let lines = lines.iter();
        let lines = lines.map(|line| (line.label.as_str(), line.groups.clone()));
        group_view(label, metric, style, lines)
    };
    let rates = rate_views(measure, view);
    let latencies = latency_views(view);
    let chart = |quantity: &str, metric: Metric, views: Vec<View>| {
        let names: Vec<String> = axis.values.iter().map(|it| printable(it)).collect();
        let at = (1..=names.len()).map(|it| ChartNumber::exact(it as f64));
        let ticks = at.clone().zip(names.iter().cloned()).collect();
        let title = printable(&format!("{name}: {quantity} by {}", axis.key));
        Chart {
            places: Some(AxisLabels { names, ticks }),
            ..Chart::new(title, summary(axis, lines, metric), VALUES, at, views)
        }
    };
    [
        chart("throughput", measure.metric(), rates),
        chart("latency", Metric::LatencyP50, latencies),
    ]
}

/// Names the lowest and the highest value of each line.
fn summary(axis: &MatrixAxis, lines: &[SettingLine], metric: Metric) -> String {
    let line_summary = |line: &SettingLine| {
        let figures = (0..axis.values.len()).filter_map(|value| {
            let figure = line.figure(value, metric)?;
            Some((value, figure.mean))
        });
        let figures: Vec<(usize, f64)> = figures.collect();
        let low = figures
            .iter()
            .min_by(|one, other| one.1.total_cmp(&other.1))?;
        let high = figures
            .iter()
            .max_by(|one, other| one.1.total_cmp(&other.1))?;
        let shown = |(value, mean): &(usize, f64)| {
            format!("{} with {}", metric.show(*mean), axis.named(*value))
        };
        let label = match line.label.as_str() {
            "" => String::new(),
            label => format!("{label}: "),
        };
        Some(format!("{label}from {} to {}", shown(low), shown(high)))
    };
    let parts: Vec<String> = lines.iter().filter_map(line_summary).collect();
    printable(&format!("{}.", few(&parts)))
}
