//! Access specifications by pgmeter's own rule: uniform, aligned, never past the end.

use std::hint::select_unpredictable;

use engine::{Completion, Operation, OperationSet, Request};
use plan::{LinePlan, WorkerPlan};

use crate::arithmetic::threshold;
use crate::check::check_plan;
use crate::choice::AliasTable;
use crate::position::{Placement, RequestKind};
use crate::slots::{TRANSACTION, TransactionSlot, data_operations, idle_slots};
use crate::{Cursor, Flow, GenerateError, Generator, Rng, Step, named};
use stats::mix;

/// Transactions of an access specification: a request and, if the line has one, its reply.
///
/// For each request, the line is drawn by weight when a burst begins. One draw decides between read
/// and write and between random and sequential; a random start is drawn by the line's distribution.
/// The reply has the opposite direction and uses the same target and slot. Whether it is random is
/// drawn again, by the line of its request. A burst is a series of transactions of one line over
/// all slots of the worker. Before each burst of a line with a delay, the whole worker issues
/// nothing.
#[derive(Debug, Clone)]
pub struct Transfer<C> {
    rng: Rng,
    slots: Vec<TransactionSlot>,
    cursors: Vec<C>,
    lines: Vec<TransferLine>,
    /// Placement of line l and span s at `l * span_count + s`.
    placements: Vec<Placement>,
    /// As `placements`, for replies; empty if no line has one.
    reply_placements: Vec<Placement>,
    /// `None` if there is only one line, which needs no draw.
    choice: Option<AliasTable>,
    /// Line of the current burst.
    line_index: usize,
    left_in_burst: u32,
    /// `true` if no line has a reply or a delay, so that the next step is always a request.
    is_plain: bool,
    not_before_ns: u64,
    operations: OperationSet,
}

/// Parameters of a line's transactions.
#[derive(Debug, Clone, Copy)]
struct TransferLine {
    /// Number of reads per 2^32 draws.
    read: u64,
    /// Number of random positions per 2^32 draws.
    random: u64,
    delay_ns: u64,
    burst: u32,
    replies: bool,
}

impl<C: Cursor> Transfer<C> {
    /// Prepares the stream of a worker, with one cursor per span of the plan, in order.
    ///
    /// # Errors
    /// If the plan has no lines or slots, a share is not a percentage, a request does not fit in a
    /// span, or a distribution's parameter is out of range.
    pub fn new(plan: &WorkerPlan, cursors: Vec<C>) -> Result<Self, GenerateError> {
        check_plan(plan, &cursors)?;
        // Workers that share a cursor share its turns, so they must visit one order.
        let seeds = cursors.iter().map(|cursor| cursor.order_seed(plan.seed));
        let seeds: Vec<u64> = seeds.collect();
        let weights: Vec<f64> = plan.lines.iter().map(|line| line.of_size_percent).collect();
        let replies = plan.lines.iter().any(|line| line.reply_bytes > 0);
        Ok(Self {
            rng: Rng::new(plan.seed),
            slots: idle_slots(plan),
            cursors,
            lines: lines(plan)?,
            placements: placements(plan, &seeds, TransactionHalf::Request)?,
            reply_placements: if replies {
                placements(plan, &seeds, TransactionHalf::Reply)?
            } else {
                Vec::new()
            },
            choice: (weights.len() > 1).then(|| AliasTable::new(&weights)),
            line_index: 0,
            left_in_burst: 0,
            is_plain: !replies && plan.lines.iter().all(|line| line.delay_ns == 0),
            not_before_ns: 0,
            operations: data_operations(&plan.lines),
        })
    }

    /// Draws the line of the next burst.
    #[inline(always)]
    fn begin_burst(&mut self) {
        if let Some(choice) = &self.choice {
            self.line_index = choice.pick(self.rng.next_u64());
        }
        self.left_in_burst = self.lines[self.line_index].burst;
    }

    /// Begins or continues a burst of a worker whose lines have delays or replies. Returns a step
    /// that must come before the next request, if any.
    // Outside of `next`: most workers have neither delays nor replies.
    #[inline(never)]
    fn before_request(&mut self, slot: u32, now_ns: u64) -> Option<Step> {
        if now_ns < self.not_before_ns {
            return Some(Step::Wait {
                until_ns: self.not_before_ns,
            });
        }
        if let Some((operation, line_index)) = self.slots[slot as usize].take_reply() {
            return Some(Step::Issue(self.reply(slot, operation, line_index)));
        }
        if self.left_in_burst == 0 {
            self.begin_burst();
            let delay_ns = self.lines[self.line_index].delay_ns;
            if delay_ns > 0 {
                let until_ns = now_ns.saturating_add(delay_ns);
                self.not_before_ns = until_ns;
                return Some(Step::Wait { until_ns });
            }
        }
        None
    }

