//! The main results, with their uncertainty.

use maud::{Markup, html};
use results::{CellRecord, EvenRates};
use units::format;

use super::run::Run;
use crate::group::{GroupFigure, Metric, RepeatedCell, best_of_each_workload};
use crate::html::{BarInterval, axis_max, bar, frame, sentence, within_run_note};
use crate::measure::WorkloadMeasure;
use crate::names::capital;
use crate::numbers::digits;
use crate::parts::{CountedOperations, distinct_transactions};
use crate::verdict::searches;

/// Maximum number of groups with a bar each.
const GROUPS_MAX: usize = 12;
/// Number of bars that fit on the first screen together with the sentences of a verdict.
const FIRST_SCREEN_MAX: usize = 4;

/// Returns the headline of a run: large numbers for a single group, or else a bar per group.
#[must_use]
pub fn headline(run: &Run) -> Markup {
    let shown = own_groups(run);
    let is_peak = shown.len() < run.groups.len();
    html! {
        (highest_rates(run))
        @match shown.as_slice() {
            [] => { p.nothing { "Nothing was measured." } }
            [only] => {
                @if is_peak {
                    p.tiles-of { "Closed-loop peak, without a requested rate:" }
                }
                (tiles(only))
            }
            several => { (overview(run, several)) }
        }
    }
}

/// Returns `true` if the headline fills the first screen.
pub fn is_long(run: &Run) -> bool {
    best_of_each_workload(&own_groups(run), GROUPS_MAX).len() > FIRST_SCREEN_MAX
}

/// Returns the groups without those whose rates depend on a peak, which have separate charts.
fn own_groups<'a>(run: &Run<'a>) -> Vec<RepeatedCell<'a>> {
    let own = run.groups.iter().filter(|group| !group.depends_on_peak());
    own.cloned().collect()
}

/// Returns the highest rates that met the response-time limit, as far as they are known.
fn highest_rates(run: &Run) -> Markup {
    let rates = searches(run.record, &run.naming).into_iter();
    let rates = rates.filter_map(|(search, _)| {
        let bracket = search.bracket();
        let (passed, failed) = bracket.passed.zip(bracket.failed)?;
        let middle = f64::midpoint(passed, failed);
        let percent = digits(50.0 * (failed - passed) / middle);
        let rate = format!("{} per second", format::iops(middle));
        let precision = format!("±{percent} %, {} trials", search.trials.len());
        let most = format::latency_ns(search.limit.max_ns);
        let label = format!("{} within {most} up to", search.limit.percentile.name());
        Some((label, rate, precision))
    });
    let rates: Vec<(String, String, String)> = rates.collect();
    html! {
        @if !rates.is_empty() {
            dl.tiles {
                @for (label, rate, precision) in &rates { (tile(label, rate, precision)) }
            }
        }
    }
}

/// Returns a large number with its name and precision.
pub fn tile(label: &str, number: &str, precision: &str) -> Markup {
    html! {
        div.tile {
            dt { (sentence(label)) }
            dd { (value(number)) span.interval { (precision) } }
        }
    }
}

fn tiles(group: &RepeatedCell) -> Markup {
    let counted = CountedOperations::of(group.cells[0]);
    let latency = match counted {
        CountedOperations::All => "latency",
        CountedOperations::ReadsAndWrites => "read and write latency",
        CountedOperations::FileOperations => "file operation latency",
    };
    let figures = [
        (counted.rate_name().to_owned(), Metric::PerSecond),
        ("bandwidth".to_owned(), Metric::BytesPerSecond),
        (format!("{latency}, p50"), Metric::LatencyP50),
        (format!("{latency}, p99"), Metric::LatencyP99),
    ];
    let moves = group.cells.iter().any(|cell| cell.total.bytes > 0);
    let is_of_files = counted == CountedOperations::FileOperations;
    // Transactions of a classic program are its file operations, which have a tile already.
    let iometer_transactions = transactions(group).filter(|_| !is_of_files);
    let shown = figures.into_iter().filter_map(|(label, metric)| {
        let figure = group.figure(metric)?;
        let is_shown = metric != Metric::BytesPerSecond || moves;
        is_shown.then_some((label, metric, figure))
    });
    html! {
        dl.tiles {
            @if let Some(figure) = group.figure(Metric::TransactionsPerSecond) {
                @let metric = Metric::TransactionsPerSecond;
                @let precision = interval(group, metric, figure);
                (tile("transactions per second", &metric.show(figure.mean), &precision))
            }
            @for (label, metric, figure) in shown {
                (tile(&label, &metric.show(figure.mean), &interval(group, metric, figure)))
            }
            @if let Some(rate) = iometer_transactions {
                div.tile {
                    dt { "transactions per second" }
                    dd { (value(&format::iops(rate))) }
                }
            }
            @if group.errors() > 0 {
                div.tile.severe {
                    dt { "failed operations" }
                    dd { (value(&format::count(group.errors()))) }
                }
            }
        }
    }
}

