//! One system call per request.

mod space;

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::ReadWriteFlags;

use crate::files::{EngineFiles, moved, syscall_result};
use crate::{Buffers, Completion, Engine, EngineError, Operation, Reopen, Request, Wait, pause};

pub use space::{SpaceCall, SpacePsync};

/// `pread` and `pwrite`. Requests are executed one after another at the next `reap`.
#[derive(Debug)]
pub struct Psync {
    files: EngineFiles,
    buffers: Buffers,
    pending: Vec<Request>,
    /// Flags of `preadv2`; if empty, plain `pread` is enough.
    call_flags: ReadWriteFlags,
}

/// Options of the `psync` engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PsyncOptions {
    /// Drop cached pages after each request (`RWF_DONTCACHE`); construction checks every file for
    /// support.
    pub dontcache: bool,
    /// Fail reads and writes that would wait (`RWF_NOWAIT`); construction checks every file for
    /// support.
    pub nowait: bool,
}

impl PsyncOptions {
    fn call_flags(self) -> ReadWriteFlags {
        let flags = [
            (self.dontcache, libc::RWF_DONTCACHE),
            (self.nowait, libc::RWF_NOWAIT),
        ];
        let chosen = flags.into_iter().filter(|(is_asked, _)| *is_asked);
        let bits = chosen.fold(0, |all, (_, flag)| all | flag);
        ReadWriteFlags::from_bits_retain(bits as u32)
    }
}

impl Psync {
    /// An engine on `files` with `slot_count` buffers of `buffer_bytes` each.
    ///
    /// # Errors
    /// If there is not enough memory for the buffers, or a file does not support the options.
    pub fn new(
        files: Vec<OwnedFd>,
        slot_count: u32,
        buffer_bytes: u32,
        options: PsyncOptions,
    ) -> Result<Self, EngineError> {
        let files = EngineFiles::new(files);
        if options.dontcache {
            files.probe_dontcache()?;
        }
        if options.nowait {
            files.probe_nowait()?;
        }
        let buffers = Buffers::new(slot_count, buffer_bytes)?;
        let pending = Vec::with_capacity(buffers.slot_count() as usize);
        Ok(Self {
            files,
            buffers,
            pending,
            call_flags: options.call_flags(),
        })
    }

    /// Replaces file `file_index` by another open file; the old one is closed. No request may be in
    /// flight for it.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn reopen(&mut self, file_index: u32, file: OwnedFd) -> Result<(), EngineError> {
        self.files.replace(file_index, file).map(drop)
    }

    /// Closes all files and sets one recipe per file, in order. [`Operation::Open`] opens a file by
    /// its recipe, and [`Operation::Close`] closes it. Without recipes both fail with `EOPNOTSUPP`.
    /// Opening an open file fails with `EBUSY`, and everything on a closed one with `EBADF`.
    ///
    /// # Errors
    /// If the number of recipes differs from the number of files.
    pub fn set_reopen(&mut self, recipes: Vec<Reopen>) -> Result<(), EngineError> {
        self.files.set_recipes(recipes)?;
        (0..self.files.count()).for_each(|file_index| {
            self.files.close(file_index);
        });
        Ok(())
    }

    /// Prepares for [`Operation::Trim`], which otherwise fails with `EOPNOTSUPP`.
    ///
    /// # Errors
    /// If the kernel does not tell the kind of a file.
    pub fn prepare_trims(&mut self) -> Result<(), EngineError> {
        self.files.prepare_trims()
    }

    fn execute(&mut self, request: Request) -> i32 {
        match request.operation {
            Operation::Read | Operation::Write => return self.transfer(request),
            Operation::Trim => return self.files.trim(&request),
            Operation::Open => return self.files.open(request.file_index),
            Operation::Close => return self.files.close(request.file_index),
            _ => {}
        }
        let Some(file) = self.files.get(request.file_index) else {
            return -libc::EBADF;
        };
        let fd = file.as_raw_fd();
        let moved = match request.operation {
            // SAFETY: the descriptor is open as long as `self.files` holds it.
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
        syscall_result(moved as isize)
    }

    #[inline]
    fn transfer(&mut self, request: Request) -> i32 {
        let Some(file) = self.files.get(request.file_index) else {
            return -libc::EBADF;
        };
        let flags = self.call_flags;
        let offset = request.offset_bytes;
        let buffer = &mut self.buffers.slot(request.slot)[..request.length_bytes as usize];
        // Direct system calls: in a multithreaded program, each call through the C library checks
        // twice whether the thread is being canceled.
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
