//! The file system as the kernel sees it.

use std::ffi::OsStr;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate,
    ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request,
    TimeOrNow, WriteFlags,
};

use super::reads::DelayedReads;
use crate::store::{MemoryStore, NodeContent, StoreRefusal};

/// Lifetime of cached attributes and entries: long, because all changes come through the kernel.
const TTL: Duration = Duration::from_secs(3600);
/// Maximum number of reads that the kernel sends at the same time.
const IN_FLIGHT_MAX: u16 = 256;
/// Reads of smaller files are not delayed: these hold pgmeter's notes, not test data.
const TEST_FILE_BYTES_MIN: u64 = 1 << 20;

/// Files in memory; reads of large files are delayed.
pub(super) struct DelayedFiles {
    store: Mutex<MemoryStore>,
    delayed: Arc<DelayedReads>,
}

impl DelayedFiles {
    pub fn new(store: MemoryStore, delayed: Arc<DelayedReads>) -> Self {
        Self {
            store: Mutex::new(store),
            delayed,
        }
    }

    fn store(&self) -> MutexGuard<'_, MemoryStore> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attributes(&self, number: u64) -> Result<FileAttr, Errno> {
        let store = self.store();
        let node = store.node(number).map_err(errno)?;
        let size = store.size(number).map_err(errno)?;
        Ok(FileAttr {
            ino: INodeNo(number),
            size,
            blocks: size.div_ceil(512),
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: kind(&node.content),
            perm: node.mode,
            nlink: 1,
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn entry(&self, number: Result<u64, StoreRefusal>, reply: ReplyEntry) {
        let number = number.map_err(errno);
        match number.and_then(|number| self.attributes(number)) {
            // One generation is enough, because the store never reuses a number.
            Ok(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
            Err(error) => reply.error(error),
        }
    }
}

fn kind(content: &NodeContent) -> FileType {
    match content {
        NodeContent::File(_) => FileType::RegularFile,
        NodeContent::Directory(_) => FileType::Directory,
    }
}

fn errno(refusal: StoreRefusal) -> Errno {
    match refusal {
        StoreRefusal::Missing => Errno::ENOENT,
        StoreRefusal::Exists => Errno::EEXIST,
        StoreRefusal::NotDirectory => Errno::ENOTDIR,
        StoreRefusal::IsDirectory => Errno::EISDIR,
        StoreRefusal::NotEmpty => Errno::ENOTEMPTY,
        StoreRefusal::Full => Errno::ENOSPC,
    }
}

fn answer(outcome: Result<(), StoreRefusal>, reply: ReplyEmpty) {
    match outcome {
        Ok(()) => reply.ok(),
        Err(refusal) => reply.error(errno(refusal)),
    }
}

fn permissions(mode: u32) -> u16 {
    (mode & 0o7777) as u16
}

impl Filesystem for DelayedFiles {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Older kernels may refuse an option. The file system is then slower, which the log shows.
        // Without `FUSE_ASYNC_DIO`, the submission of an asynchronous direct read waits for its
        // answer.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        // The kernel's default of 12 is less than the queue depth of the stall check.
        let _ = config.set_max_background(IN_FLIGHT_MAX);
        // The smallest accepted value turns read-ahead off, so that a page fault reads one page.
        let _ = config.set_max_readahead(1);
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let number = self.store().lookup(parent.0, name);
        self.entry(number, reply);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(number.0) {
            Ok(attributes) => reply.attr(&TTL, &attributes),
            Err(error) => reply.error(error),
        }
    }

    fn setattr(
        &self,
        request: &Request,
        number: INodeNo,
        mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _accessed: Option<TimeOrNow>,
        _modified: Option<TimeOrNow>,
        _changed: Option<SystemTime>,
        handle: Option<FileHandle>,
        _created: Option<SystemTime>,
        _flags_changed: Option<SystemTime>,
        _backed_up: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let resized = size.map_or(Ok(()), |size| self.store().resize(number.0, size));
        let changed = mode.map_or(Ok(()), |mode| {
            self.store().set_mode(number.0, permissions(mode))
        });
        match resized.and(changed) {
            Ok(()) => self.getattr(request, number, handle, reply),
            Err(refusal) => reply.error(errno(refusal)),
        }
    }

    fn mkdir(
        &self,
        _request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let result = self
            .store()
            .make_directory(parent.0, name, permissions(mode));
        self.entry(result, reply);
    }

    fn unlink(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer(self.store().unlink(parent.0, name), reply);
    }

    fn rmdir(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer(self.store().remove_directory(parent.0, name), reply);
    }

    fn rename(
        &self,
        _request: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        _flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let (from, to) = ((parent.0, name), (new_parent.0, new_name));
        answer(self.store().rename(from, to), reply);
    }

    fn open(&self, _request: &Request, _number: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        // No `FOPEN_DIRECT_IO`, because `mmap` needs the page cache. No `FOPEN_KEEP_CACHE`, so that
        // the kernel drops cached pages at each open and every run reads from the server.
        reply.opened(FileHandle(0), FopenFlags::empty());
    }

    fn create(
        &self,
        _request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        _flags: i32,
        reply: ReplyCreate,
    ) {
        let result = self.store().create(parent.0, name, permissions(mode));
        match result
            .map_err(errno)
            .and_then(|number| self.attributes(number))
        {
            Ok(attributes) => reply.created(
                &TTL,
                &attributes,
                Generation(0),
                FileHandle(0),
                FopenFlags::empty(),
            ),
            Err(error) => reply.error(error),
        }
    }

    fn fsync(
        &self,
        _request: &Request,
        _number: INodeNo,
        _handle: FileHandle,
        _data_only: bool,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn fsyncdir(
        &self,
        _request: &Request,
        _number: INodeNo,
        _handle: FileHandle,
        _data_only: bool,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn read(
        &self,
        _request: &Request,
        number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        // Taken first: waiting for the lock is part of the read's time.
        let now = Instant::now();
        let store = self.store();
        let read = store.read(number.0, offset, size as usize);
        let is_test_file = store
            .size(number.0)
            .is_ok_and(|it| it >= TEST_FILE_BYTES_MIN);
        drop(store);
        match read {
            Ok(bytes) if is_test_file => self.delayed.arrive(now, bytes, reply),
            Ok(bytes) => reply.data(&bytes),
            Err(refusal) => reply.error(errno(refusal)),
        }
    }

    fn write(
        &self,
        _request: &Request,
        number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.store().write(number.0, offset, data) {
            Ok(()) => reply.written(u32::try_from(data.len()).unwrap_or(u32::MAX)),
            Err(refusal) => reply.error(errno(refusal)),
        }
    }

    fn readdir(
        &self,
        _request: &Request,
        number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let store = self.store();
        let entries = match store.entries(number.0) {
            Ok(entries) => entries,
            Err(refusal) => return reply.error(errno(refusal)),
        };
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
        for (index, (name, number)) in entries.iter().enumerate().skip(skipped) {
            let content = store.node(*number).map(|node| &node.content);
            let kind = content.map_or(FileType::RegularFile, kind);
            // The offset of an entry is where the next call continues: after it.
            if reply.add(INodeNo(*number), index as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _request: &Request, _number: INodeNo, reply: ReplyStatfs) {
        let (capacity_bytes, free_bytes) = self.store().space();
        let (blocks, free) = (capacity_bytes / 4096, free_bytes / 4096);
        reply.statfs(blocks, free, free, 1 << 20, 1 << 20, 4096, 255, 4096);
    }
}
