//! Counters on which workers wait for each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Measure;

/// Counters that workers of a phase add to and take from. A worker waits while a counter holds too
/// little to take.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TokenCounters")]
pub struct Tokens {
    /// Name in messages and results.
    pub name: String,
    /// Number of counters; at least 1.
    pub counters: u32,
    /// Value of each counter at the start of a phase.
    #[serde(default)]
    pub start: u32,
    /// Capacity: a worker that adds waits while the counter would exceed this plus the amounts that
    /// waiting workers want to take. `None` for no limit.
    #[serde(default)]
    pub room: Option<u32>,
    /// Refill by the clock.
    #[serde(default)]
    pub refill: Option<Refill>,
}

/// Refill of counters by the clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Refill {
    /// Amount per second; above 0.
    pub per_second: f64,
    /// Amount per step; at least 1.
    pub at_once: u32,
    /// Limit up to which the clock fills a counter.
    pub most: u32,
}

/// Amount to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TakeAmount {
    /// A fixed amount.
    Fixed(u32),
    /// One per `each` units of work done since the last take; the remainder counts next time.
    Since {
        /// Kind of work.
        what: Measure,
        /// Units of work per token; at least 1.
        each: u64,
    },
}

/// Which of several counters to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CounterSelection {
    /// The worker's own counter; if there are fewer counters than workers in its group, neighbors
    /// share one.
    #[default]
    Mine,
    /// All counters, one after the other.
    Each,
    /// The worker's share of the counters in turn, if there are more counters than workers.
    Turns,
}
