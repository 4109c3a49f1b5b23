//! Whether a search for the highest rate finds the limit of a device that is known.

use end_to_end::Limit;
use results::{RateSearch, RunRecord};

use super::contest::word;
use super::limited::{FILE_BYTES, LimitedDevice};
use super::programs::Pgmeter;
use super::{Effort, Interrupt};
use crate::error::Failure;

/// Requests a second that the I/O controller lets through.
const LIMIT: u64 = 2000;
/// Well above the time for which the controller holds requests back in one go, and so short that a
/// backlog breaks it within a trial.
const RESPONSE: &str = "p99<=100ms";
const PERCENT_MAX: f64 = 3.0;
const SEARCHES: usize = 5;

/// Searches several times and returns how often what was found is too far from the limit.
pub fn run(pgmeter: &Pgmeter, effort: &Effort, interrupt: &Interrupt) -> Result<usize, Failure> {
    println!(
        "\nhighest: the rate at which {RESPONSE} holds on a device of {LIMIT} IOPS, at most \
         {PERCENT_MAX} % off"
    );
    let device = LimitedDevice::new(pgmeter)?;
    let throttle = device.limit(Limit::Iops(LIMIT))?;
    let seconds = effort.seconds_or(10);
    let mut missed_count = 0;
    for seed in 1..=effort.rounds_or(SEARCHES) {
        interrupt.check()?;
        let text = format!(
            "size = {FILE_BYTES}\nrun_time = {seconds}\nramp_time = 1\ncache = \"direct\"\n\
             iodepth = 16\nseed = {seed}\nfind_rate = \"{RESPONSE}\"\n[[access_spec]]\n\
             line = [{{ size = \"4k\", random = 100, align = \"4k\" }}]\n"
        );
        let record = pgmeter.record_limited(&text, device.path(), &throttle)?;
        let record: RunRecord =
            serde_json::from_value(record).map_err(|error| Failure::Output {
                program: "pgmeter".to_owned(),
                message: error.to_string(),
            })?;
        let search = RateSearch::all(&record).pop().map(|(_, search)| search);
        let found = search.as_ref().map_or(f64::NAN, limit);
        let percent = 100.0 * (found / LIMIT as f64 - 1.0);
        let is_met = percent.abs() <= PERCENT_MAX;
        missed_count += usize::from(!is_met);
        println!(
            "  {} {found:.1} IOPS ({percent:+.2} %) in {} trials",
            word(is_met),
            search.map_or(0, |search| search.trials.len())
        );
    }
    Ok(missed_count)
}

/// The limit that a search found, in requests or rounds a second: the middle of its bracket. NaN
/// where one end of it is missing.
pub fn limit(search: &RateSearch) -> f64 {
    let bracket = search.bracket();
    match (bracket.held, bracket.failed) {
        (Some(held), Some(failed)) => f64::midpoint(held, failed),
        _ => f64::NAN,
    }
}
