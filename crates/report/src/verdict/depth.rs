//! What a sweep over queue depths advises.

use std::collections::HashMap;

use units::format;

use crate::group::{Figure, Group, Metric, Naming, Place};
use crate::measure::Measure;

use super::rate::Rate;

/// A rate of this share of the peak is as good as the peak.
const AS_GOOD: f64 = 0.95;
/// Fewer depths have no knee.
const DEPTHS_MIN: usize = 3;
/// A latency that is higher by this share has grown.
const GROWN: f64 = 1.1;

/// Where a sweep reaches its peak, or nearly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Knee {
    /// The smallest queue depth that is as good as the best.
    pub depth: u32,
    /// Its rate.
    pub rate: f64,
    /// Its rate as a share of the highest.
    pub share: f64,
}

/// What was measured at one queue depth.
#[derive(Debug, Clone, Copy)]
struct DepthPoint {
    depth: u32,
    rate: Rate,
    p50: Option<Figure>,
}

/// The groups that differ in their queue depth alone, each list in rising order; those of fewer
/// than `depths_min` depths are left out.
pub(crate) fn sweeps<'a, 'b>(
    groups: &'b [Group<'a>],
    depths_min: usize,
) -> Vec<(Place<'a>, Vec<&'b Group<'a>>)> {
    let mut lines: Vec<(Place, Vec<&Group>)> = Vec::new();
    let mut indexes = HashMap::new();
    for group in groups {
        let place = group.place.at_any_depth();
        let index = *indexes.entry(place).or_insert(lines.len());
        match lines.get_mut(index) {
            Some((_, groups)) => groups.push(group),
            None => lines.push((place, vec![group])),
        }
    }
    for (_, groups) in &mut lines {
        groups.sort_by_key(|group| group.place.iodepth);
    }
    lines.retain(|(_, groups)| {
        let mut depths: Vec<u32> = groups.iter().map(|it| it.place.iodepth).collect();
        depths.dedup();
        depths.len() >= depths_min
    });
    lines
}

/// What every sweep of a run advises, a sentence each.
pub(super) fn advice(groups: &[Group], naming: &Naming) -> Vec<String> {
    let is_closed = |group: &&Group| {
        group.place.rate_bits.is_none() && group.cells.iter().all(|cell| cell.curve.is_none())
    };
    let closed: Vec<Group> = groups.iter().filter(is_closed).cloned().collect();
    let sweeps = sweeps(&closed, DEPTHS_MIN);
    let is_alone = sweeps.len() == 1;
    let said = |(place, groups): &(Place, Vec<&Group>)| {
        let metric = Measure::of(groups[0]).metric();
        let said = said(&points(groups, metric), metric)?;
        Some(match is_alone {
            true => said,
            false => format!("{}: {said}", naming.line(place)),
        })
    };
    sweeps.iter().filter_map(said).collect()
}

fn points(groups: &[&Group], metric: Metric) -> Vec<DepthPoint> {
    let point = |group: &&Group| {
        Some(DepthPoint {
            depth: group.place.iodepth,
            rate: Rate::of(group, metric)?,
            p50: group.figure(Metric::LatencyP50),
        })
    };
    groups.iter().filter_map(point).collect()
}

impl Knee {
    /// Where groups that differ in their queue depth alone, in its rising order, reach their peak;
    /// none for few of them.
    pub fn of(groups: &[&Group], metric: Metric) -> Option<Self> {
        knee(&points(groups, metric))
    }
}

fn peak(points: &[DepthPoint]) -> Option<&DepthPoint> {
    let by_rate = |a: &&DepthPoint, b: &&DepthPoint| a.rate.mean.total_cmp(&b.rate.mean);
    points.iter().max_by(by_rate)
}

fn knee(points: &[DepthPoint]) -> Option<Knee> {
    let peak = peak(points)?.rate.mean;
    let mut good = points.iter().filter(|it| it.rate.mean >= AS_GOOD * peak);
    let found = good.next().filter(|_| points.len() >= DEPTHS_MIN)?;
    Some(Knee {
        depth: found.depth,
        rate: found.rate.mean,
        share: found.rate.mean / peak,
    })
}

/// What a sweep advises, in a sentence; none for few depths.
fn said(points: &[DepthPoint], metric: Metric) -> Option<String> {
    let knee = knee(points)?;
    let peak = peak(points)?;
    let (first, last) = (points.first()?, points.last()?);
    let place = points.iter().position(|it| it.depth == knee.depth)?;
    let at = &points[place];
    let show = |rate: f64| match metric {
        Metric::PerSecond => format!("{} IOPS", format::iops(rate)),
        _ => metric.show(rate),
    };
    let p50 = at.p50.map_or_else(String::new, |p50| {
        format!(", p50 {}", Metric::LatencyP50.show(p50.mean))
    });
    let what = match knee.share {
        1.0.. => format!("the peak of {}", show(peak.rate.mean)),
        share => {
            let percent = (100.0 * share).floor();
            format!("{percent} % of the peak of {}", show(peak.rate.mean))
        }
    };
    let is_last = at.depth == last.depth;
    let already = if at.depth == first.depth {
        "already "
    } else {
        ""
    };
    let beyond = match is_last {
        true => still_grows(points).to_owned(),
        false => beyond(at, peak, last, show),
    };
    let unsure = unsure(points, place, peak).map_or_else(String::new, |depth| {
        format!(" (depth {depth} may be as good: the intervals do not tell)")
    });
    Some(format!(
        "{already}{what} at depth {}{p50}{unsure}{beyond}",
        at.depth
    ))
}

