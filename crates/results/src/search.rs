//! Search for the highest rate at which response times stay within a limit. Evaluates the trials
//! and chooses the next rate.

use plan::{CurvePart, RATE_MAX, RATE_MIN, ResponseLimit, ResponsePercentile, TRIALS_MAX};

use crate::{CellRecord, OpenLoopFigures, RunRecord, Status};

/// The search ends when the lowest failed rate is at most this share above the highest passed rate.
const PRECISION: f64 = 0.02;
/// Share of the peak for the first trial; nearly every device answers in time at this rate.
const FIRST_SHARE: f64 = 0.5;
/// Below this share of the peak, response times do not become shorter.
const SHARE_MIN: f64 = 0.005;
/// Factor for the next trial if even the peak rate passes.
const STEP_UP: f64 = 1.1;
/// Number of trials at each end of the final bracket.
// A disturbance can decide a single trial, so the ends need a second one.
const TRIALS_PER_END: usize = 2;

/// A search for the highest rate at which response times stay within a limit.
#[derive(Debug, Clone, PartialEq)]
pub struct RateSearch {
    /// The limit.
    pub limit: ResponseLimit,
    /// Rate of the closed loop, per second, where the search starts.
    pub peak_per_second: f64,
    /// The trials in running order, without those that were cut short.
    pub trials: Vec<RateTrial>,
}

/// A trial of one rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateTrial {
    /// Requests due per second.
    pub per_second: f64,
    /// The percentile of the response time, in nanoseconds; `None` if nothing was answered.
    pub response_ns: Option<u64>,
    /// `true` if the percentile stayed within the limit, all due requests were answered, and
    /// nothing failed.
    pub holds: bool,
}

/// The rates between which the limit lies.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RateBracket {
    /// Highest rate that passed.
    pub passed: Option<f64>,
    /// Lowest higher rate that failed.
    pub failed: Option<f64>,
    /// Number of trials that contradict the bracket.
    pub contradiction_count: usize,
}

impl RateTrial {
    /// The trial of a cell; `None` if the cell is not a trial or was cut short.
    #[must_use]
    pub fn of(cell: &CellRecord) -> Option<Self> {
        let Some(CurvePart::Trial { limit, .. }) = cell.curve else {
            return None;
        };
        let figures = cell.open_loop.as_ref();
        let figures = figures.filter(|_| cell.status == Status::Complete)?;
        let response_ns = percentile(figures, limit.percentile);
        let is_within =
            // A lower bound says nothing about the true value, so it cannot hold.
            response_ns.is_some_and(|ns| ns <= limit.max_ns && !figures.is_lower_bound(ns));
        let is_whole = figures.errors == 0 && !figures.is_short(cell.run_time_ns);
        Some(Self {
            per_second: figures.asked_per_second,
            response_ns,
            holds: is_within && is_whole,
        })
    }
}

impl RateTrial {
    /// The trial of all phases; `None` if one of them was cut short, because the rate might not
    /// have passed in it.
    fn of_phases(phases: &[&CellRecord]) -> Option<Self> {
        if phases.iter().any(|it| it.status != Status::Complete) {
            return None;
        }
        let trials = phases.iter().filter_map(|it| Self::of(it));
        trials.reduce(|all, phase| Self {
            holds: all.holds && phase.holds,
            // The slowest phase decides, as it does for `holds`.
            response_ns: all.response_ns.max(phase.response_ns),
            ..all
        })
    }
}

fn percentile(figures: &OpenLoopFigures, percentile: ResponsePercentile) -> Option<u64> {
    let all = &figures.response.percentiles_ns;
    match percentile {
        ResponsePercentile::P50 => all.p50,
        ResponsePercentile::P90 => all.p90,
        ResponsePercentile::P95 => all.p95,
        ResponsePercentile::P99 => all.p99,
        ResponsePercentile::P99_9 => all.p99_9,
        ResponsePercentile::P99_99 => all.p99_99,
    }
}

