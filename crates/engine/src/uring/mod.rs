//! One ring a worker: batched submission, registered files and buffers.

mod enter;
mod files;
mod files_directory;
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

use crate::files::Files;
use crate::{Buffers, Completion, Engine, EngineError, Operation, Reopen, Request, Wait};

pub use files::UringFiles;
pub use polls::check_polls;
pub(crate) use queue::Queue;
pub(crate) use setup::build_ring;
pub use setup::{RingSetup, UringOptions};

/// The `io_uring` engine.
///
/// It is made and used on one thread: the ring is registered with the thread that makes it.
/// Requests with a ring that polls (`iopoll`) are reads and writes only; the kernel answers
/// anything else with `EINVAL`.
pub struct IoUring {
    // Nothing has to be reaped before these go: all that the kernel reads and writes for requests
    // in flight are the registered buffers, whose pages it holds until they have ended. Fields
    // drop in this order: the ring's end of the buffers before their memory.
    queue: Queue,
    files: Files,
    /// Flags of each file's read requests.
    read_flags: Vec<squeue::Flags>,
    buffers: Buffers,
    /// Slots with a request that has not been handed back; a slot never has two, or the kernel
    /// would write to a buffer behind its owner's back and the completion queue could overflow.
    in_flight: Vec<bool>,
    /// The registered buffer of a slot is number `slot >> region_shift`.
    region_shift: u32,
    call_flags: i32,
    setup: RingSetup,
    thread_bound: PhantomData<*const ()>,
}

impl IoUring {
    /// An engine on `files` with `slot_count` buffers of `buffer_bytes` each, for this thread.
    ///
    /// # Errors
    /// When the system has no io_uring or forbids it, memory cannot be locked, or a file refuses
    /// what the options ask for.
    pub fn new(
        files: Vec<OwnedFd>,
        slot_count: u32,
        buffer_bytes: u32,
        options: UringOptions,
    ) -> Result<Self, EngineError> {
        let files = Files::new(files);
        setup::check_files(&files, options)?;
        let (ring, mut setup) = setup::build_ring(slot_count, 1, options)?;
        let buffers = Buffers::new(slot_count, buffer_bytes)?;
        let region_shift = setup::register_buffers(&ring, &buffers)?;
        // What a file promises is looked up when it is registered, so it is prepared before.
        let read_flags = issue::prepare_all(&ring, &files, slot_count, &mut setup)?;
        setup::register_files(&ring, &files)?;
        let queue = Queue::new(ring, slot_count, &mut setup);
        let call_flags = if options.dontcache {
            libc::RWF_DONTCACHE
        } else {
            0
        };
        Ok(Self {
            queue,
            files,
            read_flags,
            in_flight: vec![false; slot_count as usize],
            region_shift,
            call_flags,
            buffers,
            setup,
            thread_bound: PhantomData,
        })
    }

    /// What the kernel granted of what a ring should have, for the record.
    #[must_use]
    pub fn setup(&self) -> &RingSetup {
        &self.setup
    }

    /// Puts another open file in the place of file `file_index`, which is closed; nothing may be
    /// in flight for it.
    ///
    /// # Errors
    /// When there is no such file, or the kernel refuses the new one.
    pub fn reopen(&mut self, file_index: u32, file: OwnedFd) -> Result<(), EngineError> {
        let read_flags = issue::prepare(&file, self.buffers.slot_count(), &mut self.setup)?;
        let fd = file.as_raw_fd();
        let old = self.files.replace(file_index, file)?;
        self.read_flags[file_index as usize] = read_flags;
        let updated = self
            .queue
            .submitter()
            .register_files_update(file_index, &[fd]);
        drop(old);
        updated
            .map(drop)
            .map_err(|source| EngineError::system("io_uring_register", source))
    }

    /// Closes all files and takes what [`Operation::Open`] opens them by again, one recipe a file
    /// in order; [`Operation::Close`] closes them again. Without recipes both fail with
    /// `EOPNOTSUPP`; opening an open file fails with `EBUSY`, everything on a closed one with
    /// `EBADF`.
    ///
    /// # Errors
    /// When there are not as many recipes as files, or the kernel refuses to
    /// forget the open ones.
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

    /// What is not the ring's to do is done at once.
    #[cold]
    fn answer(&mut self, request: Request) {
        let result = match request.operation {
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

    /// The ring forgets the file before its descriptor is closed, or it would stay open.
    fn close(&mut self, file_index: u32) -> i32 {
        if self.files.reopens(file_index) && self.files.get(file_index).is_some() {
            let forgotten = self.register(file_index, -1);
            if forgotten < 0 {
                return forgotten;
            }
        }
        self.files.close(file_index)
    }

    /// Puts a descriptor, or none (-1), into the ring's table.
    fn register(&mut self, file_index: u32, fd: i32) -> i32 {
        let submitter = self.queue.submitter();
        match submitter.register_files_update(file_index, &[fd]) {
            Ok(_) => 0,
            Err(error) => -error.raw_os_error().unwrap_or(libc::EIO),
        }
    }

    #[inline]
    fn entry(&self, request: &Request) -> Option<squeue::Entry> {
        let file = types::Fixed(request.file_index);
        let read_flags = self.read_flags.get(request.file_index as usize);
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
        let in_flight = &mut self.in_flight[request.slot as usize];
        assert!(!*in_flight, "a slot has one request in flight at most");
        assert!(
            request.length_bytes as usize <= self.buffers.buffer_bytes()
                || !request.operation.uses_buffer(),
            "a request fits in its slot's buffer"
        );
        *in_flight = true;
        let Some(entry) = self.entry(&request) else {
            return self.answer(request);
        };
        // SAFETY: the entry names the slot's registered buffer, which lives as long as the ring
        // and which nobody else gets at before the completion is handed back.
        unsafe { self.queue.push(&entry) };
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
