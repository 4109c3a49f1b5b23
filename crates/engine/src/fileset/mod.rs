//! Many files by number: names follow from a rule, directories are held open.
//!
//! No name ever leads out of its directory: a generated name is one component made of digits
//! between two checked texts, a listed one is split at its directories, which are opened one by
//! one. Nothing here follows a symbolic link.

mod key;
mod list;
mod many;
mod paths;
mod room;
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
use list::List;
use paths::Paths;
use texts::Texts;

pub(crate) use key::NameKey;
pub use key::SecondName;
pub use many::Filesets;
pub use room::make_room_for_open;
pub use rule::{NameRule, Nesting, Numbering, Spread, Subdirectories};

/// Longest name in its directory, in bytes (`NAME_MAX`).
const COMPONENT_BYTES_MAX: usize = 255;
/// Room for a subdirectory, a slash, a name and the zero byte at its end.
pub(crate) const NAME_BYTES_MAX: usize = 2 * COMPONENT_BYTES_MAX + 2;
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Names by index, each in one of some directories.
#[derive(Debug)]
pub struct Fileset {
    /// The directories given, or those of a list.
    locations: Vec<OwnedFd>,
    /// All subdirectories of the first location, then all of the next, none in the place of one
    /// that is not there; empty where names are looked up from their location.
    subdirectories: Vec<Option<OwnedFd>>,
    names: Names,
}

/// A name with the directory that it is relative to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'a> {
    pub directory: BorrowedFd<'a>,
    pub name: &'a CStr,
}

#[derive(Debug)]
enum Names {
    Generated(NameRule),
    /// Where the rule puts them, with names of their own.
    Placed(NameRule, Texts),
    Listed(List),
    Paths(Paths),
}

impl Fileset {
    /// Names that follow `rule`, in `locations` and their subdirectories, whose numbers count
    /// through all locations: subdirectory s of location l is directory
    /// `l * subdirectories + s`.
    ///
    /// Names are looked up from their location, so the subdirectories need not exist yet; see
    /// [`Fileset::open_subdirectories`].
    ///
    /// # Errors
    /// When there is no location, or the rule's texts cannot be part of a name.
    pub fn generated(locations: Vec<OwnedFd>, rule: NameRule) -> Result<Self, EngineError> {
        rule.check()?;
        if locations.is_empty() {
            return Err(rule::impossible("", "there is no directory to put it in"));
        }
        Ok(Self {
            locations,
            subdirectories: Vec::new(),
            names: Names::Generated(rule),
        })
    }

    /// As [`Fileset::generated`], with the name of each number in the place of that by the rule.
    ///
    /// # Errors
    /// As there; when one cannot be the name of a file in a directory.
    pub fn placed(
        location: OwnedFd,
        rule: NameRule,
        names: &[Box<str>],
    ) -> Result<Self, EngineError> {
        let texts = Texts::new(names)?;
        Ok(Self {
            names: Names::Placed(rule.clone(), texts),
            ..Self::generated(vec![location], rule)?
        })
    }

    /// The names of a list, beneath `location`; their directories must exist.
    ///
    /// # Errors
    /// When a name leads elsewhere (`..`, an absolute path, a link on the way), is empty or too
    /// long, or its directory cannot be opened.
    pub fn listed(location: OwnedFd, names: &[PathBuf]) -> Result<Self, EngineError> {
        let (list, locations) = List::new(location, names)?;
        Ok(Self {
            locations,
            subdirectories: Vec::new(),
            names: Names::Listed(list),
        })
    }

    /// Names with the way to each beneath `location`, looked up anew by every request, so that the
    /// directories on it may come and go. No part of a way may be a link when a file is opened;
    /// what else is asked by name takes the way that is there, so nobody else may write in there.
    ///
    /// # Errors
    /// When a name leads elsewhere (`..`, an absolute path), is empty or too long.
    pub fn paths(location: OwnedFd, names: &[String]) -> Result<Self, EngineError> {
        Ok(Self {
            locations: vec![location],
            subdirectories: Vec::new(),
            names: Names::Paths(Paths::new(names)?),
        })
    }

    /// Directories by number, each with the way to it beneath `location`, as [`Fileset::paths`].
    ///
    /// # Errors
    /// When the way to one cannot be a name.
    pub fn directories(location: OwnedFd, rule: &Subdirectories) -> Result<Self, EngineError> {
        rule.check()?;
        let ways = (0..rule.count).map(|index| rule.name(index));
        let ways = ways.map(|way| String::from_utf8_lossy(&way).into_owned());
        Self::paths(location, &ways.collect::<Vec<_>>())
    }

