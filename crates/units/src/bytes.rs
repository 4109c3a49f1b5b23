//! Sizes: `4k` is 4096 as in all common storage tools; `4kB` is 4000.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::UnitError;
use crate::decimal::Decimal;
use crate::error::shortened;
use crate::wire::on_the_wire;

/// Binary units for printing, largest first.
const BINARY: [(u64, &str); 5] = [
    (1 << 50, "PiB"),
    (1 << 40, "TiB"),
    (1 << 30, "GiB"),
    (1 << 20, "MiB"),
    (1 << 10, "KiB"),
];

/// A number of bytes.
///
/// Parses `4k`, `4K`, `4KiB` (binary), `4kB` (decimal), `1.5g`, `512` and `512B`. Refuses `4kb`,
/// which is 4096 in some programs and 4000 in others. Prints the shortest exact binary form.
///
/// ```
/// use units::Bytes;
///
/// let size: Bytes = "1.5g".parse()?;
/// assert_eq!(size, Bytes(1536 * Bytes::MIB));
/// assert_eq!(Bytes(4096).to_string(), "4KiB");
/// # Ok::<(), units::UnitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

impl Bytes {
    /// 1024 bytes.
    pub const KIB: u64 = 1 << 10;
    /// 1024 KiB.
    pub const MIB: u64 = 1 << 20;
    /// 1024 MiB.
    pub const GIB: u64 = 1 << 30;

    /// Parses the value of an option that fio has too. Refuses `4kB` in any case: it is 4096 bytes
    /// in fio, which ignores the case, and 4000 bytes by the standard.
    ///
    /// # Errors
    /// The text is not a size, or has two meanings.
    pub fn of_option(text: &str) -> Result<Self, UnitError> {
        let help = "write a size such as `4k`, `1.5GiB` or `512`";
        match unit_with_b(text.trim()) {
            Some((count, unit)) => {
                let Self(bytes) = Self::parse(&format!("{count}{unit}B"), help)?;
                Err(ambiguous(text, count, unit, &bytes.to_string()))
            }
            None => Self::parse(text, help),
        }
    }

    /// Parses a size. `help` is for text that is no size at all.
    fn parse(text: &str, help: &str) -> Result<Self, UnitError> {
        let parsed = Decimal::take(text.trim())
            .and_then(|(number, suffix)| Some((number, bytes_of(suffix.trim_start())?)));
        let Some((number, unit_bytes)) = parsed else {
            return Err(UnitError::Malformed {
                seen: shortened(text),
                wanted: "a size",
                help: help.into(),
            });
        };
        // After the form is checked: text that is no size at all gets the general help.
        if let Some((count, unit)) = unit_with_b(text.trim()).filter(|_| text.trim().ends_with('b'))
        {
            return Err(ambiguous(text, count, unit, &format!("{count}{unit}B")));
        }
        match number.times(unit_bytes) {
            Some(scaled) if scaled.exact => Ok(Self(scaled.rounded)),
            // A silently rounded size would differ from what the user wrote.
            Some(scaled) => Err(UnitError::Fraction {
                seen: shortened(text),
                wanted: "a whole number of bytes",
                help: format!("write `{}`", Self(scaled.rounded)),
            }),
            None => Err(UnitError::OutOfRange {
                seen: shortened(text),
                wanted: "0 to 18446744073709551615 bytes",
                help: "write a smaller size".into(),
            }),
        }
    }
}

impl From<u64> for Bytes {
    fn from(bytes: u64) -> Self {
        Self(bytes)
    }
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        Self::parse(text, "write a size such as `4k`, `1.5GiB`, `4kB` or `512`")
    }
}

/// The number and the unit letter of a size such as `4kb` or `4kB`; `None` without the `b`, or with
/// an `i` before it.
fn unit_with_b(text: &str) -> Option<(&str, &str)> {
    let before = text.strip_suffix(['b', 'B'])?;
    let at = before.len().checked_sub(1)?;
    let (count, unit) = before.split_at_checked(at)?;
    let is_unit = "kmgtp".contains(&unit.to_ascii_lowercase());
    is_unit.then(|| (count.trim_end(), unit))
}

