//! The command line, and the directives of `-O`.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use plan::program::PersistentRole;

use crate::acts::NS_PER_SECOND;
use crate::options::{
    EqualsSyntax, Grammar, LetterSyntax, OptionRow, WrittenValue, all_of, at_least, escaped, flag,
    idle, idle_value, level, number, posix_or_dummy, read, refused, refused_value, rule_out, size,
    text, unknown_option_message,
};
use crate::random::GlibcRandom;

/// Parsed options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct IorOptions {
    pub block_bytes: u64,
    pub transfer_bytes: u64,
    pub segments: u64,
    pub ranks: u32,
    /// Number of processes, of which more than `ranks` only wait.
    pub processes: u32,
    pub file: String,
    pub has_file_per_rank: bool,
    pub has_directory_per_rank: bool,
    pub writes: bool,
    pub reads: bool,
    /// `true` to read written data again and compare it, without measuring.
    pub checks_written: bool,
    /// `true` to compare all data that is read, within the measured time.
    pub checks_read: bool,
    pub repetitions: u32,
    pub delay_ns: u64,
    pub stonewall_seconds: u32,
    pub wears_out: bool,
    /// Seconds for which each phase repeats its transfers from the beginning; 0 for one pass.
    pub seconds_min: u32,
    /// `true` to keep the written files for later commands.
    pub keeps_files: bool,
    pub is_synced: bool,
    pub syncs_each_write: bool,
    pub is_direct: bool,
    /// 0 for places in order, 1 for random places, each once, 2 for random places that may repeat.
    pub random_level: u32,
    /// `true` if each rank reads the data of another rank.
    pub is_shifted: bool,
    /// 0 for the rank's own file, 1 for the file of a random rank, 2 if these ranks are different.
    pub reorder_level: u32,
    /// `true` if each repetition has its own files.
    pub has_file_per_repetition: bool,
    pub summary_format: SummaryFormat,
    /// File for the output; empty for standard output.
    pub summary_file: String,
    /// Number of ranks between the reader and the writer.
    pub requested_shift: u32,
    pub has_barriers: bool,
    pub ref_number: u32,
    /// `true` for the interface that does no I/O.
    pub is_dummy: bool,
    /// Microseconds that each rank waits after a transfer.
    pub transfer_pause_us: u32,
    /// Microseconds that each rank waits before it opens a file for writing without I/O.
    pub dummy_create_us: u32,
    /// Microseconds that each rank waits before a transfer without I/O.
    pub dummy_transfer_us: u32,
    /// Seed for whose data a rank reads.
    pub reorder_seed: i32,
    /// File with the number of transfers of each rank: written after writes with a time limit,
    /// and a limit for reads. Empty for none.
    pub status_file: String,
    /// Most transfers of each rank in a phase; 0 for no limit.
    pub transfers_max: u32,
    /// File for the times of each rank; empty for none.
    pub rank_file: String,
    /// Minutes after which the original starts no further phase; 0 for no limit.
    pub minutes_max: u32,
    /// Number from which the kept data follows, so that later commands can compare it; 0 for none.
    pub signature: u32,
    /// File with tests; empty for none.
    pub script: String,
    /// Options that have no effect.
    pub without_effect: Vec<String>,
}

/// Form of the output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SummaryFormat {
    #[default]
    Default,
    Json,
    Csv,
}

pub(super) const GRAMMAR: Grammar<IorOptions> = Grammar {
    equals: EqualsSyntax::Long,
    letters: LetterSyntax::JoinedOrEquals,
    unknown: |it| match it.word {
        "-h" => String::new(),
        word => unknown_option_message(&escaped(word)),
    },
    format: escaped,
    ..Grammar::new(OPTIONS, |it| &mut it.without_effect)
};

