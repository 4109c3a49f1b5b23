//! How a name follows from its number.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::{COMPONENT_BYTES_MAX, NAME_BYTES_MAX, NameKey};
use crate::EngineError;

/// Digits of the largest number.
const DIGITS_MAX: usize = 10;

/// Directories in each other, at most: each has a byte of its own and a slash.
const WAY_MAX: usize = 128;

/// The first number of more than eight digits.
const EIGHT_DIGITS_END: u32 = 100_000_000;
/// Eight times the digit 0.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// How names follow from an index: `prefix`, a decimal number, `suffix`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NameRule {
    /// What stands before the number.
    pub prefix: String,
    /// What stands behind it.
    pub suffix: String,
    /// Digits at least, filled up with zeros; 0 means as many as it takes.
    pub digit_count: u32,
    /// The number of the first name; each counts on from there.
    pub first: u32,
    /// Where each index goes.
    pub spread: Spread,
    /// What each name's number counts.
    pub numbering: Numbering,
    /// The subdirectories of each location; `None` puts files into the location itself.
    pub subdirectories: Option<Subdirectories>,
}

/// Which directory an index goes to, of d directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spread {
    /// One after the other in turn: directory `index % d`.
    #[default]
    Turns,
    /// So many in a row into each, `(first + index) / each_count`; there are `d * each_count`
    /// names, less the first.
    Blocks {
        /// Names in a directory; 0 counts as 1.
        each_count: u32,
    },
    /// Where the request says: `length_bytes` of an operation on names is the directory, and the
    /// index is the name's number, so that there are as many names in each as there are indexes.
    Told,
}

/// What the number in a name counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Numbering {
    /// The names of all directories: the number is the index.
    #[default]
    Across,
    /// The names of its own directory, from 0. With [`Spread::Turns`] the index `n * d + k` is
    /// then number n in directory k, whatever the two are.
    Within,
}

/// Directories in a location: `prefix` and a decimal number from 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subdirectories {
    /// How many there are in each location; 0 counts as none.
    pub count: u32,
    /// What stands before the number.
    pub prefix: String,
    /// Digits at least, filled up with zeros; 0 means as many as it takes.
    pub digit_count: u32,
    /// Which of them are in which.
    pub nesting: Nesting,
}

/// Which directories are in which. A directory in another has a larger number than that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nesting {
    /// All are in the location.
    #[default]
    Beside,
    /// The first `fan` are in the location; directory n is in directory n / `fan`, and has the
    /// number n % `fan` in its name: the way to it is n in the base `fan`.
    Digits {
        /// At least 2.
        fan: u32,
    },
    /// Directory 0 is in the location; directory n is in directory (n - 1) / `fan`, and has n in
    /// its name.
    Heap {
        /// At least 1.
        fan: u32,
    },
}

impl NameRule {
    /// Says why this rule can make no names, or none that stay in their directory.
    pub(super) fn check(&self) -> Result<(), EngineError> {
        check_texts(&self.prefix, &self.suffix, self.digit_count)?;
        match &self.subdirectories {
            Some(it) if it.count == 0 => Err(impossible(&it.prefix, "there are 0 subdirectories")),
            Some(it) => it.check(),
            None => Ok(()),
        }
    }

    pub(super) fn subdirectory_count(&self) -> u32 {
        self.subdirectories.as_ref().map_or(0, |it| it.count)
    }

    /// Directory and number of that name.
    #[inline]
    pub(super) fn place(&self, key: NameKey, location_count: u32) -> Option<(u32, u32)> {
        let count = location_count * self.subdirectory_count().max(1);
        let told_directory = key.told_directory;
        let index = key.index.wrapping_add(self.first);
        let (directory, within) = match self.spread {
            Spread::Turns if count == 1 => (0, index),
            Spread::Turns => (index % count, index / count),
            Spread::Blocks { each_count } => {
                let each_count = each_count.max(1);
                (index / each_count, index % each_count)
            }
            Spread::Told => (told_directory, index),
        };
        let number = match self.numbering {
            Numbering::Across => index,
            Numbering::Within => within,
        };
        (directory < count).then_some((directory, number))
    }

    /// The name of that index, with the way to it from the only location; none beyond the last
    /// directory, and where requests say the directory.
    #[must_use]
    pub fn path(&self, index: u32) -> Option<PathBuf> {
        if self.spread == Spread::Told {
            return None;
        }
        let key = NameKey {
            fileset: 0,
            index,
            told_directory: 0,
        };
        let (directory, number) = self.place(key, 1)?;
        let mut buffer = [0; NAME_BYTES_MAX];
        let length = self.write(number, &mut buffer, 0);
        let way = self.subdirectories.as_ref().map(|it| it.name(directory));
        let way = PathBuf::from(OsString::from_vec(way.unwrap_or_default()));
        Some(way.join(OsStr::from_bytes(&buffer[..length])))
    }

    /// The index of that name, where numbers count the names of all directories.
    pub(super) fn index_of(&self, name: &[u8]) -> Option<u32> {
        let digits = name.strip_prefix(self.prefix.as_bytes())?;
        let digits = digits.strip_suffix(self.suffix.as_bytes())?;
        let number: u32 = std::str::from_utf8(digits).ok()?.parse().ok()?;
        let length = (number.checked_ilog10().unwrap_or(0) + 1).max(self.digit_count);
        let is_own = digits.len() == length as usize && digits[0] != b'+';
        match self.numbering {
            Numbering::Across if is_own => number.checked_sub(self.first),
            _ => None,
        }
    }

