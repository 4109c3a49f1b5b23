//! Scales of charts: bounds that fit the values, and round values with labels.

use units::format;

/// Steps of a decimal scale within a power of ten.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];
/// A linear scale has at most about this many steps; labels that do not fit are left out.
const STEP_COUNT: f64 = 10.0;

const S: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * S;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// Steps of a time scale, in nanoseconds.
const TIME_STEPS_NS: [u64; 24] = [
    S / 10,
    S / 5,
    S / 2,
    S,
    2 * S,
    5 * S,
    10 * S,
    15 * S,
    30 * S,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    5 * DAY,
    10 * DAY,
];
/// Minimum columns from one time to the next.
const TIME_COLUMNS: u64 = 12;

/// Vertical scale of a chart. The default has no labels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlotScale {
    /// The lowest and the highest position.
    pub bounds: [f64; 2],
    /// Positions with labels, most important first.
    pub ticks: Vec<(f64, String)>,
}

impl PlotScale {
    /// A scale from 0 to at least `max` operations per second.
    pub fn of_count(max: f64) -> Self {
        Self::linear(max, 1.0, |value| short(&format::iops(value)))
    }

    /// A scale from 0 to at least `max` bytes per second.
    pub fn of_bandwidth(max: f64) -> Self {
        let mut unit = 1024.0;
        while max / unit >= 1024.0 {
            unit *= 1024.0;
        }
        Self::linear(max, unit, |value| short(&format::bandwidth(value)))
    }

    fn linear(max: f64, unit: f64, label: impl Fn(f64) -> String) -> Self {
        // Without any value above 0, any scale will do.
        let max = if max > 0.0 { max } else { unit };
        let step = at_least(max / unit / STEP_COUNT) * unit;
        // A rounding error must not add a step.
        let count = (max / step - 1e-9).ceil();
        let tick = |index: f64| (index * step, label(index * step));
        let mut ticks = vec![tick(0.0), tick(count)];
        ticks.extend((1..count as u64).map(|index| tick(index as f64)));
        Self {
            bounds: [0.0, count * step],
            ticks,
        }
    }

    /// A logarithmic scale of latencies from at most `low` to at least `high`, in nanoseconds.
    /// Positions are decimal logarithms.
    pub fn of_latency(low: f64, high: f64) -> Self {
        let mut values = decimals(low / 5.0, high.max(low) * 5.0);
        let first = values.iter().rposition(|value| *value <= low).unwrap_or(0);
        let last = values.iter().position(|value| *value >= high);
        let last = last.unwrap_or(values.len() - 1).max(first + 1);
        values = values[first..=last.min(values.len() - 1)].to_vec();
        let ends = [values[0], values[values.len() - 1]];
        Self {
            bounds: ends.map(f64::log10),
            ticks: latency_ticks(&ends, &values),
        }
    }

    /// Like [`Self::of_latency`], but with exactly these bounds.
    pub fn within_latencies(low: f64, high: f64) -> Self {
        Self {
            bounds: [low, high].map(f64::log10),
            ticks: latency_ticks(&[], &decimals(low, high)),
        }
    }

    /// The rows of a chart that have labels, counted from the top, with as many labels as fit.
    pub fn rows(&self, height: u16) -> Vec<(u16, &str)> {
        let [low, high] = self.bounds;
        let mut rows: Vec<(u16, &str)> = Vec::new();
        for (position, label) in &self.ticks {
            let share = (high - position) / (high - low);
            let row = ((share * f64::from(height)) as u16).min(height.saturating_sub(1));
            // Labels in adjacent rows are hard to read, except the two ends of a low chart.
            let least = if height <= 2 { 1 } else { 2 };
            if rows.iter().all(|(other, _)| other.abs_diff(row) >= least) {
                rows.push((row, label));
            }
        }
        rows
    }
}

/// The smallest step that is at least `value`.
fn at_least(value: f64) -> f64 {
    let power = 10.0_f64.powf(value.log10().floor());
    let step = STEPS.iter().find(|step| **step * power >= value);
    step.map_or(10.0 * power, |step| step * power)
}

