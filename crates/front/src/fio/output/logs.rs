//! Logs over time, from the intervals of workers or from their individual requests.

use plan::job::{LoggedRequest, RecordedKind};
use results::{IntervalRecord, RunRecord};

use super::super::compressed_log::{self, SampleFlags};
use super::super::settings::WindowValue;
use super::super::{FioJob, JobSet, Logs, iolog};
use super::OutputOptions;
use super::reported::{DIRECTION_NAMES, measured};
use super::series::{RateWindow, windows};

/// Value that a log records.
#[derive(Clone, Copy)]
enum LogMetric {
    /// KiB per second.
    Bandwidth,
    /// Requests per second.
    Iops,
    /// Latency in nanoseconds; medians replace the means of windows.
    Latency,
    /// The same latency, with the time of submission.
    Completion,
    /// Submission latency, for engines that wait for each request. The log is empty, as in fio.
    Submission,
}

/// A log.
pub(super) struct LogFile {
    name: String,
    /// Its lines.
    text: String,
    /// Flags of its samples if it is compressed.
    flags: Option<SampleFlags>,
}

impl LogFile {
    /// The file with its lines; `None` if it is compressed.
    pub(super) fn into_text(self) -> Option<(String, String)> {
        self.flags.is_none().then_some((self.name, self.text))
    }

    /// The file with its compressed lines; `None` if it is not compressed.
    pub(super) fn into_bytes(self) -> Option<(String, Vec<u8>)> {
        let bytes = compressed_log::deflated(&self.text, self.flags?);
        Some((self.name, bytes))
    }
}

/// Log files; each name occurs once.
#[derive(Default)]
struct LogFiles(Vec<LogFile>);

impl LogFiles {
    fn append(&mut self, name: String, text: &str, flags: Option<SampleFlags>) {
        // With `per_job_logs=0`, all clones share a file.
        match self.0.iter_mut().find(|known| known.name == name) {
            Some(known) => known.text.push_str(text),
            None => self.0.push(LogFile {
                name,
                text: text.to_owned(),
                flags,
            }),
        }
    }
}

/// The logs that jobs request.
pub(super) fn logs(set: &JobSet, record: &RunRecord, options: &OutputOptions) -> Vec<LogFile> {
    let mut files = LogFiles::default();
    for (index, job) in set.jobs.iter().enumerate() {
        let Some((cell, worker)) = measured(set, &record.cells, index) else {
            continue;
        };
        let began_ms = cell.started_at.map_or(0, |at| at.as_millisecond());
        if let Some(name) = &job.settings.replay.write {
            let name_of = |part: u32| job.file(part).text;
            let text = iolog::written(&worker.noted, &name_of);
            files.append(name.clone(), &text, None);
        }
        let series = LoggedSeries {
            intervals: &worker.intervals,
            requests: &worker.noted,
            has_submissions: job.settings.times_submission(),
            ramp_ns: job.settings.time.ramp_us.saturating_mul(1000),
            begin_ns: worker.begin_ns.unwrap_or_default(),
            epoch_ms: match job.settings.logs.is_since_epoch {
                true => u64::try_from(began_ms).unwrap_or(0),
                false => 0,
            },
            logs: &job.settings.logs,
        };
        for (prefix, kind, logged) in kinds(job) {
            let name = file_name(job, prefix, kind);
            let flags = job.settings.logs.is_compressed;
            let flags = flags.then(|| SampleFlags::of(&job.settings.logs));
            files.append(name, &series.lines(logged, &DIRECTION_NAMES), flags);
        }
    }
    if options.logs_bandwidth {
        for name in DIRECTION_NAMES {
            let lines = total_lines(record, name);
            files.append(format!("agg-{name}_bw.log"), &lines, None);
        }
    }
    files.0
}

