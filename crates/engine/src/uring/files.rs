//! File operations through a ring. Files open into the ring's own table, where slots have places.

mod by_call;
mod entries;
mod notes;
mod places;
mod whole_file;

use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;

use entries::Memory;
use io_uring::{opcode, squeue, types};
use places::FileTableSlots;
use rustix::fs::AtFlags;
use whole_file::{PARTS_COUNT, WholeFileResult};

use super::files_directory::DirectoryStage;
use super::queue::Queue;
use super::setup::{self, RingGrants, UringOptions};
use super::{issue, table};
use crate::file_operations::calls::{self, ENTRIES_BYTES};
use crate::file_operations::streams::DirectoryStreams;
use crate::file_operations::{FileEngineOptions, NameBuffers, OpenHow, OpenHows, RequestObject};
use crate::fileset::NameKey;
use crate::{
    Buffers, Completion, Engine, EngineError, Fileset, Filesets, Operation, Request, Wait,
};

/// Operations on the files of one or more [`Fileset`]s through a ring; otherwise like
/// [`PsyncFiles`](crate::PsyncFiles).
///
/// A file opens into the ring's own table (a direct descriptor), without a descriptor of the
/// process; its attributes are read by name. System calls list directories and replace operations
/// that this kernel's ring lacks, before the next `reap` returns. [`UringFiles::notes`] reports
/// them.
///
/// It must be created and used on one thread, with which the ring is registered.
pub struct UringFiles {
    queue: Queue,
    owned: ManuallyDrop<EntryResources>,
    slots: Box<[UringSlot]>,
    file_slots: FileTableSlots,
    whole_files: Box<[WholeFileResult]>,
    entries: Box<[MaybeUninit<u8>]>,
    streams: DirectoryStreams,
    region_shift: u32,
    unsupported: Vec<Operation>,
    setup: RingGrants,
    thread_bound: PhantomData<*const ()>,
}

/// Memory and descriptors that queue entries refer to. Freed only when the kernel no longer works
/// on any entry; otherwise leaked.
struct EntryResources {
    buffers: Buffers,
    names: NameBuffers,
    stats: Box<[MaybeUninit<libc::statx>]>,
    hows: Box<OpenHows>,
    filesets: Filesets,
    options: FileEngineOptions,
}

/// State of one slot.
#[derive(Debug, Clone, Copy, Default)]
struct UringSlot {
    in_flight: Option<InFlight>,
    /// Stage of a directory sync in progress.
    directory: Option<DirectoryStage>,
}

/// Data of a request that is needed when it ends.
#[derive(Debug, Clone, Copy)]
struct InFlight {
    operation: Operation,
    handle: u8,
    key: NameKey,
}

/// How a request is executed.
enum IssueMethod {
    Ring(squeue::Entry),
    /// Already executed, with this result.
    Done(i32),
}

impl UringFiles {
    /// An engine on `fileset` with `slot_count` buffers of `buffer_bytes` each, for this thread.
    ///
    /// # Errors
    /// If the system has no io_uring or forbids it, or memory cannot be locked.
    pub fn new(
        fileset: Arc<Fileset>,
        slot_count: u32,
        buffer_bytes: u32,
        options: FileEngineOptions,
    ) -> Result<Self, EngineError> {
        let slots = FileTableSlots::one_per_slot(slot_count);
        Self::with_places(fileset.into(), slots, (slot_count, buffer_bytes), options)
    }

    /// As [`UringFiles::new`], on several filesets, with up to `register_count` files open at the
    /// same time in each slot. The process's limit must allow these and one more per slot: see
    /// [`make_room_for_open`](crate::make_room_for_open).
    ///
    /// # Errors
    /// As for [`UringFiles::new`].
    pub fn with_registers(
        filesets: Filesets,
        slot_count: u32,
        buffer_bytes: u32,
        options: FileEngineOptions,
        register_count: u8,
    ) -> Result<Self, EngineError> {
        let slots = FileTableSlots::registers(slot_count, register_count);
        Self::with_places(filesets, slots, (slot_count, buffer_bytes), options)
    }

