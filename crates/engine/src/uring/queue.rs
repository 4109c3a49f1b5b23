//! The two queues of a ring and the wait between them.

use std::time::{Duration, Instant};

use io_uring::squeue;

use super::enter::{Enter, Entered};
use super::setup::RingSetup;
use crate::{Completion, EngineError, Wait, pause};

/// A ring with what is in flight in it.
pub(crate) struct Queue {
    // The registered ring is given back before the ring is closed.
    enter: Enter,
    ring: io_uring::IoUring,
    /// What did not go through the ring, handed back by the next `reap`.
    answered: Vec<Completion>,
    in_flight_count: u32,
}

impl Queue {
    /// Queues over `ring`, which has room for `slot_count` requests, for this thread.
    pub(crate) fn new(ring: io_uring::IoUring, slot_count: u32, setup: &mut RingSetup) -> Self {
        Self {
            enter: Enter::new(&ring, setup),
            ring,
            answered: Vec::with_capacity(slot_count as usize),
            in_flight_count: 0,
        }
    }

    pub(crate) fn in_flight_count(&self) -> u32 {
        self.in_flight_count
    }

    pub(crate) fn submitter(&self) -> io_uring::Submitter<'_> {
        self.ring.submitter()
    }

    /// Lets every further call fail, as one does whose ring is gone.
    #[cfg(test)]
    pub(super) fn fail_calls(&mut self) {
        self.enter.fail();
    }

    /// Queues an entry for the next `reap`; the lower half of its user data is its slot.
    ///
    /// # Safety
    /// What the entry points to stays where it is, and the kernel's alone, until the slot's
    /// completion is handed back. A slot has no more entries in flight than the ring was made for.
    #[inline]
    pub(crate) unsafe fn push(&mut self, entry: &squeue::Entry) {
        self.in_flight_count += 1;
        // SAFETY: as promised by the caller.
        unsafe { self.ring.submission().push(entry) }
            .expect("the submission queue has room for every slot");
    }

    /// Hands back a request that needed no ring.
    #[cold]
    pub(crate) fn answer(&mut self, completion: Completion) {
        self.in_flight_count += 1;
        self.answered.push(completion);
    }

    /// Issues what was pushed, waits if asked to, and appends what completed to `done`.
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

    /// As [`Queue::reap`], where `take` says what an entry's completion, by its user data and its
    /// result, is the completion of, if of anything.
    #[inline]
    pub(crate) fn reap_by(
        &mut self,
        wait: Wait,
        done: &mut Vec<Completion>,
        mut take: impl FnMut(u64, i32) -> Option<Completion>,
    ) -> Result<(), EngineError> {
        self.issue(wait)?;
        self.in_flight_count -= self.answered.len() as u32;
        done.append(&mut self.answered);
        // Dropping the queue publishes its head, before the next `enter` looks for room.
        for entry in self.ring.completion() {
            self.in_flight_count -= 1;
            done.extend(take(entry.user_data(), entry.result()));
        }
        Ok(())
    }

    /// Issues what was pushed and, if asked to, waits for a completion.
    #[inline]
    fn issue(&mut self, wait: Wait) -> Result<(), EngineError> {
        let pushed_count = self.ring.submission().len() as u32;
        if pushed_count == 0 {
            if !self.ring.completion().is_empty() || !self.answered.is_empty() {
                return Ok(());
            }
            if self.in_flight_count == 0 {
                pause(wait);
                return Ok(());
            }
        }
        let wait = if self.answered.is_empty() {
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

    /// Waits where the kernel does not wait with a time limit: polled completions.
    #[cold]
    fn spin(&mut self, timeout_ns: u64) -> Result<(), EngineError> {
        let limit = (timeout_ns > 0).then(|| Duration::from_nanos(timeout_ns));
        let start = Instant::now();
        loop {
            let pushed_count = self.ring.submission().len() as u32;
            let entered = self.enter.call(&mut self.ring, pushed_count, Wait::Poll)?;
            let over = limit.is_some_and(|limit| start.elapsed() >= limit);
            if over || entered == Entered::Interrupted || !self.ring.completion().is_empty() {
                return Ok(());
            }
        }
    }
}
