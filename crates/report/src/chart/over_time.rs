//! Throughput and latency of a cell over time, from its intervals.

use plan::job::DueProfile;
use results::{CellRecord, IntervalFigures, IntervalRecord};
use units::format;

use super::{
    Axis, AxisScale, AxisUnit, Chart, ChartNumber, Detail, LineStyle, Series, View, color_of, few,
};
use crate::parts::{CountedOperations, operations};

/// If workers waited less than this share in each interval, the chart is omitted.
const WAITING_SHARE_MIN: f64 = 0.01;

const TIME: Axis = Axis::new(
    "time since the start of the measurement",
    AxisUnit::Seconds,
    AxisScale::Linear,
);

/// Operations and bytes per second of each operation over time; `None` with fewer than two
/// intervals.
#[must_use]
pub fn throughput(cell: &CellRecord, detail: Detail) -> Option<Chart> {
    let chunks = IntervalChunks::of(cell, detail)?;
    let label = match chunks.counted {
        // Intervals of these cells count single calls, not the file operations of the total.
        CountedOperations::FileOperations => "operations",
        CountedOperations::All | CountedOperations::ReadsAndWrites => "IOPS",
    };
    let mut views = vec![chunks.rates(label, Axis::RATE, |figures| figures.count)];
    // Calls such as `unlink` move no bytes, and their bandwidth would be a line at 0.
    let moves = cell.operations.values().any(|figures| figures.bytes > 0);
    if moves {
        views.push(chunks.rates("bandwidth", Axis::BANDWIDTH, |figures| figures.bytes));
    }
    let summary = chunks.throughput_summary();
    Some(chunks.chart("Throughput over time", summary, views))
}

/// Median, 99th percentile and maximum latency of each operation over time; `None` with fewer than
/// two intervals.
#[must_use]
pub fn latency(cell: &CellRecord, detail: Detail) -> Option<Chart> {
    let chunks = IntervalChunks::of(cell, detail)?;
    let names = chunks.operations.iter().enumerate();
    let views = names.map(|(index, name)| chunks.latencies(name, color_of(name, index)));
    let summary = chunks.latency_summary();
    Some(chunks.chart("Latency over time", summary, views))
}

/// Share of time that the workers waited for a CPU, and share of time that any task of the machine
/// did. `None` with fewer than two intervals, or if no worker waited noticeably.
#[must_use]
pub fn waiting(cell: &CellRecord, detail: Detail) -> Option<Chart> {
    let chunks = IntervalChunks::of(cell, detail)?;
    // `waited_ns` is a sum over all threads of the workers, so it can exceed the interval.
    let threads = u64::from(cell.cpu.threads.max(1));
    let workers = chunks.shares("workers", 0, LineStyle::Solid, |it| {
        Some(it.waited_ns? / threads)
    });
    let is_seen = |interval: &&IntervalRecord| {
        let waited_ns = interval.waited_ns.unwrap_or_default() as f64;
        waited_ns >= (interval.length_ns * threads) as f64 * WAITING_SHARE_MIN
    };
    let count = chunks.intervals.iter().filter(is_seen).count();
    if count == 0 {
        return None;
    }
    let mut series = vec![workers];
    if chunks.intervals.iter().any(|it| it.pressure_ns.is_some()) {
        let any = "any task of the machine";
        series.push(chunks.shares(any, 1, LineStyle::Dotted, |it| it.pressure_ns));
    }
    let summary = format!(
        "The workers could run and waited for {} % or more of their time in {count} of {}.{}",
        WAITING_SHARE_MIN * 100.0,
        chunks.describe_intervals(),
        chunks.chunk_remark("it shows their mean"),
    );
    let share = Axis::new("share of time", AxisUnit::Percent, AxisScale::Linear);
    let views = [View::new(share.label, share, series)];
    Some(chunks.chart("Waiting for a CPU over time", summary, views))
}

