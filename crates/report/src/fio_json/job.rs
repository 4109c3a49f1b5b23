//! A cell as a fio job.

use results::{CellRecord, Latency, RunRecord};
use serde::Serialize;

use super::Ordered;
use super::group::{DirectionFigures, Times};
use super::options::options;
use crate::group::Naming;

/// A cell as a fio job, with all its workers combined, as with `group_reporting`.
#[derive(Debug, Serialize)]
pub struct JobJson {
    jobname: String,
    groupid: u32,
    /// `errno` of the first failure; 0 if nothing failed.
    error: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_err: Option<u64>,
    /// Seconds, including the ramp time.
    elapsed: u64,
    #[serde(rename = "job options")]
    options: Ordered<String>,
    read: DirectionFigures,
    write: DirectionFigures,
    trim: DirectionFigures,
    sync: Sync,
    /// Milliseconds.
    job_runtime: u64,
    usr_cpu: f64,
    sys_cpu: f64,
    latency_ns: Ordered<f64>,
    latency_us: Ordered<f64>,
    latency_ms: Ordered<f64>,
}

#[derive(Debug, Serialize)]
struct Sync {
    total_ios: u64,
    lat_ns: Times,
}

impl JobJson {
    /// Converts a cell.
    pub fn of(record: &RunRecord, cell: &CellRecord) -> Self {
        let percent = |ns: u64| match cell.run_time_ns {
            0 => 0.0,
            run_time_ns => 100.0 * ns as f64 / run_time_ns as f64,
        };
        let sync = cell.operation("fsync").map(|figures| &figures.latency);
        let [latency_ns, latency_us, latency_ms] = shares(&cell.total.latency);
        let elapsed_ns = cell.ramp_time_ns.saturating_add(cell.run_time_ns);
        Self {
            jobname: Naming::of(record).cell(cell),
            // Cells run one after the other, like groups that `stonewall` separates in fio.
            groupid: cell.index,
            error: cell.errors.first().map_or(0, |error| error.errno),
            total_err: Some(cell.total.errors).filter(|count| *count > 0),
            elapsed: elapsed_ns.div_ceil(1_000_000_000),
            options: options(record, cell),
            read: DirectionFigures::of(cell, "read"),
            write: DirectionFigures::of(cell, "write"),
            trim: DirectionFigures::of(cell, "trim"),
            sync: Sync {
                total_ios: sync.map_or(0, |latency| latency.count),
                lat_ns: sync.map(Times::of).unwrap_or_default(),
            },
            job_runtime: cell.run_time_ns / 1_000_000,
            usr_cpu: percent(cell.cpu.user_ns),
            sys_cpu: percent(cell.cpu.system_ns),
            latency_ns,
            latency_us,
            latency_ms,
        }
    }
}

/// Upper bounds of fio's latency classes, in each of its units.
const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Returns the percentages of latencies in fio's classes: nanoseconds, microseconds and
/// milliseconds.
fn shares(latency: &Latency) -> [Ordered<f64>; 3] {
    let mut bounds_ns: Vec<u64> = [1, 1_000, 1_000_000]
        .iter()
        .flat_map(|unit_ns| BOUNDS.map(|bound| bound * unit_ns))
        .collect();
    // Only fio's classes in milliseconds have a bound of 2000.
    bounds_ns.push(2_000_000_000);
    // fio's classes are disjoint across its units, so one ascending list of bounds serves all.
    let counts = latency.counts_between(&bounds_ns);
    let total = counts
        .iter()
        .fold(0, |sum: u64, count| sum.saturating_add(*count));
    let share = |count: u64| 100.0 * count as f64 / total.max(1) as f64;
    let mut counts = counts.into_iter();
    let mut class = |more: &[&str]| {
        let names = BOUNDS.iter().map(u64::to_string);
        let names = names.chain(more.iter().map(|name| (*name).to_owned()));
        Ordered(names.zip(counts.by_ref().map(share)).collect())
    };
    // `class` consumes `counts`, so the order of the units must be the order of the bounds.
    [class(&[]), class(&[]), class(&["2000", ">=2000"])]
}
