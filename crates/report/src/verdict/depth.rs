//! Advice from a sweep over queue depths.

use std::collections::HashMap;

use units::format;

use crate::group::{CellIdentity, GroupFigure, Metric, Naming, RepeatedCell};
use crate::measure::WorkloadMeasure;

use super::rate::UncertainRate;

/// Rates of at least this share of the peak count as equally good.
const EQUAL_SHARE_MIN: f64 = 0.95;
/// Fewer depths have no knee.
const DEPTHS_MIN: usize = 3;
/// A latency has grown if it exceeds the other by this factor.
const GROWTH_FACTOR: f64 = 1.1;

/// Point at which a sweep reaches its peak, or nearly so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Knee {
    /// Smallest queue depth that is as good as the best one.
    pub depth: u32,
    /// Rate at this depth.
    pub rate: f64,
    /// Rate relative to the peak, from 0 to 1.
    pub share: f64,
}

/// Results at one queue depth.
#[derive(Debug, Clone, Copy)]
struct DepthPoint {
    depth: u32,
    rate: UncertainRate,
    p50: Option<GroupFigure>,
}

/// Returns lists of groups that differ only in queue depth, in ascending order. Lists with fewer
/// than `depths_min` depths are omitted.
pub(crate) fn sweeps<'a, 'b>(
    groups: &'b [RepeatedCell<'a>],
    depths_min: usize,
) -> Vec<(CellIdentity<'a>, Vec<&'b RepeatedCell<'a>>)> {
    let mut lines: Vec<(CellIdentity, Vec<&RepeatedCell>)> = Vec::new();
    // A table instead of a search: a program may have tens of thousands of phases.
    let mut indexes = HashMap::new();
    for group in groups {
        let identity = group.identity.at_any_depth();
        let index = *indexes.entry(identity).or_insert(lines.len());
        match lines.get_mut(index) {
            Some((_, groups)) => groups.push(group),
            None => lines.push((identity, vec![group])),
        }
    }
    for (_, groups) in &mut lines {
        groups.sort_by_key(|group| group.identity.iodepth);
    }
    lines.retain(|(_, groups)| {
        let mut depths: Vec<u32> = groups.iter().map(|it| it.identity.iodepth).collect();
        depths.dedup();
        depths.len() >= depths_min
    });
    lines
}

/// Returns the advice from each sweep of a run, in one sentence each.
pub(super) fn advice(groups: &[RepeatedCell], naming: &Naming) -> Vec<String> {
    // An open loop achieves the requested rate at any depth, so it has no knee.
    let is_closed = |group: &&RepeatedCell| {
        group.identity.rate_bits.is_none() && group.cells.iter().all(|cell| cell.curve.is_none())
    };
    let closed: Vec<RepeatedCell> = groups.iter().filter(is_closed).cloned().collect();
    let sweeps = sweeps(&closed, DEPTHS_MIN);
    let is_alone = sweeps.len() == 1;
    let sentence = |(identity, groups): &(CellIdentity, Vec<&RepeatedCell>)| {
        let metric = WorkloadMeasure::of(groups[0]).metric();
        let text = advice_text(&points(groups, metric), metric)?;
        Some(match is_alone {
            true => text,
            false => format!("{}: {text}", naming.line(identity)),
        })
    };
    sweeps.iter().filter_map(sentence).collect()
}

fn points(groups: &[&RepeatedCell], metric: Metric) -> Vec<DepthPoint> {
    let point = |group: &&RepeatedCell| {
        Some(DepthPoint {
            depth: group.identity.iodepth,
            rate: UncertainRate::of(group, metric)?,
            p50: group.figure(Metric::LatencyP50),
        })
    };
    groups.iter().filter_map(point).collect()
}

impl Knee {
    /// Returns the knee of groups that differ only in queue depth, in ascending order; `None` if
    /// there are few.
    pub fn of(groups: &[&RepeatedCell], metric: Metric) -> Option<Self> {
        knee(&points(groups, metric))
    }
}