impl RateSearch {
    /// The search that starts at the cell `peak`, so far; `None` if the cell is not a peak.
    #[must_use]
    pub fn of(peak: &CellRecord, limit: ResponseLimit, cells: &[CellRecord]) -> Option<Self> {
        if peak.curve != Some(CurvePart::Peak) {
            return None;
        }
        let is_own =
            |it: &&CellRecord| it.first_index == peak.first_index && it.phase == peak.phase;
        let own = cells.iter().filter(is_own);
        Some(Self {
            limit,
            peak_per_second: peak.total.per_second,
            trials: own.filter_map(RateTrial::of).collect(),
        })
    }

    /// The search over all phases of work on files, which share their rates. It starts at the
    /// lowest of their peaks, and a rate passes if it does in every phase. `None` if there is no
    /// peak.
    #[must_use]
    pub fn of_all_phases(
        first_index: Option<u32>,
        limit: ResponseLimit,
        cells: &[CellRecord],
    ) -> Option<Self> {
        let own = || cells.iter().filter(|it| it.first_index == first_index);
        let peaks = own().filter(|it| it.curve == Some(CurvePart::Peak) && it.repetition == 0);
        let peaks = peaks.map(|it| it.total.per_second);
        let peak_per_second = peaks.reduce(f64::min)?;
        // All phases of a trial are records of one cell.
        let is_trial = |it: &&CellRecord| matches!(it.curve, Some(CurvePart::Trial { .. }));
        let records: Vec<&CellRecord> = own().filter(is_trial).collect();
        let trials = records.chunk_by(|a, b| a.index == b.index);
        Some(Self {
            limit,
            peak_per_second,
            trials: trials.filter_map(RateTrial::of_phases).collect(),
        })
    }

    /// The searches of a run, each with its peak, in running order.
    #[must_use]
    pub fn all(record: &RunRecord) -> Vec<(&CellRecord, Self)> {
        let limit = |peak: &CellRecord| {
            let planned = record.plan.cells.iter();
            let mut own = planned.filter(|it| it.first_index == peak.first_index);
            own.find_map(|it| match it.curve {
                Some(CurvePart::Trial { limit, .. }) => Some(limit),
                _ => None,
            })
        };
        let peaks = record.cells.iter().filter(|it| it.repetition == 0);
        let search = |peak| Some((peak, Self::of(peak, limit(peak)?, &record.cells)?));
        peaks.filter_map(search).collect()
    }

    /// The rates between which the limit lies. It is chosen so that the fewest trials contradict
    /// it, because a disturbance can make a single trial fail.
    #[must_use]
    pub fn bracket(&self) -> RateBracket {
        let mut rates: Vec<f64> = self.trials.iter().map(|it| it.per_second).collect();
        rates.sort_by(f64::total_cmp);
        // A rate can be tried several times.
        rates.dedup();
        // Candidates: a limit below all rates, then each rate as the highest that passes.
        let limits = std::iter::once(0.0).chain(rates.iter().copied());
        let error_counts: Vec<(f64, usize)> =
            limits.map(|limit| (limit, self.wrong(limit))).collect();
        let fewest = error_counts.iter().map(|it| it.1).min().unwrap_or(0);
        // Several limits can be equally good; the range between the outermost ones stays open.
        let mut best = error_counts
            .iter()
            .filter(|it| it.1 == fewest)
            .map(|it| it.0);
        let lowest = best.next().unwrap_or(0.0);
        let highest = best.next_back().unwrap_or(lowest);
        RateBracket {
            passed: (lowest > 0.0).then_some(lowest),
            failed: rates.iter().copied().find(|rate| *rate > highest),
            contradiction_count: fewest,
        }
    }

    /// Number of trials that contradict this limit.
    fn wrong(&self, limit: f64) -> usize {
        let is_wrong = |it: &&RateTrial| it.holds != (it.per_second <= limit);
        self.trials.iter().filter(is_wrong).count()
    }

