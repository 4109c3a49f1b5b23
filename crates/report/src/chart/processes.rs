//! Rates of all processes of a cell, grouped by host.

use results::{CellCluster, CellRecord, RankFigures};
use units::format;

use super::{Axis, AxisLabels, AxisScale, AxisUnit, Chart, ChartNumber, LineStyle, Series, View};
use crate::numbers::percent;
use crate::representative::picks;
use crate::wrap::printable;

/// Colors of hosts. With more hosts than colors, all share one color. Gray is for the median.
// Repeated colors would make two hosts look like one.
const HOST_COLORS: [usize; 7] = [0, 1, 2, 3, 4, 6, 7];
const MEDIAN_COLOR: usize = 5;

const PROCESS: Axis = Axis::new(
    "process, grouped by host",
    AxisUnit::Count,
    AxisScale::Places,
);

/// Operations per second of each process, grouped by host, with the median; `None` for a single
/// process.
#[must_use]
pub fn processes(cell: &CellRecord) -> Option<Chart> {
    let cluster = cell.cluster.as_ref().filter(|it| it.ranks.len() > 1)?;
    let hosts = by_host(cluster);
    let ranks: Vec<&RankFigures> = hosts.iter().flat_map(|(_, ranks)| ranks).copied().collect();
    let names = ranks.iter().map(|rank| {
        let lost = if rank.lost_ns.is_some() { ", lost" } else { "" };
        printable(&format!("rank {} on {}{lost}", rank.rank, rank.host))
    });
    let at = (1..=ranks.len()).map(|it| ChartNumber::exact(it as f64));
    let views = [View::new("per second", Axis::RATE, series(cluster, &hosts))];
    Some(Chart {
        places: Some(AxisLabels {
            names: names.collect(),
            ticks: ticks(&hosts),
        }),
        ..Chart::new("Rate by process", summary(cluster), PROCESS, at, views)
    })
}

/// The processes of each host. Hosts are in the order of their first process.
type RanksByHost<'a> = Vec<(&'a str, Vec<&'a RankFigures>)>;

fn by_host(cluster: &CellCluster) -> RanksByHost<'_> {
    let mut hosts: RanksByHost = Vec::new();
    // A table instead of a search: a run may have thousands of processes.
    let mut indices = std::collections::HashMap::new();
    for rank in &cluster.ranks {
        let index = *indices.entry(rank.host.as_str()).or_insert_with(|| {
            hosts.push((rank.host.as_str(), Vec::new()));
            hosts.len() - 1
        });
        hosts[index].1.push(rank);
    }
    hosts
}

/// Returns the labels: each host's name below the middle of its processes.
fn ticks(hosts: &RanksByHost) -> Vec<(ChartNumber, String)> {
    let mut before = 0;
    let tick = |(name, ranks): &(&str, Vec<&RankFigures>)| {
        let middle = before as f64 + (ranks.len() as f64 + 1.0) / 2.0;
        before += ranks.len();
        (ChartNumber::exact(middle), printable(without_domain(name)))
    };
    hosts.iter().map(tick).collect()
}

/// Removes the domain to save space, because most hosts share it. Addresses stay as they are.
fn without_domain(name: &str) -> &str {
    let first = name.split('.').next().unwrap_or_default();
    let is_name = first.contains(|it: char| it.is_ascii_alphabetic());
    if is_name { first } else { name }
}

fn series(cluster: &CellCluster, hosts: &RanksByHost) -> Vec<Series> {
    let count = cluster.ranks.len();
    let rate = |rank: &RankFigures| match rank.lost_ns {
        None => ChartNumber::rounded(rank.per_second),
        // The results of a lost process are not in the sums, so it must not look like a slow one.
        Some(_) => ChartNumber::NONE,
    };
    let all = || hosts.iter().flat_map(|(_, ranks)| ranks).map(|it| rate(it));
    let mut series = Vec::new();
    if hosts.len() > HOST_COLORS.len() {
        series.push(Series::new("process", 0, LineStyle::Dots, all()));
    } else {
        let mut before = 0;
        for (color, (name, ranks)) in HOST_COLORS.iter().zip(hosts) {
            // All series share one axis, so the series of a host has gaps at the other hosts.
            let own = before..before + ranks.len();
            before = own.end;
            let values = all().enumerate();
            let values = values.map(|(index, it)| match own.contains(&index) {
                true => it,
                false => ChartNumber::NONE,
            });
            series.push(Series::new(
                printable(name),
                *color,
                LineStyle::Dots,
                values,
            ));
        }
    }
    let median = cluster.median_per_second();
    series.extend(median.map(|median| {
        let values = vec![ChartNumber::rounded(median); count];
        Series::new("median", MEDIAN_COLOR, LineStyle::Dashed, values)
    }));
    series
}