/// Options by letter, each with its directive for `-O`.
const OPTIONS: &[OptionRow<IorOptions>] = &[
    read("-O", directives),
    read("-a api", |it, value| {
        it.is_dummy = posix_or_dummy(value)?;
        Ok(())
    }),
    number("-A refNum", |it| &mut it.ref_number),
    size("-b blockSize", |it| &mut it.block_bytes),
    flag("-B --posix.odirect useO_DIRECT", |it| &mut it.is_direct),
    flag("-C reorderTasksConstant reorderTasks", |it| {
        &mut it.is_shifted
    }),
    read("-d interTestDelay", delay),
    number("-D deadlineForStonewalling", |it| &mut it.stonewall_seconds),
    flag("-e fsync", |it| &mut it.is_synced),
    flag("-F filePerProc", |it| &mut it.has_file_per_rank),
    flag("-g intraTestBarriers", |it| &mut it.has_barriers),
    number("-i repetitions", |it| &mut it.repetitions),
    flag("-k keepFile", |it| &mut it.keeps_files),
    flag("-m multiFile", |it| &mut it.has_file_per_repetition),
    read("-N numTasks", |it, value| {
        it.ranks = value.number()?;
        // A launcher's number of processes comes first, and a later number may be smaller.
        it.processes = it.processes.max(it.ranks);
        Ok(())
    }),
    text("-o testFile", |it| &mut it.file),
    number("-Q taskPerNodeOffset", |it| &mut it.requested_shift),
    flag("-r readFile", |it| &mut it.reads),
    size("-s segmentCount", |it| &mut it.segments),
    size("-t transferSize", |it| &mut it.transfer_bytes),
    flag("-u uniqueDir", |it| &mut it.has_directory_per_rank),
    flag("-w writeFile", |it| &mut it.writes),
    flag("-Y fsyncPerWrite", |it| &mut it.syncs_each_write),
    level("-z randomOffset", |it| &mut it.random_level),
    level("-Z reorderTasksRandom", |it| &mut it.reorder_level),
    flag("stoneWallingWearOut", |it| &mut it.wears_out),
    idle("-c collective -E useExistingTestFile -H showHints -K keepFileWithError"),
    idle("-n noFill -p preallocate -q quitOnError -v verbose -V useFileView -x singleXferAttempt"),
    number("-G setTimeStampSignature", |it| &mut it.signature),
    idle_value("-j outlierThreshold -J setAlignment -l dataPacketType"),
    // A minus within joined letters.
    idle("--"),
    idle_value("-U hintsFileName"),
    read("-X reorderTasksRandomSeed", |it, value| {
        it.reorder_seed = value.number()?;
        Ok(())
    }),
    number("--dummy.delay-create", |it| &mut it.dummy_create_us),
    number("--dummy.delay-xfer", |it| &mut it.dummy_transfer_us),
    refused("-I individualDataSets", "is for HDF5"),
    refused("-P useSharedFilePointer", "is for MPI-IO"),
    flag("-R checkRead", |it| &mut it.checks_read),
    refused("-S useStridedDatatype", "is for MPI-IO"),
    flag("-W checkWrite", |it| &mut it.checks_written),
    text("-f", |it| &mut it.script),
    refused_value("-M memoryPerNode memoryPerTask", "takes memory away"),
    number("-T maxTimeDuration", |it| &mut it.minutes_max),
    number("minTimeDuration", |it| &mut it.seconds_min),
    refused_value("allocateBufferOnGPU GPUDirect", "keeps buffers in a GPU"),
    refused_value("dualMount", "has two mount points"),
    refused_value("savePerOpDataCSV", "writes a file of each operation"),
    idle_value("GPUid"),
    text("stoneWallingStatusFile", |it| &mut it.status_file),
    number("stoneWallingWearOutIterations", |it| &mut it.transfers_max),
    text("saveRankPerformanceDetailsCSV", |it| &mut it.rank_file),
    idle_value("debug numNodes numTasksOnNode0 platform summaryAlways warningAsErrors"),
    read("summaryFormat", |it, value| {
        it.summary_format = summary_format(value)?;
        Ok(())
    }),
    text("summaryFile", |it| &mut it.summary_file),
    number("interIODelay", |it| &mut it.transfer_pause_us),
];

