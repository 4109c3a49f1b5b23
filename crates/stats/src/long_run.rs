//! Uncertainty of the mean of a correlated series.

use std::f64::consts::PI;

use crate::autocorrelation;

/// One frequency per this many values: only the lowest frequencies have the variance of the mean.
const VALUES_PER_FREQUENCY: usize = 8;
const FREQUENCIES_MIN: usize = 3;
const FREQUENCIES_MAX: usize = 12;
/// Upper limit of the estimated correlation of neighbors.
const CORRELATION_MAX: f64 = 0.7;
/// Degrees of freedom per independent value: the correlation is itself only an estimate.
const FREEDOM_SHARE: f64 = 0.5;

/// Variance of the mean of a series, with its degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LongRunVariance {
    /// Variance of the mean.
    pub variance: f64,
    /// Degrees of freedom of the variance; above 0.
    pub degrees_of_freedom: f64,
}

impl LongRunVariance {
    /// Estimates the variance from at least 8 finite values.
    ///
    /// The mean is the component of the series at frequency 0, so the frequencies next to it show
    /// its variance. The estimate is the mean square of the first B cosine transforms. For
    /// independent values this leads to exactly Student's distribution with B degrees of freedom.
    /// Correlation raises low frequencies, the lowest most. Each is therefore scaled by the ratio
    /// of the spectrum at 0 to the spectrum there, for an autoregression with the correlation of
    /// neighbors (prewhitening). The larger that correlation, the less certain it is, so there are
    /// at most half as many degrees of freedom as independent values.
    ///
    /// Source: Müller, "A theory of robust long-run variance estimation", Journal of Econometrics
    /// 141, 2007; Lazarus, Lewis, Stock, Watson, "HAR inference: recommendations for practice",
    /// Journal of Business & Economic Statistics 36, 2018 (equal-weighted cosine estimator);
    /// Andrews, Monahan, "An improved heteroskedasticity and autocorrelation consistent covariance
    /// matrix estimator", Econometrica 60, 1992 (prewhitening).
    pub(crate) fn of(values: &[f64]) -> Self {
        let deviations = autocorrelation::deviations(values);
        let n = values.len() as f64;
        let correlation = correlation(&deviations);
        let frequencies = values.len() / VALUES_PER_FREQUENCY;
        let frequencies = frequencies.clamp(FREQUENCIES_MIN, FREQUENCIES_MAX);
        let squares: f64 = (1..=frequencies)
            .map(|index| {
                let frequency = PI * index as f64 / n;
                let power = transform(&deviations, frequency).powi(2);
                power * spectrum(correlation, 0.0) / spectrum(correlation, frequency)
            })
            .sum();
        let independent = n * (1.0 - correlation) / (1.0 + correlation);
        Self {
            // The factor 2/n turns the squares into squares of the transforms c(k). The last
            // division by n gives the variance of the mean.
            variance: squares * 2.0 / n / frequencies as f64 / n,
            degrees_of_freedom: (frequencies as f64).min(FREEDOM_SHARE * independent),
        }
    }
}

/// Correlation of neighbors, corrected for its bias of -(1 + 4 r) / n.
///
/// Source: Kendall, "Note on bias in the estimation of autocorrelation", Biometrika 41, 1954.
fn correlation(deviations: &[f64]) -> f64 {
    let n = deviations.len() as f64;
    let observed = autocorrelation::lag_one(deviations);
    // Solves observed = r - (1 + 4 r) / n for r.
    // A negative r would narrow the interval, so it counts as 0.
    ((n * observed + 1.0) / (n - 4.0)).clamp(0.0, CORRELATION_MAX)
}

/// Cosine transform of a series at a frequency in radians per value.
fn transform(deviations: &[f64], frequency: f64) -> f64 {
    let middles = (0..deviations.len()).map(|index| index as f64 + 0.5);
    let parts = deviations.iter().zip(middles);
    parts
        .map(|(value, middle)| value * (frequency * middle).cos())
        .sum()
}

/// Spectrum of an autoregression of order 1 at a frequency, relative to the variance of its
/// innovations.
fn spectrum(correlation: f64, frequency: f64) -> f64 {
    1.0 / (1.0 - 2.0 * correlation * frequency.cos() + correlation * correlation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::Simulated;
    use crate::{describe, mean};

    #[test]
    fn the_variance_matches_that_of_simulated_means() {
        // An AR(1) series is worth about (1 - phi) / (1 + phi) of its length.
        for (count, phi) in [(20, 0.0), (40, 0.0), (40, 0.3), (40, 0.5), (300, 0.7)] {
            let mut simulated = Simulated::new(3);
            let (mut variances, mut means) = (Vec::new(), Vec::new());
            for _ in 0..2000 {
                let series = simulated.ar1(count, phi, 100.0, 5.0);
                variances.push(LongRunVariance::of(&series).variance);
                means.push(mean(&series).unwrap());
            }
            let truth = describe::stddev(&means).unwrap().powi(2);
            let ratio = mean(&variances).unwrap() / truth;
            assert!((0.85..1.35).contains(&ratio), "{count} {phi}: {ratio}");
        }
    }

    #[test]
    fn correlation_leaves_fewer_degrees_of_freedom() {
        let freedom = |count, phi| {
            LongRunVariance::of(&Simulated::new(4).ar1(count, phi, 100.0, 5.0)).degrees_of_freedom
        };
        assert_eq!((freedom(24, 0.0), freedom(40, 0.0)), (3.0, 5.0));
        assert_eq!(freedom(300, 0.0), 12.0);
        assert!(freedom(40, 0.9) < 4.0);
    }

    #[test]
    fn a_constant_series_has_a_mean_without_variance() {
        assert_eq!(LongRunVariance::of(&[7.0; 20]).variance, 0.0);
    }
}
