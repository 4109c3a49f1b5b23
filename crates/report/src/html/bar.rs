//! Horizontal bars with the confidence intervals of their values.

use maud::{Markup, html};

/// Explains the whiskers of values that were measured once.
const WITHIN_RUN_NOTE: &str =
    "Dashed whiskers: interval from within one run, not from repetitions.";

/// The 95 % confidence interval of a bar's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BarInterval {
    /// Lower and upper end, in the unit of the value.
    pub ends: [f64; 2],
    /// `true` if it comes from the intervals within a single run. Such an interval does not include
    /// what varies between runs, so it is drawn differently.
    pub is_within_run: bool,
}

impl BarInterval {
    /// Returns the interval from repetitions, or else the one from within a run.
    pub fn of(repetitions: Option<[f64; 2]>, within_run: Option<[f64; 2]>) -> Option<Self> {
        Some(Self {
            ends: repetitions.or(within_run)?,
            is_within_run: repetitions.is_none(),
        })
    }

    /// Returns the half-width of an interval from repetitions.
    pub fn half_over_repetitions(self) -> Option<f64> {
        let [low, high] = self.ends;
        (!self.is_within_run).then_some((high - low) / 2.0)
    }
}

/// Returns the note on dashed whiskers if any of these intervals has them.
pub(crate) fn within_run_note(
    intervals: impl IntoIterator<Item = Option<BarInterval>>,
) -> Option<&'static str> {
    let mut known = intervals.into_iter().flatten();
    known.any(|it| it.is_within_run).then_some(WITHIN_RUN_NOTE)
}

/// Returns the value at the end of the axis of several bars: their largest value or end of an
/// interval. Intervals far beyond the values are cut, so that the bars remain visible.
pub(crate) fn axis_max(bars: impl IntoIterator<Item = (f64, Option<BarInterval>)>) -> f64 {
    const VALUES_MAX: f64 = 2.0;
    let [value, end] = bars.into_iter().fold([0.0, 0.0], |[most, furthest], bar| {
        let (value, interval): (f64, Option<BarInterval>) = bar;
        let end = interval.map_or(value, |it| it.ends[1]);
        [f64::max(most, value), f64::max(furthest, end)]
    });
    end.max(value).min(value * VALUES_MAX)
}

/// Returns the content of a bar: its length, and the whisker of its interval. `share` returns the
/// position of a value on the axis, from 0 to 1. An interval that continues beyond the axis is cut.
pub(crate) fn bar(value: f64, interval: Option<BarInterval>, share: impl Fn(f64) -> f64) -> Markup {
    let percent = |share: f64| format!("{:.2}%", 100.0 * share);
    let within_axis = |value: f64| share(value).clamp(0.0, 1.0);
    html! {
        div.fill style={ "width:" (percent(within_axis(value))) } {}
        @if let Some(BarInterval { ends, is_within_run }) = interval {
            @let [low, high] = ends.map(within_axis);
            @let is_cut = share(ends[1]) > 1.0;
            @let style = format!("left:{};width:{}", percent(low), percent(high - low));
            div.whisker.within[is_within_run].cut[is_cut] style=(style) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(interval: Option<BarInterval>) -> String {
        bar(50.0, interval, |value| value / 100.0).into_string()
    }

    #[test]
    fn a_bar_shows_the_interval_of_its_value() {
        let page = drawn(BarInterval::of(Some([40.0, 60.0]), Some([49.0, 51.0])));
        assert!(page.contains("style=\"width:50.00%\""), "{page}");
        assert!(
            page.contains("class=\"whisker\" style=\"left:40.00%;width:20.00%\""),
            "{page}"
        );
        assert!(!drawn(None).contains("whisker"));
    }

    #[test]
    fn an_interval_from_within_a_run_is_drawn_differently() {
        let interval = BarInterval::of(None, Some([49.0, 51.0]));
        assert!(drawn(interval).contains("class=\"whisker within\""));
        assert_eq!(within_run_note([None, interval]), Some(WITHIN_RUN_NOTE));
        let repeated = BarInterval::of(Some([40.0, 60.0]), None);
        assert_eq!(within_run_note([None, repeated]), None);
        assert_eq!(
            repeated.and_then(BarInterval::half_over_repetitions),
            Some(10.0)
        );
        assert_eq!(interval.and_then(BarInterval::half_over_repetitions), None);
    }

    #[test]
    fn the_axis_has_room_for_intervals_but_not_for_extreme_ones() {
        let interval = |high| BarInterval::of(Some([0.0, high]), None);
        assert_eq!(axis_max([(5.0, interval(7.0)), (6.0, None)]), 7.0);
        assert_eq!(axis_max([(5.0, interval(70.0)), (6.0, None)]), 12.0);
        assert_eq!(axis_max([]), 0.0);
    }

    #[test]
    fn an_interval_beyond_the_axis_is_cut() {
        let page = drawn(BarInterval::of(Some([40.0, 160.0]), None));
        assert!(page.contains("whisker cut"), "{page}");
        assert!(page.contains("left:40.00%;width:60.00%"), "{page}");
    }
}
