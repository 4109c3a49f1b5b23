//! Directories that are read name by name, like with C's `readdir`.

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::Errno;

use super::OPEN_DIRECTORY;
use super::calls::{ENTRIES_BYTES, open};
use crate::fileset::RelativeName;

/// Offsets in a directory entry of the kernel: its length, and its name.
///
/// Source: getdents(2), `struct linux_dirent64`.
const LENGTH_OFFSET: usize = 16;
const NAME_OFFSET: usize = 19;

/// The directory that each slot reads.
#[derive(Debug)]
pub(crate) struct DirectoryStreams(Box<[DirectoryStream]>);

/// A directory being read.
#[derive(Debug)]
pub(crate) struct DirectoryStream {
    /// `None` after its last name was read.
    directory: Option<OwnedFd>,
    /// Entries of the last call, and the range in them that is still to be returned.
    entries: Box<[u8]>,
    start: usize,
    end: usize,
}

impl DirectoryStreams {
    pub(crate) fn new(slot_count: u32) -> Self {
        let stream = |_| DirectoryStream {
            directory: None,
            entries: vec![0; ENTRIES_BYTES].into(),
            start: 0,
            end: 0,
        };
        Self((0..slot_count).map(stream).collect())
    }

    pub(crate) fn of(&mut self, slot: u32) -> &mut DirectoryStream {
        &mut self.0[slot as usize]
    }
}

impl DirectoryStream {
    /// Starts reading a directory; one that was being read is closed.
    pub(super) fn open(&mut self, at: RelativeName<'_>) -> Result<(), i32> {
        (self.start, self.end) = (0, 0);
        self.directory = Some(open_stream(at)?);
        Ok(())
    }

    /// The next name; `None` after the last one, when the directory is closed.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, i32> {
        if self.start >= self.end {
            self.read()?;
        }
        // The kernel returned no bytes, which marks the end of the directory.
        if self.end == 0 {
            self.directory = None;
            return Ok(None);
        }
        let entry = &self.entries[self.start..self.end];
        let length = [entry[LENGTH_OFFSET], entry[LENGTH_OFFSET + 1]];
        let length = usize::from(u16::from_ne_bytes(length));
        self.start += length;
        let name = &entry[NAME_OFFSET..length];
        // The kernel fills an entry with zero bytes up to its aligned length.
        let zero = name.iter().position(|byte| *byte == 0);
        Ok(Some(&name[..zero.unwrap_or(name.len())]))
    }

    fn read(&mut self) -> Result<(), i32> {
        let Some(directory) = &self.directory else {
            return Err(-libc::EBADF);
        };
        let (entries, bytes) = (self.entries.as_mut_ptr(), self.entries.len());
        // SAFETY: the kernel writes at most that many bytes.
        let read =
            unsafe { libc::syscall(libc::SYS_getdents64, directory.as_raw_fd(), entries, bytes) };
        self.start = 0;
        match usize::try_from(read) {
            Ok(bytes) => {
                self.end = bytes;
                Ok(())
            }
            Err(_) => {
                let errno = Errno::from_io_error(&std::io::Error::last_os_error());
                self.directory = None;
                self.end = 0;
                Err(-errno.map_or(libc::EIO, Errno::raw_os_error))
            }
        }
    }
}

/// Opens a directory and stats it, like C's `opendir`.
pub(super) fn open_stream(at: RelativeName<'_>) -> Result<OwnedFd, i32> {
    let directory = open(at, &OPEN_DIRECTORY, false)?;
    let _ = rustix::fs::fstat(&directory);
    Ok(directory)
}
