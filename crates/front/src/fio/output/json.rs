//! The JSON output of a run.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use results::RunRecord;

use super::super::{FioJob, JobSet};
use super::devices::{DeviceUse, devices};
use super::goals;
use super::reported::{DirectionResult, ReportedJob, reported};
use super::samples::LatencySamples;
use super::tree::JsonTree;
use super::{VERSION, aggregate, percentiles};

/// Time format of C's `ctime`.
pub(super) const CTIME: &str = "%a %b %e %H:%M:%S %Y";

/// Optional parts of a latency object.
#[derive(Clone, Copy)]
struct LatencyDetail<'a> {
    percentiles: &'a [f64],
    has_percentiles: bool,
    has_bins: bool,
}

/// The JSON document, with histogram buckets if `has_bins`.
pub(super) fn document(set: &JobSet, record: &RunRecord, has_bins: bool) -> String {
    let at = printed_at(record);
    let mut pairs = vec![
        ("fio version", JsonTree::text(VERSION)),
        ("timestamp", JsonTree::Signed(at.as_second())),
        ("timestamp_ms", JsonTree::Signed(at.as_millisecond())),
        ("time", JsonTree::Text(local_time(at))),
    ];
    if let Some(options) = written(name_of(&set.options), &set.options) {
        pairs.push(("global options", options));
    }
    let jobs = reported(set, record);
    let elapsed = elapsed_seconds(record);
    let entry = |job: &ReportedJob<'_>| entry(job, &jobs, elapsed, has_bins);
    pairs.push(("jobs", JsonTree::List(jobs.iter().map(entry).collect())));
    let devices = devices(set, record);
    if !devices.is_empty() {
        let devices = devices.iter().map(device).collect();
        pairs.push(("disk_util", JsonTree::List(devices)));
    }
    let pairs = pairs.into_iter();
    let document = JsonTree::Map(pairs.map(|(key, it)| (key.to_owned(), it)).collect());
    format!("{}\n", document.document())
}

/// Time of the results: the end of the run, or its start if it has not ended.
pub(super) fn printed_at(record: &RunRecord) -> Timestamp {
    record.finished_at.unwrap_or(record.started_at)
}

pub(super) fn local_time(at: Timestamp) -> String {
    let local = at.to_zoned(TimeZone::system());
    local.strftime(CTIME).to_string()
}

/// Duration of the run in seconds, rounded up.
fn elapsed_seconds(record: &RunRecord) -> u64 {
    let end_ms = printed_at(record).as_millisecond();
    let elapsed_ms = end_ms.saturating_sub(record.started_at.as_millisecond());
    // fio rounds up, too. A clock that was set back gives 0.
    u64::try_from(elapsed_ms).unwrap_or(0).div_ceil(1000)
}

/// Options as written. As in fio, options without a value are left out.
fn written(name: Option<&str>, options: &[(String, Option<String>)]) -> Option<JsonTree> {
    let name = name.map(|name| ("name".to_owned(), JsonTree::text(name)));
    let valued = options.iter().filter(|(key, _)| key != "name");
    let valued = valued.filter_map(|(key, value)| {
        let value = value.as_deref()?;
        Some((key.clone(), JsonTree::text(value)))
    });
    let pairs: Vec<(String, JsonTree)> = name.into_iter().chain(valued).collect();
    (!pairs.is_empty()).then_some(JsonTree::Map(pairs))
}

/// The last value of the option `name`.
fn name_of(options: &[(String, Option<String>)]) -> Option<&str> {
    let (_, value) = options.iter().rev().find(|(key, _)| key == "name")?;
    value.as_deref()
}

fn job_options(job: &FioJob) -> Option<JsonTree> {
    // The name of a section is not an option, but the name of a command-line job is.
    let is_option = job.position.line == 0 || job.options.iter().any(|(key, _)| key == "name");
    written(is_option.then_some(&*job.name), &job.options)
}

