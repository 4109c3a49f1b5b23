//! Rules that derive names from numbers.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::{COMPONENT_BYTES_MAX, NAME_BYTES_MAX, NameKey};
use crate::EngineError;

/// Number of digits of the largest number.
const DIGITS_MAX: usize = 10;

/// Maximum nesting of directories: each takes at least one byte and a slash in the path.
const DEPTH_MAX: usize = 128;

/// First number with more than eight digits.
const EIGHT_DIGITS_END: u32 = 100_000_000;
/// The digit 0, eight times.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Derives names from an index: `prefix`, a decimal number, `suffix`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NameRule {
    /// Text before the number.
    pub prefix: String,
    /// Text after the number.
    pub suffix: String,
    /// Minimum number of digits, padded with zeros; 0 means no padding.
    pub digit_count: u32,
    /// Number of the first name; further names count up from it.
    pub first: u32,
    /// Distribution of the indexes over directories.
    pub spread: Spread,
    /// Meaning of the number in a name.
    pub numbering: Numbering,
    /// Subdirectories of each location; `None` places files in the location itself.
    pub subdirectories: Option<SubdirectoryRule>,
}

/// Distribution of indexes over d directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spread {
    /// Directories in turn: directory `index % d`.
    #[default]
    RoundRobin,
    /// A run of consecutive indexes per directory, `(first + index) / each_count`. There are
    /// `d * each_count - first` names.
    Blocks {
        /// Names per directory; 0 counts as 1.
        each_count: u32,
    },
    /// The request selects the directory: the `length_bytes` of an operation on names is the
    /// directory, and the index is the number in the name. Each directory has a name for every
    /// index.
    ByRequest,
}

/// Meaning of the number in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Numbering {
    /// Counts across all directories: the number is the index.
    #[default]
    Global,
    /// Counts within the directory, from 0. With [`Spread::RoundRobin`], the index `n * d + k` is
    /// then number n in directory k, for all n and k.
    PerDirectory,
}

/// Names of directories in a location: `prefix` and a decimal number from 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SubdirectoryRule {
    /// Number of subdirectories per location; 0 is rejected.
    pub count: u32,
    /// Text before the number.
    pub prefix: String,
    /// Minimum number of digits, padded with zeros; 0 means no padding.
    pub digit_count: u32,
    /// Nesting of the directories.
    pub nesting: Nesting,
}

/// Nesting of directories. A nested directory has a larger number than its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nesting {
    /// All are directly in the location.
    #[default]
    Flat,
    /// The first `fan` are in the location. Directory n is in directory n / `fan`, with the number
    /// n % `fan` in its name: the path to it is n in base `fan`.
    Digits {
        /// At least 2.
        fan: u32,
    },
    /// Directory 0 is in the location. Directory n is in directory (n - 1) / `fan`, with n in its
    /// name.
    Heap {
        /// At least 1.
        fan: u32,
    },
}

impl NameRule {
    /// Checks that the rule generates names that stay in their directory.
    pub(super) fn check(&self) -> Result<(), EngineError> {
        check_texts(&self.prefix, &self.suffix, self.digit_count)?;
        match &self.subdirectories {
            Some(it) if it.count == 0 => {
                Err(file_name_error(&it.prefix, "there are 0 subdirectories"))
            }
            Some(it) => it.check(),
            None => Ok(()),
        }
    }

    pub(super) fn subdirectory_count(&self) -> u32 {
        self.subdirectories.as_ref().map_or(0, |it| it.count)
    }

    /// Directory and number of a name; `None` beyond the last directory.
    #[inline]
    pub(super) fn place(&self, key: NameKey, location_count: u32) -> Option<(u32, u32)> {
        let count = location_count * self.subdirectory_count().max(1);
        let given_directory = key.directory;
        let index = key.index.wrapping_add(self.first);
        let (directory, within) = match self.spread {
            Spread::RoundRobin if count == 1 => (0, index),
            Spread::RoundRobin => (index % count, index / count),
            Spread::Blocks { each_count } => {
                let each_count = each_count.max(1);
                (index / each_count, index % each_count)
            }
            Spread::ByRequest => (given_directory, index),
        };
        let number = match self.numbering {
            Numbering::Global => index,
            Numbering::PerDirectory => within,
        };
        (directory < count).then_some((directory, number))
    }

    /// Path of the name with an index, from a single location. `None` beyond the last directory,
    /// and if requests select the directory.
    #[must_use]
    pub fn path(&self, index: u32) -> Option<PathBuf> {
        if self.spread == Spread::ByRequest {
            return None;
        }
        let key = NameKey {
            fileset: 0,
            index,
            directory: 0,
        };
        let (directory, number) = self.place(key, 1)?;
        let mut buffer = [0; NAME_BYTES_MAX];
        let length = self.write(number, &mut buffer, 0);
        let subdirectory = self.subdirectories.as_ref().map(|it| it.name(directory));
        let subdirectory = PathBuf::from(OsString::from_vec(subdirectory.unwrap_or_default()));
        Some(subdirectory.join(OsStr::from_bytes(&buffer[..length])))
    }

