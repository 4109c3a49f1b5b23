//! How files are opened, and what else is the same for all of a cell's requests.

use std::ffi::CString;

use crate::{Operation, Request};

/// What direct I/O asks of where a buffer starts.
const PAGE_BYTES: u32 = 4096;

/// How [`Operation::Open`](crate::Operation::Open) opens; the request's `offset_bytes` is the
/// `code`, or that of an [`OpenWay`](crate::OpenWay).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Access {
    /// To read.
    Read,
    /// To write.
    Write,
    /// To do both.
    ReadWrite,
    /// To write at the end, wherever that is: the position of each write is then without
    /// meaning, as Linux has it even for `pwrite`.
    Append,
}

impl Access {
    /// The number for a request's `offset_bytes`.
    #[must_use]
    pub const fn code(self) -> u64 {
        self as u64
    }
}

/// What a request to stat, make, remove or list goes for; its `offset_bytes` is the `code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Aim {
    /// The name itself.
    Name,
    /// The directory that the name is in.
    Directory,
    /// What the slot has open; for [`Operation::Stat`](crate::Operation::Stat) only.
    Handle,
}

impl Aim {
    /// The number for a request's `offset_bytes`.
    #[must_use]
    pub const fn code(self) -> u64 {
        self as u64
    }

    pub(crate) const fn from_code(code: u64) -> Option<Self> {
        match code {
            0 => Some(Self::Name),
            1 => Some(Self::Directory),
            2 => Some(Self::Handle),
            _ => None,
        }
    }
}

/// Flags (`O_...`) and, for a file that is made, permissions of one way to open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenMode {
    /// As for `open`; `O_NOFOLLOW` and `O_CLOEXEC` are always added.
    pub flags: i32,
    /// As for `open`; used with `O_CREAT` only.
    pub mode: u32,
    /// Whether to create by this way opens what exists already; by [`FileOptions::ways`] only, and
    /// only for files in directories that nobody else has.
    pub takes_existing: bool,
}

impl OpenMode {
    /// A way that never opens what exists when it is to create.
    #[must_use]
    pub const fn new(flags: i32, mode: u32) -> Self {
        Self {
            flags,
            mode,
            takes_existing: false,
        }
    }
}

/// The way to open for each purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenFlags {
    /// For [`Operation::Create`](crate::Operation::Create).
    pub create: OpenMode,
    /// For [`Access::Read`].
    pub read: OpenMode,
    /// For [`Access::Write`].
    pub write: OpenMode,
    /// For [`Access::ReadWrite`].
    pub read_write: OpenMode,
    /// For [`Access::Append`].
    pub append: OpenMode,
    /// Whether to open with `openat`, as programs of old do, in place of `openat2`, which refuses
    /// links on the whole way.
    pub plain: bool,
}

impl Default for OpenFlags {
    fn default() -> Self {
        let mode = |flags| OpenMode::new(flags, 0o600);
        Self {
            create: mode(libc::O_RDWR | libc::O_CREAT | libc::O_EXCL),
            read: mode(libc::O_RDONLY),
            write: mode(libc::O_WRONLY),
            read_write: mode(libc::O_RDWR),
            append: mode(libc::O_WRONLY | libc::O_APPEND),
            plain: false,
        }
    }
}

impl OpenFlags {
    /// As C's streams open (`w`, but never a file that exists; `r`; `r+`; `a`), for everybody whom
    /// the process's mask lets.
    #[must_use]
    pub fn streams() -> Self {
        let mode = |flags| OpenMode::new(flags, 0o666);
        let create = libc::O_WRONLY | libc::O_CREAT;
        Self {
            create: mode(create | libc::O_EXCL | libc::O_TRUNC),
            append: mode(create | libc::O_APPEND),
            plain: true,
            ..Self::default()
        }
    }

    /// As programs of old open without streams: to read and write, also where they append.
    #[must_use]
    pub fn descriptors() -> Self {
        let mode = |flags| OpenMode::new(flags, 0o644);
        Self {
            create: mode(libc::O_RDWR | libc::O_CREAT | libc::O_EXCL),
            append: mode(libc::O_RDWR | libc::O_APPEND),
            plain: true,
            ..Self::default()
        }
    }

    /// These, but what is made or opened to read and write is always written at its end, as Linux
    /// has it even for `pwrite`.
    #[must_use]
    pub fn appending(mut self) -> Self {
        self.create.flags |= libc::O_APPEND;
        self.read_write.flags |= libc::O_APPEND;
        self
    }

    /// These with `flags` added to each, as `O_DIRECT` or `O_SYNC`.
    #[must_use]
    pub fn with(mut self, flags: i32) -> Self {
        for mode in [
            &mut self.create,
            &mut self.read,
            &mut self.write,
            &mut self.read_write,
            &mut self.append,
        ] {
            mode.flags |= flags;
        }
        self
    }
}

/// What is the same for all requests of an engine for file operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOptions {
    /// How files are opened.
    pub open: OpenFlags,
    /// Further ways to open, each for requests that say its [`OpenWay`](crate::OpenWay)'s code.
    pub ways: Vec<OpenMode>,
    /// Permissions of directories that are made.
    pub directory_mode: u32,
    /// Whether making a directory that is there already counts as done.
    pub existing_directories: bool,
    /// The extended attribute that is set and read.
    pub xattr: CString,
    /// After each open the system calls that C's buffered streams make before the first byte
    /// moves: `lseek` to the end where it is for appending, then `fstat`. They count as part of
    /// the open. System calls only.
    pub stdio: bool,
    /// Whether every read and write goes where the file stands, as with
    /// [`Request::AT_POSITION`](crate::Request::AT_POSITION); `offset_bytes` may then say
    /// something else to the content.
    pub at_position: bool,
    /// So many bytes at the start of each slot's buffer hold, for the engine's whole life, what is
    /// written: a write takes its bytes from `offset_bytes` on in them, and reads go behind the
    /// page in which they end. With 0 both use the buffer from its start. System calls only.
    pub content_bytes: u32,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            open: OpenFlags::default(),
            ways: Vec::new(),
            directory_mode: 0o700,
            existing_directories: false,
            xattr: c"user.pgmeter".to_owned(),
            stdio: false,
            at_position: false,
            content_bytes: 0,
        }
    }
}

impl FileOptions {
    /// Bytes that a buffer has before those that reads go to.
    #[must_use]
    pub const fn kept_bytes(&self) -> u32 {
        self.content_bytes.next_multiple_of(PAGE_BYTES)
    }

    /// Where in a slot's buffer a request to read or write has its bytes.
    #[inline(always)]
    pub(crate) fn start_bytes(&self, request: &Request) -> usize {
        let content_bytes = u64::from(self.content_bytes);
        let last_start_bytes = content_bytes.saturating_sub(request.length_bytes.into());
        match request.operation {
            // No more than the content's bytes.
            Operation::Write => request.offset_bytes.min(last_start_bytes) as usize,
            _ => self.kept_bytes() as usize,
        }
    }

    /// What making a directory comes to.
    #[inline]
    pub(crate) fn made_directory(&self, result: i32) -> i32 {
        if self.existing_directories && result == -libc::EEXIST {
            0
        } else {
            result
        }
    }
}