impl IorOptions {
    /// Parses the arguments, without the values that follow from others.
    ///
    /// # Errors
    /// An option is unknown or not supported.
    pub(super) fn parse(arguments: &[String]) -> Result<Self, String> {
        let start = Self {
            block_bytes: 1 << 20,
            transfer_bytes: 256 << 10,
            segments: 1,
            ranks: 1,
            processes: 1,
            file: "testFile".to_owned(),
            repetitions: 1,
            requested_shift: 1,
            ..Self::default()
        };
        GRAMMAR.read(arguments, start)
    }

    /// Number of ranks if some processes have no work; `None` if all of them have.
    pub(super) fn working_ranks(&self) -> Option<u32> {
        (self.ranks < self.processes).then_some(self.ranks)
    }

    /// Applies directives: `key=value` pairs separated by commas. The case of keys does not matter.
    ///
    /// # Errors
    /// A directive is unknown or not supported, or its value is invalid.
    pub(super) fn direct(&mut self, text: &str) -> Result<(), String> {
        let read = text.split(',').map(|text| directive(self, text));
        // Collecting applies all directives before any error is reported.
        let flaws: Vec<String> = read.filter_map(Result::err).collect();
        all_of(flaws)
    }

    /// Resolves defaults and dependent values.
    ///
    /// # Errors
    /// Values do not fit together.
    pub(super) fn complete(mut self) -> Result<Self, String> {
        self.reads |= self.checks_read;
        // Without any of these options, the original writes and then reads.
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
        let is_shared = !self.has_file_per_rank;
        let is_doubly_ordered = self.is_shifted && self.is_reordered();
        let doubly_ordered = "`-C` and `-Z` both say whose data a rank reads; leave one out";
        let is_moved = is_shared && self.is_random() && (self.is_shifted || self.is_reordered());
        let moved = "`-z` in a shared file already mixes the ranks' data; leave `-C` and `-Z` out";
        let reads_own = self.writes && self.reads && !self.is_dummy;
        // Random writes that the time limit cut short leave nothing at the other positions.
        let rereads = reads_own || self.checks_written;
        let is_cut = self.stonewall_seconds > 0 && rereads && self.is_random();
        let cut = "`-D` with `-z` can limit writes or reads, not both; use `-w` without `-r`";
        let is_ended = self.stonewall_seconds > 0 || self.transfers_max > 0;
        let is_extended = self.seconds_min > 0 && is_ended;
        let extended = "`minTimeDuration` repeats the transfers that `-D` and \
                        `stoneWallingWearOutIterations` end; use only one of them";
        let is_unknown = self.checks() && !self.writes && self.signature == 0 && !self.is_dummy;
        let unknown = "without `-w`, only data that an earlier command wrote with `-G` can be \
                       compared; give both commands the same number, such as `-G 27`";
        rule_out(&[
            (is_uneven, uneven),
            (is_doubly_ordered, doubly_ordered),
            (is_moved, moved),
            (is_cut, cut),
            (is_extended, extended),
            (is_unknown, unknown),
        ])?;
        // Separate directories only exist for separate files.
        self.has_directory_per_rank &= self.has_file_per_rank;
        // IOR separates the paths of several files by `@`.
        if self.file_name().is_empty() || self.file.contains('@') {
            return Err(format!("`-o {}` is not one file", escaped(&self.file)));
        }
        // Offsets are signed 64-bit numbers (`off_t`). The product of two 64-bit numbers always
        // fits into 128 bits.
        let bytes = u128::from(self.block_bytes) * u128::from(self.segments);
        match bytes.checked_mul(self.ranks.into()) {
            Some(bytes) if bytes <= i64::MAX as u128 => Ok(self),
            _ => Err("the files have more bytes than 63 bits can number".to_owned()),
        }
    }

    /// `true` if any data that is read is compared.
    pub(super) const fn checks(&self) -> bool {
        self.checks_written || self.checks_read
    }

    /// `true` if the kept data follows from the signature, instead of being the same in each
    /// transfer.
    pub(super) const fn leaves_known_data(&self) -> bool {
        self.writes && self.keeps_files && self.signature > 0
    }

    /// `true` if reads stop at the end of the data because a time limit may have cut its writing
    /// short.
    pub(super) const fn reads_cut_files(&self) -> bool {
        self.writes && self.stonewall_seconds > 0
    }