fn entry(
    job: &ReportedJob<'_>,
    jobs: &[ReportedJob<'_>],
    elapsed: u64,
    has_bins: bool,
) -> JsonTree {
    let mut pairs = head(job, elapsed);
    let percentiles = percentiles(job.job);
    let detail = |has_percentiles| LatencyDetail {
        percentiles: &percentiles,
        has_percentiles,
        has_bins,
    };
    let settings = &job.job.settings.results;
    for (name, result) in job.shown() {
        let latencies = [
            latency(&result.slat, detail(settings.slat_percentiles)),
            latency(&result.clat, detail(settings.clat_percentiles)),
            latency(&result.lat, detail(settings.lat_percentiles)),
        ];
        let share = aggregate(jobs, job.job.group_index, name).share_percent(&result.bandwidth);
        pairs.push((name, direction(result, latencies, share)));
        // fio prints the syncs after the trims.
        if name == "trim" {
            pairs.push(("sync", sync(&job.sync, detail(true))));
        }
    }
    tail(job, &mut pairs);
    let pairs = pairs.into_iter();
    JsonTree::Map(pairs.map(|(key, it)| (key.to_owned(), it)).collect())
}

fn head(job: &ReportedJob<'_>, elapsed: u64) -> Vec<(&'static str, JsonTree)> {
    let errno = job.failure.as_ref().map_or(0, |it| it.errno);
    let mut pairs = vec![
        ("jobname", JsonTree::text(&job.job.name)),
        ("groupid", JsonTree::Count(job.job.group_index as u64)),
        (
            "job_start",
            JsonTree::Signed(job.began_ms.unwrap_or_default()),
        ),
        ("error", JsonTree::Signed(errno.into())),
        ("eta", JsonTree::Count(0)),
        ("elapsed", JsonTree::Count(elapsed)),
    ];
    // In a group, each job overwrites the options in fio, so the last one remains.
    if let Some(options) = job_options(job.last_job) {
        pairs.push(("job options", options));
    }
    pairs
}

fn direction(result: &DirectionResult, [slat, clat, lat]: [JsonTree; 3], share: f64) -> JsonTree {
    let (bandwidth, iops) = (&result.bandwidth, &result.iops);
    let bytes_per_second = result.bytes_per_second();
    JsonTree::map([
        ("io_bytes", JsonTree::Count(result.bytes)),
        ("io_kbytes", JsonTree::Count(result.bytes >> 10)),
        ("bw_bytes", JsonTree::Count(bytes_per_second as u64)),
        ("bw", JsonTree::Count(bytes_per_second as u64 >> 10)),
        ("iops", JsonTree::Real(result.iops())),
        ("runtime", JsonTree::Count(result.run_time_ms())),
        ("total_ios", JsonTree::Count(result.count)),
        ("short_ios", JsonTree::Count(result.short_count)),
        // pgmeter counts requests that never complete as errors.
        ("drop_ios", JsonTree::Count(0)),
        ("slat_ns", slat),
        ("clat_ns", clat),
        ("lat_ns", lat),
        ("bw_min", JsonTree::Count(bandwidth.min)),
        ("bw_max", JsonTree::Count(bandwidth.max)),
        ("bw_agg", JsonTree::Real(share)),
        ("bw_mean", JsonTree::Real(bandwidth.mean)),
        ("bw_dev", JsonTree::Real(bandwidth.stddev())),
        ("bw_samples", JsonTree::Count(bandwidth.samples)),
        ("iops_min", JsonTree::Count(iops.min)),
        ("iops_max", JsonTree::Count(iops.max)),
        ("iops_mean", JsonTree::Real(iops.mean)),
        ("iops_stddev", JsonTree::Real(iops.stddev())),
        ("iops_samples", JsonTree::Count(iops.samples)),
    ])
}

fn latency(samples: &LatencySamples, detail: LatencyDetail<'_>) -> JsonTree {
    let mut pairs = vec![
        ("min", JsonTree::Count(samples.min_ns)),
        ("max", JsonTree::Count(samples.max_ns)),
        ("mean", JsonTree::Real(samples.mean_ns)),
        ("stddev", JsonTree::Real(samples.stddev_ns())),
        ("N", JsonTree::Count(samples.count)),
    ];
    if detail.has_percentiles && !samples.is_empty() {
        let percentile = |percent: &f64| {
            let latency_ns = samples.percentile_ns(*percent);
            (format!("{percent:.6}"), JsonTree::Count(latency_ns))
        };
        let percentiles = detail.percentiles.iter().map(percentile).collect();
        pairs.push(("percentile", JsonTree::Map(percentiles)));
        if detail.has_bins {
            let bins = samples.bins();
            let bins = bins.map(|(ns, count)| (ns.to_string(), JsonTree::Count(count)));
            pairs.push(("bins", JsonTree::Map(bins.collect())));
        }
    }
    let pairs = pairs.into_iter();
    JsonTree::Map(pairs.map(|(key, it)| (key.to_owned(), it)).collect())
}

fn sync(samples: &LatencySamples, detail: LatencyDetail<'_>) -> JsonTree {
    JsonTree::map([
        ("total_ios", JsonTree::Count(samples.count)),
        ("lat_ns", latency(samples, detail)),
    ])
}

/// Names of latency classes, in nanoseconds, microseconds or milliseconds.
pub(super) const CLASSES: [&str; 12] = [
    "2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000",
];
/// Names of depth classes.
pub(super) const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
/// Names of classes of the number of requests submitted or completed by one call.
pub(super) const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];

