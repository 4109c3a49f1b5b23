//! Groups of cells that differ only in their repetition, and names that distinguish the groups.

use std::collections::HashMap;

use plan::{CacheMode, CurvePart, EngineKind};
use results::{
    CellNames, CellRecord, Distinction, EstimateRecord, Phase, RunRecord, Status,
    percentile_is_supported,
};
use units::format;

use crate::names::{cache_name, workers};
use crate::wrap::printable;

/// The properties of a cell, except the repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CellIdentity<'a> {
    /// Name of the workload.
    pub workload: &'a str,
    /// The access specification.
    pub access_spec: Option<&'a str>,
    /// Distinguishes workloads and access specifications of the same name.
    pub distinction: Distinction,
    /// Path of the target.
    pub target: &'a str,
    /// Engine that executed the requests.
    pub engine: EngineKind,
    /// Use of the page cache.
    pub cache: CacheMode,
    /// The number of workers.
    pub workers: u32,
    /// The queue depth.
    pub iodepth: u32,
    /// Requested rate as raw bits, which can be hashed and compared.
    pub rate_bits: Option<u64>,
    /// Phase of the workload.
    pub phase: &'a Phase,
}

impl<'a> CellIdentity<'a> {
    fn of(cell: &'a CellRecord, names: &CellNames) -> Self {
        Self {
            workload: &cell.workload,
            access_spec: cell.access_spec.as_deref(),
            distinction: names.distinction(cell.first_index),
            target: &cell.target,
            engine: cell.engine,
            cache: cell.cache,
            workers: cell.workers,
            iodepth: cell.iodepth,
            rate_bits: cell.rate_per_second().map(f64::to_bits),
            phase: &cell.phase,
        }
    }

    /// Returns the display name of the workload, followed by the phase of a classic program.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.distinction.name(self.workload, self.access_spec);
        match self.phase {
            Phase::Classic(phase) => printable(&format!("{name} {phase}")),
            _ => printable(&name),
        }
    }

    /// Returns the same cell with the queue depth set to 0, for grouping over queue depths.
    #[must_use]
    pub fn at_any_depth(self) -> Self {
        Self { iodepth: 0, ..self }
    }
}

/// The repetitions of a cell, in the order of execution.
#[derive(Debug, Clone)]
pub struct RepeatedCell<'a> {
    /// Properties of the cell.
    pub identity: CellIdentity<'a>,
    /// The repetitions; at least one.
    pub cells: Vec<&'a CellRecord>,
    estimates: Vec<&'a EstimateRecord>,
}

/// Returns the cells of a record in groups, in the order of execution.
#[must_use]
pub fn groups(record: &RunRecord) -> Vec<RepeatedCell<'_>> {
    let names = CellNames::of(&record.plan);
    let mut groups: Vec<RepeatedCell> = Vec::new();
    // A table instead of a search: a program may have tens of thousands of phases.
    let mut indexes = HashMap::new();
    for cell in &record.cells {
        let index = *indexes.entry(cell.key()).or_insert(groups.len());
        match groups.get_mut(index) {
            Some(group) => group.cells.push(cell),
            None => groups.push(RepeatedCell {
                identity: CellIdentity::of(cell, &names),
                cells: vec![cell],
                estimates: Vec::new(),
            }),
        }
    }
    let totals = record.estimates.iter().filter(|it| it.operation == "total");
    for estimate in totals {
        if let Some(index) = indexes.get(&estimate.key()) {
            groups[*index].estimates.push(estimate);
        }
    }
    groups
}

/// A value of a group, with its confidence interval if the cell was repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupFigure {
    /// Mean over the repetitions.
    pub mean: f64,
    /// Ends of the 95 % confidence interval of the mean.
    pub interval: Option<[f64; 2]>,
    /// Number of repetitions.
    pub n: u32,
}

/// A metric of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Operations per second.
    PerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Mean latency.
    LatencyMean,
    /// Median latency.
    LatencyP50,
    /// 99th percentile of the latency.
    LatencyP99,
    /// PostMark's transactions per second, each a pair of operations.
    TransactionsPerSecond,
}