/// The logs of a job: prefix of the name, suffix of the name, and recorded value.
fn kinds(job: &FioJob) -> impl Iterator<Item = (&str, &'static str, LogMetric)> {
    let logs = &job.settings.logs;
    let kinds = [
        (&logs.bandwidth, "bw", LogMetric::Bandwidth),
        (&logs.iops, "iops", LogMetric::Iops),
        (&logs.latency, "lat", LogMetric::Latency),
        (&logs.latency, "slat", LogMetric::Submission),
        (&logs.latency, "clat", LogMetric::Completion),
    ];
    // Without times of submissions, engines that have some in fio get no log.
    let settings = &job.settings;
    let is_measured = |it: &LogMetric| {
        !matches!(it, LogMetric::Submission)
            || settings.times_submission()
            || settings.engine.engine.waits()
    };
    let kinds = kinds.into_iter().filter(move |(_, _, it)| is_measured(it));
    kinds.filter_map(|(prefix, kind, logged)| Some((prefix.as_deref()?, kind, logged)))
}

fn file_name(job: &FioJob, prefix: &str, kind: &str) -> String {
    // A slash in a job's name must not lead to another directory.
    let prefix = match prefix {
        "" => job.name.replace('/', "_"),
        _ => prefix.to_owned(),
    };
    let logs = &job.settings.logs;
    let suffix = if logs.is_compressed { "log.fz" } else { "log" };
    match logs.is_per_clone {
        true => format!("{prefix}_{kind}.{}.{suffix}", job.number),
        false => format!("{prefix}_{kind}.{suffix}"),
    }
}

/// Data of a job for its logs.
struct LoggedSeries<'a> {
    intervals: &'a [IntervalRecord],
    /// Individual requests; empty if they were not recorded.
    requests: &'a [LoggedRequest],
    /// `true` if the times of their submissions are known.
    has_submissions: bool,
    /// Ramp time, during which requests are not logged.
    ramp_ns: u64,
    /// Start of the job, in nanoseconds of the cell's time.
    begin_ns: u64,
    /// Offset of all times, in milliseconds.
    epoch_ms: u64,
    logs: &'a Logs,
}

impl LoggedSeries<'_> {
    fn lines(&self, logged: LogMetric, names: &[&str]) -> String {
        match self.logs.window_ms {
            0 if !self.requests.is_empty() => self.request_lines(logged),
            _ => self.window_lines(logged, names),
        }
    }

    /// The end of a line: block size, and, if the log includes them, offset and time of
    /// submission. The priority is always 0.
    fn rest(&self, [block_bytes, offset_bytes, issued_ns]: [u64; 3]) -> String {
        let mut rest = block_bytes.to_string();
        if self.logs.has_offset {
            rest.push_str(&format!(", {offset_bytes}"));
        }
        rest.push_str(match self.logs.has_priority {
            true => ", 0x0000",
            false => ", 0",
        });
        if self.logs.has_issue_time {
            rest.push_str(&format!(", {issued_ns}"));
        }
        rest
    }

    /// One line for each request that transferred data, in order of completion.
    fn request_lines(&self, logged: LogMetric) -> String {
        let mut text = String::new();
        let measured = self.requests.iter().filter(|it| it.done_ns >= self.ramp_ns);
        for noted in measured.filter(|it| it.moved_bytes > 0) {
            let direction = match noted.request.kind {
                RecordedKind::Read => 0,
                RecordedKind::Write => 1,
                RecordedKind::Trim => 2,
                RecordedKind::Fsync | RecordedKind::Fdatasync | RecordedKind::Other => continue,
            };
            let latency_ns = noted.done_ns.saturating_sub(noted.request.due_ns);
            let bytes = u64::from(noted.moved_bytes);
            let (value, issued_ns) = match logged {
                // As in fio, bytes per millisecond; 0 if no time passed.
                LogMetric::Bandwidth => {
                    ((bytes * 1_000_000).checked_div(latency_ns).unwrap_or(0), 0)
                }
                // fio logs each request as 1.
                LogMetric::Iops => (1, 0),
                LogMetric::Latency => (latency_ns, 0),
                LogMetric::Completion => (
                    noted.done_ns.saturating_sub(noted.submitted_ns),
                    noted.submitted_ns,
                ),
                LogMetric::Submission if self.has_submissions => (
                    noted.submitted_ns.saturating_sub(noted.request.due_ns),
                    noted.submitted_ns,
                ),
                LogMetric::Submission => continue,
            };
            // fio sets its clock to 0 at the end of the ramp time (`reset_all_stats`).
            let after_ms = (noted.done_ns - self.ramp_ns) / 1_000_000;
            let time_ms = self.epoch_ms.saturating_add(after_ms);
            let rest = self.rest([bytes, noted.request.offset_bytes, issued_ns]);
            text.push_str(&format!("{time_ms}, {value}, {direction}, {rest}\n"));
        }
        text
    }

    /// One line for each window and direction with requests: end time in milliseconds, value,
    /// direction, and 0 for fields of individual requests.
    fn window_lines(&self, logged: LogMetric, names: &[&str]) -> String {
        let mut text = String::new();
        let rest = self.rest([0; 3]);
        for window in windows(self.intervals, self.logs.window_ms.into()) {
            let after_ns = window.end_ns.saturating_sub(self.begin_ns);
            // Rounded, because intervals do not end exactly at full milliseconds.
            let after_ms = after_ns.saturating_add(500_000) / 1_000_000;
            let time_ms = self.epoch_ms.saturating_add(after_ms);
            for (direction, name) in names.iter().enumerate() {
                let value = |has_max| value(&window, logged, name, has_max);
                let values = match self.logs.window_value {
                    WindowValue::Mean => [value(false), None],
                    WindowValue::Max => [value(true), None],
                    WindowValue::Both => [value(false), value(true)],
                };
                let values: Vec<u64> = values.into_iter().flatten().collect();
                if !values.is_empty() {
                    let values: Vec<String> = values.iter().map(u64::to_string).collect();
                    let values = values.join(", ");
                    text.push_str(&format!("{time_ms}, {values}, {direction}, {rest}\n"));
                }
            }
        }
        text
    }
}

