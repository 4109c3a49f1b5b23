//! Number of requests that one engine call issues.

use plan::RingOptions;

/// While other requests are in flight, a batch is at most the queue depth divided by this ...
const BUSY_SHARE: u32 = 8;
/// ... if the queue depth is at least this. Below it, each request has its own call: on a file
/// system that needs 1 ms per request, batches of 2 lowered the rate at depth 16 by 1 %.
const BUSY_DEPTH_MIN: u32 = 32;

/// Maximum number of requests to issue with one engine call.
///
/// For requests that complete during the call, because the page cache serves them, the call is most
/// of the cost. A large batch spreads it, and no request is in flight before the next batch. A
/// device that works on its own has to wait for requests that are held back. If a batch may be as
/// large as the queue depth, completions arrive in waves, with an idle device in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Limit while no request is in flight.
    idle: u32,
    /// Limit while other requests are in flight.
    busy: u32,
}

impl Batch {
    /// Batch limits of a worker with this number of slots.
    pub fn of(ring: RingOptions, slot_count: u32) -> Self {
        let most = ring.batch.max(1);
        if ring.batch_fixed {
            return Self::fixed(most);
        }
        let share = match slot_count {
            BUSY_DEPTH_MIN.. => slot_count / BUSY_SHARE,
            _ => 1,
        };
        Self {
            idle: most,
            busy: most.min(share),
        }
    }

    /// The same limit, whether requests are in flight or not.
    pub fn fixed(count: u32) -> Self {
        Self {
            idle: count,
            busy: count,
        }
    }

    /// Limit with this number of requests in flight and this number left to issue.
    #[inline]
    pub fn limit(self, in_flight: u32, left: u32) -> u32 {
        let most = if in_flight == 0 { self.idle } else { self.busy };
        most.min(left)
    }
}
