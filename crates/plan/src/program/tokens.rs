//! Who waits for whom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Measure;

/// Counters that workers of a phase put to and take from; who finds too little waits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TokenCounters")]
pub struct Tokens {
    /// For people and diagnostics.
    pub name: String,
    /// How many counters there are; at least 1.
    pub counters: u32,
    /// What lies in each as a phase begins.
    #[serde(default)]
    pub start: u32,
    /// Whoever puts waits while more would lie there than this and what waits to be taken; nobody
    /// waits where none.
    #[serde(default)]
    pub room: Option<u32>,
    /// What the clock puts.
    #[serde(default)]
    pub refill: Option<Refill>,
}

/// What is put by the clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Refill {
    /// How much in a second; above 0.
    pub per_second: f64,
    /// So much at once; at least 1.
    pub at_once: u32,
    /// It never makes more lie there.
    pub most: u32,
}

/// How much is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Due {
    /// So much.
    Fixed(u32),
    /// One for each so much that was done since it was last taken; what is over counts next time.
    Since {
        /// Of what the worker does.
        what: Measure,
        /// How much is worth one; at least 1.
        each: u64,
    },
}

/// Which of several counters is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Whose {
    /// The worker's own; where there are fewer counters than workers in its group, neighbors
    /// share one.
    #[default]
    Mine,
    /// All of them, one after the other.
    Each,
    /// Those of the worker's share in turn, where there are more counters than workers.
    Turns,
}
