//! One ring per worker: batched submission, registered files and buffers.

mod enter;
mod files;
mod files_directory;
mod forced_async;
mod issue;
mod last;
mod polls;
mod queue;
mod setup;
mod table;
mod trial;

use std::fmt;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::{opcode, squeue, types};

use crate::files::{EngineFiles, PUNCH_MODE, TrimMethod};
use crate::{Buffers, Completion, Engine, EngineError, Operation, Reopen, Request, Wait};

pub use files::UringFiles;
pub use forced_async::ForcedAsync;
pub use polls::check_polls;
pub(crate) use queue::Queue;
pub(crate) use setup::build_ring;
pub use setup::{RingGrants, UringOptions};

/// The `io_uring` engine.
///
/// It must be created and used on one thread, because the ring is registered with the thread that
/// creates it. A polling ring (`iopoll`) supports only reads and writes; the kernel rejects
/// anything else with `EINVAL`.
pub struct IoUring {
    // No reaping is needed before these fields drop. Requests in flight access only the registered
    // buffers, whose pages the kernel holds until they have ended. Fields drop in this order: the
    // ring's registration of the buffers before their memory.
    queue: Queue,
    files: EngineFiles,
    /// Submission flags of reads, by file.
    read_flags: Vec<squeue::Flags>,
    buffers: Buffers,
    /// Slots with a request in flight. A second one would let the kernel write to a buffer that is
    /// in use, and could overflow the completion queue.
    in_flight: Vec<bool>,
    /// The registered buffer of a slot is number `slot >> region_shift`.
    region_shift: u32,
    call_flags: i32,
    setup: RingGrants,
    thread_bound: PhantomData<*const ()>,
}

impl IoUring {
    /// An engine on `files` with `slot_count` buffers of `buffer_bytes` each, for this thread.
    ///
    /// # Errors
    /// If the system has no io_uring or forbids it, memory cannot be locked, or a file does not
    /// support the options.
    pub fn new(
        files: Vec<OwnedFd>,
        slot_count: u32,
        buffer_bytes: u32,
        options: UringOptions,
    ) -> Result<Self, EngineError> {
        let files = EngineFiles::new(files);
        setup::check_files(&files, options)?;
        let (ring, mut setup) = setup::build_ring(slot_count, 1, options)?;
        let buffers = Buffers::new(slot_count, buffer_bytes)?;
        let region_shift = setup::register_buffers(&ring, &buffers)?;
        // Registration records whether a file is nonblocking, so files are prepared before.
        let read_flags = issue::prepare_all(&ring, &files, slot_count, &mut setup)?;
        setup::register_files(&ring, &files)?;
        let queue = Queue::new(ring, slot_count, &mut setup);
        Ok(Self {
            queue,
            files,
            read_flags,
            in_flight: vec![false; slot_count as usize],
            region_shift,
            call_flags: options.call_flags(),
            buffers,
            setup,
            thread_bound: PhantomData,
        })
    }

    /// Ring features that the kernel granted, for the record.
    #[must_use]
    pub fn setup(&self) -> &RingGrants {
        &self.setup
    }

    /// Replaces file `file_index` by another open file; the old one is closed. No request may be in
    /// flight for it.
    ///
    /// # Errors
    /// If there is no such file, or the kernel refuses the new one.
    pub fn reopen(&mut self, file_index: u32, file: OwnedFd) -> Result<(), EngineError> {
        let read_flags = issue::prepare(&file, self.buffers.slot_count(), &mut self.setup)?;
        let fd = file.as_raw_fd();
        let old = self.files.replace(file_index, file)?;
        self.read_flags[file_index as usize] = read_flags;
        let updated = self
            .queue
            .submitter()
            .register_files_update(file_index, &[fd]);
        // The old file stays open until the ring's entry refers to the new one.
        drop(old);
        updated
            .map(drop)
            .map_err(|source| EngineError::system("io_uring_register", source))
    }

    /// Closes all files and sets one recipe per file, in order. [`Operation::Open`] opens a file by
    /// its recipe, and [`Operation::Close`] closes it. Without recipes both fail with `EOPNOTSUPP`.
    /// Opening an open file fails with `EBUSY`, and everything on a closed one with `EBADF`.
    ///
    /// # Errors
    /// If the number of recipes differs from the number of files, or the kernel refuses to
    /// unregister the open ones.
    pub fn set_reopen(&mut self, recipes: Vec<Reopen>) -> Result<(), EngineError> {
        self.files.set_recipes(recipes)?;
        for file_index in 0..self.files.count() {
            let result = self.close(file_index);
            if result < 0 {
                let source = std::io::Error::from_raw_os_error(-result);
                return Err(EngineError::system("close", source));
            }
        }
        Ok(())
    }

    /// Prepares for [`Operation::Trim`], which otherwise fails with `EOPNOTSUPP`.
    ///
    /// # Errors
    /// If the kernel does not tell the kind of a file.
    pub fn prepare_trims(&mut self) -> Result<(), EngineError> {
        // The kernel punches holes on its own threads.
        issue::allow_threads(&self.queue.submitter(), self.buffers.slot_count());
        self.files.prepare_trims()
    }

