//! Transactions and connections; counters count both as kinds of transaction.

use stats::{Counter, Interval};

use crate::{CounterNames, Latency};

/// The kind of transaction that lasts from opening a target to closing it.
pub const CONNECTION: &str = "connection";

/// Counters of transactions and of the connections around them.
pub(crate) struct Flows {
    /// All kinds but connections.
    pub transactions: Counter,
    /// From opening to closing.
    pub connections: Counter,
}

impl Flows {
    /// Assigns each kind by its name.
    pub(crate) fn of(totals: &Interval, names: CounterNames) -> Self {
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

    /// Durations of the connections; `None` if there were none.
    pub(crate) fn connection_latency(&self) -> Option<Latency> {
        let latency = self.connections.latency();
        (!latency.is_empty()).then(|| Latency::of(latency))
    }
}
