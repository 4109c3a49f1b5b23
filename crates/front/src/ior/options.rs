//! The command line, and the directives of `-O`.

use std::path::{Path, PathBuf};

use plan::program::LastingRole;

use crate::options::{
    Grammar, Letters, OptionRow, Value, all_of, at_least, escaped, flag, idle, idle_value,
    is_posix, no_option, number, read, refused, refused_value, rule_out, size, text,
};

/// What is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    /// Whether what was written is read again and compared, untimed.
    pub checks_written: bool,
    /// Whether what is read is compared, within its time.
    pub checks_read: bool,
    pub repetitions: u32,
    pub delay_seconds: u32,
    pub wall_seconds: u32,
    pub wears_out: bool,
    /// Whether what was written stays for later commands.
    pub keeps: bool,
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

const GRAMMAR: Grammar<Options> = Grammar {
    letters: Letters::JoinedByEquals,
    unknown: |it| match it.word {
        "-h" => String::new(),
        word => no_option(&escaped(word)),
    },
    shown: escaped,
    ..Grammar::new(OPTIONS, |it| &mut it.without_effect)
};

/// Letters of options, and their directives.
const OPTIONS: &[OptionRow<Options>] = &[
    read("-O", directives),
    read("-a api", is_posix),
    number("-A refNum", |it| &mut it.number),
    size("-b blockSize", |it| &mut it.block_bytes),
    flag("-B --posix.odirect useO_DIRECT", |it| &mut it.is_direct),
    flag("-C reorderTasksConstant", |it| &mut it.is_shifted),
    number("-d interTestDelay", |it| &mut it.delay_seconds),
    number("-D deadlineForStonewalling", |it| &mut it.wall_seconds),
    flag("-e fsync", |it| &mut it.is_synced),
    flag("-F filePerProc", |it| &mut it.has_file_per_rank),
    flag("-g intraTestBarriers", |it| &mut it.has_barriers),
    number("-i repetitions", |it| &mut it.repetitions),
    flag("-k keepFile", |it| &mut it.keeps),
    number("-N numTasks", |it| &mut it.ranks),
    text("-o testFile", |it| &mut it.file),
    number("-Q taskPerNodeOffset", |it| &mut it.shift_asked),
    flag("-r readFile", |it| &mut it.reads),
    size("-s segmentCount", |it| &mut it.segments),
    size("-t transferSize", |it| &mut it.transfer_bytes),
    flag("-u uniqueDir", |it| &mut it.has_directory_per_rank),
    flag("-w writeFile", |it| &mut it.writes),
    flag("-Y fsyncPerWrite", |it| &mut it.is_each_synced),
    flag("-z randomOffset", |it| &mut it.is_random),
    flag("stoneWallingWearOut", |it| &mut it.wears_out),
    idle("-c collective -E useExistingTestFile -H showHints -K keepFileWithError"),
    idle("-n noFill -p preallocate -q quitOnError -v verbose -V useFileView -x singleXferAttempt"),
    idle_value("-G setTimeStampSignature -j outlierThreshold -J setAlignment -l dataPacketType"),
    idle_value("-U hintsFileName -X reorderTasksRandomSeed"),
    refused("-I individualDataSets", "is for HDF5"),
    refused("-m multiFile", "leaves the files of all repetitions"),
    refused("-P useSharedFilePointer", "is for MPI-IO"),
    flag("-R checkRead", |it| &mut it.checks_read),
    refused("-S useStridedDatatype", "is for MPI-IO"),
    flag("-W checkWrite", |it| &mut it.checks_written),
    refused(
        "-Z reorderTasksRandom",
        "has ranks read from others by chance",
    ),
    refused_value("-f scriptFile", "reads tests from a file"),
    refused_value("-M memoryPerNode memoryPerTask", "takes memory away"),
    refused_value("-T maxTimeDuration", "leaves out what comes behind a time"),
    refused_value("summaryFormat", "prints another form"),
    refused_value("summaryFile", "prints to a file"),
    refused_value("interIODelay", "pauses between transfers"),
];

