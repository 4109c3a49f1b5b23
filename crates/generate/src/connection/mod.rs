//! Opening and closing targets between transactions.

use engine::{Completion, Operation, OperationSet, Request};
use plan::WorkerPlan;

use crate::slots::slot_spans;
use crate::{Flow, Generator, Step, named};

/// The transaction kinds with connections.
const KINDS: &[&str] = &["transaction", "connection"];
const CONNECTION: u8 = 1;

/// Another generator's transactions, so many a connection; then the target is closed and opened
/// again.
///
/// As Iometer's test connection rate: all slots of a target share its connection. It begins with
/// [`Operation::Open`] in whichever of the target's slots asks first, so the engine's files start
/// closed. Every transaction that begins counts; after the last no other begins on that target,
/// and when none is in progress there any more, [`Operation::Close`] ends the connection. With 0
/// transactions the target is opened and closed over and over, in one slot.
///
/// A connection is a transaction of kind 1, which lasts from the issue of its open to the
/// completion of its close, with everything between. Transactions of kind 0 do not contain opens
/// and closes. An open or close that fails makes no connection: it is an error of the operation,
/// and the target is opened anew.
#[derive(Debug, Clone)]
pub struct Connections<G> {
    transactions: G,
    /// Transactions a connection.
    each_count: u32,
    targets: Vec<Target>,
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    file_index: u32,
    /// Whether the slot's transaction goes on with its next request.
    goes_on: bool,
}

#[derive(Debug, Clone, Copy)]
struct Target {
    stage: Stage,
    /// Transactions that may still begin.
    left_count: u32,
    /// Transactions in progress.
    open_count: u32,
    /// When the connection's open was issued.
    start_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Closed,
    /// The open is in flight, and nothing else on this target.
    Opening,
    Open,
    /// The close is in flight, and nothing else on this target.
    Closing,
}

impl<G: Generator> Connections<G> {
    /// Puts connections of `each_count` transactions around the access specification of a
    /// worker; `plan` is the one that `transactions` was made from.
    #[must_use]
    pub fn new(transactions: G, plan: &WorkerPlan, each_count: u32) -> Self {
        debug_assert_eq!(transactions.transaction_kinds(), &KINDS[..1]);
        let target = Target {
            stage: Stage::Closed,
            left_count: 0,
            open_count: 0,
            start_ns: 0,
        };
        let slot = |file_index| Slot {
            file_index,
            goes_on: false,
        };
        Self {
            transactions,
            each_count,
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
        let Slot {
            file_index,
            goes_on,
        } = self.slots[slot as usize];
        if goes_on {
            return self.transactions.next(slot, now_ns);
        }
        let target = &mut self.targets[file_index as usize];
        match target.stage {
            Stage::Open if target.left_count > 0 => self.begin_transaction(slot, now_ns),
            Stage::Open if target.open_count == 0 => {
                target.stage = Stage::Closing;
                request(Operation::Close, slot, file_index)
            }
            Stage::Closed => {
                target.stage = Stage::Opening;
                target.start_ns = now_ns;
                request(Operation::Open, slot, file_index)
            }
            Stage::Open | Stage::Opening | Stage::Closing => Step::Park,
        }
    }

    #[inline]
    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        let slot = &mut self.slots[completion.slot as usize];
        let target = &mut self.targets[slot.file_index as usize];
        match target.stage {
            Stage::Opening | Stage::Closing => target.turn(completion.result, self.each_count),
            Stage::Open | Stage::Closed => {
                let flow = self.transactions.complete(completion, now_ns);
                slot.goes_on = flow == Flow::Continues;
                target.open_count -= u32::from(!slot.goes_on);
                flow
            }
        }
    }
}

impl Target {
    /// Takes note of how an open or a close ended.
    fn turn(&mut self, result: i32, each_count: u32) -> Flow {
        let opening = self.stage == Stage::Opening;
        self.stage = Stage::Closed;
        if result < 0 {
            return Flow::Apart;
        }
        if opening {
            self.stage = Stage::Open;
            self.left_count = each_count;
            return Flow::Apart;
        }
        Flow::Spanned {
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