/// The steps of all powers of ten from `low` to `high`.
fn decimals(low: f64, high: f64) -> Vec<f64> {
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let all = powers.flat_map(|power| STEPS.map(|step| step * 10.0_f64.powi(power)));
    all.filter(|value| (low..=high).contains(value)).collect()
}

/// Labels for the ends, then for powers of ten, then for the other values.
fn latency_ticks(ends: &[f64], values: &[f64]) -> Vec<(f64, String)> {
    let is_power = |value: &f64| value.log10().fract().abs() < 1e-9;
    let (powers, others): (Vec<f64>, Vec<f64>) = values.iter().partition(|it| is_power(it));
    let all = ends.iter().chain(&powers).chain(&others);
    all.map(|ns| (ns.log10(), short(&format::latency(ns.round()))))
        .collect()
}

/// A number and its unit without the zeros that only show precision: `1.50 ms` as `1.5 ms`.
fn short(text: &str) -> String {
    let end = text.find(|it: char| !it.is_ascii_digit() && it != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    match number.contains('.') {
        true => format!(
            "{}{unit}",
            number.trim_end_matches('0').trim_end_matches('.')
        ),
        false => text.to_owned(),
    }
}

/// Labels for round times below `columns` columns that cover the time from 0 to `elapsed_ns`.
pub fn time_axis(columns: usize, elapsed_ns: u64) -> String {
    let count = (columns as u64 / TIME_COLUMNS).max(1);
    let least_ns = elapsed_ns / count;
    let step_ns = TIME_STEPS_NS.iter().find(|step_ns| **step_ns >= least_ns);
    let step_ns = *step_ns.unwrap_or(&least_ns.max(1));
    let mut axis = String::new();
    for time_ns in (0..=elapsed_ns / step_ns).map(|index| index * step_ns) {
        let label = match step_ns < S {
            true => format!("{:.1} s", time_ns as f64 / 1e9),
            false => format::span(time_ns),
        };
        let at = time_ns as f64 / elapsed_ns.max(1) as f64 * columns as f64;
        // The label's middle is below its column, except at the ends.
        let start = (at as usize).saturating_sub(label.len() / 2);
        let start = start.min(columns.saturating_sub(label.len()));
        let is_free = axis.is_empty() || start > axis.len() + 1;
        if is_free && start + label.len() <= columns {
            axis = format!("{axis:<start$}{label}");
        }
    }
    axis
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &PlotScale, height: u16) -> Vec<(u16, &str)> {
        let mut rows = scale.rows(height);
        rows.sort_unstable();
        rows
    }

    #[test]
    fn rates_have_round_labels_close_to_the_highest_value() {
        let scale = PlotScale::of_count(15_000.0);
        assert_eq!(scale.bounds, [0.0, 16_000.0]);
        assert_eq!(labels(&scale, 2), [(0, "16k"), (1, "0")]);
        let wanted = [(0, "16k"), (2, "12k"), (4, "8k"), (6, "4k"), (8, "0")];
        assert_eq!(labels(&scale, 9), wanted);
        let scale = PlotScale::of_bandwidth(117.0 * 1024.0 * 1024.0);
        assert_eq!(labels(&scale, 3), [(0, "120 MiB/s"), (2, "0 MiB/s")]);
        assert_eq!(PlotScale::of_count(0.0).bounds, [0.0, 1.0]);
    }

    #[test]
    fn latencies_have_round_labels_around_their_range() {
        let scale = PlotScale::of_latency(150_000.0, 1_230_000.0);
        let wanted = [(0, "2 ms"), (3, "500 µs"), (7, "100 µs")];
        assert_eq!(labels(&scale, 8), wanted);
        let scale = PlotScale::of_latency(1000.0, 1000.0);
        assert_eq!(labels(&scale, 5), [(0, "2 µs"), (4, "1 µs")]);
    }

    #[test]
    fn times_are_round_and_as_many_as_fit() {
        assert_eq!(time_axis(30, 20 * S), "0:00         0:10         0:20");
        assert_eq!(time_axis(12, 7 * S), "0:00");
        assert_eq!(time_axis(24, S / 2), "0.0 s              0.5 s");
        assert_eq!(time_axis(80, 0), "0.0 s");
        assert_eq!(time_axis(3, 7 * S), "");
    }
}
