//! Rules about results over time.

use std::collections::BTreeMap;

use results::{CellRecord, IntervalRecord, LatencyCounts, RunRecord};

use super::rule::FindingList;
use super::{BoardRule, place};

/// From this number of equal intervals on, chance is excluded.
const EQUAL_INTERVALS_MIN: usize = 5;
/// From this number of operations on, an interval's count is equal to another's only by chance.
const EQUAL_COUNT_MIN: u64 = 100;

/// Checks the intervals of a cell.
pub(super) fn check(cell: &CellRecord, record: &RunRecord, found: &mut FindingList) {
    let intervals = &cell.intervals;
    // A steady cell's results come from its window, and time that stood still is left out.
    if intervals.is_empty() || cell.steady.is_some() || !cell.standstills.is_empty() {
        return;
    }
    sums(cell, found);
    lengths(cell, found);
    order(cell, found);
    let is_paced = record.plan.cell(cell.index).is_none_or(|planned| {
        let mut workers = planned.workers.iter();
        let has_delay = |it: &plan::WorkerPlan| it.lines.iter().any(|line| line.delay_ns > 0);
        planned.rate.is_some()
            || workers.any(|it| planned.has_rate(it) || has_delay(it) || it.job.is_some())
    });
    if let Some(what) = copies(intervals, is_paced) {
        let expected = format!("{what} that vary, as measured ones do");
        let actual = format!("{} equal intervals", intervals.len());
        found.add(BoardRule::Intervals, &place(cell), expected, actual);
    }
}

/// Checks that the lengths of the intervals add up to the measured time.
fn lengths(cell: &CellRecord, found: &mut FindingList) {
    let lengths = cell.intervals.iter().map(|it| it.length_ns);
    let longest = lengths.clone().max().unwrap_or(0);
    let sum = lengths.fold(0, u64::saturating_add);
    // What follows the last whole interval is in none. On a busy machine, a worker may be kept from
    // ending it for longer than an interval.
    let is_short = sum.saturating_add(2 * longest) < cell.run_time_ns;
    if is_short || sum > cell.run_time_ns.saturating_add(longest) {
        let expected = format!(
            "{} ns, give or take intervals of at most {longest} ns",
            cell.run_time_ns
        );
        let actual = format!("{sum} ns in all intervals");
        found.add(BoardRule::Intervals, &place(cell), expected, actual);
    }
}

/// Checks that the counts of the intervals add up to the cell's.
fn sums(cell: &CellRecord, found: &mut FindingList) {
    for (name, whole) in &cell.operations {
        let of = |it: &IntervalRecord| {
            it.operations
                .get(name)
                .map_or((0, 0), |it| (it.count, it.bytes))
        };
        let parts: Vec<(u64, u64)> = cell.intervals.iter().map(of).collect();
        for (unit, sum, most, whole) in [
            (
                "operations",
                sum(&parts, |it| it.0),
                largest(&parts, |it| it.0),
                whole.count,
            ),
            (
                "bytes",
                sum(&parts, |it| it.1),
                largest(&parts, |it| it.1),
                whole.bytes,
            ),
        ] {
            if sum.abs_diff(whole) > most {
                let at = format!("{}, {name}", place(cell));
                let expected = format!("{whole} {unit}, give or take an interval's {most}");
                found.add(
                    BoardRule::Intervals,
                    &at,
                    expected,
                    format!("{sum} in all intervals"),
                );
            }
        }
        distribution(cell, name, found);
    }
}

fn sum(parts: &[(u64, u64)], of: impl Fn(&(u64, u64)) -> u64) -> u64 {
    parts.iter().map(of).fold(0, u64::saturating_add)
}

fn largest(parts: &[(u64, u64)], of: impl Fn(&(u64, u64)) -> u64) -> u64 {
    parts.iter().map(of).max().unwrap_or(0)
}

/// Checks that the intervals' latencies add up to the cell's, if both have the same number of them.
fn distribution(cell: &CellRecord, name: &str, found: &mut FindingList) {
    let mut all = LatencyCounts::default();
    for counts in cell
        .intervals
        .iter()
        .filter_map(|it| it.latencies.get(name))
    {
        all.merge(counts);
    }
    let Some(whole) = cell
        .operation(name)
        .filter(|it| !it.latency.histogram.buckets_ns.is_empty())
    else {
        return;
    };
    let expected = LatencyCounts::of(&whole.latency.histogram());
    let [all, expected] = [all, expected].map(|it| steps(&it));
    let is_whole = all.values().sum::<u64>() == expected.values().sum::<u64>();
    if is_whole && all != expected {
        let differing = expected
            .iter()
            .find(|(step, count)| all.get(step) != Some(count));
        let step = differing.map_or(0, |(step, _)| *step);
        let at = format!("{}, latency of {name} in step {step}", place(cell));
        let count = |it: &BTreeMap<u32, u64>| it.get(&step).copied().unwrap_or(0).to_string();
        found.add(BoardRule::Intervals, &at, count(&expected), count(&all));
    }
}

fn steps(counts: &LatencyCounts) -> BTreeMap<u32, u64> {
    let steps = (counts.first_step..).zip(&counts.counts);
    steps
        .filter(|(_, count)| **count > 0)
        .map(|(step, count)| (step, *count))
        .collect()
}

fn order(cell: &CellRecord, found: &mut FindingList) {
    let has_gap = cell
        .intervals
        .windows(2)
        .any(|pair| pair[1].at_ns < pair[0].at_ns.saturating_add(pair[0].length_ns));
    if has_gap {
        let expected = "intervals one after the other".to_owned();
        found.add(
            BoardRule::Intervals,
            &place(cell),
            expected,
            "overlapping ones".to_owned(),
        );
    }
}

/// Names what all intervals have in common that measured ones do not.
fn copies(intervals: &[IntervalRecord], is_paced: bool) -> Option<&'static str> {
    // The last interval ends with the work, and the first begins with it.
    let inner = intervals.get(1..intervals.len().saturating_sub(1))?;
    if inner.len() < EQUAL_INTERVALS_MIN {
        return None;
    }
    let [first, rest @ ..] = inner else {
        return None;
    };
    let counts = |it: &IntervalRecord| it.operations.values().map(|it| it.count).sum::<u64>();
    let maxima = |it: &IntervalRecord| {
        it.operations
            .values()
            .map(|it| it.max_ns)
            .collect::<Vec<_>>()
    };
    let has_latency = maxima(first).iter().any(Option::is_some);
    if rest.iter().all(|it| it.length_ns == first.length_ns) && first.length_ns > 0 {
        return Some("lengths");
    }
    if has_latency && rest.iter().all(|it| maxima(it) == maxima(first)) {
        return Some("maximum latencies");
    }
    let is_alike = rest.iter().all(|it| counts(it) == counts(first));
    (is_alike && !is_paced && counts(first) >= EQUAL_COUNT_MIN).then_some("counts")
}
