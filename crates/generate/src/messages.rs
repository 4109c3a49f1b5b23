//! Access specifications as transactions with TCP peers.

use std::hint::select_unpredictable;

use engine::{Completion, Operation, OperationSet, Request};
use plan::{LinePlan, WorkerPlan};

use crate::arithmetic::threshold;
use crate::check::check_lines;
use crate::choice::Weighted;
use crate::slots::{data_operations, slot_spans};
use crate::{Flow, GenerateError, Generator, Rng, Step, named};

/// The transaction kinds where connections are opened and closed.
const KINDS: &[&str] = &["transaction", "connection"];
const CONNECTION: u8 = 1;

/// Requests and replies of an access specification, each slot on its own connection.
///
/// As on disks: the line by weight when a burst begins, read (receive) or write (send) by one draw,
/// the reply in the opposite direction, a delay before each burst in which the whole worker issues
/// nothing. Positions, and so whether they are random, mean nothing here.
///
/// With transactions a connection, each slot opens its connection, has so many transactions on it,
/// and closes it, over and over; that is a transaction of kind 1, from the issue of its open to the
/// completion of its close. With 0 it is opened and closed.
///
/// A slot whose connection has failed, or cannot be had, is done: who cannot be reached would else
/// be tried as fast as calls fail.
#[derive(Debug, Clone)]
pub struct Messages {
    rng: Rng,
    slots: Vec<Slot>,
    lines: Vec<Line>,
    /// `None` where there is one line, which needs no draw.
    choice: Option<Weighted>,
    /// The line of the current burst.
    line_index: usize,
    left_in_burst: u32,
    not_before_ns: u64,
    /// Transactions a connection; `None` where connections stay.
    each_count: Option<u32>,
    operations: OperationSet,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The slot's target, as an index into the worker's spans.
    file_index: u32,
    stage: Stage,
    /// Transactions that may still begin on the connection.
    left_count: u32,
    /// When the connection's open was issued.
    start_ns: u64,
    /// The reply that is due, or will be when the request has completed.
    reply: Reply,
}

#[derive(Debug, Clone, Copy)]
struct Reply {
    operation: Operation,
    length_bytes: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
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

/// What is decided for each transaction of a line.
#[derive(Debug, Clone, Copy)]
struct Line {
    /// Of 2^32 draws, how many read.
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
    /// When the plan has no lines or slots, or a share is not a percentage.
    pub fn new(plan: &WorkerPlan) -> Result<Self, GenerateError> {
        check_lines(plan)?;
        let each_count = plan.transactions_per_connection;
        let stage = match each_count {
            Some(_) => Stage::Closed,
            None => Stage::Open,
        };
        let slot = |file_index| Slot {
            file_index,
            stage,
            left_count: u32::MAX,
            start_ns: 0,
            reply: Reply {
                operation: Operation::Read,
                length_bytes: 0,
            },
        };
        let slots: Vec<Slot> = slot_spans(&plan.spans).into_iter().map(slot).collect();
        if slots.is_empty() {
            let worker = plan.name.clone();
            return Err(GenerateError::NoSlots { worker });
        }
        let weights: Vec<f64> = plan.lines.iter().map(|line| line.of_size_percent).collect();
        let data = data_operations(&plan.lines);
        Ok(Self {
            rng: Rng::new(plan.seed),
            slots,
            lines: plan.lines.iter().map(Line::new).collect::<Result<_, _>>()?,
            choice: (weights.len() > 1).then(|| Weighted::new(&weights)),
            line_index: 0,
            left_in_burst: 0,
            not_before_ns: 0,
            each_count,
            operations: match each_count {
                Some(_) => data.with(Operation::Open).with(Operation::Close),
                None => data,
            },
        })
    }

    /// Draws the line of the next burst; says until when the worker waits before it.
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
        let ways = [Operation::Read, Operation::Write];
        let (operation, other) =
            select_unpredictable(reads, (ways[0], ways[1]), (ways[1], ways[0]));
        let state = &mut self.slots[slot as usize];
        // Where connections stay, nobody counts.
        state.left_count -= u32::from(self.each_count.is_some());
        state.stage = match line.reply_bytes {
            0 => Stage::Last,
            _ => Stage::ReplyExpected,
        };
        state.reply = Reply {
            operation: other,
            length_bytes: line.reply_bytes,
        };
        state.issue(slot, operation, line.length_bytes, line.reply_bytes.into())
    }
}

impl Slot {
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
        match self.each_count {
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
            Stage::Open if state.left_count > 0 => self.transaction(slot, now_ns),
            Stage::ReplyDue => {
                state.stage = Stage::Last;
                let Reply {
                    operation,
                    length_bytes,
                } = state.reply;
                state.issue(slot, operation, length_bytes, Request::REPLY)
            }
            Stage::Closed => {
                state.stage = Stage::Opening;
                state.start_ns = now_ns;
                state.issue(slot, Operation::Open, 0, 0)
            }
            Stage::Open => {
                state.stage = Stage::Closing;
                state.issue(slot, Operation::Close, 0, 0)
            }
            Stage::Failed => Step::Finished,
            Stage::Opening | Stage::Last | Stage::ReplyExpected | Stage::Closing => Step::Park,
        }
    }

    #[inline]
    fn complete(&mut self, completion: Completion, _now_ns: u64) -> Flow {
        let state = &mut self.slots[completion.slot as usize];
        let stage = state.stage;
        if completion.result < 0 {
            state.stage = Stage::Failed;
            return match stage {
                Stage::Opening | Stage::Closing => Flow::Apart,
                _ => Flow::Done(0),
            };
        }
        match stage {
            Stage::ReplyExpected => {
                state.stage = Stage::ReplyDue;
                Flow::Continues
            }
            Stage::Opening => {
                state.stage = Stage::Open;
                state.left_count = self.each_count.unwrap_or(u32::MAX);
                Flow::Apart
            }
            Stage::Closing => {
                state.stage = Stage::Closed;
                Flow::Spanned {
                    kind: CONNECTION,
                    start_ns: state.start_ns,
                }
            }
            _ => {
                state.stage = Stage::Open;
                Flow::Done(0)
            }
        }
    }
}

impl Line {
    fn new(line: &LinePlan) -> Result<Self, GenerateError> {
        Ok(Self {
            read: threshold("the share of reads", line.read_percent)?,
            length_bytes: line.size_bytes,
            reply_bytes: line.reply_bytes,
            delay_ns: line.delay_ns,
            burst: line.burst.max(1),
        })
    }
}

#[cfg(test)]
mod tests;