/// Returns a number, followed by its unit in a smaller font.
fn value(text: &str) -> Markup {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    html! {
        span.value { (number) @if !unit.is_empty() { small { " " (unit) } } }
    }
}

/// Describes the confidence interval, or else the variation within the cell.
fn interval(group: &RepeatedCell, metric: Metric, figure: GroupFigure) -> String {
    if let Some([low, high]) = figure.interval {
        let ends = format!("{} to {}", metric.show(low), metric.show(high));
        return format!("95 % confidence: {ends} ({} repetitions)", figure.n);
    }
    match (metric, group.cells.as_slice()) {
        (Metric::PerSecond, [cell]) => rate_range(cell).unwrap_or_default(),
        (_, [_]) => String::new(),
        _ => format!("mean of {} repetitions", figure.n),
    }
}

/// Describes the lowest and the highest rate among a cell's intervals. Intervals with few
/// operations are combined first.
fn rate_range(cell: &CellRecord) -> Option<String> {
    let names = CountedOperations::of(cell).names(cell)?;
    let even = EvenRates::of(&cell.intervals, &names, |figures| figures.count);
    let rates = even.per_second;
    let [low, high] = [
        rates.iter().copied().min_by(f64::total_cmp)?,
        rates.iter().copied().max_by(f64::total_cmp)?,
    ]
    .map(format::iops);
    let seconds = (even.slice_ns as f64 / 1e7).round() / 100.0;
    let sentence = || format!("measured once; its intervals of {seconds} s had {low} to {high}");
    (rates.len() > 1).then(sentence)
}

/// Returns the rate of all kinds of transaction; `None` if they are single operations.
fn transactions(group: &RepeatedCell) -> Option<f64> {
    let rates: Vec<f64> = group
        .cells
        .iter()
        .map(|cell| {
            distinct_transactions(cell)
                .map(|(_, kind)| kind.per_second)
                .sum()
        })
        .filter(|rate: &f64| *rate > 0.0 && rate.is_finite())
        .collect();
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
}

/// Returns a bar per group, or for the best of each workload if there are many.
///
/// Workloads measured by rate and by bandwidth have separate tables, and so separate axes.
fn overview(run: &Run, groups: &[RepeatedCell]) -> Markup {
    let shown = best_of_each_workload(groups, GROUPS_MAX);
    let hidden = groups.len() - shown.len();
    let parts = WorkloadMeasure::group_by_measure(shown, |group| WorkloadMeasure::of(group));
    // The caller passes at least two groups, so there is at least one part.
    let last = parts.len() - 1;
    html! {
        @for (index, (measure, groups)) in parts.iter().enumerate() {
            @let scope = if last > 0 { measure.scope() } else { "" };
            @let more = match hidden {
                count if count > 0 && index == last => format!("; {count} more cells are below"),
                _ => String::new(),
            };
            @let caption = format!("{}{scope}{more}", capital(measure.name()));
            (bars(run, *measure, groups, &caption))
        }
    }
}

/// Returns a bar per group on a shared axis. On narrow pages the style sheet shows each row as a
/// block, which removes the table semantics. So the roles are explicit.
fn bars(run: &Run, measure: WorkloadMeasure, groups: &[&RepeatedCell], caption: &str) -> Markup {
    let metric = measure.metric();
    let values: Vec<_> = groups.iter().map(|it| measured(it, metric)).collect();
    let most = axis_max(values.iter().flatten().copied());
    let note = within_run_note(values.iter().flatten().map(|(_, interval)| *interval));
    let (other, other_name) = match metric {
        Metric::BytesPerSecond => (Metric::PerSecond, "per second"),
        _ => (Metric::BytesPerSecond, "bandwidth"),
    };
    let others = [
        (other, other_name),
        (Metric::LatencyP50, "p50"),
        (Metric::LatencyP99, "p99"),
    ];
    html! {
        (frame(caption, false, &html! {
            table.bars.headline role="table" {
                caption { span { (caption) } }
                thead role="rowgroup" {
                    tr role="row" {
                        th.name scope="col" role="columnheader" { "workload" }
                        th.name scope="col" role="columnheader" {
                            (measure.name()) ", with 95 % confidence where repeated"
                        }
                        @for (_, name) in others {
                            th scope="col" role="columnheader" { (name) }
                        }
                    }
                }
                tbody role="rowgroup" {
                    @for (group, value) in groups.iter().zip(&values) {
                        tr role="row" {
                            th scope="row" role="rowheader" {
                                (sentence(&run.naming.place(&group.identity)))
                            }
                            td.name role="cell" { (value_bar(metric, *value, most)) }
                            @for (metric, name) in others {
                                td role="cell" data-name=(name) { (value_or_dash(group, metric)) }
                            }
                        }
                    }
                }
            }
        }))
        @if let Some(note) = note { p.remark { (note) } }
    }
}

