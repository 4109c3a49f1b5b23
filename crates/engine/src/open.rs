//! Opens targets: under a directory, never through a link, and always with the requested cache
//! mode.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use plan::CacheMode;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::EngineError;

/// `RESOLVE_BENEATH` returns `EAGAIN` if a rename elsewhere races with the lookup.
const RESOLVE_ATTEMPTS: u32 = 16;
/// The path must stay in the directory and contain no links.
pub(crate) const RESOLVE: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS);

/// Options for opening a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenPlan {
    /// `Direct` opens with `O_DIRECT`; the other modes use the page cache.
    pub cache: CacheMode,
    /// Open for reading.
    pub read: bool,
    /// Open for writing.
    pub write: bool,
    /// Create the file, which must not exist yet.
    pub create: bool,
}

impl OpenPlan {
    fn flags(self) -> OFlags {
        let access = match (self.read, self.write) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        // The name may be that of a terminal or a pipe. Opening it must not take over the terminal
        // or wait.
        access | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK
    }
}

/// Opens or creates the file `name` under `dir`, following no symbolic link in the path.
///
/// # Errors
/// [`EngineError::NotBeneath`] if the name leads elsewhere. [`EngineError::DirectRefused`] if the
/// file system refuses `O_DIRECT`; a file that was just created is removed again.
/// [`EngineError::NotRegular`] if it is not a regular file, and [`EngineError::Open`] for
/// everything else.
pub fn open_target(
    dir: BorrowedFd<'_>,
    name: &Path,
    plan: OpenPlan,
) -> Result<OwnedFd, EngineError> {
    let creation = if plan.create {
        OFlags::CREATE | OFlags::EXCL
    } else {
        OFlags::empty()
    };
    let file = resolve_beneath(dir, name, plan.flags() | creation)?;
    // Checked on the open file, so that nobody can exchange the file after the check.
    if file_type(&file, name)? != FileType::RegularFile {
        return Err(EngineError::NotRegular {
            name: printed(name),
        });
    }
    if let Err(error) = set_flags_after_open(&file, name, plan.cache) {
        if plan.create {
            // This file was just created: otherwise `O_EXCL` would have failed.
            let _ = rustix::fs::unlinkat(dir, name, AtFlags::empty());
        }
        return Err(error);
    }
    Ok(file)
}

/// Opens the block device at `path` exclusively (`O_EXCL`). The last component must not be a link:
/// resolve it first, to open the same device that was checked.
///
/// # Errors
/// [`EngineError::NotDevice`], [`EngineError::DeviceBusy`], [`EngineError::DirectRefused`] or
/// [`EngineError::Open`].
pub fn open_device(path: &Path, plan: OpenPlan) -> Result<OwnedFd, EngineError> {
    // For a block device, `O_EXCL` without `O_CREAT` fails if the device is in use.
    let flags = plan.flags() | OFlags::EXCL | OFlags::NOFOLLOW;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::BUSY => EngineError::DeviceBusy {
            name: printed(path),
        },
        errno => open_error(path, errno),
    })?;
    if file_type(&file, path)? != FileType::BlockDevice {
        return Err(EngineError::NotDevice {
            name: printed(path),
        });
    }
    set_flags_after_open(&file, path, plan.cache)?;
    Ok(file)
}

fn file_type(file: &OwnedFd, name: &Path) -> Result<FileType, EngineError> {
    let stat = rustix::fs::fstat(file).map_err(|errno| open_error(name, errno))?;
    Ok(FileType::from_raw_mode(stat.st_mode))
}

fn resolve_beneath(
    dir: BorrowedFd<'_>,
    name: &Path,
    flags: OFlags,
) -> Result<OwnedFd, EngineError> {
    let mode = if flags.contains(OFlags::CREATE) {
        Mode::RUSR | Mode::WUSR
    } else {
        Mode::empty()
    };
    let c_name = c_name(name)?;
    open_beneath(dir, &c_name, flags, mode).map_err(|errno| match errno {
        Errno::XDEV | Errno::LOOP => EngineError::NotBeneath {
            name: printed(name),
        },
        errno => open_error(name, errno),
    })
}

