//! Forest plots: ratios with their confidence intervals, one row each, on one logarithmic axis.

use ::compare::Verdict;
use maud::{Markup, html};

use crate::html::{BarInterval, bar, sentence, within_run_note};
use crate::numbers::ratio;

/// Ratio at which the axis ends at the latest unless a row has a larger one; intervals beyond the
/// axis are cut.
const INTERVAL_MAX: f64 = 10.0;
/// Ratio at which the axis ends in any case.
const RATIO_MAX: f64 = 1e6;
/// Ratio at which the axis ends at the earliest, so that tiny differences do not look large.
const RATIO_MIN: f64 = 1.02;
/// Ratios that may have a tick.
const TICKS: [f64; 15] = [
    1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6,
];
/// Minimum distance of ticks, in percent of the axis; labels would otherwise overlap.
const TICK_DISTANCE_MIN: f64 = 14.0;
/// Maximum number of rows; a longer plot would only repeat the tables.
const ROWS_MAX: usize = 60;

/// A value divided by a reference, for a plot of values that were not tested.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioRow {
    /// Name of the system.
    pub label: String,
    /// The value as text.
    pub detail: String,
    /// The value divided by the reference.
    pub ratio: f64,
    /// Ends of the value's 95 % confidence interval divided by the reference, if it is known.
    pub interval: Option<[f64; 2]>,
}

/// Returns a plot of ratios; nothing without rows. `reference` names the system with the ratio 1.
#[must_use]
pub fn ratio_plot(rows: &[RatioRow], reference: &str) -> Markup {
    let row = |it: &RatioRow| ForestRow {
        label: it.label.clone(),
        detail: it.detail.clone(),
        ratio: it.ratio,
        interval: it.interval,
        detectable: None,
        repetitions: Vec::new(),
        verdict: None,
        bars: None,
    };
    let rows: Vec<ForestRow> = rows.iter().map(row).collect();
    forest(&rows, reference)
}

/// A ratio with its confidence interval.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ForestRow {
    /// The compared work.
    pub label: String,
    /// The metric, and its value unless there are bars.
    pub detail: String,
    /// The compared value divided by the reference.
    pub ratio: f64,
    /// Ends of the ratio's 95 % confidence interval, if its uncertainty is known.
    pub interval: Option<[f64; 2]>,
    /// Smallest difference that the comparison would have detected, relative to the reference.
    pub detectable: Option<f64>,
    /// Single repetitions, relative to the reference.
    pub repetitions: Vec<f64>,
    /// Verdict on the ratio, if it was tested.
    pub verdict: Option<Verdict>,
    /// The compared values; `None` if they are on the page already.
    pub bars: Option<ForestBars>,
}

/// The values of which a ratio is made, the reference first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ForestBars {
    /// Value at the end of the axis, the same for all rows of a metric of a cell.
    pub axis_max: f64,
    pub bars: Vec<ForestBar>,
}

/// A value on one side.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ForestBar {
    /// Name of the side.
    pub name: String,
    pub value: f64,
    pub interval: Option<BarInterval>,
    /// The value with its unit.
    pub text: String,
    /// Half-width of the interval from repetitions; empty without one.
    pub precision: String,
    /// Index of the side, which chooses the color.
    pub side: usize,
}

/// Class of a row in the page's style.
const fn class(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Better) => "better",
        Some(Verdict::Worse) => "worse",
        Some(Verdict::NoDifferenceShown | Verdict::CannotTell) | None => "open",
    }
}

/// Logarithmic axis around a ratio of 1.
struct RatioAxis {
    /// Natural logarithm of the ratio at the right end.
    extent: f64,
}

impl RatioAxis {
    /// Creates the axis on which all rows fit, if they can.
    fn of(rows: &[ForestRow]) -> Self {
        let ends = rows.iter().flat_map(|row| {
            let detectable = row.detectable.map(|it| 1.0 + it);
            let interval = row.interval.into_iter().flatten();
            interval.chain(detectable)
        });
        let ratios = rows.iter().flat_map(|row| {
            let repetitions = row.repetitions.iter().copied();
            repetitions.chain([row.ratio])
        });
        let interval = widest(ends).min(INTERVAL_MAX.ln());
        Self {
            extent: widest(ratios)
                .max(interval)
                .clamp(RATIO_MIN.ln(), RATIO_MAX.ln()),
        }
    }

    /// Position of a ratio from the left end, in percent; ratios beyond the axis are at its ends.
    fn percent(&self, ratio: f64) -> f64 {
        // The logarithm of a ratio of 0 is negative infinity, which is at the left end.
        let position = (ratio.max(0.0).ln() / self.extent).clamp(-1.0, 1.0);
        50.0 + 50.0 * position
    }

    fn is_beyond(&self, ratio: f64) -> bool {
        ratio.max(0.0).ln().abs() > self.extent
    }

