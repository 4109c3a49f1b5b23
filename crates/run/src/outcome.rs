//! What remains when a worker is done.

use generate::{Backlog, Mismatch};
use plan::job::NotedRequest;
use results::ThreadUsage;
use target::CpuSample;

use crate::files::FileRequests;
use crate::sample::{Outbox, Sample};

/// The first read of a worker that did not verify.
pub(crate) struct FirstMismatch {
    pub mismatch: Mismatch,
    /// Length of the read.
    pub length_bytes: u32,
}

/// What remains when a worker is done.
#[derive(Default)]
pub(crate) struct Outcome {
    /// What has not been handed over.
    pub rest: Box<Sample>,
    pub outbox: Option<Outbox>,
    /// From the end of the ramp to the last tick; 0 when the ramp did not end.
    pub measured_ns: u64,
    pub finish_ns: u64,
    pub stopped: bool,
    pub mismatch_count: u64,
    pub first_mismatch: Option<FirstMismatch>,
    /// Processor time of the loop, ramp included, in nanoseconds.
    pub loop_cpu_ns: u64,
    /// The thread's processor time after the measurement.
    pub cpu_at_end: Option<CpuSample>,
    /// What the kernel counted of the thread, where that is wanted.
    pub usage: Option<ThreadUsage>,
    /// The requests of a job in the order in which they completed, where they are noted.
    pub noted: Vec<NotedRequest>,
    /// The stream of requests on many files, for the next stage.
    pub requests: Option<FileRequests>,
    /// What became of what was due, where requests began when they were due.
    pub drained: Option<Drained>,
}

impl Outcome {
    /// Hands over what has not been, so that the reader has it in time and not only when the last
    /// lane has ended. Where the reader is behind, it stays.
    pub fn hand_over_rest(&mut self) {
        let Some(outbox) = self.outbox.as_mut().filter(|_| self.measured_ns > 0) else {
            return;
        };
        if let Some(mut empty) = outbox.take_empty() {
            empty.clear(self.finish_ns, false);
            outbox.give(std::mem::replace(&mut self.rest, empty));
        }
    }
}

/// What is left of an open loop.
#[derive(Debug, Clone)]
pub(crate) struct Drained {
    pub backlog: Backlog,
    /// When the measurement ended for due times, in nanoseconds of the clock; none where it ended
    /// because there was no more to do.
    pub end_ns: Option<u64>,
    /// Until when requests were begun.
    pub quit_ns: u64,
    /// When the last one was done.
    pub done_ns: u64,
}