    /// How many directories names can be in.
    #[must_use]
    pub fn directory_count(&self) -> u32 {
        self.locations.len() as u32 * self.subdirectory_count().max(1)
    }

    /// How many names there are; `None` where a rule makes as many as there are indexes.
    #[must_use]
    pub fn name_count(&self) -> Option<u32> {
        match &self.names {
            Names::Listed(list) => Some(list.count()),
            Names::Paths(paths) => Some(paths.count()),
            Names::Generated(_) | Names::Placed(..) => None,
        }
    }

    /// Whether every name is one component, looked up in a directory that is held open.
    pub(crate) fn is_flat(&self) -> bool {
        match &self.names {
            Names::Listed(_) => true,
            Names::Paths(_) => false,
            Names::Generated(_) | Names::Placed(..) => {
                self.subdirectory_count() == 0 || !self.subdirectories.is_empty()
            }
        }
    }

    /// Makes every subdirectory of every location.
    ///
    /// # Errors
    /// When one cannot be made, or exists.
    pub fn make_subdirectories(&self, mode: u32) -> Result<(), EngineError> {
        self.for_each_subdirectory(|location, name| {
            rustix::fs::mkdirat(location, name, Mode::from_raw_mode(mode))
        })
    }

    /// As [`Fileset::make_subdirectories`], but for those that exist.
    ///
    /// # Errors
    /// When one cannot be made.
    pub fn make_missing_subdirectories(&self, mode: u32) -> Result<(), EngineError> {
        self.make_missing(mode, |_| {})
    }

    /// The same, and tells of each that was missing, in the order in which they are made.
    ///
    /// # Errors
    /// When one cannot be made.
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

    /// The way from the location to a name, for messages.
    #[must_use]
    pub fn shown(&self, index: u32) -> PathBuf {
        let key = NameKey::of_index(index);
        let text = |at: At<'_>| at.name.to_string_lossy().into_owned();
        let mut buffer = [0; NAME_BYTES_MAX];
        let directory = self.directory_name(key, &mut buffer).map(text);
        let directory = directory.filter(|it| it != ".").unwrap_or_default();
        let mut buffer = [0; NAME_BYTES_MAX];
        let name = self.name(key, &mut buffer).map(text).unwrap_or_default();
        let own = name.rsplit('/').next().unwrap_or_default();
        PathBuf::from(directory).join(own)
    }

