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
    /// A read of no bytes, which is never issued: where a request stands before there is one, and
    /// for all that one does not say.
    pub const NOTHING: Self = Self {
        operation: Operation::Read,
        fileset: 0,
        handle: 0,
        slot: 0,
        file_index: 0,
        length_bytes: 0,
        offset_bytes: 0,
    };

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

    /// As [`Request::AT_END`], by `lseek` to the end and then `write`, so that the open file stands
    /// behind what was written. System calls only.
    pub const SEEK_END: u64 = u64::MAX - 2;

    /// As `handle` of [`Operation::SyncFileRange`] on open files, alone or with the next two: waits
    /// for what is being written out before.
    pub const WAIT_BEFORE: u8 = libc::SYNC_FILE_RANGE_WAIT_BEFORE as u8;

    /// The same: begins to write out what is not yet.
    pub const WRITE_OUT: u8 = libc::SYNC_FILE_RANGE_WRITE as u8;

    /// The same: waits until all is written out.
    pub const WAIT_AFTER: u8 = libc::SYNC_FILE_RANGE_WAIT_AFTER as u8;

    /// As `offset_bytes` of a read or write by an engine for TCP peers: the reply to the slot's
    /// request before. Of a request itself it is the bytes of its reply, 0 for none.
    pub const REPLY: u64 = 1 << 32;

    /// The first `offset_bytes` of a read or write that is no place in a file by itself.
    pub(crate) const FIRST_CODE: u64 = 1 << 62;

    /// The last `offset_bytes` of a read or write that is one. No file system has so large a file.
    pub const OFFSET_MAX: u64 = Self::FIRST_CODE - 1;

    /// The first of those that say how many bytes each system call moves.
    const FIRST_UNIT: u64 = 1 << 63;

    /// As `offset_bytes` of a read or write by an engine for file operations: at that place, by
    /// `lseek` and then `read` or `write`, so that the open file stands behind it. A place that no
    /// file can have is the last one. System calls only.
    #[must_use]
    pub const fn seeking(offset_bytes: u64) -> u64 {
        match offset_bytes {
            0..Self::FIRST_CODE => Self::FIRST_CODE | offset_bytes,
            _ => Self::FIRST_UNIT - 1,
        }
    }

    /// As `offset_bytes` of a read or write by an engine for file operations: where the file
    /// stands, by as many system calls as it takes with so many bytes in each; 0 counts as 1.
    /// System calls only.
    #[must_use]
    pub const fn in_units(unit_bytes: u32) -> u64 {
        Self::FIRST_UNIT | unit_bytes as u64
    }

    /// Where in its file a read or a write begins, in bytes; none where it does not say.
    #[must_use]
    pub const fn file_offset(&self) -> Option<u64> {
        match Self::place(self.offset_bytes) {
            Placed::Offset(bytes) | Placed::Sought(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// What `offset_bytes` of a read or write means.
    pub(crate) const fn place(offset_bytes: u64) -> Placed {
        match offset_bytes {
            Self::AT_POSITION => Placed::Position,
            Self::AT_END => Placed::End,
            Self::SEEK_END => Placed::SoughtEnd,
            0..Self::FIRST_CODE => Placed::Offset(offset_bytes),
            Self::FIRST_CODE..Self::FIRST_UNIT => Placed::Sought(offset_bytes - Self::FIRST_CODE),
            // The lower half.
            _ => Placed::Units(offset_bytes as u32),
        }
    }
}

/// Where a request reads or writes, and by which system calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placed {
    /// There, wherever the file stands.
    Offset(u64),
    /// Where the file stands.
    Position,
    /// The same, in calls of so many bytes.
    Units(u32),
    /// There, where the file is made to stand first.
    Sought(u64),
    /// Behind the last byte, wherever the file stands.
    End,
    /// Behind the last byte, where the file is made to stand first.
    SoughtEnd,
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

impl<E: Engine + ?Sized> Engine for Box<E> {
    fn slot_count(&self) -> u32 {
        (**self).slot_count()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        (**self).buffer(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        (**self).push(request);
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        (**self).reap(wait, done)
    }
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

    #[test]
    fn a_place_is_the_one_that_its_number_was_made_of() {
        let last = Request::FIRST_CODE - 1;
        for offset in [0, 4096, last] {
            assert_eq!(Request::place(offset), Placed::Offset(offset));
            let sought = Request::place(Request::seeking(offset));
            assert_eq!(sought, Placed::Sought(offset));
        }
        for unit in [0, 1, u32::MAX] {
            let placed = Request::place(Request::in_units(unit));
            assert_eq!(placed, Placed::Units(unit));
        }
        assert_eq!(Request::seeking(u64::MAX), Request::seeking(last));
        assert_eq!(Request::place(Request::AT_POSITION), Placed::Position);
        assert_eq!(Request::place(Request::AT_END), Placed::End);
        assert_eq!(Request::place(Request::SEEK_END), Placed::SoughtEnd);
    }
}