impl Metric {
    /// Returns the name of the metric in estimates.
    fn estimate_name(self) -> &'static str {
        match self {
            Self::PerSecond => "per_second",
            Self::BytesPerSecond => "bytes_per_second",
            Self::LatencyMean => "latency_mean",
            Self::LatencyP50 => "latency_p50",
            Self::LatencyP99 => "latency_p99",
            Self::TransactionsPerSecond => "transactions_per_second",
        }
    }

    fn of(self, cell: &CellRecord) -> Option<f64> {
        let latency = &cell.total.latency;
        let percentile = |ns: Option<u64>, percent| {
            ns.filter(|_| percentile_is_supported(latency.count, percent))
                .map(|ns| ns as f64)
        };
        match self {
            Self::PerSecond => Some(cell.total.per_second),
            Self::BytesPerSecond => Some(cell.total.bytes_per_second),
            Self::LatencyMean => latency.mean_ns,
            Self::LatencyP50 => percentile(latency.percentiles_ns.p50, 50.0),
            Self::LatencyP99 => percentile(latency.percentiles_ns.p99, 99.0),
            Self::TransactionsPerSecond => cell.transactions_per_second(),
        }
        .filter(|value| value.is_finite())
    }

    const fn is_latency(self) -> bool {
        matches!(
            self,
            Self::LatencyMean | Self::LatencyP50 | Self::LatencyP99
        )
    }

    /// Formats a value for people, with its unit.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        match self {
            Self::PerSecond | Self::TransactionsPerSecond => format::iops(value),
            Self::BytesPerSecond => format::bandwidth(value),
            Self::LatencyMean | Self::LatencyP50 | Self::LatencyP99 => format::latency(value),
        }
    }
}

impl RepeatedCell<'_> {
    /// Returns the metric over the complete repetitions, or over all if none is complete.
    #[must_use]
    pub fn figure(&self, metric: Metric) -> Option<GroupFigure> {
        // The record's estimate has precedence. A percentile over all repetitions is not the mean
        // of their percentiles, and a page must not show a value that the record lacks.
        if let Some(estimate) = self.estimate(metric).filter(|one| one.mean.is_finite()) {
            return Some(GroupFigure {
                mean: estimate.mean,
                interval: estimate
                    .ci95_low
                    .zip(estimate.ci95_high)
                    .map(<[f64; 2]>::from),
                n: estimate.n,
            });
        }
        let mut values = self.values(metric);
        if values.is_empty() {
            values = self
                .cells
                .iter()
                .filter_map(|cell| metric.of(cell))
                .collect();
        }
        (!values.is_empty()).then(|| GroupFigure {
            mean: values.iter().sum::<f64>() / values.len() as f64,
            interval: None,
            n: u32::try_from(values.len()).unwrap_or(u32::MAX),
        })
    }

    /// Returns the ends of the 95 % confidence interval that the intervals within the only run give
    /// a rate; `None` for latencies and for repeated cells.
    #[must_use]
    pub fn interval_within_run(&self, metric: Metric) -> Option<[f64; 2]> {
        let [only] = self.cells.as_slice() else {
            return None;
        };
        let value = metric.of(only).filter(|_| !metric.is_latency())?;
        let share = only.within.as_ref()?.precision()?;
        // A precision above 100 % must not make the lower end negative.
        Some([value * (1.0 - share).max(0.0), value * (1.0 + share)])
    }

    /// Returns the metric of each complete repetition.
    #[must_use]
    pub fn values(&self, metric: Metric) -> Vec<f64> {
        let cells = self.cells.iter().copied();
        let complete = cells.filter(|cell| cell.status == Status::Complete);
        complete.filter_map(|cell| metric.of(cell)).collect()
    }

    /// Returns the smallest difference that a comparison of two such means would find, in the unit
    /// of the metric.
    #[must_use]
    pub fn smallest_difference(&self, metric: Metric) -> Option<f64> {
        self.estimate(metric)?.smallest_difference
    }

    fn estimate(&self, metric: Metric) -> Option<&EstimateRecord> {
        let mut estimates = self.estimates.iter();
        estimates
            .find(|it| it.metric == metric.estimate_name())
            .copied()
    }

    /// Returns `true` if the requested rate of the cells depends on a peak that the run measured,
    /// as in curves and searches. These have their own charts and sentences.
    #[must_use]
    pub fn depends_on_peak(&self) -> bool {
        self.cells[0].curve.is_some_and(CurvePart::depends_on_peak)
    }

    /// Returns the number of failed operations in all repetitions.
    #[must_use]
    pub fn errors(&self) -> u64 {
        let errors = self.cells.iter().map(|cell| cell.total.errors);
        errors.fold(0, u64::saturating_add)
    }
}

/// Returns all groups if they are few, or else the fastest of each workload at any queue depth, and
/// at most `groups_max` of those.
#[must_use]
pub fn best_of_each_workload<'a, 'b>(
    groups: &'a [RepeatedCell<'b>],
    groups_max: usize,
) -> Vec<&'a RepeatedCell<'b>> {
    if groups.len() <= groups_max {
        return groups.iter().collect();
    }
    let mean = |group: &RepeatedCell| {
        group
            .figure(Metric::PerSecond)
            .map_or(0.0, |figure| figure.mean)
    };
    let mut best: Vec<&RepeatedCell> = Vec::new();
    // A table instead of a search: a program may have tens of thousands of phases.
    let mut indexes = HashMap::new();
    for group in groups {
        let identity = group.identity.at_any_depth();
        let index = *indexes.entry(identity).or_insert(best.len());
        match best.get_mut(index) {
            // All depths have the same request sizes, so the rate also ranks their bandwidth.
            Some(known) if mean(group) > mean(known) => *known = group,
            Some(_) => {}
            None => best.push(group),
        }
    }
    best.truncate(groups_max);
    best
}

