//! Ways to open files, and other options that apply to all requests of a cell.

use std::ffi::{CStr, CString};

use crate::{Operation, Request};

/// Buffer alignment that direct I/O needs.
const PAGE_BYTES: u32 = 4096;

/// Access mode of [`Operation::Open`](crate::Operation::Open). The request's `offset_bytes` is its
/// `code`, or the code of an [`OpenModeIndex`](crate::OpenModeIndex).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum OpenAccess {
    /// Read only.
    Read,
    /// Write only.
    Write,
    /// Read and write at any offset.
    ReadWrite,
    /// Write at the end of the file. The offset of each write is ignored: Linux appends even with
    /// `pwrite`.
    Append,
}

impl OpenAccess {
    /// The value for a request's `offset_bytes`.
    #[must_use]
    pub const fn code(self) -> u64 {
        self as u64
    }
}

/// Object of a request to stat, make, remove or list; its `offset_bytes` is the `code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum RequestObject {
    /// The name itself.
    Name,
    /// The directory that contains the name.
    Directory,
    /// The file that the slot has open; for [`Operation::Stat`](crate::Operation::Stat) only.
    Handle,
}

impl RequestObject {
    /// The value for a request's `offset_bytes`.
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

/// Flags (`O_...`) of one open mode and, for a created file, its permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenMode {
    /// As for `open`; `O_NOFOLLOW` and `O_CLOEXEC` are always added.
    pub flags: i32,
    /// As for `open`; used with `O_CREAT` only.
    pub mode: u32,
    /// `true` if creating in this way opens an existing file. Only in
    /// [`FileEngineOptions::open_modes`], for files in directories that no other program uses.
    pub takes_existing: bool,
    /// How writes to a mapping of the file are synced; `None` to read and write by system calls.
    /// Only in [`FileEngineOptions::open_modes`], and for [`MappedFiles`](crate::MappedFiles).
    pub mapped: Option<MappingSync>,
}

/// Sync of a mapping after each write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MappingSync {
    /// None.
    No,
    /// `msync` with `MS_ASYNC` on the written pages.
    Async,
    /// `msync` with `MS_SYNC` on the written pages.
    Sync,
}

impl OpenMode {
    /// A mode that never opens an existing file when it creates one.
    #[must_use]
    pub const fn new(flags: i32, mode: u32) -> Self {
        Self {
            flags,
            mode,
            takes_existing: false,
            mapped: None,
        }
    }
}

/// Ways to open, by purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenFlags {
    /// For [`Operation::Create`](crate::Operation::Create).
    pub create: OpenMode,
    /// For [`OpenAccess::Read`].
    pub read: OpenMode,
    /// For [`OpenAccess::Write`].
    pub write: OpenMode,
    /// For [`OpenAccess::ReadWrite`].
    pub read_write: OpenMode,
    /// For [`OpenAccess::Append`].
    pub append: OpenMode,
    /// `true` to open with `openat`, as older programs do, instead of `openat2`, which rejects
    /// links in any path component.
    pub plain: bool,
}

impl Default for OpenFlags {
    fn default() -> Self {
        let mode = |flags| OpenMode::new(flags, 0o600);
        Self {
            // `O_EXCL`, because pgmeter never writes to a file that it did not create.
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
    /// Opens like C's streams (`w`, but never an existing file; `r`; `r+`; `a`), with permissions
    /// for everyone that the process's umask allows.
    #[must_use]
    pub fn streams() -> Self {
        let mode = |flags| OpenMode::new(flags, 0o666);
        let create = libc::O_WRONLY | libc::O_CREAT;
        Self {
            // `O_TRUNC` has no effect on a new file, but C's `fopen` passes it.
            create: mode(create | libc::O_EXCL | libc::O_TRUNC),
            append: mode(create | libc::O_APPEND),
            plain: true,
            ..Self::default()
        }
    }

    /// Opens like older programs without streams: for reading and writing, even to append.
    #[must_use]
    pub fn descriptors() -> Self {
        // The permissions that PostMark passes to `open`.
        let mode = |flags| OpenMode::new(flags, 0o644);
        Self {
            create: mode(libc::O_RDWR | libc::O_CREAT | libc::O_EXCL),
            append: mode(libc::O_RDWR | libc::O_APPEND),
            plain: true,
            ..Self::default()
        }
    }

    /// Adds `O_APPEND` for creating and for reading and writing. Linux then appends even with
    /// `pwrite`.
    #[must_use]
    pub fn with_append(mut self) -> Self {
        self.create.flags |= libc::O_APPEND;
        self.read_write.flags |= libc::O_APPEND;
        self
    }

    /// Adds `flags` such as `O_DIRECT` or `O_SYNC` to each way.
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

/// Options that apply to all requests of an engine for file operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEngineOptions {
    /// Ways to open files, by purpose.
    pub open: OpenFlags,
    /// Further open modes, for requests with the code of an
    /// [`OpenModeIndex`](crate::OpenModeIndex).
    pub open_modes: Vec<OpenMode>,
    /// Permissions of created directories.
    pub directory_mode: u32,
    /// `true` if making an existing directory counts as success.
    pub existing_directories: bool,
    /// Names of the extended attributes to set and read; requests have the index of one.
    pub xattrs: Vec<CString>,
    /// `true` to make the calls of C's buffered streams after each open: `lseek` to the end if the
    /// file is opened for appending, then `fstat`. They count as part of the open. Only for engines
    /// that use system calls.
    pub stdio: bool,
    /// `true` if every read and write is at the file's position, as with
    /// [`Request::AT_POSITION`](crate::Request::AT_POSITION); the content can then use
    /// `offset_bytes` in its own way.
    pub at_position: bool,
    /// Number of bytes at the start of each slot's buffer that hold the data to write for the
    /// engine's whole life. A write takes its bytes from `offset_bytes` on; reads go to the buffer
    /// after the last page of this data. With 0, both use the buffer from its start. Only for
    /// engines that use system calls.
    pub content_bytes: u32,
}

impl Default for FileEngineOptions {
    fn default() -> Self {
        Self {
            open: OpenFlags::default(),
            open_modes: Vec::new(),
            directory_mode: 0o700,
            existing_directories: false,
            xattrs: Vec::new(),
            stdio: false,
            at_position: false,
            content_bytes: 0,
        }
    }
}

impl FileEngineOptions {
    /// Name of the extended attribute of a request; an empty name, which no file system accepts, if
    /// there is none with that index.
    pub(crate) fn xattr(&self, request: &Request) -> &CStr {
        let index = usize::try_from(request.offset_bytes).unwrap_or(usize::MAX);
        self.xattrs.get(index).map_or(c"", CString::as_c_str)
    }

    /// Number of bytes in a buffer before the part that reads use.
    #[must_use]
    pub const fn kept_bytes(&self) -> u32 {
        self.content_bytes.next_multiple_of(PAGE_BYTES)
    }

    /// Offset of a read's or write's bytes in the slot's buffer.
    #[inline(always)]
    pub(crate) fn start_bytes(&self, request: &Request) -> usize {
        let content_bytes = u64::from(self.content_bytes);
        let last_start_bytes = content_bytes.saturating_sub(request.length_bytes.into());
        match request.operation {
            // A write must not reach past the content.
            Operation::Write => request.offset_bytes.min(last_start_bytes) as usize,
            _ => self.kept_bytes() as usize,
        }
    }

    /// Result of making a directory: 0 for an existing one if that counts as success.
    #[inline]
    pub(crate) fn mkdir_result(&self, result: i32) -> i32 {
        if self.existing_directories && result == -libc::EEXIST {
            0
        } else {
            result
        }
    }
}
