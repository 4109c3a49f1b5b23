//! Ratio of two means with its confidence interval.

use serde::{Deserialize, Serialize};

use crate::{Estimate, UncertainMean, describe, quantile};

/// Largest number of repetitions that a comparison recommends.
const REPETITIONS_MAX: u64 = 1000;

/// Ratio of two means and its certainty.
///
/// The interval is computed for the logarithm: ln r ± t · √((SE a / a)² + (SE b / b)²), with Welch
/// and Satterthwaite's degrees of freedom. Unlike Fieller's exact interval it is never empty or
/// unbounded, and exchanging the sides gives the reciprocal interval. If the standard errors are
/// below a twentieth of their means, the two intervals differ by less than a hundredth of their
/// width.
///
/// Source: Fieller, "Some problems in interval estimation", JRSS B 16, 1954; Franz, "Ratios: a
/// short guide to confidence limits and proper use", 2007, for the comparison; Welch, "The
/// generalization of Student's problem", Biometrika 34, 1947.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The second mean divided by the first; 1 means equal.
    pub value: f64,
    /// Interval and test of the ratio; `None` if its uncertainty is unknown.
    pub certainty: Option<RatioConfidence>,
}

/// Confidence interval and test of a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RatioConfidence {
    /// Lower end of the 95 % confidence interval of the ratio.
    pub ci95_low: f64,
    /// Upper end of the 95 % confidence interval of the ratio.
    pub ci95_high: f64,
    /// Probability of a difference this large if there were none: two-sided, not corrected for
    /// other tests.
    pub p_value: f64,
    /// Standard error of the natural logarithm of the ratio. If small, it equals the relative
    /// standard error of the ratio.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub freedom: f64,
}

impl Ratio {
    /// The ratio `b / a` of two means with independent errors.
    ///
    /// Has no certainty if a mean is 0. `None` if `a` is not above 0 or `b` is below 0.
    #[must_use]
    pub fn of(a: &UncertainMean, b: &UncertainMean) -> Option<Self> {
        let value = quotient(a.mean, b.mean)?;
        let certainty = || {
            let (u, v) = (a.relative()?.powi(2), b.relative()?.powi(2));
            // Without any scatter, the formula would divide 0 by 0.
            let freedom = if u + v > 0.0 {
                welch_freedom((u, a.freedom), (v, b.freedom))
            } else {
                a.freedom + b.freedom
            };
            RatioConfidence::of_logarithm(value.ln(), (u + v).sqrt(), freedom)
        };
        Some(Self {
            value,
            certainty: certainty(),
        })
    }

    /// The ratio `b / a` of the means of repetitions.
    ///
    /// If one side was measured only once, it is compared with the scatter of the other side, which
    /// is assumed to apply to both. If both were, the ratio has no certainty. `None` as for
    /// [`Ratio::of`].
    #[must_use]
    pub fn of_estimates(a: &Estimate, b: &Estimate) -> Option<Self> {
        match (a.uncertain_mean(), b.uncertain_mean()) {
            (Some(a), Some(b)) => Self::of(&a, &b),
            (Some(_), None) => Self::of_single(a, b),
            (None, Some(_)) => Self::of_single(b, a).and_then(Self::reciprocal),
            (None, None) => Self::bare(a.mean, b.mean),
        }
    }

    /// The ratio of one measurement to the mean of several.
    fn of_single(several: &Estimate, single: &Estimate) -> Option<Self> {
        let value = quotient(several.mean, single.mean)?;
        let n = several.n as f64;
        let certainty = || {
            // The single value scatters like one repetition, and the mean has an nth of that
            // variance.
            let variation = several.stddev? / several.mean;
            RatioConfidence::of_logarithm(value.ln(), variation * (1.0 + 1.0 / n).sqrt(), n - 1.0)
        };
        Some(Self {
            value,
            certainty: certainty(),
        })
    }