    /// Role of files that outlast the command; `None` if the command creates and removes all files.
    pub(super) fn lasting(&self) -> Option<PersistentRole> {
        match (self.writes, self.keeps_files) {
            (false, _) => Some(PersistentRole::Finds),
            _ if self.is_dummy => None,
            (true, true) => Some(PersistentRole::Leaves),
            (true, false) => None,
        }
    }

    /// Text after the name of each file of a repetition, which is a number or a placeholder.
    pub(super) fn name_suffix(&self, repetition: impl Display) -> String {
        match self.has_file_per_repetition {
            true => format!(".{repetition}"),
            false => String::new(),
        }
    }

    /// Name of the interface.
    pub(super) const fn api(&self) -> &'static str {
        match self.is_dummy {
            true => "DUMMY",
            false => "POSIX",
        }
    }

    /// `true` if the places in a file are random.
    pub(super) const fn is_random(&self) -> bool {
        self.random_level > 0
    }

    /// `true` if ranks read the files of random ranks.
    pub(super) const fn is_reordered(&self) -> bool {
        self.reorder_level > 0
    }

    /// `true` if each rank draws whose file it reads, so that several may read the same one.
    pub(super) const fn draws_files(&self) -> bool {
        self.reorder_level == 1 && self.has_file_per_rank
    }

    /// Number of ranks between a rank and the owner of the data that it reads.
    pub(super) fn read_shift(&self) -> u32 {
        match self.is_reordered() && !self.draws_files() {
            // All ranks use the same distance, so that no two of them read the same data.
            true => match self.ranks {
                1 => 0,
                ranks => 1 + GlibcRandom::new(self.reorder_seed.unsigned_abs()).below(ranks - 1),
            },
            false => self.shift(),
        }
    }

    /// Number of ranks that `-C` puts between the reader and the writer; 0 to read one's own data.
    pub(super) const fn shift(&self) -> u32 {
        match self.is_shifted {
            true => self.requested_shift % self.ranks,
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

    /// Directory of the file.
    pub(super) fn directory(&self) -> PathBuf {
        let parent = Path::new(&self.file).parent();
        let parent = parent.filter(|it| !it.as_os_str().is_empty());
        parent.unwrap_or(Path::new(".")).to_owned()
    }
}

fn summary_format(value: &WrittenValue<'_>) -> Result<SummaryFormat, String> {
    match value.text.to_ascii_lowercase().as_str() {
        "default" => Ok(SummaryFormat::Default),
        "json" => Ok(SummaryFormat::Json),
        "csv" => Ok(SummaryFormat::Csv),
        _ => Err(format!(
            "`summaryFormat={}` is not `default`, `JSON` or `CSV`",
            escaped(value.text)
        )),
    }
}

/// Parses a number of seconds, which may have a fraction.
fn delay(options: &mut IorOptions, value: &WrittenValue<'_>) -> Result<(), String> {
    let seconds: f64 = value.number()?;
    if !(0.0..=f64::from(u32::MAX)).contains(&seconds) {
        return Err(value.not("a number of seconds"));
    }
    options.delay_ns = (seconds * NS_PER_SECOND as f64) as u64;
    Ok(())
}

fn directives(options: &mut IorOptions, value: &WrittenValue<'_>) -> Result<(), String> {
    options.direct(value.text)
}

fn directive(options: &mut IorOptions, text: &str) -> Result<(), String> {
    let shown = escaped(text);
    let split = text.split_once('=');
    let (key, value) = split.ok_or_else(|| format!("`-O {shown}` is not `KEY=VALUE`"))?;
    let is_directive = |it: &str| !it.starts_with('-') || it.len() > 2;
    let is_it = |it: &&str| is_directive(it) && it.eq_ignore_ascii_case(key.trim());
    let mut rows = OPTIONS.iter();
    let found = rows.find_map(|row| Some((row, row.names().find(is_it)?)));
    let (row, name) = found.ok_or_else(|| format!("there is no directive `{shown}`"))?;
    // Scripts list all directives, and turn off the ones that they do not use.
    if row.is_inert() && value.trim() == "0" {
        return Ok(());
    }
    GRAMMAR.apply(row, options, name, Some(value.trim()))
}
