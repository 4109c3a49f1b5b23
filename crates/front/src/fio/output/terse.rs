//! The terse output: lines of fields, separated by semicolons.

use results::RunRecord;
use units::printable;

use super::super::{FioJob, JobSet};
use super::devices::devices;
use super::group::aggregate;
use super::reported::{DirectionResult, ReportedJob, reported};
use super::samples::LatencySamples;
use super::{VERSION, percentiles};

/// Fixed number of percentile fields; unused ones are filled with `0%=0`.
const PERCENTILE_FIELDS: usize = 20;

/// One line per result.
pub(super) fn lines(set: &JobSet, record: &RunRecord, version: u32) -> String {
    let jobs = reported(set, record);
    let mut text = String::new();
    for job in &jobs {
        let mut fields = fields(job, &jobs, version);
        if version >= 3 {
            fields.extend(device_fields(set, record));
        }
        if job.tolerates_errors() {
            let first = job.first_error.as_ref().map_or(0, |it| it.errno);
            fields.extend([job.error_count.to_string(), first.to_string()]);
        }
        text.push_str(&fields.join(";"));
        if let Some(description) = &job.job.settings.grouping.description {
            // Version 2 has the description on a separate line.
            let before = if version == 2 { "\n;" } else { ";" };
            text.push_str(&format!("{before}{}", printable(description)));
        }
        text.push('\n');
    }
    text
}

fn fields(job: &ReportedJob<'_>, jobs: &[ReportedJob<'_>], version: u32) -> Vec<String> {
    let mut fields = vec![version.to_string()];
    if version > 2 {
        fields.push(VERSION.to_owned());
    }
    let errno = job.failure.as_ref().map_or(0, |it| it.errno);
    fields.extend([
        printable(&job.job.name).into_owned(),
        job.job.group_index.to_string(),
        errno.to_string(),
    ]);
    for (name, result) in job.shown() {
        // Version 3 has no fields for trims.
        if name == "trim" && version == 3 {
            continue;
        }
        let group = aggregate(jobs, job.job.group_index, name);
        let share = group.share_percent(&result.bandwidth);
        fields.extend(direction(job.job, result, share));
        if version >= 5 {
            fields.extend(sample_fields(result));
        }
    }
    fields.extend(tail(job));
    fields
}

/// Formats nanoseconds as microseconds with six decimals.
fn microseconds(ns: f64) -> String {
    format!("{:.6}", ns / 1000.0)
}

fn latency(samples: &LatencySamples) -> [String; 4] {
    [
        (samples.min_ns / 1000).to_string(),
        (samples.max_ns / 1000).to_string(),
        microseconds(samples.mean_ns),
        microseconds(samples.stddev_ns()),
    ]
}

fn direction(job: &FioJob, result: &DirectionResult, share: f64) -> Vec<String> {
    let mut fields = vec![
        (result.bytes >> 10).to_string(),
        (result.bytes_per_second() as u64 >> 10).to_string(),
        (result.iops() as u64).to_string(),
        result.run_time_ms().to_string(),
    ];
    fields.extend(latency(&result.slat));
    fields.extend(latency(&result.clat));
    let settings = &job.settings.results;
    let percents = match (settings.clat_percentiles, settings.lat_percentiles) {
        (false, false) => Vec::new(),
        _ => percentiles(job),
    };
    // The line has fields for the percentiles of one latency only. As in fio, `lat_percentiles`
    // goes first, because `clat_percentiles` is on by default.
    let of = match settings.lat_percentiles {
        true => &result.lat,
        false => &result.clat,
    };
    let mut percents = percents.into_iter();
    for _ in 0..PERCENTILE_FIELDS {
        fields.push(match percents.next() {
            Some(percent) => format!("{percent:.6}%={}", of.percentile_ns(percent) / 1000),
            None => "0%=0".to_owned(),
        });
    }
    fields.extend(latency(&result.lat));
    let bandwidth = &result.bandwidth;
    fields.extend([
        bandwidth.min.to_string(),
        bandwidth.max.to_string(),
        format!("{share:.6}%"),
        format!("{:.6}", bandwidth.mean),
        format!("{:.6}", bandwidth.stddev()),
    ]);
    fields
}

/// Fields of a direction that version 5 adds.
fn sample_fields(result: &DirectionResult) -> [String; 6] {
    let iops = &result.iops;
    [
        result.bandwidth.samples.to_string(),
        iops.min.to_string(),
        iops.max.to_string(),
        format!("{:.6}", iops.mean),
        format!("{:.6}", iops.stddev()),
        iops.samples.to_string(),
    ]
}

fn tail(job: &ReportedJob<'_>) -> Vec<String> {
    let mut fields = vec![
        format!("{:.6}%", job.user_percent()),
        format!("{:.6}%", job.system_percent()),
        job.context_switches.to_string(),
        job.major_faults.to_string(),
        job.minor_faults.to_string(),
    ];
    fields.extend(job.depth_percents().map(|it| format!("{it:.1}%")));
    let [ns, mut us, ms] = job.latencies.class_percents();
    // There are no fields for nanoseconds, so all of them count as below two microseconds.
    if let Some(first) = us.first_mut() {
        *first += ns.iter().sum::<f64>();
    }
    fields.extend(us.iter().chain(&ms).map(|it| format!("{it:.2}%")));
    fields
}

/// Fields of devices. Merged requests and queue times are not measured, so they are 0.
fn device_fields(set: &JobSet, record: &RunRecord) -> Vec<String> {
    let mut fields = Vec::new();
    for device in devices(set, record) {
        fields.push(printable(device.name).into_owned());
        fields.extend([device.reads, device.writes, 0, 0, 0, 0, 0].map(|it| it.to_string()));
        fields.push(format!("{:.2}%", device.busy_percent()));
    }
    fields
}
