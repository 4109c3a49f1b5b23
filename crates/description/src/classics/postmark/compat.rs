//! The versions of PostMark whose results and texts can be had.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use plan::program::PoolDraws;

/// Bytes of what PostMark calls a kilobyte, in every version.
const KILOBYTE: u32 = 1024;

/// A version of PostMark, as far as it changes results or texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PostmarkCompat")]
pub enum Compat {
    /// The last version with the 15-bit generator and megabytes of 1,024,000 bytes.
    #[serde(rename = "1.14")]
    V1_14,
    /// The first with the Mersenne Twister; its "deleted" figures are those of creation.
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

/// How fine the report's clock is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Clock {
    /// Whole seconds, no interval shorter than one.
    Seconds,
    /// Microseconds, printed with four decimals.
    Microseconds,
}

impl Compat {
    /// Every version with the name that selects it.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::V1_14, "1.14"),
        (Self::V1_5, "1.5"),
        (Self::V1_53, "1.53"),
        (Self::V1_54, "1.54"),
    ];

    /// The name that selects the version.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1_14 => "1.14",
            Self::V1_5 => "1.5",
            Self::V1_53 => "1.53",
            Self::V1_54 => "1.54",
        }
    }

    /// The line printed at the start, with its line break.
    ///
    /// The date of 1.14 is not known, so that its banner has none.
    #[must_use]
    pub const fn banner(self) -> &'static str {
        match self {
            Self::V1_14 => "PostMark v1.14\n",
            Self::V1_5 => "PostMark v1.5 : 3/27/01\n",
            Self::V1_53 => "PostMark v1.51 : 8/14/01\n",
            Self::V1_54 => "PostMark v1.54 : 9/27/2025\n",
        }
    }

    /// The version's source of random numbers.
    #[must_use]
    pub const fn draws(self) -> PoolDraws {
        match self {
            Self::V1_14 => PoolDraws::Congruential15,
            Self::V1_5 | Self::V1_53 | Self::V1_54 => PoolDraws::Twister1999,
        }
    }

    /// The version's clock.
    #[must_use]
    pub const fn clock(self) -> Clock {
        match self {
            Self::V1_14 | Self::V1_5 | Self::V1_53 => Clock::Seconds,
            Self::V1_54 => Clock::Microseconds,
        }
    }

    /// Bytes of what the version calls a kilobyte.
    #[must_use]
    pub const fn kilobyte_bytes(self) -> u32 {
        KILOBYTE
    }

    /// Bytes of what the version calls a megabyte.
    #[must_use]
    pub const fn megabyte_bytes(self) -> u32 {
        match self {
            Self::V1_14 => 1000 * KILOBYTE,
            Self::V1_5 | Self::V1_53 | Self::V1_54 => KILOBYTE * KILOBYTE,
        }
    }

    /// Whether the report takes "deleted" from what was created, as before 1.52.
    #[must_use]
    pub const fn reports_created_as_deleted(self) -> bool {
        self.is_before_1_51()
    }

    /// Whether the version knows `load` and has the error texts that came with it.
    pub(super) const fn is_before_1_51(self) -> bool {
        matches!(self, Self::V1_14 | Self::V1_5)
    }
}

impl fmt::Display for Compat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A version that cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no PostMark version `{name}` to be compatible with")]
pub struct UnknownCompat {
    /// What was asked for.
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
