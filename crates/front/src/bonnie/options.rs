//! The command line of Bonnie++.

use crate::options::{
    Grammar, LetterSyntax, OptionRow, WrittenValue, attached, bytes, flag, idle_value, read,
    rule_out, text, unknown_option_message, within,
};

/// Parsed options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BonnieOptions {
    pub directory: String,
    /// Name of the machine; `None` for its host name.
    pub name: Option<String>,
    pub seed: Option<u32>,
    /// File of random numbers, which replaces the seed.
    pub random_file: Option<String>,
    /// Number of runs, printed as CSV; `None` for one run with tables.
    pub runs: Option<u32>,
    pub concurrency: u32,
    pub is_synced: bool,
    pub is_direct: bool,
    /// Size of the large file; 0 to skip its phases.
    pub file_mib: u64,
    pub chunk_bytes: u64,
    pub seeks: u64,
    pub seekers: u32,
    /// Size of the phases that move single bytes; 0 to skip them.
    pub per_char_mib: u64,
    /// Phases on many small files.
    pub files: FilePhases,
    /// `true` to print only the CSV lines on standard output.
    pub is_quiet: bool,
    /// The machine's memory; 0 to skip the comparison with it.
    pub ram_mib: u64,
    /// User and group that the original switches to.
    pub user: Option<String>,
    pub group: Option<String>,
    /// How each phase waits for other processes.
    pub waiting: Option<PhaseWait>,
    /// Number of processes to create semaphores for; negative to remove the semaphores.
    pub processes: Option<i32>,
    /// Options that are accepted and have no effect.
    pub ignored: Vec<String>,
    /// Value of `-s` as the user wrote it.
    size: Option<String>,
}

/// How a phase waits for other processes before it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PhaseWait {
    /// At semaphores that another process has created.
    Semaphores,
    /// For a line on standard input.
    Prompt,
}

/// The phases on many files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct FilePhases {
    /// Number of files, in units of 1024; 0 to skip these phases.
    pub thousands: u32,
    pub kind: FileKind,
    pub max_bytes: u64,
    pub min_bytes: u64,
    pub directories: u32,
    pub chunk_bytes: u64,
}

/// Kind of the files to create.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum FileKind {
    #[default]
    Files,
    Links,
    Symlinks,
}

impl FilePhases {
    const NONE: Self = Self {
        thousands: 0,
        kind: FileKind::Files,
        max_bytes: 0,
        min_bytes: 0,
        directories: 1,
        chunk_bytes: CHUNK_BYTES,
    };

    pub(super) const fn count(&self) -> u32 {
        self.thousands * 1024
    }
}

/// Largest number of files, in units of 1024, since their names are held in memory.
const THOUSANDS_MAX: u64 = 16_384;
/// Seed without `-z`.
const SEED: u32 = 1;
const CHUNK_BYTES: u64 = 8192;
/// Largest value of a semaphore.
const PROCESSES_MAX: i32 = 32_767;
/// Largest size of many files.
const FILE_BYTES_MAX: u64 = 1 << 30;
pub(super) const SEEKS: u64 = 8192;
pub(super) const SEEKERS: u32 = 5;
const FILE_MIB: u64 = 300;
const BYTE_MIB: u64 = 3;

pub(super) const GRAMMAR: Grammar<BonnieOptions> = Grammar {
    letters: LetterSyntax::Joined,
    unknown: |it| match it.word.starts_with('-') && it.word.len() > 1 {
        true => unknown_option_message(it.name),
        false => format!("`{}` is not an option", it.word),
    },
    ..Grammar::new(OPTIONS, |it| &mut it.ignored)
};