fn peak(points: &[DepthPoint]) -> Option<&DepthPoint> {
    let by_rate = |a: &&DepthPoint, b: &&DepthPoint| a.rate.mean.total_cmp(&b.rate.mean);
    points.iter().max_by(by_rate)
}

fn knee(points: &[DepthPoint]) -> Option<Knee> {
    let peak = peak(points)?.rate.mean;
    let mut good = points
        .iter()
        .filter(|it| it.rate.mean >= EQUAL_SHARE_MIN * peak);
    // The points are in ascending order of depth, so the first one has the smallest depth.
    let found = good.next().filter(|_| points.len() >= DEPTHS_MIN)?;
    Some(Knee {
        depth: found.depth,
        rate: found.rate.mean,
        share: found.rate.mean / peak,
    })
}

/// Describes the advice from a sweep; `None` if there are few depths.
fn advice_text(points: &[DepthPoint], metric: Metric) -> Option<String> {
    let knee = knee(points)?;
    let peak = peak(points)?;
    let (first, last) = (points.first()?, points.last()?);
    let index = points.iter().position(|it| it.depth == knee.depth)?;
    let at = &points[index];
    let show = |rate: f64| match metric {
        Metric::PerSecond => format!("{} IOPS", format::iops(rate)),
        _ => metric.show(rate),
    };
    let p50 = at.p50.map_or_else(String::new, |p50| {
        format!(", p50 {}", Metric::LatencyP50.show(p50.mean))
    });
    let is_last = at.depth == last.depth;
    let summary = match knee.share {
        // Nothing beyond it was measured, so it may not be the peak.
        1.0.. if is_last => format!("the highest measured rate, {},", show(peak.rate.mean)),
        1.0.. => format!("the peak of {}", show(peak.rate.mean)),
        share => {
            // Rounded down, because 99.6 % is not the whole peak.
            let percent = (100.0 * share).floor();
            format!("{percent} % of the peak of {}", show(peak.rate.mean))
        }
    };
    let already = if at.depth == first.depth {
        "already "
    } else {
        ""
    };
    let beyond = match is_last {
        true => growth_note(points).to_owned(),
        false => deeper_queue_effect(at, peak, last, show),
    };
    let unsure = unsure(points, index, peak).map_or_else(String::new, |depth| {
        format!(" (depth {depth} may be as good, within the intervals)")
    });
    Some(format!(
        "{already}{summary} at depth {}{p50}{unsure}{beyond}",
        at.depth
    ))
}

/// Describes the consequence if the deepest queue is the best.
fn growth_note(points: &[DepthPoint]) -> &'static str {
    let [.., before, last] = points else {
        return "";
    };
    // Overlapping intervals do not show that the rate grows.
    match before.rate.bounds[1] < last.rate.bounds[0] {
        true => "; the rate still grows there",
        false => "; no deeper queue was measured",
    }
}

/// Describes the effect of deeper queues than the knee.
fn deeper_queue_effect(
    at: &DepthPoint,
    peak: &DepthPoint,
    last: &DepthPoint,
    show: impl Fn(f64) -> String,
) -> String {
    // Even the upper end must be below, so that chance is not reported as slower.
    if last.rate.bounds[1] < EQUAL_SHARE_MIN * peak.rate.bounds[0] {
        let rate = show(last.rate.mean);
        return format!(
            "; deeper queues are slower ({rate} at depth {})",
            last.depth
        );
    }
    match (at.p50, last.p50) {
        (Some(here), Some(there)) if there.mean > GROWTH_FACTOR * here.mean => {
            let p50 = Metric::LatencyP50.show(there.mean);
            format!(
                "; beyond it only latency grows (p50 {p50} at depth {})",
                last.depth
            )
        }
        _ => "; deeper queues do not help".to_owned(),
    }
}

