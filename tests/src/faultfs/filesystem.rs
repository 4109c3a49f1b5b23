//! Answers the kernel's requests from the store, with delays and faults.

use std::ffi::OsStr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate,
    ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request,
    TimeOrNow, WriteFlags,
};

use super::Settings;
use super::fault::{Armed, Call, ENOSPC, Effect};
use selftest::store::{MemoryStore, NodeContent, StoreRefusal};

/// The kernel asks for attributes each time, so that sizes are never stale.
const TTL: Duration = Duration::ZERO;
/// A sleep may end this much late; the rest of a delay is spun.
const SLEEP_SLACK: Duration = Duration::from_micros(200);

/// What the mounted file system and the test that holds it share.
#[derive(Debug)]
pub struct Shared {
    settings: Settings,
    store: Mutex<MemoryStore>,
    armed: Mutex<Armed>,
    /// How often stalls were ended before their time.
    release_count: Mutex<u64>,
    released: Condvar,
}

impl Shared {
    pub(super) fn new(settings: Settings) -> Shared {
        Shared {
            settings,
            store: Mutex::new(MemoryStore::new(settings.capacity_bytes)),
            armed: Mutex::new(Armed::default()),
            release_count: Mutex::new(0),
            released: Condvar::new(),
        }
    }

    pub(super) fn armed(&self) -> MutexGuard<'_, Armed> {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the stalls that there are.
    pub(super) fn release(&self) {
        *self.release_count() += 1;
        self.released.notify_all();
    }

    fn release_count(&self) -> MutexGuard<'_, u64> {
        self.release_count
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn store(&self) -> MutexGuard<'_, MemoryStore> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the request is due and returns what happens to it.
    fn begin(&self, call: Call, start: Instant) -> Option<Effect> {
        // Read before anybody can know of the stall.
        let before_count = *self.release_count();
        let effect = self.armed().next(call);
        let delay = match call {
            Call::Read => self.settings.read_delay,
            Call::Write => self.settings.write_delay,
            _ => Duration::ZERO,
        };
        wait_until(start + delay, delay, self.settings.polls_clock);
        if let Some(Effect::Stall(stall)) = effect {
            let is_held = |count: &mut u64| *count == before_count;
            let count = self.release_count();
            drop(self.released.wait_timeout_while(count, stall, is_held));
        }
        effect
    }

    /// As [`Shared::begin`], of a request that moves no content: it is refused or it is not.
    fn refusal(&self, call: Call) -> Result<(), Errno> {
        match self.begin(call, Instant::now()) {
            Some(Effect::Errno(code)) => Err(Errno::from_i32(code)),
            _ => Ok(()),
        }
    }

