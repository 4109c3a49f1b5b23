//! The open files of an engine, by index.

use std::os::fd::{AsRawFd, OwnedFd};

use crate::EngineError;

/// An engine's own descriptors.
#[derive(Debug)]
pub(crate) struct Files(Vec<OwnedFd>);

impl Files {
    pub(crate) fn new(files: Vec<OwnedFd>) -> Self {
        Self(files)
    }

    pub(crate) fn count(&self) -> u32 {
        self.0.len() as u32
    }

    #[inline]
    pub(crate) fn get(&self, file_index: u32) -> Option<&OwnedFd> {
        self.0.get(file_index as usize)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &OwnedFd)> {
        (0..).zip(&self.0)
    }

    /// Puts `file` in the place of file `file_index` and hands over the old one.
    pub(crate) fn replace(
        &mut self,
        file_index: u32,
        file: OwnedFd,
    ) -> Result<OwnedFd, EngineError> {
        let file_count = self.count();
        let place = self
            .0
            .get_mut(file_index as usize)
            .ok_or(EngineError::FileIndex {
                file_index,
                file_count,
            })?;
        Ok(std::mem::replace(place, file))
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
