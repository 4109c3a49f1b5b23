//! Acts that wait for other workers, and what they wait for.

use super::super::Flaw;
use super::Writer;
use crate::model::{ActTable, TokensTable, Workload};
use plan::program::{Act, Due, Measure, Refill, Tokens};

/// The tokens of a workload.
pub(super) fn tokens(workload: &Workload) -> Result<Vec<Tokens>, Flaw> {
    let tables = workload.tokens.iter().enumerate();
    tables
        .map(|(index, table)| of_table(table).map_err(|flaw| flaw.within("tokens", index)))
        .collect()
}

fn of_table(table: &TokensTable) -> Result<Tokens, Flaw> {
    for (key, is_written) in [
        ("at_once", table.at_once.is_some()),
        ("most", table.most.is_some()),
    ] {
        if is_written && table.rate.is_none() {
            let message = format!("`{key}` needs a `rate`");
            return Err(Flaw::new(key, message, format!("leave `{key}` out")));
        }
    }
    let refill = table.rate.map(|rate| {
        let at_once = table.at_once.unwrap_or(1);
        Refill {
            per_second: rate.0,
            at_once,
            // The cast saturates.
            most: table.most.unwrap_or((rate.0 as u32).max(at_once)),
        }
    });
    Ok(Tokens {
        name: table.name.clone().unwrap_or_default(),
        counters: table.counters.unwrap_or(1),
        start: table.start.unwrap_or(0),
        room: table.room,
        refill,
    })
}

impl Writer<'_> {
    /// The act of a table whose verb is about other workers.
    pub fn wait(&mut self, table: &ActTable) -> Result<Option<Act>, Flaw> {
        let whose = table.whose.unwrap_or_default();
        if let Some(name) = &table.put {
            return Ok(Some(Act::Put {
                tokens: self.names.tokens("put", name)?,
                count: table.count.unwrap_or(1),
                whose,
            }));
        }
        if let Some(name) = &table.take {
            return Ok(Some(Act::Take {
                tokens: self.names.tokens("take", name)?,
                count: self.due(table)?,
                whose,
            }));
        }
        match &table.meet {
            Some(name) => Ok(Some(Act::Meet(self.names.meeting("meet", name)?))),
            None => Ok(None),
        }
    }

    fn due(&mut self, table: &ActTable) -> Result<Due, Flaw> {
        let label = match &table.of {
            Some(name) => Some(self.names.label("of", name)?),
            None => None,
        };
        let each = match (table.count, table.per_calls, table.per_bytes) {
            (count, None, None) if label.is_none() => return Ok(Due::Fixed(count.unwrap_or(1))),
            (None, Some(calls), None) => calls,
            (None, None, Some(bytes)) => bytes.0,
            (_, None, None) => {
                let message = "`of` needs `per_calls` or `per_bytes`";
                return Err(Flaw::new("of", message, "leave `of` out"));
            }
            _ => {
                let message = "how much is taken is said twice";
                let help = "write one of `count`, `per_calls` and `per_bytes`";
                return Err(Flaw::new("take", message, help));
            }
        };
        let what = match (label, table.per_bytes.is_some()) {
            (None, false) => Measure::Calls,
            (None, true) => Measure::Bytes,
            (Some(label), false) => Measure::Steps(label),
            (Some(label), true) => Measure::StepBytes(label),
        };
        Ok(Due::Since { what, each })
    }
}
