//! What was measured where requests began when they were due.

use serde::{Deserialize, Serialize};
use stats::Interval;
use workload::plan::{ArrivalKind, OpenLoop};

use crate::{Latency, Names, per_second, real};

/// The kind of transaction that lasts from its due time to its end.
pub const RESPONSE: &str = "response";

/// The lowest share of the asked rate that counts as reached.
const REACHED_SHARE: f64 = 0.99;
/// The number of a Poisson process varies by so many times the root of its mean.
const POISSON_ERRORS: f64 = 3.0;

/// What was measured where requests began when they were due.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenLoopFigures {
    /// Requests due each second, of all workers together.
    pub asked_per_second: f64,
    /// How the due times were spread.
    pub arrivals: ArrivalKind,
    /// Requests answered for each second of measured time, failed ones included.
    #[serde(with = "real")]
    pub achieved_per_second: f64,
    /// From due to reaped, of the requests that succeeded.
    pub response: Latency,
    /// Requests begun in the measurement more than 50 µs after they were due.
    pub late_count: u64,
    /// The longest time from due to begun, or to the end of the measurement where a request had
    /// not begun by then, in nanoseconds.
    pub lateness_max_ns: u64,
    /// Requests due by the end of the measurement that had not begun.
    pub backlog_end: u64,
}

/// What was late and what was left, of all workers together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lateness {
    /// As [`OpenLoopFigures::late_count`].
    pub late_count: u64,
    /// As [`OpenLoopFigures::lateness_max_ns`].
    pub lateness_max_ns: u64,
    /// As [`OpenLoopFigures::backlog_end`].
    pub backlog_end: u64,
}

impl OpenLoopFigures {
    /// The figures of a cell whose counters, over `run_time_ns` of measured time, hold the kind
    /// of transaction [`RESPONSE`].
    #[must_use]
    pub fn of(
        asked: OpenLoop,
        totals: &Interval,
        run_time_ns: u64,
        names: Names,
        lateness: Lateness,
    ) -> Self {
        let kinds = totals.transactions().iter().zip(names.transactions);
        let mut responses = kinds.filter(|(_, name)| **name == RESPONSE);
        let counter = responses.next().map(|(counter, _)| counter);
        let answered = counter.map_or(0, |it| it.count() + it.errors());
        Self {
            asked_per_second: asked.per_second,
            arrivals: asked.arrivals,
            achieved_per_second: per_second(answered, run_time_ns),
            response: counter.map_or_else(Latency::default, |it| Latency::of(it.latency())),
            late_count: lateness.late_count,
            lateness_max_ns: lateness.lateness_max_ns,
            backlog_end: lateness.backlog_end,
        }
    }

    /// Whether fewer than 99 % of the asked requests were answered in `run_time_ns` of measured
    /// time, by more than one request, or chance with Poisson arrivals, explains.
    #[must_use]
    pub fn is_short(&self, run_time_ns: u64) -> bool {
        let seconds = run_time_ns as f64 / 1e9;
        let asked = self.asked_per_second * seconds;
        let chance = match self.arrivals {
            ArrivalKind::Uniform => 1.0,
            ArrivalKind::Poisson => POISSON_ERRORS * asked.sqrt(),
        };
        self.achieved_per_second * seconds < asked * REACHED_SHARE - chance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(achieved_per_second: f64, arrivals: ArrivalKind) -> OpenLoopFigures {
        let asked = OpenLoop {
            per_second: 1000.0,
            arrivals,
        };
        let names = Names {
            operations: &[],
            transactions: &[],
        };
        OpenLoopFigures {
            achieved_per_second,
            ..OpenLoopFigures::of(asked, &Interval::default(), 1, names, Lateness::default())
        }
    }

    #[test]
    fn a_rate_is_short_below_99_percent_and_what_chance_explains() {
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
}
