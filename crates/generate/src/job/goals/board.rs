//! Exchange of a job's progress towards its goals with other threads.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use engine::Request;

use super::FlowTotal;

/// Progress of a job towards its goals. One thread counts; any thread may read.
#[derive(Debug, Default)]
pub struct GoalProgress {
    requests: AtomicU64,
    bytes: AtomicU64,
    latency_ns: AtomicU64,
    begin_ns: AtomicU64,
    depth: AtomicU32,
    kept: AtomicU8,
    is_settled: AtomicBool,
    is_ended: AtomicBool,
    has_left: AtomicBool,
    missed: OnceLock<MissedRequest>,
    flow: Option<Arc<FlowTotal>>,
}

/// Requests of a job since its goals count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GoalCounts {
    /// Number of successful reads and writes.
    pub requests: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Sum of their latencies, in nanoseconds.
    pub latency_ns: u64,
}

/// Queue depth of a job that searches for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthReport {
    /// The depth that was last in use.
    pub depth: u32,
    /// `true` if enough requests kept the latency at the depth that was last tried; `None` if no
    /// depth was tried for its whole time.
    pub kept: Option<bool>,
}

/// The way in which a goal was missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissKind {
    /// Too few bytes per second.
    Bandwidth,
    /// Too few requests per second.
    Iops,
    /// A request took too long.
    Latency,
    /// A request took too long even at the smallest depth.
    DepthLatency,
}

/// The request that missed a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissedRequest {
    /// The way in which it was missed.
    pub kind: MissKind,
    /// The request; for rates, only its operation is meaningful.
    pub request: Request,
    /// Requested minimum rate, or maximum latency in nanoseconds.
    pub wanted: u64,
    /// Actual rate or latency.
    pub seen: u64,
    /// Time in nanoseconds since the goals count.
    pub at_ns: u64,
}

impl GoalProgress {
    /// A board for a job that may share a flow with others.
    #[must_use]
    pub fn new(flow: Option<Arc<FlowTotal>>) -> Self {
        Self {
            flow,
            ..Self::default()
        }
    }

    pub(super) fn flow(&self) -> Option<Arc<FlowTotal>> {
        self.flow.clone()
    }

    /// Requests since the goals count.
    #[must_use]
    pub fn counts(&self) -> GoalCounts {
        GoalCounts {
            requests: self.requests.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            latency_ns: self.latency_ns.load(Ordering::Relaxed),
        }
    }

    /// Time from which the goals count, in nanoseconds of the worker's clock; `None` until it is
    /// known.
    #[must_use]
    pub fn begin_ns(&self) -> Option<u64> {
        Some(self.begin_ns.load(Ordering::Acquire)).filter(|it| *it > 0)
    }

    /// Queue depth, for jobs that search for one.
    #[must_use]
    pub fn depth(&self) -> DepthReport {
        DepthReport {
            depth: self.depth.load(Ordering::Relaxed),
            kept: match self.kept.load(Ordering::Relaxed) {
                0 => None,
                code => Some(code == 2),
            },
        }
    }

    /// `true` once the depth to be measured has been found.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.is_settled.load(Ordering::Acquire)
    }

    /// The goal that was missed first; `None` if none was.
    #[must_use]
    pub fn missed(&self) -> Option<&MissedRequest> {
        self.missed.get()
    }

    /// Ends the job: it issues no further requests.
    pub fn end(&self) {
        self.is_ended.store(true, Ordering::Relaxed);
    }

    /// `true` if [`Self::end`] was called.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Relaxed)
    }

    /// `true` if the job is over.
    #[must_use]
    pub fn has_left(&self) -> bool {
        self.has_left.load(Ordering::Acquire)
    }

    /// Sets the time from which the goals count. Like the following methods, only for the thread
    /// that runs the job.
    pub fn begin(&self, begin_ns: u64) {
        // 0 means that the time is not known yet.
        self.begin_ns.store(begin_ns.max(1), Ordering::Release);
    }

    /// Counts a successful request.
    pub fn count(&self, bytes: u32, latency_ns: u64) {
        // Only one thread counts, so no addition is lost between a load and its store.
        let add = |sum: &AtomicU64, more: u64| {
            let all = sum.load(Ordering::Relaxed).wrapping_add(more);
            sum.store(all, Ordering::Relaxed);
        };
        add(&self.requests, 1);
        add(&self.bytes, bytes.into());
        add(&self.latency_ns, latency_ns);
    }

    pub(super) fn set_depth(&self, depth: u32) {
        self.depth.store(depth, Ordering::Relaxed);
    }

    pub(super) fn set_kept(&self, kept: Option<bool>) {
        let code = kept.map_or(0, |kept| 1 + u8::from(kept));
        self.kept.store(code, Ordering::Relaxed);
    }

    pub(super) fn settle(&self) {
        self.is_settled.store(true, Ordering::Release);
    }

    pub(super) fn miss(&self, missed: MissedRequest) {
        // Keep only the first one.
        let _ = self.missed.set(missed);
    }

    /// Records that the job is over.
    pub fn leave(&self) {
        self.has_left.store(true, Ordering::Release);
    }
}
