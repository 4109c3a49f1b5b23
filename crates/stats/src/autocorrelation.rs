//! Autocorrelation of neighboring values in a series.

use crate::describe;

/// Differences of the values from their mean.
pub(crate) fn deviations(values: &[f64]) -> Vec<f64> {
    let mean = describe::mean(values).unwrap_or_default();
    values.iter().map(|value| value - mean).collect()
}

/// Correlation of each value with the next one. The series must have mean 0; the result is 0 for a
/// constant series.
pub(crate) fn lag_one(deviations: &[f64]) -> f64 {
    let squares: f64 = deviations.iter().map(|value| value * value).sum();
    let products: f64 = deviations.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if squares > 0.0 {
        products / squares
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternating_values_anticorrelate_and_constant_ones_do_not() {
        let alternating: Vec<f64> = (0..100).map(|index| f64::from(index % 2)).collect();
        assert!((lag_one(&deviations(&alternating)) + 0.99).abs() < 1e-9);
        assert_eq!(lag_one(&deviations(&[7.0; 9])), 0.0);
        assert_eq!(lag_one(&[]), 0.0);
    }
}
