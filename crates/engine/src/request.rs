//! What goes into an engine and what comes out.

use crate::{EngineError, Operation};

/// One thing to do. Small and `Copy`: files are named by index, content lies in the slot's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// What to do.
    pub operation: Operation,
    /// Which of the engine's filesets `file_index` counts in, 0-based; 0 where it has one.
    pub fileset: u8,
    /// Which of the slot's registers holds what is open, 0-based; 0 where it has one.
    pub handle: u8,
    /// Which of the worker's slots is used, 0-based; a slot has one request in flight at most.
    pub slot: u32,
    /// Which of the worker's files is meant, 0-based.
    pub file_index: u32,
    /// Bytes to move; at most the engine's buffer size.
    pub length_bytes: u32,
    /// Position in the file, from its byte 0. Operations that have none use the number as told
    /// at [`Operation`].
    pub offset_bytes: u64,
}

impl Request {
    /// As `offset_bytes` of a read or write by an engine for file operations: where the file
    /// stands, behind the last such read or write of the same open file.
    pub const AT_POSITION: u64 = u64::MAX;

    /// As `offset_bytes` of a write by an engine for file operations: behind the file's last byte,
    /// wherever that is when the kernel writes, in one call. Where the open file stands does not
    /// change.
    ///
    /// Source: pwritev2(2), `RWF_APPEND`, Linux 4.16; the position is left alone as the offset
    /// that goes with it is not -1.
    pub const AT_END: u64 = u64::MAX - 1;
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The request's slot.
    pub slot: u32,
    /// Bytes moved (or 0 for operations without content), or a negated errno.
    pub result: i32,
}

/// How long [`Engine::reap`] may wait for a completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Not at all: hand over what is there.
    Poll,
    /// Until one completion is there, `0` nanoseconds meaning without limit. A signal ends the
    /// wait early. With nothing in flight it is a pause of so many nanoseconds, `0` meaning none.
    One {
        /// Give up after so many nanoseconds and return without a completion.
        timeout_ns: u64,
    },
}

/// Keeps requests in flight.
///
/// The order of calls is: `buffer` (a write's content), `push`, then `reap`, over and over.
pub trait Engine {
    /// How many slots there are, which is the most requests that can be in flight.
    fn slot_count(&self) -> u32;

    /// The slot's own buffer, aligned for direct I/O; valid content only while nothing is in
    /// flight for that slot.
    fn buffer(&mut self, slot: u32) -> &mut [u8];

    /// Takes a request; at the latest the next `reap` issues it.
    fn push(&mut self, request: Request);

    /// Issues everything pushed, then appends what has completed to `done`, whose capacity is at
    /// least `slot_count`, so that nothing is allocated.
    ///
    /// # Errors
    /// When the engine itself fails; a failed I/O is a [`Completion`] with a negative result.
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError>;
}

/// Waits as [`Wait`] asks of an engine that has nothing in flight.
#[cold]
pub(crate) fn pause(wait: Wait) {
    if let Wait::One { timeout_ns } = wait
        && timeout_ns > 0
    {
        let span = rustix::thread::Timespec {
            tv_sec: (timeout_ns / 1_000_000_000) as i64,
            tv_nsec: (timeout_ns % 1_000_000_000) as i64,
        };
        // A signal may end it early, as it may end every wait.
        let _ = rustix::thread::nanosleep(&span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_request_says_fits_in_three_words() {
        assert_eq!(size_of::<Request>(), 24);
    }
}