/// Adds the keys that follow the directions.
fn tail(job: &ReportedJob<'_>, pairs: &mut Vec<(&'static str, JsonTree)>) {
    let batches = || JsonTree::reals(BATCHES.map(|name| (name, 0.0)));
    let depths = DEPTHS.into_iter().zip(job.depth_percents());
    let classes = |percents: Vec<f64>| JsonTree::reals(CLASSES.into_iter().zip(percents));
    let [ns, us, ms] = job.latencies.class_percents().map(classes);
    pairs.extend([
        (
            "job_runtime",
            JsonTree::Count(job.run_time_ns.div_ceil(1_000_000)),
        ),
        ("usr_cpu", JsonTree::Real(job.user_percent())),
        ("sys_cpu", JsonTree::Real(job.system_percent())),
        ("ctx", JsonTree::Count(job.context_switches)),
        ("majf", JsonTree::Count(job.major_faults)),
        ("minf", JsonTree::Count(job.minor_faults)),
        ("iodepth_level", JsonTree::reals(depths)),
        // Batch sizes are not measured.
        ("iodepth_submit", batches()),
        ("iodepth_complete", batches()),
        ("latency_ns", ns),
        ("latency_us", us),
        ("latency_ms", ms),
    ]);
    if job.tolerates_errors() {
        let first = job.first_error.as_ref().map_or(0, |it| it.errno);
        pairs.push(("total_err", JsonTree::Count(job.error_count)));
        pairs.push(("first_error", JsonTree::Signed(first.into())));
    }
    let settings = &job.job.settings;
    let goal = &settings.latency_goal;
    let target_ns = goal.target_us.saturating_mul(1000);
    // A job that only laid out its files has no depth.
    let depth = (job.depth > 0).then_some([
        ("latency_depth", JsonTree::Count(job.depth.into())),
        // fio prints the target and the window under an old and a new name each.
        ("latency_target", JsonTree::Count(target_ns)),
        ("latency_target_ns", JsonTree::Count(target_ns)),
        ("latency_percentile", JsonTree::Real(goal.percentile)),
        ("latency_window", JsonTree::Count(goal.window_us)),
        ("latency_window_us", JsonTree::Count(goal.window_us)),
    ]);
    pairs.extend(depth.into_iter().flatten());
    if let Some(steady) = job.steady {
        pairs.push(("steadystate", goals::steady_state(steady)));
    }
    if let Some(description) = &settings.grouping.description {
        pairs.push(("desc", JsonTree::text(description)));
    }
}

fn device(device: &DeviceUse<'_>) -> JsonTree {
    let zero = || JsonTree::Count(0);
    JsonTree::map([
        ("name", JsonTree::text(device.name)),
        ("read_ios", JsonTree::Count(device.reads)),
        ("write_ios", JsonTree::Count(device.writes)),
        ("read_sectors", JsonTree::Count(device.read_sectors())),
        ("write_sectors", JsonTree::Count(device.write_sectors())),
        // The next five values are not measured.
        ("read_merges", zero()),
        ("write_merges", zero()),
        ("read_ticks", zero()),
        ("write_ticks", zero()),
        ("in_queue", zero()),
        ("util", JsonTree::Real(device.busy_percent())),
    ])
}
