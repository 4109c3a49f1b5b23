//! Counters on which workers wait for each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Rate;

use crate::flaw::ValueError;
use plan::program::{Refill, Tokens};

/// Counters that the workers of a phase `put` to and `take` from. A worker waits while a counter
/// holds too little to take.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TokensTable {
    /// Name by which acts refer to the counters. Required.
    pub name: Option<String>,
    /// Number of counters, 1 to 65536; each worker uses the one with its number. Default: 1.
    pub counters: Option<u32>,
    /// Value of each counter at the start of a phase. Default: 0.
    pub start: Option<u32>,
    /// Capacity: `put` waits while the counter would exceed this plus the amounts that waiting
    /// workers want to take. Default: unlimited, `put` never waits.
    pub room: Option<u32>,
    /// Amount added to each counter per second by the clock. Default: nothing.
    pub rate: Option<Rate>,
    /// Amount that the clock adds in one step. Default: 1.
    pub at_once: Option<u32>,
    /// Limit up to which the clock fills a counter. Default: the amount it adds in a second.
    pub most: Option<u32>,
}

impl TokensTable {
    /// The counters of this table.
    pub(super) fn tokens(&self) -> Result<Tokens, ValueError> {
        let (at_once, most) = (self.at_once, self.most);
        for (key, is_written) in [("at_once", at_once.is_some()), ("most", most.is_some())] {
            if is_written && self.rate.is_none() {
                return Err(ValueError::leave_out(
                    key,
                    format!("`{key}` needs a `rate`"),
                ));
            }
        }
        let at_once = at_once.unwrap_or(1);
        Ok(Tokens {
            name: self.name.clone().unwrap_or_default(),
            counters: self.counters.unwrap_or(1),
            start: self.start.unwrap_or(0),
            room: self.room,
            refill: self.rate.map(|rate| Refill {
                per_second: rate.0,
                at_once,
                // The cast saturates.
                most: most.unwrap_or((rate.0 as u32).max(at_once)),
            }),
        })
    }

    /// The table for the counters.
    pub(super) fn of(tokens: &Tokens, name: &str) -> Self {
        let refill = tokens.refill;
        Self {
            name: Some(name.to_owned()),
            counters: (tokens.counters != 1).then_some(tokens.counters),
            start: (tokens.start != 0).then_some(tokens.start),
            room: tokens.room,
            rate: refill.map(|it| Rate(it.per_second)),
            // Always written, because the default of `most` depends on the rate and on this.
            at_once: refill.map(|it| it.at_once),
            most: refill.map(|it| it.most),
        }
    }
}
