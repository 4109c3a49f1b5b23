//! Parses `--age`: how full a file system is made, and how much it is used first.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use units::Percent;

use crate::error::LabError;

/// Default churn. After writing twice the data again, hardly any file remains from the fill of the
/// empty file system.
const CHURN: f64 = 2.0;
const CHURN_MAX: f64 = 100.0;
/// Maximum fullness; above this, a workload has no space left.
const FULL_PERCENT_MAX: f64 = 95.0;
const EXTENTS_MAX: f64 = 1000.0;

/// Age of a file system before a workload runs on it.
///
/// Parsed and displayed as `70%`, `70%,churn=2` or `70%,churn=2,extents=1.5`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AgingOptions {
    /// Fullness as in `df`: used space divided by the space that is used or available to all users.
    pub fullness: Percent,
    /// Bytes written after the fill, as a multiple of the fill.
    pub churn: f64,
    /// Use continues until the files have this many extents on average, within limits.
    pub extents: Option<f64>,
    /// Seed of all operations.
    pub seed: u64,
}

impl AgingOptions {
    /// The same age with another seed.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}

impl FromStr for AgingOptions {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        let refused = |reason: String| LabError::BadAge {
            seen: plan::printable(text),
            reason,
        };
        let mut parts = text.split(',').map(str::trim);
        let fullness = fullness(parts.next().unwrap_or_default()).map_err(refused)?;
        let (mut churn, mut extents) = (None, None);
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let (place, range) = match key.trim() {
                "churn" => (&mut churn, 0.0..=CHURN_MAX),
                "extents" => (&mut extents, 1.0..=EXTENTS_MAX),
                _ => {
                    let part = plan::printable(part);
                    return Err(refused(format!(
                        "`{part}` is neither `churn=` nor `extents=`"
                    )));
                }
            };
            let number: Option<f64> = value.trim().parse().ok();
            let Some(number) = number.filter(|number| range.contains(number)) else {
                let (low, high) = (range.start(), range.end());
                let key = key.trim();
                return Err(refused(format!(
                    "`{key}=` takes a number from {low} to {high}"
                )));
            };
            if place.replace(number).is_some() {
                return Err(refused(format!("`{}=` is given twice", key.trim())));
            }
        }
        Ok(Self {
            fullness,
            churn: churn.unwrap_or(CHURN),
            extents,
            seed: 1,
        })
    }
}

/// Parses a percentage. A number of at most 1 without a percent sign is a share.
fn fullness(text: &str) -> Result<Percent, String> {
    let wanted =
        format!("it must begin with the fullness, above 0 % and at most {FULL_PERCENT_MAX} %");
    let Percent(number) = text.parse().map_err(|_| wanted.clone())?;
    // `0.7` and `70%` mean the same; `1%` has a percent sign and so stays 1 %.
    let is_share = !text.ends_with('%') && number <= 1.0;
    let percent = if is_share { number * 100.0 } else { number };
    match percent > 0.0 && percent <= FULL_PERCENT_MAX {
        true => Ok(Percent(percent)),
        false => Err(wanted),
    }
}

impl fmt::Display for AgingOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{},churn={}", self.fullness, self.churn)?;
        match self.extents {
            Some(extents) => write!(formatter, ",extents={extents}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> AgingOptions {
        text.parse().unwrap()
    }

    #[test]
    fn fullness_is_a_percentage_or_a_share() {
        for text in ["70%", "70", "0.7", " 70 % ", ".7"] {
            assert_eq!(read(text).fullness.0, 70.0, "{text}");
        }
        assert_eq!(read("0.5%").fullness.0, 0.5);
    }

    #[test]
    fn churn_has_a_default_and_can_be_set() {
        assert_eq!(read("50%").churn, CHURN);
        let options = read("50%, churn=0.5, extents=3");
        assert_eq!((options.churn, options.extents), (0.5, Some(3.0)));
        assert_eq!(read("50%,churn=0").churn, 0.0);
    }

    #[test]
    fn invalid_aging_text_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", "the fullness"),
            ("full", "the fullness"),
            ("0%", "above 0 %"),
            ("96%", "at most 95 %"),
            ("1", "at most 95 %"),
            ("170%", "at most 95 %"),
            ("-3%", "above 0 %"),
            ("70%,churn", "`churn=` takes a number from 0 to 100"),
            ("70%,churn=nan", "from 0 to 100"),
            ("70%,churn=-1", "from 0 to 100"),
            ("70%,extents=0", "from 1 to 1000"),
            ("70%,churn=1,churn=2", "`churn=` is given twice"),
            ("70%,often", "`often` is neither"),
            ("churn=2", "begin with the fullness"),
        ] {
            let error = text.parse::<AgingOptions>().unwrap_err();
            assert!(error.to_string().contains(reason), "{text}: {error}");
            assert!(error.is_usage_error() && error.help().is_some());
        }
    }

    proptest! {
        #[test]
        fn displayed_aging_parses_back(
            percent in 0.1_f64..95.0,
            churn in 0.0_f64..100.0,
            extents in proptest::option::of(1.0_f64..1000.0),
        ) {
            let fullness = Percent(percent);
            let aging = AgingOptions { fullness, churn, extents, seed: 1 };
            let read: AgingOptions = aging.to_string().parse().unwrap();
            prop_assert!((read.fullness.0 - percent).abs() < 1e-9);
            prop_assert_eq!((read.churn, read.extents), (churn, extents));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "[a-z0-9,.%= -]{0,30}") {
            let _ = text.parse::<AgingOptions>();
        }
    }
}