fn summary(cluster: &CellCluster) -> String {
    let alive = cluster.ranks.iter().filter(|it| it.lost_ns.is_none());
    let alive: Vec<&RankFigures> = alive.collect();
    let rates: Vec<f64> = alive.iter().map(|it| it.per_second).collect();
    let picked = picks(&rates);
    let (Some(median), Some(slowest), Some(fastest)) = (
        cluster.median_per_second(),
        picked.first(),
        rates.iter().copied().reduce(f64::max),
    ) else {
        return "All processes were lost.".to_owned();
    };
    let slowest = alive[slowest.1];
    let share = |rate: f64| percent(rate / median);
    printable(&format!(
        "The median of {} processes is {} per second. The slowest, rank {} on {}, has {} % of \
         that, the fastest {} %.",
        alive.len(),
        format::iops(median),
        slowest.rank,
        slowest.host,
        share(slowest.per_second),
        share(fastest)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn chart_of(ranks: &[(&str, f64)]) -> Chart {
        let mut cell = sample::record().cells.remove(0);
        let ranks = ranks
            .iter()
            .zip(0..)
            .map(|((host, rate), rank)| RankFigures {
                rank,
                host: (*host).to_owned(),
                per_second: *rate,
                ..RankFigures::default()
            });
        cell.cluster = Some(Box::new(CellCluster {
            ranks: ranks.collect(),
            ..CellCluster::default()
        }));
        processes(&cell).unwrap()
    }

    fn values(series: &Series) -> Vec<f64> {
        series.values.iter().map(|it| it.get()).collect()
    }

    #[test]
    fn processes_of_a_host_are_adjacent() {
        let chart = chart_of(&[("b.x", 100.0), ("a.x", 90.0), ("b.x", 80.0), ("a.x", 120.0)]);
        let labels = chart.places.unwrap();
        let wanted = [
            "rank 0 on b.x",
            "rank 2 on b.x",
            "rank 1 on a.x",
            "rank 3 on a.x",
        ];
        assert_eq!(labels.names, wanted);
        let ticks =
            [(1.5, "b"), (3.5, "a")].map(|(at, name)| (ChartNumber::exact(at), name.to_owned()));
        assert_eq!(labels.ticks, ticks);
        let series = &chart.views[0].series;
        assert_eq!(values(&series[0])[..2], [100.0, 80.0]);
        assert!(values(&series[0])[2].is_nan());
        assert_eq!(values(&series[1])[2..], [90.0, 120.0]);
        assert_eq!(
            (series[2].label.as_str(), values(&series[2])),
            ("median", vec![95.0; 4])
        );
        let ending = "The slowest, rank 2 on b.x, has 84.2 % of that, the fastest 126.3 %.";
        assert!(chart.summary.ends_with(ending), "{}", chart.summary);
    }

    #[test]
    fn many_hosts_have_one_color() {
        let hosts: Vec<String> = (0..8).map(|it| format!("10.0.0.{it}")).collect();
        let ranks: Vec<(&str, f64)> = hosts.iter().map(|it| (it.as_str(), 1.0)).collect();
        let chart = chart_of(&ranks);
        assert_eq!(chart.views[0].series.len(), 2);
        assert_eq!(chart.places.unwrap().ticks[7].1, "10.0.0.7");
        assert_eq!(chart_of(&ranks[..7]).views[0].series.len(), 8);
    }
}
