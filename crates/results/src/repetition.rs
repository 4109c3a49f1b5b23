//! Results over the repetitions of a cell.

use stats::{Bootstrap, Estimate, Histogram};

use crate::{
    CellRecord, EstimateRecord, IntervalKind, Latency, OperationFigures, Status,
    percentile_is_supported,
};

/// A value that is estimated by its mean: name, unit, and accessor.
type Metric = (
    &'static str,
    &'static str,
    fn(&OperationFigures) -> Option<f64>,
);

const METRICS: [Metric; 3] = [
    ("per_second", "1/s", |figures| Some(figures.per_second)),
    ("bytes_per_second", "B/s", |figures| {
        Some(figures.bytes_per_second)
    }),
    ("latency_mean", "ns", |figures| figures.latency.mean_ns),
];

/// A percentile: name, percent, and accessor.
type PercentileMetric = (&'static str, f64, fn(&Latency) -> Option<u64>);

const PERCENTILES: [PercentileMetric; 3] = [
    ("latency_p50", 50.0, |latency| latency.percentiles_ns.p50),
    ("latency_p99", 99.0, |latency| latency.percentiles_ns.p99),
    ("latency_p99_9", 99.9, |latency| {
        latency.percentiles_ns.p99_9
    }),
];

/// Fixed, so that the same record gives the same intervals.
const BOOTSTRAP_SEED: u64 = 1;

/// Estimates over the complete repetitions of each cell; empty if nothing was repeated.
#[must_use]
pub fn estimates(cells: &[CellRecord]) -> Vec<EstimateRecord> {
    let mut groups: Vec<Vec<&CellRecord>> = Vec::new();
    // A repetition that was cut short would add scatter that the target does not have.
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
    one.key() == other.key() && one.repetition != other.repetition && have_same_load(one, other)
}

/// `true` if both use the same due times, or both are closed loops.
fn have_same_load(one: &CellRecord, other: &CellRecord) -> bool {
    let load = |cell: &CellRecord| {
        let open_loop = cell.open_loop.as_ref();
        open_loop.map(|it| (it.asked_per_second, it.arrivals))
    };
    load(one) == load(other)
}

fn estimates_of(group: &[&CellRecord]) -> Vec<EstimateRecord> {
    let mut estimates = Vec::new();
    for name in group[0]
        .operations
        .keys()
        .map(String::as_str)
        .chain(["total"])
    {
        let figures: Vec<&OperationFigures> = group
            .iter()
            .filter_map(|cell| match name {
                "total" => Some(&cell.total),
                name => cell.operation(name),
            })
            .collect();
        let means = METRICS
            .iter()
            .filter_map(|metric| estimate_mean(&figures, *metric));
        let percentiles = PERCENTILES
            .iter()
            .filter_map(|metric| estimate_percentile(&figures, *metric));
        estimates.extend(
            means
                .chain(percentiles)
                .map(|value| record(group[0], name, value)),
        );
    }
    estimates.extend(estimate_transactions(group).map(|value| record(group[0], "total", value)));
    estimates
}

/// PostMark's transactions per second. Each transaction is a pair of operations of the total.
fn estimate_transactions(group: &[&CellRecord]) -> Option<EstimatedValue> {
    let samples = group.iter().map(|cell| cell.transactions_per_second());
    let estimate = Estimate::from_samples(&samples.collect::<Option<Vec<f64>>>()?)?;
    Some(EstimatedValue {
        metric: "transactions_per_second",
        unit: "1/s",
        smallest_difference: estimate.smallest_difference(),
        estimate,
        interval: IntervalKind::T,
    })
}

/// An estimate with its metadata.
struct EstimatedValue {
    metric: &'static str,
    unit: &'static str,
    estimate: Estimate,
    interval: IntervalKind,
    smallest_difference: Option<f64>,
}

fn estimate_mean(
    figures: &[&OperationFigures],
    (metric, unit, read): Metric,
) -> Option<EstimatedValue> {
    let samples: Vec<f64> = figures.iter().filter_map(|it| read(it)).collect();
    let estimate = Estimate::from_samples(&samples)?;
    Some(EstimatedValue {
        metric,
        unit,
        smallest_difference: estimate.smallest_difference(),
        estimate,
        interval: IntervalKind::T,
    })
}

/// A percentile over all latencies with its bootstrap interval. With few repetitions, the mean of
/// their percentiles, if each has enough samples.
fn estimate_percentile(
    figures: &[&OperationFigures],
    (metric, percent, read): PercentileMetric,
) -> Option<EstimatedValue> {
    let latencies = figures.iter().map(|it| &it.latency);
    let latencies: Vec<&Latency> = latencies.filter(|latency| latency.count > 0).collect();
    let supported = |latency: &&Latency| percentile_is_supported(latency.count, percent);
    // One repetition with too few samples would add a percentile that is mostly chance.
    if !latencies.iter().all(supported) {
        return None;
    }
    let samples = latencies.iter().map(|it| read(it).map(|ns| ns as f64));
    let mut estimate = Estimate::from_samples(&samples.collect::<Option<Vec<f64>>>()?)?;
    let histograms: Vec<Histogram> = latencies.iter().filter_map(|it| histogram(it)).collect();
    // Resampling draws whole repetitions, so it needs the latencies of each.
    let is_complete = histograms.len() == latencies.len();
    let bootstrap = is_complete
        .then(|| Bootstrap::percentile(&histograms, percent, BOOTSTRAP_SEED))
        .flatten();
    let mut interval = IntervalKind::T;
    if let Some(bootstrap) = bootstrap {
        estimate.mean = bootstrap.value;
        estimate.ci95_low = Some(bootstrap.ci95_low);
        estimate.ci95_high = Some(bootstrap.ci95_high);
        interval = IntervalKind::Bootstrap;
    }
    Some(EstimatedValue {
        metric,
        unit: "ns",
        estimate,
        interval,
        // The formula is that of a test of two means, which does not hold for resampled
        // percentiles.
        smallest_difference: None,
    })
}

/// The recorded latencies, each at the middle of its bucket; `None` if the buckets were not kept.
/// Unlike [`Latency::histogram`], minimum and maximum are also bucket middles.
fn histogram(latency: &Latency) -> Option<Histogram> {
    let mut histogram = Histogram::new();
    for &[low_ns, high_ns, count] in &latency.histogram.buckets_ns {
        let middle_ns = low_ns + high_ns.saturating_sub(low_ns) / 2;
        histogram.record_n(middle_ns, count);
    }
    (!histogram.is_empty()).then_some(histogram)
}

fn record(cell: &CellRecord, operation: &str, value: EstimatedValue) -> EstimateRecord {
    let estimate = value.estimate;
    EstimateRecord {
        first_index: cell.first_index,
        workload: cell.workload.clone(),
        access_spec: cell.access_spec.clone(),
        target: cell.target.clone(),
        engine: cell.engine,
        cache: cell.cache,
        iodepth: cell.iodepth,
        workers: cell.workers,
        rate_per_second: cell.rate_per_second(),
        phase: cell.phase.clone(),
        curve: cell.curve,
        operation: operation.to_owned(),
        metric: value.metric.to_owned(),
        unit: value.unit.to_owned(),
        n: u32::try_from(estimate.n).unwrap_or(u32::MAX),
        mean: estimate.mean,
        ci95_low: estimate.ci95_low,
        ci95_high: estimate.ci95_high,
        stddev: estimate.stddev,
        interval: estimate.ci95_low.map(|_| value.interval),
        smallest_difference: value.smallest_difference,
        verdict: None,
    }
}

/// Records whose total rate is the cell's main result: of a program, the phases with its own
/// results; all records if none has any.
pub fn principal_phases(records: &[CellRecord]) -> impl Iterator<Item = &CellRecord> {
    let has_figures = records.iter().any(|record| record.phase_figures.is_some());
    records
        .iter()
        .filter(move |record| !has_figures || record.phase_figures.is_some())
}

impl EstimateRecord {
    /// `true` if it estimates the main result of the cell that the record is a repetition of.
    #[must_use]
    pub fn is_principal_of(&self, cell: &CellRecord) -> bool {
        self.operation == "total" && self.metric == "per_second" && self.key() == cell.key()
    }
}