/// Requests per second of a replay over time, due and completed; `None` with fewer than two
/// intervals.
#[must_use]
pub fn replayed_rate(cell: &CellRecord, due: &DueProfile, detail: Detail) -> Option<Chart> {
    let chunks = IntervalChunks::of(cell, detail)?;
    let achieved = chunks.chunks().map(|chunk| {
        rate(chunk, |it| {
            it.operations.values().map(|found| found.count).sum()
        })
    });
    let recorded = chunks.chunks().map(|chunk| {
        let ends = chunk.iter().map(|it| it.at_ns.saturating_add(it.length_ns));
        let length_ns: u64 = chunk.iter().map(|it| it.length_ns).sum();
        let count = due.count_within(chunk[0].at_ns, ends.max().unwrap_or(0));
        count * 1e9 / length_ns.max(1) as f64
    });
    let y = Axis::RATE;
    let numbers = |rates: &mut dyn Iterator<Item = f64>| -> Vec<ChartNumber> {
        rates.map(|rate| y.number(rate)).collect()
    };
    let series = [
        Series::new(
            "recorded",
            1,
            LineStyle::Dashed,
            numbers(&mut recorded.into_iter()),
        ),
        Series::new(
            "achieved",
            0,
            LineStyle::Solid,
            numbers(&mut achieved.into_iter()),
        ),
    ];
    let summary = format!(
        "Requests that were due by the trace, and requests that ended, in {}.{}",
        chunks.describe_intervals(),
        chunks.chunk_remark("it shows their mean"),
    );
    let views = [View::new("requests", y, series)];
    Some(chunks.chart("Recorded and achieved rate over time", summary, views))
}

/// The intervals of a cell in chunks, one per point of the chart.
struct IntervalChunks<'a> {
    intervals: &'a [IntervalRecord],
    /// Intervals per point.
    chunk_size: usize,
    /// Names of the operations that occurred.
    operations: Vec<&'a str>,
    /// The operations that count for the rate of the cell.
    counted: CountedOperations,
}

impl<'a> IntervalChunks<'a> {
    fn of(cell: &'a CellRecord, detail: Detail) -> Option<Self> {
        let operations: Vec<&str> = operations(cell).into_iter().map(|(name, _)| name).collect();
        let intervals = &cell.intervals[..];
        // An interval of length 0 has no rate, so it cannot be a point.
        let usable = intervals.iter().filter(|it| it.length_ns > 0).count();
        // A single point shows no change over time.
        (usable > 1 && !operations.is_empty()).then_some(Self {
            intervals,
            chunk_size: chunk_size(intervals, detail),
            operations,
            counted: CountedOperations::of(cell),
        })
    }

    fn chart(&self, title: &str, summary: String, views: impl IntoIterator<Item = View>) -> Chart {
        Chart::new(title, summary, TIME, self.times(), views)
    }

