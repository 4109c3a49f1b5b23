//! Numbers of charts: as short as the eye needs them.

use serde::{Serialize, Serializer};

/// A number of a chart; written without a point where it is whole, and as `null` where it is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number(f64);

impl Number {
    /// Where there is nothing to draw.
    pub const NONE: Self = Self(f64::NAN);

    /// The number as it is.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self(value)
    }

    /// The number in four significant digits.
    #[must_use]
    pub fn rounded(value: f64) -> Self {
        Self(rounded(value, 4))
    }

    /// A latency in three significant digits, which is as finely as it was kept, and at least 1 ns
    /// so that it has a place on a logarithmic axis.
    #[must_use]
    pub fn latency(ns: Option<f64>) -> Self {
        ns.map_or(Self::NONE, |ns| Self(rounded(ns.max(1.0), 3)))
    }

    /// The number itself; not a number where there is nothing to draw.
    #[cfg(test)]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
        if self.0.fract() == 0.0 && self.0.abs() <= WHOLE_MAX {
            serializer.serialize_i64(self.0 as i64)
        } else {
            // What is not finite is written as `null`.
            serializer.serialize_f64(self.0)
        }
    }
}

/// `value` in so many significant digits.
fn rounded(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let shift = value.abs().log10().floor() as i32 + 1 - digits;
    // Powers of ten with positive exponents are exact, so that the result prints short.
    let unit = 10_f64.powi(shift.abs());
    if shift >= 0 {
        (value / unit).round() * unit
    } else {
        (value * unit).round() / unit
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(number: Number) -> String {
        serde_json::to_string(&number).unwrap()
    }

    #[test]
    fn numbers_are_written_short() {
        for (value, wanted) in [
            (0.0, "0"),
            (12_345.678, "12350"),
            (1.0, "1"),
            (0.123_456, "0.1235"),
            (999.96, "1000"),
            (-2.5, "-2.5"),
        ] {
            assert_eq!(written(Number::rounded(value)), wanted);
        }
        for value in [f64::NAN, f64::INFINITY] {
            assert_eq!(written(Number::rounded(value)), "null");
        }
        assert_eq!(written(Number::NONE), "null");
    }

    #[test]
    fn no_latency_is_below_one_nanosecond() {
        assert_eq!(written(Number::latency(Some(0.0))), "1");
        assert_eq!(written(Number::latency(None)), "null");
    }

    proptest! {
        #[test]
        fn rounding_stays_within_half_of_the_fourth_digit(value in 1e-9..1e18_f64) {
            prop_assert!((rounded(value, 4) - value).abs() <= value * 0.5e-3);
            prop_assert!(written(Number::rounded(value)).len() <= 19);
        }
    }
}
