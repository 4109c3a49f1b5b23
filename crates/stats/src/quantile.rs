//! Quantiles and tail probabilities.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Above this many degrees of freedom, t and normal quantiles agree to five digits.
const FREEDOM_NORMAL: f64 = 1e5;

/// Two-sided 5 % point of Student's t: half the width of an interval in standard errors.
pub(crate) fn t_95(freedom: f64) -> Option<f64> {
    student(0.975, freedom)
}

/// Quantile of Student's t; `None` if `freedom` is not above 0.
pub(crate) fn student(probability: f64, freedom: f64) -> Option<f64> {
    if freedom > FREEDOM_NORMAL {
        return Some(normal(probability));
    }
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?;
    Some(t.inverse_cdf(probability))
}

/// Probability of a value of Student's t at least as far from 0 as `t`.
pub(crate) fn two_sided_p_value(t: f64, freedom: f64) -> Option<f64> {
    if t.is_nan() {
        return None;
    }
    if t.is_infinite() {
        return Some(0.0);
    }
    // Not 1 minus the distribution function, which would round small p-values to 0.
    let tail = if freedom > FREEDOM_NORMAL {
        Normal::standard().sf(t.abs())
    } else {
        StudentsT::new(0.0, 1.0, freedom).ok()?.sf(t.abs())
    };
    Some((2.0 * tail).min(1.0))
}

/// The smallest true difference that a two-sided test at `level` finds with a power of 80 %.
///
/// Source: Bloom, "Minimum detectable effects", Evaluation Review 19, 1995.
pub(crate) fn detectable(standard_error: f64, freedom: f64, level: f64) -> Option<f64> {
    if !(0.0..1.0).contains(&level) {
        return None;
    }
    let factor = student(1.0 - level / 2.0, freedom)? + student(0.8, freedom)?;
    Some(factor * standard_error)
}

/// Quantile of the standard normal distribution.
pub(crate) fn normal(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

/// Probability that a standard normal variable is below `value`.
pub(crate) fn normal_cdf(value: f64) -> f64 {
    Normal::standard().cdf(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_the_tables() {
        for (freedom, wanted) in [
            (1.0, 12.7062),
            (2.0, 4.3027),
            (4.0, 2.7764),
            (9.0, 2.2622),
            (30.0, 2.0423),
            (120.0, 1.9799),
            (99_999.0, 1.9600),
            (1e12, 1.9600),
        ] {
            let value = t_95(freedom).unwrap();
            assert!((value - wanted).abs() < 1e-3, "{freedom}: {value}");
        }
        assert!((student(0.8, 8.0).unwrap() - 0.8889).abs() < 1e-4);
        assert_eq!(t_95(0.0), None);
        assert_eq!(t_95(f64::NAN), None);
    }

    #[test]
    fn a_quantile_has_the_requested_probability() {
        for freedom in [1.0, 2.5, 7.0, 33.3, 1e3, 1e6] {
            let p = two_sided_p_value(t_95(freedom).unwrap(), freedom).unwrap();
            assert!((p - 0.05).abs() < 1e-6, "{freedom}: {p}");
        }
        assert_eq!(two_sided_p_value(0.0, 5.0), Some(1.0));
        assert_eq!(two_sided_p_value(f64::NEG_INFINITY, 5.0), Some(0.0));
        assert_eq!(two_sided_p_value(f64::NAN, 5.0), None);
    }

    #[test]
    fn small_tails_are_not_lost_to_rounding() {
        // Source: the closed form of t with two degrees of freedom, whose tail is 1/(2 t^2).
        let p = two_sided_p_value(1e6, 2.0).unwrap();
        assert!((p * 1e12 - 1.0).abs() < 1e-3, "{p}");
    }
}
