//! Who waits for whom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Rate;

/// Counters that the workers of a phase `put` to and `take` from; whoever finds too little waits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TokensTable {
    /// Name by which acts call them. Must be written.
    pub name: Option<String>,
    /// How many counters there are, 1 to 65536; workers use those of their number. Default: 1.
    pub counters: Option<u32>,
    /// How much lies in each as a phase begins. Default: 0.
    pub start: Option<u32>,
    /// Whoever puts waits while more would lie there than this and what waits to be taken.
    /// Default: nobody waits to put.
    pub room: Option<u32>,
    /// How much the clock puts to each. Default: nothing.
    pub rate: Option<Rate>,
    /// How much the clock puts at once. Default: 1.
    pub at_once: Option<u32>,
    /// The clock never makes more lie there. Default: as much as it puts in a second.
    pub most: Option<u32>,
}