    fn chunks(&self) -> impl Iterator<Item = &'a [IntervalRecord]> {
        self.intervals.chunks(self.chunk_size)
    }

    /// Returns the middle of each chunk, in seconds.
    fn times(&self) -> Vec<ChartNumber> {
        self.chunks()
            .map(|chunk| {
                let end = chunk
                    .last()
                    .map_or(0, |last| last.at_ns.saturating_add(last.length_ns));
                // `chunks` yields no empty slices, so the first interval exists.
                let middle_ns = u64::midpoint(chunk[0].at_ns, end);
                // Finer steps than a millisecond are not visible.
                ChartNumber::exact((middle_ns / 1_000_000) as f64 / 1e3)
            })
            .collect()
    }

    fn rates(&self, label: &str, y: Axis, of: fn(&IntervalFigures) -> u64) -> View {
        let series = self.operations.iter().enumerate().map(|(index, name)| {
            let rate = |chunk| y.number(rate(chunk, |found| sum(found, name, of)));
            let color = color_of(name, index);
            Series::new(*name, color, LineStyle::Solid, self.chunks().map(rate))
        });
        View::new(label, y, series)
    }

    /// Returns shares of time in percent, where they are known.
    fn shares(
        &self,
        label: &str,
        color: usize,
        line: LineStyle,
        of: impl Fn(&IntervalRecord) -> Option<u64>,
    ) -> Series {
        let share = |chunk: &[IntervalRecord]| {
            // If one interval is unknown, so is the point: a partial sum would be too small.
            let pairs = chunk.iter().map(|it| Some((of(it)?, it.length_ns)));
            let pairs: Option<Vec<(u64, u64)>> = pairs.collect();
            let sums = pairs?.into_iter().fold((0, 0), |sum: (u64, u64), it| {
                (sum.0.saturating_add(it.0), sum.1.saturating_add(it.1))
            });
            // The kernel counts a wait when it ends, so an interval may contain more waiting than
            // time.
            Some((sums.0 as f64 * 100.0 / sums.1 as f64).min(100.0))
        };
        let values = self.chunks().map(|chunk| {
            let percent = share(chunk).filter(|percent| percent.is_finite());
            percent.map_or(ChartNumber::NONE, ChartNumber::rounded)
        });
        Series::new(label, color, line, values)
    }

    fn latencies(&self, name: &str, color: usize) -> View {
        type Read = fn(&IntervalFigures) -> Option<u64>;
        let curves: [(&str, LineStyle, Read); 3] = [
            ("largest", LineStyle::Dotted, |figures| figures.max_ns),
            ("p99", LineStyle::Dashed, |figures| figures.p99_ns),
            ("p50", LineStyle::Solid, |figures| figures.p50_ns),
        ];
        let series = curves.map(|(label, line, read)| {
            let values = self.chunks().map(|chunk| {
                let found = figures_of(chunk, name).filter_map(read);
                // Percentiles of several intervals cannot be combined, so a point shows the
                // largest of them, or for p50 the middle one.
                let value = match line {
                    LineStyle::Solid => middle(found.collect()),
                    _ => found.max(),
                };
                ChartNumber::latency(value.map(|ns| ns as f64))
            });
            Series::new(label, color, line, values)
        });
        View {
            // The pairs refer to `curves`, which are ordered from top to bottom.
            bands: vec![[0, 1], [1, 2]],
            ..View::new(name, Axis::LATENCY, series)
        }
    }

    fn throughput_summary(&self) -> String {
        // Intervals do not record transactions, but they record their operations.
        let counted = match self.counted {
            CountedOperations::FileOperations => CountedOperations::All,
            counted => counted,
        };
        let intervals = self.intervals.iter().filter(|it| it.length_ns > 0);
        let rates: Vec<f64> = intervals.filter_map(|it| counted.rate(it)).collect();
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let most = rates.iter().copied().fold(0.0, f64::max);
        let range = match least == most {
            true => format::iops(most),
            false => format!("{} to {}", format::iops(least), format::iops(most)),
        };
        let remark = self.chunk_remark("it shows their mean");
        format!(
            "{range} {} in {}.{remark}",
            counted.rate_name(),
            self.describe_intervals()
        )
    }

    fn latency_summary(&self) -> String {
        let parts: Vec<String> = self
            .operations
            .iter()
            .filter_map(|name| {
                let medians: Vec<u64> = figures_of(self.intervals, name)
                    .filter_map(|figures| figures.p50_ns)
                    .collect();
                let median = format::latency_ns(middle(medians)?);
                let largest = figures_of(self.intervals, name)
                    .filter_map(|figures| figures.max_ns)
                    .max()?;
                let largest = format::latency_ns(largest);
                Some(format!("{name}: median about {median}, largest {largest}"))
            })
            .collect();
        let remark =
            self.chunk_remark("p50 is the median of their p50, p99 and largest are the maximum");
        format!(
            "{}, over {}.{remark}",
            few(&parts),
            self.describe_intervals()
        )
    }

    fn describe_intervals(&self) -> String {
        format!("{} intervals", self.intervals.len())
    }

    fn chunk_remark(&self, meaning: &str) -> String {
        match self.chunk_size {
            1 => String::new(),
            count => format!(" A point stands for {count} intervals: {meaning}."),
        }
    }
}

/// Returns the number of intervals per point. It limits the number of points. If intervals have few
/// operations, each point covers about a second, because single operations do not show a rate.
fn chunk_size(intervals: &[IntervalRecord], detail: Detail) -> usize {
    // The statistics within a run also combine intervals until each has ten operations.
    const OPERATIONS_MIN: u64 = 10;
    let figures = intervals.iter().flat_map(|it| it.operations.values());
    let count = figures.fold(0, |sum: u64, it| sum.saturating_add(it.count));
    let length_ns = intervals.iter().map(|it| it.length_ns).sum::<u64>();
    let few = count < OPERATIONS_MIN * intervals.len() as u64;
    // Intervals longer than a second yield 0 here, and `at_least` then decides.
    let to_a_second = match few {
        true => intervals.len() as u64 * 1_000_000_000 / length_ns.max(1),
        false => 1,
    };
    let at_least = intervals.len().div_ceil(detail.points_max).max(1);
    at_least.max(usize::try_from(to_a_second).unwrap_or(1))
}

fn figures_of<'a>(
    intervals: &'a [IntervalRecord],
    name: &'a str,
) -> impl Iterator<Item = &'a IntervalFigures> {
    intervals
        .iter()
        .filter_map(move |interval| interval.operations.get(name))
}

