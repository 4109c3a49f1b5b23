//! Ways to open a file, selected by the numbers of requests.

use rustix::fs::{OFlags, ResolveFlags};

use super::{FileEngineOptions, OpenAccess, OpenFlags, OpenMode};
use crate::open::RESOLVE;
use crate::{Operation, Request};

/// Index into [`FileEngineOptions::open_modes`].
///
/// Open uses the flags of the mode unchanged. Create adds `O_CREAT`. It also adds `O_EXCL`, to
/// refuse existing files, unless the mode takes existing files. Without the code of a mode, Create
/// uses [`OpenFlags::create`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenModeIndex(pub u8);

impl OpenModeIndex {
    /// First code that is not an [`OpenAccess`].
    const FIRST_CODE: u64 = OpenAccess::Append.code() + 1;

    /// The value for a request's `offset_bytes`.
    #[must_use]
    pub const fn code(self) -> u64 {
        Self::FIRST_CODE + self.0 as u64
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
    /// The kernel's parameters for one way to open.
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
            // `openat2` refuses permissions without `O_CREAT`.
            mode: if makes { u64::from(mode.mode) } else { 0 },
            resolve: resolve.bits(),
        }
    }
}

/// Parameters for opening a directory to read or sync it.
pub(crate) const OPEN_DIRECTORY: OpenHow = OpenHow {
    flags: OFlags::DIRECTORY.union(OFlags::CLOEXEC).bits() as u64,
    mode: 0,
    resolve: RESOLVE.bits(),
};

/// All ways to open, in the kernel's format.
#[derive(Debug)]
pub(crate) struct OpenHows {
    /// By access code, then for creating, and last for directories.
    fixed: [OpenHow; 6],
    /// By index of the way: to open, and to create.
    modes: Box<[[OpenHow; 2]]>,
}

impl OpenHows {
    const READ: usize = OpenAccess::Read as usize;
    const CREATE: usize = 4;
    const DIRECTORY: usize = 5;

    pub(crate) fn new(options: &FileEngineOptions) -> Self {
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
        let hows = |mode: &OpenMode| {
            let exclusive = if mode.takes_existing { 0 } else { libc::O_EXCL };
            let creates = OpenMode {
                flags: mode.flags | libc::O_CREAT | exclusive,
                ..*mode
            };
            [how(*mode), how(creates)]
        };
        Self {
            fixed: [read, write, read_write, append, create, OPEN_DIRECTORY],
            modes: options.open_modes.iter().map(hows).collect(),
        }
    }

    /// Adds some flags to each way and removes others.
    pub(crate) fn with_flag_changes(mut self, added: i32, removed: i32) -> Self {
        for how in self.fixed.iter_mut().chain(self.modes.as_flattened_mut()) {
            how.flags |= u64::from(added.cast_unsigned());
            how.flags &= !u64::from(removed.cast_unsigned());
        }
        self
    }

    /// Index of the way of a request to open among [`FileEngineOptions::open_modes`].
    pub(crate) fn index(request: &Request) -> Option<usize> {
        let index = request
            .offset_bytes
            .checked_sub(OpenModeIndex::FIRST_CODE)?;
        usize::try_from(index).ok()
    }

    /// The way for a request to create or open; `None` for an invalid number.
    #[inline]
    pub(crate) fn of(&self, request: &Request) -> Option<&OpenHow> {
        let (code, creates) = (request.offset_bytes, request.operation == Operation::Create);
        if code < OpenModeIndex::FIRST_CODE {
            let index = if creates { Self::CREATE } else { code as usize };
            return Some(&self.fixed[index]);
        }
        let index = usize::try_from(code - OpenModeIndex::FIRST_CODE).ok()?;
        let hows = self.modes.get(index)?;
        Some(&hows[usize::from(creates)])
    }

    /// `true` if C's streams would seek to the end after opening in this way.
    pub(crate) fn is_for_appending(request: &Request, how: &OpenHow) -> bool {
        match request.offset_bytes {
            code @ ..OpenModeIndex::FIRST_CODE => {
                request.operation == Operation::Open && code == OpenAccess::Append.code()
            }
            _ => how.flags & u64::from(libc::O_APPEND.cast_unsigned()) != 0,
        }
    }

    /// For reading.
    pub(crate) const fn read(&self) -> &OpenHow {
        &self.fixed[Self::READ]
    }

    /// For directories.
    pub(crate) const fn directory(&self) -> &OpenHow {
        &self.fixed[Self::DIRECTORY]
    }
}
