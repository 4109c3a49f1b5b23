//! The two interfaces of the measurement loop: the next request, and the content of buffers.

use engine::{Completion, OperationSet, Request};

/// Next step of a worker for a free slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Issue this request.
    Issue(Request),
    /// The worker may issue nothing before this time, in nanoseconds of its clock; the loop then
    /// tries the same slot again.
    Wait {
        /// Time of the next try.
        until_ns: u64,
    },
    /// The slot has nothing to do now. The loop tries it again after the next completion in any
    /// slot of the worker, so a request must be in flight.
    Park,
    /// Time has passed, or many acts issued no request. The loop tries the same slot again
    /// immediately, after a check of the clock and of whether the run continues.
    Again,
    /// The slot has nothing left to do.
    Finished,
}

/// Effect of a completion on its flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The flow has more requests.
    Continues,
    /// The flow is done; the number is its transaction kind, 0-based. It has failed if any of its
    /// requests has.
    Done(u8),
    /// As `Done`, but failed requests do not determine whether the flow has failed.
    DoneWithErrno {
        /// The transaction kind, 0-based.
        kind: u8,
        /// Negated number of the error that ended the flow; 0 for success.
        errno: i32,
    },
    /// As `DoneWithErrno`, with a start time given by the stream.
    Timed {
        /// The transaction kind, 0-based.
        kind: u8,
        /// Negated number of the error that ended the flow; 0 for success.
        errno: i32,
        /// Start of the flow, in nanoseconds of the worker's clock.
        start_ns: u64,
    },
    /// The request belongs to no flow of its slot, or to one that does not count.
    Uncounted,
    /// As `Uncounted`, and a transaction that began elsewhere is done.
    TransactionDone {
        /// The transaction kind, 0-based.
        kind: u8,
        /// Start of the transaction, in nanoseconds of the worker's clock.
        start_ns: u64,
    },
}

/// Names of transaction kinds, as a stream returns them.
#[must_use]
pub fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Result of [`Generator::expected_bytes`] for a request whose failure is not an error.
pub const EXPECTED_FAILURE: u32 = u32::MAX;

/// A stream of requests: flows, each a chain of dependent requests in one slot.
pub trait Generator {
    /// The operations that may occur, so that counters can be allocated before the ramp.
    fn operations(&self) -> OperationSet;

    /// Names of the transaction kinds, by number.
    fn transaction_kinds(&self) -> Vec<String>;

    /// Starts the part before the measurement, which only the first slot executes. Returns `false`
    /// if there is none.
    fn enter(&mut self) -> bool {
        false
    }

    /// Starts the measured part.
    fn begin(&mut self) {}

    /// Starts the part after the measurement, which only the first slot executes. Returns `false`
    /// if there is none.
    fn leave(&mut self) -> bool {
        false
    }

    /// The next step of a slot that has nothing in flight.
    fn next(&mut self, slot: u32, now_ns: u64) -> Step;

    /// Number of bytes that a request in flight moves if it succeeds: fewer than requested if the
    /// file is known to end before. [`EXPECTED_FAILURE`] if the request has failed and this does
    /// not count as an error.
    fn expected_bytes(&self, request: &Request, _result: i32) -> u32 {
        request.length_bytes
    }

    /// Records the completion of the slot's request.
    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow;

    /// Records that a request about to complete returned wrong bytes.
    fn on_mismatch(&mut self) {}
}

/// Content of buffers.
pub trait Content {
    /// Fills the buffer of a write request, `request.length_bytes` long.
    fn fill(&mut self, buffer: &mut [u8], request: &Request);

    /// `true` if [`Content::check`] checks anything.
    #[inline]
    fn checks(&self) -> bool {
        false
    }

    /// Checks the bytes that a read request returned.
    ///
    /// # Errors
    /// The first place where the bytes differ from what was written.
    #[inline]
    fn check(&mut self, _buffer: &[u8], _request: &Request) -> Result<(), Mismatch> {
        Ok(())
    }
}

impl<C: Content + ?Sized> Content for Box<C> {
    fn fill(&mut self, buffer: &mut [u8], request: &Request) {
        (**self).fill(buffer, request);
    }

    fn checks(&self) -> bool {
        (**self).checks()
    }

    fn check(&mut self, buffer: &[u8], request: &Request) -> Result<(), Mismatch> {
        (**self).check(buffer, request)
    }
}

/// Bytes that differ from what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Index of the worker's file, 0-based.
    pub file_index: u32,
    /// Offset in the file, in bytes.
    pub offset_bytes: u64,
    /// Expected bytes.
    pub expected: String,
    /// Bytes that were read.
    pub actual: String,
}
