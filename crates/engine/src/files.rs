//! The open files of an engine, by index.

use std::io::IoSliceMut;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

use rustix::fs::FileType;
use rustix::io::{Errno, ReadWriteFlags};

use crate::{EngineError, Reopen, Request};

/// Mode of `fallocate` that frees the space of a range and keeps the size of the file.
///
/// Source: fallocate(2).
pub(crate) const PUNCH_MODE: i32 = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;

/// Discards a range of a device, given as two 64-bit numbers: offset and length in bytes.
///
/// Source: `linux/fs.h`, `_IO(0x12, 119)`.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// File descriptors of an engine; an entry without one is a closed file.
#[derive(Debug)]
pub(crate) struct EngineFiles {
    open: Vec<Option<OwnedFd>>,
    /// Recipes for reopening each file; empty if files are not reopened.
    recipes: Vec<Reopen>,
    /// How to trim each file; empty if the engine was not prepared for trims.
    trims: Vec<TrimMethod>,
}

/// Way to trim a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrimMethod {
    /// Punch a hole into a file.
    PunchHole,
    /// Discard blocks of a device.
    Discard,
}

impl EngineFiles {
    pub(crate) fn new(files: Vec<OwnedFd>) -> Self {
        Self {
            open: files.into_iter().map(Some).collect(),
            recipes: Vec::new(),
            trims: Vec::new(),
        }
    }

    /// Finds out how to trim each file, so that a trim needs no further system call. A file that
    /// is opened again must be of the same kind.
    pub(crate) fn prepare_trims(&mut self) -> Result<(), EngineError> {
        let method = |file: &Option<OwnedFd>| {
            let Some(file) = file else {
                return Ok(TrimMethod::PunchHole);
            };
            let stat =
                rustix::fs::fstat(file).map_err(|errno| EngineError::system("fstat", errno))?;
            Ok(match FileType::from_raw_mode(stat.st_mode) {
                FileType::BlockDevice => TrimMethod::Discard,
                _ => TrimMethod::PunchHole,
            })
        };
        let methods: Result<_, EngineError> = self.open.iter().map(method).collect();
        self.trims = methods?;
        Ok(())
    }

    /// How to trim a file; `None` if the engine was not prepared for trims.
    pub(crate) fn trim_method(&self, file_index: u32) -> Option<TrimMethod> {
        self.trims.get(file_index as usize).copied()
    }

    /// Trims a range of a file with a system call. Returns a completion's result.
    pub(crate) fn trim(&self, request: &Request) -> i32 {
        let Some(method) = self.trim_method(request.file_index) else {
            return -libc::EOPNOTSUPP;
        };
        let Some(file) = self.get(request.file_index) else {
            return -libc::EBADF;
        };
        let fd = file.as_raw_fd();
        let (offset, length) = (request.offset_bytes, u64::from(request.length_bytes));
        let answer = match method {
            TrimMethod::PunchHole => {
                // SAFETY: the descriptor is open as long as `self` holds it; the other arguments
                // are numbers.
                unsafe { libc::fallocate(fd, PUNCH_MODE, offset as i64, length as i64) }
            }
            TrimMethod::Discard => {
                let range = [offset, length];
                // SAFETY: as above; the kernel reads the two numbers of the range.
                unsafe { libc::ioctl(fd, BLKDISCARD, &raw const range) }
            }
        };
        syscall_result(answer as isize)
    }

    pub(crate) fn count(&self) -> u32 {
        self.open.len() as u32
    }

    #[inline]
    pub(crate) fn get(&self, file_index: u32) -> Option<&OwnedFd> {
        self.open.get(file_index as usize)?.as_ref()
    }

