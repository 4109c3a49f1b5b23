//! Latency distribution of a cell, as a histogram and as percentiles.

use results::{CellRecord, Latency, percentile_is_supported};
use units::format;

use super::{
    Axis, AxisScale, AxisUnit, Chart, ChartNumber, Detail, LineStyle, Series, View, color_of, few,
};
use crate::parts::{distinct_transactions, is_classic, operations};
use crate::quantile::values_at;

/// Distances of the drawn percentiles from 100 %, within one power of ten, in percent.
const FINE_STEPS: &[f64] = &[100.0, 75.0, 50.0, 30.0, 20.0, 15.0];
const COARSE_STEPS: &[f64] = &[100.0, 50.0, 25.0];
/// Highest percentile drawn, if there are enough operations.
// It needs ten million operations, because ten must lie beyond a percentile.
const PERCENT_MAX: f64 = 99.9999;

const PERCENT: Axis = Axis::new(
    "percent of the operations that took no longer",
    AxisUnit::Percent,
    AxisScale::Nines,
);

/// Latencies of either the operations or the transactions.
struct ChartedLatencies<'a> {
    label: &'static str,
    parts: Vec<(&'a str, &'a Latency)>,
}

impl ChartedLatencies<'_> {
    /// Returns a view with one series per part.
    fn view(
        &self,
        y: Axis,
        line: LineStyle,
        values: impl Fn(&Latency) -> Vec<ChartNumber>,
    ) -> View {
        let parts = self.parts.iter().enumerate();
        let series = parts.map(|(index, (name, latency))| {
            Series::new(*name, color_of(name, index), line, values(latency))
        });
        View::new(self.label, y, series)
    }
}

fn kinds(cell: &CellRecord) -> Vec<ChartedLatencies<'_>> {
    let operations = operations(cell).into_iter();
    let operations = operations.map(|(name, figures)| (name, &figures.latency));
    let transactions = distinct_transactions(cell).map(|(name, kind)| (name, &kind.latency));
    let mut kinds = vec![
        ChartedLatencies {
            label: "operations",
            parts: operations.collect(),
        },
        ChartedLatencies {
            label: match is_classic(cell) {
                true => "whole files",
                false => "transactions",
            },
            parts: transactions.collect(),
        },
    ];
    for kind in &mut kinds {
        kind.parts
            // Failures have no latencies, so an operation that only failed has nothing to draw.
            .retain(|(_, latency)| !latency.histogram.buckets_ns.is_empty());
    }
    kinds.retain(|kind| !kind.parts.is_empty());
    kinds
}

/// Histogram of the latencies of each operation and transaction; `None` without latencies.
#[must_use]
pub fn histogram(cell: &CellRecord, detail: Detail) -> Option<Chart> {
    histogram_of_kinds("Latency distribution", &kinds(cell), detail)
}

/// Histogram of named latencies; `None` without latencies.
pub fn histogram_of(title: &str, parts: Vec<(&str, &Latency)>, detail: Detail) -> Option<Chart> {
    let label = "operations";
    let kind = ChartedLatencies { label, parts };
    histogram_of_kinds(title, &[kind], detail)
}

fn histogram_of_kinds(title: &str, kinds: &[ChartedLatencies], detail: Detail) -> Option<Chart> {
    let bins = Bins::of(kinds, detail)?;
    let share = Axis::new(
        "share of the operations",
        AxisUnit::Percent,
        AxisScale::Linear,
    );
    let views = kinds.iter();
    let views =
        views.map(|kind| kind.view(share, LineStyle::Steps, |latency| bins.shares(latency)));
    let summary = summary(kinds, |latency| {
        let [low, high] = [25.0, 75.0].map(|percent| values_at(latency, &[percent])[0]);
        Some(format!(
            "the middle half from {} to {}",
            format::latency_ns(low?),
            format::latency_ns(high?)
        ))
    });
    Some(Chart::new(
        title,
        summary,
        Axis::LATENCY,
        bins.edges(),
        views,
    ))
}

