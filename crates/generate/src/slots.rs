//! Assignment of slots to targets.

use engine::{Operation, OperationSet};
use plan::{LinePlan, SpanPlan, WorkerPlan};

use crate::Flow;
use stats::mix;

/// Span of each slot, as an index into `spans`.
///
/// Slots are assigned round-robin until each span has as many as its iodepth. As in Iometer, the
/// first requests therefore reach all targets.
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

/// The plan of one slot as a separate worker, for engines that keep one request in flight per
/// thread.
///
/// The lane has one span, `plan.spans[span_index]`, and its own seed. `span_index` is element
/// `lane_index` of [`slot_spans`].
/// Lanes of one span continue each other's sequence through
/// [`SharedCursor::between_lanes`](crate::SharedCursor::between_lanes). Each lane has its own
/// bursts and delays: N lanes that wait issue up to N times the requests of a worker that waits as
/// a whole.
///
/// # Panics
/// If the worker has no such span.
#[must_use]
pub fn lane(plan: &WorkerPlan, lane_index: u32, span_index: u32) -> WorkerPlan {
    let mut lane = plan.clone();
    lane.spans = vec![SpanPlan {
        iodepth: 1,
        ..plan.spans[span_index as usize]
    }];
    // With equal seeds, all lanes would draw the same positions in step.
    lane.seed = mix(plan.seed ^ mix(u64::from(lane_index)));
    lane
}

/// Transaction kinds of access specifications.
pub(crate) const TRANSACTION: &[&str] = &["transaction"];

/// State of one slot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransactionSlot {
    /// Target of the slot, as an index into the worker's spans.
    pub(crate) file_index: u32,
    line_index: u32,
    stage: ReplyState,
    reply: Operation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyState {
    /// No further request is due after the one in flight, if any.
    Last,
    /// The reply is due when the request completes.
    ReplyExpected,
    /// The reply is the slot's next request.
    ReplyDue,
}

impl TransactionSlot {
    /// Records that a reply follows the next request.
    #[inline]
    pub(crate) fn expect_reply(&mut self, request: Operation, line_index: usize) {
        self.stage = ReplyState::ReplyExpected;
        self.line_index = line_index as u32;
        self.reply = match request {
            Operation::Read => Operation::Write,
            _ => Operation::Read,
        };
    }

    /// Direction of the reply that is due, and the line of its request.
    #[inline]
    pub(crate) fn take_reply(&mut self) -> Option<(Operation, usize)> {
        if self.stage != ReplyState::ReplyDue {
            return None;
        }
        self.stage = ReplyState::Last;
        Some((self.reply, self.line_index as usize))
    }

    /// Effect of a completion; a reply follows even a failed request.
    #[inline]
    pub(crate) fn complete(&mut self) -> Flow {
        if self.stage == ReplyState::ReplyExpected {
            self.stage = ReplyState::ReplyDue;
            return Flow::Continues;
        }
        Flow::Done(0)
    }
}

/// The slots of a worker before their first request.
pub(crate) fn idle_slots(plan: &WorkerPlan) -> Vec<TransactionSlot> {
    slot_spans(&plan.spans)
        .into_iter()
        .map(|file_index| TransactionSlot {
            file_index,
            line_index: 0,
            stage: ReplyState::Last,
            reply: Operation::Read,
        })
        .collect()
}

/// The operations that the lines' percentages and replies allow.
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
