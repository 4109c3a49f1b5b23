//! Access specifications as transactions with TCP peers.

use std::hint::select_unpredictable;

use engine::{Completion, Operation, OperationSet, Request};
use plan::{LinePlan, WorkerPlan};

use crate::arithmetic::threshold;
use crate::check::check_lines;
use crate::choice::AliasTable;
use crate::slots::{data_operations, slot_spans};
use crate::{Flow, GenerateError, Generator, Rng, Step, named};

/// Transaction kinds if connections are opened and closed.
const KINDS: &[&str] = &["transaction", "connection"];
const CONNECTION: u8 = 1;

/// Requests and replies of an access specification, with one connection per slot.
///
/// As with disks, the line is drawn by weight when a burst begins, and one draw decides between
/// read (receive) and write (send). A reply has the opposite direction. In the delay before a
/// burst, the whole worker issues nothing. Positions do not apply.
///
/// If the number of transactions per connection is limited, each slot repeatedly opens its
/// connection, performs that many transactions and closes it. This is a transaction of kind 1, from
/// the issue of its open to the completion of its close. With 0, connections are only opened and
/// closed.
///
/// A slot is finished when its connection fails or cannot be opened. Otherwise it would retry an
/// unreachable peer as fast as calls fail.
#[derive(Debug, Clone)]
pub struct Messages {
    rng: Rng,
    slots: Vec<MessageSlot>,
    lines: Vec<MessageLine>,
    /// `None` if there is only one line, which needs no draw.
    choice: Option<AliasTable>,
    /// Line of the current burst.
    line_index: usize,
    left_in_burst: u32,
    not_before_ns: u64,
    /// Transactions per connection; `None` if connections stay open.
    per_connection_count: Option<u32>,
    operations: OperationSet,
}

#[derive(Debug, Clone, Copy)]
struct MessageSlot {
    /// Target of the slot, as an index into the worker's spans.
    file_index: u32,
    stage: ExchangeState,
    /// Number of transactions that may still start on the connection.
    left_count: u32,
    /// Time when the connection's open was issued.
    start_ns: u64,
    /// The reply that is due, or will be after the request.
    reply: Reply,
}

#[derive(Debug, Clone, Copy)]
struct Reply {
    operation: Operation,
    length_bytes: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExchangeState {
    Closed,
    Opening,
    /// Nothing is in flight.
    Open,
    /// A request without a reply, or the reply, is in flight.
    Last,
    ReplyExpected,
    ReplyDue,
    Closing,
    Failed,
}

/// Parameters of a line's transactions.
#[derive(Debug, Clone, Copy)]
struct MessageLine {
    /// Number of reads per 2^32 draws.
    read: u64,
    length_bytes: u32,
    reply_bytes: u32,
    delay_ns: u64,
    burst: u32,
}

impl Messages {
    /// Prepares the stream of a worker.
    ///
    /// # Errors
    /// If the plan has no lines or slots, or a share is not a percentage.
    pub fn new(plan: &WorkerPlan) -> Result<Self, GenerateError> {
        check_lines(plan)?;
        let each_count = plan.transactions_per_connection;
        let stage = match each_count {
            Some(_) => ExchangeState::Closed,
            None => ExchangeState::Open,
        };
        let slot = |file_index| MessageSlot {
            file_index,
            stage,
            left_count: u32::MAX,
            start_ns: 0,
            reply: Reply {
                operation: Operation::Read,
                length_bytes: 0,
            },
        };
        let slots: Vec<MessageSlot> = slot_spans(&plan.spans).into_iter().map(slot).collect();
        if slots.is_empty() {
            let worker = plan.name.clone();
            return Err(GenerateError::NoSlots { worker });
        }
        let weights: Vec<f64> = plan.lines.iter().map(|line| line.of_size_percent).collect();
        let data = data_operations(&plan.lines);
        Ok(Self {
            rng: Rng::new(plan.seed),
            slots,
            lines: plan
                .lines
                .iter()
                .map(MessageLine::new)
                .collect::<Result<_, _>>()?,
            choice: (weights.len() > 1).then(|| AliasTable::new(&weights)),
            line_index: 0,
            left_in_burst: 0,
            not_before_ns: 0,
            per_connection_count: each_count,
            operations: match each_count {
                Some(_) => data.with(Operation::Open).with(Operation::Close),
                None => data,
            },
        })
    }

    /// Draws the line of the next burst. Returns the end of the worker's delay before it, if any.
    #[inline]
    fn begin_burst(&mut self, now_ns: u64) -> Option<u64> {
        if let Some(choice) = &self.choice {
            self.line_index = choice.pick(self.rng.next_u64());
        }
        let line = &self.lines[self.line_index];
        self.left_in_burst = line.burst;
        if line.delay_ns == 0 {
            return None;
        }
        self.not_before_ns = now_ns.saturating_add(line.delay_ns);
        Some(self.not_before_ns)
    }

