//! Requests as calls on the space of files, which move no data.

use std::os::fd::AsRawFd;

use super::Psync;
use crate::files::syscall_result;
use crate::{Completion, Engine, EngineError, Operation, Request, Wait, pause};

/// Calls that replace reads, writes and trims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpaceCall {
    /// `fallocate` of the range of a request: a write extends the file, a read keeps its size, and
    /// a trim punches a hole. Needs files that are open for writing.
    Fallocate,
    /// `ftruncate` to the offset of a write; other requests fail with `EINVAL`.
    Ftruncate,
}

/// The `psync` engine with calls on the space of files. Syncs remain syncs.
///
/// A separate type, so that reads and writes of data have no further branch.
#[derive(Debug)]
pub struct SpacePsync {
    psync: Psync,
    call: SpaceCall,
}

impl SpacePsync {
    /// Makes this call for each read, write and trim of the engine.
    #[must_use]
    pub const fn new(psync: Psync, call: SpaceCall) -> Self {
        Self { psync, call }
    }

    fn execute(&mut self, request: Request) -> i32 {
        let operation = request.operation;
        let moves = operation.moves_bytes();
        if !moves {
            return self.psync.execute(request);
        }
        let Some(file) = self.psync.files.get(request.file_index) else {
            return -libc::EBADF;
        };
        let (fd, offset) = (file.as_raw_fd(), request.offset_bytes.cast_signed());
        let result = match (self.call, operation) {
            (SpaceCall::Fallocate, _) => {
                // Source: fio's manual for its engine falloc.
                let mode = match operation {
                    Operation::Read => libc::FALLOC_FL_KEEP_SIZE,
                    Operation::Trim => libc::FALLOC_FL_KEEP_SIZE | libc::FALLOC_FL_PUNCH_HOLE,
                    _ => 0,
                };
                // SAFETY: the descriptor is open as long as `files` holds it; the other arguments
                // are numbers.
                unsafe { libc::fallocate64(fd, mode, offset, request.length_bytes.into()) }
            }
            // SAFETY: as above.
            (SpaceCall::Ftruncate, Operation::Write) => unsafe { libc::ftruncate64(fd, offset) },
            (SpaceCall::Ftruncate, _) => return -libc::EINVAL,
        };
        match syscall_result(result as isize) {
            // The whole range counts as transferred, although the call returns 0. Trims return 0
            // on every engine.
            0 if operation != Operation::Trim => request.length_bytes.cast_signed(),
            result => result,
        }
    }
}

impl Engine for SpacePsync {
    fn slot_count(&self) -> u32 {
        self.psync.slot_count()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.psync.buffer(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        self.psync.push(request);
    }

    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        if self.psync.pending.is_empty() {
            pause(wait);
        }
        for index in 0..self.psync.pending.len() {
            let request = self.psync.pending[index];
            let (slot, result) = (request.slot, self.execute(request));
            done.push(Completion { slot, result });
        }
        self.psync.pending.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::PsyncOptions;

    /// Results of the requests, and size and allocated bytes of the file after each.
    fn after(call: SpaceCall, requests: &[(Operation, u64)]) -> Vec<(i32, u64, bool)> {
        let file = tempfile::tempfile().unwrap();
        let other: File = file.try_clone().unwrap();
        let psync = Psync::new(vec![file.into()], 1, 65_536, PsyncOptions::default()).unwrap();
        let mut engine = SpacePsync::new(psync, call);
        let mut done = Vec::with_capacity(1);
        let one = |&(operation, offset_bytes): &(Operation, u64)| {
            engine.push(Request {
                operation,
                offset_bytes,
                length_bytes: 65_536,
                ..Request::EMPTY
            });
            done.clear();
            engine.reap(Wait::Poll, &mut done).unwrap();
            let stat = other.metadata().unwrap();
            (done[0].result, stat.size(), stat.blocks() > 0)
        };
        requests.iter().map(one).collect()
    }

    #[test]
    fn reads_writes_and_trims_are_modes_of_fallocate() {
        let requests = [
            (Operation::Read, 0),
            (Operation::Write, 0),
            (Operation::Trim, 0),
            (Operation::Fsync, 0),
        ];
        let expected = [
            (65_536, 0, true),
            (65_536, 65_536, true),
            (0, 65_536, false),
            (0, 65_536, false),
        ];
        let found = after(SpaceCall::Fallocate, &requests);
        if found[0].0 == -libc::EOPNOTSUPP {
            return eprintln!("skipped: the directory for temporary files has no fallocate");
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn writes_truncate_files_to_their_offsets() {
        let requests = [
            (Operation::Write, 8192),
            (Operation::Write, 0),
            (Operation::Read, 0),
        ];
        let expected = [
            (65_536, 8192, false),
            (65_536, 0, false),
            (-libc::EINVAL, 0, false),
        ];
        assert_eq!(after(SpaceCall::Ftruncate, &requests), expected);
    }
}