/// Latency by percentile, for each operation and transaction; `None` without latencies.
///
/// Omits percentiles that too few operations exceed.
#[must_use]
pub fn percentiles(cell: &CellRecord, detail: Detail) -> Option<Chart> {
    let kinds = kinds(cell);
    let counts = kinds
        .iter()
        .flat_map(|kind| kind.parts.iter().map(|(_, latency)| latency.count));
    // All series share the axis of the largest part. The smaller parts get gaps at its end.
    let most = counts.max()?;
    let percents: Vec<f64> = places(detail)
        .filter(|percent| percentile_is_supported(most, *percent))
        .collect();
    if percents.is_empty() {
        return None;
    }
    let values = |latency: &Latency| supported_latencies(latency, &percents);
    let views = kinds.iter();
    let views = views.map(|kind| kind.view(Axis::LATENCY, LineStyle::Solid, values));
    let at = percents.iter().copied().map(ChartNumber::exact);
    let summary = summary(&kinds, highest_supported_percentile);
    Some(Chart::new(
        "Latency by percentile",
        summary,
        PERCENT,
        at,
        views,
    ))
}

/// Returns the percentiles to draw: 25, 50, 70, 80, 85, 90, 92.5, 95, ... 99.999, ... 99.9999.
fn places(detail: Detail) -> impl Iterator<Item = f64> {
    let steps = match detail.has_fine_percentiles {
        true => FINE_STEPS,
        false => COARSE_STEPS,
    };
    (0..=6).flat_map(move |nines| {
        let unit = 10_f64.powi(nines);
        // Dividing whole numbers yields exactly the same value as the literal 99.9.
        let percents = steps
            .iter()
            .map(move |beyond| (100.0 * unit - beyond) / unit);
        percents.filter(|percent| *percent > 0.0 && *percent <= PERCENT_MAX)
    })
}

fn supported_latencies(latency: &Latency, percents: &[f64]) -> Vec<ChartNumber> {
    values_at(latency, percents)
        .into_iter()
        .zip(percents)
        .map(|(ns, percent)| {
            let ns = ns.filter(|_| percentile_is_supported(latency.count, *percent));
            ChartNumber::latency(ns.map(|ns| ns as f64))
        })
        .collect()
}

/// Returns the highest of the usual percentiles with enough samples.
fn highest_supported_percentile(latency: &Latency) -> Option<String> {
    let percentiles = &latency.percentiles_ns;
    let usual = [
        ("p99.999", 99.999, percentiles.p99_999),
        ("p99.99", 99.99, percentiles.p99_99),
        ("p99.9", 99.9, percentiles.p99_9),
        ("p99", 99.0, percentiles.p99),
        ("p90", 90.0, percentiles.p90),
        ("p50", 50.0, percentiles.p50),
    ];
    let mut supported = usual
        .into_iter()
        .filter(|(_, percent, _)| percentile_is_supported(latency.count, *percent));
    let (name, _, ns) = supported.next()?;
    let end = format!("{name} is {}", format::latency_ns(ns?));
    Some(match percentiles.p50.filter(|_| name != "p50") {
        Some(median) => format!("p50 is {}, {end}", format::latency_ns(median)),
        None => end,
    })
}

/// Summarizes the first kind only; the second has its own view and table.
fn summary(kinds: &[ChartedLatencies], of: impl Fn(&Latency) -> Option<String>) -> String {
    let parts = kinds.iter().take(1).flat_map(|kind| &kind.parts);
    let parts = parts.filter_map(|(name, latency)| Some(format!("{name}: {}", of(latency)?)));
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true => "Too few operations to describe their latencies.".to_owned(),
        false => format!("{}.", few(&parts)),
    }
}

/// Bins of equal width on a logarithmic axis.
struct Bins {
    per_decade: f64,
    first: i32,
    last: i32,
}

impl Bins {
    fn of(kinds: &[ChartedLatencies], detail: Detail) -> Option<Self> {
        let per_decade = f64::from(detail.bins_per_decade);
        let buckets = || {
            let parts = kinds.iter().flat_map(|kind| kind.parts.iter());
            parts.flat_map(|(_, latency)| latency.histogram.buckets_ns.iter())
        };
        let bin = |bucket| bin_of(bucket, per_decade);
        Some(Self {
            per_decade,
            first: buckets().map(bin).min()?,
            last: buckets().map(bin).max()?,
        })
    }

    /// Returns the lower edge of each bin, and the upper edge of the last one.
    fn edges(&self) -> Vec<ChartNumber> {
        (self.first..=self.last + 1)
            .map(|bin| ChartNumber::rounded(10_f64.powf(f64::from(bin) / self.per_decade)))
            .collect()
    }