/// Properties that cell names must include to be distinct.
#[derive(Debug, Clone, Default)]
pub struct Naming {
    names: CellNames,
    target: bool,
    engine: bool,
    cache: bool,
    workers: bool,
    iodepth: bool,
    repetition: bool,
}

impl Naming {
    /// Returns the properties that differ between the cells of a record.
    #[must_use]
    pub fn of(record: &RunRecord) -> Self {
        let mut naming = Self {
            names: CellNames::of(&record.plan),
            ..Self::default()
        };
        let Some(first) = record.cells.first() else {
            return naming;
        };
        for cell in &record.cells {
            naming.target |= first.target != cell.target;
            naming.engine |= first.engine != cell.engine;
            naming.cache |= first.cache != cell.cache;
            naming.workers |= first.workers != cell.workers;
            naming.iodepth |= first.iodepth != cell.iodepth;
            naming.repetition |= cell.repetition > 0;
        }
        naming
    }

    /// Returns `true` if the cells have different queue depths.
    #[must_use]
    pub fn has_depths(&self) -> bool {
        self.iodepth
    }

    /// Returns the name of a cell without its queue depth, for a line over queue depths.
    #[must_use]
    pub fn line(&self, identity: &CellIdentity) -> String {
        let mut parts = vec![identity.name()];
        if self.target {
            parts.push(printable(identity.target));
        }
        if self.engine {
            parts.push(identity.engine.name().to_owned());
        }
        if self.cache {
            parts.push(cache_name(identity.cache).to_owned());
        }
        if self.workers {
            parts.push(workers(identity.workers));
        }
        // Always part of the name: a result of an open loop means nothing without its rate.
        if let Some(bits) = identity.rate_bits {
            let rate = format::iops(f64::from_bits(bits));
            parts.push(format!("at {rate}/s"));
        }
        parts.join(", ")
    }

    /// Returns the full name of a cell.
    #[must_use]
    pub fn place(&self, identity: &CellIdentity) -> String {
        let line = self.line(identity);
        if self.iodepth {
            format!("{line}, depth {}", identity.iodepth)
        } else {
            line
        }
    }

    /// Returns a name for a cell that is unique within its record.
    #[must_use]
    pub fn cell(&self, cell: &CellRecord) -> String {
        let label = self.place(&CellIdentity::of(cell, &self.names));
        if self.repetition {
            format!("{label}, repetition {}", u64::from(cell.repetition) + 1)
        } else {
            label
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn repeated() -> RunRecord {
        let mut record = sample::record();
        let plan = record.plan.clone();
        record.cells = [10_000, 10_100, 9_900]
            .map(|n| sample::cell_record(&plan, 0, n))
            .into();
        for (repetition, cell) in (0..).zip(&mut record.cells) {
            cell.repetition = repetition;
        }
        record.estimates = results::estimates(&record.cells);
        record
    }

    #[test]
    fn repetitions_form_one_group_with_an_interval() {
        let record = repeated();
        let groups = groups(&record);
        assert_eq!((groups.len(), groups[0].cells.len()), (1, 3));
        let figure = groups[0].figure(Metric::PerSecond).unwrap();
        assert_eq!((figure.mean, figure.n), (1000.0, 3));
        let [low, high] = figure.interval.unwrap();
        assert!(low < 1000.0 && high > 1000.0);
    }

    #[test]
    fn without_an_estimate_a_figure_is_the_mean_of_complete_cells() {
        let mut record = repeated();
        record.estimates.clear();
        record.cells[2].status = Status::Interrupted;
        let figure = groups(&record)[0].figure(Metric::PerSecond).unwrap();
        assert_eq!((figure.mean, figure.n, figure.interval), (1005.0, 2, None));
    }

    #[test]
    fn a_percentile_with_too_few_samples_has_no_figure() {
        let mut record = sample::record();
        record.cells[0].total.latency.count = 100;
        assert_eq!(groups(&record)[0].figure(Metric::LatencyP99), None);
    }

    #[test]
    fn names_contain_only_differing_settings() {
        let record = sample::record();
        let naming = Naming::of(&record);
        assert_eq!(
            naming.cell(&record.cells[0]),
            "File Server, 2 workers, depth 8"
        );
        let mut alone = record.clone();
        alone.cells.truncate(1);
        let naming = Naming::of(&alone);
        assert_eq!(naming.cell(&record.cells[0]), "File Server");
        let record = repeated();
        let naming = Naming::of(&record);
        assert_eq!(naming.cell(&record.cells[1]), "File Server, repetition 2");
    }
}