    /// The entry of a trim; `None` for devices, because a ring of this interface cannot discard.
    #[cold]
    fn trim_entry(&self, request: &Request) -> Option<squeue::Entry> {
        let method = self.files.trim_method(request.file_index)?;
        (method == TrimMethod::PunchHole).then(|| {
            let file = types::Fixed(request.file_index);
            opcode::Fallocate::new(file, request.length_bytes.into())
                .offset(request.offset_bytes)
                .mode(PUNCH_MODE)
                .build()
        })
    }

    /// Executes requests that do not go through the ring, immediately.
    #[cold]
    fn answer(&mut self, request: Request) {
        let result = match request.operation {
            Operation::Trim => self.files.trim(&request),
            Operation::Open => self.open(request.file_index),
            Operation::Close => self.close(request.file_index),
            _ => -libc::EOPNOTSUPP,
        };
        let slot = request.slot;
        self.queue.answer(Completion { slot, result });
    }

    fn open(&mut self, file_index: u32) -> i32 {
        let result = self.files.open(file_index);
        let Some(file) = self.files.get(file_index).filter(|_| result == 0) else {
            return result;
        };
        let fd = file.as_raw_fd();
        let registered = self.register(file_index, fd);
        if registered < 0 {
            self.files.close(file_index);
        }
        registered
    }

    /// Unregisters the file before closing its descriptor, or the ring would keep it open.
    fn close(&mut self, file_index: u32) -> i32 {
        if self.files.can_reopen(file_index) && self.files.get(file_index).is_some() {
            let forgotten = self.register(file_index, -1);
            if forgotten < 0 {
                return forgotten;
            }
        }
        self.files.close(file_index)
    }

    /// Sets the file's entry in the ring's file table to a descriptor, or to none (-1).
    fn register(&mut self, file_index: u32, fd: i32) -> i32 {
        let submitter = self.queue.submitter();
        match submitter.register_files_update(file_index, &[fd]) {
            Ok(_) => 0,
            Err(error) => -error.raw_os_error().unwrap_or(libc::EIO),
        }
    }

    /// Pushes a request with these flags in addition to its own.
    // Always inlined, so that empty flags cost nothing.
    #[inline(always)]
    fn push_with(&mut self, request: Request, flags: squeue::Flags) {
        let in_flight = &mut self.in_flight[request.slot as usize];
        assert!(!*in_flight, "a slot has one request in flight at most");
        // Operations without the buffer use the length as a number.
        assert!(
            request.length_bytes as usize <= self.buffers.buffer_bytes()
                || !request.operation.uses_buffer(),
            "a request fits in its slot's buffer"
        );
        *in_flight = true;
        let Some(entry) = self.entry(&request) else {
            return self.answer(request);
        };
        // SAFETY: the entry refers to the slot's registered buffer, which lives as long as the
        // ring, and which nothing else accesses before the completion is returned.
        unsafe { self.queue.push(&entry.flags(flags)) };
    }

    #[inline]
    fn entry(&self, request: &Request) -> Option<squeue::Entry> {
        let file = types::Fixed(request.file_index);
        let read_flags = self.read_flags.get(request.file_index as usize);
        // The kernel itself rejects requests for a file that does not exist.
        let read_flags = read_flags.copied().unwrap_or(squeue::Flags::empty());
        let pointer = self.buffers.slot_pointer(request.slot);
        let region = (request.slot >> self.region_shift) as u16;
        let entry = match request.operation {
            Operation::Read => opcode::ReadFixed::new(file, pointer, request.length_bytes, region)
                .offset(request.offset_bytes)
                .rw_flags(self.call_flags)
                .build()
                .flags(read_flags),
            Operation::Write => {
                opcode::WriteFixed::new(file, pointer, request.length_bytes, region)
                    .offset(request.offset_bytes)
                    .rw_flags(self.call_flags)
                    .build()
            }
            Operation::Fsync => opcode::Fsync::new(file).build(),
            Operation::Fdatasync => opcode::Fsync::new(file)
                .flags(types::FsyncFlags::DATASYNC)
                .build(),
            Operation::SyncFileRange => opcode::SyncFileRange::new(file, request.length_bytes)
                .offset(request.offset_bytes)
                .flags(request.handle.into())
                .build(),
            Operation::Trim => self.trim_entry(request)?,
            _ => return None,
        };
        Some(entry.user_data(u64::from(request.slot)))
    }
}

impl fmt::Debug for IoUring {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("IoUring")
            .field("setup", &self.setup)
            .field("slot_count", &self.buffers.slot_count())
            .field("in_flight_count", &self.queue.in_flight_count())
            .finish_non_exhaustive()
    }
}

impl Engine for IoUring {
    fn slot_count(&self) -> u32 {
        self.buffers.slot_count()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        assert!(
            !self.in_flight[slot as usize],
            "a slot's buffer is the kernel's while in flight"
        );
        self.buffers.slot(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        self.push_with(request, squeue::Flags::empty());
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        let done_before = done.len();
        self.queue.reap(wait, done)?;
        for completion in &done[done_before..] {
            self.in_flight[completion.slot as usize] = false;
        }
        Ok(())
    }
}
