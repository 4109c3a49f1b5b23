//! Who waits for whom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Rate;

use crate::flaw::Flaw;
use plan::program::{Refill, Tokens};

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

impl TokensTable {
    /// The counters.
    pub(super) fn tokens(&self) -> Result<Tokens, Flaw> {
        let (at_once, most) = (self.at_once, self.most);
        for (key, is_written) in [("at_once", at_once.is_some()), ("most", most.is_some())] {
            if is_written && self.rate.is_none() {
                return Err(Flaw::leave_out(key, format!("`{key}` needs a `rate`")));
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

    /// How they are written.
    pub(super) fn of(tokens: &Tokens, name: &str) -> Self {
        let refill = tokens.refill;
        Self {
            name: Some(name.to_owned()),
            counters: (tokens.counters != 1).then_some(tokens.counters),
            start: (tokens.start != 0).then_some(tokens.start),
            room: tokens.room,
            rate: refill.map(|it| Rate(it.per_second)),
            at_once: refill.map(|it| it.at_once),
            most: refill.map(|it| it.most),
        }
    }
}