/// Returns the smallest depth below the knee that may be as good as the peak, within the confidence
/// intervals.
fn unsure(points: &[DepthPoint], knee: usize, peak: &DepthPoint) -> Option<u32> {
    let mut before = points[..knee].iter();
    let may_be = before.find(|it| it.rate.bounds[1] >= EQUAL_SHARE_MIN * peak.rate.bounds[0]);
    may_be.map(|it| it.depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(rates: &[(u32, f64, f64)], share: f64) -> Vec<DepthPoint> {
        let point = |(depth, rate, p50_ns): &(u32, f64, f64)| DepthPoint {
            depth: *depth,
            rate: UncertainRate::with_uncertainty(*rate, share),
            p50: Some(GroupFigure {
                mean: *p50_ns,
                interval: None,
                n: 1,
            }),
        };
        rates.iter().map(point).collect()
    }

    fn verdict_text(rates: &[(u32, f64, f64)], share: f64) -> String {
        advice_text(&sweep(rates, share), Metric::PerSecond).unwrap()
    }

    const SATURATED: [(u32, f64, f64); 5] = [
        (1, 10e3, 100e3),
        (4, 39e3, 103e3),
        (16, 96e3, 155e3),
        (32, 99e3, 320e3),
        (64, 100e3, 640e3),
    ];

    #[test]
    fn a_sweep_advises_the_smallest_depth_that_is_as_good_as_the_best() {
        assert_eq!(
            verdict_text(&SATURATED, 0.005),
            "96 % of the peak of 100.0k IOPS at depth 16, p50 155 µs; beyond it only latency \
             grows (p50 640 µs at depth 64)"
        );
        let knee = knee(&sweep(&SATURATED, 0.0)).unwrap();
        assert_eq!((knee.depth, knee.rate), (16, 96e3));
    }

    #[test]
    fn depths_that_intervals_cannot_distinguish_are_named() {
        let rates = [
            (1, 10e3, 1e5),
            (2, 90e3, 1e5),
            (4, 97e3, 1e5),
            (8, 1e5, 2e5),
        ];
        let text = verdict_text(&rates, 0.05);
        assert!(
            text.contains("(depth 2 may be as good, within the intervals)"),
            "{text}"
        );
        assert!(!verdict_text(&rates, 0.001).contains("may be as good"));
    }

    #[test]
    fn a_rate_still_growing_at_the_deepest_queue_suggests_a_deeper_one() {
        let rates = [(1, 10e3, 1e5), (2, 20e3, 1e5), (4, 40e3, 1e5)];
        let text = verdict_text(&rates, 0.01);
        assert!(
            text.starts_with("the highest measured rate, 40.00k IOPS, at depth 4, p50 100 µs"),
            "{text}"
        );
        assert!(text.ends_with("the rate still grows there"), "{text}");
        let text = verdict_text(&rates, 0.5);
        assert!(text.ends_with("no deeper queue was measured"), "{text}");
    }

    #[test]
    fn slower_and_ineffective_deep_queues_are_reported() {
        let falling = [(1, 100e3, 1e4), (2, 90e3, 2e4), (4, 70e3, 6e4)];
        let text = verdict_text(&falling, 0.01);
        assert!(
            text.starts_with("already the peak of 100.0k IOPS at depth 1"),
            "{text}"
        );
        assert!(
            text.ends_with("deeper queues are slower (70.00k IOPS at depth 4)"),
            "{text}"
        );
        let flat = [(1, 100e3, 1e4), (2, 100e3, 1e4), (4, 99e3, 1e4)];
        assert!(verdict_text(&flat, 0.01).ends_with("deeper queues do not help"));
    }

    #[test]
    fn two_depths_are_not_a_sweep() {
        assert_eq!(
            advice_text(&sweep(&SATURATED[..2], 0.0), Metric::PerSecond),
            None
        );
    }
}
