//! The command line of Bonnie++.

use crate::acts::size;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    pub directory: String,
    pub name: String,
    pub seed: Option<u32>,
    pub runs: u32,
    pub concurrency: u32,
    pub is_synced: bool,
    pub is_direct: bool,
    /// 0 for none of the phases on one file.
    pub file_mib: u64,
    pub chunk_bytes: u64,
    pub seeks: u64,
    pub seekers: u32,
    /// Of the phases byte by byte; 0 for none.
    pub byte_mib: u64,
    /// 0 for none of the phases on many files.
    pub files: Files,
    /// The machine's memory; 0 where nobody is to compare it.
    pub ram_mib: u64,
    /// Options that are understood and change nothing.
    pub ignored: Vec<&'static str>,
}

/// The phases on many files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Files {
    /// In 1024.
    pub thousands: u32,
    pub kind: FileKind,
    pub max_bytes: u64,
    pub min_bytes: u64,
    pub directories: u32,
    pub chunk_bytes: u64,
}

/// What is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum FileKind {
    #[default]
    Files,
    Links,
    Symlinks,
}

impl Files {
    pub(super) const fn count(&self) -> u32 {
        self.thousands * 1024
    }
}

/// The most files, in 1024: their names are held in memory.
const THOUSANDS_MAX: u32 = 16_384;
/// Without an option.
const SEED: u32 = 1;
const CHUNK_BYTES: u64 = 8192;
pub(super) const SEEKS: u64 = 8192;
pub(super) const SEEKERS: u32 = 5;
const FILE_MIB: u64 = 300;
const BYTE_MIB: u64 = 3;

impl Options {
    pub(super) fn seed(&self) -> u32 {
        self.seed.unwrap_or(SEED)
    }

