//! Least-squares line through a series, as a function of the index.

use crate::describe;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FittedLine {
    /// Value of the line at index 0.
    pub first: f64,
    /// Value of the line at the last index.
    pub last: f64,
    /// Change per index.
    pub slope: f64,
    /// Sum of the squared distances of the indices from their mean.
    pub spread: f64,
}

impl FittedLine {
    /// The line with the smallest sum of squared vertical distances; needs two values.
    pub(crate) fn through(values: &[f64]) -> Option<Self> {
        let mean = describe::mean(values).filter(|_| values.len() > 1)?;
        let n = values.len() as f64;
        let middle = (n - 1.0) / 2.0;
        // In closed form, because the indices are evenly spaced.
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

    /// Differences between the values and the line.
    pub(crate) fn residuals(&self, values: &[f64]) -> Vec<f64> {
        let at = |index: u32| self.first + self.slope * f64::from(index);
        (0..)
            .zip(values)
            .map(|(index, value)| value - at(index))
            .collect()
    }

    /// Absolute difference between the ends of the line.
    pub(crate) fn excursion(&self) -> f64 {
        (self.last - self.first).abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_fitted_by_least_squares() {
        let line = FittedLine::through(&[1.0, 3.0, 2.0, 5.0]).unwrap();
        assert!((line.slope - 1.1).abs() < 1e-12);
        assert!((line.first - 1.1).abs() < 1e-12);
        assert!((line.last - 4.4).abs() < 1e-12);
        assert_eq!(line.spread, 5.0);
        let residuals = line.residuals(&[1.0, 3.0, 2.0, 5.0]);
        assert!(residuals.iter().sum::<f64>().abs() < 1e-12);
    }

    #[test]
    fn one_value_has_no_line() {
        assert_eq!(FittedLine::through(&[1.0]), None);
    }
}
