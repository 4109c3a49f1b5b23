//! A figure that was measured several times, with its uncertainty.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::describe;

/// The mean of repeated measurements and the interval that holds the true mean in 95 of 100 cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// How many measurements there are.
    pub n: u64,
    /// Their mean.
    pub mean: f64,
    /// The lower end of the 95 % confidence interval; one measurement has none.
    pub ci95_low: Option<f64>,
    /// The upper end of the 95 % confidence interval; one measurement has none.
    pub ci95_high: Option<f64>,
    /// The standard deviation of a sample (divisor n - 1); one measurement has none.
    pub stddev: Option<f64>,
}

impl Estimate {
    /// The estimate from measurements; `None` if there are none or one is no finite number.
    #[must_use]
    pub fn from_samples(samples: &[f64]) -> Option<Self> {
        if !samples.iter().all(|sample| sample.is_finite()) {
            return None;
        }
        let mean = describe::mean(samples)?;
        Some(Self::from_moments(
            samples.len() as u64,
            mean,
            describe::stddev(samples),
        ))
    }

    /// The estimate from all measurements behind this and another estimate of the same figure.
    ///
    /// Source: Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm for computing
    /// sample variances", 1979.
    pub fn merge(&mut self, other: &Self) {
        let (n, m) = (self.n as f64, other.n as f64);
        let total = n + m;
        if total == 0.0 {
            return;
        }
        let apart = other.mean - self.mean;
        let squares = self.squares() + other.squares() + apart * apart * n * m / total;
        let mean = (self.mean * n + other.mean * m) / total;
        let count = self.n.saturating_add(other.n);
        *self = Self::from_moments(count, mean, Some((squares / (total - 1.0)).sqrt()));
    }

    /// The sum of the squared distances from the mean.
    fn squares(&self) -> f64 {
        self.stddev.map_or(0.0, |stddev| {
            stddev * stddev * (self.n.saturating_sub(1)) as f64
        })
    }

    fn from_moments(n: u64, mean: f64, stddev: Option<f64>) -> Self {
        let stddev = stddev.filter(|_| n > 1);
        let half = stddev.and_then(|stddev| Some(quantile_95(n)? * stddev / (n as f64).sqrt()));
        Self {
            n,
            mean,
            ci95_low: half.map(|half| mean - half),
            ci95_high: half.map(|half| mean + half),
            stddev,
        }
    }

    /// Half the width of the confidence interval as a share of the mean; `None` without interval
    /// or with a mean of 0.
    #[must_use]
    pub fn relative_error(&self) -> Option<f64> {
        let half = (self.ci95_high? - self.ci95_low?) / 2.0;
        (self.mean != 0.0).then(|| half / self.mean.abs())
    }
}

/// The factor of the two-sided 95 % interval of the mean of n measurements.
fn quantile_95(n: u64) -> Option<f64> {
    let freedom = n.checked_sub(1)? as f64;
    StudentsT::new(0.0, 1.0, freedom)
        .ok()
        .map(|t| t.inverse_cdf(0.975))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_measurement_has_no_interval() {
        let estimate = Estimate::from_samples(&[7.0]).unwrap();
        assert_eq!((estimate.n, estimate.mean), (1, 7.0));
        assert_eq!(
            (estimate.ci95_low, estimate.ci95_high, estimate.stddev),
            (None, None, None)
        );
        assert_eq!(estimate.relative_error(), None);
    }

    #[test]
    fn the_interval_uses_student_s_t() {
        // Source: tables of the t distribution, two-sided 95 %.
        for (n, wanted) in [
            (2, 12.7062),
            (3, 4.3027),
            (5, 2.7764),
            (10, 2.2622),
            (31, 2.0423),
        ] {
            assert!((quantile_95(n).unwrap() - wanted).abs() < 1e-3, "{n}");
        }
        let estimate = Estimate::from_samples(&[10.0, 12.0, 14.0]).unwrap();
        assert!((estimate.stddev.unwrap() - 2.0).abs() < 1e-12);
        let half = 4.302_653 * 2.0 / 3.0_f64.sqrt();
        assert!((estimate.ci95_low.unwrap() - (12.0 - half)).abs() < 1e-4);
        assert!((estimate.ci95_high.unwrap() - (12.0 + half)).abs() < 1e-4);
        assert!((estimate.relative_error().unwrap() - half / 12.0).abs() < 1e-4);
    }

    #[test]
    fn no_measurement_or_no_number_has_no_estimate() {
        assert_eq!(Estimate::from_samples(&[]), None);
        assert_eq!(Estimate::from_samples(&[1.0, f64::NAN]), None);
        assert_eq!(Estimate::from_samples(&[1.0, f64::INFINITY]), None);
    }

    #[test]
    fn equal_measurements_leave_no_uncertainty() {
        let estimate = Estimate::from_samples(&[3.0; 5]).unwrap();
        assert_eq!(
            (estimate.ci95_low, estimate.ci95_high),
            (Some(3.0), Some(3.0))
        );
    }

    fn close(a: Option<f64>, b: Option<f64>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * (1.0 + a.abs()),
            _ => a.is_none() && b.is_none(),
        }
    }

    proptest! {
        #[test]
        fn merging_equals_estimating_from_all(
            a in prop::collection::vec(-1e3..1e3_f64, 1..20),
            b in prop::collection::vec(-1e3..1e3_f64, 1..20),
        ) {
            let mut merged = Estimate::from_samples(&a).unwrap();
            merged.merge(&Estimate::from_samples(&b).unwrap());
            let all = Estimate::from_samples(&[a, b].concat()).unwrap();
            prop_assert_eq!(merged.n, all.n);
            prop_assert!(close(Some(merged.mean), Some(all.mean)));
            prop_assert!(close(merged.stddev, all.stddev));
            prop_assert!(close(merged.ci95_low, all.ci95_low));
            prop_assert!(close(merged.ci95_high, all.ci95_high));
        }
    }
}
