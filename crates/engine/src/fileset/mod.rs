//! Many files by number. Names follow from a rule, and directories are held open.
//!
//! No name leads out of its directory: a generated name is one component, digits between two
//! checked texts. A listed name is split into components, and its directories are opened one by
//! one. Nothing here follows a symbolic link.

mod descriptor_limit;
mod key;
mod list;
mod many;
mod paths;
mod rule;
mod texts;

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::EngineError;
use crate::open::open_beneath;
use list::NameList;
use paths::Paths;
use texts::NameTable;

pub use descriptor_limit::make_room_for_open;
pub(crate) use key::NameKey;
pub use key::SecondName;
pub use many::Filesets;
pub use rule::{NameRule, Nesting, Numbering, Spread, SubdirectoryRule};

/// Longest name in its directory, in bytes (`NAME_MAX`).
const COMPONENT_BYTES_MAX: usize = 255;
/// Space for a subdirectory, a slash, a name and the final zero byte.
pub(crate) const NAME_BYTES_MAX: usize = 2 * COMPONENT_BYTES_MAX + 2;
// With `O_PATH`, a directory needs no read permission to be the start of a lookup.
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Names by index, in one or more directories.
#[derive(Debug)]
pub struct Fileset {
    /// The given directories, or the directories of a list.
    locations: Vec<OwnedFd>,
    /// All subdirectories of the first location, then all of the next. `None` stands for a missing
    /// subdirectory. Empty if names are looked up from their location.
    subdirectories: Vec<Option<OwnedFd>>,
    names: NameSource,
}

/// A name with the directory that it is relative to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RelativeName<'a> {
    pub directory: BorrowedFd<'a>,
    pub name: &'a CStr,
}

#[derive(Debug)]
enum NameSource {
    Generated(NameRule),
    /// Directories by the rule, names from a list.
    Table(NameRule, NameTable),
    Listed(NameList),
    Paths(Paths),
}

impl Fileset {
    /// Names that follow `rule`, in `locations` and their subdirectories. Subdirectories are
    /// numbered across all locations: subdirectory s of location l is directory
    /// `l * subdirectories + s`.
    ///
    /// Names are looked up from their location, so the subdirectories need not exist yet; see
    /// [`Fileset::open_subdirectories`].
    ///
    /// # Errors
    /// If there is no location, or the texts of the rule cannot be part of a name.
    pub fn generated(locations: Vec<OwnedFd>, rule: NameRule) -> Result<Self, EngineError> {
        rule.check()?;
        if locations.is_empty() {
            return Err(rule::file_name_error("", "there is no directory for it"));
        }
        Ok(Self {
            locations,
            subdirectories: Vec::new(),
            names: NameSource::Generated(rule),
        })
    }

    /// As [`Fileset::generated`], with names from a list instead of names by the rule.
    ///
    /// # Errors
    /// As for [`Fileset::generated`], and if a name is not valid within a directory.
    pub fn placed(
        location: OwnedFd,
        rule: NameRule,
        names: &[Box<str>],
    ) -> Result<Self, EngineError> {
        let texts = NameTable::new(names)?;
        Ok(Self {
            names: NameSource::Table(rule.clone(), texts),
            ..Self::generated(vec![location], rule)?
        })
    }

    /// The names of a list, under `location`; their directories must exist.
    ///
    /// # Errors
    /// If a name leads elsewhere (`..`, an absolute path, a link in its path), is empty or too
    /// long, or its directory cannot be opened.
    pub fn listed(location: OwnedFd, names: &[PathBuf]) -> Result<Self, EngineError> {
        let (list, locations) = NameList::new(location, names)?;
        Ok(Self {
            locations,
            subdirectories: Vec::new(),
            names: NameSource::Listed(list),
        })
    }

    /// Paths under `location`. Every request looks up its path again, so the directories in it may
    /// be created and removed. Opening a file rejects links in any component. Other operations on
    /// names follow links, so no other program may write to these directories.
    ///
    /// # Errors
    /// If a name leads elsewhere (`..`, an absolute path), is empty or too long.
    pub fn paths(location: OwnedFd, names: &[String]) -> Result<Self, EngineError> {
        Ok(Self {
            locations: vec![location],
            subdirectories: Vec::new(),
            names: NameSource::Paths(Paths::new(names)?),
        })
    }