    /// Ratios with a tick: 1, one or two above it, and their inverses.
    fn ticks(&self) -> Vec<f64> {
        let largest = |max: f64| TICKS.into_iter().rfind(|tick| tick.ln() <= max);
        let outer = largest(0.95 * self.extent);
        let is_apart = |inner: f64, outer: f64| {
            let distance = inner.ln().min(outer.ln() - inner.ln());
            50.0 * distance / self.extent >= TICK_DISTANCE_MIN
        };
        let inner = outer.and_then(|outer| {
            let inner = largest(0.55 * outer.ln());
            inner.filter(|inner| is_apart(*inner, outer))
        });
        let above = inner.into_iter().chain(outer);
        let mut ticks: Vec<f64> = above.flat_map(|tick| [1.0 / tick, tick]).collect();
        ticks.push(1.0);
        ticks.sort_by(f64::total_cmp);
        ticks
    }
}

/// Largest distance of a ratio from 1, as a logarithm, with a margin.
fn widest(ratios: impl Iterator<Item = f64>) -> f64 {
    let distances = ratios.map(|it| it.ln().abs()).filter(|it| it.is_finite());
    distances.fold(0.0, f64::max) * 1.05
}

/// Explains the marks that the rows have.
fn legend(rows: &[ForestRow]) -> String {
    let has = |part: fn(&ForestRow) -> bool| rows.iter().any(part);
    let parts = [
        (
            "Lines: 95 % confidence interval; at the edge, it continues.",
            has(|row| row.interval.is_some()),
        ),
        (
            "Shaded, for rates: differences too small to be detected.",
            has(|row| row.detectable.is_some()),
        ),
        (
            "Bars: the values, on an axis from 0 in each row.",
            has(|row| row.bars.is_some()),
        ),
        (
            "Small marks: single repetitions.",
            has(|row| !row.repetitions.is_empty()),
        ),
        (
            "Filled marks: significant after correction for all rows.",
            has(|row| row.verdict.is_some()),
        ),
    ];
    let parts = parts.into_iter().filter(|(_, is_used)| *is_used);
    let bars = rows.iter().flat_map(|row| &row.bars);
    let intervals = bars.flat_map(|it| it.bars.iter().map(|bar| bar.interval));
    let parts = parts
        .map(|(text, _)| text)
        .chain(within_run_note(intervals));
    parts.map(|text| format!(" {text}")).collect()
}

