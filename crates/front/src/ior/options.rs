//! The command line, and the directives of `-O`.

use std::path::{Path, PathBuf};

use crate::acts;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    pub block_bytes: u64,
    pub transfer_bytes: u64,
    pub segments: u64,
    pub ranks: u32,
    pub file: String,
    pub has_file_per_rank: bool,
    pub has_directory_per_rank: bool,
    pub writes: bool,
    pub reads: bool,
    pub repetitions: u32,
    pub delay_seconds: u32,
    pub stonewall_seconds: u32,
    pub wears_out: bool,
    pub is_synced: bool,
    pub is_each_synced: bool,
    pub is_direct: bool,
    pub is_random: bool,
    /// Whether each rank reads what another wrote.
    pub is_shifted: bool,
    /// The rank so many further on.
    pub shift_asked: u32,
    pub has_barriers: bool,
    pub number: u32,
    /// Options that change nothing.
    pub without_effect: Vec<String>,
}

/// An option: its letter, its directive, whether it takes a value.
struct OptionRow {
    letter: char,
    directive: &'static str,
    has_value: bool,
    set: Effect,
}

/// What becomes of one.
enum Effect {
    Done(fn(&mut Options, &str) -> Option<()>),
    /// Files are reached by one interface only.
    Interface,
    /// It is understood, and changes nothing here.
    Ignored,
    /// What the original does and we do not.
    Refused(&'static str),
}

const fn done(
    letter: char,
    directive: &'static str,
    set: fn(&mut Options, &str) -> Option<()>,
) -> OptionRow {
    OptionRow {
        letter,
        directive,
        has_value: true,
        set: Effect::Done(set),
    }
}

const fn flag(
    letter: char,
    directive: &'static str,
    set: fn(&mut Options, &str) -> Option<()>,
) -> OptionRow {
    OptionRow {
        has_value: false,
        ..done(letter, directive, set)
    }
}

const fn idle(letter: char, directive: &'static str, has_value: bool) -> OptionRow {
    OptionRow {
        letter,
        directive,
        has_value,
        set: Effect::Ignored,
    }
}

const fn refused(
    letter: char,
    directive: &'static str,
    has_value: bool,
    what: &'static str,
) -> OptionRow {
    OptionRow {
        letter,
        directive,
        has_value,
        set: Effect::Refused(what),
    }
}

/// For options that are directives only.
const NO_LETTER: char = ' ';

const OPTIONS: &[OptionRow] = &[
    OptionRow {
        letter: 'a',
        directive: "api",
        has_value: true,
        set: Effect::Interface,
    },
    done('A', "refNum", |it, value| put(&mut it.number, value)),
    done('b', "blockSize", |it, value| {
        put_size(&mut it.block_bytes, value)
    }),
    flag('B', "useO_DIRECT", |it, value| {
        put_flag(&mut it.is_direct, value)
    }),
    flag('C', "reorderTasksConstant", |it, value| {
        put_flag(&mut it.is_shifted, value)
    }),
    done('d', "interTestDelay", |it, value| {
        put(&mut it.delay_seconds, value)
    }),
    done('D', "deadlineForStonewalling", |it, value| {
        put(&mut it.stonewall_seconds, value)
    }),
    flag('e', "fsync", |it, value| put_flag(&mut it.is_synced, value)),
    flag('F', "filePerProc", |it, value| {
        put_flag(&mut it.has_file_per_rank, value)
    }),
    flag('g', "intraTestBarriers", |it, value| {
        put_flag(&mut it.has_barriers, value)
    }),
    done('i', "repetitions", |it, value| {
        put(&mut it.repetitions, value)
    }),
    done('N', "numTasks", |it, value| put(&mut it.ranks, value)),
    done('o', "testFile", |it, value| {
        value.clone_into(&mut it.file);
        Some(())
    }),
    done('Q', "taskPerNodeOffset", |it, value| {
        put(&mut it.shift_asked, value)
    }),
    flag('r', "readFile", |it, value| put_flag(&mut it.reads, value)),
    done('s', "segmentCount", |it, value| {
        put_size(&mut it.segments, value)
    }),
    done('t', "transferSize", |it, value| {
        put_size(&mut it.transfer_bytes, value)
    }),
    flag('u', "uniqueDir", |it, value| {
        put_flag(&mut it.has_directory_per_rank, value)
    }),
    flag('w', "writeFile", |it, value| {
        put_flag(&mut it.writes, value)
    }),
    flag('Y', "fsyncPerWrite", |it, value| {
        put_flag(&mut it.is_each_synced, value)
    }),
    flag('z', "randomOffset", |it, value| {
        put_flag(&mut it.is_random, value)
    }),
    flag(NO_LETTER, "stoneWallingWearOut", |it, value| {
        put_flag(&mut it.wears_out, value)
    }),
    idle('c', "collective", false),
    idle('E', "useExistingTestFile", false),
    idle('G', "setTimeStampSignature", true),
    idle('H', "showHints", false),
    idle('j', "outlierThreshold", true),
    idle('J', "setAlignment", true),
    idle('k', "keepFile", false),
    idle('K', "keepFileWithError", false),
    idle('l', "dataPacketType", true),
    idle('n', "noFill", false),
    idle('p', "preallocate", false),
    idle('q', "quitOnError", false),
    idle('U', "hintsFileName", true),
    idle('v', "verbose", false),
    idle('V', "useFileView", false),
    idle('x', "singleXferAttempt", false),
    idle('X', "reorderTasksRandomSeed", true),
    refused('f', "scriptFile", true, "reads tests from a file"),
    refused('I', "individualDataSets", false, "is for HDF5"),
    refused(
        'm',
        "multiFile",
        false,
        "leaves the files of all repetitions",
    ),
    refused('M', "memoryPerNode", true, "takes memory away"),
    refused('P', "useSharedFilePointer", false, "is for MPI-IO"),
    refused('R', "checkRead", false, "checks what was read"),
    refused('S', "useStridedDatatype", false, "is for MPI-IO"),
    refused(
        'T',
        "maxTimeDuration",
        true,
        "leaves out what comes behind a time",
    ),
    refused('W', "checkWrite", false, "checks what was written"),
    refused(
        'Z',
        "reorderTasksRandom",
        false,
        "has ranks read from others by chance",
    ),
    refused(NO_LETTER, "summaryFormat", true, "prints another form"),
    refused(NO_LETTER, "summaryFile", true, "prints to a file"),
    refused(NO_LETTER, "memoryPerTask", true, "takes memory away"),
    refused(NO_LETTER, "interIODelay", true, "pauses between transfers"),
];

impl Options {
    fn new() -> Self {
        Self {
            block_bytes: 1 << 20,
            transfer_bytes: 256 << 10,
            segments: 1,
            ranks: 1,
            file: "testFile".to_owned(),
            has_file_per_rank: false,
            has_directory_per_rank: false,
            writes: false,
            reads: false,
            repetitions: 1,
            delay_seconds: 0,
            stonewall_seconds: 0,
            wears_out: false,
            is_synced: false,
            is_each_synced: false,
            is_direct: false,
            is_random: false,
            is_shifted: false,
            shift_asked: 1,
            has_barriers: false,
            number: 0,
            without_effect: Vec::new(),
        }
    }

