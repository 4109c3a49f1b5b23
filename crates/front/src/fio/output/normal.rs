//! The normal output, for people.

use results::RunRecord;
use units::printable;

use super::super::{Direction, FioJob, JobBlockSizes, JobSet, Results};
use super::devices::{DeviceUse, devices};
use super::goals;
use super::group::{GroupDirection, aggregate};
use super::json::{BATCHES, CLASSES, DEPTHS, local_time, printed_at};
use super::latency_lines::{latency, percentile_table};
use super::reported::{DirectionResult, JobFailure, ReportedJob, reported};
use super::samples::LatencySamples;
use super::scaled::{ByteScale, Prefixes, Quantity, scaled};
use super::series::RateSeries;
use super::{VERSION, percentiles};

/// Latency classes per line.
const CLASSES_PER_LINE: usize = 5;

/// Lines that fio prints before the jobs start.
pub(super) fn beginning(set: &JobSet) -> String {
    let mut text = String::new();
    for section in set.sections() {
        let Some(job) = section.first() else {
            continue;
        };
        text.push_str(&introduction(job));
        if section.len() > 1 {
            // fio introduces only the first clone of a section.
            text.push_str("...\n");
        }
    }
    text.push_str(VERSION);
    text.push('\n');
    let threads = set.jobs.iter().filter(|it| it.settings.process.is_thread);
    let threads = threads.count();
    let counted = |count: usize, one: &str, several: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {several}")),
    };
    let parts = [
        counted(threads, "thread", "threads"),
        counted(set.jobs.len() - threads, "process", "processes"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    text.push_str(&format!("Starting {}\n", parts.join(" and ")));
    text
}

fn introduction(job: &FioJob) -> String {
    let settings = &job.settings;
    let size = |bytes| scaled(bytes, 4, Prefixes::Binary, Quantity::Bytes);
    let range = |sizes: &JobBlockSizes| format!("{}-{}", size(sizes.min()), size(sizes.max()));
    let sizes = settings.blocks.sizes().map(range);
    format!(
        "{}: (g={}): rw={}, bs=(R) {}, (W) {}, (T) {}, ioengine={}, iodepth={}\n",
        printable(&job.name),
        job.group_index,
        direction_name(job),
        sizes.read,
        sizes.write,
        sizes.trim,
        printable(&settings.engine.name),
        settings.engine.iodepth,
    )
}

fn direction_name(job: &FioJob) -> String {
    let access = &job.settings.access;
    let random = if access.is_random { "rand" } else { "" };
    let name = match access.direction {
        Direction::Read => "read",
        Direction::Write => "write",
        Direction::Trim => "trim",
        Direction::Mixed => "rw",
        Direction::TrimAndWrite => "trimwrite",
        Direction::FileCreate => "filecreate",
        Direction::FileStat => "filestat",
        Direction::FileDelete => "filedelete",
        Direction::DirectoryCreate => "dircreate",
        Direction::DirectoryStat => "dirstat",
        Direction::DirectoryDelete => "dirdelete",
    };
    format!("{random}{name}")
}

/// Results that fio prints after all jobs have ended.
pub(super) fn end(set: &JobSet, record: &RunRecord) -> String {
    let jobs = reported(set, record);
    let mut text = String::from("\n");
    for job in &jobs {
        text.push_str(&block(job, &jobs, record));
    }
    for group_index in 0..set.groups.len() {
        text.push_str(&group(&jobs, group_index));
    }
    let devices = devices(set, record);
    if !devices.is_empty() {
        text.push_str("\nDisk stats (read/write):\n");
        text.extend(devices.iter().map(device));
    }
    text
}

fn block(job: &ReportedJob<'_>, jobs: &[ReportedJob<'_>], record: &RunRecord) -> String {
    let mut text = head(job, record);
    for (name, result) in job.shown() {
        if result.is_empty() {
            continue;
        }
        text.push_str(&direction(job, name, result));
        let aggregate = aggregate(jobs, job.job.group_index, name);
        text.push_str(&rates(job, result, &aggregate));
    }
    text.push_str(&classes(&job.latencies));
    if job.shows_sync() && !job.sync.is_empty() {
        text.push_str("  fsync/fdatasync/sync_file_range/syncfs:\n");
        text.push_str(&latency("sync", &job.sync));
        text.push_str(&percentile_table("sync", &job.sync, &percentiles(job.job)));
    }
    text.push_str(&tail(job));
    text
}

