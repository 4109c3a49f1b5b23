//! Opening what will be measured: beneath a directory, never through a link, never cached
//! differently from what was asked.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use plan::CacheMode;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::EngineError;

/// `RESOLVE_BENEATH` answers `EAGAIN` when a rename elsewhere races with the look-up.
const RESOLVE_ATTEMPTS: u32 = 16;
/// No way out of the directory, and no link on the way.
pub(crate) const RESOLVE: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS);

/// How a target is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenPlan {
    /// `Direct` opens with `O_DIRECT`; the others go through the page cache.
    pub cache: CacheMode,
    /// Open for reading.
    pub read: bool,
    /// Open for writing.
    pub write: bool,
    /// Make the file, which must not exist yet.
    pub create: bool,
}

impl OpenPlan {
    fn flags(self) -> OFlags {
        let access = match (self.read, self.write) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        access | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK
    }
}

/// Opens or makes the file `name` beneath `dir`, following no symbolic link on the way.
///
/// # Errors
/// [`EngineError::NotBeneath`] when the name leads elsewhere, [`EngineError::DirectRefused`] when
/// the file system refuses `O_DIRECT` (a file made for it is removed again), and
/// [`EngineError::Open`] for everything else.
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
    if file_type(&file, name)? != FileType::RegularFile {
        return Err(EngineError::NotRegular {
            name: printed(name),
        });
    }
    if let Err(error) = settle_flags(&file, name, plan.cache) {
        if plan.create {
            // The file is the one just made: `O_EXCL` would have failed otherwise.
            let _ = rustix::fs::unlinkat(dir, name, AtFlags::empty());
        }
        return Err(error);
    }
    Ok(file)
}

/// Opens the block device at `path`, which nothing else may hold (`O_EXCL`). The last component
/// is not followed if it is a link: resolve it first, so that what was checked is what is opened.
///
/// # Errors
/// [`EngineError::NotDevice`], [`EngineError::DeviceBusy`], [`EngineError::DirectRefused`] or
/// [`EngineError::Open`].
pub fn open_device(path: &Path, plan: OpenPlan) -> Result<OwnedFd, EngineError> {
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
    settle_flags(&file, path, plan.cache)?;
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

/// `openat2` that leads nowhere else; tried again where the kernel asks for it.
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

/// How a file of an engine is opened again: with one system call, by nothing but this.
#[derive(Debug)]
pub struct Reopen {
    directory: OwnedFd,
    name: CString,
    flags: OFlags,
}

impl Reopen {
    /// The file `name` beneath `directory`, which [`open_target`] opened with `plan`; whether the
    /// plan made it does not matter any more.
    ///
    /// # Errors
    /// When the name has a zero byte in it.
    pub fn file(directory: OwnedFd, name: &Path, plan: OpenPlan) -> Result<Self, EngineError> {
        let direct = if plan.cache == CacheMode::Direct {
            OFlags::DIRECT
        } else {
            OFlags::empty()
        };
        Ok(Self {
            directory,
            name: c_name(name)?,
            flags: (plan.flags() - OFlags::NONBLOCK) | direct,
        })
    }

    /// The block device `name` beneath `directory` (that of `/dev`), which [`open_device`] opened
    /// with `plan`; nothing else may hold it then either (`O_EXCL`).
    ///
    /// # Errors
    /// When the name has a zero byte in it.
    pub fn device(directory: OwnedFd, name: &Path, plan: OpenPlan) -> Result<Self, EngineError> {
        let mut recipe = Self::file(directory, name, plan)?;
        recipe.flags |= OFlags::EXCL;
        Ok(recipe)
    }

    /// Takes over from the open file's flags whether it promises a ring not to block.
    pub(crate) fn keep_promise(&mut self, flags: OFlags) {
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

/// Asks for `O_DIRECT` only now, because `open` with `O_CREAT` leaves the file behind when it
/// then refuses; and takes back `O_NONBLOCK`, which kept `open` from waiting for the other end of
/// a pipe but would make a ring answer `EAGAIN`.
fn settle_flags(file: &OwnedFd, name: &Path, cache: CacheMode) -> Result<(), EngineError> {
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
