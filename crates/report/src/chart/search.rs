//! Trials of a search for the highest rate that keeps response times within a limit.

use results::{RateSearch, RateTrial};
use units::format;

use super::{Axis, AxisScale, AxisUnit, Chart, ChartNumber, LineStyle, Series, View};

const RATE: Axis = Axis::new(
    "requests due per second",
    AxisUnit::PerSecond,
    AxisScale::Linear,
);

/// The percentile at each tried rate, with the limit and the highest rate that met it. `None` if
/// fewer than two rates were tried. `summary` is the result of the search.
#[must_use]
pub fn rate_search(search: &RateSearch, summary: String) -> Option<Chart> {
    let mut trials: Vec<&RateTrial> = search.trials.iter().collect();
    // A search does not try rates in ascending order, but the axis must ascend.
    trials.sort_by(|one, other| one.per_second.total_cmp(&other.per_second));
    let [first, .., last] = trials.as_slice() else {
        return None;
    };
    // A search tries a rate up to three times, and repetitions of one rate make no curve.
    if first.per_second.total_cmp(&last.per_second).is_eq() {
        return None;
    }
    let percentile = search.limit.percentile.name();
    let limit_ns = search.limit.max_ns;
    let bracket = search.bracket();
    let response = |trial: &&RateTrial| ChartNumber::latency(trial.response_ns.map(|ns| ns as f64));
    let limit = format!("limit, {}", format::latency_ns(limit_ns));
    let at_limit = vec![ChartNumber::latency(Some(limit_ns as f64)); trials.len()];
    let responses = trials.iter().map(response);
    let mut series = vec![
        Series::new(percentile, 0, LineStyle::Marked, responses),
        Series::new(limit, 1, LineStyle::Dashed, at_limit),
    ];
    if let Some(held) = bracket.passed {
        // An exact comparison is safe, because `bracket` returns the rate of a trial unchanged.
        let is_knee = |trial: &&&RateTrial| trial.per_second.total_cmp(&held).is_eq();
        let knee = |trial: &&RateTrial| {
            Some(trial)
                .filter(is_knee)
                .map_or(ChartNumber::NONE, response)
        };
        let label = format!("highest within limit, {} per second", format::iops(held));
        series.push(Series::new(
            label,
            0,
            LineStyle::Ring,
            trials.iter().map(knee),
        ));
    }
    let title = format!("{percentile} of the response time at every rate that was tried");
    let at = trials
        .iter()
        .map(|trial| ChartNumber::rounded(trial.per_second));
    let views = [View::new("response time", Axis::RESPONSE_TIME, series)];
    Some(Chart::new(title, summary, RATE, at, views))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::search::tests::search;

    fn numbers(series: &Series) -> Vec<Option<f64>> {
        let values = series.values.iter().map(|it| it.get());
        values.map(|it| it.is_finite().then_some(it)).collect()
    }

    #[test]
    fn trials_are_sorted_and_show_the_limit_and_the_knee() {
        let trials = search(&[(100.0, 9_000_000), (50.0, 1_000_000), (75.0, 1_500_000)]);
        let chart = rate_search(&trials, "found".to_owned()).unwrap();
        let at: Vec<f64> = chart.at.iter().map(|it| it.get()).collect();
        assert_eq!(at, [50.0, 75.0, 100.0]);
        let [response, limit, knee] = chart.views[0].series.as_slice() else {
            panic!("{chart:?}");
        };
        assert_eq!(response.label, "p99");
        assert_eq!(numbers(limit), [Some(2e6); 3]);
        assert_eq!(limit.label, "limit, 2.00 ms");
        assert_eq!(numbers(knee), [None, Some(1.5e6), None]);
        assert_eq!(knee.line, LineStyle::Ring);
    }

    #[test]
    fn a_single_rate_has_no_chart_and_failed_trials_have_no_knee() {
        assert_eq!(rate_search(&search(&[(50.0, 1)]), String::new()), None);
        let twice = search(&[(50.0, 1), (50.0, 2)]);
        assert_eq!(rate_search(&twice, String::new()), None);
        let failed = search(&[(50.0, 3_000_000), (25.0, 3_000_000)]);
        let chart = rate_search(&failed, String::new()).unwrap();
        assert_eq!(chart.views[0].series.len(), 2);
    }
}