/// Returns the plot; nothing without rows. `reference` names the side that a ratio of 1 equals.
pub(crate) fn forest(rows: &[ForestRow], reference: &str) -> Markup {
    let shown = &rows[..rows.len().min(ROWS_MAX)];
    let axis = RatioAxis::of(shown);
    html! {
        @if !shown.is_empty() {
            figure.forest.with-bars[shown.iter().any(|row| row.bars.is_some())] {
                figcaption {
                    p {
                        "Ratio to " (sentence(reference)) " on a logarithmic axis."
                        (legend(shown))
                        @if shown.len() < rows.len() {
                            " The first " (ROWS_MAX) " of " (rows.len())
                            " rows; the tables have all."
                        }
                    }
                }
                ul {
                    @for row in shown { (line(row, &axis)) }
                    li.axis aria-hidden="true" {
                        div.track {
                            @for tick in axis.ticks() {
                                span style={ "left:" (style_percent(axis.percent(tick))) } {
                                    (tick_label(tick))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn line(row: &ForestRow, axis: &RatioAxis) -> Markup {
    html! {
        li.(class(row.verdict)) {
            div.what { (sentence(&row.label)) small { (sentence(&row.detail)) } }
            @if let Some(values) = &row.bars { (bars(values)) }
            div.track aria-hidden="true" {
                @if let Some(detectable) = row.detectable {
                    (span("shade", axis, [1.0 / (1.0 + detectable), 1.0 + detectable]))
                }
                div.one {}
                @for ratio in &row.repetitions {
                    div.single style={ "left:" (style_percent(axis.percent(*ratio))) } {}
                }
                @if let Some(ends) = row.interval { (span("reach", axis, ends)) }
                div.dot style={ "left:" (style_percent(axis.percent(row.ratio))) } {}
            }
            div.ratio {
                "× " (ratio(row.ratio))
                @if let Some([low, high]) = row.interval {
                    small { (ratio(low)) " to " (ratio(high)) }
                }
            }
            div.verdict { (row.verdict.map_or("", Verdict::name)) }
        }
    }
}

fn bars(values: &ForestBars) -> Markup {
    // The minimum avoids a division by 0 if all values are 0.
    let share = |value: f64| value / values.axis_max.max(f64::MIN_POSITIVE);
    html! {
        div.values {
            @for it in &values.bars {
                div.bar.{ "color-" (it.side % 8) } aria-hidden="true" {
                    (bar(it.value, it.interval, share))
                }
                span {
                    (sentence(&it.name)) " " strong { (it.text) }
                    @if !it.precision.is_empty() { small { " ± " (it.precision) } }
                }
            }
        }
    }
}

/// Returns a part of the axis between two ratios, marked where it continues beyond the axis.
fn span(class: &str, axis: &RatioAxis, [low, high]: [f64; 2]) -> Markup {
    let left = axis.percent(low);
    let width = axis.percent(high) - left;
    let style = format!(
        "left:{};width:{}",
        style_percent(left),
        style_percent(width)
    );
    html! {
        div.(class).cut-left[axis.is_beyond(low)].cut-right[axis.is_beyond(high)] style=(style) {}
    }
}

fn style_percent(value: f64) -> String {
    format!("{value:.2}%")
}

/// Formats a tick with as many decimals as it needs to differ from its neighbors.
fn tick_label(ratio: f64) -> String {
    if ratio.fract() == 0.0 {
        format!("{ratio}")
    } else {
        format!("{ratio:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ratio: f64, interval: Option<[f64; 2]>, detectable: Option<f64>) -> ForestRow {
        ForestRow {
            label: "randread".to_owned(),
            detail: "IOPS, A 100, B 120".to_owned(),
            ratio,
            interval,
            detectable,
            repetitions: Vec::new(),
            verdict: Some(Verdict::NoDifferenceShown),
            bars: None,
        }
    }

    #[test]
    fn equal_factors_up_and_down_are_equally_far_from_one() {
        let axis = RatioAxis::of(&[row(0.5, Some([0.25, 1.0]), None)]);
        assert!((axis.percent(1.0) - 50.0).abs() < 1e-9);
        let (down, up) = (axis.percent(0.5), axis.percent(2.0));
        assert!((down + up - 100.0).abs() < 1e-9, "{down} {up}");
        assert!(axis.percent(0.25) > 0.0 && !axis.is_beyond(0.25));
    }

    #[test]
    fn the_axis_has_a_minimum_and_a_maximum() {
        let narrow = RatioAxis::of(&[row(1.0001, None, None)]);
        assert!((narrow.extent - RATIO_MIN.ln()).abs() < 1e-9);
        let wide = RatioAxis::of(&[row(3.0, Some([0.0, 1e9]), Some(f64::INFINITY))]);
        assert!((wide.extent - INTERVAL_MAX.ln()).abs() < 1e-9);
        let ratio = RatioAxis::of(&[row(500.0, None, None), row(1e9, None, None)]);
        assert!((ratio.extent - RATIO_MAX.ln()).abs() < 1e-9);
        assert_eq!((wide.percent(0.0), wide.percent(1e9)), (0.0, 100.0));
        assert!(wide.is_beyond(0.0) && wide.is_beyond(1e9) && !wide.is_beyond(3.0));
    }

    #[test]
    fn ticks_are_symmetric_and_within_the_axis() {
        for ratio in [1.0, 1.03, 1.3, 2.5, 8.0, 100.0] {
            let axis = RatioAxis::of(&[row(ratio, None, None)]);
            let ticks = axis.ticks();
            assert!(ticks.contains(&1.0) && ticks.len() % 2 == 1, "{ticks:?}");
            assert!(ticks.len() >= 3, "{ratio}: {ticks:?}");
            assert!(ticks.iter().all(|tick| !axis.is_beyond(*tick)));
        }
        assert_eq!(tick_label(1.0 / 1.2), "0.83");
        assert_eq!(tick_label(2.0), "2");
    }

    #[test]
    fn intervals_beyond_the_axis_are_marked_as_cut() {
        let shown = forest(&[row(1.2, Some([0.01, 1.5]), Some(0.3))], "A").into_string();
        assert!(shown.contains("class=\"reach cut-left\""), "{shown}");
        assert!(shown.contains("class=\"shade\""), "{shown}");
        assert!(shown.contains("0.010 to 1.500"), "{shown}");
        assert!(forest(&[], "A").into_string().is_empty());
    }

    #[test]
    fn the_legend_explains_only_marks_that_exist() {
        let mut one = row(1.0, Some([0.9, 1.1]), None);
        (one.verdict, one.repetitions) = (None, vec![0.95, 1.05]);
        let shown = forest(&[one], "the mean").into_string();
        assert!(
            shown.contains("Lines: 95 % confidence interval; at the edge, it continues."),
            "{shown}"
        );
        assert!(
            shown.contains("Small marks: single repetitions."),
            "{shown}"
        );
        assert!(
            !shown.contains("Shaded") && !shown.contains("significant"),
            "{shown}"
        );
        assert_eq!(shown.matches("class=\"single\"").count(), 2);
    }

    #[test]
    fn a_long_plot_is_shortened_and_says_so() {
        let rows = vec![row(1.1, None, None); ROWS_MAX + 5];
        let shown = forest(&rows, "A").into_string();
        assert!(shown.contains("The first 60 of 65 rows"), "{shown}");
        assert_eq!(shown.matches("class=\"dot\"").count(), ROWS_MAX);
    }
}