impl Options {
    /// Reads the arguments.
    ///
    /// # Errors
    /// An option that is not known, or not done here; values that do not go together.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let start = Self {
            block_bytes: 1 << 20,
            transfer_bytes: 256 << 10,
            segments: 1,
            ranks: 1,
            file: "testFile".to_owned(),
            repetitions: 1,
            shift_asked: 1,
            ..Self::default()
        };
        GRAMMAR.read(arguments, start)?.complete()
    }

    fn complete(mut self) -> Result<Self, String> {
        self.reads |= self.checks_read;
        if !self.writes && !self.reads && !self.checks_written {
            (self.writes, self.reads) = (true, true);
        }
        at_least(&[
            ("-b", self.block_bytes, 1),
            ("-t", self.transfer_bytes, 1),
            ("-s", self.segments, 1),
            ("-N", self.ranks.into(), 1),
            ("-i", self.repetitions.into(), 1),
        ])?;
        let is_uneven = !self.block_bytes.is_multiple_of(self.transfer_bytes);
        let uneven = "block size must be a multiple of transfer size";
        let is_drawn = self.is_random && !self.has_file_per_rank;
        let drawn = "random places in a file that ranks share are not done here; add `-F`";
        let is_cut = self.wall_seconds > 0 && (self.reads || self.checks_written);
        let cut = "`-D` with what is read is not done here; add `-w`";
        let is_earlier = self.checks() && !self.writes;
        let earlier = "what is compared was written by the same command; add `-w`";
        rule_out(&[
            (is_uneven, uneven),
            (is_drawn, drawn),
            (is_cut, cut),
            (is_earlier, earlier),
        ])?;
        // Only files of their own have directories of their own.
        self.has_directory_per_rank &= self.has_file_per_rank;
        if self.file_name().is_empty() || self.file_name().contains('@') {
            return Err(format!("`-o {}` is not one file", escaped(&self.file)));
        }
        let bytes = u128::from(self.block_bytes) * u128::from(self.segments);
        match bytes.checked_mul(self.ranks.into()) {
            Some(bytes) if bytes <= i64::MAX as u128 => Ok(self),
            _ => Err("the files have more bytes than 63 bits can number".to_owned()),
        }
    }

    /// Whether anything that is read is compared.
    pub(super) const fn checks(&self) -> bool {
        self.checks_written || self.checks_read
    }

    /// What becomes of files that outlast the command; none where all are its own.
    pub(super) fn lasting(&self) -> Option<LastingRole> {
        match (self.writes, self.keeps) {
            (false, _) => Some(LastingRole::Finds),
            (true, true) => Some(LastingRole::Leaves),
            (true, false) => None,
        }
    }

    /// By how many ranks on each reads.
    pub(super) const fn shift(&self) -> u32 {
        match self.is_shifted {
            true => self.shift_asked % self.ranks,
            false => 0,
        }
    }

    /// Bytes that each rank writes.
    pub(super) const fn bytes_of_rank(&self) -> u64 {
        self.block_bytes * self.segments
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

/// One or several `key=value`, with keys in letters of any case.
fn directives(options: &mut Options, value: &Value<'_>) -> Result<(), String> {
    let read = value.text.split(',').map(|text| directive(options, text));
    // All are read before the first flaw is looked at.
    let flaws: Vec<String> = read.filter_map(Result::err).collect();
    all_of(flaws)
}

fn directive(options: &mut Options, text: &str) -> Result<(), String> {
    let shown = escaped(text);
    let split = text.split_once('=');
    let (key, value) = split.ok_or_else(|| format!("`-O {shown}` is not `KEY=VALUE`"))?;
    let is_it = |it: &&str| !it.starts_with('-') && it.eq_ignore_ascii_case(key.trim());
    let mut known = OPTIONS.iter();
    let known = known.find_map(|row| Some((row, row.names().find(is_it)?)));
    let (row, name) = known.ok_or_else(|| format!("there is no directive `{shown}`"))?;
    GRAMMAR.apply(row, options, name, Some(value.trim()))
}
