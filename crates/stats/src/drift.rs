//! Trend over a whole run.

use serde::{Deserialize, Serialize};

use crate::line::FittedLine;
use crate::{autocorrelation, describe, quantile};

/// Minimum number of intervals for a test.
const INTERVALS_MIN: usize = 10;
/// Level of significance of a slope.
const SIGNIFICANCE_LEVEL: f64 = 0.01;
/// Upper limit of the estimated correlation of neighbors; above it, no test would be possible.
const CORRELATION_MAX: f64 = 0.95;

/// Linear trend over the intervals of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Change of the least-squares line per interval.
    pub slope_per_interval: f64,
    /// Difference between the line's end and start, as a share of the mean; negative if it falls.
    pub change: f64,
    /// Probability of a slope this steep without drift: two-sided, corrected for correlation.
    pub p_value: f64,
    /// Number of independent intervals that would carry the same information.
    pub effective: f64,
}

impl Drift {
    /// The drift of a run's intervals.
    ///
    /// Student's t test of the least-squares slope. The residuals count as n (1 - r) / (1 + r)
    /// values instead of n. r is the correlation of neighbors, corrected for its bias of -(2 + 4 r)
    /// / n after a line has been subtracted.
    ///
    /// `None` for fewer than 10 intervals, for a value that is not finite, and for a mean of 0.
    ///
    /// Source: Santer and others, "Statistical significance of trends and trend differences in
    /// layer-average atmospheric temperature time series", Journal of Geophysical Research 105,
    /// 2000, section 4; Shaman, Stine, "The bias of autoregressive coefficient estimators", Journal
    /// of the American Statistical Association 83, 1988.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.len() < INTERVALS_MIN || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let mean = describe::mean(values).filter(|mean| *mean != 0.0)?;
        let line = FittedLine::through(values)?;
        let residuals = line.residuals(values);
        let effective = effective_count(&residuals);
        let squares: f64 = residuals.iter().map(|residual| residual.powi(2)).sum();
        Some(Self {
            slope_per_interval: line.slope,
            change: (line.last - line.first) / mean.abs(),
            p_value: p_value(&line, squares, effective),
            effective,
        })
    }

    /// `true` if the slope is significant at 1 % and large enough to matter: the ends of the line
    /// differ by more than `excursion_max`, a share of the mean.
    ///
    /// Source: the usual limit is 10 %, from SNIA's steady state ([`crate::SteadyRule`]).
    #[must_use]
    pub fn is_beyond(&self, excursion_max: f64) -> bool {
        self.p_value < SIGNIFICANCE_LEVEL && self.change.abs() > excursion_max
    }
}

/// Number of independent values equivalent to the correlated residuals of a line; at least 3.
fn effective_count(residuals: &[f64]) -> f64 {
    let n = residuals.len() as f64;
    let observed = autocorrelation::lag_one(residuals);
    // A negative correlation would count more values than there are, so it counts as 0.
    let correlation = (observed + (2.0 + 4.0 * observed) / n).clamp(0.0, CORRELATION_MAX);
    // The line takes two degrees of freedom, and at least one must be left.
    (n * (1.0 - correlation) / (1.0 + correlation)).max(3.0)
}

fn p_value(line: &FittedLine, squares: f64, effective: f64) -> f64 {
    // A constant series would divide 0 by 0.
    if line.slope == 0.0 {
        return 1.0;
    }
    let freedom = effective - 2.0;
    let standard_error = (squares / freedom / line.spread).sqrt();
    quantile::two_sided_p_value(line.slope / standard_error, freedom).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::Simulated;

    #[test]
    fn noise_does_not_drift() {
        for (count, phi) in [
            (10, 0.0),
            (10, 0.5),
            (20, 0.5),
            (20, 0.7),
            (30, 0.0),
            (30, 0.5),
            (30, 0.7),
            (40, 0.3),
            (40, 0.7),
            (60, 0.5),
            (300, 0.7),
        ] {
            let alarms = Simulated::new(47).share(2000, |simulated| {
                let drift = Drift::of(&simulated.ar1(count, phi, 1000.0, 100.0)).unwrap();
                drift.is_beyond(0.0)
            });
            assert!(alarms <= 0.05, "{count} {phi}: {alarms}");
        }
    }

    #[test]
    fn a_fall_by_a_fifth_is_found_in_noise() {
        let share = Simulated::new(53).share(400, |simulated| {
            let mut values = simulated.ar1(60, 0.3, 1000.0, 30.0);
            (0..).zip(&mut values).for_each(|(index, value)| {
                *value *= 1.0 - 0.2 * f64::from(index) / 59.0;
            });
            let drift = Drift::of(&values).unwrap();
            drift.is_beyond(0.1) && (-0.3..-0.15).contains(&drift.change)
        });
        assert!(share > 0.99, "{share}");
    }

    #[test]
    fn a_slope_too_small_to_matter_is_no_drift() {
        let values: Vec<f64> = (0..1000).map(|index| 1e6 + f64::from(index)).collect();
        let drift = Drift::of(&values).unwrap();
        assert!(drift.p_value < 1e-6 && (drift.slope_per_interval - 1.0).abs() < 1e-9);
        assert!(drift.is_beyond(0.0) && !drift.is_beyond(0.1));
    }

    #[test]
    fn a_constant_run_is_flat() {
        let drift = Drift::of(&[5.0; 20]).unwrap();
        assert_eq!((drift.change, drift.p_value), (0.0, 1.0));
    }

    #[test]
    fn too_few_zero_or_infinite_values_have_no_drift() {
        assert_eq!(Drift::of(&[1.0; 9]), None);
        assert_eq!(Drift::of(&[0.0; 20]), None);
        assert_eq!(Drift::of(&[f64::INFINITY; 20]), None);
    }
}
