//! Requests that the kernel executes on its own threads, also if it could issue them immediately.

use io_uring::squeue::Flags;

use super::IoUring;
use super::issue::allow_threads;
use crate::{Completion, Engine, EngineError, Request, Wait};

/// The `io_uring` engine with the flag `IOSQE_ASYNC` on some requests.
///
/// A separate type, so that other rings do not count requests.
#[derive(Debug)]
pub struct ForcedAsync {
    ring: IoUring,
    /// Number of requests of which the last one has the flag.
    each: u32,
    /// Requests since the last one with the flag.
    since: u32,
}

impl ForcedAsync {
    /// Sets the flag on every `each`-th request of the ring; 0 counts as 1.
    #[must_use]
    pub fn new(ring: IoUring, each: u32) -> Self {
        allow_threads(&ring.queue.submitter(), ring.buffers.slot_count());
        Self {
            ring,
            each: each.max(1),
            since: 0,
        }
    }
}

impl Engine for ForcedAsync {
    fn slot_count(&self) -> u32 {
        self.ring.slot_count()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.ring.buffer(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        self.since += 1;
        let flags = match self.since == self.each {
            true => Flags::ASYNC,
            false => Flags::empty(),
        };
        self.since %= self.each;
        self.ring.push_with(request, flags);
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        self.ring.reap(wait, done)
    }
}
