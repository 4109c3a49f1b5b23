//! One system call per request, on files by name.

use std::fmt;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::fs::AtFlags;

use super::by_call::SyscallContext;
use super::calls::{self, ENTRIES_BYTES};
use super::handles::{FileHandles, Handles, RegisterFiles, SlotHandles};
use super::streams::DirectoryStreams;
use super::{FileEngineOptions, NameBuffers, OpenHows, RequestObject};
use crate::files::close;
use crate::fileset::{NameKey, RelativeName};
use crate::{
    Buffers, Completion, Engine, EngineError, Fileset, Filesets, Operation, Request, Wait, pause,
};

/// Operations on the files of one or more [`Fileset`]s by plain system calls. Requests are executed
/// one after another at the next `reap`.
///
/// `file_index` is the index of the name. Create and Open leave their file open in the slot, where
/// reads, writes, syncs and other operations find it until Close. [`Operation`] describes the
/// numbers of each request. A slot has at most one open file: opening another fails with `EBUSY`.
/// Without an open file, and beyond the last name or fileset, the result is `EBADF`. With
/// [`RegisterFiles`] this applies to each register of a slot. With [`FileHandles`], any slot can
/// use a file that another opened; `EBUSY` then means that the file is already open.
pub struct PsyncFiles<H = SlotHandles> {
    filesets: Filesets,
    pub(super) options: FileEngineOptions,
    hows: OpenHows,
    /// The open files.
    pub(super) handles: H,
    pub(super) buffers: Buffers,
    /// One pair for all slots, because each call ends before the next begins.
    names: NameBuffers,
    entries: Box<[MaybeUninit<u8>]>,
    streams: DirectoryStreams,
    pending: Vec<Request>,
}

impl PsyncFiles {
    /// An engine on `fileset` with `slot_count` buffers of `buffer_bytes` each.
    ///
    /// # Errors
    /// If there is not enough memory for the buffers.
    pub fn new(
        fileset: Arc<Fileset>,
        slot_count: u32,
        buffer_bytes: u32,
        options: FileEngineOptions,
    ) -> Result<Self, EngineError> {
        let buffers = Buffers::new(slot_count, buffer_bytes)?;
        let handles = SlotHandles::new(buffers.slot_count());
        Ok(Self::with_handles(
            fileset.into(),
            buffers,
            options,
            handles,
        ))
    }
}

impl PsyncFiles<FileHandles> {
    /// As [`PsyncFiles::new`], with up to `files_max` files open at the same time, each until it is
    /// closed; one more fails with `EMFILE`. The process's limit on open files must allow it.
    ///
    /// # Errors
    /// If there is not enough memory for the buffers.
    pub fn with_open_files_max(
        fileset: Arc<Fileset>,
        slot_count: u32,
        buffer_bytes: u32,
        options: FileEngineOptions,
        files_max: u32,
    ) -> Result<Self, EngineError> {
        let buffers = Buffers::new(slot_count, buffer_bytes)?;
        let handles = FileHandles::new(files_max);
        Ok(Self::with_handles(
            fileset.into(),
            buffers,
            options,
            handles,
        ))
    }
}

impl PsyncFiles<RegisterFiles> {
    /// As [`PsyncFiles::new`], on several filesets, with up to `register_count` files open at the
    /// same time in each slot. The process's limit on open files must allow it: see
    /// [`make_room_for_open`].
    ///
    /// [`make_room_for_open`]: crate::make_room_for_open
    ///
    /// # Errors
    /// If there is not enough memory for the buffers.
    pub fn with_registers(
        filesets: Filesets,
        slot_count: u32,
        buffer_bytes: u32,
        options: FileEngineOptions,
        register_count: u8,
    ) -> Result<Self, EngineError> {
        let buffers = Buffers::new(slot_count, buffer_bytes)?;
        let handles = RegisterFiles::new(buffers.slot_count(), register_count);
        Ok(Self::with_handles(filesets, buffers, options, handles))
    }
}

