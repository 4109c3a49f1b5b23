//! Lasting changes of level in a series of measurements.

use std::cmp::Ordering;

use crate::describe::median;
use crate::draw::SplitMixRng;

/// Minimum number of values in a level.
// Two levels of three values could never count: 2 of the 20 ways to divide six are as clear.
const LEVEL_MIN: usize = 4;
/// Number of random permutations that a series is compared with.
// No p-value is below 1/2000, so the halved limits end the search after seven levels.
const PERMUTATIONS: usize = 1999;
/// A change in the whole series is dismissed as chance if random permutations show it more often
/// than this.
const CHANCE_MAX: f64 = 0.05;
/// Fixed, so that the same series always has the same changes.
const SEED: u64 = 0x6368_616e_6765;

/// The point where a series changes to another level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value of the new level.
    pub index: usize,
    /// Median of the level before the change.
    pub before: f64,
    /// Median of the level that begins at `index`.
    pub after: f64,
    /// Probability of finding a change this clear anywhere in a series without changes.
    pub p_value: f64,
}

impl ChangePoint {
    /// The changes of a series in order, each between two levels of at least four values. Empty if
    /// a value is not finite.
    ///
    /// The test uses ranks, so it assumes no particular distribution. Its statistic is the largest
    /// difference between the ranks before and after a point (Pettitt, "A non-parametric approach
    /// to the change-point problem", Applied Statistics 28, 1979). A change counts if at most one
    /// in 20 random permutations of the values differs as much anywhere. Pettitt's own limit needs
    /// longer series. The position minimizes the sum of distances from the medians before and after
    /// it: Bai, "Least absolute deviation estimation of a shift", Econometric Theory 11, 1995. Both
    /// parts are then searched in the same way (Vostrikova, "Detecting 'disorder' in
    /// multidimensional random processes", Soviet Mathematics Doklady 24, 1981). Each level of the
    /// search can have twice as many parts, so the accepted probability is halved.
    #[must_use]
    pub fn all_of(values: &[f64]) -> Vec<Self> {
        if values.iter().any(|value| !value.is_finite()) {
            return Vec::new();
        }
        let mut found = Vec::new();
        // No recursion: its depth could reach the length of the series.
        let mut stretches = vec![(0, values.len(), CHANCE_MAX)];
        while let Some((begin, end, chance_max)) = stretches.pop() {
            let split = split(&values[begin..end]).filter(|(_, p_value)| *p_value <= chance_max);
            if let Some((length, p_value)) = split {
                let position = begin + length;
                found.push((position, p_value));
                let half = chance_max / 2.0;
                stretches.extend([(begin, position, half), (position, end, half)]);
            }
        }
        found.sort_by_key(|(index, _)| *index);
        let edges: Vec<usize> = std::iter::once(0)
            .chain(found.iter().map(|(index, _)| *index))
            .chain([values.len()])
            .collect();
        let level = |at: usize| median(&values[edges[at]..edges[at + 1]]).unwrap_or(f64::NAN);
        let changes = found.iter().enumerate();
        changes
            .map(|(at, (index, p_value))| Self {
                index: *index,
                before: level(at),
                after: level(at + 1),
                p_value: *p_value,
            })
            .collect()
    }
}

/// The best split of a series into two levels: length of the first level, and the p-value of the
/// change. `None` if the series is too short or constant.
fn split(values: &[f64]) -> Option<(usize, f64)> {
    if values.len() < 2 * LEVEL_MIN {
        return None;
    }
    let mut ranks = doubled_ranks(values);
    let most = doubled_pettitt(&ranks);
    let mut draws = SplitMixRng::new(SEED);
    // The series itself counts as one of the orders.
    let mut as_clear = 1;
    for _ in 0..PERMUTATIONS {
        draws.shuffle(&mut ranks);
        as_clear += usize::from(doubled_pettitt(&ranks) >= most);
    }
    let p_value = as_clear as f64 / (PERMUTATIONS + 1) as f64;
    // Ranks show that there is a change but not exactly where.
    (most > 0).then_some((first_length(values), p_value))
}