    /// The open files, with their indexes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &OwnedFd)> {
        (0..)
            .zip(&self.open)
            .filter_map(|(file_index, file)| Some((file_index, file.as_ref()?)))
    }

    /// Replaces file `file_index` and returns the old one.
    pub(crate) fn replace(
        &mut self,
        file_index: u32,
        file: OwnedFd,
    ) -> Result<Option<OwnedFd>, EngineError> {
        let file_count = self.count();
        let slot = self
            .open
            .get_mut(file_index as usize)
            .ok_or(EngineError::FileIndex {
                file_index,
                file_count,
            })?;
        Ok(slot.replace(file))
    }

    /// Sets one recipe per file, in order.
    ///
    /// Each recipe takes over the nonblocking mode of its file and sets it again when it reopens
    /// the file.
    pub(crate) fn set_recipes(&mut self, mut recipes: Vec<Reopen>) -> Result<(), EngineError> {
        if recipes.len() != self.open.len() {
            return Err(EngineError::RecipeCount {
                recipe_count: recipes.len() as u32,
                file_count: self.count(),
            });
        }
        for (recipe, file) in recipes.iter_mut().zip(self.open.iter().flatten()) {
            let flags = rustix::fs::fcntl_getfl(file)
                .map_err(|errno| EngineError::system("fcntl", errno))?;
            recipe.keep_nonblock_flag(flags);
        }
        self.recipes = recipes;
        Ok(())
    }

    /// `true` if the file can be closed and reopened.
    pub(crate) fn can_reopen(&self, file_index: u32) -> bool {
        (file_index as usize) < self.recipes.len()
    }

    /// Opens a closed file by its recipe. Returns a completion's result.
    #[cold]
    pub(crate) fn open(&mut self, file_index: u32) -> i32 {
        let (Some(recipe), Some(place)) = (
            self.recipes.get(file_index as usize),
            self.open.get_mut(file_index as usize),
        ) else {
            return -libc::EOPNOTSUPP;
        };
        if place.is_some() {
            return -libc::EBUSY;
        }
        match recipe.open() {
            Ok(file) => {
                *place = Some(file);
                0
            }
            Err(errno) => -errno.raw_os_error(),
        }
    }

    /// Closes a file that can be reopened. Returns a completion's result.
    #[cold]
    pub(crate) fn close(&mut self, file_index: u32) -> i32 {
        if !self.can_reopen(file_index) {
            return -libc::EOPNOTSUPP;
        }
        match self.open[file_index as usize].take() {
            Some(file) => close(file),
            None => -libc::EBADF,
        }
    }

    /// Reads one byte of every file with `RWF_DONTCACHE`. The kernel returns `EOPNOTSUPP` if the
    /// file system does not support it, and `EINVAL` if the kernel itself does not.
    pub(crate) fn probe_dontcache(&self) -> Result<(), EngineError> {
        for (file_index, file) in self.iter() {
            let Err(source) = read_byte(file, libc::RWF_DONTCACHE) else {
                continue;
            };
            return Err(match source.raw_os_error() {
                Some(libc::EOPNOTSUPP | libc::EINVAL) => {
                    EngineError::DontcacheRefused { file_index }
                }
                _ => EngineError::system("preadv2", source),
            });
        }
        Ok(())
    }

    /// Tries a read with `RWF_NOWAIT` on every file. Only `EOPNOTSUPP` means that the file system
    /// does not support it: a read may also be impossible for now, unaligned, or not permitted.
    pub(crate) fn probe_nowait(&self) -> Result<(), EngineError> {
        for (file_index, file) in self.iter() {
            let refused = read_byte(file, libc::RWF_NOWAIT).err();
            if refused.is_some_and(|it| it.raw_os_error() == Some(libc::EOPNOTSUPP)) {
                return Err(EngineError::NowaitRefused { file_index });
            }
        }
        Ok(())
    }
}

/// Reads the first byte of a file with these flags of `preadv2`.
pub(crate) fn read_byte(file: &OwnedFd, flags: i32) -> std::io::Result<()> {
    let flags = ReadWriteFlags::from_bits_retain(flags.cast_unsigned());
    let mut byte = [0];
    // The system call itself, because old C libraries do not have the function.
    rustix::io::preadv2(file, &mut [IoSliceMut::new(&mut byte)], 0, flags)?;
    Ok(())
}

/// Closes a descriptor and returns the kernel's result as a completion's result; dropping would
/// discard it. The descriptor is closed even if the result is an error.
#[inline(always)]
pub(crate) fn close(file: OwnedFd) -> i32 {
    // SAFETY: the only owner passes the descriptor.
    match unsafe { rustix::io::try_close(file.into_raw_fd()) } {
        Ok(()) => 0,
        Err(errno) => -errno.raw_os_error(),
    }
}

/// Converts the result of a read or write to a completion's result.
#[inline(always)]
pub(crate) fn moved(answer: Result<usize, Errno>) -> i32 {
    match answer {
        // Never longer than a request, whose length is 32 bits.
        Ok(bytes) => bytes as i32,
        Err(errno) => -errno.raw_os_error(),
    }
}

/// Converts the return value of a system call to a completion's result.
pub(crate) fn syscall_result(answer: isize) -> i32 {
    if answer >= 0 {
        return answer as i32;
    }
    -std::io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EIO)
}