/// What follows where the deepest queue is the best.
fn still_grows(points: &[DepthPoint]) -> &'static str {
    let [.., before, last] = points else {
        return "";
    };
    match before.rate.ends[1] < last.rate.ends[0] {
        true => "; the rate still grows there, so a deeper queue may help",
        false => "; no deeper queue was measured",
    }
}

/// What queues beyond the knee bring.
fn beyond(
    at: &DepthPoint,
    peak: &DepthPoint,
    last: &DepthPoint,
    show: impl Fn(f64) -> String,
) -> String {
    if last.rate.ends[1] < AS_GOOD * peak.rate.ends[0] {
        let rate = show(last.rate.mean);
        return format!(
            "; deeper queues are slower ({rate} at depth {})",
            last.depth
        );
    }
    match (at.p50, last.p50) {
        (Some(here), Some(there)) if there.mean > GROWN * here.mean => {
            let p50 = Metric::LatencyP50.show(there.mean);
            format!(
                "; beyond it only latency grows (p50 {p50} at depth {})",
                last.depth
            )
        }
        _ => "; deeper queues do not help".to_owned(),
    }
}

/// The smallest queue depth that the intervals do not tell from one as good as the peak, where
/// that is less deep than the knee.
fn unsure(points: &[DepthPoint], knee: usize, peak: &DepthPoint) -> Option<u32> {
    let mut before = points[..knee].iter();
    let may_be = before.find(|it| it.rate.ends[1] >= AS_GOOD * peak.rate.ends[0]);
    may_be.map(|it| it.depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(rates: &[(u32, f64, f64)], share: f64) -> Vec<DepthPoint> {
        let point = |(depth, rate, p50_ns): &(u32, f64, f64)| DepthPoint {
            depth: *depth,
            rate: Rate::known_to(*rate, share),
            p50: Some(Figure {
                mean: *p50_ns,
                interval: None,
                n: 1,
            }),
        };
        rates.iter().map(point).collect()
    }

    fn told(rates: &[(u32, f64, f64)], share: f64) -> String {
        said(&sweep(rates, share), Metric::PerSecond).unwrap()
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
            told(&SATURATED, 0.005),
            "96 % of the peak of 100.0k IOPS at depth 16, p50 155 µs; beyond it only latency \
             grows (p50 640 µs at depth 64)"
        );
        let knee = knee(&sweep(&SATURATED, 0.0)).unwrap();
        assert_eq!((knee.depth, knee.rate), (16, 96e3));
    }

    #[test]
    fn what_intervals_do_not_tell_apart_is_said() {
        let rates = [
            (1, 10e3, 1e5),
            (2, 90e3, 1e5),
            (4, 97e3, 1e5),
            (8, 1e5, 2e5),
        ];
        let said = told(&rates, 0.05);
        assert!(
            said.contains("(depth 2 may be as good: the intervals do not tell)"),
            "{said}"
        );
        assert!(!told(&rates, 0.001).contains("may be as good"));
    }

    #[test]
    fn a_rate_that_still_grows_at_the_deepest_queue_asks_for_a_deeper_one() {
        let rates = [(1, 10e3, 1e5), (2, 20e3, 1e5), (4, 40e3, 1e5)];
        let said = told(&rates, 0.01);
        assert!(
            said.starts_with("the peak of 40.00k IOPS at depth 4, p50 100 µs"),
            "{said}"
        );
        assert!(
            said.ends_with("still grows there, so a deeper queue may help"),
            "{said}"
        );
        let said = told(&rates, 0.5);
        assert!(said.ends_with("no deeper queue was measured"), "{said}");
    }

    #[test]
    fn queues_that_slow_down_and_queues_that_change_nothing_are_told() {
        let falling = [(1, 100e3, 1e4), (2, 90e3, 2e4), (4, 70e3, 6e4)];
        let said = told(&falling, 0.01);
        assert!(
            said.starts_with("already the peak of 100.0k IOPS at depth 1"),
            "{said}"
        );
        assert!(
            said.ends_with("deeper queues are slower (70.00k IOPS at depth 4)"),
            "{said}"
        );
        let flat = [(1, 100e3, 1e4), (2, 100e3, 1e4), (4, 99e3, 1e4)];
        assert!(told(&flat, 0.01).ends_with("deeper queues do not help"));
    }

    #[test]
    fn two_depths_are_no_sweep() {
        assert_eq!(said(&sweep(&SATURATED[..2], 0.0), Metric::PerSecond), None);
    }
}