    fn with_places(
        filesets: Filesets,
        table_slots: FileTableSlots,
        (slot_count, buffer_bytes): (u32, u32),
        options: FileEngineOptions,
    ) -> Result<Self, EngineError> {
        let (mut ring, mut setup) =
            setup::build_ring(slot_count, PARTS_COUNT, UringOptions::default())?;
        let buffers = Buffers::new(slot_count, buffer_bytes)?;
        let region_shift = setup::register_buffers(&ring, &buffers)?;
        table::make(&ring, table_slots.count())?;
        issue::allow_threads(&ring.submitter(), slot_count);
        let first = &filesets.first().locations()[0];
        let unsupported = table::unsupported_operations(&mut ring, first)?;
        // No effect on regular files, but in memory it keeps reads off the kernel's threads.
        let in_memory = issue::in_memory(&filesets, &mut setup);
        let added = if in_memory { libc::O_NONBLOCK } else { 0 };
        // Files in the ring's table are never inherited, and the kernel rejects `O_CLOEXEC` here.
        let hows = OpenHows::new(&options).with_flag_changes(added, libc::O_CLOEXEC);
        let queue = Queue::new(ring, slot_count, &mut setup);
        Ok(Self {
            queue,
            owned: ManuallyDrop::new(EntryResources {
                buffers,
                names: NameBuffers::new(slot_count),
                stats: vec![MaybeUninit::uninit(); slot_count as usize].into(),
                hows: Box::new(hows),
                filesets,
                options,
            }),
            slots: vec![UringSlot::default(); slot_count as usize].into(),
            file_slots: table_slots,
            whole_files: vec![WholeFileResult::default(); slot_count as usize].into(),
            entries: vec![MaybeUninit::uninit(); ENTRIES_BYTES].into(),
            streams: DirectoryStreams::new(slot_count),
            region_shift,
            unsupported,
            setup,
            thread_bound: PhantomData,
        })
    }

    /// Ring features that the kernel granted, for the record.
    #[must_use]
    pub fn setup(&self) -> &RingGrants {
        &self.setup
    }

    #[inline]
    fn way(&mut self, request: &Request) -> IssueMethod {
        match request.operation {
            Operation::Create | Operation::Open => self.open(request),
            Operation::Unlink => self.by_name(request, RequestObject::Name),
            Operation::Stat | Operation::Mkdir | Operation::Rmdir | Operation::Readdir => {
                match RequestObject::from_code(request.offset_bytes) {
                    Some(RequestObject::Handle) if request.operation == Operation::Stat => {
                        self.stat_handle(request)
                    }
                    Some(RequestObject::Handle) | None => IssueMethod::Done(-libc::EINVAL),
                    Some(object) => self.by_name(request, object),
                }
            }
            Operation::Rename | Operation::Link | Operation::Symlink => self.two_names(request),
            Operation::Fsync if request.offset_bytes == RequestObject::Directory.code() => {
                self.open_directory(request)
            }
            Operation::ReadWhole => self.read_whole(request),
            Operation::Lock | Operation::Unlock => self.on_handle(request),
            operation if operation.needs_system_call() => IssueMethod::Done(self.by_call(request)),
            _ => self.on_handle(request),
        }
    }

    #[inline]
    fn open(&mut self, request: &Request) -> IssueMethod {
        let owned = &mut *self.owned;
        let Some(how) = owned.hows.of(request) else {
            return IssueMethod::Done(-libc::EINVAL);
        };
        let table_slot = match self.file_slots.free_register(request) {
            Ok(place) => place,
            Err(result) => return IssueMethod::Done(result),
        };
        let [name, _] = owned.names.of(request.slot);
        let Some(at) = owned.filesets.name(NameKey::of(request), name) else {
            return IssueMethod::Done(-libc::EBADF);
        };
        IssueMethod::Ring(entries::open(at, how, table_slot))
    }

    #[cold]
    fn open_directory(&mut self, request: &Request) -> IssueMethod {
        let table_slot = match self.file_slots.free_temporary_place(request.slot) {
            Ok(place) => place,
            Err(result) => return IssueMethod::Done(result),
        };
        let owned = &mut *self.owned;
        let [name, _] = owned.names.of(request.slot);
        let Some(at) = owned.filesets.directory_name(NameKey::of(request), name) else {
            return IssueMethod::Done(-libc::EBADF);
        };
        self.slots[request.slot as usize].directory = Some(DirectoryStage::Open);
        IssueMethod::Ring(entries::open(at, owned.hows.directory(), table_slot))
    }

    /// Starts the next stage of a directory sync. Returns `false` if there is none.
    #[cold]
    fn continue_directory(&mut self, stage: DirectoryStage, completion: &mut Completion) -> bool {
        let table_slot = self.file_slots.last(completion.slot);
        match stage.after(completion.result, table_slot) {
            Ok((stage, entry)) => {
                self.slots[completion.slot as usize].directory = Some(stage);
                let entry = entry.user_data(u64::from(completion.slot));
                // SAFETY: the entry has no pointers, and the slot's previous one has completed.
                unsafe { self.queue.push(&entry) };
                true
            }
            Err(result) => {
                completion.result = result;
                false
            }
        }
    }

