//! Transactions and connections, which are counted as kinds of transaction alike.

use stats::{Counter, Interval};

use crate::{Latency, Names};

/// The kind of transaction that lasts from opening a target to closing it.
pub const CONNECTION: &str = "connection";

/// What was counted of whole transactions and of the connections around them.
pub(crate) struct Flows {
    /// All kinds but connections.
    pub transactions: Counter,
    /// From opening to closing.
    pub connections: Counter,
}

impl Flows {
    /// Sorts the kinds by their names.
    pub(crate) fn of(totals: &Interval, names: Names) -> Self {
        let mut flows = Self {
            transactions: Counter::new(),
            connections: Counter::new(),
        };
        for (kind, counter) in totals.transactions().iter().enumerate() {
            if names.transactions.get(kind) == Some(&CONNECTION) {
                flows.connections.merge(counter);
            } else {
                flows.transactions.merge(counter);
            }
        }
        flows
    }

    /// How long connections lasted; none when there were none.
    pub(crate) fn connection_latency(&self) -> Option<Latency> {
        let latency = self.connections.latency();
        (!latency.is_empty()).then(|| Latency::of(latency))
    }
}