fn head(job: &ReportedJob<'_>, record: &RunRecord) -> String {
    let (errno, why) = match &job.failure {
        Some(JobFailure { errno, message }) => (*errno, format!(" ({})", printable(message))),
        None => (0, String::new()),
    };
    let mut text = format!(
        "{}: (groupid={}, jobs={}): err={errno:2}{why}: pid={}: {}\n",
        printable(&job.job.name),
        job.job.group_index,
        job.job_count,
        process_id(record),
        local_time(printed_at(record)),
    );
    if let Some(description) = &job.job.settings.grouping.description {
        text.push_str(&format!("  Description  : [{}]\n", printable(description)));
    }
    text
}

/// The id of the measuring process, which is the last part of the run's id; 0 if it is missing.
fn process_id(record: &RunRecord) -> u32 {
    let last = record.id.rsplit('-').next();
    last.and_then(|it| u32::from_str_radix(it, 16).ok())
        .unwrap_or(0)
}

fn direction(job: &ReportedJob<'_>, name: &str, result: &DirectionResult) -> String {
    let settings = &job.job.settings.results;
    let scale = ByteScale::of(settings);
    let rate = result.bytes_per_second();
    let iops = scaled(
        result.iops() as u64,
        settings.digits,
        Prefixes::Decimal,
        Quantity::Plain,
    );
    let mut text = format!(
        "  {name}: IOPS={iops}, BW={} ({})({}/{}msec)\n",
        scale.rate(rate),
        scale.other_rate(rate),
        scale.bytes(result.bytes),
        result.run_time_ms(),
    );
    text.push_str(&latency("slat", &result.slat));
    text.push_str(&latency("clat", &result.clat));
    text.push_str(&latency(" lat", &result.lat));
    let percentiles = percentiles(job.job);
    if settings.slat_percentiles {
        text.push_str(&percentile_table("slat", &result.slat, &percentiles));
    }
    if settings.clat_percentiles {
        text.push_str(&percentile_table("clat", &result.clat, &percentiles));
    }
    if settings.lat_percentiles {
        text.push_str(&percentile_table("lat", &result.lat, &percentiles));
    }
    text
}

/// Lines of bandwidth and IOPS over time.
fn rates(job: &ReportedJob<'_>, result: &DirectionResult, group: &GroupDirection) -> String {
    let mut text = String::new();
    if result.bandwidth.samples > 0 {
        let settings = &job.job.settings.results;
        text.push_str(&bandwidth(settings, &result.bandwidth, group));
    }
    let iops = &result.iops;
    if iops.samples > 0 {
        text.push_str(&format!(
            "   iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}\n",
            iops.min,
            iops.max,
            iops.mean,
            iops.stddev(),
            iops.samples,
        ));
    }
    text
}

fn bandwidth(settings: &Results, series: &RateSeries, group: &GroupDirection) -> String {
    let share = group.share_percent(series);
    let kilo: u64 = if settings.is_decimal { 1000 } else { 1024 };
    let (times, bits) = match settings.unit_base {
        1 => (8, "bit"),
        _ => (1, "B"),
    };
    let i = if settings.is_decimal { "" } else { "i" };
    let k = if settings.is_decimal { "k" } else { "K" };
    let is_large = series.mean * times as f64 > (kilo * kilo) as f64;
    let (divisor, prefix) = if is_large { (kilo, "M") } else { (1, k) };
    let integer = |value: u64| value.saturating_mul(times) / divisor;
    let real = |value: f64| value * times as f64 / divisor as f64;
    format!(
        "   bw ({:>5}/s): min={:5}, max={:5}, per={share:3.2}%, avg={:5.2}, stdev={:5.2}, \
         samples={}\n",
        format!("{prefix}{i}{bits}"),
        integer(series.min),
        integer(series.max),
        real(series.mean),
        real(series.stddev()),
        series.samples,
    )
}