    #[inline]
    fn by_name(&mut self, request: &Request, aim: RequestObject) -> IssueMethod {
        let owned = &mut *self.owned;
        let [name, _] = owned.names.of(request.slot);
        let at = match aim {
            RequestObject::Directory => owned.filesets.directory_name(NameKey::of(request), name),
            _ => owned.filesets.name(NameKey::of(request), name),
        };
        let Some(at) = at else {
            return IssueMethod::Done(-libc::EBADF);
        };
        let (fd, path) = (types::Fd(at.directory.as_raw_fd()), at.name.as_ptr());
        let mode = owned.options.directory_mode;
        let operation = request.operation;
        if operation == Operation::Readdir {
            return IssueMethod::Done(calls::readdir(at, &mut self.entries));
        }
        if self.unsupported.contains(&operation) {
            let result = calls::on_name(operation, at, mode);
            return IssueMethod::Done(match operation {
                Operation::Mkdir => owned.options.mkdir_result(result),
                _ => result,
            });
        }
        let remove = opcode::UnlinkAt::new(fd, path);
        IssueMethod::Ring(match operation {
            Operation::Stat => {
                let stat = owned.stats[request.slot as usize].as_mut_ptr().cast();
                opcode::Statx::new(fd, path, stat)
                    .flags(libc::AT_SYMLINK_NOFOLLOW)
                    .mask(libc::STATX_BASIC_STATS)
                    .build()
            }
            Operation::Mkdir => opcode::MkDirAt::new(fd, path).mode(mode).build(),
            Operation::Rmdir => remove.flags(AtFlags::REMOVEDIR.bits() as i32).build(),
            _ => remove.build(),
        })
    }

    fn two_names(&mut self, request: &Request) -> IssueMethod {
        let owned = &mut *self.owned;
        let [old_name, new_name] = owned.names.of(request.slot);
        let second = NameKey::second_of(request);
        let old = owned.filesets.name(NameKey::of(request), old_name);
        let new = second.and_then(|key| owned.filesets.name(key, new_name));
        let (Some(old), Some(new)) = (old, new) else {
            return IssueMethod::Done(-libc::EBADF);
        };
        if self.unsupported.contains(&request.operation) {
            return IssueMethod::Done(calls::two_names(request.operation, old, new));
        }
        let [from, to] = [old, new].map(|at| types::Fd(at.directory.as_raw_fd()));
        let [old_path, path] = [old, new].map(|at| at.name.as_ptr());
        IssueMethod::Ring(match request.operation {
            Operation::Rename => opcode::RenameAt::new(from, old_path, to, path).build(),
            Operation::Link => opcode::LinkAt::new(from, old_path, to, path).build(),
            _ => {
                let text = calls::last_component(old.name);
                opcode::SymlinkAt::new(to, text, path).build()
            }
        })
    }

    #[inline]
    fn on_handle(&mut self, request: &Request) -> IssueMethod {
        let Some((place, open)) = self.file_slots.opened(request) else {
            return IssueMethod::Done(-libc::EBADF);
        };
        if request.operation.needs_system_call() || self.unsupported.contains(&request.operation) {
            return IssueMethod::Done(self.execute_by_descriptor(request, open));
        }
        let owned = &*self.owned;
        let memory = Memory {
            start: owned.buffers.slot_pointer(request.slot),
            region: (request.slot >> self.region_shift) as u16,
            xattr: owned.options.xattr(request).as_ptr(),
        };
        let entry = entries::on_file(request, place, owned.options.at_position, memory);
        entry.map_or(IssueMethod::Done(-libc::EOPNOTSUPP), IssueMethod::Ring)
    }

    /// A ring cannot stat a file that is open only in its own table, so the name is used.
    fn stat_handle(&mut self, request: &Request) -> IssueMethod {
        match self.file_slots.opened(request) {
            Some((_, key)) => {
                let named = Request {
                    fileset: key.fileset,
                    file_index: key.index,
                    length_bytes: key.directory,
                    ..*request
                };
                self.by_name(&named, RequestObject::Name)
            }
            None => IssueMethod::Done(-libc::EBADF),
        }
    }