    /// Reads the arguments, as `getopt` does.
    pub(super) fn read(arguments: &[String], memory_bytes: u64) -> Result<Self, String> {
        let mut options = Self::none(memory_bytes >> 20);
        let mut size_text = None;
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let Some(letters) = word.strip_prefix('-').filter(|it| !it.is_empty()) else {
                return Err(format!("`{word}` is no option"));
            };
            let letter = letters.chars().next().unwrap_or_default();
            let attached = &letters[letter.len_utf8()..];
            match letter {
                'b' => options.is_synced = true,
                'D' => options.is_direct = true,
                'q' => options.ignored.push("-q"),
                'f' if attached.is_empty() => options.byte_mib = 0,
                'f' => options.byte_mib = parsed("-f", attached)?,
                'd' | 'c' | 's' | 'n' | 'r' | 'x' | 'u' | 'g' | 'p' | 'y' | 'z' | 'Z' | 'm' => {
                    let value = match attached {
                        "" => words.next().cloned(),
                        text => Some(text.to_owned()),
                    };
                    let value =
                        value.ok_or_else(|| format!("option `-{letter}` lacks its value"))?;
                    if letter == 's' {
                        size_text = Some(value);
                    } else {
                        options.set(letter, &value)?;
                    }
                    continue;
                }
                _ => return Err(format!("there is no option `-{letter}`")),
            }
            if !attached.is_empty() && letter != 'f' {
                return Err(format!(
                    "`{word}` is more than one option; write them apart"
                ));
            }
        }
        options.resolve(size_text.as_deref())?;
        Ok(options)
    }

    fn none(ram_mib: u64) -> Self {
        Self {
            directory: ".".to_owned(),
            name: "localhost".to_owned(),
            seed: None,
            runs: 0,
            concurrency: 1,
            is_synced: false,
            is_direct: false,
            file_mib: FILE_MIB.max(2 * ram_mib),
            chunk_bytes: CHUNK_BYTES,
            seeks: SEEKS,
            seekers: SEEKERS,
            byte_mib: BYTE_MIB,
            files: Files {
                thousands: 16,
                directories: 1,
                chunk_bytes: CHUNK_BYTES,
                ..Files::default()
            },
            ram_mib,
            ignored: Vec::new(),
        }
    }

    fn set(&mut self, letter: char, value: &str) -> Result<(), String> {
        match letter {
            'd' => value.clone_into(&mut self.directory),
            'm' => value.clone_into(&mut self.name),
            // The original reads it into 32 bits.
            'z' => self.seed = Some(parsed("-z", value)? as u32),
            'r' => {
                self.ram_mib = parsed("-r", value)?;
                self.file_mib = FILE_MIB.max(self.ram_mib.saturating_mul(2));
            }
            'c' => self.concurrency = within("-c", parsed("-c", value)?, 1, 200)? as u32,
            'x' => self.runs = within("-x", parsed("-x", value)?, 1, 1000)? as u32,
            'n' => self.files = files(value)?,
            'u' => self.ignored.push("-u"),
            'g' => self.ignored.push("-g"),
            'p' | 'y' => {
                return Err(format!(
                    "`-{letter}` waits for other processes, which is not done here"
                ));
            }
            _ => return Err("`-Z` takes random numbers from a file; use `-z SEED`".to_owned()),
        }
        Ok(())
    }

    /// `MiB[:chunk[:seeks[:seekers]]]`, and what depends on it.
    fn resolve(&mut self, text: Option<&str>) -> Result<(), String> {
        let wrong = |part: &str| format!("`-s {part}` is not a size");
        let mut parts = text.unwrap_or_default().split(':');
        if let Some(part) = parts.next().filter(|_| text.is_some()) {
            self.file_mib = size(part, 1 << 20).ok_or_else(|| wrong(part))? >> 20;
        }
        if let Some(part) = parts.next().filter(|it| !it.is_empty()) {
            self.chunk_bytes = size(part, 1).ok_or_else(|| wrong(part))?;
        }
        if let Some(part) = parts.next().filter(|it| !it.is_empty()) {
            self.seeks = within("-s", parsed("-s", part)?, 1, 1 << 26)?;
        }
        if let Some(part) = parts.next().filter(|it| !it.is_empty()) {
            self.seekers = within("-s", parsed("-s", part)?, 1, 1000)? as u32;
        }
        if parts.next().is_some() {
            return Err("`-s` has more than four parts".to_owned());
        }
        if text.is_none() && self.file_mib % 1024 > 512 {
            self.file_mib = self.file_mib.next_multiple_of(1024);
        }
        let is_power = self.chunk_bytes.is_power_of_two();
        if !is_power || !(256..=1 << 20).contains(&self.chunk_bytes) {
            return Err("a chunk of `-s` is a power of 2 from 256 bytes to 1 MiB".to_owned());
        }
        if self.file_mib > 1 << 20 {
            return Err("a file of more than 1 TiB is not made here".to_owned());
        }
        self.byte_mib = self.byte_mib.min(self.file_mib);
        let files_mib = self.file_mib.saturating_mul(self.concurrency.into());
        if self.file_mib > 0 && files_mib < self.ram_mib.saturating_mul(2) {
            return Err(format!(
                "the file of {} MiB is not double the memory of {} MiB; `-r 0` leaves it at that",
                self.file_mib, self.ram_mib
            ));
        }
        match (self.file_mib, self.files.thousands) {
            (0, 0) => Err("with `-s 0` and `-n 0` there is nothing to do".to_owned()),
            _ => Ok(()),
        }
    }
}

