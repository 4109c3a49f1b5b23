//! Throughput and latency by queue depth, for workloads measured at several depths.

use std::collections::BTreeSet;

use super::{
    Axis, AxisScale, AxisUnit, Chart, ChartNumber, LineStyle as Drawn, Series, View, axis_of, few,
    group_view, latency_views, rate_views,
};
use crate::group::{Metric, RepeatedCell};
use crate::measure::WorkloadMeasure;
use crate::verdict::Knee;

/// With more lines, their knees would overlap.
const KNEES_MAX: usize = 3;

const DEPTH: Axis = Axis::new("queue depth (iodepth)", AxisUnit::Count, AxisScale::Log2);

/// A workload measured at several queue depths.
#[derive(Debug, Clone)]
pub struct SweepLine<'a> {
    /// Name of the line.
    pub label: String,
    /// One group per queue depth.
    pub groups: Vec<RepeatedCell<'a>>,
}

impl SweepLine<'_> {
    fn at(&self, depth: u32) -> Option<&RepeatedCell<'_>> {
        self.groups
            .iter()
            .find(|group| group.identity.iodepth == depth)
    }

    /// Returns the smallest queue depth that is as good as the best one.
    fn knee(&self, metric: Metric) -> Option<Knee> {
        let groups: Vec<&RepeatedCell> = self.groups.iter().collect();
        Knee::of(&groups, metric)
    }

    fn best(&self, metric: Metric) -> Option<(u32, f64)> {
        let points = self.groups.iter().filter_map(|group| {
            let figure = group.figure(metric)?;
            Some((group.identity.iodepth, figure.mean))
        });
        points.max_by(|one, other| one.1.total_cmp(&other.1))
    }
}

/// Returns the charts of throughput and latency by queue depth. The view of `measure` comes first.
#[must_use]
pub fn sweeps(lines: &[SweepLine], measure: WorkloadMeasure) -> [Chart; 2] {
    let depths: BTreeSet<u32> = lines
        .iter()
        .flat_map(|line| line.groups.iter().map(|group| group.identity.iodepth))
        .collect();
    let depths: Vec<u32> = depths.into_iter().collect();
    let at: Vec<ChartNumber> = depths
        .iter()
        .map(|depth| ChartNumber::exact(f64::from(*depth)))
        .collect();
    let rates = rate_views(measure, |label, metric| {
        let mut view = view(lines, &depths, label, metric);
        view.series.extend(knees(lines, &depths, metric));
        view
    });
    let latencies = latency_views(|label, metric| view(lines, &depths, label, metric));
    let rates_summary = throughput_summary(lines, measure.metric());
    let latencies_summary = latency_summary(lines, &depths);
    [
        Chart::new(
            "Throughput against queue depth",
            rates_summary,
            DEPTH,
            at.clone(),
            rates,
        ),
        Chart::new(
            "Latency against queue depth",
            latencies_summary,
            DEPTH,
            at,
            latencies,
        ),
    ]
}

fn view(lines: &[SweepLine], depths: &[u32], label: &str, metric: Metric) -> View {
    let lines = lines.iter().map(|line| {
        let groups = depths.iter().map(|depth| line.at(*depth)).collect();
        (line.label.as_str(), groups)
    });
    group_view(label, metric, Drawn::Marked, lines)
}

/// Returns the knees as separate points; empty if there are many lines.
fn knees(lines: &[SweepLine], depths: &[u32], metric: Metric) -> Vec<Series> {
    if lines.len() > KNEES_MAX {
        return Vec::new();
    }
    let found = lines.iter().enumerate();
    let found = found.filter_map(|(color, line)| Some((color, line, line.knee(metric)?)));
    let series = |(color, line, knee): (usize, &SweepLine, Knee)| {
        let value = |depth: &u32| match *depth == knee.depth {
            true => axis_of(metric).number(knee.rate),
            false => ChartNumber::NONE,
        };
        let of = match lines.len() {
            1 => String::new(),
            _ => format!(" of {}", line.label),
        };
        // Rounded down, because 99.6 % is not the whole peak.
        let percent = (100.0 * knee.share).floor();
        let label = format!("knee{of}: {percent} % of the peak at depth {}", knee.depth);
        Series::new(label, color, Drawn::Ring, depths.iter().map(value))
    };
    found.map(series).collect()
}

fn throughput_summary(lines: &[SweepLine], metric: Metric) -> String {
    let parts: Vec<String> = lines
        .iter()
        .filter_map(|line| {
            let (depth, most) = line.best(metric)?;
            // `show` adds a unit to a bandwidth, but not to a rate.
            let most = match metric {
                Metric::PerSecond => format!("{} operations per second", metric.show(most)),
                _ => metric.show(most),
            };
            let knee = line.knee(metric).map_or_else(String::new, |knee| {
                let percent = (100.0 * knee.share).floor();
                format!(", {percent} % of it at depth {}", knee.depth)
            });
            Some(format!(
                "{}: at most {most}, at depth {depth}{knee}",
                line.label
            ))
        })
        .collect();
    format!("{}.", few(&parts))
}