    #[inline(always)]
    fn request(&mut self, slot: u32) -> Request {
        let line = &self.lines[self.line_index];
        let state = &mut self.slots[slot as usize];
        // One draw for two decisions: the upper half for the direction, the lower for the position.
        let bits = self.rng.next_u64();
        let reads = bits >> 32 < line.read;
        // Branchless, because a draw cannot be predicted: 8 instead of 12 ns per request of file
        // server.
        let operation = select_unpredictable(reads, Operation::Read, Operation::Write);
        if line.replies {
            state.expect_reply(operation, self.line_index);
        }
        let file_index = state.file_index;
        let place_index = self.line_index * self.cursors.len() + file_index as usize;
        let placement = &self.placements[place_index];
        let cursor = &mut self.cursors[file_index as usize];
        let offset_bytes = if (bits & u64::from(u32::MAX)) < line.random {
            placement.random(&mut self.rng, cursor)
        } else {
            placement.sequential(cursor)
        };
        Request {
            operation,
            fileset: 0,
            handle: 0,
            slot,
            file_index,
            length_bytes: placement.length_bytes(),
            offset_bytes,
        }
    }

    fn reply(&mut self, slot: u32, operation: Operation, line_index: usize) -> Request {
        let file_index = self.slots[slot as usize].file_index;
        let place_index = line_index * self.cursors.len() + file_index as usize;
        let placement = &self.reply_placements[place_index];
        let cursor = &mut self.cursors[file_index as usize];
        let bits = self.rng.next_u64();
        let offset_bytes = if (bits & u64::from(u32::MAX)) < self.lines[line_index].random {
            placement.random(&mut self.rng, cursor)
        } else {
            placement.sequential(cursor)
        };
        Request {
            operation,
            fileset: 0,
            handle: 0,
            slot,
            file_index,
            length_bytes: placement.length_bytes(),
            offset_bytes,
        }
    }
}

impl<C: Cursor> Generator for Transfer<C> {
    fn operations(&self) -> OperationSet {
        self.operations
    }

    fn transaction_kinds(&self) -> Vec<String> {
        named(TRANSACTION)
    }

    #[inline(always)]
    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        if !self.is_plain {
            if let Some(step) = self.before_request(slot, now_ns) {
                return step;
            }
        } else if self.left_in_burst == 0 {
            self.begin_burst();
        }
        self.left_in_burst -= 1;
        Step::Issue(self.request(slot))
    }

    #[inline(always)]
    fn complete(&mut self, completion: Completion, _now_ns: u64) -> Flow {
        match self.is_plain {
            true => Flow::Done(0),
            false => self.slots[completion.slot as usize].complete(),
        }
    }
}

fn lines(plan: &WorkerPlan) -> Result<Vec<TransferLine>, GenerateError> {
    let lines = plan.lines.iter().map(TransferLine::new);
    let mut lines: Vec<TransferLine> = lines.collect::<Result<_, _>>()?;
    if let [line] = &mut lines[..]
        && line.delay_ns == 0
    {
        // All bursts are the same, so a single endless one is enough.
        line.burst = u32::MAX;
    }
    Ok(lines)
}

impl TransferLine {
    fn new(line: &LinePlan) -> Result<Self, GenerateError> {
        Ok(Self {
            read: threshold("the share of reads", line.read_percent)?,
            random: threshold("the share of random requests", line.random_percent)?,
            delay_ns: line.delay_ns,
            burst: line.burst.max(1),
            replies: line.reply_bytes > 0,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TransactionHalf {
    Request,
    Reply,
}

/// One placement per line and span, with one seed per span. Lines without a reply get an unused one
/// with their request's length.
fn placements(
    plan: &WorkerPlan,
    seeds: &[u64],
    part: TransactionHalf,
) -> Result<Vec<Placement>, GenerateError> {
    let mut placements = Vec::with_capacity(plan.lines.len() * plan.spans.len());
    for (line_index, line) in plan.lines.iter().enumerate() {
        let length_bytes = match part {
            TransactionHalf::Reply if line.reply_bytes > 0 => line.reply_bytes,
            _ => line.size_bytes,
        };
        let number = (2 * line_index) as u16 + u16::from(part == TransactionHalf::Reply);
        for (span, seed) in plan.spans.iter().zip(seeds) {
            // Each kind of request on each target has a different order.
            let order_seed =
                mix(seed ^ mix(u64::from(number) << 32 | u64::from(span.target_index)));
            placements.push(Placement::new(
                line,
                span,
                RequestKind {
                    number,
                    length_bytes,
                    order_seed,
                },
            )?);
        }
    }
    Ok(placements)
}

#[cfg(test)]
mod tests;
