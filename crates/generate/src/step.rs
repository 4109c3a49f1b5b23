//! The two seams of the measurement loop: what to ask next, and what the bytes are.

use engine::{Completion, OperationSet, Request};

/// What a worker does next with a free slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Issue this request.
    Issue(Request),
    /// Nothing may be issued by the worker before this time, in nanoseconds of the worker's clock;
    /// the same slot is asked again then.
    Wait {
        /// When to ask again.
        until_ns: u64,
    },
    /// The slot has nothing to do now; it is asked again after the next completion of any slot of
    /// the worker, so there must be one in flight.
    Park,
    /// Time has passed, or much was done that asks for nothing: the same slot is asked again at
    /// once, after a look at the clock and at whether the run goes on.
    Again,
    /// The slot has nothing left to do.
    Finished,
}

/// What a completion means for the flow it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The flow has more requests.
    Continues,
    /// The flow is done; the number is its transaction kind, 0-based. It has failed where one of
    /// its requests has.
    Done(u8),
    /// As `Done`, where failed requests do not decide whether the flow has failed.
    Judged {
        /// The transaction kind, 0-based.
        kind: u8,
        /// The negated number of the error that the flow ended with, 0 where all went well.
        errno: i32,
    },
    /// As `Judged`, from a time on that the stream says.
    Timed {
        /// The transaction kind, 0-based.
        kind: u8,
        /// The negated number of the error that the flow ended with, 0 where all went well.
        errno: i32,
        /// When it began, in nanoseconds of the worker's clock.
        start_ns: u64,
    },
    /// The request belonged to no flow of its slot, or to one that does not count.
    Apart,
    /// As `Apart`, and something is done that began elsewhere.
    Spanned {
        /// The transaction kind, 0-based.
        kind: u8,
        /// When it began, in nanoseconds of the worker's clock.
        start_ns: u64,
    },
}

/// The names of transaction kinds as a stream announces them.
#[must_use]
pub fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// What [`Generator::expected_bytes`] says of a request whose failure is none.
pub const EXPECTED_FAILURE: u32 = u32::MAX;

/// A stream of requests: flows, each a chain of dependent requests in one slot.
pub trait Generator {
    /// The operations that may come, so that counters can be allocated before the ramp.
    fn operations(&self) -> OperationSet;

    /// The names of the transaction kinds, by their number.
    fn transaction_kinds(&self) -> Vec<String>;

    /// Goes to what is done before the measurement, by the first slot alone; whether there is any.
    fn enter(&mut self) -> bool {
        false
    }

    /// Goes to what is measured.
    fn begin(&mut self) {}

    /// Goes to what is done behind the measurement, by the first slot alone; whether there is any.
    fn leave(&mut self) -> bool {
        false
    }

    /// The next step of a slot that has nothing in flight.
    fn next(&mut self, slot: u32, now_ns: u64) -> Step;

    /// Bytes that a request in flight moves if all goes well: fewer than it asks for where a file
    /// is known to end before. Of one that has failed [`EXPECTED_FAILURE`] where that is nothing
    /// to be counted as such.
    fn expected_bytes(&self, request: &Request, _result: i32) -> u32 {
        request.length_bytes
    }

    /// Takes note of the completion of the slot's request.
    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow;

    /// Takes note that a request which is about to complete returned wrong bytes.
    fn mismatched(&mut self) {}
}

/// The bytes of file content.
pub trait Content {
    /// Fills the buffer of a write request, `request.length_bytes` long.
    fn fill(&mut self, buffer: &mut [u8], request: &Request);

    /// Whether [`Content::check`] looks at anything.
    #[inline]
    fn checks(&self) -> bool {
        false
    }

    /// Checks the bytes that a read request returned.
    ///
    /// # Errors
    /// The first place where the bytes are not what was written there.
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

/// Bytes that are not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Which of the worker's files, 0-based.
    pub file_index: u32,
    /// Where in the file, in bytes.
    pub offset_bytes: u64,
    /// What should be there.
    pub wanted: String,
    /// What is there.
    pub seen: String,
}