/// Formats the metric of a group; a dash if there is no value.
fn value_or_dash(group: &RepeatedCell, metric: Metric) -> String {
    let figure = group.figure(metric).filter(|figure| figure.mean > 0.0);
    figure.map_or_else(|| "–".to_owned(), |figure| metric.show(figure.mean))
}

/// A mean with its confidence interval.
type MeasuredValue = (f64, Option<BarInterval>);

fn measured(group: &RepeatedCell, metric: Metric) -> Option<MeasuredValue> {
    let figure = group.figure(metric)?;
    let within_run = group.interval_within_run(metric);
    Some((figure.mean, BarInterval::of(figure.interval, within_run)))
}

/// Returns a bar relative to `most`, and the value.
fn value_bar(metric: Metric, value: Option<MeasuredValue>, most: f64) -> Markup {
    let Some((mean, interval)) = value else {
        return html! { "–" };
    };
    let half = interval.and_then(BarInterval::half_over_repetitions);
    html! {
        div.bar.color-0 aria-hidden="true" {
            // The minimum avoids a division by 0 if all values are 0.
            (bar(mean, interval, |value| value / most.max(1e-9)))
        }
        span.number {
            (metric.show(mean))
            @if let Some(half) = half { small { " ± " (metric.show(half)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use results::RunRecord;

    use super::*;
    use crate::group::groups;
    use crate::sample;

    fn record(cells_count: usize) -> RunRecord {
        let mut record = sample::record();
        let cell = record.cells[0].clone();
        record.cells = (0..cells_count)
            .map(|index| {
                let mut cell = cell.clone();
                cell.iodepth = index as u32 + 1;
                cell.access_spec = Some(format!("spec {}", index / 10));
                cell.first_index = u32::try_from(index).ok();
                cell.total.per_second = (index % 10) as f64;
                cell
            })
            .collect();
        record
    }

    #[test]
    fn many_groups_are_reduced_to_the_best_of_each_workload() {
        let record = record(30);
        let groups = groups(&record);
        let depths: Vec<u32> = best_of_each_workload(&groups, GROUPS_MAX)
            .iter()
            .map(|group| group.identity.iodepth)
            .collect();
        assert_eq!(depths, [10, 20, 30]);
        assert_eq!(best_of_each_workload(&groups[..12], GROUPS_MAX).len(), 12);
    }

    #[test]
    fn large_transfers_have_their_own_bandwidth_axis() {
        let mut record = record(2);
        let total = &mut record.cells[1].total;
        total.bytes = total.count << 20;
        total.bytes_per_second = 3e9;
        let runs = Run::all(std::slice::from_ref(&record));
        let page = headline(&runs[0]).into_string();
        assert_eq!(page.matches("<table").count(), 2, "{page}");
        assert!(page.contains("Bandwidth of transfers of 64 KiB or more"));
        // Each is the longest of its own axis.
        record.cells[0].total.per_second = 5.0;
        let runs = Run::all(std::slice::from_ref(&record));
        let page = headline(&runs[0]).into_string();
        assert_eq!(page.matches("width:100.00%").count(), 2, "{page}");
    }

    #[test]
    fn a_cell_measured_once_shows_how_its_intervals_varied() {
        let mut record = record(1);
        assert_eq!(rate_range(&record.cells[0]), None);
        let first = record.cells[0].intervals[0].clone();
        record.cells[0].intervals.push(first);
        let text = rate_range(&record.cells[0]).unwrap();
        assert_eq!(
            text,
            "measured once; its intervals of 10 s had 1.000k to 1.000k"
        );
    }

    #[test]
    fn a_bar_shows_the_half_width_over_repetitions() {
        let shown = |interval| value_bar(Metric::PerSecond, Some((50.0, interval)), 100.0);
        let page = shown(BarInterval::of(Some([40.0, 60.0]), None)).into_string();
        assert!(page.contains("50.00<small> ± 10.00</small>"), "{page}");
        let page = shown(BarInterval::of(None, Some([40.0, 60.0]))).into_string();
        assert!(!page.contains('±') && page.contains("within"), "{page}");
    }

    #[test]
    fn bars_measured_once_have_the_interval_from_within_the_run() {
        let mut record = record(2);
        let page = |record: &RunRecord| {
            let runs = Run::all(std::slice::from_ref(record));
            headline(&runs[0]).into_string()
        };
        assert!(!page(&record).contains("whisker"), "without an estimate");
        record.cells[1].within = Some(results::WithinRun {
            intervals: 30,
            mean: 1.0,
            stddev: 0.1,
            effective: Some(30.0),
            ci95_low: Some(0.9),
            ci95_high: Some(1.1),
            warm_up: None,
            drift: None,
        });
        let page = page(&record);
        assert_eq!(
            page.matches("class=\"whisker within\"").count(),
            1,
            "{page}"
        );
        assert!(page.contains("not from repetitions"), "{page}");
    }
}
