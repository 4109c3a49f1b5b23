//! Rates over time.

use results::{IntervalFigures, IntervalRecord};

/// Part of a window after which it counts as complete, because intervals are never exact.
const COMPLETE_SHARE: f64 = 0.95;

/// Consecutive intervals.
pub(super) struct RateWindow<'a> {
    pub(super) intervals: &'a [IntervalRecord],
    /// End of the window in nanoseconds from the start of the cell's measurement.
    pub(super) end_ns: u64,
    pub(super) length_ns: u64,
}

/// Groups intervals into windows of at least this length; with 0, each interval is a window. As in
/// fio, an incomplete window at the end is left out.
pub(super) fn windows(intervals: &[IntervalRecord], window_ms: u64) -> Vec<RateWindow<'_>> {
    let wanted_ns = window_ms as f64 * 1e6 * COMPLETE_SHARE;
    let mut found = Vec::new();
    let (mut begin, mut length_ns) = (0, 0_u64);
    for (at, interval) in intervals.iter().enumerate() {
        length_ns = length_ns.saturating_add(interval.length_ns);
        if length_ns as f64 >= wanted_ns {
            found.push(RateWindow {
                intervals: &intervals[begin..=at],
                end_ns: interval.at_ns.saturating_add(interval.length_ns),
                length_ns,
            });
            (begin, length_ns) = (at + 1, 0);
        }
    }
    found
}

impl RateWindow<'_> {
    /// The measurements of an operation in each interval.
    pub(super) fn figures(&self, operation: &str) -> impl Iterator<Item = &IntervalFigures> {
        let intervals = self.intervals.iter();
        intervals.filter_map(move |it| it.operations.get(operation))
    }

    /// Bandwidth in KiB per second.
    pub(super) fn kib_per_second(&self, operation: &str) -> f64 {
        let bytes = self.figures(operation).map(|it| it.bytes).sum();
        results::per_second(bytes, self.length_ns) / 1024.0
    }

    /// Operations per second.
    pub(super) fn iops(&self, operation: &str) -> f64 {
        let count = self.figures(operation).map(|it| it.count).sum();
        results::per_second(count, self.length_ns)
    }
}

/// Statistics of a rate over windows of time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct RateSeries {
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) mean: f64,
    squares: f64,
    pub(super) samples: u64,
}

impl RateSeries {
    fn of(values: &[f64]) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Self {
            min: values.iter().copied().fold(f64::INFINITY, f64::min) as u64,
            max: values.iter().copied().fold(0.0, f64::max) as u64,
            mean,
            squares: values.iter().map(|it| (it - mean).powi(2)).sum(),
            samples: values.len() as u64,
        }
    }

    /// Adds the rate of another worker. As in fio's groups, all values are sums, so `min` was not
    /// the rate of any moment, and the deviation is only an approximation.
    pub(super) fn add(&mut self, other: &Self) {
        self.min = self.min.saturating_add(other.min);
        self.max = self.max.saturating_add(other.max);
        self.mean += other.mean;
        self.squares += other.squares;
        self.samples = self.samples.saturating_add(other.samples);
    }

    pub(super) fn stddev(&self) -> f64 {
        match self.samples {
            0 | 1 => 0.0,
            samples => (self.squares / (samples - 1) as f64).sqrt(),
        }
    }
}

/// Bandwidth in KiB per second, and operations per second, each with its own window length.
///
/// Covers the first to the last window with any operation; the time outside belongs to other
/// phases. Idle windows in between count; fio leaves them out.
pub(super) fn rates(
    intervals: &[IntervalRecord],
    operation: &str,
    [bandwidth_ms, iops_ms]: [u32; 2],
) -> [RateSeries; 2] {
    let trimmed = |values: Vec<f64>| {
        let is_some = |value: &f64| *value > 0.0;
        let first = values.iter().position(is_some).unwrap_or(values.len());
        let last = values.iter().rposition(is_some).map_or(first, |at| at + 1);
        RateSeries::of(&values[first..last])
    };
    let bandwidth = windows(intervals, bandwidth_ms.into());
    let bandwidth = bandwidth.iter().map(|it| it.kib_per_second(operation));
    let iops = windows(intervals, iops_ms.into());
    let iops = iops.iter().map(|it| it.iops(operation));
    [trimmed(bandwidth.collect()), trimmed(iops.collect())]
}
