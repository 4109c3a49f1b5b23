//! The trials of a search for the highest rate at which response times hold.

use results::{RateSearch, RateTrial};
use units::format;

use super::{Axis, Chart, Line, Number, Scale, Series, Unit, View};

const RATE: Axis = Axis::new("requests due per second", Unit::PerSecond, Scale::Linear);

/// The percentile at each rate that was tried, with its limit and the highest rate that held; none
/// where fewer than two rates were tried. `summary` is what the search found.
#[must_use]
pub fn rate_search(search: &RateSearch, summary: String) -> Option<Chart> {
    let mut trials: Vec<&RateTrial> = search.trials.iter().collect();
    trials.sort_by(|one, other| one.per_second.total_cmp(&other.per_second));
    let [first, .., last] = trials.as_slice() else {
        return None;
    };
    if first.per_second.total_cmp(&last.per_second).is_eq() {
        return None;
    }
    let percentile = search.limit.percentile.name();
    let limit_ns = search.limit.most_ns;
    let bracket = search.bracket();
    let response = |trial: &&RateTrial| Number::latency(trial.response_ns.map(|ns| ns as f64));
    let limit = format!("limit, {}", format::latency_ns(limit_ns));
    let at_limit = vec![Number::latency(Some(limit_ns as f64)); trials.len()];
    let responses = trials.iter().map(response);
    let mut shown = vec![
        Series::new(percentile, 0, Line::Marked, responses),
        Series::new(limit, 1, Line::Dashed, at_limit),
    ];
    if let Some(held) = bracket.held {
        let is_knee = |trial: &&&RateTrial| trial.per_second.total_cmp(&held).is_eq();
        let knee = |trial: &&RateTrial| Some(trial).filter(is_knee).map_or(Number::NONE, response);
        let label = format!("highest that held, {} per second", format::iops(held));
        shown.push(Series::new(label, 0, Line::Ring, trials.iter().map(knee)));
    }
    let title = format!("{percentile} of the response time at every rate that was tried");
    let at = trials.iter().map(|trial| Number::rounded(trial.per_second));
    let views = [View::new("response time", Axis::RESPONSE_TIME, shown)];
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
    fn trials_stand_in_order_with_the_limit_and_the_knee() {
        let found = search(&[(100.0, 9_000_000), (50.0, 1_000_000), (75.0, 1_500_000)]);
        let chart = rate_search(&found, "found".to_owned()).unwrap();
        let at: Vec<f64> = chart.at.iter().map(|it| it.get()).collect();
        assert_eq!(at, [50.0, 75.0, 100.0]);
        let [response, limit, knee] = chart.views[0].series.as_slice() else {
            panic!("{chart:?}");
        };
        assert_eq!(response.label, "p99");
        assert_eq!(numbers(limit), [Some(2e6); 3]);
        assert_eq!(limit.label, "limit, 2.00 ms");
        assert_eq!(numbers(knee), [None, Some(1.5e6), None]);
        assert_eq!(knee.line, Line::Ring);
    }

    #[test]
    fn a_single_rate_makes_no_chart_and_nothing_that_held_no_knee() {
        assert_eq!(rate_search(&search(&[(50.0, 1)]), String::new()), None);
        let twice = search(&[(50.0, 1), (50.0, 2)]);
        assert_eq!(rate_search(&twice, String::new()), None);
        let failed = search(&[(50.0, 3_000_000), (25.0, 3_000_000)]);
        let chart = rate_search(&failed, String::new()).unwrap();
        assert_eq!(chart.views[0].series.len(), 2);
    }
}
