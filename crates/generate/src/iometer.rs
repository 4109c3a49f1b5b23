//! Access specifications exactly as Iometer's workers implement them, including bias and weak
//! random generator.

use engine::{Completion, Operation, OperationSet, Request};
use plan::{LinePlan, SpanPlan, WorkerPlan};

use crate::arithmetic::Divisor;
use crate::check::check_plan;
use crate::position::effective_align;
use crate::rng::IometerRng;
use crate::slots::{TRANSACTION, TransactionSlot, data_operations, idle_slots};
use crate::{Cursor, Flow, GenerateError, Generator, Step, named};

/// The stream of one Iometer worker with a fixed seed.
///
/// The worker draws lines, and each target draws directions, randomness and positions. All their
/// generators start with the same seed. Ask slots one at a time, in the order in which they became
/// free. The current line draws the position of a reply when it is issued, and checks its fit with
/// that line's request size. A reply longer than its request can therefore run past the end of the
/// span.
#[derive(Debug, Clone)]
pub struct Iometer<C> {
    rng: IometerRng,
    slots: Vec<TransactionSlot>,
    cursors: Vec<C>,
    targets: Vec<TargetSpan>,
    lines: Vec<IometerLine>,
    /// Entry of line l and span s at `l * span_count + s`.
    seeks: Vec<Seek>,
    /// Line of each percent.
    line_by_percent: Vec<u16>,
    line_index: usize,
    left_in_burst: u32,
    not_before_ns: u64,
    operations: OperationSet,
}

#[derive(Debug, Clone)]
struct TargetSpan {
    rng: IometerRng,
    start_bytes: u64,
    end_bytes: u64,
    size: Divisor,
}

#[derive(Debug, Clone, Copy)]
struct IometerLine {
    read_percent: u64,
    random_percent: u64,
    size_bytes: u32,
    reply_bytes: u32,
    delay_ns: u64,
    burst: u32,
}

/// A request or a reply without its position.
#[derive(Debug, Clone, Copy)]
struct UnplacedRequest {
    operation: Operation,
    length_bytes: u32,
    kind: u16,
}

/// Parameters for choosing a line's positions in a span.
#[derive(Debug, Clone, Copy)]
struct Seek {
    align: Divisor,
    /// Position of requests that would otherwise end after the span.
    wrap_bytes: u64,
}

/// Random numbers modulo 100 are compared with percentages.
const HUNDRED: Divisor = Divisor::new(100);

impl<C: Cursor> Iometer<C> {
    /// Prepares the stream of a worker, with one cursor per span of the plan, in order.
    ///
    /// Ignores distributions and sequences of the lines, because Iometer has none.
    ///
    /// # Errors
    /// If the plan has no lines or slots, a share is not a whole percentage, or a request does not
    /// fit in a span.
    pub fn new(plan: &WorkerPlan, cursors: Vec<C>) -> Result<Self, GenerateError> {
        check_plan(plan, &cursors)?;
        let mut seeks = Vec::with_capacity(plan.lines.len() * plan.spans.len());
        for line in &plan.lines {
            for span in &plan.spans {
                seeks.push(Seek::new(line, span)?);
            }
        }
        Ok(Self {
            // Iometer's worker takes the seed of its first target, so all generators start alike.
            rng: IometerRng::new(plan.seed),
            slots: idle_slots(plan),
            cursors,
            targets: plan
                .spans
                .iter()
                .map(|span| TargetSpan::new(span, plan.seed))
                .collect(),
            lines: plan
                .lines
                .iter()
                .map(IometerLine::new)
                .collect::<Result<_, _>>()?,
            seeks,
            line_by_percent: grid(&plan.lines)?,
            line_index: 0,
            left_in_burst: 0,
            not_before_ns: 0,
            operations: data_operations(&plan.lines),
        })
    }

    fn begin_burst(&mut self, now_ns: u64) -> Option<u64> {
        let percent = HUNDRED.remainder(self.rng.next_u64());
        self.line_index = usize::from(self.line_by_percent[percent as usize]);
        let line = &self.lines[self.line_index];
        self.left_in_burst = line.burst;
        if line.delay_ns == 0 {
            return None;
        }
        self.not_before_ns = now_ns.saturating_add(line.delay_ns);
        Some(self.not_before_ns)
    }

    /// Draws the direction of a transaction's request and places it.
    fn request(&mut self, slot: u32) -> Request {
        let line = self.lines[self.line_index];
        let state = &mut self.slots[slot as usize];
        let target = &mut self.targets[state.file_index as usize];
        // Iometer draws in this order: direction, randomness, position.
        let operation = if HUNDRED.remainder(target.rng.next_u64()) < line.read_percent {
            Operation::Read
        } else {
            Operation::Write
        };
        if line.reply_bytes > 0 {
            state.expect_reply(operation, self.line_index);
        }
        self.seek(
            slot,
            UnplacedRequest {
                operation,
                length_bytes: line.size_bytes,
                kind: (2 * self.line_index) as u16,
            },
        )
    }

