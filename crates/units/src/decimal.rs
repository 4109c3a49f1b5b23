//! Decimal numbers: digits with at most one point; no sign, no exponent.

/// Maximum number of fraction digits used in calculations; more digits only make the result
/// inexact.
const FRACTION_DIGITS_MAX: usize = 18;

/// An unsigned decimal number as text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal<'a> {
    integer: &'a str,
    fraction: &'a str,
}

/// A decimal number times a unit, rounded to a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scaled {
    pub rounded: u64,
    pub exact: bool,
}

impl<'a> Decimal<'a> {
    /// Parses the number at the start of `text`; the second value is the rest.
    pub(crate) fn take(text: &'a str) -> Option<(Self, &'a str)> {
        let (whole, rest) = digits(text);
        let (fraction, rest) = match rest.strip_prefix('.') {
            Some(after) => match digits(after) {
                // TOML and JSON refuse `1.`, too.
                ("", _) => return None,
                found => found,
            },
            None => ("", rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        Some((
            Self {
                integer: whole,
                // Otherwise `1.5` with many zeros after it would count as inexact.
                fraction: fraction.trim_end_matches('0'),
            },
            rest,
        ))
    }

    /// The number times `unit`, or `None` if the product exceeds 64 bits; `unit` must be below
    /// 2^60.
    pub(crate) fn times(self, unit: u64) -> Option<Scaled> {
        let whole = self.integer.bytes().try_fold(0_u64, |value, digit| {
            value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        })?;
        let kept = &self.fraction[..self.fraction.len().min(FRACTION_DIGITS_MAX)];
        let (numerator, denominator) = kept.bytes().fold((0_u128, 1_u128), |(n, d), digit| {
            (n * 10 + u128::from(digit - b'0'), d * 10)
        });
        // 10^18 is below 2^60, and so is the unit, so the product fits into 128 bits.
        let product = numerator * u128::from(unit);
        let part = u64::try_from((product + denominator / 2) / denominator).ok()?;
        let exact = product % denominator == 0 && kept.len() == self.fraction.len();
        let rounded = whole.checked_mul(unit)?.checked_add(part)?;
        Some(Scaled { rounded, exact })
    }

    /// The floating-point number nearest to this number times ten to the power of `exponent`.
    pub(crate) fn to_f64(self, exponent: u8) -> f64 {
        let Self {
            integer: whole,
            fraction,
        } = self;
        // The parser rounds once; a multiplication by a power of ten would round a second time. The
        // zeros make an empty part valid.
        format!("0{whole}.{fraction}0e{exponent}")
            .parse()
            .unwrap_or(f64::NAN)
    }
}

/// Splits off the ASCII digits at the start.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(text: &str, unit: u64) -> Option<(u64, bool)> {
        let (number, rest) = Decimal::take(text).unwrap();
        assert_eq!(rest, "");
        number.times(unit).map(|s| (s.rounded, s.exact))
    }

    #[test]
    fn a_product_is_rounded_once_and_marked_as_exact_or_not() {
        assert_eq!(times("1.5", 1024), Some((1536, true)));
        assert_eq!(times(".5", 1024), Some((512, true)));
        assert_eq!(times("1.3", 1024), Some((1331, false)));
        assert_eq!(times("0.9999999999999999999999", 10), Some((10, false)));
        assert_eq!(
            times("1.00000000000000000000000000000", 10),
            Some((10, true))
        );
    }

    #[test]
    fn a_product_beyond_64_bits_is_none() {
        assert_eq!(times("18446744073709551615", 1), Some((u64::MAX, true)));
        assert_eq!(times("18446744073709551615.5", 1), None);
        assert_eq!(times("18446744073709551616", 1), None);
        assert_eq!(times("18014398509481984", 1024), None);
        assert_eq!(times(&"9".repeat(5000), 1), None);
    }

    #[test]
    fn signs_exponents_and_bare_points_are_not_numbers() {
        for text in ["", ".", "-1", "+1", "1.", "1.k", "inf", "NaN", "\u{663}"] {
            assert!(Decimal::take(text).is_none(), "{text}");
        }
        assert_eq!(Decimal::take("1e5").unwrap().1, "e5");
    }
}