    /// The ratio of paired measurements: the mean of ln(b / a) over the pairs. Disturbances that
    /// affect both sides of a pair equally cancel out.
    ///
    /// Has no certainty for a single pair. `None` without pairs, if the sides differ in number, or
    /// if a measurement is not above 0.
    ///
    /// Source: Student's paired t test, here of logarithms.
    #[must_use]
    pub fn paired(a: &[f64], b: &[f64]) -> Option<Self> {
        let is_positive = |value: &f64| *value > 0.0 && value.is_finite();
        if a.len() != b.len() || !a.iter().chain(b).all(is_positive) {
            return None;
        }
        let logarithms: Vec<f64> = a.iter().zip(b).map(|(a, b)| (b / a).ln()).collect();
        let mean = describe::mean(&logarithms)?;
        let n = logarithms.len() as f64;
        let certainty = describe::stddev(&logarithms)
            .and_then(|stddev| RatioConfidence::of_logarithm(mean, stddev / n.sqrt(), n - 1.0));
        Some(Self {
            value: mean.exp(),
            certainty,
        })
    }

    /// The ratio of two values of unknown uncertainty.
    ///
    /// `None` as for [`Ratio::of`].
    #[must_use]
    pub fn bare(a: f64, b: f64) -> Option<Self> {
        Some(Self {
            value: quotient(a, b)?,
            certainty: None,
        })
    }

    /// The ratio with one more error, independent of the existing ones. `deviation` is the standard
    /// deviation of that error as a share of the ratio.
    ///
    /// Rounded values can agree to the last digit and still differ by a step. The error of two
    /// values rounded to steps of s is s / √6.
    #[must_use]
    pub fn widened(self, deviation: f64) -> Self {
        let widened = |certainty: RatioConfidence| {
            let standard_error = certainty.standard_error.hypot(deviation);
            RatioConfidence::of_logarithm(self.value.ln(), standard_error, certainty.freedom)
        };
        Self {
            certainty: self.certainty.and_then(widened),
            ..self
        }
    }

    /// The ratio with its sides exchanged.
    fn reciprocal(self) -> Option<Self> {
        let flip = |certainty: RatioConfidence| RatioConfidence {
            ci95_low: 1.0 / certainty.ci95_high,
            ci95_high: 1.0 / certainty.ci95_low,
            ..certainty
        };
        (self.value > 0.0).then(|| Self {
            value: 1.0 / self.value,
            certainty: self.certainty.map(flip),
        })
    }
}

impl RatioConfidence {
    /// Smallest true difference, as a share of the first mean, that a two-sided test at `level`
    /// would have found in 80 of 100 cases; `level` is above 0 and below 1.
    ///
    /// e^((t(1 - level/2) + t(0.8)) SE) - 1. Source: Bloom, "Minimum detectable effects",
    /// Evaluation Review 19, 1995.
    #[must_use]
    pub fn smallest_difference(&self, level: f64) -> Option<f64> {
        quantile::detectable(self.standard_error, self.freedom, level).map(f64::exp_m1)
    }

    /// Number of repetitions of each side with which a two-sided test at `level` finds a true
    /// difference in 80 of 100 cases, if further repetitions vary like the `measured` ones.
    /// `difference` is a share of the first mean, above -1 and not 0; `level` is above 0 and below
    /// 1. `None` for fewer than 2 measured repetitions, or if more than 1000 would be needed.
    ///
    /// The standard error shrinks with the root of the number of repetitions, and the degrees of
    /// freedom grow with that number minus 1. Source: Bloom, "Minimum detectable effects",
    /// Evaluation Review 19, 1995.
    #[must_use]
    pub fn repetitions_for(&self, difference: f64, measured: u64, level: f64) -> Option<u64> {
        let wanted = difference.ln_1p().abs();
        if measured < 2 || !wanted.is_finite() || wanted == 0.0 {
            return None;
        }
        let is_enough = |count: u64| {
            let (count, measured) = (count as f64, measured as f64);
            let standard_error = self.standard_error * (measured / count).sqrt();
            let freedom = self.freedom * (count - 1.0) / (measured - 1.0);
            let least = quantile::detectable(standard_error, freedom, level);
            least.is_some_and(|least| least <= wanted)
        };
        // More repetitions never detect less, so a binary search finds the smallest number.
        let counts: Vec<u64> = (2..=REPETITIONS_MAX).collect();
        let index = counts.partition_point(|count| !is_enough(*count));
        counts.get(index).copied()
    }

