//! Prevents overlapping requests that could see each other's half-written blocks.
//!
//! A read that overlaps a write in flight may return a mix of old and new bytes of a block, which a
//! checksum cannot distinguish from damage. If reads are verified, such requests wait for each
//! other, across all workers of a target.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use engine::{Completion, Operation, OperationSet, Request};

use crate::{Flow, Generator, Step};

/// Number of bytes of a target that share a lock.
// As large as the largest block that a stamp covers.
const STRIPE_BYTES: u64 = 4096;

/// Number of locks per target. Stripes at this distance share a lock, which at worst causes an
/// unnecessary wait.
const LOCK_COUNT: usize = 1 << 16;

/// State of a stripe that is being written; other values are the number of readers.
const WRITING: u32 = u32::MAX;

/// Time after which a waiting request is tried again, in nanoseconds.
const RETRY_NS: u64 = 10_000;

/// Parts of a target that are being read or written; clones share them.
#[derive(Debug, Clone)]
pub struct Stripes {
    states: Arc<[AtomicU32]>,
}

impl Default for Stripes {
    fn default() -> Self {
        Self {
            states: (0..LOCK_COUNT).map(|_| AtomicU32::new(0)).collect(),
        }
    }
}

impl Stripes {
    /// Stripes of a request, as a first index and a count. The count is at most [`LOCK_COUNT`], so
    /// that a long request takes each lock only once.
    fn range(request: &Request) -> (u64, u64) {
        let first = request.offset_bytes / STRIPE_BYTES;
        // A request of 0 bytes still takes a stripe.
        let last_bytes = request.offset_bytes + u64::from(request.length_bytes.max(1)) - 1;
        (
            first,
            (last_bytes / STRIPE_BYTES - first + 1).min(LOCK_COUNT as u64),
        )
    }

    fn state(&self, index: u64) -> &AtomicU32 {
        &self.states[(index % LOCK_COUNT as u64) as usize]
    }

    /// Takes all stripes of the request, or none.
    fn take(&self, request: &Request) -> bool {
        let (first, count) = Self::range(request);
        for index in first..first + count {
            let change = |state: u32| match request.operation {
                Operation::Write => (state == 0).then_some(WRITING),
                _ => (state < WRITING - 1).then(|| state + 1),
            };
            let state = self.state(index);
            if state
                .fetch_update(Ordering::Acquire, Ordering::Relaxed, change)
                .is_err()
            {
                // All or nothing: two requests that keep a part each could wait for each other
                // forever.
                self.give_back(request, first, index - first);
                return false;
            }
        }
        true
    }

    fn release(&self, request: &Request) {
        let (first, count) = Self::range(request);
        self.give_back(request, first, count);
    }

    fn give_back(&self, request: &Request, first: u64, count: u64) {
        for index in first..first + count {
            match request.operation {
                // A write is the only holder of its stripes, so no count of readers is lost.
                Operation::Write => self.state(index).store(0, Ordering::Release),
                _ => {
                    self.state(index).fetch_sub(1, Ordering::Release);
                }
            }
        }
    }
}

/// A generator whose overlapping reads and writes wait for each other.
#[derive(Debug)]
pub struct Exclusive<G> {
    inner: G,
    /// One per file of the worker.
    stripes: Vec<Stripes>,
    slots: Vec<ExclusiveSlot>,
}

#[derive(Debug, Clone, Copy, Default)]
enum ExclusiveSlot {
    #[default]
    Free,
    Waiting(Request),
    Holding(Request),
}

impl<G: Generator> Exclusive<G> {
    /// `stripes` has one entry per file of the worker, shared with all other workers that use the
    /// file.
    #[must_use]
    pub fn new(inner: G, stripes: Vec<Stripes>, slot_count: u32) -> Self {
        Self {
            inner,
            stripes,
            slots: vec![ExclusiveSlot::Free; slot_count as usize],
        }
    }

    fn try_issue(&mut self, request: Request, now_ns: u64) -> Step {
        // Operations without content cannot see half-written blocks.
        let free = !request.operation.moves_bytes()
            || self.stripes[request.file_index as usize].take(&request);
        let slot = &mut self.slots[request.slot as usize];
        if free {
            *slot = ExclusiveSlot::Holding(request);
            return Step::Issue(request);
        }
        *slot = ExclusiveSlot::Waiting(request);
        // Not `Park`: the holder may be another worker, whose completions wake no slot here.
        Step::Wait {
            until_ns: now_ns + RETRY_NS,
        }
    }
}

impl<G: Generator> Generator for Exclusive<G> {
    fn operations(&self) -> OperationSet {
        self.inner.operations()
    }

