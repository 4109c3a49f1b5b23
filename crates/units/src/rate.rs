//! Rates: `20k/s`, `5000/s`, `5000`; the unit letters are decimal, because rates count events.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::decimal::Decimal;
use crate::error::shortened;
use crate::wire::on_the_wire;
use crate::{Bytes, UnitError};

/// Below this value, every whole floating-point number is exact.
const EXACT_BELOW: f64 = 9_007_199_254_740_992.0;

/// A number of events per second; above 0 when parsed or read from a file.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Rate(pub f64);

impl FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let parsed = Decimal::take(text.trim())
            .and_then(|(number, suffix)| Some(number.to_f64(exponent_of(suffix)?)));
        let Some(rate) = parsed else {
            let help = match is_bandwidth(text) {
                true => "a rate counts requests: divide the bandwidth by the block size",
                false => "write a rate such as `20k/s`, `5000/s` or `5000`",
            };
            return Err(UnitError::Malformed {
                seen: shortened(text),
                wanted: "a rate",
                help: help.into(),
            });
        };
        // A number of 400 digits becomes infinite, or 0 if they follow the point.
        if !(rate > 0.0 && rate.is_finite()) {
            return Err(UnitError::OutOfRange {
                seen: shortened(text),
                wanted: "the rates above 0 per second",
                help: "write a rate such as `20k/s`".into(),
            });
        }
        Ok(Self(rate))
    }
}

/// `true` for bytes or bits per second, such as `5MB/s` and `100Mbps`.
fn is_bandwidth(text: &str) -> bool {
    // Only a small `b` may mean either unit.
    let text = text.trim().to_ascii_uppercase();
    let size = text.strip_suffix("/S").or(text.strip_suffix("PS"));
    size.unwrap_or(&text).trim_end().parse::<Bytes>().is_ok()
}

/// The power of ten that a suffix stands for.
fn exponent_of(suffix: &str) -> Option<u8> {
    let suffix = suffix.trim_start().to_ascii_lowercase();
    match suffix.strip_suffix("/s").unwrap_or(&suffix).trim_end() {
        "" => Some(0),
        "k" => Some(3),
        "m" => Some(6),
        "g" => Some(9),
        _ => None,
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let letter = [(1e9, "g"), (1e6, "m"), (1e3, "k")]
            .into_iter()
            // Above this limit, the division could lose digits, and the text would not read back.
            .find(|(unit, _)| (*unit..EXACT_BELOW).contains(&self.0) && self.0 % unit == 0.0);
        let (unit, letter) = letter.unwrap_or((1.0, ""));
        formatter.pad(&format!("{}{letter}/s", self.0 / unit))
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

on_the_wire!(
    Rate,
    "a rate above 0: text such as `20k/s`, or a number per second",
    "number",
    r"^\s*([0-9]+(\.[0-9]+)?|\.[0-9]+)\s*[kKmMgG]?\s*(/[sS])?\s*$",
    &["20k/s", "5000/s"]
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<f64, String> {
        text.parse::<Rate>()
            .map(|rate| rate.0)
            .map_err(|e| format!("{e}; {}", e.help()))
    }

    #[test]
    fn rate_suffixes_are_decimal() {
        for (text, rate) in [
            ("20k/s", 20e3),
            ("5000/s", 5e3),
            ("5000", 5e3),
            ("1m/s", 1e6),
            ("2G", 2e9),
            ("1.1k/s", 1100.0),
            ("0.5/s", 0.5),
            ("20 K /s", 20e3),
        ] {
            assert_eq!(parse(text), Ok(rate), "{text}");
        }
    }

    #[test]
    fn a_rate_of_zero_or_infinity_is_refused() {
        for text in ["0", "0k/s", &"9".repeat(400)] {
            assert!(
                parse(text)
                    .unwrap_err()
                    .contains("is outside the rates above 0"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_bad_rate_error_shows_the_text_and_the_expected_form() {
        let help = "write a rate such as `20k/s`, `5000/s` or `5000`";
        for text in ["", "/s", "-5", "NaN", "5/m", "5kk/s", "5/s/s", "1e3"] {
            assert_eq!(parse(text), Err(format!("`{text}` is not a rate; {help}")));
        }
    }

    #[test]
    fn a_bandwidth_is_not_a_rate() {
        let help = "a rate counts requests: divide the bandwidth by the block size";
        for text in ["5MB/s", "100 MiB/s", "10mbps", "4kB"] {
            assert_eq!(parse(text), Err(format!("`{text}` is not a rate; {help}")));
        }
    }

    #[test]
    fn a_rate_prints_with_the_largest_suffix_that_loses_nothing() {
        for (rate, wanted) in [
            (20e3, "20k/s"),
            (5500.0, "5500/s"),
            (1e6, "1m/s"),
            (0.5, "0.5/s"),
            (1e9, "1g/s"),
        ] {
            assert_eq!(Rate(rate).to_string(), wanted);
            assert_eq!(
                serde_json::to_string(&Rate(rate)).unwrap(),
                format!("\"{wanted}\"")
            );
        }
        assert_eq!(serde_json::from_str::<Rate>("5000").unwrap(), Rate(5e3));
        assert!(serde_json::from_str::<Rate>("0").is_err());
    }

    proptest! {
        #[test]
        fn a_printed_size_reads_back(
            rate in any::<f64>().prop_map(f64::abs).prop_filter("a rate", |r| r.is_normal()),
            whole in 1_u64..1 << 60,
        ) {
            for rate in [rate, whole as f64, (whole % 1000 + 1) as f64 * 1e3] {
                prop_assert_eq!(Rate(rate).to_string().parse(), Ok(Rate(rate)));
            }
        }

        #[test]
        fn parsing_a_size_never_panics(text: String, near in "[0-9.]{0,400} ?[kmgKMG]{0,2}/?s?") {
            let _ = text.parse::<Rate>();
            let _ = near.parse::<Rate>();
        }
    }
}