    /// Directories by number, each with its path under `location`, as with [`Fileset::paths`].
    ///
    /// # Errors
    /// If the path of a directory is not a valid name.
    pub fn directories(location: OwnedFd, rule: &SubdirectoryRule) -> Result<Self, EngineError> {
        rule.check()?;
        let paths = (0..rule.count).map(|index| rule.name(index));
        let paths = paths.map(|path| String::from_utf8_lossy(&path).into_owned());
        Self::paths(location, &paths.collect::<Vec<_>>())
    }

    /// Number of directories that names can be in.
    #[must_use]
    pub fn directory_count(&self) -> u32 {
        self.locations.len() as u32 * self.subdirectory_count().max(1)
    }

    /// Number of names; `None` if a rule generates a name for every index.
    #[must_use]
    pub fn name_count(&self) -> Option<u32> {
        match &self.names {
            NameSource::Listed(list) => Some(list.count()),
            NameSource::Paths(paths) => Some(paths.count()),
            NameSource::Generated(_) | NameSource::Table(..) => None,
        }
    }

    /// `true` if every name is one component, looked up in a directory that is held open.
    pub(crate) fn is_flat(&self) -> bool {
        match &self.names {
            NameSource::Listed(_) => true,
            NameSource::Paths(_) => false,
            NameSource::Generated(_) | NameSource::Table(..) => {
                self.subdirectory_count() == 0 || !self.subdirectories.is_empty()
            }
        }
    }

    /// Creates every subdirectory of every location.
    ///
    /// # Errors
    /// If one cannot be created or already exists.
    pub fn make_subdirectories(&self, mode: u32) -> Result<(), EngineError> {
        self.for_each_subdirectory(|location, name| {
            rustix::fs::mkdirat(location, name, Mode::from_raw_mode(mode))
        })
    }

    /// As [`Fileset::make_subdirectories`], but skips existing subdirectories.
    ///
    /// # Errors
    /// If one cannot be created.
    pub fn make_missing_subdirectories(&self, mode: u32) -> Result<(), EngineError> {
        self.make_missing(mode, |_| {})
    }

    /// As [`Fileset::make_missing_subdirectories`], and calls `was_made` with each created one, in
    /// order.
    ///
    /// # Errors
    /// If one cannot be created.
    pub fn make_missing(
        &self,
        mode: u32,
        mut was_made: impl FnMut(&str),
    ) -> Result<(), EngineError> {
        self.for_each_subdirectory(|location, name| {
            match rustix::fs::mkdirat(location, name, Mode::from_raw_mode(mode)) {
                Err(Errno::EXIST) => Ok(()),
                Ok(()) => {
                    was_made(&name.to_string_lossy());
                    Ok(())
                }
                failed => failed,
            }
        })
    }

    /// Path from the location to a name, for messages.
    #[must_use]
    pub fn shown(&self, index: u32) -> PathBuf {
        let key = NameKey::of_index(index);
        let text = |at: RelativeName<'_>| at.name.to_string_lossy().into_owned();
        let mut buffer = [0; NAME_BYTES_MAX];
        let directory = self.directory_name(key, &mut buffer).map(text);
        let directory = directory.filter(|it| it != ".").unwrap_or_default();
        let mut buffer = [0; NAME_BYTES_MAX];
        let name = self.name(key, &mut buffer).map(text).unwrap_or_default();
        let own = name.rsplit('/').next().unwrap_or_default();
        PathBuf::from(directory).join(own)
    }

    /// Removes a file or directory by number; returns `false` if it does not exist.
    ///
    /// # Errors
    /// If the system call fails for another reason.
    pub fn remove(&self, index: u32, is_directory: bool) -> io::Result<bool> {
        let mut buffer = [0; NAME_BYTES_MAX];
        let Some(at) = self.name(NameKey::of_index(index), &mut buffer) else {
            return Ok(false);
        };
        let flags = match is_directory {
            true => AtFlags::REMOVEDIR,
            false => AtFlags::empty(),
        };
        unlink_if_exists(at, flags)
    }

    /// Removes a file by its number and the number of its directory, for rules where requests
    /// select the directory. Returns `false` if it does not exist.
    ///
    /// # Errors
    /// If the system call fails for another reason.
    pub fn remove_in(&self, directory: u32, index: u32) -> io::Result<bool> {
        let mut buffer = [0; NAME_BYTES_MAX];
        let key = NameKey {
            directory,
            ..NameKey::of_index(index)
        };
        let at = self.name(key, &mut buffer);
        at.map_or(Ok(false), |at| unlink_if_exists(at, AtFlags::empty()))
    }

