//! Hypothesis tests: Welch's test of two means, Holm's correction for many tests, and the
//! Kolmogorov-Smirnov test of a distribution.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Exp};

use crate::{Estimate, quantile, ratio};

/// Welch's test of whether two means differ. It does not assume equal variances.
///
/// Source: Welch, "The generalization of Student's problem when several different population
/// variances are involved", Biometrika 34, 1947.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WelchTest {
    /// The second mean minus the first.
    pub difference: f64,
    /// Lower end of the 95 % confidence interval of the difference.
    pub ci95_low: f64,
    /// Upper end of the 95 % confidence interval of the difference.
    pub ci95_high: f64,
    /// Degrees of freedom.
    pub freedom: f64,
    /// Probability of a difference this large if there were none: two-sided.
    pub p_value: f64,
}

impl WelchTest {
    /// The test of two means; `None` if one comes from a single measurement or neither varies.
    #[must_use]
    pub fn of(a: &Estimate, b: &Estimate) -> Option<Self> {
        let (first, second) = (a.uncertain_mean()?, b.uncertain_mean()?);
        let (u, v) = (first.standard_error.powi(2), second.standard_error.powi(2));
        let freedom = ratio::welch_freedom((u, first.freedom), (v, second.freedom));
        let standard_error = (u + v).sqrt();
        let half = quantile::t_95(freedom)? * standard_error;
        let difference = b.mean - a.mean;
        Some(Self {
            difference,
            ci95_low: difference - half,
            ci95_high: difference + half,
            freedom,
            p_value: quantile::two_sided_p_value(difference / standard_error, freedom)?,
        })
    }
}

/// Corrects p-values for multiple tests: over all of them, the probability of any false alarm stays
/// at the level they are compared with. The results are in the order of the p-values.
///
/// Multiplies the i-th smallest of m by m - i + 1, then raises each to at least its predecessor.
///
/// Source: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal
/// of Statistics 6, 1979.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut corrected = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, &index) in order.iter().enumerate() {
        let factor = (p_values.len() - rank) as f64;
        largest = largest.max((p_values[index] * factor).min(1.0));
        corrected[index] = largest;
    }
    corrected
}

/// Distance between samples and a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KolmogorovSmirnov {
    /// Largest distance between the empirical and the theoretical distribution function.
    pub distance: f64,
    /// Probability of a distance this large if the samples came from the distribution; accurate to
    /// two digits from five samples on.
    pub p_value: f64,
}

impl KolmogorovSmirnov {
    /// Compares samples with the exponential distribution. The mean must be known in advance: one
    /// estimated from the samples would need other tables.
    ///
    /// `None` without samples, if one is not a number, and if the mean is not above 0.
    ///
    /// Source: Kolmogorov, "Sulla determinazione empirica di una legge di distribuzione", 1933;
    /// Stephens, "Use of the Kolmogorov-Smirnov, Cramér-von Mises and related statistics without
    /// extensive tables", JRSS B 32, 1970, for the factor that makes his limit good for few
    /// samples.
    #[must_use]
    pub fn exponential(samples: &[f64], mean: f64) -> Option<Self> {
        let rate = Some(mean.recip()).filter(|rate| rate.is_finite())?;
        let distribution = Exp::new(rate).ok()?;
        if samples.is_empty() || samples.iter().any(|sample| sample.is_nan()) {
            return None;
        }
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len() as f64;
        let distance = (0..)
            .zip(&sorted)
            .map(|(below, sample)| {
                let share = distribution.cdf(*sample);
                let below = f64::from(below);
                // The empirical function jumps at a sample, so both ends of the jump count.
                (share - below / n).max((below + 1.0) / n - share)
            })
            .fold(0.0, f64::max);
        let scaled = (n.sqrt() + 0.12 + 0.11 / n.sqrt()) * distance;
        Some(Self {
            distance,
            p_value: kolmogorov_tail(scaled),
        })
    }
}

