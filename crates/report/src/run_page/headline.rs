//! The figures that the reader came for, with their intervals.

use maud::{Markup, html};
use plan::CurvePart;
use results::{CellRecord, EvenRates};
use units::format;

use super::run::Run;
use crate::group::{Figure, Group, Metric};
use crate::html::{frame, sentence};
use crate::measure::Measure;
use crate::names::capital;
use crate::numbers::digits;
use crate::parts::{Counted, distinct_transactions};
use crate::verdict::searches;

/// So many groups are told one by one.
const GROUPS_MAX: usize = 12;

/// The headline of a run: large figures of the only group, or a bar for each.
#[must_use]
pub fn headline(run: &Run) -> Markup {
    // What was measured at rates that follow from a peak has charts of its own.
    let follows = |group: &&Group| group.cells[0].curve.is_some_and(CurvePart::follows_a_peak);
    let shown = run.groups.iter().filter(|group| !follows(group));
    let shown: Vec<Group> = shown.cloned().collect();
    let is_peak = shown.len() < run.groups.len();
    html! {
        (highest_rates(run))
        @match shown.as_slice() {
            [] => { p.nothing { "Nothing was measured." } }
            [only] => {
                @if is_peak {
                    p.tiles-of { "Without a rate, each request behind the one before it:" }
                }
                (tiles(only))
            }
            several => { (overview(run, several)) }
        }
    }
}

/// The highest rates at which response times held, as far as they are known.
fn highest_rates(run: &Run) -> Markup {
    let known = searches(run.record, &run.naming).into_iter();
    let known = known.filter_map(|(search, _)| {
        let bracket = search.bracket();
        let (held, failed) = bracket.held.zip(bracket.failed)?;
        let middle = f64::midpoint(held, failed);
        let percent = digits(50.0 * (failed - held) / middle);
        let rate = format!("{} per second", format::iops(middle));
        let sure = format!("±{percent} %, {} trials", search.trials.len());
        let most = format::latency_ns(search.limit.most_ns);
        let label = format!("{} within {most} up to", search.limit.percentile.name());
        Some((label, rate, sure))
    });
    let known: Vec<(String, String, String)> = known.collect();
    html! {
        @if !known.is_empty() {
            dl.tiles {
                @for (label, rate, sure) in &known {
                    div.tile {
                        dt { (label) }
                        dd { (value(rate)) span.interval { (sure) } }
                    }
                }
            }
        }
    }
}

fn tiles(group: &Group) -> Markup {
    let counted = Counted::of(group.cells[0]);
    let latency = match counted {
        Counted::All => "latency",
        Counted::ReadsAndWrites => "read and write latency",
        Counted::FileOperations => "file operation latency",
    };
    let figures = [
        (counted.rate_name().to_owned(), Metric::PerSecond),
        ("bandwidth".to_owned(), Metric::BytesPerSecond),
        (format!("{latency}, p50"), Metric::LatencyP50),
        (format!("{latency}, p99"), Metric::LatencyP99),
    ];
    let moves = group.cells.iter().any(|cell| cell.total.bytes > 0);
    let is_of_files = counted == Counted::FileOperations;
    let iometer_transactions = transactions(group).filter(|_| !is_of_files);
    let shown = figures.into_iter().filter_map(|(label, metric)| {
        let figure = group.figure(metric)?;
        let is_shown = metric != Metric::BytesPerSecond || moves;
        is_shown.then_some((label, metric, figure))
    });
    html! {
        dl.tiles {
            @if let Some(figure) = group.figure(Metric::TransactionsPerSecond) {
                div.tile {
                    dt { "transactions per second" }
                    dd {
                        (value(&Metric::TransactionsPerSecond.show(figure.mean)))
                        span.interval { (interval(group, Metric::TransactionsPerSecond, figure)) }
                    }
                }
            }
            @for (label, metric, figure) in shown {
                div.tile {
                    dt { (label) }
                    dd {
                        (value(&metric.show(figure.mean)))
                        span.interval { (interval(group, metric, figure)) }
                    }
                }
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

/// A number with its unit smaller beside it.
pub fn value(text: &str) -> Markup {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    html! {
        span.value { (number) @if !unit.is_empty() { small { " " (unit) } } }
    }
}

/// The interval of confidence, or else how the figure varied within the cell.
fn interval(group: &Group, metric: Metric, figure: Figure) -> String {
    if let Some([low, high]) = figure.interval {
        let ends = format!("{} to {}", metric.show(low), metric.show(high));
        return format!("95 % confidence: {ends} ({} repetitions)", figure.n);
    }
    match (metric, group.cells.as_slice()) {
        (Metric::PerSecond, [cell]) => within(cell).unwrap_or_default(),
        (_, [_]) => String::new(),
        _ => format!("mean of {} repetitions", figure.n),
    }
}

/// The lowest and highest rate of a cell's intervals, of which those with few operations are taken
/// together.
fn within(cell: &CellRecord) -> Option<String> {
    let names = Counted::of(cell).names(cell)?;
    let even = EvenRates::of(&cell.intervals, &names, |figures| figures.count);
    let rates = even.per_second;
    let [low, high] = [
        rates.iter().copied().min_by(f64::total_cmp)?,
        rates.iter().copied().max_by(f64::total_cmp)?,
    ]
    .map(format::iops);
    let seconds = (even.slice_ns as f64 / 1e7).round() / 100.0;
    let told = || format!("measured once; its intervals of {seconds} s had {low} to {high}");
    (rates.len() > 1).then(told)
}

/// Transactions of all kinds per second, where they are not single operations.
fn transactions(group: &Group) -> Option<f64> {
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

/// A bar for each group, or for the best of each workload where there are many.
///
/// What is told by its rate and what is told by its bandwidth have tables, and so axes, of their
/// own.
fn overview(run: &Run, groups: &[Group]) -> Markup {
    let shown = chosen(groups);
    let hidden = groups.len() - shown.len();
    let parts = Measure::apart(shown, |group| Measure::of(group));
    let last = parts.len() - 1;
    html! {
        @for (place, (measure, groups)) in parts.iter().enumerate() {
            @let scope = if last > 0 { measure.scope() } else { "" };
            @let more = match hidden {
                count if count > 0 && place == last => format!("; {count} more cells are below"),
                _ => String::new(),
            };
            @let caption = format!("{}{scope}{more}", capital(measure.name()));
            (bars(run, *measure, groups, &caption))
        }
    }
}

/// A bar for each group on one axis. The script's style sets each row as a small block where the
/// page is narrow, so the roles of a table are written down.
fn bars(run: &Run, measure: Measure, groups: &[&Group], caption: &str) -> Markup {
    let metric = measure.metric();
    let ends = |figure: Figure| figure.interval.map_or(figure.mean, |[_, high]| high);
    let figures = groups.iter().filter_map(|group| group.figure(metric));
    let most = figures.map(ends).fold(0.0, f64::max);
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
                    @for group in groups {
                        tr role="row" {
                            th scope="row" role="rowheader" {
                                (sentence(&run.naming.place(&group.place)))
                            }
                            td.name role="cell" { (bar(metric, group.figure(metric), most, 0)) }
                            @for (metric, name) in others {
                                td role="cell" data-name=(name) { (shown_or_dash(group, metric)) }
                            }
                        }
                    }
                }
            }
        }))
    }
}

