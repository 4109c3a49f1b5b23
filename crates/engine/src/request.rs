//! Requests, completions, and the interface of engines.

use crate::{EngineError, Operation};

/// One request to an engine. Small and `Copy`: files are given by index, and content is in the
/// slot's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Operation to perform.
    pub operation: Operation,
    /// Fileset that contains `file_index`, 0-based; 0 if the engine has only one.
    pub fileset: u8,
    /// Register of the slot that holds the open file, 0-based; 0 if the slot has only one.
    pub handle: u8,
    /// Slot of the worker, 0-based; a slot has at most one request in flight.
    pub slot: u32,
    /// File of the worker, 0-based.
    pub file_index: u32,
    /// Bytes to transfer; at most the engine's buffer size.
    pub length_bytes: u32,
    /// Position in the file. Operations without a position use the number as described at
    /// [`Operation`].
    pub offset_bytes: u64,
}

impl Request {
    /// A read of 0 bytes, which is never issued: a placeholder, and the default of all fields.
    pub const EMPTY: Self = Self {
        operation: Operation::Read,
        fileset: 0,
        handle: 0,
        slot: 0,
        file_index: 0,
        length_bytes: 0,
        offset_bytes: 0,
    };

    /// As `handle` of a read by an engine for a single set of files, which ignores it: the read
    /// verifies an earlier write of the same worker.
    pub const READ_BACK: u8 = 1;

    /// As `offset_bytes` of a read or write by an engine for file operations: at the current
    /// position of the open file, after the last such read or write.
    pub const AT_POSITION: u64 = u64::MAX;

    /// As `offset_bytes` of a write by an engine for file operations: append at the end of the file
    /// in one call. The position of the open file does not change.
    ///
    /// Source: pwritev2(2), `RWF_APPEND`, Linux 4.16; the position does not change because the
    /// given offset is not -1.
    pub const AT_END: u64 = u64::MAX - 1;

    /// As [`Request::AT_END`], by `lseek` to the end and then `write`, so that the open file's
    /// position is after the data. Only for engines that use system calls.
    pub const SEEK_END: u64 = u64::MAX - 2;

    /// As `handle` of [`Operation::SyncFileRange`] on open files, alone or combined with the next
    /// two flags: waits for writeback that is already in progress.
    pub const WAIT_BEFORE: u8 = libc::SYNC_FILE_RANGE_WAIT_BEFORE as u8;

    /// As [`Request::WAIT_BEFORE`]: starts writeback of dirty pages.
    pub const WRITE_OUT: u8 = libc::SYNC_FILE_RANGE_WRITE as u8;

    /// As [`Request::WAIT_BEFORE`]: waits until writeback is complete.
    pub const WAIT_AFTER: u8 = libc::SYNC_FILE_RANGE_WAIT_AFTER as u8;

    /// As `offset_bytes` of a read or write by an engine for TCP peers: the reply to the slot's
    /// previous request. For a request itself, `offset_bytes` is the size of its reply, 0 for none.
    // Above the size of every reply, which has 32 bits.
    pub const REPLY: u64 = 1 << 32;

    /// First `offset_bytes` of a read or write that is a code instead of a plain offset.
    pub(crate) const FIRST_CODE: u64 = 1 << 62;

    /// Added to `offset_bytes` of [`Operation::Lock`]: a lock that readers can hold together.
    pub const SHARED_LOCK: u64 = Self::FIRST_CODE;

    /// Largest plain offset. No file system supports files this large.
    pub const OFFSET_MAX: u64 = Self::FIRST_CODE - 1;

    /// First code that gives the number of bytes per system call.
    const FIRST_UNIT: u64 = 1 << 63;

    /// As `offset_bytes` of a read or write by an engine for file operations: at this offset by
    /// `lseek` and then `read` or `write`, so that the open file's position is after the data.
    /// Offsets beyond [`Request::OFFSET_MAX`] become the largest one. Only for engines that use
    /// system calls.
    #[must_use]
    pub const fn seeking(offset_bytes: u64) -> u64 {
        match offset_bytes {
            0..Self::FIRST_CODE => Self::FIRST_CODE | offset_bytes,
            _ => Self::FIRST_UNIT - 1,
        }
    }

    /// As `offset_bytes` of a read or write by an engine for file operations: at the current
    /// position, by system calls of `unit_bytes` each; 0 counts as 1. Only for engines that use
    /// system calls.
    #[must_use]
    pub const fn in_units(unit_bytes: u32) -> u64 {
        Self::FIRST_UNIT | unit_bytes as u64
    }

