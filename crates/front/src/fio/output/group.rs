//! Aggregates the results of groups.

use super::reported::{DirectionResult, ReportedJob};
use super::series::RateSeries;

/// One direction of a group.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct GroupDirection {
    pub(super) bytes: u64,
    /// Bytes per second: all bytes divided by the longest run time.
    pub(super) bytes_per_second: f64,
    /// Bytes per second of the slowest and the fastest result.
    pub(super) slowest: f64,
    pub(super) fastest: f64,
    /// Run times in milliseconds.
    pub(super) shortest_ms: u64,
    pub(super) longest_ms: u64,
}

impl GroupDirection {
    fn of(results: &[&DirectionResult]) -> Self {
        let each = || results.iter();
        let rates = || each().map(|it| it.bytes_per_second());
        let bytes = each().map(|it| it.bytes).fold(0, u64::saturating_add);
        let longest_ns = each().map(|it| it.run_time_ns).max().unwrap_or(0);
        Self {
            bytes,
            bytes_per_second: results::per_second(bytes, longest_ns),
            slowest: rates().reduce(f64::min).unwrap_or(0.0),
            fastest: rates().reduce(f64::max).unwrap_or(0.0),
            shortest_ms: each().map(|it| it.run_time_ms()).min().unwrap_or(0),
            longest_ms: each().map(|it| it.run_time_ms()).max().unwrap_or(0),
        }
    }

    /// Mean bandwidth of a job in percent of the group's bandwidth; 0 without samples.
    pub(super) fn share_percent(&self, bandwidth: &RateSeries) -> f64 {
        if bandwidth.samples == 0 {
            return 0.0;
        }
        let group_kib = self.bytes_per_second / 1024.0;
        match group_kib > 1.0 {
            // The mean covers only whole windows, so it may exceed the rate of the group.
            // fio passes the mean as an `int`.
            true => (bandwidth.mean.trunc() * 100.0 / group_kib).min(100.0),
            // fio prints 100 % for groups of at most 1 KiB/s.
            false => 100.0,
        }
    }
}

/// Aggregates the direction of this name over the results of a group with requests in it.
pub(super) fn aggregate(
    jobs: &[ReportedJob<'_>],
    group_index: usize,
    name: &str,
) -> GroupDirection {
    let jobs: Vec<_> = jobs
        .iter()
        .filter(|it| it.job.group_index == group_index)
        .map(ReportedJob::shown)
        .collect();
    let shown = jobs.iter().flatten();
    let matching = shown.filter(|(shown, result)| *shown == name && !result.is_empty());
    let results: Vec<&DirectionResult> = matching.map(|(_, result)| *result).collect();
    GroupDirection::of(&results)
}