fn sum(interval: &IntervalRecord, name: &str, of: fn(&IntervalFigures) -> u64) -> u64 {
    interval.operations.get(name).map_or(0, of)
}

fn rate(chunk: &[IntervalRecord], of: impl Fn(&IntervalRecord) -> u64) -> f64 {
    let count = chunk.iter().map(of).fold(0, u64::saturating_add);
    let length_ns = chunk.iter().map(|interval| interval.length_ns);
    results::per_second(count, length_ns.fold(0, u64::saturating_add))
}

fn middle(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::sample;

    const FINE: Detail = Detail {
        points_max: 100,
        bins_per_decade: 20,
        has_fine_percentiles: true,
    };

    fn cell(counts: &[u64]) -> CellRecord {
        let mut cell = sample::record().cells.remove(0);
        cell.intervals = (0..)
            .zip(counts)
            .map(|(second, count)| interval(second, *count))
            .collect();
        cell
    }

    fn interval(second: u64, count: u64) -> IntervalRecord {
        let figures = |count| IntervalFigures {
            count,
            bytes: count * 4096,
            p50_ns: Some(100_000 + second),
            p99_ns: Some(200_000 + second),
            max_ns: Some(300_000 + second),
            ..IntervalFigures::default()
        };
        IntervalRecord {
            at_ns: second * sample::SECOND,
            length_ns: sample::SECOND,
            operations: BTreeMap::from([("read".to_owned(), figures(count))]),
            ..IntervalRecord::default()
        }
    }

    fn values(series: &Series) -> Vec<f64> {
        series.values.iter().map(|number| number.get()).collect()
    }

    #[test]
    fn a_point_lies_in_the_middle_of_its_interval() {
        let chart = throughput(&cell(&[10, 30, 20]), FINE).unwrap();
        let at: Vec<f64> = chart.at.iter().map(|number| number.get()).collect();
        assert_eq!(at, [0.5, 1.5, 2.5]);
        let view = &chart.views[0];
        assert_eq!(values(&view.series[0]), [10.0, 30.0, 20.0]);
        assert_eq!(chart.views[1].label, "bandwidth");
        assert_eq!(values(&chart.views[1].series[0])[0], 40_960.0);
        assert_eq!(
            chart.summary,
            "10.00 to 30.00 operations per second in 3 intervals."
        );
    }

    #[test]
    fn an_idle_operation_has_a_rate_of_zero_and_no_latency() {
        let mut cell = cell(&[10, 30]);
        cell.intervals[1].operations.clear();
        let chart = throughput(&cell, FINE).unwrap();
        assert_eq!(values(&chart.views[0].series[0]), [10.0, 0.0]);
        let chart = latency(&cell, FINE).unwrap();
        assert!(values(&chart.views[0].series[0])[1].is_nan());
    }

    #[test]
    fn points_that_merge_several_intervals_say_so() {
        let coarse = Detail {
            points_max: 2,
            ..FINE
        };
        let cell = cell(&[10, 30, 20, 20]);
        let chart = throughput(&cell, coarse).unwrap();
        assert_eq!(values(&chart.views[0].series[0]), [20.0, 20.0]);
        assert!(
            chart.summary.contains("A point stands for 2 intervals"),
            "{}",
            chart.summary
        );
        let chart = latency(&cell, coarse).unwrap();
        let largest = &chart.views[0].series[0];
        assert_eq!(values(largest), [300_000.0, 300_000.0]);
    }

    #[test]
    fn each_operation_has_its_own_latency_view() {
        let chart = latency(&cell(&[10, 30]), FINE).unwrap();
        let labels: Vec<&str> = chart.views.iter().map(|view| &*view.label).collect();
        assert_eq!(labels, ["read", "write"]);
        let curves: Vec<&str> = chart.views[0]
            .series
            .iter()
            .map(|one| &*one.label)
            .collect();
        assert_eq!(curves, ["largest", "p99", "p50"]);
        assert!(
            chart
                .summary
                .starts_with("read: median about 100 µs, largest 300 µs")
        );
    }

    #[test]
    fn without_several_intervals_there_is_no_chart_over_time() {
        for counts in [&[][..], &[10]] {
            assert_eq!(throughput(&cell(counts), FINE), None);
            assert_eq!(latency(&cell(counts), FINE), None);
        }
    }
}
