//! One system call a request.

use std::os::fd::{AsRawFd, OwnedFd};

use crate::files::{Files, result_of};
use crate::{Buffers, Completion, Engine, EngineError, Operation, Reopen, Request, Wait, pause};

/// `pread` and `pwrite`; requests are executed one after the other at the next `reap`.
#[derive(Debug)]
pub struct Psync {
    files: Files,
    buffers: Buffers,
    pending: Vec<Request>,
    /// Flags of `preadv2`; 0 means that plain `pread` does.
    call_flags: i32,
}

/// What `psync` can do beyond the plain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PsyncOptions {
    /// Drop pages behind each request (`RWF_DONTCACHE`); every file is tried at construction.
    pub dontcache: bool,
}

impl Psync {
    /// An engine on `files` with `slot_count` buffers of `buffer_bytes` each.
    ///
    /// # Errors
    /// When there is no memory for the buffers, or a file refuses what the options ask for.
    pub fn new(
        files: Vec<OwnedFd>,
        slot_count: u32,
        buffer_bytes: u32,
        options: PsyncOptions,
    ) -> Result<Self, EngineError> {
        let files = Files::new(files);
        if options.dontcache {
            files.probe_dontcache()?;
        }
        let buffers = Buffers::new(slot_count, buffer_bytes)?;
        let pending = Vec::with_capacity(buffers.slot_count() as usize);
        let call_flags = if options.dontcache {
            libc::RWF_DONTCACHE
        } else {
            0
        };
        Ok(Self {
            files,
            buffers,
            pending,
            call_flags,
        })
    }

    /// Puts another open file in the place of file `file_index`, which is closed; nothing may be
    /// in flight for it.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn reopen(&mut self, file_index: u32, file: OwnedFd) -> Result<(), EngineError> {
        self.files.replace(file_index, file).map(drop)
    }

    /// Closes all files and takes what [`Operation::Open`] opens them by again, one recipe a file
    /// in order; [`Operation::Close`] closes them again. Without recipes both fail with
    /// `EOPNOTSUPP`; opening an open file fails with `EBUSY`, everything on a closed one with
    /// `EBADF`.
    ///
    /// # Errors
    /// When there are not as many recipes as files.
    pub fn set_reopen(&mut self, recipes: Vec<Reopen>) -> Result<(), EngineError> {
        self.files.set_recipes(recipes)?;
        (0..self.files.count()).for_each(|file_index| {
            self.files.close(file_index);
        });
        Ok(())
    }

    fn execute(&mut self, request: Request) -> i32 {
        match request.operation {
            Operation::Open => return self.files.open(request.file_index),
            Operation::Close => return self.files.close(request.file_index),
            _ => {}
        }
        let Some(file) = self.files.get(request.file_index) else {
            return -libc::EBADF;
        };
        let fd = file.as_raw_fd();
        let moved = match request.operation {
            Operation::Read | Operation::Write => return self.transfer(fd, request),
            // SAFETY: takes a descriptor that is open as long as `self.files` holds it.
            Operation::Fsync => unsafe { libc::fsync(fd) },
            // SAFETY: as above.
            Operation::Fdatasync => unsafe { libc::fdatasync(fd) },
            Operation::SyncFileRange => {
                let (offset, length) = (request.offset_bytes as i64, request.length_bytes.into());
                // SAFETY: as above; the other arguments are numbers.
                unsafe { libc::sync_file_range(fd, offset, length, request.handle.into()) }
            }
            _ => return -libc::EOPNOTSUPP,
        };
        result_of(moved as isize)
    }

    fn transfer(&mut self, fd: i32, request: Request) -> i32 {
        let flags = self.call_flags;
        let offset = request.offset_bytes as i64;
        let buffer = &mut self.buffers.slot(request.slot)[..request.length_bytes as usize];
        let iovec = libc::iovec {
            iov_base: buffer.as_mut_ptr().cast(),
            iov_len: buffer.len(),
        };
        // SAFETY: in each case the kernel reads or writes the slot's buffer only, which is
        // borrowed here exclusively and at least as long as it is told.
        let moved = unsafe {
            match (request.operation == Operation::Read, flags) {
                (true, 0) => libc::pread64(fd, iovec.iov_base, iovec.iov_len, offset),
                (false, 0) => libc::pwrite64(fd, iovec.iov_base, iovec.iov_len, offset),
                (true, flags) => libc::preadv2(fd, &iovec, 1, offset, flags),
                (false, flags) => libc::pwritev2(fd, &iovec, 1, offset, flags),
            }
        };
        result_of(moved)
    }
}

impl Engine for Psync {
    fn slot_count(&self) -> u32 {
        self.buffers.slot_count()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.slot(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        self.pending.push(request);
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        if self.pending.is_empty() {
            pause(wait);
        }
        for index in 0..self.pending.len() {
            let request = self.pending[index];
            let result = self.execute(request);
            done.push(Completion {
                slot: request.slot,
                result,
            });
        }
        self.pending.clear();
        Ok(())
    }
}
