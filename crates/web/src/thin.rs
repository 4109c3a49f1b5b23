//! Thins out long series of intervals, but keeps the extremes of each section.

use results::IntervalRecord;

/// At most `count` intervals (at least 2). From each section, the intervals with the lowest and the
/// highest rate are kept, so that no drop and no peak disappears.
pub(crate) fn thinned(intervals: Vec<IntervalRecord>, count: usize) -> Vec<IntervalRecord> {
    // At least one section, so that no cell disappears from a chart of many cells.
    let part_count = (count / 2).max(1);
    if intervals.len() <= part_count * 2 {
        return intervals;
    }
    let length = intervals.len();
    let mut kept = vec![false; length];
    for part in 0..part_count {
        let (begin, end) = (part * length / part_count, (part + 1) * length / part_count);
        let rates = intervals[begin..end].iter().map(rate).enumerate();
        let by_rate = |one: &(usize, f64), other: &(usize, f64)| one.1.total_cmp(&other.1);
        let lowest = rates.clone().min_by(by_rate);
        let highest = rates.max_by(by_rate);
        for (index, _) in lowest.into_iter().chain(highest) {
            kept[begin + index] = true;
        }
    }
    let pairs = intervals.into_iter().zip(kept);
    pairs
        .filter_map(|(it, is_kept)| is_kept.then_some(it))
        .collect()
}

fn rate(interval: &IntervalRecord) -> f64 {
    let count: u64 = interval.operations.values().map(|it| it.count).sum();
    count as f64 / interval.length_ns.max(1) as f64
}

#[cfg(test)]
mod tests {
    use results::IntervalFigures;

    use super::*;

    fn interval(second: u64, count: u64) -> IntervalRecord {
        let figures = IntervalFigures {
            count,
            ..IntervalFigures::default()
        };
        IntervalRecord {
            at_ns: second,
            length_ns: 1,
            operations: [("read".to_owned(), figures)].into(),
            ..IntervalRecord::default()
        }
    }

    #[test]
    fn thinning_keeps_the_only_drop_and_peak_of_a_long_run() {
        let rate = |second: u64| match second {
            777 => 1,
            4_242 => 9_999,
            _ => 100 + second % 3,
        };
        let all: Vec<_> = (0..10_000).map(|it| interval(it, rate(it))).collect();
        let kept = thinned(all.clone(), 200);
        assert!(kept.len() <= 200 && kept.len() > 100, "{}", kept.len());
        let has = |second| kept.iter().any(|it| it.at_ns == second);
        assert!(has(777) && has(4_242));
        assert!(kept.is_sorted_by_key(|it| it.at_ns));
        assert_eq!(thinned(all[..100].to_vec(), 200).len(), 100);
        assert_eq!(thinned(all, 0).len(), 2);
    }
}