    /// File offset at which a read or write starts, in bytes; `None` if it depends on the file's
    /// position or size.
    #[must_use]
    pub const fn file_offset(&self) -> Option<u64> {
        match Self::place(self.offset_bytes) {
            TransferPosition::Offset(bytes) | TransferPosition::Seek(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Decodes the `offset_bytes` of a read or write.
    pub(crate) const fn place(offset_bytes: u64) -> TransferPosition {
        match offset_bytes {
            // No unit collides with these three codes, because its size has 32 bits.
            Self::AT_POSITION => TransferPosition::Position,
            Self::AT_END => TransferPosition::End,
            Self::SEEK_END => TransferPosition::SeekEnd,
            0..Self::FIRST_CODE => TransferPosition::Offset(offset_bytes),
            Self::FIRST_CODE..Self::FIRST_UNIT => {
                TransferPosition::Seek(offset_bytes - Self::FIRST_CODE)
            }
            // Take the lower half.
            _ => TransferPosition::Units(offset_bytes as u32),
        }
    }

    /// `true` for a read that verifies an earlier write of the same worker.
    #[inline]
    #[must_use]
    pub const fn is_read_back(&self) -> bool {
        matches!(self.operation, Operation::Read) && self.handle == Self::READ_BACK
    }
}

/// Place where a request reads or writes, and the system calls it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransferPosition {
    /// At this offset, without using the file's position.
    Offset(u64),
    /// At the file's position.
    Position,
    /// At the file's position, in calls of this many bytes.
    Units(u32),
    /// At this offset, after seeking there.
    Seek(u64),
    /// At the end of the file, without using its position.
    End,
    /// At the end of the file, after seeking there.
    SeekEnd,
}

/// Outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Slot of the request.
    pub slot: u32,
    /// Bytes transferred (0 for operations without content), or a negated errno.
    pub result: i32,
}

/// Maximum time that [`Engine::reap`] waits for a completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Do not wait; return what has completed.
    Poll,
    /// Wait until one request has completed. A signal ends the wait early. With nothing in flight,
    /// pause for `timeout_ns` instead; 0 then means no pause.
    One {
        /// Return without a completion after this many nanoseconds; 0 means no limit.
        timeout_ns: u64,
    },
}

/// Executes requests, and keeps several in flight if it can.
///
/// The order of calls is `buffer` (the content of a write), `push`, then `reap`, repeatedly.
pub trait Engine {
    /// Number of slots, which is the maximum number of requests in flight.
    fn slot_count(&self) -> u32;

    /// Buffer of the slot, aligned for direct I/O. Its content is valid only while nothing is in
    /// flight for the slot.
    fn buffer(&mut self, slot: u32) -> &mut [u8];

    /// Accepts a request; it is issued by the next `reap` at the latest.
    fn push(&mut self, request: Request);

    /// Issues all pushed requests, then appends completed ones to `done`. The capacity of `done`
    /// must be at least `slot_count`, so that nothing is allocated.
    ///
    /// # Errors
    /// If the engine itself fails; a failed I/O is a [`Completion`] with a negative result.
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

/// Waits according to `wait` when nothing is in flight.
#[cold]
pub(crate) fn pause(wait: Wait) {
    if let Wait::One { timeout_ns } = wait
        && timeout_ns > 0
    {
        let span = rustix::thread::Timespec {
            tv_sec: (timeout_ns / 1_000_000_000) as i64,
            tv_nsec: (timeout_ns % 1_000_000_000) as i64,
        };
        // A signal may end the pause early, like every wait.
        let _ = rustix::thread::nanosleep(&span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_fits_in_three_machine_words() {
        assert_eq!(size_of::<Request>(), 24);
    }

    #[test]
    fn a_place_round_trips_through_its_code() {
        let last = Request::FIRST_CODE - 1;
        for offset in [0, 4096, last] {
            assert_eq!(Request::place(offset), TransferPosition::Offset(offset));
            let sought = Request::place(Request::seeking(offset));
            assert_eq!(sought, TransferPosition::Seek(offset));
        }
        for unit in [0, 1, u32::MAX] {
            let placed = Request::place(Request::in_units(unit));
            assert_eq!(placed, TransferPosition::Units(unit));
        }
        assert_eq!(Request::seeking(u64::MAX), Request::seeking(last));
        assert_eq!(
            Request::place(Request::AT_POSITION),
            TransferPosition::Position
        );
        assert_eq!(Request::place(Request::AT_END), TransferPosition::End);
        assert_eq!(Request::place(Request::SEEK_END), TransferPosition::SeekEnd);
    }
}
