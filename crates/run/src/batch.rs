//! How many requests are issued with one call of the engine.

use plan::RingOptions;

/// While others are in flight, a batch is at most the queue depth over this ...
const BUSY_SHARE: u32 = 8;
/// ... from this queue depth on. Below it each request is issued by itself: on a file system that
/// takes 1 ms, two at a time cost a hundredth of the rate at depth 16.
const BUSY_DEPTH_MIN: u32 = 32;

/// The most requests to issue with one call of the engine.
///
/// Requests that complete while they are issued (the page cache serves them) cost little but the
/// call, which a large batch shares out; none is in flight when the next are made. A device that
/// works on its own waits for whatever is held back, and where a batch may be as large as the
/// queue depth its completions come in waves, with nothing to do for it between two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Batch {
    /// With nothing in flight.
    idle: u32,
    /// While others are in flight.
    busy: u32,
}

impl Batch {
    /// For a worker with so many slots.
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

    /// The same whatever is in flight.
    pub fn fixed(count: u32) -> Self {
        Self {
            idle: count,
            busy: count,
        }
    }

    /// The most with so many in flight and so many left to issue.
    #[inline]
    pub fn limit(self, in_flight: u32, left: u32) -> u32 {
        let most = if in_flight == 0 { self.idle } else { self.busy };
        most.min(left)
    }
}