/// The error about a size such as `4kb`, which is 4096 bytes in fio and 4000 bytes by the standard.
fn ambiguous(text: &str, count: &str, unit: &str, decimal: &str) -> UnitError {
    UnitError::Malformed {
        seen: shortened(text),
        wanted: "an unambiguous size",
        help: format!(
            "write `{count}{unit}` for units of 1024, as fio reads it, or `{decimal}` for units of \
             1000"
        ),
    }
}

/// Bytes of a unit suffix, ignoring case.
fn bytes_of(suffix: &str) -> Option<u64> {
    let mut letters = suffix.bytes().map(|byte| byte.to_ascii_lowercase());
    let power = match letters.next() {
        None => return Some(1),
        Some(b'b') => return letters.next().is_none().then_some(1),
        Some(letter) => b"kmgtp".iter().position(|it| *it == letter)? as u32 + 1,
    };
    let base: u64 = match (letters.next(), letters.next(), letters.next()) {
        (None, ..) | (Some(b'i'), Some(b'b'), None) => 1024,
        (Some(b'b'), None, _) => 1000,
        _ => return None,
    };
    // At most 2^50, so `Decimal::times` accepts it.
    Some(base.pow(power))
}

impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        // A quarter is the smallest fraction whose form is shorter in the larger unit.
        let largest = BINARY
            .iter()
            .find(|(unit, _)| self.0 >= *unit && self.0.is_multiple_of(*unit / 4));
        let Some((unit, name)) = largest else {
            // Unlike `write!`, `pad` applies a width such as `{:>6}`.
            return formatter.pad(&format!("{}B", self.0));
        };
        let quarters = ["", ".25", ".5", ".75"][(self.0 % unit / (unit / 4)) as usize];
        formatter.pad(&format!("{}{quarters}{name}", self.0 / unit))
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