    fn transaction_kinds(&self) -> Vec<String> {
        self.inner.transaction_kinds()
    }

    fn enter(&mut self) -> bool {
        self.inner.enter()
    }

    fn begin(&mut self) {
        self.inner.begin();
    }

    fn leave(&mut self) -> bool {
        self.inner.leave()
    }

    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        if let ExclusiveSlot::Waiting(request) = self.slots[slot as usize] {
            return self.try_issue(request, now_ns);
        }
        match self.inner.next(slot, now_ns) {
            Step::Issue(request) => self.try_issue(request, now_ns),
            other => other,
        }
    }

    fn expected_bytes(&self, request: &Request, result: i32) -> u32 {
        self.inner.expected_bytes(request, result)
    }

    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        let slot = std::mem::take(&mut self.slots[completion.slot as usize]);
        if let ExclusiveSlot::Holding(request) = slot
            && request.operation.moves_bytes()
        {
            self.stripes[request.file_index as usize].release(&request);
        }
        self.inner.complete(completion, now_ns)
    }

    fn on_mismatch(&mut self) {
        self.inner.on_mismatch();
    }
}

impl<G> Drop for Exclusive<G> {
    /// Releases the stripes of requests that were in flight: they have ended when the worker drops
    /// its generator.
    fn drop(&mut self) {
        for slot in &self.slots {
            if let ExclusiveSlot::Holding(request) = slot
                && request.operation.moves_bytes()
            {
                self.stripes[request.file_index as usize].release(request);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(slot: u32, operation: Operation, offset_bytes: u64, length_bytes: u32) -> Request {
        Request {
            operation,
            fileset: 0,
            handle: 0,
            slot,
            file_index: 0,
            length_bytes,
            offset_bytes,
        }
    }

    /// Issues what it is given, in order.
    struct FixedRequests(Vec<Request>);

    impl Generator for FixedRequests {
        fn operations(&self) -> OperationSet {
            OperationSet::EMPTY
        }

        fn transaction_kinds(&self) -> Vec<String> {
            Vec::new()
        }

        fn next(&mut self, _slot: u32, _now_ns: u64) -> Step {
            Step::Issue(self.0.remove(0))
        }

        fn complete(&mut self, _completion: Completion, _now_ns: u64) -> Flow {
            Flow::Done(0)
        }
    }

    #[test]
    fn a_read_waits_for_the_write_that_it_overlaps() {
        let write = request(0, Operation::Write, 8192, 4096);
        let read = request(1, Operation::Read, 8704, 512);
        let mut exclusive = Exclusive::new(
            FixedRequests(vec![write, read]),
            vec![Stripes::default()],
            2,
        );
        assert_eq!(exclusive.next(0, 0), Step::Issue(write));
        assert_eq!(exclusive.next(1, 0), Step::Wait { until_ns: RETRY_NS });
        exclusive.complete(
            Completion {
                slot: 0,
                result: 4096,
            },
            5,
        );
        assert_eq!(exclusive.next(1, 5), Step::Issue(read));
    }

    #[test]
    fn reads_do_not_wait_for_reads_nor_for_writes_elsewhere() {
        let stripes = Stripes::default();
        assert!(stripes.take(&request(0, Operation::Read, 0, 65536)));
        assert!(stripes.take(&request(1, Operation::Read, 4096, 4096)));
        assert!(stripes.take(&request(2, Operation::Write, 65536, 4096)));
        assert!(!stripes.take(&request(3, Operation::Write, 61440, 4096)));
    }

    #[test]
    fn stripes_of_a_failed_attempt_are_released() {
        let stripes = Stripes::default();
        let read = request(0, Operation::Read, 12288, 4096);
        let wide = request(1, Operation::Write, 0, 16384);
        assert!(stripes.take(&read));
        assert!(!stripes.take(&wide));
        stripes.release(&read);
        assert!(stripes.take(&wide));
    }

    #[test]
    fn a_request_longer_than_all_stripes_does_not_wait_for_itself() {
        let stripes = Stripes::default();
        let all = request(0, Operation::Write, 0, 1 << 30);
        assert!(stripes.take(&all));
        stripes.release(&all);
        assert!(stripes.take(&request(1, Operation::Read, 1 << 29, 512)));
    }

    #[test]
    fn a_dropped_worker_releases_its_stripes() {
        let stripes = Stripes::default();
        let write = request(0, Operation::Write, 0, 4096);
        let mut exclusive = Exclusive::new(FixedRequests(vec![write]), vec![stripes.clone()], 1);
        assert_eq!(exclusive.next(0, 0), Step::Issue(write));
        drop(exclusive);
        assert!(stripes.take(&write));
    }
}
