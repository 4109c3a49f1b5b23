//! What fio prints of jobs that were run, from a record: text, JSON, terse lines, logs.
//!
//! The record has a cell for each wave of the jobs, whose workers are its jobs in their order. What
//! is not measured is zero, without samples: latency of submission, how many requests were
//! submitted and completed at once, depths where there may be several requests in flight, and what
//! of devices only the kernel counts. Rates are of the time that was measured to the nanosecond,
//! not of whole milliseconds.

mod devices;
mod goals;
mod group;
mod json;
mod latency_lines;
mod logs;
mod normal;
mod reported;
mod samples;
mod scaled;
mod series;
mod terse;
mod tree;

use results::RunRecord;

pub(super) use goals::complaints;

use super::{Invocation, Job, JobSet, OutputFormat};
use group::aggregate;

/// The version whose output it is.
const VERSION: &str = "fio-3.42";

/// The percentiles that fio prints where none are asked for.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// What is said of output beside the jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputOptions {
    /// Forms of the results.
    pub formats: Vec<OutputFormat>,
    /// Version of terse lines, from 2 to 5.
    pub terse_version: u32,
    /// The file for results; none for standard output.
    pub output: Option<String>,
    /// Where logs are put; empty for the current directory.
    pub log_directory: String,
    /// Whether there are logs of the bandwidth of all jobs together.
    pub logs_bandwidth: bool,
    /// Whether results are printed while jobs run, too.
    pub is_told_between: bool,
}

impl From<&Invocation> for OutputOptions {
    fn from(invocation: &Invocation) -> Self {
        let mut formats = invocation.formats.clone();
        if invocation.appends_terse && !formats.contains(&OutputFormat::Terse) {
            formats.push(OutputFormat::Terse);
        }
        Self {
            formats,
            terse_version: invocation.terse_version,
            output: invocation.output.clone().filter(|it| !it.is_empty()),
            log_directory: invocation.log_directory.clone(),
            logs_bandwidth: invocation.logs_bandwidth,
            is_told_between: invocation.status_interval_us > 0,
        }
    }
}

/// The text for people: what comes before the jobs, their results, and those of groups.
#[must_use]
pub fn normal(set: &JobSet, record: &RunRecord) -> String {
    beginning(set) + &end(set, record)
}

/// The part of the text that comes before the jobs.
#[must_use]
pub fn beginning(set: &JobSet) -> String {
    normal::beginning(set)
}

/// The rest of it.
#[must_use]
pub fn end(set: &JobSet, record: &RunRecord) -> String {
    normal::end(set, record)
}

/// A line for each result, in a version from 2 to 5.
#[must_use]
pub fn terse(set: &JobSet, record: &RunRecord, version: u32) -> String {
    terse::lines(set, record, version)
}

/// The JSON document of a run, with the buckets of histograms if `plus`.
#[must_use]
pub fn json(set: &JobSet, record: &RunRecord, plus: bool) -> String {
    json::document(set, record, plus)
}

/// The logs that jobs ask for, with the names of their files as they were written: whoever writes
/// them has to check them.
///
/// Workers keep the median and the largest latency of each interval, so latencies are the largest
/// where those are asked for, else medians. There is no log of submission latency.
#[must_use]
pub fn logs(set: &JobSet, record: &RunRecord, options: &OutputOptions) -> Vec<(String, String)> {
    logs::logs(set, record, options)
}

/// The percentiles that are printed of a job.
fn percentiles(job: &Job) -> Vec<f64> {
    let asked = &job.settings.results.percentiles;
    let mut percentiles = match asked.is_empty() {
        true => PERCENTILES.to_vec(),
        false => asked.clone(),
    };
    percentiles.sort_by(f64::total_cmp);
    percentiles
}

#[cfg(test)]
mod tests;