    /// Reads the arguments.
    ///
    /// # Errors
    /// An option that is not known, or not done here; values that do not go together.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self::new();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-h" => return Err(String::new()),
                "--posix.odirect" => options.is_direct = true,
                _ => options.word(word, &mut words)?,
            }
        }
        options.complete()?;
        Ok(options)
    }

    /// Flags may be joined, and a value to its option.
    fn word<'a>(
        &mut self,
        word: &str,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), String> {
        let unknown = || format!("there is no option `{}`", word.escape_default());
        let letters = word.strip_prefix('-').filter(|it| !it.is_empty());
        let mut letters = letters.ok_or_else(unknown)?.chars();
        while let Some(letter) = letters.next() {
            let is_directives = letter == 'O';
            let known = OPTIONS.iter().find(|it| it.letter == letter);
            let known = known.filter(|it| it.letter != NO_LETTER);
            if !is_directives && known.is_none() {
                return Err(unknown());
            }
            if known.is_some_and(|it| !it.has_value) {
                known.map_or(Ok(()), |it| self.apply(it, &format!("-{letter}"), "1"))?;
                continue;
            }
            let joined = letters.as_str();
            let joined = joined.strip_prefix('=').unwrap_or(joined);
            let value = match joined {
                "" => rest.next().map(String::as_str),
                joined => Some(joined),
            };
            let value = value.ok_or_else(|| format!("option `-{letter}` lacks its value"))?;
            return match known {
                Some(known) => self.apply(known, &format!("-{letter}"), value),
                None => value.split(',').try_for_each(|it| self.directive(it)),
            };
        }
        Ok(())
    }

    /// `key=value`, in letters of any case.
    fn directive(&mut self, text: &str) -> Result<(), String> {
        let shown = text.escape_default();
        let Some((key, value)) = text.split_once('=') else {
            return Err(format!("`-O {shown}` is not `KEY=VALUE`"));
        };
        let mut known = OPTIONS.iter();
        let known = known.find(|it| it.directive.eq_ignore_ascii_case(key.trim()));
        let known = known.ok_or_else(|| format!("there is no directive `{shown}`"))?;
        self.apply(known, known.directive, value.trim())
    }

    fn apply(&mut self, option: &OptionRow, shown: &str, value: &str) -> Result<(), String> {
        let seen = value.escape_default();
        match option.set {
            Effect::Done(set) => {
                set(self, value).ok_or_else(|| format!("`{shown} {seen}` is not a number"))
            }
            Effect::Interface if value.eq_ignore_ascii_case("posix") => Ok(()),
            Effect::Interface => Err(format!(
                "the interface `{seen}` is not POSIX, the only one here"
            )),
            Effect::Ignored => {
                self.without_effect.push(shown.to_owned());
                Ok(())
            }
            Effect::Refused(what) => Err(format!("`{shown}` {what}, which is not done here")),
        }
    }

    fn complete(&mut self) -> Result<(), String> {
        if !self.writes && !self.reads {
            (self.writes, self.reads) = (true, true);
        }
        for (name, value) in [
            ("-b", self.block_bytes),
            ("-t", self.transfer_bytes),
            ("-s", self.segments),
            ("-N", self.ranks.into()),
            ("-i", self.repetitions.into()),
        ] {
            if value == 0 {
                return Err(format!("`{name}` is 0, and must be at least 1"));
            }
        }
        if !self.block_bytes.is_multiple_of(self.transfer_bytes) {
            return Err("block size must be a multiple of transfer size".to_owned());
        }
        // Only files of their own have directories of their own.
        self.has_directory_per_rank &= self.has_file_per_rank;
        if self.is_random && !self.has_file_per_rank {
            let message = "random places in a file that ranks share are not done here; add `-F`";
            return Err(message.to_owned());
        }
        if self.stonewall_seconds > 0 && self.reads {
            let message = "`-D` with what is read is not done here; add `-w`";
            return Err(message.to_owned());
        }
        if self.file_name().is_empty() || self.file_name().contains('@') {
            let message = format!("`-o {}` is not one file", self.file.escape_default());
            return Err(message);
        }
        let bytes = self
            .rank_bytes()
            .and_then(|it| it.checked_mul(self.ranks.into()));
        match bytes {
            Some(bytes) if bytes <= i64::MAX as u64 => Ok(()),
            _ => Err("the files have more bytes than 63 bits can number".to_owned()),
        }
    }

    fn rank_bytes(&self) -> Option<u64> {
        self.block_bytes.checked_mul(self.segments)
    }

    /// By how many ranks on each reads.
    pub(super) const fn shift(&self) -> u32 {
        match self.is_shifted {
            true => self.shift_asked % self.ranks,
            false => 0,
        }
    }

    /// Bytes that each rank writes.
    pub(super) fn bytes_of_rank(&self) -> u64 {
        self.rank_bytes().unwrap_or(0)
    }

    /// The last part of the file's path.
    pub(super) fn file_name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or_default()
    }

    /// Where the file lies.
    pub(super) fn directory(&self) -> PathBuf {
        let parent = Path::new(&self.file).parent();
        let parent = parent.filter(|it| !it.as_os_str().is_empty());
        parent.unwrap_or(Path::new(".")).to_owned()
    }
}

fn put(to: &mut u32, value: &str) -> Option<()> {
    *to = value.parse().ok()?;
    Some(())
}

fn put_size(to: &mut u64, value: &str) -> Option<()> {
    *to = acts::size(value, 1)?;
    Some(())
}

fn put_flag(to: &mut bool, value: &str) -> Option<()> {
    *to = value.parse::<u32>().ok()? != 0;
    Some(())
}
