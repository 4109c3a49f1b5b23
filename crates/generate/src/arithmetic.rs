//! Division and shares for the hot path; all divisors are prepared in advance.

use crate::GenerateError;

/// A divisor with its reciprocal, so that quotient and remainder take only two multiplications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Divisor {
    value: u64,
    /// floor((2^64 - 1) / value).
    reciprocal: u64,
}

impl Divisor {
    /// Prepares `value`, which must not be 0.
    pub(crate) const fn new(value: u64) -> Self {
        Self {
            value,
            reciprocal: u64::MAX / value,
        }
    }

    pub(crate) const fn value(self) -> u64 {
        self.value
    }

    /// Quotient and remainder.
    ///
    /// The high product is the quotient or one less: x/value - x*reciprocal/2^64 is below 1
    /// because value*reciprocal is at least 2^64 - value. One comparison corrects it.
    #[inline]
    pub(crate) const fn divide(self, dividend: u64) -> (u64, u64) {
        let guess = ((dividend as u128 * self.reciprocal as u128) >> 64) as u64;
        let remainder = dividend - guess * self.value;
        let short = remainder >= self.value;
        (
            guess + short as u64,
            if short {
                remainder - self.value
            } else {
                remainder
            },
        )
    }

    #[inline]
    pub(crate) const fn remainder(self, dividend: u64) -> u64 {
        self.divide(dividend).1
    }

    /// The largest multiple of the divisor that is at most `value`.
    #[inline]
    pub(crate) const fn round_down(self, value: u64) -> u64 {
        value - self.remainder(value)
    }

    /// The smallest multiple of the divisor that is at least `value`, which must be below 2^63.
    #[inline]
    pub(crate) const fn round_up(self, value: u64) -> u64 {
        self.round_down(value + self.value - 1)
    }
}

/// The number of 32-bit draws, of 2^32, that corresponds to `percent`; exact at 0 and 100.
pub(crate) fn threshold(name: &'static str, percent: f64) -> Result<u64, GenerateError> {
    if !(0.0..=100.0).contains(&percent) {
        return Err(GenerateError::Percent {
            what: name,
            percent,
        });
    }
    Ok((percent / 100.0 * (1_u64 << 32) as f64).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn division_by_reciprocal_is_exact(
            dividend in any::<u64>(),
            shift in 0_u32..64,
            divisor in 1_u64..,
        ) {
            let divisor = (divisor >> shift).max(1);
            let prepared = Divisor::new(divisor);
            for value in [dividend, dividend >> shift, divisor, divisor - 1, u64::MAX, 0] {
                prop_assert_eq!(prepared.divide(value), (value / divisor, value % divisor));
            }
        }

        #[test]
        fn rounding_up_gives_the_next_multiple(value in 0_u64..1 << 62, align in 1_u32..) {
            let up = Divisor::new(align.into()).round_up(value);
            prop_assert_eq!(up, value.div_ceil(align.into()) * u64::from(align));
        }
    }

    #[test]
    fn thresholds_are_exact_at_both_ends() {
        assert_eq!(threshold("share", 0.0), Ok(0));
        assert_eq!(threshold("share", 100.0), Ok(1 << 32));
    }

    #[test]
    fn a_share_that_is_not_a_percentage_is_refused() {
        for percent in [-0.1, 100.1, f64::NAN, f64::INFINITY] {
            assert!(threshold("share", percent).is_err());
        }
    }
}