/// All groups where they are few, else the fastest of each workload, else the first of those.
fn chosen<'a, 'b>(groups: &'a [Group<'b>]) -> Vec<&'a Group<'b>> {
    if groups.len() <= GROUPS_MAX {
        return groups.iter().collect();
    }
    let mean = |group: &Group| {
        group
            .figure(Metric::PerSecond)
            .map_or(0.0, |figure| figure.mean)
    };
    let mut best: Vec<&Group> = Vec::new();
    for group in groups {
        match best
            .iter_mut()
            .find(|known| known.place.at_any_depth() == group.place.at_any_depth())
        {
            Some(known) if mean(group) > mean(known) => *known = group,
            Some(_) => {}
            None => best.push(group),
        }
    }
    best.truncate(GROUPS_MAX);
    best
}

/// The metric of a group for people, or a dash where there is nothing to tell.
#[must_use]
pub fn shown_or_dash(group: &Group, metric: Metric) -> String {
    let figure = group.figure(metric).filter(|figure| figure.mean > 0.0);
    figure.map_or_else(|| "–".to_owned(), |figure| metric.show(figure.mean))
}

/// A bar as long as the figure's share of `most`, the ends of its interval, and its number.
#[must_use]
pub fn bar(metric: Metric, figure: Option<Figure>, most: f64, color: usize) -> Markup {
    let Some(figure) = figure else {
        return html! { "–" };
    };
    let share = |value: f64| format!("{:.2}%", (100.0 * value / most.max(1e-9)).clamp(0.0, 100.0));
    let half = figure.interval.map(|[low, high]| (high - low) / 2.0);
    html! {
        div.bar.{ "color-" (color % 8) } aria-hidden="true" {
            div.fill style={ "width:" (share(figure.mean)) } {}
            @if let Some([low, high]) = figure.interval {
                div.whisker style={ "left:" (share(low)) ";width:" (share(high - low)) } {}
            }
        }
        span.number {
            (metric.show(figure.mean))
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
    fn many_groups_are_told_by_the_best_of_each_workload() {
        let record = record(30);
        let groups = groups(&record);
        let depths: Vec<u32> = chosen(&groups)
            .iter()
            .map(|group| group.place.iodepth)
            .collect();
        assert_eq!(depths, [10, 20, 30]);
        assert_eq!(chosen(&groups[..12]).len(), 12);
    }

    #[test]
    fn what_moves_large_blocks_has_an_axis_of_bandwidth_of_its_own() {
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
    fn a_cell_that_was_measured_once_tells_how_its_intervals_varied() {
        let mut record = record(1);
        assert_eq!(within(&record.cells[0]), None);
        let first = record.cells[0].intervals[0].clone();
        record.cells[0].intervals.push(first);
        let seen = within(&record.cells[0]).unwrap();
        assert_eq!(
            seen,
            "measured once; its intervals of 10 s had 1.000k to 1.000k"
        );
    }

    #[test]
    fn a_bar_shows_the_interval_of_its_figure() {
        let figure = Figure {
            mean: 50.0,
            interval: Some([40.0, 60.0]),
            n: 3,
        };
        let page = bar(Metric::PerSecond, Some(figure), 100.0, 9).into_string();
        assert!(page.contains("class=\"bar color-1\""), "{page}");
        assert!(page.contains("style=\"width:50.00%\""), "{page}");
        assert!(
            page.contains("style=\"left:40.00%;width:20.00%\""),
            "{page}"
        );
        assert!(page.contains("50.00<small> ± 10.00</small>"), "{page}");
    }
}
