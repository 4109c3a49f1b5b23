//! fio's results for reads, writes and trims.

use results::{CellRecord, IntervalFigures, Latency, OperationFigures};
use serde::Serialize;

use super::Ordered;
use crate::quantile::values_at;

/// fio's default percentiles.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// Results of a job in one direction.
#[derive(Debug, Serialize)]
pub struct DirectionFigures {
    io_bytes: u64,
    io_kbytes: u64,
    bw_bytes: u64,
    /// KiB/s.
    bw: u64,
    iops: f64,
    /// Milliseconds.
    runtime: u64,
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    slat_ns: Times,
    clat_ns: Times,
    lat_ns: Times,
    bw_min: u64,
    bw_max: u64,
    /// Percent of the bandwidth of all jobs that ran together.
    bw_agg: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: usize,
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: usize,
}

impl DirectionFigures {
    /// Returns the results of an operation of a cell; zeros if it did not occur.
    pub fn of(cell: &CellRecord, name: &str) -> Self {
        let none = OperationFigures::default();
        let figures = cell.operation(name).unwrap_or(&none);
        let done = figures.count > 0;
        let bandwidths = Samples::of(cell, name, |figures| figures.bytes / 1024);
        let rates = Samples::of(cell, name, |figures| figures.count);
        Self {
            io_bytes: figures.bytes,
            io_kbytes: figures.bytes / 1024,
            bw_bytes: figures.bytes_per_second as u64,
            bw: (figures.bytes_per_second / 1024.0) as u64,
            iops: figures.per_second,
            // fio prints a direction without requests with zeros.
            runtime: if done {
                cell.run_time_ns / 1_000_000
            } else {
                0
            },
            total_ios: figures.count,
            short_ios: figures.short_count,
            drop_ios: 0,
            slat_ns: Times::default(),
            // The time of submission is not measured separately, so `clat` and `lat` are the same.
            clat_ns: Times::with_percentiles(&figures.latency),
            lat_ns: Times::of(&figures.latency),
            bw_min: bandwidths.min,
            bw_max: bandwidths.max,
            // All workers of a cell form one job, so no other job shares the bandwidth.
            bw_agg: if done { 100.0 } else { 0.0 },
            bw_mean: bandwidths.mean,
            bw_dev: bandwidths.stddev,
            bw_samples: bandwidths.count,
            iops_min: rates.min,
            iops_max: rates.max,
            iops_mean: rates.mean,
            iops_stddev: rates.stddev,
            iops_samples: rates.count,
        }
    }
}

/// Latencies in fio's format.
#[derive(Debug, Default, Serialize)]
pub struct Times {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentile: Option<Ordered<u64>>,
}

impl Times {
    /// Converts a latency without percentiles.
    pub fn of(latency: &Latency) -> Self {
        Self {
            min: latency.min_ns.unwrap_or(0),
            max: latency.max_ns.unwrap_or(0),
            mean: latency.mean_ns.unwrap_or(0.0),
            stddev: latency.stddev_ns.unwrap_or(0.0),
            count: latency.count,
            percentile: None,
        }
    }

    fn with_percentiles(latency: &Latency) -> Self {
        let found = values_at(latency, &PERCENTILES)
            .into_iter()
            .zip(PERCENTILES);
        let known: Vec<(String, u64)> = found
            // fio prints these keys with `%f`, and tools look for `99.000000`.
            .filter_map(|(ns, percent)| Some((format!("{percent:.6}"), ns?)))
            .collect();
        Self {
            percentile: (!known.is_empty()).then_some(Ordered(known)),
            ..Self::of(latency)
        }
    }
}

/// Statistics over the intervals, per second.
#[derive(Debug, Default)]
struct Samples {
    count: usize,
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
}

impl Samples {
    fn of(cell: &CellRecord, name: &str, read: fn(&IntervalFigures) -> u64) -> Self {
        if cell.operation(name).is_none() {
            return Self::default();
        }
        // fio takes these samples every 500 ms (`bwavgtime`, `iopsavgtime`). Intervals of the
        // record take their role.
        let rates: Vec<f64> = cell
            .intervals
            .iter()
            .filter(|interval| interval.length_ns > 0)
            .map(|interval| {
                let amount = interval.operations.get(name).map_or(0, read);
                results::per_second(amount, interval.length_ns)
            })
            .collect();
        Self {
            count: rates.len(),
            min: rates.iter().copied().reduce(f64::min).unwrap_or(0.0) as u64,
            max: rates.iter().copied().reduce(f64::max).unwrap_or(0.0) as u64,
            mean: stats::mean(&rates).unwrap_or(0.0),
            stddev: stats::stddev(&rates).unwrap_or(0.0),
        }
    }
}