    #[inline]
    fn transaction(&mut self, slot: u32, now_ns: u64) -> Step {
        if self.left_in_burst == 0
            && let Some(until_ns) = self.begin_burst(now_ns)
        {
            return Step::Wait { until_ns };
        }
        self.left_in_burst -= 1;
        let line = self.lines[self.line_index];
        let reads = self.rng.next_u64() >> 32 < line.read;
        // Branchless, because a branch predictor cannot predict a draw.
        let pair = [Operation::Read, Operation::Write];
        let (operation, other) =
            select_unpredictable(reads, (pair[0], pair[1]), (pair[1], pair[0]));
        let state = &mut self.slots[slot as usize];
        // Unlimited if connections stay open.
        state.left_count -= u32::from(self.per_connection_count.is_some());
        state.stage = match line.reply_bytes {
            0 => ExchangeState::Last,
            _ => ExchangeState::ReplyExpected,
        };
        state.reply = Reply {
            operation: other,
            length_bytes: line.reply_bytes,
        };
        state.issue(slot, operation, line.length_bytes, line.reply_bytes.into())
    }
}

impl MessageSlot {
    #[inline]
    fn issue(&self, slot: u32, operation: Operation, length_bytes: u32, code: u64) -> Step {
        Step::Issue(Request {
            operation,
            fileset: 0,
            handle: 0,
            slot,
            file_index: self.file_index,
            length_bytes,
            offset_bytes: code,
        })
    }
}

impl Generator for Messages {
    fn operations(&self) -> OperationSet {
        self.operations
    }

    fn transaction_kinds(&self) -> Vec<String> {
        match self.per_connection_count {
            Some(_) => named(KINDS),
            None => named(&KINDS[..1]),
        }
    }

    #[inline]
    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        if now_ns < self.not_before_ns {
            return Step::Wait {
                until_ns: self.not_before_ns,
            };
        }
        let state = &mut self.slots[slot as usize];
        match state.stage {
            ExchangeState::Open if state.left_count > 0 => self.transaction(slot, now_ns),
            ExchangeState::ReplyDue => {
                state.stage = ExchangeState::Last;
                let Reply {
                    operation,
                    length_bytes,
                } = state.reply;
                state.issue(slot, operation, length_bytes, Request::REPLY)
            }
            ExchangeState::Closed => {
                state.stage = ExchangeState::Opening;
                state.start_ns = now_ns;
                state.issue(slot, Operation::Open, 0, 0)
            }
            ExchangeState::Open => {
                state.stage = ExchangeState::Closing;
                state.issue(slot, Operation::Close, 0, 0)
            }
            ExchangeState::Failed => Step::Finished,
            ExchangeState::Opening
            | ExchangeState::Last
            | ExchangeState::ReplyExpected
            | ExchangeState::Closing => Step::Park,
        }
    }

    #[inline]
    fn complete(&mut self, completion: Completion, _now_ns: u64) -> Flow {
        let state = &mut self.slots[completion.slot as usize];
        let stage = state.stage;
        if completion.result < 0 {
            state.stage = ExchangeState::Failed;
            return match stage {
                // In these stages, no message of a transaction is in flight.
                ExchangeState::Opening | ExchangeState::Closing => Flow::Uncounted,
                _ => Flow::Done(0),
            };
        }
        match stage {
            ExchangeState::ReplyExpected => {
                state.stage = ExchangeState::ReplyDue;
                Flow::Continues
            }
            ExchangeState::Opening => {
                state.stage = ExchangeState::Open;
                state.left_count = self.per_connection_count.unwrap_or(u32::MAX);
                Flow::Uncounted
            }
            ExchangeState::Closing => {
                state.stage = ExchangeState::Closed;
                Flow::TransactionDone {
                    kind: CONNECTION,
                    start_ns: state.start_ns,
                }
            }
            _ => {
                state.stage = ExchangeState::Open;
                Flow::Done(0)
            }
        }
    }
}

impl MessageLine {
    fn new(line: &LinePlan) -> Result<Self, GenerateError> {
        Ok(Self {
            read: threshold("the share of reads", line.read_percent)?,
            length_bytes: line.size_bytes,
            reply_bytes: line.reply_bytes,
            delay_ns: line.delay_ns,
            // With a burst of 0, the number of transactions left would underflow.
            burst: line.burst.max(1),
        })
    }
}

#[cfg(test)]
mod tests;