    /// The next rate to try, per second; `None` if the limit is known or there is none.
    #[must_use]
    pub fn next(&self) -> Option<f64> {
        let bracket = self.bracket();
        if let Some(unsure) = self.unsure(&bracket) {
            return Some(unsure);
        }
        let next = match (bracket.passed, bracket.failed) {
            _ if self.trials.is_empty() => self.peak_per_second * FIRST_SHARE,
            (Some(held), Some(failed)) if is_close(held, failed) => {
                let mut ends = [held, failed].into_iter();
                return ends.find(|rate| self.times(*rate) < TRIALS_PER_END);
            }
            (Some(held), Some(failed)) => middle(held, failed),
            (Some(held), None) if held < self.peak_per_second * FIRST_SHARE => held * 2.0,
            (Some(held), None) if held < short(self.peak_per_second) => self.peak_per_second,
            // Even the peak of the closed loop held, so the limit is above it.
            (Some(held), None) => held * STEP_UP,
            (None, failed) => failed
                .map(|it| it / 2.0)
                .filter(|it| *it >= self.peak_per_second * SHARE_MIN)?,
        };
        // Rounded before the trial, so that a user can repeat exactly this rate.
        let next = short(next);
        let is_rate = (RATE_MIN..=RATE_MAX).contains(&next);
        // Rounding can give a rate that was already tried.
        let is_new = self.times(next) == 0;
        (is_rate && is_new).then_some(next)
    }

    /// Expected number of further trials, assuming that the limit is in the middle of the open
    /// range.
    #[must_use]
    pub fn expected_trials(&self) -> usize {
        let limit = self.likely_limit();
        let mut search = self.clone();
        while let Some(per_second) = search.next()
            && search.trials.len() < TRIALS_MAX as usize
        {
            // Simulates the search with its own rules, so that the estimate follows any change of
            // them.
            search.trials.push(RateTrial {
                per_second,
                response_ns: None,
                holds: per_second <= limit,
            });
        }
        search.trials.len() - self.trials.len()
    }

    fn likely_limit(&self) -> f64 {
        let bracket = self.bracket();
        let low = bracket.passed.unwrap_or(0.0);
        let high = bracket.failed.unwrap_or(match low < self.peak_per_second {
            true => self.peak_per_second,
            false => low * STEP_UP,
        });
        // Without a rate that held, the limit counts as not far below the lowest that failed.
        middle(low.max(high * FIRST_SHARE), high)
    }

    /// A rate with as many passed as failed trials, for which another trial decides.
    fn unsure(&self, bracket: &RateBracket) -> Option<f64> {
        let is_between = |rate: &f64| {
            bracket.passed.is_none_or(|held| *rate > held)
                && bracket.failed.is_none_or(|failed| *rate < failed)
        };
        let between = self
            .trials
            .iter()
            .map(|it| it.per_second)
            .filter(is_between);
        // Three trials of a rate always have a majority, so there is no fourth.
        let mut open = between.filter(|rate| self.times(*rate) <= TRIALS_PER_END);
        open.next()
    }

    fn times(&self, per_second: f64) -> usize {
        // Rates may have passed through text, so they are not compared bit by bit.
        let is_it = |trial: &&RateTrial| (trial.per_second / per_second - 1.0).abs() < 1e-9;
        self.trials.iter().filter(is_it).count()
    }
}

fn is_close(low: f64, high: f64) -> bool {
    high <= low * (1.0 + PRECISION)
}

/// The geometric mean if the rates are far apart, otherwise the midpoint.
fn middle(low: f64, high: f64) -> f64 {
    match high > 2.0 * low {
        // The middle on a logarithmic scale; a midpoint would stay close to the higher rate.
        true => (low * high).sqrt(),
        false => f64::midpoint(low, high),
    }
}