    fn attributes(&self, number: u64) -> Result<FileAttr, Errno> {
        let store = self.store();
        let node = store.node(number).map_err(errno)?;
        let size = store.size(number).map_err(errno)?;
        let kind = match node.content {
            NodeContent::File(_) => FileType::RegularFile,
            NodeContent::Directory(_) => FileType::Directory,
        };
        let identity = (rustix::process::geteuid(), rustix::process::getegid());
        Ok(FileAttr {
            ino: INodeNo(number),
            size,
            blocks: size.div_ceil(512),
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm: node.mode,
            nlink: 1,
            uid: identity.0.as_raw(),
            gid: identity.1.as_raw(),
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn entry(&self, number: Result<u64, Errno>, reply: ReplyEntry) {
        match number.and_then(|number| self.attributes(number)) {
            Ok(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
            Err(error) => reply.error(error),
        }
    }
}

fn wait_until(due: Instant, delay: Duration, is_punctual: bool) {
    if delay.is_zero() {
        return;
    }
    let left = due.saturating_duration_since(Instant::now());
    let slack = if is_punctual {
        SLEEP_SLACK
    } else {
        Duration::ZERO
    };
    std::thread::sleep(left.saturating_sub(slack));
    while Instant::now() < due {
        std::hint::spin_loop();
    }
}

fn errno(refusal: StoreRefusal) -> Errno {
    match refusal {
        StoreRefusal::Missing => Errno::ENOENT,
        StoreRefusal::Exists => Errno::EEXIST,
        StoreRefusal::NotDirectory => Errno::ENOTDIR,
        StoreRefusal::IsDirectory => Errno::EISDIR,
        StoreRefusal::NotEmpty => Errno::ENOTEMPTY,
        StoreRefusal::Full => Errno::from_i32(ENOSPC),
    }
}

fn answer(outcome: Result<(), Errno>, reply: ReplyEmpty) {
    match outcome {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

fn permissions(mode: u32) -> u16 {
    (mode & 0o7777) as u16
}

/// The file system as fuser sees it.
#[derive(Debug)]
pub(super) struct FuseFaultFs(pub(super) std::sync::Arc<Shared>);

impl FuseFaultFs {
    /// Short transfers are only seen by programs where the kernel does not cache.
    fn open_flags() -> FopenFlags {
        FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
    }
}

impl Filesystem for FuseFaultFs {
    fn init(&mut self, _req: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        if !self.0.settings.async_direct {
            return Ok(());
        }
        let added = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        added.map_err(|_| std::io::ErrorKind::Unsupported)?;
        let served_count = u16::try_from(self.0.settings.thread_count).unwrap_or(u16::MAX);
        let allowed = config.set_max_background(served_count);
        allowed.map_err(|_| std::io::ErrorKind::InvalidInput)?;
        Ok(())
    }

    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let number = self.0.store().lookup(parent.0, name);
        self.0.entry(number.map_err(errno), reply);
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        match self.0.attributes(ino.0) {
            Ok(attributes) => reply.attr(&TTL, &attributes),
            Err(error) => reply.error(error),
        }
    }

    fn setattr(
        &self,
        req: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let resized = size.map_or(Ok(()), |size| self.0.store().resize(ino.0, size));
        let changed = mode.map_or(Ok(()), |mode| {
            self.0.store().set_mode(ino.0, permissions(mode))
        });
        match resized.and(changed) {
            Ok(()) => self.getattr(req, ino, fh, reply),
            Err(refusal) => reply.error(errno(refusal)),
        }
    }

    fn mkdir(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let created = self.0.refusal(Call::Mkdir).and_then(|()| {
            let mut store = self.0.store();
            let created = store.make_directory(parent.0, name, permissions(mode));
            created.map_err(errno)
        });
        self.0.entry(created, reply);
    }

    fn unlink(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let outcome = self.0.refusal(Call::Unlink);
        let outcome = outcome.and_then(|()| self.0.store().unlink(parent.0, name).map_err(errno));
        answer(outcome, reply);
    }

    fn rmdir(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let outcome = self.0.refusal(Call::Rmdir).and_then(|()| {
            let mut store = self.0.store();
            store.remove_directory(parent.0, name).map_err(errno)
        });
        answer(outcome, reply);
    }

    fn rename(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        _flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let (from, to) = ((parent.0, name), (newparent.0, newname));
        answer(self.0.store().rename(from, to).map_err(errno), reply);
    }

    fn open(&self, _req: &Request, _ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        match self.0.refusal(Call::Open) {
            Ok(()) => reply.opened(FileHandle(0), FuseFaultFs::open_flags()),
            Err(error) => reply.error(error),
        }
    }

    fn fsync(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        answer(self.0.refusal(Call::Fsync), reply);
    }

    fn fsyncdir(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        answer(self.0.refusal(Call::Fsync), reply);
    }

    fn create(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        _flags: i32,
        reply: ReplyCreate,
    ) {
        let created = self.0.refusal(Call::Create).and_then(|()| {
            let created = self.0.store().create(parent.0, name, permissions(mode));
            created.map_err(errno)
        });
        match created.and_then(|number| self.0.attributes(number)) {
            Ok(attributes) => reply.created(
                &TTL,
                &attributes,
                Generation(0),
                FileHandle(0),
                FuseFaultFs::open_flags(),
            ),
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let start = Instant::now();
        let effect = self.0.begin(Call::Read, start);
        let read = self.0.store().read(ino.0, offset, size as usize);
        match (effect, read) {
            (Some(Effect::Errno(code)), _) => reply.error(Errno::from_i32(code)),
            (_, Err(refusal)) => reply.error(errno(refusal)),
            (Some(Effect::Short), Ok(bytes)) => reply.data(&bytes[..bytes.len() / 2]),
            (Some(Effect::FlipBit), Ok(mut bytes)) => {
                let middle = bytes.len() / 2;
                if let Some(byte) = bytes.get_mut(middle) {
                    *byte ^= 1;
                }
                reply.data(&bytes);
            }
            (_, Ok(bytes)) => reply.data(&bytes),
        }
    }

    fn write(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let start = Instant::now();
        let effect = self.0.begin(Call::Write, start);
        let taken = match effect {
            Some(Effect::Errno(code)) => return reply.error(Errno::from_i32(code)),
            Some(Effect::Short) => &data[..data.len() / 2],
            _ => data,
        };
        match self.0.store().write(ino.0, offset, taken) {
            Ok(()) => reply.written(u32::try_from(taken.len()).unwrap_or(u32::MAX)),
            Err(refusal) => reply.error(errno(refusal)),
        }
    }

    fn readdir(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let store = self.0.store();
        let entries = match store.entries(ino.0) {
            Ok(entries) => entries,
            Err(refusal) => return reply.error(errno(refusal)),
        };
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
        for (index, (name, number)) in entries.iter().enumerate().skip(skipped) {
            let kind = match store.node(*number).map(|node| &node.content) {
                Ok(NodeContent::Directory(_)) => FileType::Directory,
                _ => FileType::RegularFile,
            };
            if reply.add(INodeNo(*number), index as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _req: &Request, _ino: INodeNo, reply: ReplyStatfs) {
        let (capacity_bytes, free_bytes) = self.0.store().space();
        let (blocks, free) = (capacity_bytes / 4096, free_bytes / 4096);
        reply.statfs(blocks, free, free, 1 << 20, 1 << 20, 4096, 255, 4096);
    }
}
