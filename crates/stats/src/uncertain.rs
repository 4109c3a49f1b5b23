//! A mean with its standard error, wherever that came from.

use serde::{Deserialize, Serialize};

use crate::{EffectiveSamples, describe, quantile};

/// Intervals that a run must have before its own scatter says how uncertain its mean is.
///
/// With fewer the correlation between intervals cannot be told from chance.
pub const INTERVALS_MIN: usize = 20;

/// A mean with its standard error, from repetitions or from the intervals of one run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UncertainMean {
    /// The mean.
    pub mean: f64,
    /// Its standard error, in the same unit.
    pub standard_error: f64,
    /// Degrees of freedom behind the standard error, above 0.
    pub freedom: f64,
}

impl UncertainMean {
    /// The mean of one run's intervals, with a standard error that allows for their correlation:
    /// stddev / √n, n being the [effective](EffectiveSamples) number of intervals.
    ///
    /// It covers what varied within the run. What differs from run to run (layout of files, state
    /// of the device, other load) is not in it, so the true uncertainty is larger.
    ///
    /// `None` for fewer than [`INTERVALS_MIN`] intervals or where one is no finite number.
    #[must_use]
    pub fn of_series(values: &[f64]) -> Option<Self> {
        if values.len() < INTERVALS_MIN {
            return None;
        }
        let effective = EffectiveSamples::of(values)?.effective;
        Some(Self {
            mean: describe::mean(values)?,
            standard_error: describe::stddev(values)? / effective.sqrt(),
            freedom: effective - 1.0,
        })
    }

    /// Half the width of the 95 % confidence interval, in the unit of the mean.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        Some(quantile::t_95(self.freedom)? * self.standard_error)
    }

    /// The standard error as a share of the mean; `None` where the mean is not above 0.
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

    /// How often the interval of one run's mean holds the true mean.
    fn coverage(count: usize, phi: f64) -> f64 {
        Simulated::new(5).share(2000, |simulated| {
            let series = simulated.ar1(count, phi, 1000.0, 30.0);
            let mean = UncertainMean::of_series(&series).unwrap();
            (mean.mean - 1000.0).abs() <= mean.half_width().unwrap()
        })
    }

    #[test]
    fn the_interval_of_one_run_allows_for_correlation() {
        for (count, phi, at_least) in [
            (30, 0.0, 0.95),
            (30, 0.5, 0.91),
            (60, 0.3, 0.93),
            (60, 0.5, 0.92),
            (300, 0.5, 0.94),
            (300, 0.7, 0.93),
        ] {
            let seen = coverage(count, phi);
            assert!((at_least..0.985).contains(&seen), "{count} {phi}: {seen}");
        }
    }

    #[test]
    fn the_uncorrected_interval_would_be_wrong_in_every_fourth_case() {
        let seen = Simulated::new(5).share(2000, |simulated| {
            let series = simulated.ar1(60, 0.5, 1000.0, 30.0);
            let naive = Estimate::from_samples(&series).unwrap();
            (naive.ci95_low.unwrap()..=naive.ci95_high.unwrap()).contains(&1000.0)
        });
        assert!((0.70..0.78).contains(&seen), "{seen}");
    }

    #[test]
    fn too_short_a_run_says_nothing_about_itself() {
        let series = Simulated::new(1).white(INTERVALS_MIN, 10.0, 1.0);
        assert!(UncertainMean::of_series(&series).is_some());
        assert!(UncertainMean::of_series(&series[1..]).is_none());
    }

    #[test]
    fn a_constant_run_is_certain() {
        let mean = UncertainMean::of_series(&[5.0; 40]).unwrap();
        assert_eq!((mean.mean, mean.half_width()), (5.0, Some(0.0)));
        assert_eq!(mean.relative(), Some(0.0));
    }
}
