//! Opens and closes targets between transactions.

use engine::{Completion, Operation, OperationSet, Request};
use plan::WorkerPlan;

use crate::slots::slot_spans;
use crate::{Flow, Generator, Step, named};

/// Transaction kinds of a generator with connections.
const KINDS: &[&str] = &["transaction", "connection"];
const CONNECTION: u8 = 1;

/// Transactions of another generator, a fixed number per connection. After each connection the
/// target is closed and opened again.
///
/// This works like Iometer's test connection rate: all slots of a target share its connection. It
/// begins with [`Operation::Open`] in the slot of the target that asks first, so the engine's files
/// must start closed. Every started transaction counts, and after the last one no other starts on
/// that target. When none is in progress there, [`Operation::Close`] ends the connection. With 0
/// transactions, the target is opened and closed repeatedly, in one slot.
///
/// A connection is a transaction of kind 1. It lasts from the issue of its open to the completion
/// of its close, including everything in between. Transactions of kind 0 do not contain opens and
/// closes. If an open or close fails, there is no connection: the failure counts as an error of the
/// operation, and the target is opened again.
#[derive(Debug, Clone)]
pub struct Connections<G> {
    transactions: G,
    /// Transactions per connection.
    per_connection_count: u32,
    targets: Vec<ConnectionTarget>,
    slots: Vec<ConnectionSlot>,
}

#[derive(Debug, Clone, Copy)]
struct ConnectionSlot {
    file_index: u32,
    /// `true` if the slot's transaction continues with its next request.
    continues: bool,
}

#[derive(Debug, Clone, Copy)]
struct ConnectionTarget {
    stage: ConnectionState,
    /// Number of transactions that may still start.
    left_count: u32,
    /// Number of transactions in progress.
    open_count: u32,
    /// Time when the connection's open was issued, in nanoseconds.
    start_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionState {
    Closed,
    /// Only the open is in flight on this target.
    Opening,
    Open,
    /// Only the close is in flight on this target.
    Closing,
}

impl<G: Generator> Connections<G> {
    /// Adds connections of `each_count` transactions to a worker's access specification. `plan` is
    /// the plan from which `transactions` was created.
    #[must_use]
    pub fn new(transactions: G, plan: &WorkerPlan, each_count: u32) -> Self {
        debug_assert_eq!(transactions.transaction_kinds(), &KINDS[..1]);
        let target = ConnectionTarget {
            stage: ConnectionState::Closed,
            left_count: 0,
            open_count: 0,
            start_ns: 0,
        };
        let slot = |file_index| ConnectionSlot {
            file_index,
            continues: false,
        };
        Self {
            transactions,
            per_connection_count: each_count,
            targets: vec![target; plan.spans.len()],
            slots: slot_spans(&plan.spans).into_iter().map(slot).collect(),
        }
    }

    #[inline]
    fn begin_transaction(&mut self, slot: u32, now_ns: u64) -> Step {
        let step = self.transactions.next(slot, now_ns);
        if let Step::Issue(request) = step {
            let target = &mut self.targets[request.file_index as usize];
            target.left_count -= 1;
            target.open_count += 1;
        }
        step
    }
}

impl<G: Generator> Generator for Connections<G> {
    fn operations(&self) -> OperationSet {
        self.transactions
            .operations()
            .with(Operation::Open)
            .with(Operation::Close)
    }

    fn transaction_kinds(&self) -> Vec<String> {
        named(KINDS)
    }

    #[inline]
    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        let ConnectionSlot {
            file_index,
            continues: goes_on,
        } = self.slots[slot as usize];
        // A reply belongs to a transaction that has started, even if no other may start.
        if goes_on {
            return self.transactions.next(slot, now_ns);
        }
        let target = &mut self.targets[file_index as usize];
        match target.stage {
            ConnectionState::Open if target.left_count > 0 => self.begin_transaction(slot, now_ns),
            ConnectionState::Open if target.open_count == 0 => {
                target.stage = ConnectionState::Closing;
                request(Operation::Close, slot, file_index)
            }
            ConnectionState::Closed => {
                target.stage = ConnectionState::Opening;
                target.start_ns = now_ns;
                request(Operation::Open, slot, file_index)
            }
            // A request of another slot on this target must complete first.
            ConnectionState::Open | ConnectionState::Opening | ConnectionState::Closing => {
                Step::Park
            }
        }
    }

    #[inline]
    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        let slot = &mut self.slots[completion.slot as usize];
        let target = &mut self.targets[slot.file_index as usize];
        match target.stage {
            ConnectionState::Opening | ConnectionState::Closing => {
                target.turn(completion.result, self.per_connection_count)
            }
            ConnectionState::Open | ConnectionState::Closed => {
                let flow = self.transactions.complete(completion, now_ns);
                slot.continues = flow == Flow::Continues;
                target.open_count -= u32::from(!slot.continues);
                flow
            }
        }
    }
}

impl ConnectionTarget {
    /// Records the result of an open or a close.
    fn turn(&mut self, result: i32, each_count: u32) -> Flow {
        let opening = self.stage == ConnectionState::Opening;
        self.stage = ConnectionState::Closed;
        // The stage is `Closed` already, so the next slot opens the target again, also after a
        // failed close.
        if result < 0 {
            return Flow::Uncounted;
        }
        if opening {
            self.stage = ConnectionState::Open;
            self.left_count = each_count;
            return Flow::Uncounted;
        }
        Flow::TransactionDone {
            kind: CONNECTION,
            start_ns: self.start_ns,
        }
    }
}

fn request(operation: Operation, slot: u32, file_index: u32) -> Step {
    Step::Issue(Request {
        operation,
        fileset: 0,
        handle: 0,
        slot,
        file_index,
        length_bytes: 0,
        offset_bytes: 0,
    })
}

#[cfg(test)]
mod tests;