/// Probability that a variable with Kolmogorov's distribution exceeds `value`.
fn kolmogorov_tail(value: f64) -> f64 {
    // Below this the probability is 1 to sixteen digits, and the series converges too slowly.
    const CERTAIN_BELOW: f64 = 0.2;
    if value < CERTAIN_BELOW {
        return 1.0;
    }
    let term = |k: u32| (-2.0 * (f64::from(k) * value).powi(2)).exp();
    // Terms beyond the 20th are below 1e-13 even at the smallest value.
    let sum: f64 = (1..=20)
        .map(|k| if k % 2 == 1 { term(k) } else { -term(k) })
        .sum();
    (2.0 * sum).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simulated::Simulated;

    #[test]
    fn welch_s_test_gives_the_published_example() {
        // Source: the yields of two varieties in Welch's test as R's documentation prints it for
        // the data set `sleep`: t = -1.8608, df = 17.776, p = 0.07939, interval -3.36 to 0.205.
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let of = |samples: &[f64]| Estimate::from_samples(samples).unwrap();
        let test = WelchTest::of(&of(&second), &of(&first)).unwrap();
        assert!((test.freedom - 17.776).abs() < 1e-3);
        assert!((test.p_value - 0.079_39).abs() < 1e-5);
        assert!((test.difference + 1.58).abs() < 1e-9);
        assert!((test.ci95_low + 3.365_483).abs() < 1e-5);
        assert!((test.ci95_high - 0.205_483).abs() < 1e-5);
    }

    #[test]
    fn welch_s_test_needs_scatter() {
        let of = |samples: &[f64]| Estimate::from_samples(samples).unwrap();
        assert_eq!(WelchTest::of(&of(&[1.0]), &of(&[1.0, 2.0])), None);
        assert_eq!(WelchTest::of(&of(&[1.0, 1.0]), &of(&[2.0, 2.0])), None);
    }

    #[test]
    fn holm_s_correction_matches_a_known_example() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (p_value, wanted) in corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((p_value - wanted).abs() < 1e-12);
        }
        assert!(holm(&[]).is_empty());
        assert_eq!(holm(&[0.04]), [0.04]);
    }

    #[test]
    fn twenty_true_hypotheses_together_are_rejected_in_5_of_100_cases() {
        let alarms = Simulated::new(37).share(4000, |simulated| {
            let p_values: Vec<f64> = (0..20).map(|_| simulated.unit()).collect();
            holm(&p_values).iter().any(|p| *p < 0.05)
        });
        assert!((0.04..0.06).contains(&alarms), "{alarms}");
    }

    #[test]
    fn exponential_samples_pass_and_others_do_not() {
        let mut simulated = Simulated::new(41);
        let mut gaps: Vec<f64> = (0..10_000).map(|_| -simulated.unit().ln() * 50.0).collect();
        let good = KolmogorovSmirnov::exponential(&gaps, 50.0).unwrap();
        assert!(good.p_value > 0.05 && good.distance < 0.0136, "{good:?}");
        // Twice the rate, as a well-known program's Poisson arrivals come.
        gaps.iter_mut().for_each(|gap| *gap /= 2.0);
        let twice = KolmogorovSmirnov::exponential(&gaps, 50.0).unwrap();
        assert!(twice.p_value < 1e-9 && twice.distance > 0.2);
    }

    #[test]
    fn kolmogorov_s_distribution_matches_the_tables() {
        // Source: critical values of the limit, 1.2238 (10 %), 1.3581 (5 %), 1.6276 (1 %).
        for (value, wanted) in [(1.2238, 0.10), (1.3581, 0.05), (1.6276, 0.01)] {
            assert!((kolmogorov_tail(value) - wanted).abs() < 5e-5);
        }
        assert_eq!(kolmogorov_tail(0.0), 1.0);
        assert!((kolmogorov_tail(0.2) - 1.0).abs() < 1e-9);
        assert!(kolmogorov_tail(10.0) < 1e-80);
    }

    #[test]
    fn the_distance_is_the_largest_step_on_either_side() {
        // At the median, the distribution is 0.5; the samples' share is 0 before and 1 after it.
        let one = KolmogorovSmirnov::exponential(&[2.0_f64.ln()], 1.0).unwrap();
        assert!((one.distance - 0.5).abs() < 1e-12);
        let late = KolmogorovSmirnov::exponential(&[4.0_f64.ln(), 4.0_f64.ln()], 1.0).unwrap();
        assert!((late.distance - 0.75).abs() < 1e-12);
    }

    #[test]
    fn the_p_value_of_true_samples_is_uniform() {
        for (count, level) in [(5, 0.05), (20, 0.05), (200, 0.05), (200, 0.5)] {
            let below = Simulated::new(43).share(4000, |simulated| {
                let gaps: Vec<f64> = (0..count).map(|_| -simulated.unit().ln()).collect();
                KolmogorovSmirnov::exponential(&gaps, 1.0).unwrap().p_value < level
            });
            assert!((below - level).abs() < 0.015, "{count} {level}: {below}");
        }
    }

    #[test]
    fn samples_that_cannot_be_tested_give_no_result() {
        assert_eq!(KolmogorovSmirnov::exponential(&[], 1.0), None);
        assert_eq!(KolmogorovSmirnov::exponential(&[1.0, f64::NAN], 1.0), None);
        assert_eq!(KolmogorovSmirnov::exponential(&[1.0, 2.0], 0.0), None);
        assert_eq!(KolmogorovSmirnov::exponential(&[1.0, 2.0], -1.0), None);
    }

    proptest! {
        #[test]
        fn correction_keeps_the_order_and_never_lowers(
            p_values in prop::collection::vec(0.0..=1.0_f64, 0..30),
        ) {
            let corrected = holm(&p_values);
            for (index, p) in p_values.iter().enumerate() {
                prop_assert!(corrected[index] >= *p && corrected[index] <= 1.0);
                for (other, q) in p_values.iter().enumerate() {
                    prop_assert!(p > q || corrected[index] <= corrected[other]);
                }
            }
        }
    }
}
