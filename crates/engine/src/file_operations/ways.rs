//! How the kernel is told to open, by the numbers of requests.

use rustix::fs::{OFlags, ResolveFlags};

use super::{Access, FileOptions, OpenFlags, OpenMode};
use crate::open::RESOLVE;
use crate::{Operation, Request};

/// One of [`FileOptions::ways`], by its index.
///
/// Open takes its flags as they are. Create adds `O_CREAT` and, unless the way takes what exists,
/// `O_EXCL`, so that what exists is never opened by it; without a way's code it goes by
/// [`OpenFlags::create`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenWay(pub u8);

impl OpenWay {
    /// The first number that is no [`Access`].
    const FIRST: u64 = Access::Append.code() + 1;

    /// The number for a request's `offset_bytes`.
    #[must_use]
    pub const fn code(self) -> u64 {
        Self::FIRST + self.0 as u64
    }
}

/// The kernel's `struct open_how`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct OpenHow {
    pub flags: u64,
    pub mode: u64,
    pub resolve: u64,
}

impl OpenHow {
    /// One way to open among those that go by `open`.
    pub(crate) fn new(mode: OpenMode, open: &OpenFlags) -> Self {
        let makes = mode.flags & libc::O_CREAT != 0;
        let flags = mode.flags | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let resolve = if open.plain {
            ResolveFlags::empty()
        } else {
            RESOLVE
        };
        Self {
            flags: u64::from(flags.cast_unsigned()),
            mode: if makes { u64::from(mode.mode) } else { 0 },
            resolve: resolve.bits(),
        }
    }
}

/// How a directory is opened that is read or synced.
pub(crate) const DIRECTORY_HOW: OpenHow = OpenHow {
    flags: OFlags::DIRECTORY.union(OFlags::CLOEXEC).bits() as u64,
    mode: 0,
    resolve: RESOLVE.bits(),
};

/// The ways to open as the kernel wants them.
#[derive(Debug)]
pub(crate) struct Hows {
    /// By the access's number, then to create, and last for directories.
    fixed: [OpenHow; 6],
    /// By the way's index: to open, and to create.
    ways: Box<[[OpenHow; 2]]>,
}

impl Hows {
    const READ: usize = Access::Read as usize;
    const CREATE: usize = 4;
    const DIRECTORY: usize = 5;

    pub(crate) fn new(options: &FileOptions) -> Self {
        let how = |mode| OpenHow::new(mode, &options.open);
        let OpenFlags {
            create,
            read,
            write,
            read_write,
            append,
            plain: _,
        } = options.open;
        let [read, write, read_write, append, create] =
            [read, write, read_write, append, create].map(how);
        let way = |mode: &OpenMode| {
            let exclusive = if mode.takes_existing { 0 } else { libc::O_EXCL };
            let creates = OpenMode {
                flags: mode.flags | libc::O_CREAT | exclusive,
                ..*mode
            };
            [how(*mode), how(creates)]
        };
        Self {
            fixed: [read, write, read_write, append, create, DIRECTORY_HOW],
            ways: options.ways.iter().map(way).collect(),
        }
    }

    /// These with flags added to each, and others taken away.
    pub(crate) fn adjusted(mut self, added: i32, removed: i32) -> Self {
        for how in self.fixed.iter_mut().chain(self.ways.as_flattened_mut()) {
            how.flags |= u64::from(added.cast_unsigned());
            how.flags &= !u64::from(removed.cast_unsigned());
        }
        self
    }

    /// The way for a request to create or open; none where its number means none.
    #[inline]
    pub(crate) fn of(&self, request: &Request) -> Option<&OpenHow> {
        let (code, creates) = (request.offset_bytes, request.operation == Operation::Create);
        if code < OpenWay::FIRST {
            let index = if creates { Self::CREATE } else { code as usize };
            return Some(&self.fixed[index]);
        }
        let index = usize::try_from(code - OpenWay::FIRST).ok()?;
        let way = self.ways.get(index)?;
        Some(&way[usize::from(creates)])
    }

    /// Whether a request opens so that C's streams would go to the end first.
    pub(crate) fn is_for_appending(request: &Request, how: &OpenHow) -> bool {
        match request.offset_bytes {
            code @ ..OpenWay::FIRST => {
                request.operation == Operation::Open && code == Access::Append.code()
            }
            _ => how.flags & u64::from(libc::O_APPEND.cast_unsigned()) != 0,
        }
    }

    /// To read.
    pub(crate) const fn read(&self) -> &OpenHow {
        &self.fixed[Self::READ]
    }

    /// For directories.
    pub(crate) const fn directory(&self) -> &OpenHow {
        &self.fixed[Self::DIRECTORY]
    }
}