/// Rounds a rate: to whole numbers from 1000 on, otherwise to three or more digits.
fn short(per_second: f64) -> f64 {
    match per_second {
        1000.0.. => per_second.round(),
        10.0.. => (per_second * 10.0).round() / 10.0,
        _ => (per_second * 1000.0).round() / 1000.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a search on a device that reaches `peak` and meets the limit at the rates for which
    /// `holds` returns `true`.
    fn found(peak: f64, mut holds: impl FnMut(f64) -> bool) -> RateSearch {
        let mut search = RateSearch {
            limit: "p99<=2ms".parse().unwrap(),
            peak_per_second: peak,
            trials: Vec::new(),
        };
        while let Some(per_second) = search.next() {
            search.trials.push(RateTrial {
                per_second,
                response_ns: None,
                holds: holds(per_second),
            });
            assert!(search.trials.len() < 40, "{search:?}");
        }
        search
    }

    #[test]
    fn every_limit_is_found_within_two_percent_in_the_allowed_trials() {
        for peak in [90.0, 1_000.0, 250_000.0] {
            for share in [0.03, 0.2, 0.49, 0.5, 0.77, 0.96, 1.0, 1.3] {
                let limit = peak * share;
                let search = found(peak, |rate| rate <= limit);
                let bracket = search.bracket();
                let (held, failed) = (bracket.passed.unwrap(), bracket.failed.unwrap());
                assert!(held <= limit && limit < failed, "{limit}: {bracket:?}");
                assert!(failed / held < 1.021, "{limit}: {bracket:?}");
                let most = plan::TRIALS_MAX as usize;
                assert!(
                    search.trials.len() <= most,
                    "{limit}: {}",
                    search.trials.len()
                );
            }
        }
    }

    #[test]
    fn the_expected_number_of_trials_is_that_of_most_searches() {
        let search = |trials| RateSearch {
            limit: "p99<=2ms".parse().unwrap(),
            peak_per_second: 1_000.0,
            trials,
        };
        let at_first = search(Vec::new()).expected_trials();
        for share in [0.3, 0.55, 0.77, 0.96] {
            let trials = found(1_000.0, |rate| rate <= 1_000.0 * share).trials;
            assert!(trials.len().abs_diff(at_first) <= 3, "{share}: {at_first}");
            let last = trials.len() - 1;
            assert_eq!(search(trials[..last].to_vec()).expected_trials(), 1);
            assert_eq!(search(trials).expected_trials(), 0);
        }
    }

    #[test]
    fn a_limit_that_nothing_meets_ends_the_search() {
        let search = found(1_000.0, |_| false);
        assert_eq!(search.bracket().passed, None);
        assert!(search.trials.len() < 10);
    }

    #[test]
    fn one_disturbed_trial_does_not_mislead_the_search() {
        for disturbed in 0..8 {
            let mut number = 0;
            let search = found(1_000.0, |rate| {
                number += 1;
                rate <= 730.0 && number != disturbed
            });
            let bracket = search.bracket();
            let (held, failed) = (bracket.passed.unwrap(), bracket.failed.unwrap());
            assert!(held <= 730.0 && 730.0 < failed, "{disturbed}: {search:?}");
            assert!(failed / held < 1.021, "{disturbed}: {search:?}");
            assert!(search.trials.len() <= plan::TRIALS_MAX as usize);
        }
    }

    #[test]
    fn a_rate_that_held_and_failed_equally_often_is_in_the_bracket() {
        let trial = |per_second, holds| RateTrial {
            per_second,
            response_ns: None,
            holds,
        };
        let mut search = found(1_000.0, |_| false);
        search.trials = vec![
            trial(90.0, true),
            trial(95.0, false),
            trial(95.0, true),
            trial(99.0, false),
        ];
        let bracket = search.bracket();
        assert_eq!((bracket.passed, bracket.failed), (Some(90.0), Some(99.0)));
        assert_eq!(
            (bracket.contradiction_count, search.next()),
            (1, Some(95.0))
        );
    }
}
