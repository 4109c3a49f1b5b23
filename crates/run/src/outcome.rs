//! Results of a worker that is done.

use generate::job::SplitLatencies;
use generate::{Backlog, Mismatch};
use plan::job::LoggedRequest;
use results::ThreadUsage;
use storage::CpuSample;

use crate::file_requests::FileRequests;
use crate::sample::{Outbox, Sample};

/// First read of a worker that failed verification.
pub(crate) struct FirstMismatch {
    pub mismatch: Mismatch,
    /// Length of the read in bytes.
    pub length_bytes: u32,
}

/// Results of a worker that is done.
#[derive(Default)]
pub(crate) struct WorkerOutcome {
    /// Sample that was not handed over.
    pub last_sample: Box<Sample>,
    pub outbox: Option<Outbox>,
    /// Time from the end of the ramp to the last tick, in nanoseconds; 0 if the ramp did not end.
    pub measured_ns: u64,
    pub finish_ns: u64,
    pub stopped: bool,
    pub mismatch_count: u64,
    pub first_mismatch: Option<FirstMismatch>,
    /// CPU time of the loop, including the ramp, in nanoseconds.
    pub loop_cpu_ns: u64,
    /// CPU time of the thread after the measurement.
    pub cpu_at_end: Option<CpuSample>,
    /// Kernel counters of the thread, if requested.
    pub usage: Option<ThreadUsage>,
    /// Requests in the order of their completion, if they are logged.
    pub logged: Vec<LoggedRequest>,
    /// Latencies of a job by operation, split at the submission, if that is timed.
    pub split: Vec<SplitLatencies>,
    /// Stream of requests on many files, which the next stage continues.
    pub requests: Option<FileRequests>,
    /// Outcome of the due requests, in an open loop.
    pub open_loop_end: Option<OpenLoopEnd>,
}

impl WorkerOutcome {
    /// Hands over the last sample: the reader should get it before the last lane has ended. If the
    /// reader has not taken the previous sample yet, this one stays here.
    pub fn hand_over_rest(&mut self) {
        // If the ramp did not end, nothing in the sample was measured.
        let Some(outbox) = self.outbox.as_mut().filter(|_| self.measured_ns > 0) else {
            return;
        };
        if let Some(mut empty) = outbox.take_empty() {
            empty.clear(self.finish_ns, false);
            outbox.give(std::mem::replace(&mut self.last_sample, empty));
        }
    }

    /// Drops the samples after they are counted. A program keeps the outcomes of all its phases,
    /// and the next phase can reuse the memory.
    pub fn drop_samples(&mut self) {
        *self.last_sample = Sample::default();
        self.outbox = None;
    }
}

/// State of an open loop at its end.
#[derive(Debug, Clone)]
pub(crate) struct OpenLoopEnd {
    pub backlog: Backlog,
    /// End of the measurement for due times, in nanoseconds of the clock; `None` if it ended
    /// because no work was left.
    pub end_ns: Option<u64>,
    /// Time until which requests were started.
    pub issue_end_ns: u64,
    /// Completion of the last request.
    pub done_ns: u64,
}