    /// The interval and test of a ratio, from its logarithm with standard error and degrees of
    /// freedom.
    fn of_logarithm(logarithm: f64, standard_error: f64, freedom: f64) -> Option<Self> {
        if !logarithm.is_finite() || !standard_error.is_finite() {
            return None;
        }
        let half = quantile::t_95(freedom)? * standard_error;
        // Without any scatter, a difference is certain.
        let p_value = if standard_error > 0.0 {
            quantile::two_sided_p_value(logarithm / standard_error, freedom)?
        } else {
            f64::from(logarithm == 0.0)
        };
        Some(Self {
            ci95_low: (logarithm - half).exp(),
            ci95_high: (logarithm + half).exp(),
            p_value,
            standard_error,
            freedom,
        })
    }
}

/// Degrees of freedom of a sum of two variances, each given with its own degrees of freedom.
///
/// Source: Satterthwaite, "An approximate distribution of estimates of variance components",
/// Biometrics Bulletin 2, 1946.
pub(crate) fn welch_freedom((u, u_freedom): (f64, f64), (v, v_freedom): (f64, f64)) -> f64 {
    (u + v).powi(2) / (u * u / u_freedom + v * v / v_freedom)
}

fn quotient(a: f64, b: f64) -> Option<f64> {
    (a > 0.0 && b >= 0.0 && a.is_finite() && b.is_finite()).then(|| b / a)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simulated::Simulated;

    fn estimate(samples: &[f64]) -> Estimate {
        Estimate::from_samples(samples).unwrap()
    }

    #[test]
    fn the_ratio_and_its_interval_match_the_formula() {
        let a = UncertainMean {
            mean: 100.0,
            standard_error: 3.0,
            freedom: 4.0,
        };
        let b = UncertainMean {
            mean: 120.0,
            standard_error: 4.8,
            freedom: 4.0,
        };
        let ratio = Ratio::of(&a, &b).unwrap();
        let certainty = ratio.certainty.unwrap();
        // SE of ln r: sqrt(0.03^2 + 0.04^2) = 0.05; freedom: 0.0025^2 / ((0.0009^2 + 0.0016^2)/4).
        let freedom = 0.0025_f64.powi(2) * 4.0 / (0.0009_f64.powi(2) + 0.0016_f64.powi(2));
        assert!((certainty.freedom - freedom).abs() < 1e-9);
        let t = quantile::t_95(freedom).unwrap();
        assert!((certainty.ci95_low - 1.2 * (-0.05 * t).exp()).abs() < 1e-12);
        assert!((certainty.ci95_high - 1.2 * (0.05 * t).exp()).abs() < 1e-12);
        let p = quantile::two_sided_p_value(1.2_f64.ln() / 0.05, freedom).unwrap();
        assert!((certainty.p_value - p).abs() < 1e-12);
    }

    #[test]
    fn for_small_errors_the_interval_matches_fieller() {
        let mean = |mean: f64| UncertainMean {
            mean,
            standard_error: 0.05 * mean,
            freedom: 4.0,
        };
        let ratio = Ratio::of(&mean(100.0), &mean(150.0)).unwrap();
        let certainty = ratio.certainty.unwrap();
        let t = quantile::t_95(certainty.freedom).unwrap();
        let g = (t * 0.05).powi(2);
        let half = t * (0.0025 + 0.0025 * (1.0 - g)).sqrt();
        let fieller = [1.0 - half, 1.0 + half].map(|end| 1.5 * end / (1.0 - g));
        let width = certainty.ci95_high - certainty.ci95_low;
        assert!((certainty.ci95_low - fieller[0]).abs() < 0.01 * width);
        assert!((certainty.ci95_high - fieller[1]).abs() < 0.01 * width);
    }

    #[test]
    fn zeros_and_negatives_have_no_certainty() {
        let (zero, some) = (estimate(&[0.0, 0.0]), estimate(&[4.0, 5.0]));
        assert_eq!(Ratio::of_estimates(&zero, &some), None);
        let to_zero = Ratio::of_estimates(&some, &zero).unwrap();
        assert_eq!((to_zero.value, to_zero.certainty), (0.0, None));
        assert_eq!(Ratio::bare(1.0, -1.0), None);
        assert_eq!(Ratio::bare(1.0, f64::NAN), None);
    }

    #[test]
    fn one_measurement_each_has_a_ratio_and_no_interval() {
        let ratio = Ratio::of_estimates(&estimate(&[4.0]), &estimate(&[5.0])).unwrap();
        assert_eq!((ratio.value, ratio.certainty), (1.25, None));
        let pair = Ratio::paired(&[4.0], &[5.0]).unwrap();
        assert!((pair.value - 1.25).abs() < 1e-12 && pair.certainty.is_none());
    }

    #[test]
    fn a_single_measurement_uses_the_scatter_of_the_other_side() {
        let (several, single) = (estimate(&[98.0, 100.0, 102.0]), estimate(&[110.0]));
        let ratio = Ratio::of_estimates(&several, &single).unwrap();
        let certainty = ratio.certainty.unwrap();
        assert_eq!(certainty.freedom, 2.0);
        let half = 4.302_653 * 0.02 * (4.0_f64 / 3.0).sqrt();
        assert!((certainty.ci95_high / 1.1 - half.exp()).abs() < 1e-4);
        let back = Ratio::of_estimates(&single, &several).unwrap();
        assert!((back.value * ratio.value - 1.0).abs() < 1e-12);
        assert!((back.certainty.unwrap().ci95_low * certainty.ci95_high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_number_of_repetitions_needed_detects_the_difference_in_80_of_100_cases() {
        let sides = |simulated: &mut Simulated, n: usize| {
            let side = |simulated: &mut Simulated, mean: f64| {
                estimate(&simulated.white(n, mean, 0.1 * mean))
            };
            let (a, b) = (side(simulated, 100.0), side(simulated, 112.0));
            Ratio::of_estimates(&a, &b).unwrap().certainty.unwrap()
        };
        // A scatter that is exactly that of the population.
        let exact = RatioConfidence {
            standard_error: 0.1 * (2.0_f64 / 5.0).sqrt(),
            freedom: 8.0,
            ..sides(&mut Simulated::new(5), 5)
        };
        let needed = exact.repetitions_for(0.12, 5, 0.05).unwrap();
        assert!((10..=16).contains(&needed), "{needed}");
        let found = |n: u64| {
            Simulated::new(41).share(4000, |simulated| {
                sides(simulated, n as usize).p_value < 0.05
            })
        };
        let power = found(needed);
        assert!((0.78..0.88).contains(&power), "{needed}: {power}");
        assert!(found(needed - 4) < 0.78);
    }

    #[test]
    fn a_tiny_difference_or_a_single_repetition_has_no_number_of_repetitions() {
        let ratio = Ratio::of_estimates(&estimate(&[90.0, 110.0]), &estimate(&[95.0, 105.0]));
        let certainty = ratio.unwrap().certainty.unwrap();
        assert_eq!(certainty.repetitions_for(1e-6, 2, 0.05), None);
        assert_eq!(certainty.repetitions_for(0.0, 2, 0.05), None);
        assert_eq!(certainty.repetitions_for(0.2, 1, 0.05), None);
        assert!(
            certainty
                .repetitions_for(0.2, 2, 0.05)
                .is_some_and(|it| it > 2)
        );
    }

    #[test]
    fn without_scatter_any_difference_is_certain() {
        let same = Ratio::of_estimates(&estimate(&[5.0; 3]), &estimate(&[5.0; 3])).unwrap();
        assert_eq!(same.certainty.unwrap().p_value, 1.0);
        let other = Ratio::of_estimates(&estimate(&[5.0; 3]), &estimate(&[6.0; 3])).unwrap();
        let certainty = other.certainty.unwrap();
        assert_eq!(certainty.p_value, 0.0);
        assert_eq!(certainty.smallest_difference(0.05), Some(0.0));
    }

    #[test]
    fn the_interval_covers_in_95_of_100_cases_and_equal_sides_differ_in_5() {
        for (variation, n) in [(0.03, 5), (0.1, 3), (0.1, 20)] {
            let mut excluded = 0.0;
            let covered = Simulated::new(23).share(4000, |simulated| {
                let mut side = |mean: f64| estimate(&simulated.white(n, mean, variation * mean));
                let (a, b, c) = (side(100.0), side(150.0), side(100.0));
                let same = Ratio::of_estimates(&a, &c).unwrap().certainty.unwrap();
                excluded += f64::from(same.p_value < 0.05) / 4000.0;
                let wide = Ratio::of_estimates(&a, &b).unwrap().certainty.unwrap();
                (wide.ci95_low..=wide.ci95_high).contains(&1.5)
            });
            assert!(
                (0.94..0.965).contains(&covered),
                "{variation} {n}: {covered}"
            );
            assert!(
                (0.03..0.06).contains(&excluded),
                "{variation} {n}: {excluded}"
            );
        }
    }

    #[test]
    fn the_smallest_difference_is_found_in_80_of_100_cases() {
        let (n, variation) = (5, 0.02);
        let true_error = variation * (2.0 / n as f64).sqrt();
        let difference = quantile::detectable(true_error, 8.0, 0.05).unwrap().exp();
        let share = Simulated::new(29).share(4000, |simulated| {
            let a = estimate(&simulated.white(n, 100.0, 2.0));
            let b = estimate(&simulated.white(n, 100.0 * difference, 2.0 * difference));
            Ratio::of_estimates(&a, &b)
                .unwrap()
                .certainty
                .unwrap()
                .p_value
                < 0.05
        });
        assert!((0.77..0.83).contains(&share), "{share}");
    }

    #[test]
    fn widening_allows_for_the_rounding_step() {
        let ratio = Ratio::of_estimates(&estimate(&[5.0; 3]), &estimate(&[5.05; 3])).unwrap();
        let widened = ratio.widened(0.0156 / 6.0_f64.sqrt());
        assert_eq!(widened.value, ratio.value);
        let certainty = widened.certainty.unwrap();
        assert_eq!(certainty.freedom, 4.0);
        assert!(certainty.ci95_low < 1.0 && certainty.p_value > 0.05);
        assert_eq!(Ratio::bare(1.0, 2.0).unwrap().widened(0.1).certainty, None);
    }

    #[test]
    fn a_stricter_level_sees_only_larger_differences() {
        let ratio = Ratio::of_estimates(&estimate(&[4.9, 5.0, 5.1]), &estimate(&[5.0, 5.0, 5.1]));
        let certainty = ratio.unwrap().certainty.unwrap();
        let (one, many) = (0.05, 0.05 / 40.0);
        assert!(certainty.smallest_difference(many) > certainty.smallest_difference(one));
        assert_eq!(certainty.smallest_difference(f64::NAN), None);
    }

    #[test]
    fn pairing_cancels_variation_that_both_sides_share() {
        let drift = [100.0, 120.0, 90.0, 130.0, 80.0];
        let wobble = [1.1, 1.11, 1.09, 1.105, 1.095];
        let other: Vec<f64> = drift.iter().zip(wobble).map(|(a, w)| a * w).collect();
        let paired = Ratio::paired(&drift, &other).unwrap().certainty.unwrap();
        assert!(paired.ci95_low > 1.08 && paired.ci95_high < 1.12);
        let apart = Ratio::of_estimates(&estimate(&drift), &estimate(&other)).unwrap();
        assert!(apart.certainty.unwrap().ci95_low < 0.9);
        assert_eq!(Ratio::paired(&drift, &other[1..]), None);
        assert_eq!(Ratio::paired(&[1.0], &[0.0]), None);
        assert_eq!(Ratio::paired(&[], &[]), None);
    }

    #[test]
    fn one_long_run_each_is_compared_by_its_own_scatter() {
        let mut simulated = Simulated::new(31);
        let called = simulated.share(2000, |simulated| {
            let mut run = || UncertainMean::of_series(&simulated.ar1(60, 0.5, 1000.0, 30.0));
            let ratio = Ratio::of(&run().unwrap(), &run().unwrap()).unwrap();
            ratio.certainty.unwrap().p_value < 0.05
        });
        assert!(called < 0.07, "{called}");
    }

    proptest! {
        #[test]
        fn exchanging_the_sides_gives_the_reciprocal(
            a in prop::collection::vec(1.0..1e6_f64, 1..8),
            b in prop::collection::vec(1.0..1e6_f64, 1..8),
        ) {
            let (a, b) = (estimate(&a), estimate(&b));
            let forward = Ratio::of_estimates(&a, &b).unwrap();
            let back = Ratio::of_estimates(&b, &a).unwrap();
            prop_assert!((forward.value * back.value - 1.0).abs() < 1e-9);
            prop_assert_eq!(forward.certainty.is_some(), back.certainty.is_some());
            if let (Some(there), Some(back)) = (forward.certainty, back.certainty) {
                prop_assert!((there.ci95_low.ln() + back.ci95_high.ln()).abs() < 1e-6);
                prop_assert!((there.p_value - back.p_value).abs() < 1e-9);
            }
        }
    }
}
