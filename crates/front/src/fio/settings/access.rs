//! Direction, blocks, places, order.

use super::super::values::{BlockShare, Distribution};
use super::{Amount, ByDirection};

choices! {
    /// What is done.
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
        /// Trims, each with a write behind it.
        TrimAndWrite = "trimwrite" | "randtrimwrite",
        /// Creates files.
        FileCreate = "filecreate",
        /// Asks for the state of files.
        FileStat = "filestat",
        /// Deletes files.
        FileDelete = "filedelete",
        /// Creates directories.
        DirectoryCreate = "dircreate",
        /// Asks for the state of directories.
        DirectoryStat = "dirstat",
        /// Deletes directories.
        DirectoryDelete = "dirdelete",
    }
}

choices! {
    /// What lies between two places of a run of accesses.
    Sequencer {
        /// The next block.
        #[default]
        Sequential = "sequential",
        /// The same block.
        Identical = "identical",
    }
}

/// Direction and mix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// What is done.
    pub direction: Direction,
    /// Whether places are random.
    pub is_random: bool,
    /// Accesses at a random place before the next one is drawn (`randread:4`); 1 by itself.
    pub run_length: u32,
    /// Bytes left out behind each sequential access (`read:8k`), or back from it if negative.
    pub step_bytes: i64,
    /// Within a run.
    pub sequencer: Sequencer,
    /// Share of reads in a mix.
    pub read_percent: u32,
    /// Random accesses among those that are random, by direction.
    pub random_percent: ByDirection<u32>,
}

impl Default for Access {
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

impl Access {
    /// Whether anything is read but for verification.
    #[must_use]
    pub const fn reads(&self) -> bool {
        matches!(self.direction, Direction::Read | Direction::Mixed)
    }

    /// Whether anything is written.
    #[must_use]
    pub const fn writes(&self) -> bool {
        matches!(
            self.direction,
            Direction::Write | Direction::Mixed | Direction::TrimAndWrite
        )
    }
}

/// Sizes of the requests of a direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockSizes {
    /// One size in bytes.
    Fixed(u64),
    /// Any multiple of the smallest between both, in bytes.
    Range(u64, u64),
    /// Some sizes with their shares of requests.
    Split(Vec<BlockShare>),
}

impl BlockSizes {
    /// The smallest in bytes.
    #[must_use]
    pub fn min(&self) -> u64 {
        match self {
            Self::Fixed(size) => *size,
            Self::Range(low, _) => *low,
            Self::Split(shares) => shares.iter().map(|it| it.size).min().unwrap_or(0),
        }
    }

    /// The largest in bytes.
    #[must_use]
    pub fn max(&self) -> u64 {
        match self {
            Self::Fixed(size) => *size,
            Self::Range(_, high) => *high,
            Self::Split(shares) => shares.iter().map(|it| it.size).max().unwrap_or(0),
        }
    }
}

/// Sizes and alignment of requests. A split prevails over a range, a range over a size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    pub(in crate::fio) fixed: ByDirection<u64>,
    pub(in crate::fio) range: ByDirection<Option<(u64, u64)>>,
    pub(in crate::fio) split: ByDirection<Vec<BlockShare>>,
    /// Alignment of random places in bytes; the smallest size where none is said.
    pub align: ByDirection<Option<u64>>,
    /// Whether sizes of a range need not be multiples of the smallest.
    pub is_unaligned: bool,
    /// Whether sizes of reads are those of sequential requests, and of writes those of random ones.
    pub is_by_order: bool,
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            fixed: ByDirection::all(4096),
            range: ByDirection::default(),
            split: ByDirection::default(),
            align: ByDirection::default(),
            is_unaligned: false,
            is_by_order: false,
        }
    }
}

impl Blocks {
    /// Sizes by direction.
    #[must_use]
    pub fn sizes(&self) -> ByDirection<BlockSizes> {
        let of = |fixed: u64, range: Option<(u64, u64)>, split: &[BlockShare]| match range {
            _ if !split.is_empty() => BlockSizes::Split(split.to_vec()),
            Some((low, high)) if low < high => BlockSizes::Range(low, high),
            Some((size, _)) => BlockSizes::Fixed(size),
            None => BlockSizes::Fixed(fixed),
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
    /// How files are divided into zones.
    ZoneMode {
        /// Not at all.
        #[default]
        None = "none",
        /// As strides.
        Strided = "strided",
        /// As zones of a zoned device.
        Zoned = "zbd",
    }
}

/// Where in files, and how much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// Of all files of a clone together; all that is there where none is said.
    pub size: Option<Amount>,
    /// What is moved, where that is not the size.
    pub io_size: Option<Amount>,
    /// The least and the most size of one file in bytes.
    pub file_size: Option<(u64, u64)>,
    /// Where work begins.
    pub offset: Amount,
    /// So much further for each clone.
    pub offset_increment: Amount,
    /// What offsets by percent are cut to; 0 for the smallest block.
    pub offset_align: u64,
    /// Begins at the end of files.
    pub is_appending: bool,
    /// Writes until there is no room.
    pub fills_device: bool,
    /// Ends behind so many requests; 0 for never.
    pub request_count: u64,
    /// How files are divided.
    pub zone_mode: ZoneMode,
    /// Bytes used of each zone.
    pub zone_size: u64,
    /// Bytes from one zone to the next.
    pub zone_range: u64,
    /// Bytes left out behind each zone.
    pub zone_skip: Amount,
}

impl Default for Space {
    fn default() -> Self {
        Self {
            size: None,
            io_size: None,
            file_size: None,
            offset: Amount::ZERO,
            offset_increment: Amount::ZERO,
            offset_align: 0,
            is_appending: false,
            fills_device: false,
            request_count: 0,
            zone_mode: ZoneMode::None,
            zone_size: 0,
            zone_range: 0,
            zone_skip: Amount::ZERO,
        }
    }
}

choices! {
    /// Where random numbers come from.
    RandomGenerator {
        /// Tausworthe's, of 32 bits.
        #[default]
        Tausworthe = "tausworthe",
        /// A shift register that meets every block once without a map.
        Lfsr = "lfsr",
        /// Tausworthe's, of 64 bits.
        Tausworthe64 = "tausworthe64",
    }
}

/// In which order random places are met.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// Whether blocks are met again before all were.
    pub is_with_replacement: bool,
    /// Where random numbers come from.
    pub generator: RandomGenerator,
    /// How often places are visited.
    pub distribution: Distribution,
    /// Whether each run has the same order.
    pub is_repeatable: bool,
    /// The seed that is said.
    pub seed: Option<u64>,
}

impl Default for Order {
    fn default() -> Self {
        Self {
            is_with_replacement: false,
            generator: RandomGenerator::default(),
            distribution: Distribution::Uniform,
            is_repeatable: true,
            seed: None,
        }
    }
}
