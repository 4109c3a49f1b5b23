//! Numbers in charts, with no more digits than needed.

use serde::{Serialize, Serializer};

/// A number in a chart. Whole numbers have no decimal point, and missing ones become `null`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChartNumber(f64);

impl ChartNumber {
    /// A missing value.
    pub const NONE: Self = Self(f64::NAN);

    /// Keeps the number unchanged.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self(value)
    }

    /// Rounds the number to four significant digits.
    #[must_use]
    pub fn rounded(value: f64) -> Self {
        // Further digits are not visible in a chart, but each would make the page larger.
        Self(rounded(value, 4))
    }

    /// Rounds a bandwidth to eight significant digits. The page shows four digits in binary units:
    /// four decimal digits would be rounded twice, which can change the last one.
    #[must_use]
    pub fn bandwidth(bytes_per_second: f64) -> Self {
        Self(rounded(bytes_per_second, 8))
    }

    /// Rounds a latency to three significant digits, which is the resolution of the records. At
    /// least 1 ns, because a logarithmic axis has no zero.
    #[must_use]
    pub fn latency(ns: Option<f64>) -> Self {
        ns.map_or(Self::NONE, |ns| Self(rounded(ns.max(1.0), 3)))
    }

    /// Returns the number; NaN for a missing value.
    #[cfg(test)]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Serialize for ChartNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // 2^53: up to here, JavaScript represents every whole number exactly.
        const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
        if self.0.fract() == 0.0 && self.0.abs() <= EXACT_MAX {
            serializer.serialize_i64(self.0 as i64)
        } else {
            // Numbers that are not finite become `null`.
            serializer.serialize_f64(self.0)
        }
    }
}

/// Rounds `value` to this number of significant digits.
fn rounded(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let shift = value.abs().log10().floor() as i32 + 1 - digits;
    // Powers of ten with positive exponents are exact, so that the result has few digits.
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

    fn written(number: ChartNumber) -> String {
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
            assert_eq!(written(ChartNumber::rounded(value)), wanted);
        }
        for value in [f64::NAN, f64::INFINITY] {
            assert_eq!(written(ChartNumber::rounded(value)), "null");
        }
        assert_eq!(written(ChartNumber::NONE), "null");
    }

    #[test]
    fn no_latency_is_below_one_nanosecond() {
        assert_eq!(written(ChartNumber::latency(Some(0.0))), "1");
        assert_eq!(written(ChartNumber::latency(None)), "null");
    }

    proptest! {
        #[test]
        fn rounding_stays_within_half_of_the_fourth_digit(value in 1e-9..1e18_f64) {
            prop_assert!((rounded(value, 4) - value).abs() <= value * 0.5e-3);
            prop_assert!(written(ChartNumber::rounded(value)).len() <= 19);
        }
    }
}