    /// Opens a file of the ring's table again, by descriptor, for what the ring lacks.
    #[cold]
    fn execute_by_descriptor(&mut self, request: &Request, key: NameKey) -> i32 {
        let owned = &mut *self.owned;
        let [name, _] = owned.names.of(request.slot);
        let Some(at) = owned.filesets.name(key, name) else {
            return -libc::EBADF;
        };
        let open = &owned.options.open;
        let how = OpenHow::new(open.read_write, open);
        let file = match calls::open(at, &how, false) {
            Ok(file) => file,
            Err(result) => return result,
        };
        let buffer = owned.buffers.slot(request.slot);
        let length = buffer.len().min(request.length_bytes as usize);
        let value = &mut buffer[..length];
        calls::on_handle(file.as_fd(), request, value, owned.options.xattr(request))
    }

    /// Records the result of a request. Opening into the table returns the same results as opening
    /// a descriptor. Returns `false` if the request is not finished.
    #[inline]
    fn settle(&mut self, completion: &mut Completion) -> bool {
        if let Some(stage) = self.slots[completion.slot as usize].directory.take()
            && self.continue_directory(stage, completion)
        {
            return false;
        }
        let slot = completion.slot;
        let Some(finished) = self.slots[slot as usize].in_flight.take() else {
            return true;
        };
        match finished.operation {
            Operation::Create | Operation::Open if completion.result >= 0 => {
                self.file_slots
                    .note((slot, finished.handle), Some(finished.key));
                completion.result = 0;
            }
            Operation::Close => self.file_slots.note((slot, finished.handle), None),
            Operation::Mkdir => {
                completion.result = self.owned.options.mkdir_result(completion.result);
            }
            _ => {}
        }
        true
    }

    /// Removes completions of requests with further stages in the ring; the next `reap` issues
    /// them.
    #[cold]
    fn remove_unfinished(&mut self, done: &mut Vec<Completion>, start: usize) {
        let slots = &self.slots;
        let mut index = 0;
        done.retain(|completion| {
            index += 1;
            index <= start || slots[completion.slot as usize].directory.is_none()
        });
    }
}

impl fmt::Debug for UringFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("UringFiles")
            .field("filesets", &self.owned.filesets)
            .field("options", &self.owned.options)
            .field("setup", &self.setup)
            .finish_non_exhaustive()
    }
}

