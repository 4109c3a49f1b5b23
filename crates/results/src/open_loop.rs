//! Results of an open loop.

use plan::{ArrivalKind, OpenLoop};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{Histogram, Interval};

use crate::real::Real;
use crate::zero::is_zero;
use crate::{CounterNames, Latency, per_second};

/// The kind of transaction that lasts from the due time of a request to its end.
pub const RESPONSE: &str = "response";

/// A rate counts as reached from this share of the requested rate on.
const REACHED_SHARE: f64 = 0.99;
/// Tolerance for Poisson arrivals, in standard deviations of their number.
const POISSON_ERRORS: f64 = 3.0;

/// Results of an open loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenLoopFigures {
    /// Requested rate: requests due per second, all workers together.
    pub asked_per_second: f64,
    /// Distribution of the due times.
    pub arrivals: ArrivalKind,
    /// Requests completed per second of measured time, including failed ones.
    #[serde(with = "Real")]
    pub achieved_per_second: f64,
    /// Time from due to reaped, of all requests that were due in the measurement and did not fail.
    /// A request that had not started when the run stopped starting requests counts with its
    /// waiting time so far.
    pub response: Latency,
    /// Failed requests that were due in the measurement.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Requests due in the measurement that never started, so their response times are unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub censored_count: u64,
    /// Shortest waiting time of a request that never started, in nanoseconds. Response times from
    /// here up are lower bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub censored_min_ns: Option<u64>,
    /// Drain time after the measurement, in nanoseconds: until all due requests were done, or until
    /// no more were started and those in flight were done.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub drain_ns: u64,
    /// Requests due in the measurement that started more than 50 µs late, or never.
    pub late_count: u64,
    /// Longest delay from due to started, in nanoseconds. For requests that never started, until
    /// the run stopped starting requests.
    pub lateness_max_ns: u64,
    /// Time from due to started, of all requests of a replayed trace that were due in the
    /// measurement. None for other work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Latency>,
    /// Requests due by the end of the measurement that had not started by then.
    pub backlog_end: u64,
}

/// Outcome of all requests that were due in a measurement, all workers together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DueFigures {
    /// As [`OpenLoopFigures::response`].
    pub responses: Histogram,
    /// As [`OpenLoopFigures::errors`].
    pub errors: u64,
    /// As [`OpenLoopFigures::censored_count`].
    pub censored_count: u64,
    /// As [`OpenLoopFigures::censored_min_ns`].
    pub censored_min_ns: Option<u64>,
    /// As [`OpenLoopFigures::drain_ns`].
    pub drain_ns: u64,
    /// As [`OpenLoopFigures::late_count`].
    pub late_count: u64,
    /// As [`OpenLoopFigures::lateness_max_ns`].
    pub lateness_max_ns: u64,
    /// As [`OpenLoopFigures::lateness`].
    pub lateness: Option<Histogram>,
    /// As [`OpenLoopFigures::backlog_end`].
    pub backlog_end: u64,
}

impl DueFigures {
    /// Adds the outcome of a later part of the measurement.
    pub fn merge(&mut self, later: &Self) {
        self.responses.merge(&later.responses);
        self.errors += later.errors;
        self.censored_count += later.censored_count;
        self.censored_min_ns = [self.censored_min_ns, later.censored_min_ns]
            .into_iter()
            .flatten()
            .min();
        // The parts follow each other, and each drains before the next one begins.
        self.drain_ns += later.drain_ns;
        self.late_count += later.late_count;
        self.lateness_max_ns = self.lateness_max_ns.max(later.lateness_max_ns);
        if let Some(later) = &later.lateness {
            self.lateness
                .get_or_insert_with(Histogram::new)
                .merge(later);
        }
        self.backlog_end += later.backlog_end;
    }
}

