//! Descriptive statistics of a few numbers; `None` if there are too few.

/// The arithmetic mean.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The middle value, or the mean of the two in the middle.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    match sorted.len() % 2 {
        1 => Some(upper),
        _ => Some(f64::midpoint(sorted[sorted.len() / 2 - 1], upper)),
    }
}

/// The standard deviation of a sample (divisor n - 1); needs two values.
#[must_use]
pub fn stddev(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    // A second pass, because the difference of two large sums of squares would lose digits.
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_values_have_no_figures() {
        assert_eq!((mean(&[]), median(&[]), stddev(&[])), (None, None, None));
        assert_eq!(stddev(&[3.0]), None);
    }

    #[test]
    fn the_median_does_not_depend_on_order() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
    }

    #[test]
    fn mean_and_deviation_are_sample_statistics() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), Some(5.0));
        assert!((stddev(&values).unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn nan_values_do_not_panic() {
        assert!(median(&[f64::NAN, 1.0, 2.0]).is_some());
        assert!(mean(&[f64::NAN]).unwrap().is_nan());
        assert!(stddev(&[f64::NAN, 1.0]).unwrap().is_nan());
    }
}
