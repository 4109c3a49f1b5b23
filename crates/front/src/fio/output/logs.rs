//! Logs over time, from the intervals of workers.

use results::{IntervalRecord, RunRecord};

use super::super::{Job, JobSet, Logs, iolog};
use super::OutputOptions;
use super::reported::{NAMES, measured};
use super::series::{RateWindow, windows};

/// What a log is of.
#[derive(Clone, Copy)]
enum Logged {
    /// KiB a second.
    Bandwidth,
    /// Requests a second.
    Iops,
    /// Nanoseconds: the largest of a window, or medians.
    Latency,
    /// Of engines that wait for each request: they have none in fio either.
    Submission,
}

/// Files with their texts; none twice.
#[derive(Default)]
struct Files(Vec<(String, String)>);

impl Files {
    fn append(&mut self, name: String, text: &str) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, whole)) => whole.push_str(text),
            None => self.0.push((name, text.to_owned())),
        }
    }
}

/// The logs that jobs ask for, each with its file's name.
pub(super) fn logs(
    set: &JobSet,
    record: &RunRecord,
    options: &OutputOptions,
) -> Vec<(String, String)> {
    let mut files = Files::default();
    let directory = match options.log_directory.trim_end_matches('/') {
        "" if options.log_directory.is_empty() => String::new(),
        directory => format!("{directory}/"),
    };
    for (index, job) in set.jobs.iter().enumerate() {
        let Some((cell, worker)) = measured(set, &record.cells, index) else {
            continue;
        };
        let began_ms = cell.started_at.map_or(0, |at| at.as_millisecond());
        if let Some(name) = &job.settings.replay.write {
            let name_of = |part: u32| job.file(part).text;
            let text = iolog::written(&worker.noted, &name_of);
            files.append(name.clone(), &text);
        }
        let series = LoggedSeries {
            intervals: &worker.intervals,
            begin_ns: worker.begin_ns.unwrap_or_default(),
            epoch_ms: match job.settings.logs.is_since_epoch {
                true => u64::try_from(began_ms).unwrap_or(0),
                false => 0,
            },
            logs: &job.settings.logs,
        };
        for (prefix, kind, logged) in kinds(job) {
            let name = format!("{directory}{}", file_name(job, prefix, kind));
            files.append(name, &series.lines(logged, &NAMES));
        }
    }
    if options.logs_bandwidth {
        for name in NAMES {
            let lines = lines_of_all(record, name);
            files.append(format!("{directory}agg-{name}_bw.log"), &lines);
        }
    }
    files.0
}

/// The logs of a job: the beginnings of their names, their kinds.
fn kinds(job: &Job) -> impl Iterator<Item = (&str, &'static str, Logged)> {
    let logs = &job.settings.logs;
    let kinds = [
        (&logs.bandwidth, "bw", Logged::Bandwidth),
        (&logs.iops, "iops", Logged::Iops),
        (&logs.latency, "lat", Logged::Latency),
        (&logs.latency, "slat", Logged::Submission),
        (&logs.latency, "clat", Logged::Latency),
    ];
    // What is not measured has no log.
    let is_measured =
        |it: &Logged| !matches!(it, Logged::Submission) || job.settings.engine.engine.waits();
    let kinds = kinds.into_iter().filter(move |(_, _, it)| is_measured(it));
    kinds.filter_map(|(prefix, kind, logged)| Some((prefix.as_deref()?, kind, logged)))
}

fn file_name(job: &Job, prefix: &str, kind: &str) -> String {
    // The name of a job is no path.
    let prefix = match prefix {
        "" => job.name.replace('/', "_"),
        _ => prefix.to_owned(),
    };
    match job.settings.logs.is_per_clone {
        true => format!("{prefix}_{kind}.{}.log", job.number),
        false => format!("{prefix}_{kind}.log"),
    }
}

/// Intervals as a log tells them.
struct LoggedSeries<'a> {
    intervals: &'a [IntervalRecord],
    /// When the job began, in nanoseconds of the cell's time.
    begin_ns: u64,
    /// Added to all times, in milliseconds.
    epoch_ms: u64,
    logs: &'a Logs,
}

impl LoggedSeries<'_> {
    /// A line for each window and direction in which anything was done: the time of its end in
    /// milliseconds, the value, the direction, 0 for the block size of means, offset and priority.
    fn lines(&self, logged: Logged, names: &[&str]) -> String {
        let mut text = String::new();
        let offset = if self.logs.has_offset { "0, " } else { "" };
        let priority = if self.logs.has_priority {
            "0x0000"
        } else {
            "0"
        };
        for window in windows(self.intervals, self.logs.window_ms.into()) {
            let after_ns = window.end_ns.saturating_sub(self.begin_ns);
            let after_ms = after_ns.saturating_add(500_000) / 1_000_000;
            let time_ms = self.epoch_ms.saturating_add(after_ms);
            for (direction, name) in names.iter().enumerate() {
                if let Some(value) = value(&window, logged, name, self.logs.has_max) {
                    text.push_str(&format!(
                        "{time_ms}, {value}, {direction}, 0, {offset}{priority}\n"
                    ));
                }
            }
        }
        text
    }
}

/// What stands for a direction in a window; none where nothing was done.
fn value(window: &RateWindow<'_>, logged: Logged, name: &str, has_max: bool) -> Option<u64> {
    let count: u64 = window.figures(name).map(|it| it.count).sum();
    if count == 0 {
        return None;
    }
    Some(match logged {
        Logged::Bandwidth => window.kib_per_second(name) as u64,
        Logged::Iops => window.iops(name) as u64,
        Logged::Submission => return None,
        Logged::Latency if has_max => window.figures(name).filter_map(|it| it.max_ns).max()?,
        Logged::Latency => {
            // Intervals keep no mean: each request counts as its interval's median.
            let medians = window.figures(name).filter_map(|it| {
                let median_ns = it.p50_ns?;
                Some(median_ns as f64 * it.count as f64)
            });
            (medians.sum::<f64>() / count as f64) as u64
        }
    })
}

/// The bandwidth of one direction of all jobs, wave after wave, from the start of the run.
fn lines_of_all(record: &RunRecord, name: &str) -> String {
    let direction = NAMES.iter().position(|it| *it == name).unwrap_or(0);
    let mut text = String::new();
    for cell in &record.cells {
        let began = cell.started_at.unwrap_or(record.started_at);
        let before_ms = began.as_millisecond() - record.started_at.as_millisecond();
        let before_ms = u64::try_from(before_ms).unwrap_or(0);
        for window in windows(&cell.intervals, 500) {
            let Some(value) = value(&window, Logged::Bandwidth, name, false) else {
                continue;
            };
            let time_ms = before_ms.saturating_add(window.end_ns / 1_000_000);
            text.push_str(&format!("{time_ms}, {value}, {direction}, 0, 0\n"));
        }
    }
    text
}
