//! History with a bounded number of equally spaced points.

use std::ops::Range;

/// Limit for the number of points; at the limit, each pair of points is merged.
// Few terminals have more columns, and each column shows at least one point.
const POINTS_MAX: usize = 512;

/// Divides `count` points between `columns` columns. If there are fewer points, several columns
/// have the same one.
pub fn stretched(count: usize, columns: usize) -> impl Iterator<Item = Range<usize>> {
    let columns_used = if count == 0 { 0 } else { columns };
    (0..columns_used).map(move |column| {
        let start = column * count / columns;
        start..((column + 1) * count / columns).max(start + 1)
    })
}

/// A value that can be merged with its neighbors.
pub trait HistoryPoint: Sized {
    /// Combines several points into one.
    fn merged(points: &[Self]) -> Self;
}

impl HistoryPoint for u64 {
    /// The mean.
    fn merged(points: &[Self]) -> Self {
        let sum: u128 = points.iter().map(|value| u128::from(*value)).sum();
        Self::try_from(sum / points.len().max(1) as u128).unwrap_or(Self::MAX)
    }
}

impl HistoryPoint for Vec<u64> {
    /// The sums, octave by octave.
    fn merged(points: &[Self]) -> Self {
        let mut sums = Self::new();
        for point in points {
            sums.resize(sums.len().max(point.len()), 0);
            for (sum, count) in sums.iter_mut().zip(point) {
                *sum = sum.saturating_add(*count);
            }
        }
        sums
    }
}

/// Equally spaced points of the past. When there are too many, their spacing doubles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History<P = u64> {
    points: Vec<P>,
    /// Number of values per point.
    step: usize,
    /// Values of the incomplete point.
    pending: Vec<P>,
}

impl<P> Default for History<P> {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            step: 1,
            pending: Vec::new(),
        }
    }
}

impl<P: HistoryPoint> History<P> {
    pub(crate) fn push(&mut self, value: P) {
        self.pending.push(value);
        if self.pending.len() < self.step {
            return;
        }
        self.points.push(P::merged(&self.pending));
        self.pending.clear();
        if self.points.len() >= POINTS_MAX {
            // The limit is even, so every pair is complete and all points keep the same length.
            self.points = self.points.chunks(2).map(P::merged).collect();
            self.step *= 2;
        }
    }

    /// At most `limit` points, oldest first. If there are more, neighbors are merged, each result
    /// covering an equal share of the time.
    #[must_use]
    pub fn points(&self, limit: usize) -> Vec<P> {
        self.columns(self.points.len().min(limit))
    }

    /// One point for each of `count` columns, oldest first; none if there are no points.
    #[must_use]
    pub fn columns(&self, count: usize) -> Vec<P> {
        stretched(self.points.len(), count)
            .map(|points| P::merged(&self.points[points]))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_history_fits_the_available_columns() {
        let mut history = History::default();
        for value in 0..100_u64 {
            history.push(value);
        }
        assert_eq!(history.points(usize::MAX).len(), 100);
        assert_eq!(history.points(2), [24, 74]);
        assert_eq!(history.points(30).len(), 30);
        assert_eq!(history.points(0), [0; 0]);
    }

    #[test]
    fn a_short_history_fills_all_columns() {
        let mut history = History::default();
        assert_eq!(history.columns(5), [0; 0]);
        for value in 1..=2_u64 {
            history.push(value);
        }
        assert_eq!(history.columns(5), [1, 1, 1, 2, 2]);
    }

    #[test]
    fn distributions_add_up_however_long_a_run_takes() {
        let mut history: History<Vec<u64>> = History::default();
        for number in 0..2048 {
            history.push(vec![1; 1 + number % 3]);
        }
        let all = history.points(1).remove(0);
        assert_eq!(all, [2048, 1365, 682]);
    }
}
