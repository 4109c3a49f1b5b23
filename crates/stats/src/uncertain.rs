//! A mean with its standard error, from any source.

use serde::{Deserialize, Serialize};

use crate::long_run::LongRunVariance;
use crate::{describe, quantile};

/// Minimum number of intervals from which the uncertainty of a run's mean is estimated.
///
/// With fewer, correlation between intervals cannot be distinguished from chance.
pub const INTERVALS_MIN: usize = 20;

/// A mean with its standard error, from repetitions or from the intervals of one run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UncertainMean {
    /// The mean, in the unit of its values.
    pub mean: f64,
    /// Standard error of the mean, in the same unit.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error, above 0.
    pub freedom: f64,
}

impl UncertainMean {
    /// The mean of one run's intervals. Its standard error allows for their correlation: it comes
    /// from the lowest frequencies of the series. `docs/methodology.md` explains this under "Within
    /// one run".
    ///
    /// The error covers only variation within the run. It does not include what differs between
    /// runs (file layout, state of the device, other load), so the true uncertainty is larger.
    ///
    /// `None` for fewer than [`INTERVALS_MIN`] intervals or if one is not finite.
    #[must_use]
    pub fn of_series(values: &[f64]) -> Option<Self> {
        if values.len() < INTERVALS_MIN || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let long_run = LongRunVariance::of(values);
        Some(Self {
            mean: describe::mean(values)?,
            standard_error: long_run.variance.sqrt(),
            freedom: long_run.degrees_of_freedom,
        })
    }

    /// Number of independent values with standard deviation `stddev` whose mean is equally certain;
    /// at most `count`, the number of correlated values.
    #[must_use]
    pub fn effective(&self, stddev: f64, count: usize) -> f64 {
        let worth = (stddev / self.standard_error).powi(2);
        // A constant series has a standard error of 0, so the ratio can be infinite.
        worth.min(count as f64)
    }

    /// Half the width of the 95 % confidence interval, in the unit of the mean.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        Some(quantile::t_95(self.freedom)? * self.standard_error)
    }

    /// The standard error as a share of the mean; `None` if the mean is not above 0.
    #[must_use]
    pub fn relative(&self) -> Option<f64> {
        (self.mean > 0.0).then(|| self.standard_error / self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Estimate;
    use crate::simulated::Simulated;

    const ROUNDS: u32 = 2000;

    /// How often the interval of one run's mean holds the true mean.
    fn coverage(seed: u64, truth: f64, mut series: impl FnMut(&mut Simulated) -> Vec<f64>) -> f64 {
        Simulated::new(seed).share(ROUNDS, |simulated| {
            let mean = UncertainMean::of_series(&series(simulated)).unwrap();
            (mean.mean - truth).abs() <= mean.half_width().unwrap()
        })
    }

    #[test]
    fn the_interval_of_one_run_has_its_nominal_coverage() {
        for count in [20, 25, 30, 40, 60, 100, 300] {
            for phi in [-0.3, 0.0, 0.3, 0.5, 0.7] {
                let covered = coverage(5, 1000.0, |simulated| {
                    simulated.ar1(count, phi, 1000.0, 30.0)
                });
                println!("| {count} | {phi} | {:.1} |", covered * 100.0);
                assert!(
                    (0.925..=0.97).contains(&covered),
                    "{count} {phi}: {covered}"
                );
            }
        }
    }

    #[test]
    fn rare_stalls_are_covered_once_a_run_has_enough_of_them() {
        // Of 20 intervals, 36 in 100 runs have none, and nothing in such a run tells of them.
        for (count, at_least) in [
            (20, 0.70),
            (40, 0.84),
            (60, 0.90),
            (100, 0.92),
            (300, 0.935),
        ] {
            let covered = coverage(6, 975.0, |simulated| {
                let white = simulated.white(count, 1000.0, 30.0);
                simulated.add_stalls(white, 0.05, 0.5)
            });
            println!("| {count} | stalls | {:.1} |", covered * 100.0);
            assert!((at_least..=0.97).contains(&covered), "{count}: {covered}");
        }
    }

    #[test]
    fn the_uncorrected_interval_would_miss_in_every_fourth_case() {
        let covered = Simulated::new(5).share(2000, |simulated| {
            let series = simulated.ar1(60, 0.5, 1000.0, 30.0);
            let naive = Estimate::from_samples(&series).unwrap();
            (naive.ci95_low.unwrap()..=naive.ci95_high.unwrap()).contains(&1000.0)
        });
        assert!((0.70..0.78).contains(&covered), "{covered}");
    }

    #[test]
    fn too_short_a_run_has_no_uncertainty_estimate() {
        let series = Simulated::new(1).white(INTERVALS_MIN, 10.0, 1.0);
        assert!(UncertainMean::of_series(&series).is_some());
        assert!(UncertainMean::of_series(&series[1..]).is_none());
    }

    #[test]
    fn correlation_reduces_and_alternation_does_not_raise_the_worth() {
        let worth = |values: &[f64]| {
            let stddev = describe::stddev(values).unwrap();
            let mean = UncertainMean::of_series(values).unwrap();
            mean.effective(stddev, values.len())
        };
        let alternating: Vec<f64> = (0..100).map(|index| f64::from(index % 2)).collect();
        assert_eq!(worth(&alternating), 100.0);
        let climb: Vec<f64> = (0..60).map(f64::from).collect();
        assert!(worth(&climb) < 10.0);
        let correlated = Simulated::new(11).ar1(300, 0.7, 100.0, 5.0);
        assert!(worth(&correlated) < 150.0);
    }

    #[test]
    fn a_constant_run_is_certain() {
        let mean = UncertainMean::of_series(&[5.0; 40]).unwrap();
        assert_eq!((mean.mean, mean.half_width()), (5.0, Some(0.0)));
        assert_eq!(mean.relative(), Some(0.0));
        assert_eq!(mean.effective(0.0, 40), 40.0);
    }
}
