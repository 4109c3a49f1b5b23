//! When a cell ends, and when rounds count as steady.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Percent;

/// When a cell ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UntilChoice {
    /// After `run_time`, or after so many `operations`.
    Time,
    /// When rounds of `run_time` each are steady.
    Steady,
}

/// When the rounds of a cell count as steady, as SNIA's performance test specification has it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SteadyChoice {
    /// How many of the last rounds are judged, 2 to 1000. Default: 5.
    pub window: Option<u32>,
    /// How much the largest and the smallest of them may differ, in percent of their mean, above
    /// 0. Default: 20.
    pub range: Option<Percent>,
    /// How much the ends of the line fitted through them may differ, in percent of their mean,
    /// above 0. Default: 10.
    pub excursion: Option<Percent>,
    /// Give up after this many rounds, `window` to 10000. Default: 25.
    pub rounds: Option<u32>,
}
