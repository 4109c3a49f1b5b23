//! Replay of the requests in a log, in order and at their times.

use std::sync::Arc;

use engine::{Operation, Request};
use plan::job::{RecordedPlan, RecordedRequest};

use super::{JobSlot, JobStream, SlotRequest};
use crate::replay::operation;
use crate::{GenerateError, Step};

#[derive(Debug, Clone)]
pub(super) struct ReplayState {
    requests: Arc<[RecordedRequest]>,
    /// Index of the next request.
    next_index: usize,
    is_paced: bool,
    /// Start of this loop, on the worker's clock.
    begin_ns: Option<u64>,
}

/// Next step of a replay.
enum ReplayStep {
    Act { act: RecordedRequest, due_ns: u64 },
    NotBefore(u64),
    Finished,
}

impl ReplayState {
    /// # Errors
    /// If the log is missing: stored results do not include it.
    pub(super) fn new(plan: &RecordedPlan) -> Result<Self, GenerateError> {
        let count = plan.acts.len() as u64;
        if count == 0 || count != plan.request_count {
            return Err(GenerateError::JobNumber {
                what: "the number of recorded requests",
                value: count,
                wanted: "the number in its log, and above 0",
            });
        }
        Ok(Self {
            requests: Arc::clone(&plan.acts),
            next_index: 0,
            is_paced: plan.is_paced(),
            begin_ns: None,
        })
    }

    fn next(&mut self, now_ns: u64) -> ReplayStep {
        let Some(act) = self.requests.get(self.next_index).copied() else {
            self.next_index = 0;
            // The times of the next loop count from its own start.
            self.begin_ns = None;
            return ReplayStep::Finished;
        };
        let due_ns = match self.is_paced {
            // All times are relative to the start, so delays do not add up.
            true => {
                let begin_ns = *self.begin_ns.get_or_insert(now_ns);
                begin_ns.saturating_add(act.due_ns)
            }
            // Always in the past, so the request begins immediately.
            false => 0,
        };
        if due_ns > now_ns {
            return ReplayStep::NotBefore(due_ns);
        }
        self.next_index += 1;
        ReplayStep::Act { act, due_ns }
    }
}

impl JobStream {
    /// The next request of the log.
    pub(super) fn replay(&mut self, slot: u32, now_ns: u64) -> Step {
        let turn = self
            .replay
            .as_mut()
            .map_or(ReplayStep::Finished, |it| it.next(now_ns));
        let (act, due_ns) = match turn {
            ReplayStep::Act { act, due_ns } => (act, due_ns),
            ReplayStep::NotBefore(until_ns) => return Step::Wait { until_ns },
            ReplayStep::Finished => return self.end_loop(),
        };
        let operation = operation(act.kind);
        let kind = match operation {
            Operation::Fsync | Operation::Fdatasync => SlotRequest::Uncounted,
            _ => SlotRequest::Counted,
        };
        self.request_count += 1;
        self.moved_bytes += u64::from(act.length_bytes);
        self.in_flight += 1;
        self.slots[slot as usize] = JobSlot { due_ns, kind };
        let start_bytes = self.walk.parts[act.part_index as usize].start_bytes;
        Step::Issue(Request {
            operation,
            fileset: 0,
            handle: 0,
            slot,
            file_index: act.part_index,
            length_bytes: act.length_bytes,
            offset_bytes: start_bytes + act.offset_bytes,
        })
    }
}
