//! Where a run's files are and how they are called there.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use generate::pool::{PoolDirectory, PoolFile};
use rustix::fs::{CWD, Mode, OFlags};
use workload::postmark::Settings;

/// Room for `s`, a number, `/`, a number and the zero byte.
const NAME_BYTES_MAX: usize = 32;
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The locations of a run, opened.
pub(super) struct Pool {
    /// None where a location cannot be opened: nothing can be made there.
    locations: Vec<Option<OwnedFd>>,
    name: [u8; NAME_BYTES_MAX],
}

impl Pool {
    /// Opens the locations as they are given.
    pub(super) fn new(settings: &Settings) -> Self {
        let open = |directory: &[u8]| {
            // With its slash, as in the names that the original makes.
            let path = [directory, b"/"].concat();
            rustix::fs::openat(CWD, path.as_slice(), DIRECTORY, Mode::empty()).ok()
        };
        let locations = settings.locations.iter();
        Self {
            locations: locations.map(|place| open(&place.directory)).collect(),
            name: [0; NAME_BYTES_MAX],
        }
    }

    /// A file's name and what it is relative to; none if its location is not there.
    #[inline]
    pub(super) fn file(&mut self, file: PoolFile) -> Option<(BorrowedFd<'_>, &CStr)> {
        let mut start = NAME_BYTES_MAX - 1;
        start = put_number(&mut self.name, start, file.number);
        if let Some(index) = file.directory.subdirectory_index {
            start -= 1;
            self.name[start] = b'/';
            start = put_subdirectory(&mut self.name, start, index);
        }
        self.at(file.directory, start)
    }

    /// A subdirectory's name and what it is relative to; none if its location is not there.
    pub(super) fn directory(
        &mut self,
        directory: PoolDirectory,
    ) -> Option<(BorrowedFd<'_>, &CStr)> {
        let index = directory.subdirectory_index.unwrap_or(0);
        let start = put_subdirectory(&mut self.name, NAME_BYTES_MAX - 1, index);
        self.at(directory, start)
    }

    #[inline]
    fn at(&self, directory: PoolDirectory, start: usize) -> Option<(BorrowedFd<'_>, &CStr)> {
        let location = match self.locations.get(directory.location_index as usize) {
            Some(location) => location.as_ref()?.as_fd(),
            None => CWD,
        };
        let name = CStr::from_bytes_with_nul(&self.name[start..])
            .expect("a name ends with the buffer's only zero byte");
        Some((location, name))
    }
}

/// Writes a number that ends before `end`; says where it starts.
#[inline]
fn put_number(name: &mut [u8; NAME_BYTES_MAX], end: usize, number: u32) -> usize {
    let mut start = end;
    let mut rest = number;
    loop {
        start -= 1;
        name[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            return start;
        }
    }
}

#[inline]
fn put_subdirectory(name: &mut [u8; NAME_BYTES_MAX], end: usize, index: u32) -> usize {
    let start = put_number(name, end, index) - 1;
    name[start] = b's';
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: u32, subdirectory_index: Option<u32>) -> String {
        let mut pool = Pool::new(&Settings::default());
        let directory = PoolDirectory {
            location_index: 0,
            subdirectory_index,
        };
        let file = PoolFile {
            slot_index: 0,
            number,
            directory,
        };
        let (_, name) = pool.file(file).unwrap();
        name.to_str().unwrap().to_owned()
    }

    #[test]
    fn names_are_numbers_in_their_subdirectory() {
        assert_eq!(name(1, None), "1");
        assert_eq!(name(1020, Some(0)), "s0/1020");
        let longest = name(u32::MAX, Some(u32::MAX));
        assert_eq!(longest, "s4294967295/4294967295");
    }

    #[test]
    fn a_location_that_is_missing_has_no_names() {
        let mut settings = Settings::default();
        settings.locations.push(workload::program::PoolLocation {
            directory: b"no/such/directory".to_vec(),
            weight: 1,
        });
        let mut pool = Pool::new(&settings);
        assert!(pool.directory(PoolDirectory::default()).is_none());
    }
}