/// `openat2` restricted to the directory; retries if the kernel asks for it.
pub(crate) fn open_beneath(
    dir: BorrowedFd<'_>,
    name: &CStr,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let mut last = Errno::AGAIN;
    for _ in 0..RESOLVE_ATTEMPTS {
        match rustix::fs::openat2(dir, name, flags, mode, RESOLVE) {
            Err(errno @ (Errno::AGAIN | Errno::INTR)) => last = errno,
            answer => return answer,
        }
    }
    Err(last)
}

fn c_name(name: &Path) -> Result<CString, EngineError> {
    CString::new(name.as_os_str().as_bytes()).map_err(|_| open_error(name, Errno::INVAL))
}

/// Recipe for reopening a file of an engine with a single system call.
#[derive(Debug)]
pub struct Reopen {
    directory: OwnedFd,
    name: CString,
    flags: OFlags,
}

impl Reopen {
    /// Reopens the file `name` under `directory`, which [`open_target`] opened with `plan`. It
    /// never creates the file, even if `plan` did.
    ///
    /// # Errors
    /// If the name contains a zero byte.
    pub fn file(directory: OwnedFd, name: &Path, plan: OpenPlan) -> Result<Self, EngineError> {
        // Set by the same call, unlike in `set_flags_after_open`: nothing is created, so a refusal
        // leaves no file behind.
        let direct = if plan.cache == CacheMode::Direct {
            OFlags::DIRECT
        } else {
            OFlags::empty()
        };
        Ok(Self {
            directory,
            name: c_name(name)?,
            // As `set_flags_after_open` leaves it; `keep_nonblock_flag` adds the flag again for a
            // ring.
            flags: (plan.flags() - OFlags::NONBLOCK) | direct,
        })
    }

    /// Reopens the block device `name` under `directory` (usually `/dev`), which [`open_device`]
    /// opened with `plan`; again exclusively (`O_EXCL`).
    ///
    /// # Errors
    /// If the name contains a zero byte.
    pub fn device(directory: OwnedFd, name: &Path, plan: OpenPlan) -> Result<Self, EngineError> {
        let mut recipe = Self::file(directory, name, plan)?;
        recipe.flags |= OFlags::EXCL;
        Ok(recipe)
    }

    /// Takes over from the flags of the open file whether it is nonblocking for a ring.
    pub(crate) fn keep_nonblock_flag(&mut self, flags: OFlags) {
        self.flags |= flags & OFlags::NONBLOCK;
    }

    pub(crate) fn open(&self) -> Result<OwnedFd, Errno> {
        open_beneath(
            self.directory.as_fd(),
            &self.name,
            self.flags,
            Mode::empty(),
        )
    }
}

/// Sets `O_DIRECT` only after opening: if `open` with `O_CREAT` refuses it, the new file is left
/// behind. Clears `O_NONBLOCK`, which kept `open` from waiting for the other end of a pipe, but
/// would make a ring return `EAGAIN`.
fn set_flags_after_open(file: &OwnedFd, name: &Path, cache: CacheMode) -> Result<(), EngineError> {
    let opened = rustix::fs::fcntl_getfl(file).map_err(|errno| open_error(name, errno))?;
    let direct = if cache == CacheMode::Direct {
        OFlags::DIRECT
    } else {
        OFlags::empty()
    };
    let flags = (opened - OFlags::NONBLOCK) | direct;
    rustix::fs::fcntl_setfl(file, flags).map_err(|errno| match errno {
        Errno::INVAL => EngineError::DirectRefused {
            name: printed(name),
        },
        errno => open_error(name, errno),
    })
}

fn open_error(name: &Path, errno: Errno) -> EngineError {
    EngineError::Open {
        name: printed(name),
        source: errno.into(),
    }
}

fn printed(name: &Path) -> String {
    name.display().to_string()
}