on_the_wire!(
    Bytes,
    "a size: text such as `4k` (4096), `4kB` (4000) or `1.5GiB`, or a number of bytes",
    // There are no fractions of a byte, so editors with the schema refuse them, too.
    "integer",
    // `kb` is missing on purpose, as in `ambiguous`.
    r"^\s*([0-9]+(\.[0-9]+)?|\.[0-9]+)\s*([bB]|[kKmMgGtTpP](B|[iI][bB])?)?\s*$",
    &["4k", "1.5GiB", "512"]
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<u64, String> {
        text.parse::<Bytes>()
            .map(|bytes| bytes.0)
            .map_err(|e| format!("{e}; {}", e.help()))
    }

    #[test]
    fn k_is_binary_and_kb_is_decimal() {
        for text in [
            "4k", "4K", "4KiB", "4kib", "4 KiB", " 4096 ", "4096B", "4096b",
        ] {
            assert_eq!(parse(text), Ok(4096), "{text}");
        }
        assert_eq!(parse("4kB"), Ok(4000));
        assert_eq!(parse("4KB"), Ok(4000));
        assert_eq!(parse("1MB"), Ok(1_000_000));
        assert_eq!(parse("1m"), Ok(1 << 20));
        assert_eq!(parse("1.5g"), Ok(3 << 29));
        assert_eq!(parse("2GB"), Ok(2_000_000_000));
        assert_eq!(parse("1T"), Ok(1 << 40));
        assert_eq!(parse("1TB"), Ok(1_000_000_000_000));
        assert_eq!(parse("3PiB"), Ok(3 << 50));
        assert_eq!(parse("0"), Ok(0));
    }

    #[test]
    fn an_ambiguous_size_suffix_is_refused_with_both_meanings() {
        for (text, count, unit) in [("4kb", "4", "k"), ("1.5 Mb", "1.5", "M"), ("2gb", "2", "g")] {
            let wanted = format!(
                "`{text}` is not an unambiguous size; write `{count}{unit}` for \
                 units of 1024, as fio reads it, or `{count}{unit}B` for units of 1000"
            );
            assert_eq!(parse(text), Err(wanted));
        }
        assert_eq!(parse("4kib"), Ok(4096));
        assert_eq!(parse("4b"), Ok(4));
    }

    #[test]
    fn an_option_of_fio_refuses_all_spellings_of_a_decimal_unit() {
        let parse = |text: &str| {
            let parsed = Bytes::of_option(text);
            parsed.map_err(|error| format!("{error}; {}", error.help()))
        };
        for (text, binary, decimal) in [
            ("4kb", "4k", "4000"),
            ("4kB", "4k", "4000"),
            ("4Kb", "4K", "4000"),
            (" 4 KB ", "4K", "4000"),
            ("1.5MB", "1.5M", "1500000"),
            ("2gB", "2g", "2000000000"),
        ] {
            let wanted = format!(
                "`{text}` is not an unambiguous size; write `{binary}` for units of 1024, as fio \
                 reads it, or `{decimal}` for units of 1000"
            );
            assert_eq!(parse(text), Err(wanted));
        }
        for text in ["4k", "4K", "4KiB", "4kib", "4096", "4096B"] {
            assert_eq!(parse(text), Ok(Bytes(4096)), "{text}");
        }
        let help = "write a size such as `4k`, `1.5GiB` or `512`";
        for text in ["xkB", "kB", "4q"] {
            assert!(parse(text).unwrap_err().ends_with(help), "{text}");
        }
    }

    #[test]
    fn a_bad_size_error_shows_the_text_and_the_expected_form() {
        let help = "write a size such as `4k`, `1.5GiB`, `4kB` or `512`";
        for text in [
            "", "k", "-1", "-4k", "NaN", "inf", "4x", "4kk", "4kBB", "1e6", "4 k k", "4,5k",
        ] {
            assert_eq!(parse(text), Err(format!("`{text}` is not a size; {help}")));
        }
    }

    #[test]
    fn a_fraction_of_a_byte_is_refused_with_the_nearest_size() {
        let wanted = "`1.3k` is not a whole number of bytes; write `1331B`";
        assert_eq!(parse("1.3k"), Err(wanted.into()));
    }

    #[test]
    fn a_size_beyond_64_bits_is_refused() {
        assert_eq!(parse("18446744073709551615"), Ok(u64::MAX));
        for text in ["18446744073709551616", "16384p", "99999999999999999999999t"] {
            let wanted = "outside 0 to 18446744073709551615 bytes; write a smaller size";
            assert_eq!(parse(text), Err(format!("`{text}` is {wanted}")));
        }
    }

    #[test]
    fn a_size_prints_in_the_largest_unit_that_loses_nothing() {
        for (bytes, wanted) in [
            (0, "0B"),
            (512, "512B"),
            (1000, "1000B"),
            (1024, "1KiB"),
            (1536, "1.5KiB"),
            (4096, "4KiB"),
            (3 << 29, "1.5GiB"),
            (5 << 18, "1.25MiB"),
            ((1 << 30) + 1, "1073741825B"),
            (1023 << 10, "1023KiB"),
            (u64::MAX, "18446744073709551615B"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), wanted);
        }
        assert_eq!(format!("{:>6}", Bytes(4096)), "  4KiB");
    }

    #[test]
    fn sizes_deserialize_from_text_or_numbers() {
        assert_eq!(serde_json::to_string(&Bytes(4096)).unwrap(), "\"4KiB\"");
        assert_eq!(serde_json::from_str::<Bytes>("4096").unwrap(), Bytes(4096));
        assert_eq!(
            serde_json::from_str::<Bytes>("\"4k\"").unwrap(),
            Bytes(4096)
        );
        for refused in ["-1", "1.5", "true", "null", "[]", "1e300", "\"\""] {
            assert!(serde_json::from_str::<Bytes>(refused).is_err(), "{refused}");
        }
        let error = serde_json::from_str::<Bytes>("-1").unwrap_err().to_string();
        assert!(
            error.starts_with("`-1` is not a size; write a size such as"),
            "{error}"
        );
    }

    proptest! {
        #[test]
        fn a_printed_size_reads_back(bytes: u64, shift in 0_u32..64) {
            for bytes in [bytes, bytes >> shift, bytes << shift] {
                prop_assert_eq!(Bytes(bytes).to_string().parse(), Ok(Bytes(bytes)));
            }
        }

        #[test]
        fn parsing_never_panics(text: String, near in "[0-9.]{0,25} ?[kKmMgGtTpPiIbB]{0,4}") {
            let _ = text.parse::<Bytes>();
            let _ = near.parse::<Bytes>();
        }
    }
}
