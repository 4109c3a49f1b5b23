//! Direction, block sizes, offsets and order of requests.

use super::super::values::{BlockShare, RandomDistribution};
use super::{ByDirection, SizeAmount};

choices! {
    /// Operations of a job.
    Direction {
        /// Reads.
        #[default]
        Read = "read" | "randread",
        /// Writes.
        Write = "write" | "randwrite",
        /// Trims.
        Trim = "trim" | "randtrim",
        /// Reads and writes.
        Mixed = "rw" | "readwrite" | "randrw",
        /// Trims, each followed by a write.
        TrimAndWrite = "trimwrite" | "randtrimwrite",
        /// Creates files.
        FileCreate = "filecreate",
        /// Calls stat on files.
        FileStat = "filestat",
        /// Deletes files.
        FileDelete = "filedelete",
        /// Creates directories.
        DirectoryCreate = "dircreate",
        /// Calls stat on directories.
        DirectoryStat = "dirstat",
        /// Deletes directories.
        DirectoryDelete = "dirdelete",
    }
}

choices! {
    /// Offsets within a run of accesses.
    Sequencer {
        /// The next block.
        #[default]
        Sequential = "sequential",
        /// The same block.
        Identical = "identical",
    }
}

/// Direction and mix of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessSettings {
    /// Operations of the job.
    pub direction: Direction,
    /// `true` if offsets are random.
    pub is_random: bool,
    /// Accesses before the next random offset is drawn (`randread:4`); 1 by default.
    pub run_length: u32,
    /// Bytes to skip after each sequential access (`read:8k`); negative to go back.
    pub step_bytes: i64,
    /// Offsets within a run.
    pub sequencer: Sequencer,
    /// Share of reads in mixed requests, in percent.
    pub read_percent: u32,
    /// Share of random requests in a random job, in percent, by direction.
    pub random_percent: ByDirection<u32>,
}

impl Default for AccessSettings {
    fn default() -> Self {
        Self {
            direction: Direction::default(),
            is_random: false,
            run_length: 1,
            step_bytes: 0,
            sequencer: Sequencer::default(),
            read_percent: 50,
            random_percent: ByDirection::all(100),
        }
    }
}

impl AccessSettings {
    /// `true` if the job reads for other purposes than verification.
    #[must_use]
    pub const fn reads(&self) -> bool {
        matches!(self.direction, Direction::Read | Direction::Mixed)
    }

    /// `true` if the job trims.
    #[must_use]
    pub const fn trims(&self) -> bool {
        matches!(self.direction, Direction::Trim | Direction::TrimAndWrite)
    }

    /// `true` if the job writes.
    #[must_use]
    pub const fn writes(&self) -> bool {
        matches!(
            self.direction,
            Direction::Write | Direction::Mixed | Direction::TrimAndWrite
        )
    }
}

/// Request sizes of one direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobBlockSizes {
    /// One size in bytes.
    Fixed(u64),
    /// Any multiple of the smallest size, up to the largest, in bytes.
    Range(u64, u64),
    /// Several sizes, each with its share of the requests.
    Split(Vec<BlockShare>),
}

impl JobBlockSizes {
    /// Smallest size in bytes.
    #[must_use]
    pub fn min(&self) -> u64 {
        match self {
            Self::Fixed(size) => *size,
            Self::Range(low, _) => *low,
            Self::Split(shares) => shares.iter().map(|it| it.size).min().unwrap_or(0),
        }
    }

    /// Largest size in bytes.
    #[must_use]
    pub fn max(&self) -> u64 {
        match self {
            Self::Fixed(size) => *size,
            Self::Range(_, high) => *high,
            Self::Split(shares) => shares.iter().map(|it| it.size).max().unwrap_or(0),
        }
    }
}

/// Sizes and alignment of requests. A split overrides a range, and a range overrides a size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    pub(in crate::fio) fixed: ByDirection<u64>,
    pub(in crate::fio) range: ByDirection<Option<(u64, u64)>>,
    pub(in crate::fio) split: ByDirection<Vec<BlockShare>>,
    /// Alignment of random offsets in bytes; `None` for the smallest size.
    pub align: ByDirection<Option<u64>>,
    /// `true` if sizes of a range need not be multiples of the smallest.
    pub is_unaligned: bool,
    /// `true` if the read size applies to all sequential and the write size to all random requests.
    pub is_seq_rand: bool,
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            fixed: ByDirection::all(4096),
            range: ByDirection::default(),
            split: ByDirection::default(),
            align: ByDirection::default(),
            is_unaligned: false,
            is_seq_rand: false,
        }
    }
}