impl OpenLoopFigures {
    /// Results of a cell over `run_time_ns` of measured time. Its counters include the kind of
    /// transaction [`RESPONSE`].
    #[must_use]
    pub fn of(
        requested: OpenLoop,
        totals: &Interval,
        run_time_ns: u64,
        names: CounterNames,
        due: &DueFigures,
    ) -> Self {
        let kinds = totals.transactions().iter().zip(names.transactions);
        let mut responses = kinds.filter(|(_, name)| **name == RESPONSE);
        let answered = responses
            .next()
            // A failed request was answered as well, so it counts for the rate.
            .map_or(0, |(it, _)| it.count() + it.errors());
        Self {
            asked_per_second: requested.per_second,
            arrivals: requested.arrivals,
            achieved_per_second: per_second(answered, run_time_ns),
            response: Latency::of(&due.responses),
            errors: due.errors,
            censored_count: due.censored_count,
            censored_min_ns: due.censored_min_ns,
            drain_ns: due.drain_ns,
            late_count: due.late_count,
            lateness_max_ns: due.lateness_max_ns,
            lateness: due.lateness.as_ref().map(Latency::of),
            backlog_end: due.backlog_end,
        }
    }

    /// `true` if the true value of a percentile or maximum of the response times, in nanoseconds,
    /// may be higher than `response_ns`.
    ///
    /// Below the shortest waiting time of an unanswered request, no later answer can change a rank
    /// (censoring of type I: Kaplan and Meier 1958 give the same result up to there).
    #[must_use]
    pub fn is_lower_bound(&self, response_ns: u64) -> bool {
        // A percentile is the middle of a bucket, whose width is at most a 64th of it.
        let high_ns = response_ns.saturating_add(response_ns / 64);
        self.censored_min_ns.is_some_and(|ns| high_ns >= ns)
    }

    /// `true` if the true mean of the response times may be higher.
    #[must_use]
    pub fn is_mean_lower_bound(&self) -> bool {
        self.censored_count > 0
    }

    /// `true` if fewer than 99 % of the requested operations were completed in `run_time_ns` of
    /// measured time. One missing request is tolerated, or the usual scatter of Poisson arrivals.
    #[must_use]
    pub fn is_short(&self, run_time_ns: u64) -> bool {
        let seconds = run_time_ns as f64 / 1e9;
        let requested = self.asked_per_second * seconds;
        let chance = match self.arrivals {
            // The first or last request may be just outside of the measured time.
            ArrivalKind::Uniform => 1.0,
            // The number of arrivals of a Poisson process has its mean as variance.
            ArrivalKind::Poisson => POISSON_ERRORS * requested.sqrt(),
            // The replay of a trace lasts until its last request is done, so its mean rate depends
            // on a single request. Its lateness shows whether the target is too slow.
            ArrivalKind::Recorded => return false,
        };
        self.achieved_per_second * seconds < requested * REACHED_SHARE - chance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(achieved_per_second: f64, arrivals: ArrivalKind) -> OpenLoopFigures {
        let requested = OpenLoop {
            per_second: 1000.0,
            arrivals,
        };
        let names = CounterNames {
            operations: &[],
            transactions: &[],
        };
        OpenLoopFigures {
            achieved_per_second,
            ..OpenLoopFigures::of(
                requested,
                &Interval::default(),
                1,
                names,
                &DueFigures::default(),
            )
        }
    }

    #[test]
    fn a_rate_is_short_if_below_99_percent_and_not_by_chance() {
        let second_ns = 1_000_000_000;
        for (achieved, arrivals, is_short) in [
            (1000.0, ArrivalKind::Uniform, false),
            (989.5, ArrivalKind::Uniform, false),
            (988.0, ArrivalKind::Uniform, true),
            (900.0, ArrivalKind::Poisson, false),
            (890.0, ArrivalKind::Poisson, true),
            (f64::NAN, ArrivalKind::Uniform, false),
        ] {
            let figures = figures(achieved, arrivals);
            assert_eq!(figures.is_short(second_ns), is_short, "{achieved}");
        }
        assert!(figures(980.0, ArrivalKind::Poisson).is_short(1000 * second_ns));
    }

    #[test]
    fn percentiles_above_the_shortest_unanswered_time_are_lower_bounds() {
        let mut figures = figures(1000.0, ArrivalKind::Uniform);
        assert!(!figures.is_lower_bound(u64::MAX) && !figures.is_mean_lower_bound());
        figures.censored_count = 3;
        figures.censored_min_ns = Some(1_000_000);
        assert!(figures.is_lower_bound(1_000_000) && figures.is_lower_bound(2_000_000));
        assert!(figures.is_lower_bound(990_000), "the middle of its bucket");
        assert!(!figures.is_lower_bound(970_000) && figures.is_mean_lower_bound());
    }
}
