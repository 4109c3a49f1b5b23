//! Versions of PostMark whose behavior and output are supported.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use plan::program::PoolGenerator;

/// Bytes of a kilobyte in PostMark, in every version.
const KILOBYTE: u32 = 1024;

/// A version of PostMark, as far as it affects results or output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PostmarkCompat")]
pub enum Compat {
    /// The last version with the 15-bit generator and megabytes of 1,024,000 bytes.
    #[serde(rename = "1.14")]
    V1_14,
    /// The first with the Mersenne Twister; it reports the creation results as "deleted".
    #[serde(rename = "1.5")]
    V1_5,
    /// 1.53, whose banner still says 1.51.
    #[default]
    #[serde(rename = "1.53")]
    V1_53,
    /// 1.53 with a clock of microseconds.
    #[serde(rename = "1.54")]
    V1_54,
}

/// Resolution of the report's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReportClock {
    /// Whole seconds, no interval shorter than one.
    Seconds,
    /// Microseconds, printed with four decimals.
    Microseconds,
}

impl Compat {
    /// All versions, each with the name that selects it.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::V1_14, "1.14"),
        (Self::V1_5, "1.5"),
        (Self::V1_53, "1.53"),
        (Self::V1_54, "1.54"),
    ];

    /// Name that selects the version.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1_14 => "1.14",
            Self::V1_5 => "1.5",
            Self::V1_53 => "1.53",
            Self::V1_54 => "1.54",
        }
    }

    /// First line of its output, with a line break.
    ///
    /// The date of 1.14 is not known, so its banner has none.
    #[must_use]
    pub const fn banner(self) -> &'static str {
        match self {
            Self::V1_14 => "PostMark v1.14\n",
            Self::V1_5 => "PostMark v1.5 : 3/27/01\n",
            // 1.52 and 1.53 still print the constant of 1.51.
            Self::V1_53 => "PostMark v1.51 : 8/14/01\n",
            Self::V1_54 => "PostMark v1.54 : 9/27/2025\n",
        }
    }

    /// Random number generator of the version.
    #[must_use]
    pub const fn draws(self) -> PoolGenerator {
        match self {
            Self::V1_14 => PoolGenerator::Congruential15,
            Self::V1_5 | Self::V1_53 | Self::V1_54 => PoolGenerator::Twister1999,
        }
    }

    /// Clock of the version.
    #[must_use]
    pub const fn clock(self) -> ReportClock {
        match self {
            Self::V1_14 | Self::V1_5 | Self::V1_53 => ReportClock::Seconds,
            Self::V1_54 => ReportClock::Microseconds,
        }
    }

    /// Bytes of a kilobyte in this version.
    #[must_use]
    pub const fn kilobyte_bytes(self) -> u32 {
        KILOBYTE
    }

    /// Bytes of a megabyte in this version.
    #[must_use]
    pub const fn megabyte_bytes(self) -> u32 {
        match self {
            Self::V1_14 => 1000 * KILOBYTE,
            Self::V1_5 | Self::V1_53 | Self::V1_54 => KILOBYTE * KILOBYTE,
        }
    }

    /// `true` if the report prints creation results as "deleted", as before 1.52.
    #[must_use]
    pub const fn reports_created_as_deleted(self) -> bool {
        self.is_before_1_51()
    }

    /// `true` if the version is older than 1.51, which added `load` and changed error texts.
    #[must_use]
    pub const fn is_before_1_51(self) -> bool {
        matches!(self, Self::V1_14 | Self::V1_5)
    }
}

impl fmt::Display for Compat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A version that is not supported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no PostMark version `{name}` to be compatible with")]
pub struct UnknownCompat {
    /// Name that was given.
    pub name: String,
}

impl UnknownCompat {
    /// One action that helps.
    #[must_use]
    pub fn help(&self) -> String {
        let names = Compat::ALL.map(|(_, name)| name);
        format!("use one of {}", names.join(", "))
    }
}

impl FromStr for Compat {
    type Err = UnknownCompat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|(_, known)| *known == name)
            .map(|(compat, _)| compat)
            .ok_or_else(|| UnknownCompat {
                name: name.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_chosen_by_name() {
        for (compat, name) in Compat::ALL {
            assert_eq!(name.parse(), Ok(compat));
            assert_eq!(compat.to_string(), name);
        }
        let error = "1.6".parse::<Compat>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no PostMark version `1.6` to be compatible with"
        );
        assert_eq!(error.help(), "use one of 1.14, 1.5, 1.53, 1.54");
    }
}
