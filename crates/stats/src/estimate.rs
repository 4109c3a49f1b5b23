//! Mean of repeated measurements, with its uncertainty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantile;
use crate::{UncertainMean, describe};

/// Upper limit for the projected number of repetitions.
const REPETITIONS_MAX: u64 = 1_000_000;

/// The mean of repeated measurements with an interval that covers the true mean in 95 of 100 cases.
///
/// The interval is mean ± t · stddev / √n, with the two-sided 5 % point t of Student's distribution
/// with n - 1 degrees of freedom. It uses Student's t for every n: from n = 30 on, t is within 5 %
/// of the normal quantile and approaches it.
///
/// Source: Student, "The probable error of a mean", Biometrika 6, 1908.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Number of measurements.
    pub n: u64,
    /// Mean of the measurements.
    pub mean: f64,
    /// Lower end of the 95 % confidence interval; none for a single measurement.
    pub ci95_low: Option<f64>,
    /// Upper end of the 95 % confidence interval; none for a single measurement.
    pub ci95_high: Option<f64>,
    /// Standard deviation of the sample (divisor n - 1); none for a single measurement.
    pub stddev: Option<f64>,
}

impl Estimate {
    /// The estimate from measurements; `None` if there are none or one is not finite.
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

    /// Combines this estimate with another one of the same quantity, as if from all measurements.
    ///
    /// Source: Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm for computing
    /// sample variances", 1979.
    pub fn merge(&mut self, other: &Self) {
        let (n, m) = (self.n as f64, other.n as f64);
        let total = n + m;
        if total == 0.0 {
            return;
        }
        // From the distance of the means, because sums of large squares would lose digits.
        let apart = other.mean - self.mean;
        let squares = self.squares() + other.squares() + apart * apart * n * m / total;
        let mean = (self.mean * n + other.mean * m) / total;
        let count = self.n.saturating_add(other.n);
        // For a single measurement this is not a number; `from_moments` drops it.
        *self = Self::from_moments(count, mean, Some((squares / (total - 1.0)).sqrt()));
    }

    /// The sum of the squared distances from the mean.
    fn squares(&self) -> f64 {
        self.stddev.map_or(0.0, |stddev| {
            stddev * stddev * (self.n.saturating_sub(1)) as f64
        })
    }

    /// The estimate from the mean and the standard deviation of `n` measurements.
    #[must_use]
    pub fn from_moments(n: u64, mean: f64, stddev: Option<f64>) -> Self {
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

    /// Half the width of the confidence interval, in the unit of the mean.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        Some((self.ci95_high? - self.ci95_low?) / 2.0)
    }

    /// Half the width of the confidence interval as a share of the mean; `None` without interval
    /// or with a mean of 0.
    #[must_use]
    pub fn relative_error(&self) -> Option<f64> {
        let half = self.half_width()?;
        (self.mean != 0.0).then(|| half / self.mean.abs())
    }

    /// Total number of measurements needed for a half-width of `precision` (a share of the mean),
    /// if further ones vary like those so far; never less than `n`.
    ///
    /// `None` without a standard deviation, for a mean of 0, for a precision of 0 or less, and if
    /// more than a million would be needed.
    #[must_use]
    pub fn repetitions_for(&self, precision: f64) -> Option<u64> {
        let variation = self.stddev? / self.mean.abs();
        if !(variation.is_finite() && precision > 0.0) {
            return None;
        }
        // The normal quantile is smaller than t, so no smaller number can be enough.
        let at_least = (quantile::normal(0.975) * variation / precision).powi(2);
        // A single measurement has no interval.
        let from = (at_least as u64).max(self.n).max(2);
        (from..=REPETITIONS_MAX).find(|&n| {
            quantile_95(n).is_some_and(|t| t * variation / (n as f64).sqrt() <= precision)
        })
    }

    /// The smallest difference between two means that a test would find: two-sided 5 % level, power
    /// 80 %. Each mean is taken to have the `n` and `stddev` of this estimate.
    ///
    /// (t(0.975) + t(0.8)) · stddev · √(2/n) with 2n - 2 degrees of freedom, in the unit of the
    /// mean. Source: Bloom, "Minimum detectable effects", Evaluation Review 19, 1995.
    #[must_use]
    pub fn smallest_difference(&self) -> Option<f64> {
        let n = self.n as f64;
        let standard_error = self.stddev? * (2.0 / n).sqrt();
        quantile::detectable(standard_error, 2.0 * n - 2.0, 0.05)
    }

    /// The mean with its standard error; `None` for a single measurement.
    #[must_use]
    pub fn uncertain_mean(&self) -> Option<UncertainMean> {
        let n = self.n as f64;
        Some(UncertainMean {
            mean: self.mean,
            standard_error: self.stddev? / n.sqrt(),
            freedom: n - 1.0,
        })
    }
}

/// The factor of the two-sided 95 % interval of the mean of n measurements.
fn quantile_95(n: u64) -> Option<f64> {
    quantile::t_95(n.checked_sub(1)? as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simulated::Simulated;

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
    fn no_measurements_or_infinite_ones_have_no_estimate() {
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

    #[test]
    fn the_projection_finds_the_first_count_that_is_precise_enough() {
        let estimate = Estimate::from_samples(&[98.0, 100.0, 102.0]).unwrap();
        let n = estimate.repetitions_for(0.02).unwrap();
        let half = |n: u64| quantile_95(n).unwrap() * 0.02 / (n as f64).sqrt();
        assert_eq!(n, 7);
        assert!(half(n) <= 0.02 && half(n - 1) > 0.02);
        assert_eq!(estimate.repetitions_for(0.5), Some(3));
        assert_eq!(estimate.repetitions_for(1e-9), None);
        assert_eq!(estimate.repetitions_for(0.0), None);
        assert_eq!(estimate.repetitions_for(f64::NAN), None);
    }

    #[test]
    fn one_measurement_or_a_mean_of_zero_gives_no_projection() {
        let one = Estimate::from_samples(&[7.0]).unwrap();
        assert_eq!(one.repetitions_for(0.02), None);
        assert_eq!(one.smallest_difference(), None);
        assert!(one.uncertain_mean().is_none());
        let zero = Estimate::from_samples(&[-1.0, 1.0]).unwrap();
        assert_eq!(zero.repetitions_for(0.02), None);
    }

    #[test]
    fn the_smallest_difference_matches_the_tables() {
        // t(0.975; 8) = 2.3060 and t(0.8; 8) = 0.8889.
        let estimate = Estimate::from_samples(&[98.0, 99.0, 100.0, 101.0, 102.0]).unwrap();
        let wanted = (2.3060 + 0.8889) * 2.5_f64.sqrt() * 0.4_f64.sqrt();
        assert!((estimate.smallest_difference().unwrap() - wanted).abs() < 1e-3);
    }

    #[test]
    fn the_interval_holds_the_mean_in_95_of_100_cases() {
        let share = Simulated::new(1).share(4000, |simulated| {
            let estimate = Estimate::from_samples(&simulated.white(5, 100.0, 3.0)).unwrap();
            (estimate.ci95_low.unwrap()..estimate.ci95_high.unwrap()).contains(&100.0)
        });
        assert!((0.94..0.96).contains(&share), "{share}");
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