/// Length of the first level in the best-fitting split.
fn first_length(values: &[f64]) -> usize {
    let lengths = LEVEL_MIN..=values.len() - LEVEL_MIN;
    let distances = lengths.map(|length| {
        let (before, after) = values.split_at(length);
        // Distances from medians, which single outliers hardly move.
        (
            absolute_deviation(before) + absolute_deviation(after),
            length,
        )
    });
    let best = distances.min_by(|one, other| one.0.total_cmp(&other.0));
    best.map_or(values.len() / 2, |(_, length)| length)
}

/// Sum of the absolute distances of values from their median.
fn absolute_deviation(values: &[f64]) -> f64 {
    let middle = median(values).unwrap_or(0.0);
    values.iter().map(|value| (value - middle).abs()).sum()
}

/// Twice Pettitt's statistic: the largest difference between the ranks before and after a point.
fn doubled_pettitt(doubled_ranks: &[i64]) -> u64 {
    let count = doubled_ranks.len();
    let mean = count as i64 + 1;
    let mut sum = 0;
    let sums = doubled_ranks.iter().map(|rank| {
        sum += rank - mean;
        i64::unsigned_abs(sum)
    });
    let levels = sums.take(count - LEVEL_MIN).skip(LEVEL_MIN - 1);
    levels.max().unwrap_or(0)
}

/// Ranks from 1, times two so that they stay integers: equal values share the mean of their ranks.
fn doubled_ranks(values: &[f64]) -> Vec<i64> {
    // Quadratic, but a series has only one value per stored run.
    let rank = |value: &f64| {
        let count = |wanted: Ordering| {
            let same = values.iter().filter(|it| it.total_cmp(value) == wanted);
            same.count() as i64
        };
        2 * count(Ordering::Less) + count(Ordering::Equal) + 1
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::Simulated;

    /// Values around 100 that scatter by 1.
    fn level(seed: u64, count: usize, mean: f64) -> Vec<f64> {
        let mut simulated = Simulated::new(seed);
        (0..count).map(|_| mean + simulated.normal()).collect()
    }

    fn places(values: &[f64]) -> Vec<usize> {
        let all = ChangePoint::all_of(values);
        all.iter().map(|it| it.index).collect()
    }

    #[test]
    fn a_level_change_is_found_at_its_position() {
        let mut exact = 0;
        for seed in (0..300).step_by(3) {
            let means = [
                (seed, 12, 100.0),
                (seed + 1, 9, 90.0),
                (seed + 2, 15, 105.0),
            ];
            let values = means.map(|(seed, count, mean)| level(seed, count, mean));
            let values = values.concat();
            let found = ChangePoint::all_of(&values);
            let at = |position: usize| {
                let it = found.iter().find(|it| it.index == position);
                *it.unwrap_or_else(|| panic!("{seed}: {found:?}\n{values:?}"))
            };
            let (first, second) = (at(12), at(21));
            assert!((first.after - 90.0).abs() < 1.5 && (second.before - 90.0).abs() < 1.5);
            assert!(found.iter().all(|it| it.p_value <= 0.05));
            assert_eq!(ChangePoint::all_of(&values), found);
            exact += u32::from(found.len() == 2);
        }
        // The others have one more by chance.
        assert!(exact >= 88, "{exact}");
        // Four and four are the fewest.
        assert_eq!(places(&[1.0, 1.1, 1.2, 1.3, 2.0, 2.1, 2.2, 2.3]), [4]);
        assert_eq!(places(&[1.0, 1.1, 1.2, 2.0, 2.1, 2.2]), [0; 0]);
    }

    #[test]
    fn an_outlier_equal_values_and_nan_are_not_a_change() {
        let mut values = vec![5.0; 30];
        assert_eq!(places(&values), [0; 0]);
        values[13] = 900.0;
        assert_eq!(places(&values), [0; 0]);
        values[13] = f64::NAN;
        assert_eq!(places(&values), [0; 0]);
        assert_eq!(places(&[]), [0; 0]);
    }

    #[test]
    fn a_series_without_change_raises_an_alarm_in_5_of_100_cases() {
        let alarms = (0..200)
            .filter(|seed| !ChangePoint::all_of(&level(1000 + seed, 25, 100.0)).is_empty())
            .count();
        assert!((1..=22).contains(&alarms), "{alarms}");
    }
}