impl<H: Handles> PsyncFiles<H> {
    fn with_handles(
        filesets: Filesets,
        buffers: Buffers,
        mut options: FileEngineOptions,
        handles: H,
    ) -> Self {
        // `openat2` is not needed: a name of one component has no path to resolve, and `O_NOFOLLOW`
        // rejects a link at its end.
        // On tmpfs, creating an empty file then takes 5.07 us instead of 5.26.
        options.open.plain |= filesets.iter().all(Fileset::is_flat);
        Self {
            filesets,
            hows: OpenHows::new(&options),
            options,
            handles,
            names: NameBuffers::new(1),
            entries: vec![MaybeUninit::uninit(); ENTRIES_BYTES].into(),
            streams: DirectoryStreams::new(buffers.slot_count()),
            pending: Vec::with_capacity(buffers.slot_count() as usize),
            buffers,
        }
    }

    /// Closes all open files.
    pub fn close_all(&mut self) {
        self.handles.clear();
    }

    /// Operations done for every file are inlined into the measurement loop. A system call clears
    /// the processor's return predictor, so each return after it would be mispredicted.
    #[inline(always)]
    pub(super) fn execute(&mut self, request: &Request) -> i32 {
        match request.operation {
            Operation::Create | Operation::Open => self.open(request),
            Operation::Read | Operation::Write => self.transfer(request),
            Operation::Close => self.handles.take(request).map_or(-libc::EBADF, close),
            Operation::Unlink => self.by_name(request, |it, _| calls::unlink(it, AtFlags::empty())),
            _ => self.execute_other(request),
        }
    }

    #[inline(never)]
    fn execute_other(&mut self, request: &Request) -> i32 {
        match request.operation {
            Operation::Mkdir => {
                let result = self.execute_by_aim(request);
                self.options.mkdir_result(result)
            }
            Operation::Stat | Operation::Rmdir | Operation::Readdir => self.execute_by_aim(request),
            Operation::Rename | Operation::Link | Operation::Symlink => self.two_names(request),
            Operation::Fsync if request.offset_bytes == RequestObject::Directory.code() => {
                self.sync_directory(request)
            }
            Operation::ReadWhole => self.read_whole(request),
            Operation::Lock | Operation::Unlock => self.on_handle(request),
            operation if operation.needs_system_call() => self.by_call(request),
            _ => self.on_handle(request),
        }
    }

    fn by_call(&mut self, request: &Request) -> i32 {
        let [name, _] = self.names.of(0);
        let context = SyscallContext {
            filesets: &self.filesets,
            name,
            entries: &mut self.entries,
            stream: self.streams.of(request.slot),
        };
        context.execute(request)
    }

    fn read_whole(&mut self, request: &Request) -> i32 {
        // As in a ring, where the open file occupies the slot's only place.
        if !self.handles.is_free(request) {
            return -libc::EBUSY;
        }
        let [name, _] = self.names.of(0);
        let Some(at) = self.filesets.name(NameKey::of_whole(request), name) else {
            return -libc::EBADF;
        };
        let how = (self.hows.read(), self.options.open.plain);
        let start = self.options.start_bytes(request);
        let buffer = &mut self.buffers.slot(request.slot)[start..];
        let buffer = &mut buffer[..request.length_bytes as usize];
        calls::read_whole(at, how, buffer)
    }

    #[inline(always)]
    fn open(&mut self, request: &Request) -> i32 {
        let Some(how) = self.hows.of(request) else {
            return -libc::EINVAL;
        };
        // Checked before the file is opened, because `put` cannot refuse it.
        if let Some(result) = self.handles.refusal(request) {
            return result;
        }
        let [name, _] = self.names.of(0);
        let Some(at) = self.filesets.name(NameKey::of(request), name) else {
            return -libc::EBADF;
        };
        match calls::open(at, how, self.options.open.plain) {
            Ok(file) => {
                if self.options.stdio {
                    let appends = OpenHows::is_for_appending(request, how);
                    calls::stdio_prelude(file.as_fd(), appends);
                }
                self.handles.put(request, file);
                0
            }
            Err(result) => result,
        }
    }