const OPTIONS: &[OptionRow<BonnieOptions>] = &[
    flag("-b", |it| &mut it.is_synced),
    flag("-D", |it| &mut it.is_direct),
    attached("-f", |it, value| {
        // As in the original, `-f` without a size skips the phases of single bytes.
        it.per_char_mib = value.map_or(Ok(0), WrittenValue::number)?;
        Ok(())
    }),
    text("-d", |it| &mut it.directory),
    text("-m", |it| it.name.get_or_insert_default()),
    text("-s", |it| it.size.get_or_insert_default()),
    read("-z", |it, value| {
        // The original truncates the seed to 32 bits.
        it.seed = Some(value.number::<u64>()? as u32);
        it.random_file = None;
        Ok(())
    }),
    text("-Z", |it| it.random_file.insert(String::new())),
    read("-r", |it, value| {
        it.set_memory(value.number()?);
        Ok(())
    }),
    // Version 2.00a runs one process; the value only counts in its memory check and in the output.
    read("-c", |it, value| {
        it.concurrency = value.limited(1, 200)? as u32;
        Ok(())
    }),
    read("-x", |it, value| {
        // As in the original, -1 is the default, and 0 does nothing.
        it.runs = match value.number_within(-1, 1000)? {
            -1 => None,
            runs => Some(runs as u32),
        };
        Ok(())
    }),
    read("-n", |it, value| {
        it.files = files(value)?;
        Ok(())
    }),
    flag("-q", |it| &mut it.is_quiet),
    // The original requires `-u` from root, so scripts pass it. pgmeter does not change its user.
    read("-u", |it, value| {
        it.ignored.push("-u".to_owned());
        it.user = Some(value.text.to_owned());
        Ok(())
    }),
    read("-g", |it, value| {
        it.ignored.push("-g".to_owned());
        it.group = Some(value.text.to_owned());
        Ok(())
    }),
    read("-p", |it, value| {
        // As in the original, 0 is the same as no `-p`.
        it.processes = Some(value.number_within(-1, PROCESSES_MAX)?).filter(|it| *it != 0);
        Ok(())
    }),
    read("-y", |it, value| {
        it.waiting = Some(match value.text.chars().next() {
            Some('s' | 'S') => PhaseWait::Semaphores,
            Some('p' | 'P') => PhaseWait::Prompt,
            _ => return Err(value.not("`s` for semaphores or `p` for prompts")),
        });
        Ok(())
    }),
    // The original reads it and does nothing with it.
    idle_value("-l"),
];

impl BonnieOptions {
    pub(super) fn seed(&self) -> u32 {
        self.seed.unwrap_or(SEED)
    }