    /// Writes the name with that number and a zero byte; says where the zero byte is.
    #[inline]
    pub(super) fn write(
        &self,
        number: u32,
        buffer: &mut [u8; NAME_BYTES_MAX],
        start: usize,
    ) -> usize {
        let mut at = put(self.prefix.as_bytes(), buffer, start);
        at = put_number(number, self.digit_count, buffer, at);
        at = put(self.suffix.as_bytes(), buffer, at);
        buffer[at] = 0;
        at
    }
}

impl Subdirectories {
    /// Says why there can be no such directories, or none that stay in their location.
    pub(super) fn check(&self) -> Result<(), EngineError> {
        check_texts(&self.prefix, "", self.digit_count)?;
        let is_endless = match self.nesting {
            Nesting::Beside => false,
            Nesting::Digits { fan } => fan < 2,
            Nesting::Heap { fan } => fan < 1,
        };
        if is_endless {
            return Err(impossible(&self.prefix, "directories are in themselves"));
        }
        // The last is as deep as any.
        let deepest = self.way(self.count.saturating_sub(1)).count();
        let each = self.prefix.len() + (self.digit_count as usize).max(DIGITS_MAX) + 1;
        if deepest > 1 && deepest * each > COMPONENT_BYTES_MAX {
            return Err(impossible(
                &self.prefix,
                "the way to it is longer than 255 bytes",
            ));
        }
        Ok(())
    }

    /// The way to subdirectory `index`.
    pub(super) fn name(&self, index: u32) -> Vec<u8> {
        let mut buffer = [0; NAME_BYTES_MAX];
        let length = self.write(index, &mut buffer);
        buffer[..length - 1].to_vec()
    }

    /// Writes the way to subdirectory `index` and a slash; says how many bytes that is.
    #[inline]
    pub(super) fn write(&self, index: u32, buffer: &mut [u8; NAME_BYTES_MAX]) -> usize {
        if self.nesting != Nesting::Beside {
            return self.write_way(index, buffer);
        }
        self.write_one(index, buffer, 0)
    }

    #[inline]
    fn write_one(&self, number: u32, buffer: &mut [u8; NAME_BYTES_MAX], at: usize) -> usize {
        let at = put(self.prefix.as_bytes(), buffer, at);
        let at = put_number(number, self.digit_count, buffer, at);
        put(b"/", buffer, at)
    }

    fn write_way(&self, index: u32, buffer: &mut [u8; NAME_BYTES_MAX]) -> usize {
        let mut numbers = [0; WAY_MAX];
        let mut count = 0;
        for number in self.way(index).take(WAY_MAX) {
            numbers[count] = number;
            count += 1;
        }
        let numbers = numbers[..count].iter().rev();
        numbers.fold(0, |at, number| self.write_one(*number, buffer, at))
    }

    /// The numbers in the names of a directory and of those that it is in, from the inside out.
    fn way(&self, index: u32) -> impl Iterator<Item = u32> + use<> {
        let nesting = self.nesting;
        let outer = move |node: &u32| match nesting {
            Nesting::Digits { fan } if *node >= fan => Some(node / fan),
            Nesting::Heap { fan } if *node > 0 => Some((node - 1) / fan),
            _ => None,
        };
        std::iter::successors(Some(index), outer).map(move |node| match nesting {
            Nesting::Digits { fan } => node % fan,
            _ => node,
        })
    }
}

#[inline]
fn put(text: &[u8], buffer: &mut [u8; NAME_BYTES_MAX], at: usize) -> usize {
    // Most rules have none, and copying nothing is a call, too.
    if text.is_empty() {
        return at;
    }
    let end = at + text.len();
    buffer[at..end].copy_from_slice(text);
    end
}

#[inline]
fn put_number(
    number: u32,
    digit_count: u32,
    buffer: &mut [u8; NAME_BYTES_MAX],
    at: usize,
) -> usize {
    if number >= EIGHT_DIGITS_END || digit_count > 8 {
        return put_long_number(number, digit_count, buffer, at);
    }
    let digits = eight_digits(number);
    let length = (8 - digits.trailing_zeros() / 8).max(digit_count).max(1);
    let text = (digits | ZEROS) >> (64 - 8 * length);
    // What stands behind the digits is written over.
    buffer[at..at + 8].copy_from_slice(&text.to_le_bytes());
    at + length as usize
}

/// The eight decimal digits of a number below 10^8, the first in the lowest byte: halves, then
/// pairs, then digits of all pairs at once.
///
/// Source: Khuong, "How to print integers really fast", 2017, with his constants for the
/// reciprocals of 100 and 10.
#[inline]
const fn eight_digits(number: u32) -> u64 {
    let halves = (number / 10_000) as u64 | ((number % 10_000) as u64) << 32;
    let hundreds = ((halves * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | (halves - 100 * hundreds) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (pairs - 10 * tens) << 8
}

#[cold]
fn put_long_number(
    number: u32,
    digit_count: u32,
    buffer: &mut [u8; NAME_BYTES_MAX],
    at: usize,
) -> usize {
    let length = (number.checked_ilog10().unwrap_or(0) + 1).max(digit_count) as usize;
    let digits = &mut buffer[at..at + length];
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    at + length
}

fn check_texts(prefix: &str, suffix: &str, digit_count: u32) -> Result<(), EngineError> {
    for text in [prefix, suffix] {
        if text.contains(['/', '\0']) {
            return Err(impossible(text, "it has a slash or a zero byte in it"));
        }
    }
    let digits = (digit_count as usize).max(DIGITS_MAX);
    if prefix.len() + suffix.len() + digits > COMPONENT_BYTES_MAX {
        let name = format!("{prefix}0{suffix}");
        return Err(impossible(&name, "it is longer than 255 bytes"));
    }
    Ok(())
}

pub(super) fn impossible(name: &str, reason: &'static str) -> EngineError {
    EngineError::FileName {
        name: name.to_owned(),
        reason,
    }
}
