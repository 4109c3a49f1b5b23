//! What the watch over a job's goals tells whoever looks on, and is told by them.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use engine::Request;

use super::FlowBoard;

/// Where a job stands with its goals. One thread counts, anybody may look.
#[derive(Debug, Default)]
pub struct GoalBoard {
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
    flow: Option<Arc<FlowBoard>>,
}

/// What a job has done since its goals count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GoalCounts {
    /// Reads and writes that succeeded.
    pub requests: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Their latencies, added up, in nanoseconds.
    pub latency_ns: u64,
}

/// The queue depth of a job that has one looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthTold {
    /// The one that was in use last.
    pub depth: u32,
    /// Whether enough requests kept within the latency when a depth was tried last; none where
    /// none was tried for its whole time.
    pub kept: Option<bool>,
}

/// How a goal was missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissKind {
    /// Too few bytes a second.
    Bandwidth,
    /// Too few requests a second.
    Iops,
    /// A request took too long.
    Latency,
    /// A request took too long at the least depth.
    DepthLatency,
}

/// The request with which a goal was missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissedRequest {
    /// How it was missed.
    pub kind: MissKind,
    /// The request; of rates, only its operation says something.
    pub request: Request,
    /// The least rate or the largest latency in nanoseconds that was asked for.
    pub wanted: u64,
    /// What there was.
    pub seen: u64,
    /// When, in nanoseconds since the goals count.
    pub at_ns: u64,
}

impl GoalBoard {
    /// Of a job that shares a flow with others, if any.
    #[must_use]
    pub fn new(flow: Option<Arc<FlowBoard>>) -> Self {
        Self {
            flow,
            ..Self::default()
        }
    }

    pub(super) fn flow(&self) -> Option<Arc<FlowBoard>> {
        self.flow.clone()
    }

    /// What was done since the goals count.
    #[must_use]
    pub fn counts(&self) -> GoalCounts {
        GoalCounts {
            requests: self.requests.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            latency_ns: self.latency_ns.load(Ordering::Relaxed),
        }
    }

    /// When the goals begin to count, in nanoseconds of the worker's clock; none before it is
    /// known.
    #[must_use]
    pub fn begin_ns(&self) -> Option<u64> {
        Some(self.begin_ns.load(Ordering::Acquire)).filter(|it| *it > 0)
    }

    /// The queue depth, where it is looked for.
    #[must_use]
    pub fn depth(&self) -> DepthTold {
        DepthTold {
            depth: self.depth.load(Ordering::Relaxed),
            kept: match self.kept.load(Ordering::Relaxed) {
                0 => None,
                told => Some(told == 2),
            },
        }
    }

    /// Whether the depth was found that is measured from then on.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.is_settled.load(Ordering::Acquire)
    }

    /// The goal that was missed first, if any was.
    #[must_use]
    pub fn missed(&self) -> Option<&MissedRequest> {
        self.missed.get()
    }

    /// Ends the job: it asks for nothing more.
    pub fn end(&self) {
        self.is_ended.store(true, Ordering::Relaxed);
    }

    /// Whether somebody ended it.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Relaxed)
    }

    /// Whether the job is over.
    #[must_use]
    pub fn has_left(&self) -> bool {
        self.has_left.load(Ordering::Acquire)
    }

    /// Says when the goals begin to count; as what follows, for the thread at work alone.
    pub fn begin(&self, begin_ns: u64) {
        self.begin_ns.store(begin_ns.max(1), Ordering::Release);
    }

    /// Counts a request that succeeded.
    pub fn count(&self, bytes: u32, latency_ns: u64) {
        // Nobody else counts here, so no addition gets lost between a load and its store.
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
        let told = kept.map_or(0, |kept| 1 + u8::from(kept));
        self.kept.store(told, Ordering::Relaxed);
    }

    pub(super) fn settle(&self) {
        self.is_settled.store(true, Ordering::Release);
    }

    pub(super) fn miss(&self, missed: MissedRequest) {
        // Only the first one counts.
        let _ = self.missed.set(missed);
    }

    /// Says that the job is over.
    pub fn leave(&self) {
        self.has_left.store(true, Ordering::Release);
    }
}