    /// Removes the file of a number, or the directory; false where there is none.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&self, index: u32, is_directory: bool) -> io::Result<bool> {
        let mut buffer = [0; NAME_BYTES_MAX];
        let Some(at) = self.name(NameKey::of_index(index), &mut buffer) else {
            return Ok(false);
        };
        let flags = match is_directory {
            true => AtFlags::REMOVEDIR,
            false => AtFlags::empty(),
        };
        unlinked(at, flags)
    }

    /// Removes the file of a number in the directory of a number, where requests say it; false
    /// where there is none.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove_in(&self, directory: u32, index: u32) -> io::Result<bool> {
        let mut buffer = [0; NAME_BYTES_MAX];
        let key = NameKey {
            told_directory: directory,
            ..NameKey::of_index(index)
        };
        let at = self.name(key, &mut buffer);
        at.map_or(Ok(false), |at| unlinked(at, AtFlags::empty()))
    }

    /// Removes the subdirectory of a number, where requests say it; false where there is none.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove_subdirectory(&self, directory: u32) -> io::Result<bool> {
        let mut buffer = [0; NAME_BYTES_MAX];
        let key = NameKey {
            told_directory: directory,
            ..NameKey::of_index(0)
        };
        let at = self.directory_name(key, &mut buffer);
        at.map_or(Ok(false), |at| unlinked(at, AtFlags::REMOVEDIR))
    }

    /// Opens every subdirectory, so that names are looked up relative to it: one component, with
    /// nothing on the way that anybody could put a link in the place of.
    ///
    /// Without this, opening is refused where a subdirectory was replaced by a link, but names
    /// removed, renamed and the like are taken from wherever the link leads.
    ///
    /// # Errors
    /// When one is missing, or is a link, or there are more than descriptors.
    pub fn open_subdirectories(&mut self) -> Result<(), EngineError> {
        self.open_each(Err)
    }

    /// As [`Fileset::open_subdirectories`], where one that is missing or is a link has no names:
    /// whatever is asked of it fails.
    ///
    /// # Errors
    /// When there are more than descriptors, or one cannot be opened for another reason.
    pub fn open_subdirectories_there(&mut self) -> Result<(), EngineError> {
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
        let (Names::Generated(rule) | Names::Placed(rule, _)) = &self.names else {
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
            Names::Generated(rule) | Names::Placed(rule, _) => rule.subdirectory_count(),
            Names::Listed(_) | Names::Paths(_) => 0,
        }
    }

    /// Writes that name and says what it is relative to; `None` beyond the last name, and in a
    /// directory that is not there.
    #[inline]
    pub(crate) fn name<'a>(
        &'a self,
        key: NameKey,
        buffer: &'a mut [u8; NAME_BYTES_MAX],
    ) -> Option<At<'a>> {
        let (rule, texts) = match &self.names {
            Names::Generated(rule) => (rule, None),
            Names::Placed(rule, texts) => (rule, Some(texts)),
            Names::Listed(list) => {
                let (location, length) = list.name(key.index, buffer)?;
                let directory = self.locations[location as usize].as_fd();
                return Some(at(directory, buffer, length));
            }
            Names::Paths(paths) => return Some(self.beneath(paths.path(key.index)?)),
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

    /// The number of the file with that name in the directory that another name is in; `None` of
    /// a name that follows from no rule and was placed nowhere.
    pub(crate) fn find(&self, beside: NameKey, name: &[u8]) -> Option<u32> {
        let locations = self.locations.len() as u32;
        let (rule, texts) = match &self.names {
            Names::Generated(rule) => (rule, None),
            Names::Placed(rule, texts) => (rule, Some(texts)),
            Names::Listed(_) | Names::Paths(_) => return None,
        };
        let directory_of = |key| rule.place(key, locations).map(|(directory, _)| directory);
        let directory = directory_of(beside)?;
        let is_in_it = |index: &u32| {
            let key = NameKey {
                index: *index,
                ..beside
            };
            directory_of(key) == Some(directory)
        };
        match texts {
            Some(texts) => texts.find(name).find(is_in_it),
            None => rule.index_of(name).filter(is_in_it),
        }
    }

    /// As [`Fileset::name`], for the directory that the name is in, relative to its location; a
    /// location itself is `.`.
    pub(crate) fn directory_name<'a>(
        &'a self,
        key: NameKey,
        buffer: &'a mut [u8; NAME_BYTES_MAX],
    ) -> Option<At<'a>> {
        let (location, length) = match &self.names {
            Names::Listed(list) => {
                let (location, _) = list.name(key.index, buffer)?;
                (self.locations[location as usize].as_fd(), 0)
            }
            Names::Paths(paths) => return Some(self.beneath(paths.parent(key.index)?)),
            Names::Generated(rule) | Names::Placed(rule, _) => {
                let (directory, _) = rule.place(key, self.locations.len() as u32)?;
                self.enter(rule, directory, buffer)
            }
        };
        if length == 0 {
            buffer[..2].copy_from_slice(b".\0");
            return Some(at(location, buffer, 1));
        }
        // In the place of the slash.
        buffer[length - 1] = 0;
        Some(at(location, buffer, length - 1))
    }

    /// A way from the only location.
    #[inline]
    fn beneath<'a>(&'a self, name: &'a CStr) -> At<'a> {
        At {
            directory: self.locations[0].as_fd(),
            name,
        }
    }

    /// Writes the way from its location to a directory, with a slash at its end.
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

/// The name of `length` bytes in a buffer, which a zero byte must follow.
#[inline]
fn at<'a>(directory: BorrowedFd<'a>, buffer: &'a [u8; NAME_BYTES_MAX], length: usize) -> At<'a> {
    let name = &buffer[..=length];
    debug_assert!(
        CStr::from_bytes_with_nul(name).is_ok(),
        "a name has one zero byte, its last"
    );
    // SAFETY: it ends with the zero byte, and none is in the texts of a rule or a list, which were
    // checked, nor in digits and slashes. To look for it would cost as much as to write the name.
    let name = unsafe { CStr::from_bytes_with_nul_unchecked(name) };
    At { directory, name }
}

/// Removes a name; false where there is none.
fn unlinked(at: At<'_>, flags: AtFlags) -> io::Result<bool> {
    match rustix::fs::unlinkat(at.directory, at.name, flags) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// The name that a buffer holds.
#[cfg(test)]
fn text(buffer: &[u8]) -> &str {
    let name = CStr::from_bytes_until_nul(buffer).expect("names end with a zero byte");
    name.to_str().expect("names of tests are text")
}

#[cfg(test)]
mod tests;
