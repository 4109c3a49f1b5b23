//! Latencies of a job, split at the submission of each request.

use std::sync::mpsc::Sender;

use engine::{Completion, Operation, Request, SubmissionTimes};
use stats::Histogram;

/// Latencies of one operation, in two parts.
#[derive(Debug, Clone)]
pub struct SplitLatencies {
    /// The operation.
    pub operation: Operation,
    /// From the stream's decision until the call that submits the request has returned.
    pub submission: Histogram,
    /// From then until the completion was reaped.
    pub completion: Histogram,
}

/// Splits latencies by the times of an engine that sets them.
#[derive(Debug)]
pub struct LatencySplitter {
    times: SubmissionTimes,
    /// Requests that complete before are not counted, in nanoseconds of the worker's clock.
    measure_ns: u64,
    /// Operation and time of the last request, by slot.
    issued: Box<[(Operation, u64)]>,
    split: Vec<SplitLatencies>,
    receiver: Sender<Vec<SplitLatencies>>,
}

/// Operations whose latencies are split.
const SPLIT_OPERATIONS: [Operation; 3] = [Operation::Read, Operation::Write, Operation::Trim];

impl LatencySplitter {
    /// Counts requests that complete after the ramp, which ends at `measure_ns`. When this is
    /// dropped, it sends the latencies of the operations that had any.
    #[must_use]
    pub fn new(
        times: SubmissionTimes,
        slot_count: u32,
        measure_ns: u64,
        receiver: Sender<Vec<SplitLatencies>>,
    ) -> Self {
        let split = SPLIT_OPERATIONS.map(|operation| SplitLatencies {
            operation,
            submission: Histogram::new(),
            completion: Histogram::new(),
        });
        Self {
            times,
            measure_ns,
            issued: vec![(Operation::Read, 0); slot_count as usize].into(),
            split: split.into(),
            receiver,
        }
    }

    pub(super) fn issued(&mut self, request: &Request, now_ns: u64) {
        self.issued[request.slot as usize] = (request.operation, now_ns);
    }

    /// Counts a completion, and returns the time at which its request was submitted.
    pub(super) fn completed(&mut self, completion: Completion, now_ns: u64) -> u64 {
        let Completion { slot, result } = completion;
        let (operation, issued_ns) = self.issued[slot as usize];
        // The engine reads its clock after the loop did, and the loop reads its own after that.
        let submitted_ns = self.times.of(slot).clamp(issued_ns, now_ns.max(issued_ns));
        // As everywhere, failed requests have no latency.
        if result >= 0 && now_ns >= self.measure_ns {
            let mut split = self.split.iter_mut();
            if let Some(split) = split.find(|it| it.operation == operation) {
                split.submission.record(submitted_ns - issued_ns);
                split.completion.record(now_ns.saturating_sub(submitted_ns));
            }
        }
        submitted_ns
    }
}

impl Drop for LatencySplitter {
    fn drop(&mut self) {
        let mut split = std::mem::take(&mut self.split);
        split.retain(|it| !it.submission.is_empty());
        // If the receiver is gone, the latencies are no longer needed.
        let _ = self.receiver.send(split);
    }
}