    /// Chooses a position by the current line, for requests and replies.
    fn seek(&mut self, slot: u32, part: UnplacedRequest) -> Request {
        let file_index = self.slots[slot as usize].file_index;
        let index = file_index as usize;
        let line = self.lines[self.line_index];
        let seek = self.seeks[self.line_index * self.targets.len() + index];
        let target = &mut self.targets[index];
        // Iometer draws again for a reply, by the line that is current by then.
        let random = HUNDRED.remainder(target.rng.next_u64()) < line.random_percent;
        let offset_bytes = self.cursors[index].move_to(part.kind, part.length_bytes, |last| {
            let position = if random {
                target.start_bytes + target.size.remainder(target.rng.next_u64())
            } else {
                // A sequential request continues after the last one, even if that was random.
                last.map_or(target.start_bytes, |last| {
                    last.start_bytes + last.length_bytes
                })
            };
            // Iometer counts multiples from the start of the file, not of the span.
            let start_bytes = seek.align.round_up(position);
            // Iometer checks the size of the current line's request, even for a reply.
            if start_bytes + u64::from(line.size_bytes) > target.end_bytes {
                return seek.wrap_bytes;
            }
            start_bytes
        });
        Request {
            operation: part.operation,
            fileset: 0,
            handle: 0,
            slot,
            file_index,
            length_bytes: part.length_bytes,
            offset_bytes,
        }
    }
}

impl<C: Cursor> Generator for Iometer<C> {
    fn operations(&self) -> OperationSet {
        self.operations
    }

    fn transaction_kinds(&self) -> Vec<String> {
        named(TRANSACTION)
    }

    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        // During a delay, Iometer's worker issues nothing, not even replies.
        if now_ns < self.not_before_ns {
            return Step::Wait {
                until_ns: self.not_before_ns,
            };
        }
        if let Some((operation, line_index)) = self.slots[slot as usize].take_reply() {
            let part = UnplacedRequest {
                operation,
                length_bytes: self.lines[line_index].reply_bytes,
                kind: (2 * line_index + 1) as u16,
            };
            return Step::Issue(self.seek(slot, part));
        }
        if self.left_in_burst == 0
            && let Some(until_ns) = self.begin_burst(now_ns)
        {
            return Step::Wait { until_ns };
        }
        self.left_in_burst -= 1;
        Step::Issue(self.request(slot))
    }

    fn complete(&mut self, completion: Completion, _now_ns: u64) -> Flow {
        self.slots[completion.slot as usize].complete()
    }
}

impl TargetSpan {
    fn new(span: &SpanPlan, seed: u64) -> Self {
        Self {
            rng: IometerRng::new(seed),
            start_bytes: span.start_bytes,
            end_bytes: span.start_bytes + span.size_bytes,
            size: Divisor::new(span.size_bytes.max(1)),
        }
    }
}

impl IometerLine {
    fn new(line: &LinePlan) -> Result<Self, GenerateError> {
        Ok(Self {
            read_percent: whole_percent("the share of reads", line.read_percent)?,
            random_percent: whole_percent("the share of random requests", line.random_percent)?,
            size_bytes: line.size_bytes,
            reply_bytes: line.reply_bytes,
            delay_ns: line.delay_ns,
            // With a burst of 0, the number of requests left would underflow.
            burst: line.burst.max(1),
        })
    }
}

impl Seek {
    /// If the alignment is a power of two, Iometer rounds a wrapped position to the sector instead
    /// of the alignment.
    fn new(line: &LinePlan, span: &SpanPlan) -> Result<Self, GenerateError> {
        let align_bytes = effective_align(line, span)?;
        let align = Divisor::new(align_bytes.into());
        let wrap_bytes = if align_bytes.is_power_of_two() && span.sector_bytes > 0 {
            Divisor::new(span.sector_bytes.into()).round_up(span.start_bytes)
        } else {
            align.round_up(span.start_bytes)
        };
        if wrap_bytes + u64::from(line.size_bytes) > span.start_bytes + span.size_bytes {
            return Err(GenerateError::DoesNotFit {
                length_bytes: line.size_bytes,
                align_bytes,
                start_bytes: span.start_bytes,
                size_bytes: span.size_bytes,
            });
        }
        Ok(Self { align, wrap_bytes })
    }
}

/// Line of each of Iometer's 100 percents.
fn grid(lines: &[LinePlan]) -> Result<Vec<u16>, GenerateError> {
    let mut grid = Vec::with_capacity(100);
    for (line_index, line) in (0_u16..).zip(lines) {
        let share = whole_percent("the weight of a line", line.of_size_percent)?;
        grid.extend((0..share).map(|_| line_index));
    }
    Ok(grid)
}

fn whole_percent(name: &'static str, percent: f64) -> Result<u64, GenerateError> {
    if percent.fract() == 0.0 {
        Ok(percent as u64)
    } else {
        Err(GenerateError::FractionalPercent {
            what: name,
            percent,
        })
    }
}

#[cfg(test)]
mod tests;
