//! Recent requests of a worker, as sources of copies.

use crate::Rng;

/// Number of requests that a copy can repeat.
// An array of fixed size, because the measurement loop must not allocate.
const REMEMBERED_COUNT: usize = 64;

/// The last requests with new content: key and length in bytes of each.
#[derive(Debug, Clone)]
pub(super) struct WrittenRequests {
    requests: [(u64, usize); REMEMBERED_COUNT],
    /// Number of requests recorded so far.
    count: u64,
}

impl Default for WrittenRequests {
    fn default() -> Self {
        Self {
            requests: [(0, 0); REMEMBERED_COUNT],
            count: 0,
        }
    }
}

impl WrittenRequests {
    /// `true` before the first request.
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Records a request of `length` bytes, which must not be 0.
    #[inline]
    pub(super) const fn note(&mut self, key: u64, length: usize) {
        self.requests[(self.count % REMEMBERED_COUNT as u64) as usize] = (key, length);
        self.count += 1;
    }

    /// A random recorded request. There must be at least one.
    #[inline]
    pub(super) fn pick(&self, rng: &mut Rng) -> (u64, usize) {
        let stored_count = self.count.min(REMEMBERED_COUNT as u64);
        self.requests[rng.below(stored_count) as usize]
    }
}