/// The value of a direction in a window; `None` if it has no requests.
fn value(window: &RateWindow<'_>, logged: LogMetric, name: &str, has_max: bool) -> Option<u64> {
    let count: u64 = window.figures(name).map(|it| it.count).sum();
    // As in fio, a window without requests has no line.
    if count == 0 {
        return None;
    }
    Some(match logged {
        LogMetric::Bandwidth => window.kib_per_second(name) as u64,
        LogMetric::Iops => window.iops(name) as u64,
        LogMetric::Submission => return None,
        LogMetric::Latency | LogMetric::Completion if has_max => {
            window.figures(name).filter_map(|it| it.max_ns).max()?
        }
        LogMetric::Latency | LogMetric::Completion => {
            // Intervals have no mean, so weight their medians by the number of requests.
            let medians = window.figures(name).filter_map(|it| {
                let median_ns = it.p50_ns?;
                Some(median_ns as f64 * it.count as f64)
            });
            (medians.sum::<f64>() / count as f64) as u64
        }
    })
}

/// Lines of the total bandwidth of all jobs in one direction, from the start of the run.
fn total_lines(record: &RunRecord, name: &str) -> String {
    let direction = DIRECTION_NAMES
        .iter()
        .position(|it| *it == name)
        .unwrap_or(0);
    let mut text = String::new();
    for cell in &record.cells {
        let began = cell.started_at.unwrap_or(record.started_at);
        let before_ms = began.as_millisecond() - record.started_at.as_millisecond();
        let before_ms = u64::try_from(before_ms).unwrap_or(0);
        // The number is fio's default of `bwavgtime`, in milliseconds.
        for window in windows(&cell.intervals, 500) {
            let Some(value) = value(&window, LogMetric::Bandwidth, name, false) else {
                continue;
            };
            let time_ms = before_ms.saturating_add(window.end_ns / 1_000_000);
            text.push_str(&format!("{time_ms}, {value}, {direction}, 0, 0\n"));
        }
    }
    text
}
