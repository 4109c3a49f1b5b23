//! Submission queue and completion queue of a ring, and waiting for completions.

use std::time::{Duration, Instant};

use io_uring::squeue;

use super::enter::{EnterCall, EnterOutcome};
use super::setup::RingGrants;
use crate::{Completion, EngineError, Wait, pause};

/// A ring and the number of its requests in flight.
pub(crate) struct Queue {
    // Dropped first: the registered ring must be unregistered before the ring is closed.
    enter: EnterCall,
    ring: io_uring::IoUring,
    /// Completions of requests that did not go through the ring; the next `reap` returns them.
    completed: Vec<Completion>,
    in_flight_count: u32,
}

impl Queue {
    /// Queues of `ring`, which has room for `slot_count` requests, for this thread.
    pub(crate) fn new(ring: io_uring::IoUring, slot_count: u32, setup: &mut RingGrants) -> Self {
        Self {
            enter: EnterCall::new(&ring, setup),
            ring,
            completed: Vec::with_capacity(slot_count as usize),
            in_flight_count: 0,
        }
    }

    pub(crate) fn in_flight_count(&self) -> u32 {
        self.in_flight_count
    }

    pub(crate) fn submitter(&self) -> io_uring::Submitter<'_> {
        self.ring.submitter()
    }

    /// Makes every further call fail, as if the ring were gone.
    #[cfg(test)]
    pub(super) fn fail_calls(&mut self) {
        self.enter.fail();
    }

    /// Queues an entry for the next `reap`; the lower half of its user data is the slot.
    ///
    /// # Safety
    /// Everything that the entry refers to keeps its address and is used only by the kernel until
    /// the slot's completion is returned. A slot has no more entries in flight than the ring was
    /// created for.
    #[inline]
    pub(crate) unsafe fn push(&mut self, entry: &squeue::Entry) {
        self.in_flight_count += 1;
        // SAFETY: guaranteed by the caller.
        unsafe { self.ring.submission().push(entry) }
            .expect("the submission queue has room for every slot");
    }

    /// Completes a request that needs no ring; the next `reap` returns it.
    #[cold]
    pub(crate) fn answer(&mut self, completion: Completion) {
        self.in_flight_count += 1;
        self.completed.push(completion);
    }

    /// Issues pushed entries, waits if requested, and appends completions to `done`.
    #[inline]
    pub(super) fn reap(
        &mut self,
        wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        self.reap_by(wait, done, |user_data, result| {
            let slot = user_data as u32;
            Some(Completion { slot, result })
        })
    }

    /// As [`Queue::reap`], with a function that converts the user data and result of each entry to
    /// a completion, or to `None` if its request has not ended.
    #[inline]
    pub(crate) fn reap_by(
        &mut self,
        wait: Wait,
        done: &mut Vec<Completion>,
        mut take: impl FnMut(u64, i32) -> Option<Completion>,
    ) -> Result<(), EngineError> {
        self.issue(wait)?;
        self.in_flight_count -= self.completed.len() as u32;
        done.append(&mut self.completed);
        // Dropping the queue publishes its head before the next `enter` checks for room.
        for entry in self.ring.completion() {
            self.in_flight_count -= 1;
            done.extend(take(entry.user_data(), entry.result()));
        }
        Ok(())
    }

    /// Issues pushed entries and, if requested, waits for a completion.
    #[inline]
    fn issue(&mut self, wait: Wait) -> Result<(), EngineError> {
        let pushed_count = self.ring.submission().len() as u32;
        if pushed_count == 0 {
            // Completions that are already there need no system call.
            if !self.ring.completion().is_empty() || !self.completed.is_empty() {
                return Ok(());
            }
            if self.in_flight_count == 0 {
                pause(wait);
                return Ok(());
            }
        }
        // A completion is certain already, so there is nothing to wait for.
        let wait = if self.completed.is_empty() {
            wait
        } else {
            Wait::Poll
        };
        match wait {
            Wait::One { timeout_ns } if self.enter.spins() => self.spin(timeout_ns),
            wait => self
                .enter
                .call(&mut self.ring, pushed_count, wait)
                .map(drop),
        }
    }

    /// Waits by polling if the kernel cannot wait with a time limit, as with polled completions.
    #[cold]
    fn spin(&mut self, timeout_ns: u64) -> Result<(), EngineError> {
        let limit = (timeout_ns > 0).then(|| Duration::from_nanos(timeout_ns));
        let start = Instant::now();
        loop {
            // The kernel may have left entries in the queue; each call submits them again.
            let pushed_count = self.ring.submission().len() as u32;
            let entered = self.enter.call(&mut self.ring, pushed_count, Wait::Poll)?;
            let over = limit.is_some_and(|limit| start.elapsed() >= limit);
            if over || entered == EnterOutcome::Interrupted || !self.ring.completion().is_empty() {
                return Ok(());
            }
        }
    }
}
