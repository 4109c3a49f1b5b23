//! The open files of an engine, by index.

use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

use rustix::io::Errno;

use crate::{EngineError, Reopen};

/// File descriptors of an engine; an entry without one is a closed file.
#[derive(Debug)]
pub(crate) struct EngineFiles {
    open: Vec<Option<OwnedFd>>,
    /// Recipes for reopening each file; empty if files are not reopened.
    recipes: Vec<Reopen>,
}

impl EngineFiles {
    pub(crate) fn new(files: Vec<OwnedFd>) -> Self {
        Self {
            open: files.into_iter().map(Some).collect(),
            recipes: Vec::new(),
        }
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
            let mut byte = 0_u8;
            let iovec = libc::iovec {
                iov_base: (&raw mut byte).cast(),
                iov_len: 1,
            };
            // SAFETY: the kernel writes at most the one byte of the vector.
            let answer =
                unsafe { libc::preadv2(file.as_raw_fd(), &iovec, 1, 0, libc::RWF_DONTCACHE) };
            if answer >= 0 {
                continue;
            }
            let source = std::io::Error::last_os_error();
            return Err(match source.raw_os_error() {
                Some(libc::EOPNOTSUPP | libc::EINVAL) => {
                    EngineError::DontcacheRefused { file_index }
                }
                _ => EngineError::system("preadv2", source),
            });
        }
        Ok(())
    }
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
