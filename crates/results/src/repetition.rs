//! Figures over the repetitions of a cell.

use stats::Estimate;

use crate::{CellRecord, EstimateRecord, OperationFigures, Status};

/// What is estimated of each operation: name, unit, and where it stands.
type Metric = (
    &'static str,
    &'static str,
    fn(&OperationFigures) -> Option<f64>,
);

const METRICS: [Metric; 4] = [
    ("per_second", "1/s", |figures| Some(figures.per_second)),
    ("bytes_per_second", "B/s", |figures| {
        Some(figures.bytes_per_second)
    }),
    ("latency_mean", "ns", |figures| figures.latency.mean_ns),
    ("latency_p99", "ns", |figures| {
        figures.latency.percentiles_ns.p99.map(|ns| ns as f64)
    }),
];

/// Estimates over the complete repetitions of each cell; empty when nothing was repeated.
#[must_use]
pub fn estimates(cells: &[CellRecord]) -> Vec<EstimateRecord> {
    let mut groups: Vec<Vec<&CellRecord>> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.status == Status::Complete) {
        match groups
            .iter_mut()
            .find(|group| are_repetitions(group[0], cell))
        {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups
        .iter()
        .filter(|group| group.len() > 1)
        .flat_map(|group| estimates_of(group))
        .collect()
}

fn are_repetitions(one: &CellRecord, other: &CellRecord) -> bool {
    one.workload == other.workload
        && one.access_spec == other.access_spec
        && one.target == other.target
        && one.engine == other.engine
        && one.cache == other.cache
        && one.iodepth == other.iodepth
        && one.workers == other.workers
        && one.phase == other.phase
        && one.curve == other.curve
        && are_asked_alike(one, other)
        && one.repetition != other.repetition
}

/// Whether both begin requests at the same due times, or both one after the other.
fn are_asked_alike(one: &CellRecord, other: &CellRecord) -> bool {
    let asked = |cell: &CellRecord| {
        let open_loop = cell.open_loop.as_ref();
        open_loop.map(|it| (it.asked_per_second, it.arrivals))
    };
    asked(one) == asked(other)
}

fn estimates_of(group: &[&CellRecord]) -> Vec<EstimateRecord> {
    let mut estimates = Vec::new();
    for name in group[0]
        .operations
        .keys()
        .map(String::as_str)
        .chain(["total"])
    {
        for metric in METRICS {
            estimates.extend(estimate(group, name, metric));
        }
    }
    estimates
}

fn estimate(
    group: &[&CellRecord],
    operation: &str,
    (metric, unit, read): Metric,
) -> Option<EstimateRecord> {
    let samples: Vec<f64> = group
        .iter()
        .filter_map(|cell| match operation {
            "total" => Some(&cell.total),
            name => cell.operation(name),
        })
        .filter_map(read)
        .collect();
    let estimate = Estimate::from_samples(&samples)?;
    let cell = group[0];
    Some(EstimateRecord {
        workload: cell.workload.clone(),
        access_spec: cell.access_spec.clone(),
        target: cell.target.clone(),
        engine: cell.engine,
        cache: cell.cache,
        iodepth: cell.iodepth,
        workers: cell.workers,
        rate_per_second: cell.rate_per_second(),
        phase: cell.phase.clone(),
        operation: operation.to_owned(),
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        n: u32::try_from(estimate.n).unwrap_or(u32::MAX),
        mean: estimate.mean,
        ci95_low: estimate.ci95_low,
        ci95_high: estimate.ci95_high,
        stddev: estimate.stddev,
    })
}
