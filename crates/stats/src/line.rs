//! The least-squares line through a series, over the index of its values.

use crate::describe;

/// A straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    /// Its value at index 0.
    pub first: f64,
    /// Its value at the last index.
    pub last: f64,
    /// Its change from one index to the next.
    pub slope: f64,
    /// The sum of the squared distances of the indices from their mean.
    pub spread: f64,
}

impl Line {
    /// The line with the smallest sum of squared vertical distances; needs two values.
    pub(crate) fn through(values: &[f64]) -> Option<Self> {
        let mean = describe::mean(values).filter(|_| values.len() > 1)?;
        let n = values.len() as f64;
        let middle = (n - 1.0) / 2.0;
        let spread = n * (n * n - 1.0) / 12.0;
        let products: f64 = (0..)
            .zip(values)
            .map(|(index, value)| (f64::from(index) - middle) * (value - mean))
            .sum();
        let slope = products / spread;
        Some(Self {
            first: mean - slope * middle,
            last: mean + slope * middle,
            slope,
            spread,
        })
    }

    /// What the line leaves of each value.
    pub(crate) fn residuals(&self, values: &[f64]) -> Vec<f64> {
        let at = |index: u32| self.first + self.slope * f64::from(index);
        (0..)
            .zip(values)
            .map(|(index, value)| value - at(index))
            .collect()
    }

    /// The difference between the line's ends, never negative.
    pub(crate) fn excursion(&self) -> f64 {
        (self.last - self.first).abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_that_of_least_squares() {
        let line = Line::through(&[1.0, 3.0, 2.0, 5.0]).unwrap();
        assert!((line.slope - 1.1).abs() < 1e-12);
        assert!((line.first - 1.1).abs() < 1e-12);
        assert!((line.last - 4.4).abs() < 1e-12);
        assert_eq!(line.spread, 5.0);
        let residuals = line.residuals(&[1.0, 3.0, 2.0, 5.0]);
        assert!(residuals.iter().sum::<f64>().abs() < 1e-12);
    }

    #[test]
    fn one_value_has_no_line() {
        assert_eq!(Line::through(&[1.0]), None);
    }
}
