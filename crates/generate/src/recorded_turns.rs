//! The list of a trace's requests, which threads share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use plan::job::RecordedRequest;

/// The requests of a trace. All threads of a worker take them from one list, in order.
#[derive(Debug, Clone)]
pub struct RecordedTurns {
    requests: Arc<[RecordedRequest]>,
    /// Number of requests that a thread took; larger than the list once a thread found its end.
    taken: Arc<AtomicUsize>,
}

impl RecordedTurns {
    /// Requests in the order of their due times.
    #[must_use]
    pub fn new(requests: Arc<[RecordedRequest]>) -> Self {
        Self {
            requests,
            taken: Arc::default(),
        }
    }

    /// The next request that no thread has taken.
    #[inline]
    pub(crate) fn take(&self) -> Option<RecordedRequest> {
        let index = self.taken.fetch_add(1, Ordering::Relaxed);
        self.requests.get(index).copied()
    }

    fn left(&self) -> &[RecordedRequest] {
        let taken = self.taken.load(Ordering::Relaxed);
        self.requests.get(taken..).unwrap_or_default()
    }

    /// Due times that no thread has taken, in nanoseconds from the start.
    pub(crate) fn left_ns(&self) -> impl Iterator<Item = u64> + '_ {
        self.left().iter().map(|request| request.due_ns)
    }

    /// Number of requests that no thread has taken and that are due up to and including `end_ns`.
    pub(crate) fn count_until(&self, end_ns: u64) -> u64 {
        self.left().partition_point(|it| it.due_ns <= end_ns) as u64
    }
}
