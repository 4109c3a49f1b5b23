//! Reading a small file as a whole: open, read and close as linked requests of the ring, in one
//! submission.
//!
//! The link after the open is soft: if it fails, the kernel cancels the other two with `ECANCELED`.
//! The link after the read is hard, because a short or failed read must not leave the file open.

use io_uring::squeue::{Entry, Flags};
use io_uring::{opcode, types};

use super::{IssueMethod, UringFiles, entries};
use crate::file_operations::{OpenHow, calls};
use crate::fileset::NameKey;
use crate::{Completion, Operation, Request};

/// Number of ring requests per request.
pub(super) const PARTS_COUNT: u32 = 3;

/// Results of the parts so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WholeFileResult {
    /// Results of open, read and close.
    results: [i32; PARTS_COUNT as usize],
    done_count: u32,
}

impl WholeFileResult {
    /// Records the result of a part. Returns the result of the whole once all parts have ended.
    fn settle(&mut self, part: usize, result: i32) -> Option<i32> {
        self.results[part] = result;
        self.done_count += 1;
        if self.done_count < PARTS_COUNT {
            return None;
        }
        let [open, read, close] = std::mem::take(self).results;
        Some(match (open, read, close) {
            (..0, _, _) => open,
            (_, 0.., ..0) => close,
            _ => read,
        })
    }
}

/// Links the parts and gives each its own user data.
pub(super) fn linked([open, read, close]: [Entry; 3], slot: u32) -> [Entry; 3] {
    // Part 0 means a request with a single entry.
    let data = |part: u64| (part + 1) << u32::BITS | u64::from(slot);
    [
        open.flags(Flags::IO_LINK).user_data(data(0)),
        read.flags(Flags::IO_HARDLINK).user_data(data(1)),
        close.user_data(data(2)),
    ]
}

/// Completion for an entry's result; `None` while parts of a whole are left.
#[inline]
pub(super) fn completion(
    whole_files: &mut [WholeFileResult],
    user_data: u64,
    result: i32,
) -> Option<Completion> {
    let slot = user_data as u32;
    let part = (user_data >> u32::BITS) as usize;
    let result = match part.checked_sub(1) {
        None => result,
        Some(part) => whole_files[slot as usize].settle(part, result)?,
    };
    Some(Completion { slot, result })
}

impl UringFiles {
    /// Queues open and read, and returns the close that is linked to them.
    #[inline]
    pub(super) fn read_whole(&mut self, request: &Request) -> IssueMethod {
        let slot = request.slot;
        let table_slot = match self.file_slots.free_temporary_place(slot) {
            Ok(place) => place,
            Err(result) => return IssueMethod::Done(result),
        };
        let owned = &mut *self.owned;
        let [name, _] = owned.names.of(slot);
        let Some(at) = owned.filesets.name(NameKey::of_whole(request), name) else {
            return IssueMethod::Done(-libc::EBADF);
        };
        if self.unsupported.contains(&Operation::ReadWhole) {
            let open = &owned.options.open;
            let how = OpenHow::new(open.read, open);
            let buffer = &mut owned.buffers.slot(slot)[..request.length_bytes as usize];
            return IssueMethod::Done(calls::read_whole(at, (&how, false), buffer));
        }
        let open = entries::open(at, owned.hows.read(), table_slot);
        let (file, start) = (types::Fixed(table_slot), owned.buffers.slot_pointer(slot));
        let region = (slot >> self.region_shift) as u16;
        let read = opcode::ReadFixed::new(file, start, request.length_bytes, region).build();
        let parts = [open, read, opcode::Close::new(file).build()];
        let [open, read, close] = linked(parts, slot);
        for entry in [open, read] {
            // SAFETY: as in `push`.
            unsafe { self.queue.push(&entry) };
        }
        IssueMethod::Ring(close)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Result of a whole-file read: from the results of open, read and close, which complete in
    /// this order.
    fn read_result(results: [i32; 3], order: [usize; 3]) -> i32 {
        let mut whole_files = [WholeFileResult::default(); 8];
        let mut done = Vec::new();
        for part in order {
            let data = (part as u64 + 1) << 32 | 7;
            done.extend(completion(&mut whole_files, data, results[part]));
        }
        assert_eq!(done.len(), 1);
        assert_eq!((done[0].slot, whole_files[7].done_count), (7, 0));
        done[0].result
    }

    #[test]
    fn a_whole_file_read_returns_its_length_or_the_first_error() {
        let canceled = -libc::ECANCELED;
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            assert_eq!(read_result([0, 100, 0], order), 100);
            assert_eq!(read_result([-2, canceled, canceled], order), -2);
            assert_eq!(read_result([0, -5, 0], order), -5);
            assert_eq!(read_result([0, 100, -9], order), -9);
        }
    }

    #[test]
    fn other_completions_keep_their_slot_and_result() {
        let completion = completion(&mut [], 3, -17).unwrap();
        assert_eq!((completion.slot, completion.result), (3, -17));
    }
}
