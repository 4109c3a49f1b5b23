//! Names from a list.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::Mode;
use rustix::io::Errno;

use super::rule::file_name_error;
use super::{COMPONENT_BYTES_MAX, DIRECTORY, NAME_BYTES_MAX};
use crate::EngineError;
use crate::open::open_beneath;

/// Names in one block of memory, each with its directory.
#[derive(Debug)]
pub(super) struct NameList {
    bytes: Vec<u8>,
    entries: Vec<NameEntry>,
}

#[derive(Debug, Clone, Copy)]
struct NameEntry {
    start: u32,
    directory: u32,
    length: u8,
}

impl NameList {
    /// Splits the names from their directories and opens these; directory 0 is `location`.
    pub(super) fn new(
        location: OwnedFd,
        names: &[PathBuf],
    ) -> Result<(Self, Vec<OwnedFd>), EngineError> {
        let mut directories = vec![location];
        let mut numbers = BTreeMap::from([(PathBuf::new(), 0)]);
        let mut list = Self {
            bytes: Vec::new(),
            entries: Vec::with_capacity(names.len()),
        };
        for name in names {
            let (parent, own) = split(name)?;
            let directory = match numbers.get(&parent) {
                Some(number) => *number,
                None => {
                    let opened = open_directory(&directories[0], &parent)?;
                    directories.push(opened);
                    let number = directories.len() as u32 - 1;
                    numbers.insert(parent, number);
                    number
                }
            };
            list.entries.push(NameEntry {
                start: u32::try_from(list.bytes.len())
                    .map_err(|_| file_name_error("", "the list is longer than 4 GiB"))?,
                directory,
                // At most 255 bytes, as `split` has checked.
                length: own.len() as u8,
            });
            list.bytes.extend_from_slice(&own);
        }
        Ok((list, directories))
    }

    pub(super) fn count(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Writes the name with an index and a zero byte. Returns its directory and its length.
    #[inline]
    pub(super) fn name(
        &self,
        index: u32,
        buffer: &mut [u8; NAME_BYTES_MAX],
    ) -> Option<(u32, usize)> {
        let entry = self.entries.get(index as usize)?;
        let (start, length) = (entry.start as usize, usize::from(entry.length));
        buffer[..length].copy_from_slice(&self.bytes[start..start + length]);
        buffer[length] = 0;
        Some((entry.directory, length))
    }
}

/// Splits a path that stays under its location into its directory and its last component.
fn split(name: &Path) -> Result<(PathBuf, Vec<u8>), EngineError> {
    let shown = name.display().to_string();
    let mut parts = Vec::new();
    for component in name.components() {
        match component {
            Component::Normal(part) => parts.push(part),
            Component::CurDir => {}
            _ => return Err(EngineError::NotBeneath { name: shown }),
        }
    }
    let Some(own) = parts.pop() else {
        return Err(file_name_error(&shown, "it is empty"));
    };
    if own.len() > COMPONENT_BYTES_MAX {
        return Err(file_name_error(&shown, "it is longer than 255 bytes"));
    }
    if own.as_bytes().contains(&0) {
        return Err(file_name_error(
            &shown,
            "it contains a slash or a zero byte",
        ));
    }
    Ok((parts.iter().collect(), own.as_bytes().to_vec()))
}

fn open_directory(location: &OwnedFd, path: &Path) -> Result<OwnedFd, EngineError> {
    let shown = || path.display().to_string();
    let c_path = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| file_name_error(&shown(), "it contains a slash or a zero byte"))?;
    open_beneath(location.as_fd(), &c_path, DIRECTORY, Mode::empty()).map_err(|errno| match errno {
        // These are the answers to a path that leaves the directory, contains a link or contains a
        // file.
        Errno::XDEV | Errno::LOOP | Errno::NOTDIR => EngineError::NotBeneath { name: shown() },
        errno => EngineError::Open {
            name: shown(),
            source: errno.into(),
        },
    })
}