impl Engine for UringFiles {
    fn slot_count(&self) -> u32 {
        self.owned.buffers.slot_count()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        assert!(
            self.slots[slot as usize].in_flight.is_none(),
            "a slot's buffer is the kernel's while in flight"
        );
        self.owned.buffers.slot(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        let slot = &mut self.slots[request.slot as usize];
        assert!(
            slot.in_flight.is_none(),
            "a slot has one request in flight at most"
        );
        assert!(
            !request.operation.uses_buffer()
                || request.length_bytes as usize <= self.owned.buffers.buffer_bytes(),
            "a request fits in its slot's buffer"
        );
        slot.in_flight = Some(InFlight {
            operation: request.operation,
            handle: request.handle,
            key: NameKey::of(&request),
        });
        let slot = request.slot;
        match self.way(&request) {
            IssueMethod::Ring(entry) => {
                let entry = match request.operation {
                    // `linked` has set the user data of the part.
                    Operation::ReadWhole => entry,
                    _ => entry.user_data(u64::from(slot)),
                };
                // SAFETY: names, buffer and attributes belong to the slot, the open parameters and
                // the attribute name to the engine. All keep their addresses as long as the ring
                // lives, and nothing writes to them before the completion is returned.
                unsafe { self.queue.push(&entry) };
            }
            IssueMethod::Done(result) => {
                self.slots[slot as usize].in_flight = None;
                self.queue.answer(Completion { slot, result });
            }
        }
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        let done_before = done.len();
        let whole_files = &mut self.whole_files;
        self.queue.reap_by(wait, done, |user_data, result| {
            whole_file::completion(whole_files, user_data, result)
        })?;
        let mut has_unfinished = false;
        for completion in &mut done[done_before..] {
            has_unfinished |= !self.settle(completion);
        }
        if has_unfinished {
            self.remove_unfinished(done, done_before);
        }
        Ok(())
    }
}

impl Drop for UringFiles {
    /// The kernel may still write to the memory of requests in flight. If it is unknown when that
    /// ends, the memory leaks.
    fn drop(&mut self) {
        let mut done = Vec::with_capacity(self.slots.len());
        while self.queue.in_flight_count() > 0 {
            let reaped = self.queue.reap(Wait::One { timeout_ns: 0 }, &mut done);
            if reaped.is_err() {
                return;
            }
            done.clear();
        }
        // SAFETY: nothing is in flight, and this value is not used any more.
        unsafe { ManuallyDrop::drop(&mut self.owned) };
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use tempfile::TempDir;

    use super::*;
    use crate::{NameRule, OperationSet};

    fn execute(engine: &mut UringFiles, operation: Operation, numbers: (u32, u64, u32)) -> i32 {
        let (file_index, offset_bytes, length_bytes) = numbers;
        let mut done = Vec::with_capacity(1);
        engine.push(Request {
            operation,
            file_index,
            length_bytes,
            offset_bytes,
            ..Request::EMPTY
        });
        while done.is_empty() {
            engine.reap(Wait::One { timeout_ns: 0 }, &mut done).unwrap();
        }
        done[0].result
    }

    /// An engine on a new directory; prints why it is skipped if there are no rings.
    fn engine(dir: &TempDir) -> Option<(UringFiles, Arc<Fileset>)> {
        let location = OwnedFd::from(std::fs::File::open(dir.path()).unwrap());
        let set = Arc::new(Fileset::generated(vec![location], NameRule::default()).unwrap());
        match UringFiles::new(Arc::clone(&set), 1, 4096, FileEngineOptions::default()) {
            Ok(engine) => Some((engine, set)),
            Err(error) => {
                println!("skipped: {error}");
                None
            }
        }
    }

    #[test]
    fn memory_of_requests_in_flight_is_freed_only_after_they_are_reaped() {
        for (fails, owner_count) in [(false, 1), (true, 2)] {
            let dir = TempDir::new().unwrap();
            let Some((mut engine, set)) = engine(&dir) else {
                return;
            };
            engine.push(Request {
                operation: Operation::Create,
                ..Request::EMPTY
            });
            if fails {
                engine.queue.fail_calls();
            }
            drop(engine);
            assert_eq!(Arc::strong_count(&set), owner_count, "fails: {fails}");
        }
    }

    #[test]
    fn operations_that_a_ring_lacks_use_system_calls_with_the_same_results() {
        let dir = TempDir::new().unwrap();
        let Some((mut engine, _)) = engine(&dir) else {
            return;
        };
        engine.unsupported = table::NEWER_OPERATIONS
            .map(|(operation, _)| operation)
            .to_vec();
        let created = execute(&mut engine, Operation::Create, (0, 0, 0));
        assert_eq!(created, 0);
        let steps = [
            (Operation::Truncate, (0, 8192, 0), 0),
            (Operation::SyncFileRange, (0, 0, 0), 0),
            (Operation::Stat, (0, RequestObject::Handle.code(), 0), 0),
            (Operation::Stat, (0, 0, 0), 0),
            (Operation::Read, (0, 4096, 4096), 4096),
            (Operation::Close, (0, 0, 0), 0),
            (Operation::Truncate, (0, 0, 0), -libc::EBADF),
            (Operation::Link, (0, 1, 0), 0),
            (Operation::Rename, (1, 2, 0), 0),
            (Operation::Symlink, (0, 3, 0), 0),
            (Operation::Mkdir, (4, 0, 0), 0),
            (Operation::Mkdir, (4, 0, 0), -libc::EEXIST),
            // `.`, `..`, and four names of one byte.
            (
                Operation::Readdir,
                (0, RequestObject::Directory.code(), 0),
                6 * 279 + 1 + 2 + 4,
            ),
            (Operation::Rmdir, (4, 0, 0), 0),
            (Operation::Unlink, (0, 0, 0), 0),
            (Operation::Unlink, (0, 0, 0), -libc::ENOENT),
        ];
        for (operation, numbers, wanted) in steps {
            let result = execute(&mut engine, operation, numbers);
            assert_eq!(result, wanted, "{operation:?} {numbers:?}");
        }
        let operations = OperationSet::EMPTY
            .with(Operation::Create)
            .with(Operation::Truncate);
        let notes_for = |operations| engine.notes(operations).join("\n");
        assert!(notes_for(operations).contains("has no truncate here"));
        assert!(
            notes_for(operations.with(Operation::Readdir))
                .contains("has no readdir, truncate here")
        );
        let neither = notes_for(OperationSet::EMPTY.with(Operation::Create));
        assert!(!neither.contains("system call"), "{neither}");
        assert!(!neither.contains("closing"), "{neither}");
        assert!(notes_for(operations.with(Operation::Close)).contains("closing"));
    }
}
