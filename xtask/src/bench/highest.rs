//! Checks that a search for the highest rate finds the limit of a known device.

use end_to_end::Limit;
use results::{RateSearch, RunRecord};

use super::contest::word;
use super::limited::{FILE_BYTES, LimitedDevice};
use super::programs::{Pgmeter, read_record};
use super::{BenchEffort, Interrupt};
use crate::error::Failure;

/// Requests per second that the I/O controller allows.
const LIMIT: u64 = 2000;
/// Well above the controller's initial delay of requests, but short enough that a backlog exceeds
/// it within a trial.
const RESPONSE: &str = "p99<=100ms";
pub const PERCENT_MAX: f64 = 3.0;
pub const SEARCHES: usize = 5;

/// Searches several times and returns the number of results too far from the limit.
pub fn run(
    pgmeter: &Pgmeter,
    effort: &BenchEffort,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
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
        let record = read_record(record)?;
        missed_count += usize::from(!finds(&record, "IOPS", LIMIT as f64));
    }
    Ok(missed_count)
}

/// `true` if the search of a run found this limit, in requests or rounds per second, within
/// [`PERCENT_MAX`]. Prints the result. A search without both ends of its bracket found nothing.
pub fn finds(record: &RunRecord, label: &str, wanted: f64) -> bool {
    let search = RateSearch::all(record).pop().map(|(_, search)| search);
    let bracket = search.as_ref().map(RateSearch::bracket).unwrap_or_default();
    let found = match (bracket.passed, bracket.failed) {
        (Some(held), Some(failed)) => f64::midpoint(held, failed),
        // Not a number fails every comparison below, so it is a miss.
        _ => f64::NAN,
    };
    let percent = 100.0 * (found / wanted - 1.0);
    let is_met = percent.abs() <= PERCENT_MAX;
    println!(
        "  {} {label}: {found:.1} for {wanted:.1} ({percent:+.2} %) in {} trials",
        word(is_met),
        search.map_or(0, |search| search.trials.len())
    );
    is_met
}
