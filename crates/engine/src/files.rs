//! The open files of an engine, by index.

use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

use rustix::io::Errno;

use crate::{EngineError, Reopen};

/// An engine's own descriptors; a file without one is closed.
#[derive(Debug)]
pub(crate) struct Files {
    open: Vec<Option<OwnedFd>>,
    /// How each file is opened again; empty where that is not asked for.
    recipes: Vec<Reopen>,
}

impl Files {
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

    /// The files that are open.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &OwnedFd)> {
        (0..)
            .zip(&self.open)
            .filter_map(|(file_index, file)| Some((file_index, file.as_ref()?)))
    }

    /// Puts `file` in the place of file `file_index` and hands over the old one.
    pub(crate) fn replace(
        &mut self,
        file_index: u32,
        file: OwnedFd,
    ) -> Result<Option<OwnedFd>, EngineError> {
        let file_count = self.count();
        let place = self
            .open
            .get_mut(file_index as usize)
            .ok_or(EngineError::FileIndex {
                file_index,
                file_count,
            })?;
        Ok(place.replace(file))
    }

    /// Takes a recipe for each file, in order.
    ///
    /// Every recipe learns whether its file was made to promise not to block, so that it does so
    /// again when it is open again.
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
            recipe.keep_promise(flags);
        }
        self.recipes = recipes;
        Ok(())
    }

    /// Whether the file can be closed and opened again.
    pub(crate) fn reopens(&self, file_index: u32) -> bool {
        (file_index as usize) < self.recipes.len()
    }

    /// Opens a closed file by its recipe; a completion's result.
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

    /// Closes a file that can be opened again; a completion's result.
    #[cold]
    pub(crate) fn close(&mut self, file_index: u32) -> i32 {
        if !self.reopens(file_index) {
            return -libc::EOPNOTSUPP;
        }
        match self.open[file_index as usize].take() {
            Some(file) => close(file),
            None => -libc::EBADF,
        }
    }

    /// Reads one byte of every file with `RWF_DONTCACHE`; the kernel answers `EOPNOTSUPP` where
    /// the file system lacks it, and `EINVAL` where the kernel does.
    pub(crate) fn probe_dontcache(&self) -> Result<(), EngineError> {
        for (file_index, file) in self.iter() {
            let mut byte = 0_u8;
            let iovec = libc::iovec {
                iov_base: (&raw mut byte).cast(),
                iov_len: 1,
            };
            // SAFETY: the kernel writes at most the one byte that the vector names.
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

/// Closes a descriptor and says what the kernel answered, which dropping it would not; a
/// completion's result. The descriptor is gone even when the answer is an error.
#[inline(always)]
pub(crate) fn close(file: OwnedFd) -> i32 {
    // SAFETY: the descriptor is handed over by its only owner.
    match unsafe { rustix::io::try_close(file.into_raw_fd()) } {
        Ok(()) => 0,
        Err(errno) => -errno.raw_os_error(),
    }
}

/// What a read or a write answers as a completion's result.
#[inline(always)]
pub(crate) fn moved(answer: Result<usize, Errno>) -> i32 {
    match answer {
        // No longer than a request, whose length is 32 bits.
        Ok(bytes) => bytes as i32,
        Err(errno) => -errno.raw_os_error(),
    }
}

/// A system call's answer as a completion's result.
pub(crate) fn result_of(answer: isize) -> i32 {
    if answer >= 0 {
        return answer as i32;
    }
    -std::io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EIO)
}
