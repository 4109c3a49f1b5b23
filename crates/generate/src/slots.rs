//! Which slot works on which target.

use engine::{Operation, OperationSet};
use plan::{LinePlan, SpanPlan, WorkerPlan};

use crate::Flow;
use crate::rng::mix;

/// The span of each slot, as an index into `spans`.
///
/// Slots go round the spans until each has as many as its iodepth, as in Iometer, so that the
/// first requests reach all targets.
#[must_use]
pub fn slot_spans(spans: &[SpanPlan]) -> Vec<u32> {
    let deepest = spans.iter().map(|span| span.iodepth).max().unwrap_or(0);
    (0..deepest)
        .flat_map(|round| {
            (0_u32..)
                .zip(spans)
                .filter(move |(_, span)| round < span.iodepth)
                .map(|(span_index, _)| span_index)
        })
        .collect()
}

/// The plan of one slot of a worker as a worker of its own, for engines that keep one request in
/// flight for each thread.
///
/// The lane has one span, `plan.spans[slot_spans(&plan.spans)[lane_index]]`, and a seed of its
/// own; lanes of one span continue each other's sequence through
/// [`SharedCursor::between_lanes`](crate::SharedCursor::between_lanes). Bursts and delays are each
/// lane's own: N lanes that wait issue up to N times the requests of a worker that waits as a
/// whole.
///
/// # Panics
/// When the worker has no such slot.
#[must_use]
pub fn lane(plan: &WorkerPlan, lane_index: u32) -> WorkerPlan {
    let slots = slot_spans(&plan.spans);
    let span_index = *slots
        .get(lane_index as usize)
        .expect("lanes are numbered as the slots of the worker");
    let mut lane = plan.clone();
    lane.spans = vec![SpanPlan {
        iodepth: 1,
        ..plan.spans[span_index as usize]
    }];
    lane.seed = mix(plan.seed ^ mix(u64::from(lane_index)));
    lane
}

/// The transaction kinds of access specifications.
pub(crate) const TRANSACTION: &[&str] = &["transaction"];

/// What one slot is at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    /// The slot's target, as an index into the worker's spans.
    pub(crate) file_index: u32,
    line_index: u32,
    stage: Stage,
    reply: Operation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing is due behind what is in flight, if anything is.
    Last,
    /// The reply is due when the request completes.
    ReplyExpected,
    /// The reply is the slot's next request.
    ReplyDue,
}

impl Slot {
    /// Notes that a reply follows the request about to be issued.
    #[inline]
    pub(crate) fn expect_reply(&mut self, request: Operation, line_index: usize) {
        self.stage = Stage::ReplyExpected;
        self.line_index = line_index as u32;
        self.reply = match request {
            Operation::Read => Operation::Write,
            _ => Operation::Read,
        };
    }

    /// The due reply's direction and its request's line.
    #[inline]
    pub(crate) fn take_reply(&mut self) -> Option<(Operation, usize)> {
        if self.stage != Stage::ReplyDue {
            return None;
        }
        self.stage = Stage::Last;
        Some((self.reply, self.line_index as usize))
    }

    /// What a completion means; a failed request is followed by its reply all the same.
    #[inline]
    pub(crate) fn complete(&mut self) -> Flow {
        if self.stage == Stage::ReplyExpected {
            self.stage = Stage::ReplyDue;
            return Flow::Continues;
        }
        Flow::Done(0)
    }
}

/// The worker's slots before their first request.
pub(crate) fn idle_slots(plan: &WorkerPlan) -> Vec<Slot> {
    slot_spans(&plan.spans)
        .into_iter()
        .map(|file_index| Slot {
            file_index,
            line_index: 0,
            stage: Stage::Last,
            reply: Operation::Read,
        })
        .collect()
}

/// Reads and writes as the lines' percentages and replies allow.
pub(crate) fn data_operations(lines: &[LinePlan]) -> OperationSet {
    let mut operations = OperationSet::EMPTY;
    for line in lines {
        let replies = line.reply_bytes > 0;
        if line.read_percent > 0.0 || replies {
            operations = operations.with(Operation::Read);
        }
        if line.read_percent < 100.0 || replies {
            operations = operations.with(Operation::Write);
        }
    }
    operations
}
