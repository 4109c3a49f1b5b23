//! Results of searches for the highest rate.

use results::{RateBracket, RateSearch, RateTrial, RunRecord, Status};
use units::format;

use crate::group::Naming;

use super::rate::digits_of;

/// Returns all searches of a run, each with its result in a sentence.
pub(crate) fn searches(record: &RunRecord, naming: &Naming) -> Vec<(RateSearch, String)> {
    let searches = RateSearch::all(record);
    let is_alone = searches.len() == 1;
    let sentence = |(peak, search): (&results::CellRecord, RateSearch)| {
        let text = describe(&search, record.status == Status::Complete);
        match is_alone {
            true => (search, text),
            false => (search, format!("{}: {text}", naming.cell(peak))),
        }
    };
    searches.into_iter().map(sentence).collect()
}

/// Describes the result of a search.
fn describe(search: &RateSearch, is_whole: bool) -> String {
    let limit = search.limit;
    let goal = format!(
        "{} within {}",
        limit.percentile.name(),
        format::latency_ns(limit.max_ns)
    );
    let trials = match search.trials.len() {
        1 => "1 trial".to_owned(),
        count => format!("{count} trials"),
    };
    let so_far = match is_whole {
        true => "",
        false => ", ended early",
    };
    let bracket = search.bracket();
    match bracket {
        RateBracket {
            passed: Some(held),
            failed: Some(failed),
            ..
        } => {
            // Half of the distance between the two rates. This is not a confidence interval.
            let middle = f64::midpoint(held, failed);
            let percent = digits_of(100.0 * (failed - held) / 2.0 / middle);
            let disagree = match bracket.contradiction_count {
                0 => String::new(),
                1 => "; 1 trial disagrees".to_owned(),
                count => format!("; {count} trials disagree"),
            };
            format!(
                "{goal} up to {} per second, ±{percent} % ({trials}{so_far}: it passed at {} and \
                 failed at {}{}{disagree})",
                format::iops(middle),
                format::iops(held),
                format::iops(failed),
                excess_text(search, failed),
            )
        }
        RateBracket {
            passed: Some(held), ..
        } => {
            let percent = digits_of(100.0 * held / search.peak_per_second);
            format!(
                "{goal} at every rate that was tried, up to {} per second ({trials}{so_far}), \
                 {percent} % of the closed loop's rate",
                format::iops(held)
            )
        }
        RateBracket {
            failed: Some(failed),
            ..
        } => format!(
            "no tried rate kept {goal}; {} ({trials}{so_far})",
            lowest_trial_sentence(search, failed)
        ),
        _ if search.peak_per_second > 0.0 => {
            format!("{goal}: nothing is known ({trials}{so_far})")
        }
        _ => format!("{goal}: the closed loop completed nothing, so there is no rate to try"),
    }
}

/// Describes the trial at the lowest rate; without trials, only the rate `failed`.
fn lowest_trial_sentence(search: &RateSearch, failed: f64) -> String {
    let rates = search.trials.iter().map(|it| it.per_second);
    let lowest = rates.reduce(f64::min).unwrap_or(failed);
    let rate = format::iops(lowest);
    match response_beyond(search, lowest) {
        Some(ns) => format!(
            "the lowest, {rate} per second, had {}",
            format::latency_ns(ns)
        ),
        None => format!("the lowest was {rate} per second"),
    }
}

/// Describes the percentile at a rate, if it exceeded the limit.
fn excess_text(search: &RateSearch, per_second: f64) -> String {
    response_beyond(search, per_second).map_or_else(String::new, |ns| {
        format!(
            ", where {} was {}",
            search.limit.percentile.name(),
            format::latency_ns(ns)
        )
    })
}

/// The percentile at a rate, if it exceeded the limit.
fn response_beyond(search: &RateSearch, per_second: f64) -> Option<u64> {
    let is_it = |it: &&RateTrial| it.per_second.total_cmp(&per_second).is_eq() && !it.holds;
    let trial = search.trials.iter().find(is_it);
    let response = trial.and_then(|it| it.response_ns);
    response.filter(|ns| *ns > search.limit.max_ns)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A search for p99 within 2 ms, from rates and response times.
    pub(crate) fn search(trials: &[(f64, u64)]) -> RateSearch {
        let trial = |(per_second, response_ns): &(f64, u64)| RateTrial {
            per_second: *per_second,
            response_ns: Some(*response_ns),
            holds: *response_ns <= 2_000_000,
        };
        RateSearch {
            limit: "p99<=2ms".parse().unwrap(),
            peak_per_second: 100.0,
            trials: trials.iter().map(trial).collect(),
        }
    }

    #[test]
    fn the_answer_is_shown_with_its_bracket() {
        let found = search(&[(50.0, 1_000_000), (100.0, 9_000_000), (98.0, 1_900_000)]);
        assert_eq!(
            describe(&found, true),
            "p99 within 2.00 ms up to 99.00 per second, ±1.0 % (3 trials: it passed at 98.00 and \
             failed at 100.0, where p99 was 9.00 ms)"
        );
        let early = describe(&found, false);
        assert!(early.contains("(3 trials, ended early: "), "{early}");
    }

    #[test]
    fn trials_that_all_held_or_all_failed_give_no_answer() {
        let sentence = |trials: &[(f64, u64)]| describe(&search(trials), true);
        assert!(sentence(&[(50.0, 1)]).contains("at every rate that was tried, up to 50.00"));
        let none = sentence(&[(50.0, 3_000_000)]);
        assert_eq!(
            none,
            "no tried rate kept p99 within 2.00 ms; the lowest, 50.00 per second, had 3.00 ms \
             (1 trial)"
        );
        assert!(sentence(&[]).ends_with("nothing is known (0 trials)"));
    }

    #[test]
    fn contradicting_trials_are_counted() {
        let found = search(&[(90.0, 1), (95.0, 3_000_000), (96.0, 1), (99.0, 3_000_000)]);
        let text = describe(&found, true);
        assert!(
            text.contains("it passed at 90.00 and failed at 99.00"),
            "{text}"
        );
        assert!(text.ends_with("; 1 trial disagrees)"), "{text}");
    }
}
