//! One system call a request.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::ReadWriteFlags;

use crate::files::{Files, moved, result_of};
use crate::{Buffers, Completion, Engine, EngineError, Operation, Reopen, Request, Wait, pause};

/// `pread` and `pwrite`; requests are executed one after the other at the next `reap`.
#[derive(Debug)]
pub struct Psync {
    files: Files,
    buffers: Buffers,
    pending: Vec<Request>,
    /// Flags of `preadv2`; none means that plain `pread` does.
    call_flags: ReadWriteFlags,
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
            ReadWriteFlags::from_bits_retain(libc::RWF_DONTCACHE as u32)
        } else {
            ReadWriteFlags::empty()
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
            Operation::Read | Operation::Write => return self.transfer(request),
            Operation::Open => return self.files.open(request.file_index),
            Operation::Close => return self.files.close(request.file_index),
            _ => {}
        }
        let Some(file) = self.files.get(request.file_index) else {
            return -libc::EBADF;
        };
        let fd = file.as_raw_fd();
        let moved = match request.operation {
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

    #[inline]
    fn transfer(&mut self, request: Request) -> i32 {
        let Some(file) = self.files.get(request.file_index) else {
            return -libc::EBADF;
        };
        let flags = self.call_flags;
        let offset = request.offset_bytes;
        let buffer = &mut self.buffers.slot(request.slot)[..request.length_bytes as usize];
        // By the system call itself: in a program of threads each call of the C library asks twice
        // whether the thread is to be canceled.
        moved(
            match (request.operation == Operation::Read, flags.is_empty()) {
                (true, true) => rustix::io::pread(file, buffer, offset),
                (false, true) => rustix::io::pwrite(file, buffer, offset),
                (true, false) => {
                    rustix::io::preadv2(file, &mut [IoSliceMut::new(buffer)], offset, flags)
                }
                (false, false) => {
                    rustix::io::pwritev2(file, &[IoSlice::new(buffer)], offset, flags)
                }
            },
        )
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
