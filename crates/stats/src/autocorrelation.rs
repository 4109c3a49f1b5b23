//! How much a series of correlated intervals is worth.

use serde::{Deserialize, Serialize};

use crate::describe;

/// Correlation is sought up to this part of a series; beyond, too few pairs are left.
const LAGS_PART: usize = 2;
/// An effective number below this leaves no degree of freedom.
const EFFECTIVE_MIN: f64 = 2.0;
/// A series must be so long before its correlation is looked at.
const COUNT_MIN: usize = 4;

/// How many independent intervals carry as much information as the correlated ones measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EffectiveSamples {
    /// How many intervals there are.
    pub count: u64,
    /// How many independent ones they are worth, from 2 to `count`.
    pub effective: f64,
}

impl EffectiveSamples {
    /// The effective number of samples of a series.
    ///
    /// n / τ, with τ = n · Var(mean) / stddev², where the variance of the mean comes from the sum
    /// of autocovariances that Geyer's initial monotone sequence keeps. Subtracting the mean of a
    /// short series makes its autocovariances too small by just that variance, so it is added to
    /// each of them and the sum is taken once more. A negative correlation never makes more of a
    /// series than it has intervals.
    ///
    /// `None` for fewer than 4 values or where one is no finite number.
    ///
    /// Source: Geyer, "Practical Markov chain Monte Carlo", Statistical Science 7, 1992, section
    /// 3.3; Anderson, "The statistical analysis of time series", 1971, section 8.2 for the bias.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.len() < COUNT_MIN || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let count = values.len() as u64;
        let n = values.len() as f64;
        let variance = describe::stddev(values)?.powi(2);
        if variance == 0.0 {
            return Some(Self {
                count,
                effective: n,
            });
        }
        let deviations = deviations(values);
        let first = variance_of_mean(&deviations, 0.0);
        let of_mean = variance_of_mean(&deviations, first);
        let effective = (variance / of_mean).clamp(EFFECTIVE_MIN, n);
        Some(Self { count, effective })
    }
}

/// The values less their mean.
pub(crate) fn deviations(values: &[f64]) -> Vec<f64> {
    let mean = describe::mean(values).unwrap_or_default();
    values.iter().map(|value| value - mean).collect()
}

/// The correlation of each value with the next, of a series around 0; 0 for a constant one.
pub(crate) fn lag_one(deviations: &[f64]) -> f64 {
    let squares: f64 = deviations.iter().map(|value| value * value).sum();
    let products: f64 = deviations.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if squares > 0.0 {
        products / squares
    } else {
        0.0
    }
}

/// The variance of a series' mean, the one that its autocovariances are too small by being known.
fn variance_of_mean(deviations: &[f64], missing: f64) -> f64 {
    let autocovariance = |lag: usize| autocovariance(deviations, lag) + missing;
    let pairs = deviations.len() / LAGS_PART / 2;
    let mut sum = 0.0;
    let mut smallest = f64::INFINITY;
    for pair in 0..pairs {
        let both = autocovariance(2 * pair) + autocovariance(2 * pair + 1);
        if both <= 0.0 {
            break;
        }
        smallest = both.min(smallest);
        sum += smallest;
    }
    (2.0 * sum - autocovariance(0)).max(0.0) / deviations.len() as f64
}

/// The mean product of values `lag` apart.
fn autocovariance(deviations: &[f64], lag: usize) -> f64 {
    let ahead = &deviations[lag..];
    let products = deviations.iter().zip(ahead).map(|(now, then)| now * then);
    products.sum::<f64>() / ahead.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::Simulated;

    /// The mean of `effective / count` over many series.
    fn mean_share(count: usize, phi: f64) -> f64 {
        let mut simulated = Simulated::new(3);
        let shares: Vec<f64> = (0..400)
            .map(|_| {
                let series = simulated.ar1(count, phi, 100.0, 5.0);
                EffectiveSamples::of(&series).unwrap().effective / count as f64
            })
            .collect();
        describe::mean(&shares).unwrap()
    }

    #[test]
    fn correlated_intervals_are_worth_fewer() {
        // An AR(1) series is worth (1 - phi) / (1 + phi) of its length.
        for (phi, low, high) in [
            (0.0, 0.85, 1.0),
            (0.3, 0.48, 0.58),
            (0.5, 0.29, 0.37),
            (0.7, 0.15, 0.20),
            (0.9, 0.04, 0.08),
        ] {
            let seen = mean_share(300, phi);
            assert!((low..=high).contains(&seen), "{phi}: {seen}");
        }
    }

    #[test]
    fn alternation_never_makes_more_of_a_series_than_it_has() {
        let series: Vec<f64> = (0..100).map(|index| f64::from(index % 2)).collect();
        let samples = EffectiveSamples::of(&series).unwrap();
        assert_eq!((samples.count, samples.effective), (100, 100.0));
    }

    #[test]
    fn a_steady_climb_is_worth_next_to_nothing() {
        let series: Vec<f64> = (0..60).map(f64::from).collect();
        assert!(EffectiveSamples::of(&series).unwrap().effective < 4.0);
    }

    #[test]
    fn a_constant_series_is_worth_all_of_itself() {
        assert_eq!(EffectiveSamples::of(&[7.0; 9]).unwrap().effective, 9.0);
    }

    #[test]
    fn too_little_or_no_number_has_no_answer() {
        assert_eq!(EffectiveSamples::of(&[1.0, 2.0, 3.0]), None);
        assert_eq!(EffectiveSamples::of(&[1.0, f64::NAN, 3.0, 4.0]), None);
    }
}
