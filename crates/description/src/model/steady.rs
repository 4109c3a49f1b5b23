//! End of a cell, and criteria for steady rounds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Percent;

/// End of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UntilChoice {
    /// After `run_time`, or after `operations`.
    Time,
    /// Once rounds of `run_time` each are steady.
    Steady,
}

/// Criteria for steady rounds, as in SNIA's performance test specification.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SteadyChoice {
    /// Number of the last rounds that are judged, 2 to 1000. Default: 5.
    pub window: Option<u32>,
    /// Largest difference between the largest and the smallest of them, in percent of their mean,
    /// above 0. Default: 20.
    pub range: Option<Percent>,
    /// Largest change over the window of a line fitted through them, in percent of their mean,
    /// above 0. Default: 10.
    pub excursion: Option<Percent>,
    /// Give up after this many rounds, from `window` to 10000. Default: 25.
    pub rounds: Option<u32>,
}