    /// Returns the percentage of latencies in each bin, and 0 for the upper edge of the last one.
    fn shares(&self, latency: &Latency) -> Vec<ChartNumber> {
        // One value more than bins: a step extends to the next position, also after the last bin.
        let mut counts = vec![0_u64; (self.last - self.first + 2) as usize];
        for bucket in &latency.histogram.buckets_ns {
            let bin = (bin_of(bucket, self.per_decade) - self.first) as usize;
            counts[bin] = counts[bin].saturating_add(bucket[2]);
        }
        let total = counts
            .iter()
            .fold(0, |sum: u64, count| sum.saturating_add(*count));
        let share = |count: &u64| ChartNumber::rounded(100.0 * *count as f64 / total.max(1) as f64);
        counts.iter().map(share).collect()
    }
}

/// Returns the bin that contains the middle of a bucket.
fn bin_of(&[low_ns, high_ns, _]: &[u64; 3], per_decade: f64) -> i32 {
    // A latency of 0 ns has no logarithm.
    let middle = u64::midpoint(low_ns, high_ns).max(1);
    // The addend keeps powers of ten in their bin if the logarithm is slightly too small.
    ((middle as f64).log10() * per_decade + 1e-9).floor() as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    const FINE: Detail = Detail {
        points_max: 100,
        bins_per_decade: 20,
        has_fine_percentiles: true,
    };

    fn sum(series: &Series) -> f64 {
        series.values.iter().map(|number| number.get()).sum()
    }

    #[test]
    fn the_shares_of_an_operation_add_up_to_all_of_it() {
        let chart = histogram(&sample::record().cells[0], FINE).unwrap();
        assert_eq!(chart.views.len(), 1);
        for series in &chart.views[0].series {
            assert_eq!(series.values.len(), chart.at.len());
            assert!((sum(series) - 100.0).abs() < 0.1, "{}", sum(series));
        }
        let (first, last) = (chart.at[0].get(), chart.at[chart.at.len() - 1].get());
        assert!(first <= 100_000.0 && last >= 12_000_000.0, "{first} {last}");
        assert!(
            chart.summary.contains("read: the middle half from"),
            "{}",
            chart.summary
        );
    }

    #[test]
    fn transactions_that_are_not_operations_have_a_view() {
        let mut cell = sample::record().cells.remove(0);
        cell.transactions.get_mut("transfer").unwrap().count = 50_000;
        for chart in [histogram(&cell, FINE), percentiles(&cell, FINE)] {
            let labels: Vec<String> = chart.unwrap().views.into_iter().map(|v| v.label).collect();
            assert_eq!(labels, ["operations", "transactions"]);
        }
    }

    #[test]
    fn a_percentile_is_drawn_where_enough_operations_lie_beyond_it() {
        let cell = &sample::record().cells[1];
        let chart = percentiles(cell, FINE).unwrap();
        let at: Vec<f64> = chart.at.iter().map(|number| number.get()).collect();
        assert_eq!(at[..4], [25.0, 50.0, 70.0, 80.0]);
        // 5000 operations.
        assert_eq!(at.last(), Some(&99.8));
        let at_p99 = at.iter().position(|percent| *percent == 99.0).unwrap();
        let drawn = chart.views[0].series[0].values[at_p99].get();
        let recorded = cell.operations["read"].latency.percentiles_ns.p99.unwrap() as f64;
        assert!((drawn / recorded - 1.0).abs() < 5e-3, "{drawn} {recorded}");
    }

    #[test]
    fn the_usual_percentiles_are_points_on_the_axis() {
        let percents: Vec<f64> = places(FINE).collect();
        for wanted in [
            50.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99, 99.999, 99.9999,
        ] {
            assert!(
                percents.contains(&wanted),
                "{wanted} is not in {percents:?}"
            );
        }
        assert!(percents.is_sorted() && percents.iter().all(|percent| *percent < 100.0));
    }

    #[test]
    fn without_latencies_there_is_no_distribution() {
        let mut cell = sample::record().cells.remove(0);
        cell.operations.clear();
        cell.transactions.clear();
        assert_eq!(histogram(&cell, FINE), None);
        assert_eq!(percentiles(&cell, FINE), None);
    }
}