/// `N[:max[:min[:directories[:chunk]]]]`.
fn files(text: &str) -> Result<Files, String> {
    let wrong = |part: &str| format!("`-n {part}` is not a number");
    let mut parts = text.split(':');
    let mut part = || parts.next().filter(|it| !it.is_empty());
    let thousands = parsed("-n", part().unwrap_or_default())?;
    let mut files = Files {
        thousands: within("-n", thousands, 0, THOUSANDS_MAX.into())? as u32,
        directories: 1,
        chunk_bytes: CHUNK_BYTES,
        ..Files::default()
    };
    match part() {
        None => {}
        Some("-1") => files.kind = FileKind::Links,
        Some("-2") => files.kind = FileKind::Symlinks,
        Some(max) => files.max_bytes = size(max, 1).ok_or_else(|| wrong(max))?,
    }
    if let Some(min) = part() {
        files.min_bytes = size(min, 1).ok_or_else(|| wrong(min))?;
    }
    if let Some(count) = part() {
        files.directories = within("-n", parsed("-n", count)?, 1, 65_536)? as u32;
    }
    if let Some(chunk) = part() {
        files.chunk_bytes = size(chunk, 1).ok_or_else(|| wrong(chunk))?;
    }
    if parts.next().is_some() {
        return Err("`-n` has more than five parts".to_owned());
    }
    if files.min_bytes > files.max_bytes || files.max_bytes > 1 << 30 {
        return Err("sizes of `-n` are the largest, then the smallest, up to 1 GiB".to_owned());
    }
    within("-n", files.chunk_bytes, 256, 1 << 20)?;
    Ok(files)
}

pub(super) fn parsed(option: &str, text: &str) -> Result<u64, String> {
    let read = text.parse();
    read.map_err(|_| format!("`{option} {}` is not a number", workload::printable(text)))
}

pub(super) fn within(option: &str, value: u64, low: u64, high: u64) -> Result<u64, String> {
    match (low..=high).contains(&value) {
        true => Ok(value),
        false => Err(format!("`{option}` is {value}, not from {low} to {high}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::read(&words, 1 << 30)
    }

    #[test]
    fn the_file_is_twice_the_memory_and_a_whole_number_of_gib() {
        let options = read("").unwrap();
        assert_eq!((options.file_mib, options.byte_mib), (2048, 3));
        assert_eq!(read("-r 900").unwrap().file_mib, 2048);
        assert_eq!(read("-r 100").unwrap().file_mib, 300);
        assert_eq!(read("-s 4g -f").unwrap().byte_mib, 0);
        assert_eq!(read("-s 1 -r 0 -f5").unwrap().byte_mib, 1);
    }

    #[test]
    fn parts_of_sizes_and_numbers_are_told_apart() {
        let options = read("-r 0 -s 8m:4k:100:2 -n 1:4096:1024:2:512 -b -D -x 3 -z 7 -mx").unwrap();
        assert_eq!(
            (options.file_mib, options.chunk_bytes, options.seeks),
            (8, 4096, 100)
        );
        assert_eq!(
            (options.seekers, options.runs, options.seed),
            (2, 3, Some(7))
        );
        let files = Files {
            thousands: 1,
            kind: FileKind::Files,
            max_bytes: 4096,
            min_bytes: 1024,
            directories: 2,
            chunk_bytes: 512,
        };
        assert_eq!(options.files, files);
        assert_eq!(options.name, "x");
        assert!(options.is_synced && options.is_direct);
        assert_eq!(read("-n 2:-1").unwrap().files.kind, FileKind::Links);
    }

    #[test]
    fn what_cannot_be_done_is_refused_by_name() {
        for (line, wanted) in [
            (
                "-r 0 -s 8m:3k",
                "a chunk of `-s` is a power of 2 from 256 bytes to 1 MiB",
            ),
            (
                "-s 8m",
                "the file of 8 MiB is not double the memory of 1024 MiB; `-r 0` leaves it at that",
            ),
            (
                "-r 0 -s 0 -n 0",
                "with `-s 0` and `-n 0` there is nothing to do",
            ),
            (
                "-p 2",
                "`-p` waits for other processes, which is not done here",
            ),
            ("-c 300", "`-c` is 300, not from 1 to 200"),
            ("-k", "there is no option `-k`"),
            ("-bD", "`-bD` is more than one option; write them apart"),
            ("-s", "option `-s` lacks its value"),
            (
                "-n 1:1:2",
                "sizes of `-n` are the largest, then the smallest, up to 1 GiB",
            ),
            ("x", "`x` is no option"),
            (
                "-Z f",
                "`-Z` takes random numbers from a file; use `-z SEED`",
            ),
        ] {
            assert_eq!(read(line).unwrap_err(), wanted, "{line}");
        }
    }
}