    /// Removes a subdirectory by number, for rules where requests select the directory. Returns
    /// `false` if it does not exist.
    ///
    /// # Errors
    /// If the system call fails for another reason.
    pub fn remove_subdirectory(&self, directory: u32) -> io::Result<bool> {
        let mut buffer = [0; NAME_BYTES_MAX];
        let key = NameKey {
            directory,
            ..NameKey::of_index(0)
        };
        let at = self.directory_name(key, &mut buffer);
        at.map_or(Ok(false), |at| unlink_if_exists(at, AtFlags::REMOVEDIR))
    }

    /// Opens every subdirectory, so that names are looked up relative to it. A name is then one
    /// component, and no directory in its path can be replaced by a link.
    ///
    /// Without this, opening a file is refused if its subdirectory was replaced by a link, but
    /// removing, renaming and other operations on names follow the link.
    ///
    /// # Errors
    /// If one is missing or is a link, or there are too few descriptors.
    pub fn open_subdirectories(&mut self) -> Result<(), EngineError> {
        self.open_each(Err)
    }

    /// As [`Fileset::open_subdirectories`], but a subdirectory that is missing or is a link has no
    /// names: every operation on it fails.
    ///
    /// # Errors
    /// If there are too few descriptors, or one cannot be opened for another reason.
    pub fn open_existing_subdirectories(&mut self) -> Result<(), EngineError> {
        self.open_each(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV => Ok(()),
            errno => Err(errno),
        })
    }

    fn open_each(
        &mut self,
        pass_over: impl Fn(Errno) -> rustix::io::Result<()>,
    ) -> Result<(), EngineError> {
        let count = self.locations.len() * self.subdirectory_count() as usize;
        // Checked first, so that the error states the limit instead of a failed open.
        make_room_for_open(count as u64)?;
        let mut opened = Vec::with_capacity(count);
        self.for_each_subdirectory(|location, name| {
            opened.push(
                match open_beneath(location, name, DIRECTORY, Mode::empty()) {
                    Ok(directory) => Some(directory),
                    Err(errno) => {
                        pass_over(errno)?;
                        None
                    }
                },
            );
            Ok(())
        })?;
        // Only once all are open: after an error, names are still looked up from the location.
        self.subdirectories = opened;
        Ok(())
    }

    pub(crate) fn locations(&self) -> &[OwnedFd] {
        &self.locations
    }

    fn for_each_subdirectory(
        &self,
        mut act: impl FnMut(BorrowedFd<'_>, &CStr) -> rustix::io::Result<()>,
    ) -> Result<(), EngineError> {
        let (NameSource::Generated(rule) | NameSource::Table(rule, _)) = &self.names else {
            return Ok(());
        };
        for location in &self.locations {
            for index in 0..self.subdirectory_count() {
                let name = rule
                    .subdirectories
                    .as_ref()
                    .map_or(CString::default(), |it| {
                        CString::new(it.name(index)).expect("a rule's texts have no zero byte")
                    });
                act(location.as_fd(), &name).map_err(|errno| EngineError::Open {
                    name: name.to_string_lossy().into_owned(),
                    source: errno.into(),
                })?;
            }
        }
        Ok(())
    }

    fn subdirectory_count(&self) -> u32 {
        match &self.names {
            NameSource::Generated(rule) | NameSource::Table(rule, _) => rule.subdirectory_count(),
            NameSource::Listed(_) | NameSource::Paths(_) => 0,
        }
    }

    /// Writes a name and returns it with the directory it is relative to. `None` beyond the last
    /// name and in a directory that does not exist.
    #[inline]
    pub(crate) fn name<'a>(
        &'a self,
        key: NameKey,
        buffer: &'a mut [u8; NAME_BYTES_MAX],
    ) -> Option<RelativeName<'a>> {
        let (rule, texts) = match &self.names {
            NameSource::Generated(rule) => (rule, None),
            NameSource::Table(rule, texts) => (rule, Some(texts)),
            NameSource::Listed(list) => {
                let (location, length) = list.name(key.index, buffer)?;
                let directory = self.locations[location as usize].as_fd();
                return Some(at(directory, buffer, length));
            }
            NameSource::Paths(paths) => return Some(self.beneath(paths.path(key.index)?)),
        };
        let (directory, number) = rule.place(key, self.locations.len() as u32)?;
        let (directory, start) = match self.subdirectories.get(directory as usize) {
            Some(subdirectory) => (subdirectory.as_ref()?.as_fd(), 0),
            None => self.enter(rule, directory, buffer),
        };
        let length = match texts {
            None => rule.write(number, buffer, start),
            Some(texts) => texts.write(number, buffer, start)?,
        };
        Some(at(directory, buffer, length))
    }

    /// Number of the file with this name in the directory of the name `sibling`. `None` for a name
    /// that the rule does not generate and that is not in the list.
    pub(crate) fn find(&self, sibling: NameKey, name: &[u8]) -> Option<u32> {
        let locations = self.locations.len() as u32;
        let (rule, texts) = match &self.names {
            NameSource::Generated(rule) => (rule, None),
            NameSource::Table(rule, texts) => (rule, Some(texts)),
            NameSource::Listed(_) | NameSource::Paths(_) => return None,
        };
        let directory_of = |key| rule.place(key, locations).map(|(directory, _)| directory);
        let directory = directory_of(sibling)?;
        let is_in_it = |index: &u32| {
            let key = NameKey {
                index: *index,
                ..sibling
            };
            directory_of(key) == Some(directory)
        };
        match texts {
            Some(texts) => texts.find(name).find(is_in_it),
            None => rule.index_of(name).filter(is_in_it),
        }
    }

    /// As [`Fileset::name`], for the directory that contains the name, relative to its location;
    /// the location itself is `.`.
    pub(crate) fn directory_name<'a>(
        &'a self,
        key: NameKey,
        buffer: &'a mut [u8; NAME_BYTES_MAX],
    ) -> Option<RelativeName<'a>> {
        let (location, length) = match &self.names {
            NameSource::Listed(list) => {
                let (location, _) = list.name(key.index, buffer)?;
                (self.locations[location as usize].as_fd(), 0)
            }
            NameSource::Paths(paths) => return Some(self.beneath(paths.parent(key.index)?)),
            NameSource::Generated(rule) | NameSource::Table(rule, _) => {
                let (directory, _) = rule.place(key, self.locations.len() as u32)?;
                self.enter(rule, directory, buffer)
            }
        };
        if length == 0 {
            buffer[..2].copy_from_slice(b".\0");
            return Some(at(location, buffer, 1));
        }
        // Replaces the slash.
        buffer[length - 1] = 0;
        Some(at(location, buffer, length - 1))
    }

    /// A path from the only location.
    #[inline]
    fn beneath<'a>(&'a self, name: &'a CStr) -> RelativeName<'a> {
        RelativeName {
            directory: self.locations[0].as_fd(),
            name,
        }
    }

    /// Writes the path from its location to a directory, with a final slash.
    #[inline]
    fn enter(
        &self,
        rule: &NameRule,
        directory: u32,
        buffer: &mut [u8; NAME_BYTES_MAX],
    ) -> (BorrowedFd<'_>, usize) {
        let Some(subdirectories) = &rule.subdirectories else {
            return (self.locations[directory as usize].as_fd(), 0);
        };
        let location = directory / subdirectories.count;
        let length = subdirectories.write(directory % subdirectories.count, buffer);
        (self.locations[location as usize].as_fd(), length)
    }
}

/// The name of `length` bytes in a buffer; a zero byte must follow it.
#[inline]
fn at<'a>(
    directory: BorrowedFd<'a>,
    buffer: &'a [u8; NAME_BYTES_MAX],
    length: usize,
) -> RelativeName<'a> {
    let name = &buffer[..=length];
    debug_assert!(
        CStr::from_bytes_with_nul(name).is_ok(),
        "a name has one zero byte, its last"
    );
    // SAFETY: the buffer ends with the zero byte. It contains no other: the texts of rules and
    // lists were checked, and the rest is digits and slashes. Checking again would cost as much as
    // writing the name.
    let name = unsafe { CStr::from_bytes_with_nul_unchecked(name) };
    RelativeName { directory, name }
}

/// Removes a name; returns `false` if it does not exist.
fn unlink_if_exists(at: RelativeName<'_>, flags: AtFlags) -> io::Result<bool> {
    match rustix::fs::unlinkat(at.directory, at.name, flags) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// The name in a buffer.
#[cfg(test)]
fn text(buffer: &[u8]) -> &str {
    let name = CStr::from_bytes_until_nul(buffer).expect("names end with a zero byte");
    name.to_str().expect("names of tests are text")
}

#[cfg(test)]
mod tests;