impl Blocks {
    /// Request sizes by direction.
    #[must_use]
    pub fn sizes(&self) -> ByDirection<JobBlockSizes> {
        let of = |fixed: u64, range: Option<(u64, u64)>, split: &[BlockShare]| match range {
            _ if !split.is_empty() => JobBlockSizes::Split(split.to_vec()),
            Some((low, high)) if low < high => JobBlockSizes::Range(low, high),
            Some((size, _)) => JobBlockSizes::Fixed(size),
            None => JobBlockSizes::Fixed(fixed),
        };
        let (fixed, range, split) = (&self.fixed, &self.range, &self.split);
        ByDirection {
            read: of(fixed.read, range.read, &split.read),
            write: of(fixed.write, range.write, &split.write),
            trim: of(fixed.trim, range.trim, &split.trim),
        }
    }
}

choices! {
    /// Division of files into zones.
    ZoneMode {
        /// No zones.
        #[default]
        None = "none",
        /// Only the first part of each zone is used.
        Strided = "strided",
        /// Zones of a zoned device.
        Zoned = "zbd",
    }
}

/// Where in the files requests go, and how much they transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSpace {
    /// Size of all files of a clone together; `None` for the size of the existing files.
    pub size: Option<SizeAmount>,
    /// Amount to transfer; `None` for `size`.
    pub io_size: Option<SizeAmount>,
    /// Smallest and largest size of a single file in bytes.
    pub file_size: Option<(u64, u64)>,
    /// Start of the part of each file that is used.
    pub offset: SizeAmount,
    /// Distance between the offsets of successive clones.
    pub offset_increment: SizeAmount,
    /// Unit in bytes to which offsets in percent are rounded up; 0 for the smallest block.
    pub offset_align: u64,
    /// `true` if writes start at the end of the files.
    pub is_appending: bool,
    /// `true` if the job writes until no space is left.
    pub fills_device: bool,
    /// Stop after this many requests; 0 for no limit.
    pub request_count: u64,
    /// Division of files into zones.
    pub zone_mode: ZoneMode,
    /// Number of bytes used in each zone.
    pub zone_size: u64,
    /// Size of a zone, in bytes.
    pub zone_range: u64,
    /// Amount skipped after each zone.
    pub zone_skip: SizeAmount,
}

impl Default for FileSpace {
    fn default() -> Self {
        Self {
            size: None,
            io_size: None,
            file_size: None,
            offset: SizeAmount::ZERO,
            offset_increment: SizeAmount::ZERO,
            offset_align: 0,
            is_appending: false,
            fills_device: false,
            request_count: 0,
            zone_mode: ZoneMode::None,
            zone_size: 0,
            zone_range: 0,
            zone_skip: SizeAmount::ZERO,
        }
    }
}

choices! {
    /// Random generator.
    RandomGenerator {
        /// Tausworthe generator with 32 bits.
        #[default]
        Tausworthe = "tausworthe",
        /// Linear-feedback shift register, which visits every block once without a map.
        Lfsr = "lfsr",
        /// Tausworthe generator with 64 bits.
        Tausworthe64 = "tausworthe64",
    }
}

/// Order of random offsets.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomOrder {
    /// `true` if blocks may repeat before all have been visited.
    pub is_with_replacement: bool,
    /// Random generator.
    pub generator: RandomGenerator,
    /// Distribution of random offsets.
    pub distribution: RandomDistribution,
    /// `true` if every run uses the same order.
    pub is_repeatable: bool,
    /// Seed from `randseed`; `None` if not given.
    pub seed: Option<u64>,
}

impl Default for RandomOrder {
    fn default() -> Self {
        Self {
            is_with_replacement: false,
            generator: RandomGenerator::default(),
            distribution: RandomDistribution::Uniform,
            is_repeatable: true,
            seed: None,
        }
    }
}
