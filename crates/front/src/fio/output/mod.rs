//! Writes a record as fio's output: normal text, JSON, terse lines and logs.
//!
//! The record has one cell per wave, whose workers are the wave's jobs in order. Values that
//! pgmeter does not measure are zero, without samples: submission latency unless it is requested,
//! batch sizes of submissions and completions, depths above 1, and most counters of devices. Rates
//! are relative to the time in nanoseconds, not in whole milliseconds.

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

use super::{FioInvocation, FioJob, JobSet, OutputFormat};
use group::aggregate;
use logs::LogFile;

/// The emulated version.
const VERSION: &str = "fio-3.42";

/// Percentiles that fio prints by default.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// Output options of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputOptions {
    /// Output formats of the results.
    pub formats: Vec<OutputFormat>,
    /// Version of the terse format, from 2 to 5.
    pub terse_version: u32,
    /// File for the results; `None` for standard output.
    pub output: Option<String>,
    /// `true` if the total bandwidth of all jobs is logged.
    pub logs_bandwidth: bool,
    /// `true` if results are also printed while jobs run (`--status-interval`).
    pub prints_status: bool,
    /// Lines of `--debug`, which precede the results.
    pub trace: String,
}

impl From<&FioInvocation> for OutputOptions {
    fn from(invocation: &FioInvocation) -> Self {
        let mut formats = invocation.formats.clone();
        if invocation.appends_terse && !formats.contains(&OutputFormat::Terse) {
            formats.push(OutputFormat::Terse);
        }
        Self {
            formats,
            terse_version: invocation.terse_version,
            output: invocation.output.clone().filter(|it| !it.is_empty()),
            logs_bandwidth: invocation.logs_bandwidth,
            prints_status: invocation.status_interval_us > 0,
            trace: invocation.trace.clone(),
        }
    }
}

/// The normal output: introductory lines, results of jobs, and results of groups.
#[must_use]
pub fn normal(set: &JobSet, record: &RunRecord) -> String {
    beginning(set) + &end(set, record)
}

/// The introductory lines, which fio prints before the jobs start.
#[must_use]
pub fn beginning(set: &JobSet) -> String {
    normal::beginning(set)
}

/// The rest of the normal output, with all results.
#[must_use]
pub fn end(set: &JobSet, record: &RunRecord) -> String {
    normal::end(set, record)
}

/// Terse output: one line per result, in a format version from 2 to 5.
#[must_use]
pub fn terse(set: &JobSet, record: &RunRecord, version: u32) -> String {
    terse::lines(set, record, version)
}

/// JSON output of a run, with histogram buckets if `plus`.
#[must_use]
pub fn json(set: &JobSet, record: &RunRecord, plus: bool) -> String {
    json::document(set, record, plus)
}

/// The logs that jobs request, as pairs of file name and contents. File names are as written and
/// must be checked before use.
///
/// Workers keep only the median and the maximum latency of each interval. So windows in latency
/// logs have maxima if requested, else medians instead of means. If submissions are not timed,
/// their log is empty or missing.
#[must_use]
pub fn logs(set: &JobSet, record: &RunRecord, options: &OutputOptions) -> Vec<(String, String)> {
    let logs = logs::logs(set, record, options).into_iter();
    logs.filter_map(LogFile::into_text).collect()
}

/// The logs that jobs request in compressed form (`log_store_compressed`).
#[must_use]
pub fn compressed_logs(
    set: &JobSet,
    record: &RunRecord,
    options: &OutputOptions,
) -> Vec<(String, Vec<u8>)> {
    let logs = logs::logs(set, record, options).into_iter();
    logs.filter_map(LogFile::into_bytes).collect()
}

/// Percentiles to print for a job, in ascending order.
fn percentiles(job: &FioJob) -> Vec<f64> {
    let requested = &job.settings.results.percentiles;
    let mut percentiles = match requested.is_empty() {
        true => PERCENTILES.to_vec(),
        false => requested.clone(),
    };
    percentiles.sort_by(f64::total_cmp);
    percentiles
}

#[cfg(test)]
mod tests;