    /// Index of a name if numbers count across all directories; otherwise `None`.
    pub(super) fn index_of(&self, name: &[u8]) -> Option<u32> {
        let digits = name.strip_prefix(self.prefix.as_bytes())?;
        let digits = digits.strip_suffix(self.suffix.as_bytes())?;
        let number: u32 = std::str::from_utf8(digits).ok()?.parse().ok()?;
        let length = (number.checked_ilog10().unwrap_or(0) + 1).max(self.digit_count);
        // `parse` also accepts a sign and other padding, which the rule never writes.
        let is_own = digits.len() == length as usize && digits[0] != b'+';
        match self.numbering {
            Numbering::Global if is_own => number.checked_sub(self.first),
            _ => None,
        }
    }

    /// Writes the name with a number and a zero byte. Returns the position of the zero byte.
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

impl SubdirectoryRule {
    /// Checks that the rule generates directories that stay in their location.
    pub(super) fn check(&self) -> Result<(), EngineError> {
        check_texts(&self.prefix, "", self.digit_count)?;
        let is_endless = match self.nesting {
            Nesting::Flat => false,
            Nesting::Digits { fan } => fan < 2,
            Nesting::Heap { fan } => fan < 1,
        };
        if is_endless {
            return Err(file_name_error(
                &self.prefix,
                "directories contain themselves",
            ));
        }
        // No directory is deeper than the last one.
        let deepest = self.way(self.count.saturating_sub(1)).count();
        let level_bytes = self.prefix.len() + (self.digit_count as usize).max(DIGITS_MAX) + 1;
        // A path of one level has been checked with its texts.
        if deepest > 1 && deepest * level_bytes > COMPONENT_BYTES_MAX {
            return Err(file_name_error(
                &self.prefix,
                "the path to it is longer than 255 bytes",
            ));
        }
        Ok(())
    }

    /// Path of subdirectory `index`.
    pub(super) fn name(&self, index: u32) -> Vec<u8> {
        let mut buffer = [0; NAME_BYTES_MAX];
        let length = self.write(index, &mut buffer);
        buffer[..length - 1].to_vec()
    }

    /// Writes the path of subdirectory `index` and a slash. Returns the length.
    #[inline]
    pub(super) fn write(&self, index: u32, buffer: &mut [u8; NAME_BYTES_MAX]) -> usize {
        if self.nesting != Nesting::Flat {
            return self.write_path(index, buffer);
        }
        self.write_component(index, buffer, 0)
    }

    #[inline]
    fn write_component(&self, number: u32, buffer: &mut [u8; NAME_BYTES_MAX], at: usize) -> usize {
        let at = put(self.prefix.as_bytes(), buffer, at);
        let at = put_number(number, self.digit_count, buffer, at);
        put(b"/", buffer, at)
    }

    fn write_path(&self, index: u32, buffer: &mut [u8; NAME_BYTES_MAX]) -> usize {
        let mut numbers = [0; DEPTH_MAX];
        let mut count = 0;
        for number in self.way(index).take(DEPTH_MAX) {
            numbers[count] = number;
            count += 1;
        }
        let numbers = numbers[..count].iter().rev();
        numbers.fold(0, |at, number| self.write_component(*number, buffer, at))
    }

    /// Numbers in the names of a directory and its parents, innermost first.
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
    // Most rules have no suffix, and even an empty copy is a function call.
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
    // Writing digit by digit took 24 ns per name.
    let digits = eight_digits(number);
    // The number 0 has only zero digits but is written with one.
    let length = (8 - digits.trailing_zeros() / 8).max(digit_count).max(1);
    let text = (digits | ZEROS) >> (64 - 8 * length);
    // Bytes after the digits are overwritten later.
    buffer[at..at + 8].copy_from_slice(&text.to_le_bytes());
    at + length as usize
}

/// The eight decimal digits of a number below 10^8, the first in the lowest byte. It splits into
/// halves, then pairs, then the digits of all pairs in one step.
///
/// Source: Khuong, "How to print integers really fast", 2017, including the constants for the
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
            return Err(file_name_error(text, "it contains a slash or a zero byte"));
        }
    }
    let digits = (digit_count as usize).max(DIGITS_MAX);
    if prefix.len() + suffix.len() + digits > COMPONENT_BYTES_MAX {
        let name = format!("{prefix}0{suffix}");
        return Err(file_name_error(&name, "it is longer than 255 bytes"));
    }
    Ok(())
}

pub(super) fn file_name_error(name: &str, reason: &'static str) -> EngineError {
    EngineError::FileName {
        name: name.to_owned(),
        reason,
    }
}
