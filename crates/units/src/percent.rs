//! Percentages: `67`, `67%`, `33.3%`.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::UnitError;
use crate::decimal::Decimal;
use crate::error::shortened;
use crate::wire::on_the_wire;

/// A percentage from 0 to 100.
///
/// Parsing and deserialization check the range; code that creates a value must check it itself.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Percent(pub f64);

impl Percent {
    /// The percentage as a fraction of 1.
    #[must_use]
    pub fn fraction(self) -> f64 {
        self.0 / 100.0
    }
}

impl FromStr for Percent {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let number = match Decimal::take(text.trim()) {
            Some((number, suffix)) if matches!(suffix.trim_start(), "" | "%") => number,
            _ => {
                return Err(UnitError::Malformed {
                    seen: shortened(text),
                    wanted: "a percentage",
                    help: "write a percentage such as `67`, `67%` or `33.3%`".into(),
                });
            }
        };
        let percent = number.to_f64(0);
        // This also refuses NaN, which `to_f64` returns if it fails.
        if !(0.0..=100.0).contains(&percent) {
            return Err(UnitError::OutOfRange {
                seen: shortened(text),
                wanted: "0 % to 100 %",
                help: "write a percentage of at most 100".into(),
            });
        }
        Ok(Self(percent))
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(&format!("{}%", self.0))
    }
}

impl Serialize for Percent {
    /// Serializes as a whole number if possible, as users write percentages in files.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Code may create values outside the range; the cast would change them.
        if self.0.fract() == 0.0 && (0.0..=100.0).contains(&self.0) {
            serializer.serialize_u8(self.0 as u8)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

on_the_wire!(
    Percent,
    "a percentage from 0 to 100: a number, or text such as `67%`",
    "number",
    r"^\s*([0-9]+(\.[0-9]+)?|\.[0-9]+)\s*%?\s*$",
    &["67%", "33.3%"]
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<f64, String> {
        text.parse::<Percent>()
            .map(|p| p.0)
            .map_err(|e| format!("{e}; {}", e.help()))
    }

    #[test]
    fn the_percent_sign_is_optional() {
        for (text, percent) in [
            ("67", 67.0),
            ("67%", 67.0),
            ("33.3 %", 33.3),
            ("0", 0.0),
            ("100%", 100.0),
        ] {
            assert_eq!(parse(text), Ok(percent));
        }
    }

    #[test]
    fn more_than_100_percent_is_refused() {
        for text in ["100.1", "101%", "99999999999999999999999999999999"] {
            let wanted = "outside 0 % to 100 %; write a percentage of at most 100";
            assert_eq!(parse(text), Err(format!("`{text}` is {wanted}")));
        }
        assert!(parse(&"9".repeat(1000)).is_err());
    }

    #[test]
    fn a_bad_percentage_error_shows_the_text_and_the_expected_form() {
        let help = "write a percentage such as `67`, `67%` or `33.3%`";
        for text in ["", "%", "-1", "NaN", "inf", "1e1", "50%%", "half"] {
            assert_eq!(
                parse(text),
                Err(format!("`{text}` is not a percentage; {help}"))
            );
        }
    }

    #[test]
    fn percentages_serialize_as_numbers() {
        assert_eq!(serde_json::to_string(&Percent(67.0)).unwrap(), "67");
        assert_eq!(serde_json::to_string(&Percent(33.3)).unwrap(), "33.3");
        for (text, percent) in [("67", 67.0), ("67.0", 67.0), ("\"33.3%\"", 33.3)] {
            assert_eq!(
                serde_json::from_str::<Percent>(text).unwrap(),
                Percent(percent)
            );
        }
        assert!(serde_json::from_str::<Percent>("-3").is_err());
    }

    proptest! {
        #[test]
        fn a_printed_size_reads_back(percent in 0.0..=100.0_f64) {
            prop_assert_eq!(Percent(percent).to_string().parse(), Ok(Percent(percent)));
        }

        #[test]
        fn parsing_a_size_never_panics(text: String, near in "[0-9.]{0,400} ?%?") {
            let _ = text.parse::<Percent>();
            let _ = near.parse::<Percent>();
        }
    }
}
