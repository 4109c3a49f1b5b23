//! Where a series of measurements changes its level, and stays there.

use std::cmp::Ordering;

use crate::describe::median;
use crate::draw::Draws;

/// A stretch of fewer is no level.
const LEVEL_MIN: usize = 4;
/// Random orders that a series is held against.
const ORDERS: usize = 999;
/// A change that random orders show more often than that may be chance.
const CHANCE_MAX: f64 = 0.05;
/// Of the random orders: the same series has the same changes each time.
const SEED: u64 = 0x6368_616e_6765;

/// A place from which on a series has another level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value of the new level.
    pub index: usize,
    /// Median of the level before.
    pub before: f64,
    /// Median of the level that begins.
    pub after: f64,
    /// How often so clear a change would be found in one place or another, were there none.
    pub p_value: f64,
}

impl ChangePoint {
    /// The changes of a series in order, each between two levels of at least four values; none
    /// where a value is not a number.
    ///
    /// The place is where ranks before and behind differ most, which takes the values to have no
    /// distribution in particular: Pettitt, "A non-parametric approach to the change-point
    /// problem", Applied Statistics 28, 1979. Whether it is one is told by how often the same
    /// values in random orders differ as much somewhere (at most one in 20), since Pettitt's limit
    /// needs longer series. Both stretches are then looked at in the same way: Vostrikova,
    /// "Detecting 'disorder' in multidimensional random processes", Soviet Mathematics Doklady 24,
    /// 1981.
    #[must_use]
    pub fn all_of(values: &[f64]) -> Vec<Self> {
        if values.iter().any(|value| !value.is_finite()) {
            return Vec::new();
        }
        let mut found = Vec::new();
        // Not recursion, whose depth would be that of the series.
        let mut stretches = vec![(0, values.len())];
        while let Some((begin, end)) = stretches.pop() {
            if let Some((length, p_value)) = split(&values[begin..end]) {
                found.push((begin + length, p_value));
                stretches.extend([(begin, begin + length), (begin + length, end)]);
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

/// How long the first level of a series is that has two, and by what chance it would seem so.
fn split(values: &[f64]) -> Option<(usize, f64)> {
    if values.len() < 2 * LEVEL_MIN {
        return None;
    }
    let mut ranks = doubled_ranks(values);
    let (length, most) = clearest(&ranks)?;
    let mut draws = Draws::new(SEED);
    let mut as_clear = 1;
    for _ in 0..ORDERS {
        draws.shuffle(&mut ranks);
        as_clear += usize::from(clearest(&ranks).is_some_and(|(_, it)| it >= most));
    }
    let p_value = as_clear as f64 / (ORDERS + 1) as f64;
    (most > 0 && p_value <= CHANCE_MAX).then_some((length, p_value))
}

/// The length of the first part for which Pettitt's U is largest, with twice its size.
fn clearest(doubled_ranks: &[i64]) -> Option<(usize, u64)> {
    let count = doubled_ranks.len();
    let mean = count as i64 + 1;
    let mut sum = 0;
    let mut best = None;
    for (index, rank) in doubled_ranks.iter().enumerate() {
        sum += rank - mean;
        let length = index + 1;
        let is_level = length >= LEVEL_MIN && count - length >= LEVEL_MIN;
        let is_more = best.is_none_or(|(_, most)| sum.unsigned_abs() > most);
        if is_level && is_more {
            best = Some((length, sum.unsigned_abs()));
        }
    }
    best
}

/// Ranks from 1, times two: equal values share the mean of theirs.
fn doubled_ranks(values: &[f64]) -> Vec<i64> {
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
    fn a_level_that_changes_is_found_where_it_changes() {
        let values = [level(1, 12, 100.0), level(2, 9, 90.0), level(3, 15, 105.0)].concat();
        let found = ChangePoint::all_of(&values);
        assert_eq!(places(&values), [12, 21]);
        assert!((found[0].before - 100.0).abs() < 1.5 && (found[0].after - 90.0).abs() < 1.5);
        assert!(found.iter().all(|it| it.p_value <= 0.05));
        assert_eq!(ChangePoint::all_of(&values), found);
        // Four and four are the fewest.
        assert_eq!(places(&[1.0, 1.1, 1.2, 1.3, 2.0, 2.1, 2.2, 2.3]), [4]);
        assert_eq!(places(&[1.0, 1.1, 1.2, 2.0, 2.1, 2.2]), [0; 0]);
    }

    #[test]
    fn one_outlier_equal_values_and_what_is_no_number_are_no_change() {
        let mut values = vec![5.0; 30];
        assert_eq!(places(&values), [0; 0]);
        values[13] = 900.0;
        assert_eq!(places(&values), [0; 0]);
        values[13] = f64::NAN;
        assert_eq!(places(&values), [0; 0]);
        assert_eq!(places(&[]), [0; 0]);
    }

    #[test]
    fn a_series_without_change_shows_one_in_one_of_twenty() {
        let alarms = (0..200)
            .filter(|seed| !ChangePoint::all_of(&level(1000 + seed, 25, 100.0)).is_empty())
            .count();
        assert!((1..=22).contains(&alarms), "{alarms}");
    }
}