fn latency_summary(lines: &[SweepLine], depths: &[u32]) -> String {
    let parts: Vec<String> = lines
        .iter()
        .filter_map(|line| {
            let mut medians = depths.iter().filter_map(|depth| {
                let figure = line.at(*depth)?.figure(Metric::LatencyP50)?;
                Some(format!(
                    "{} at depth {depth}",
                    Metric::LatencyP50.show(figure.mean)
                ))
            });
            let first = medians.next()?;
            let last = medians
                .next_back()
                .map_or_else(String::new, |last| format!(", {last}"));
            Some(format!("{}: p50 {first}{last}", line.label))
        })
        .collect();
    format!("{}.", few(&parts))
}

#[cfg(test)]
mod tests {
    use results::RunRecord;

    use super::*;
    use crate::group::groups;
    use crate::parts::CountedOperations;
    use crate::sample;

    const SMALL: WorkloadMeasure = WorkloadMeasure::Rate(CountedOperations::All);

    fn record(depths: &[u32]) -> RunRecord {
        let mut record = sample::record();
        let plan = record.plan.clone();
        record.cells = depths
            .iter()
            .map(|depth| {
                let mut cell = sample::cell_record(&plan, 0, 20_000 * u64::from(*depth));
                (cell.first_index, cell.iodepth) = (Some(*depth), *depth);
                cell
            })
            .collect();
        record
    }

    fn line(record: &RunRecord) -> SweepLine<'_> {
        SweepLine {
            label: "A".to_owned(),
            groups: groups(record),
        }
    }

    #[test]
    fn lines_share_the_axis_and_have_gaps_at_unmeasured_depths() {
        let records = [record(&[1, 4]), record(&[1, 2])];
        let lines: Vec<SweepLine> = records.iter().map(line).collect();
        let [rates, latencies] = sweeps(&lines, SMALL);
        let at: Vec<f64> = rates.at.iter().map(|number| number.get()).collect();
        assert_eq!(at, [1.0, 2.0, 4.0]);
        let values: Vec<f64> = rates.views[0].series[0]
            .values
            .iter()
            .map(|n| n.get())
            .collect();
        assert_eq!((values[0], values[2]), (2_000.0, 8_000.0));
        assert!(values[1].is_nan());
        assert_eq!(latencies.views.len(), 3);
        assert!(
            rates
                .summary
                .starts_with("A: at most 8.000k operations per second, at depth 4;")
        );
        assert!(
            latencies
                .summary
                .contains("A: p50 151 µs at depth 1, 151 µs at depth 4")
        );
    }

    #[test]
    fn the_knee_of_a_sweep_has_a_ring() {
        let mut record = record(&[1, 2, 4]);
        record.cells[2].total.per_second = record.cells[1].total.per_second * 1.01;
        let [rates, latencies] = sweeps(&[line(&record)], SMALL);
        let ring = &rates.views[0].series[1];
        assert_eq!(ring.label, "knee: 99 % of the peak at depth 2");
        assert_eq!((ring.line, ring.color), (Drawn::Ring, 0));
        assert_eq!(ring.values[1].get(), 4_000.0);
        assert!(ring.values[0].get().is_nan() && ring.values[2].get().is_nan());
        assert_eq!(latencies.views[0].series.len(), 1);
        assert!(
            rates.summary.contains("99 % of it at depth 2"),
            "{}",
            rates.summary
        );
    }

    #[test]
    fn large_transfers_are_shown_by_their_bandwidth() {
        let record = record(&[1, 4]);
        let [chart, _] = sweeps(&[line(&record)], WorkloadMeasure::Bandwidth);
        assert_eq!(chart.views[0].label, "bandwidth");
        assert!(
            chart.summary.contains("iB/s, at depth 4"),
            "{}",
            chart.summary
        );
    }

    #[test]
    fn points_of_repetitions_have_confidence_intervals() {
        let mut record = record(&[1, 1, 4]);
        record.cells[1].repetition = 1;
        record.cells[1].total.per_second *= 1.01;
        record.estimates = results::estimates(&record.cells);
        let [rates, _] = sweeps(&[line(&record)], SMALL);
        let series = &rates.views[0].series[0];
        let ends = series.ends.as_ref().unwrap();
        assert!(ends.low[0].get() < series.values[0].get());
        assert!(ends.high[0].get() > series.values[0].get());
        assert!(ends.low[1].get().is_nan());
    }
}