    /// Name of the machine.
    pub(super) fn machine(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// Source of the random choices, as the original prints it: a seed or a file.
    pub(super) fn seed_name(&self) -> String {
        let file = self.random_file.as_ref();
        // A comma or line break would shift all fields after the name.
        file.map_or_else(
            || self.seed().to_string(),
            |it| it.replace([',', '\n'], " "),
        )
    }

    /// Reads the arguments, as `getopt` does.
    pub(super) fn read(arguments: &[String], memory_bytes: u64) -> Result<Self, String> {
        let mut start = Self {
            directory: ".".to_owned(),
            concurrency: 1,
            chunk_bytes: CHUNK_BYTES,
            seeks: SEEKS,
            seekers: SEEKERS,
            per_char_mib: BYTE_MIB,
            files: FilePhases {
                thousands: 16,
                ..FilePhases::NONE
            },
            ..Self::default()
        };
        // Before the arguments, so that `-r` replaces it.
        start.set_memory(memory_bytes >> 20);
        let mut options = GRAMMAR.read(arguments, start)?;
        let both = options.processes.is_some() && options.waiting.is_some();
        rule_out(&[(both, "`-p` and `-y` exclude each other")])?;
        if options.processes.is_some() {
            return Ok(options);
        }
        // `-s` is read last, because its check needs options that may follow it.
        let size = options.size.take();
        let size = size.as_deref().map(|text| WrittenValue::of("-s", text));
        options.resolve(size)?;
        Ok(options)
    }

    /// Sets the memory size and the default file size, which is twice that.
    fn set_memory(&mut self, ram_mib: u64) {
        self.ram_mib = ram_mib;
        self.file_mib = FILE_MIB.max(ram_mib.saturating_mul(2));
    }

    /// `MiB[:chunk[:seeks[:seekers]]]`.
    fn read_size_parts(&mut self, value: &WrittenValue<'_>) -> Result<(), String> {
        let mut parts = value.text.split(':').map(|text| value.part(text));
        let size =
            |part: &WrittenValue<'_>, unit| bytes(part.text, unit).ok_or_else(|| part.not_size());
        if let Some(part) = parts.next() {
            let bytes = size(&part, 1 << 20)?;
            // A size of 0 MiB would skip all phases of the file.
            if (1..1 << 20).contains(&bytes) {
                let message = "less than 1 MiB; `-s 0` skips the phases of the large file";
                return Err(format!("`-s` is {}, {message}", part.shown()));
            }
            self.file_mib = bytes >> 20;
        }
        let mut part = || parts.next().filter(|it| !it.text.is_empty());
        if let Some(part) = part() {
            self.chunk_bytes = size(&part, 1)?;
        }
        if let Some(part) = part() {
            self.seeks = part.limited(1, 1 << 26)?;
        }
        if let Some(part) = part() {
            self.seekers = part.limited(1, 1000)? as u32;
        }
        match parts.next() {
            None => Ok(()),
            Some(_) => Err("`-s` has more than four parts".to_owned()),
        }
    }

    /// Applies `-s` or its default, and checks options that depend on the size.
    fn resolve(&mut self, size: Option<WrittenValue<'_>>) -> Result<(), String> {
        match size {
            Some(size) => self.read_size_parts(&size)?,
            // The original rounds such a default size up to whole gibibytes.
            None if self.file_mib % 1024 > 512 => {
                let rounded = self.file_mib.checked_next_multiple_of(1024);
                self.file_mib = rounded.unwrap_or(self.file_mib);
            }
            None => {}
        }
        let is_power = self.chunk_bytes.is_power_of_two();
        if !is_power || !(256..=1 << 20).contains(&self.chunk_bytes) {
            return Err("a chunk of `-s` must be a power of 2 from 256 bytes to 1 MiB".to_owned());
        }
        // A program's files have at most 1 TiB.
        if self.file_mib > 1 << 20 {
            return Err("files of more than 1 TiB are not supported".to_owned());
        }
        // As in the original, these phases never move more bytes than the file has.
        self.per_char_mib = self.per_char_mib.min(self.file_mib);
        let files_mib = self.file_mib.saturating_mul(self.concurrency.into());
        if self.file_mib > 0 && files_mib < self.ram_mib.saturating_mul(2) {
            return Err(format!(
                "the file of {} MiB is less than twice the memory of {} MiB; `-r 0` allows it",
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
fn files(value: &WrittenValue<'_>) -> Result<FilePhases, String> {
    let mut parts = value.text.split(':');
    let mut part = || {
        parts
            .next()
            .filter(|it| !it.is_empty())
            .map(|it| value.part(it))
    };
    let thousands = part().unwrap_or(value.part(""));
    let mut files = FilePhases {
        thousands: thousands.limited(0, THOUSANDS_MAX)? as u32,
        ..FilePhases::NONE
    };
    match part() {
        None => {}
        Some(max) => match max.text {
            // The original takes negative sizes, too, for hard and symbolic links.
            "-1" | "link" => files.kind = FileKind::Links,
            "-2" | "symlink" => files.kind = FileKind::Symlinks,
            _ => files.max_bytes = max.size()?,
        },
    }
    if let Some(min) = part() {
        files.min_bytes = min.size()?;
    }
    if let Some(count) = part() {
        files.directories = count.limited(1, 65_536)? as u32;
    }
    if let Some(chunk) = part() {
        files.chunk_bytes = chunk.size()?;
    }
    let option = format!("`{} {}`", value.option, value.shown());
    if parts.next().is_some() {
        return Err(format!("{option} has more than five parts"));
    }
    let (max, min) = (files.max_bytes, files.min_bytes);
    if files.kind == FileKind::Files && min > max {
        let parts: Vec<&str> = value.text.split(':').collect();
        let mut swapped = parts.clone();
        swapped.swap(1, 2);
        return Err(format!(
            "{option}: the largest size `{}` is below the smallest `{}`; write `-n {}`",
            parts[1],
            parts[2],
            swapped.join(":")
        ));
    }
    if max > FILE_BYTES_MAX {
        return Err(format!(
            "{option}: files of more than 1 GiB are not supported"
        ));
    }
    within("-n", files.chunk_bytes, 256, 1 << 20)?;
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<BonnieOptions, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        BonnieOptions::read(&words, 1 << 30)
    }

    #[test]
    fn the_default_file_size_follows_from_the_memory_size() {
        let options = read("").unwrap();
        assert_eq!((options.file_mib, options.per_char_mib), (2048, 3));
        assert_eq!(read("-r 900").unwrap().file_mib, 2048);
        assert_eq!(read("-r 100").unwrap().file_mib, 300);
        assert_eq!(read("-s 4g -f").unwrap().per_char_mib, 0);
        assert_eq!(read("-s 1 -r 0 -f5").unwrap().per_char_mib, 1);
    }

    #[test]
    fn the_parts_of_size_and_file_count_options_are_parsed() {
        let options = read("-r 0 -s 8m:4k:100:2 -n 1:4096:1024:2:512 -bD -x 3 -z 7 -mx").unwrap();
        assert_eq!(
            (options.file_mib, options.chunk_bytes, options.seeks),
            (8, 4096, 100)
        );
        assert_eq!(
            (options.seekers, options.runs, options.seed),
            (2, Some(3), Some(7))
        );
        let files = FilePhases {
            thousands: 1,
            kind: FileKind::Files,
            max_bytes: 4096,
            min_bytes: 1024,
            directories: 2,
            chunk_bytes: 512,
        };
        assert_eq!(options.files, files);
        assert_eq!(options.name.as_deref(), Some("x"));
        assert!(options.is_synced && options.is_direct);
        for (line, kind) in [
            ("-n 2:-1", FileKind::Links),
            ("-n 2:link", FileKind::Links),
            ("-n 2:-2", FileKind::Symlinks),
            ("-n 2:symlink", FileKind::Symlinks),
        ] {
            assert_eq!(read(line).unwrap().files.kind, kind, "{line}");
        }
    }

    #[test]
    fn unsupported_options_are_refused_by_name() {
        for (line, wanted) in [
            (
                "-r 0 -s 8m:3k",
                "a chunk of `-s` must be a power of 2 from 256 bytes to 1 MiB",
            ),
            (
                "-s 8m",
                "the file of 8 MiB is less than twice the memory of 1024 MiB; `-r 0` allows it",
            ),
            (
                "-r 0 -s 512k",
                "`-s` is 512k, less than 1 MiB; `-s 0` skips the phases of the large file",
            ),
            (
                "-r 0 -s 0 -n 0",
                "with `-s 0` and `-n 0` there is nothing to do",
            ),
            ("-p 2 -y s", "`-p` and `-y` exclude each other"),
            ("-p -2", "`-p -2` is not a number from -1 to 32767"),
            (
                "-y x",
                "`-y x` is not `s` for semaphores or `p` for prompts",
            ),
            ("-c 300", "`-c` is 300, not from 1 to 200"),
            ("-k", "there is no option `-k`"),
            ("-s", "option `-s` needs a value"),
            (
                "-n 1:1:2",
                "`-n 1:1:2`: the largest size `1` is below the smallest `2`; write `-n 1:2:1`",
            ),
            (
                "-n 1:2g",
                "`-n 1:2g`: files of more than 1 GiB are not supported",
            ),
            (
                "-n 1:2:1:1:512:9",
                "`-n 1:2:1:1:512:9` has more than five parts",
            ),
            (
                "-r 0 -s 1q",
                "`-s 1q` is not a number with an optional unit: `k`, `m`, `g` or `t`",
            ),
            (
                "-f x",
                "`x` is not an option; if it is the value of `-f`, write `-fx`",
            ),
            ("x", "`x` is not an option"),
        ] {
            assert_eq!(read(line).unwrap_err(), wanted, "{line}");
        }
    }

    #[test]
    fn options_for_several_processes_need_no_sizes() {
        // The default file would be too small for the memory.
        let options = read("-p 3").unwrap();
        assert_eq!((options.processes, options.waiting), (Some(3), None));
        assert_eq!(read("-p -1").unwrap().processes, Some(-1));
        assert_eq!(read("-p 0").unwrap().processes, None);
        let waiting = |line: &str| read(line).unwrap().waiting;
        assert_eq!(waiting("-ys"), Some(PhaseWait::Semaphores));
        assert_eq!(waiting("-y Prompt"), Some(PhaseWait::Prompt));
    }

    #[test]
    fn the_last_source_of_random_numbers_counts() {
        let files = |line: &str| read(line).unwrap().random_file;
        assert_eq!(files("-z 1 -Z x -Z y").as_deref(), Some("y"));
        assert_eq!(files("-Z x -z 1"), None);
        assert_eq!(read("-x -1").unwrap().runs, None);
        assert_eq!(read("-x 0").unwrap().runs, Some(0));
    }
}