    #[inline(always)]
    fn by_name(
        &mut self,
        request: &Request,
        call: impl FnOnce(RelativeName<'_>, &mut [MaybeUninit<u8>]) -> i32,
    ) -> i32 {
        let [name, _] = self.names.of(0);
        match self.filesets.name(NameKey::of(request), name) {
            Some(at) => call(at, &mut self.entries),
            None => -libc::EBADF,
        }
    }

    fn execute_by_aim(&mut self, request: &Request) -> i32 {
        let mode = self.options.directory_mode;
        let operation = request.operation;
        let call = |at: RelativeName<'_>, entries: &mut [MaybeUninit<u8>]| match operation {
            Operation::Readdir => calls::readdir(at, entries),
            operation => calls::on_name(operation, at, mode),
        };
        match RequestObject::from_code(request.offset_bytes) {
            Some(RequestObject::Name) => self.by_name(request, call),
            Some(RequestObject::Directory) => {
                let [name, _] = self.names.of(0);
                match self.filesets.directory_name(NameKey::of(request), name) {
                    Some(at) => call(at, &mut self.entries),
                    None => -libc::EBADF,
                }
            }
            Some(RequestObject::Handle) if operation == Operation::Stat => {
                let handle = self.handles.get(request);
                handle.map_or(-libc::EBADF, |file| calls::stat_handle(file.as_fd()))
            }
            _ => -libc::EINVAL,
        }
    }

    fn sync_directory(&mut self, request: &Request) -> i32 {
        if !self.handles.is_free(request) {
            return -libc::EBUSY;
        }
        let [name, _] = self.names.of(0);
        match self.filesets.directory_name(NameKey::of(request), name) {
            Some(at) => calls::sync_directory(at),
            None => -libc::EBADF,
        }
    }

    fn two_names(&mut self, request: &Request) -> i32 {
        let [old_name, new_name] = self.names.of(0);
        let second = NameKey::second_of(request);
        let old = self.filesets.name(NameKey::of(request), old_name);
        let new = second.and_then(|key| self.filesets.name(key, new_name));
        let (Some(old), Some(new)) = (old, new) else {
            return -libc::EBADF;
        };
        calls::two_names(request.operation, old, new)
    }

    #[inline(always)]
    fn transfer(&mut self, request: &Request) -> i32 {
        let Some(file) = self.handles.get(request) else {
            return -libc::EBADF;
        };
        let start = self.options.start_bytes(request);
        let end = start + request.length_bytes as usize;
        let buffer = &mut self.buffers.slot(request.slot)[start..end];
        calls::transfer(file.as_fd(), request, buffer, self.options.at_position)
    }

    fn on_handle(&mut self, request: &Request) -> i32 {
        let Some(file) = self.handles.get(request) else {
            return -libc::EBADF;
        };
        // Other operations use the length as a number that may exceed the buffer.
        let length = if request.operation.uses_buffer() {
            request.length_bytes as usize
        } else {
            0
        };
        let buffer = &mut self.buffers.slot(request.slot)[..length];
        calls::on_handle(file.as_fd(), request, buffer, self.options.xattr(request))
    }
}

impl<H> fmt::Debug for PsyncFiles<H> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PsyncFiles")
            .field("filesets", &self.filesets)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl<H: Handles> Engine for PsyncFiles<H> {
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

    #[inline(always)]
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        if self.pending.is_empty() {
            pause(wait);
        }
        // Requests are read in place: copying one that was just written would wait until the write
        // has reached the cache.
        // The list is taken out, because `execute` borrows the whole engine.
        let mut pending = std::mem::take(&mut self.pending);
        for request in &pending {
            let result = self.execute(request);
            done.push(Completion {
                slot: request.slot,
                result,
            });
        }
        pending.clear();
        self.pending = pending;
        Ok(())
    }
}