/// Lines of the distribution of latencies over classes.
fn classes(samples: &LatencySamples) -> String {
    let mut text = String::new();
    let units = ["nsec", "usec", "msec"];
    for (unit, percents) in units.into_iter().zip(samples.class_percents()) {
        let found = CLASSES.iter().zip(percents).filter(|(_, it)| *it > 0.0);
        let found: Vec<String> = found
            .map(|(name, it)| format!("{name}={it:3.2}%"))
            .collect();
        for line in found.chunks(CLASSES_PER_LINE) {
            text.push_str(&format!("  lat ({unit})   : {}\n", line.join(", ")));
        }
    }
    text
}

/// Percentages with their names, on one line.
fn shares(names: [&str; 7], percents: [f64; 7]) -> String {
    let entries = names.iter().zip(percents);
    let entries: Vec<String> = entries
        .map(|(name, it)| format!("{name}={it:.1}%"))
        .collect();
    entries.join(", ")
}

fn tail(job: &ReportedJob<'_>) -> String {
    let settings = &job.job.settings;
    // fio's counters have a field for each direction, also for those that the job does not use.
    let joined = |count: fn(&DirectionResult) -> u64| {
        let counts = job.directions().map(|it| count(it).to_string());
        counts.join(",")
    };
    // Batch sizes are not measured.
    let batches = shares(BATCHES, [0.0; 7]);
    let goal = &settings.latency_goal;
    let mut text = format!(
        "  cpu          : usr={:3.2}%, sys={:3.2}%, ctx={}, majf={}, minf={}\n  \
           IO depths    : {}\n     submit    : {batches}\n     complete  : {batches}\n     \
           issued rwts: total={},{} short={},0 dropped=0,0,0,0\n     \
           latency   : target={}, window={}, percentile={:.2}%, depth={}\n",
        job.user_percent(),
        job.system_percent(),
        job.context_switches,
        job.major_faults,
        job.minor_faults,
        shares(DEPTHS, job.depth_percents()),
        joined(|it| it.count),
        job.sync.count,
        joined(|it| it.short_count),
        goal.target_us.saturating_mul(1000),
        goal.window_us,
        goal.percentile,
        job.depth,
    );
    if job.tolerates_errors() {
        let first = job.first_error.as_ref();
        text.push_str(&format!(
            "     errors    : total={}, first_error={}/<{}>\n",
            job.error_count,
            first.map_or(0, |it| it.errno),
            printable(first.map_or("Success", |it| it.message)),
        ));
    }
    if let Some(steady) = job.steady {
        text.push_str(&goals::line(steady, ByteScale::of(&settings.results)));
    }
    text
}

/// The lines of a group; empty if none of its jobs is reported.
fn group(jobs: &[ReportedJob<'_>], group_index: usize) -> String {
    let mut own = jobs.iter().filter(|it| it.job.group_index == group_index);
    let Some(first) = own.next() else {
        return String::new();
    };
    let scale = ByteScale::of(&first.job.settings.results);
    let mut text = format!("\nRun status group {group_index} (all jobs):\n");
    for name in ["read", "write", "trim", "mixed"] {
        let all = aggregate(jobs, group_index, name);
        if all.longest_ms == 0 {
            continue;
        }
        let rates = [all.bytes_per_second, all.slowest, all.fastest];
        let [rate, slowest, fastest] = rates.map(|it| scale.rate(it));
        let [other, other_slowest, other_fastest] = rates.map(|it| scale.other_rate(it));
        text.push_str(&format!(
            "{:>7}: bw={rate} ({other}), {slowest}-{fastest} ({other_slowest}-{other_fastest}), \
             io={} ({}), run={}-{}msec\n",
            name.to_uppercase(),
            scale.bytes(all.bytes),
            scale.other_bytes(all.bytes),
            all.shortest_ms,
            all.longest_ms,
        ));
    }
    text
}

/// The line of a device. Merged requests and queue times are not measured, so they are 0.
fn device(device: &DeviceUse<'_>) -> String {
    format!(
        "  {}: ios={}/{}, sectors={}/{}, merge=0/0, ticks=0/0, in_queue=0, util={:3.2}%\n",
        printable(device.name),
        device.reads,
        device.writes,
        device.read_sectors(),
        device.write_sectors(),
        device.busy_percent(),
    )
}
