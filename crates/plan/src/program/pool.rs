//! Pools of files that transactions create and delete, instead of acts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Group, Program, ProgramPart, ProgramPhase};

/// Maximum number of files of a pool, so that slots can be counted in 31 bits.
pub const POOL_FILES_MAX: u32 = i32::MAX as u32 / 2;
/// Smallest space of a file in bytes; most file systems have blocks of this size.
const BLOCK_BYTES: u64 = 4096;
/// Allowed drift of the number of files from its expected value, in standard deviations.
const DRIFT_SIGMAS: f64 = 3.0;
/// Approximate memory of a slot of a pool's table, in bytes.
const SLOT_BYTES: u64 = 16;

/// A pool of files: created, used by transactions that read or append and create or delete, and
/// removed. All random choices follow from the seed, in the same order in every phase.
///
/// Each worker has its own pool of `number` files and does `transactions` transactions; the seed of
/// worker w is `seed` plus w.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FilePool {
    /// Files created before the transactions, at least 1; twice as many may exist at the same time.
    pub number: u32,
    /// Number of transactions, at least 1; ignored if the phase has a time.
    pub transactions: u32,
    /// Smallest size of a new file in bytes, at least 1.
    pub size_low_bytes: u32,
    /// Upper bound of the size of a new file, exclusive, and the size at which appending stops; not
    /// below `size_low_bytes`. Equal bounds make files of exactly that size.
    pub size_high_bytes: u32,
    /// Directories for the files; empty for the program's own directory.
    pub locations: Vec<PoolLocation>,
    /// Subdirectories in each location; 0 and 1 mean none.
    pub subdirectories: u32,
    /// Bytes of one read, at least 1.
    pub read_block_bytes: u32,
    /// Bytes of one write, at least 1.
    pub write_block_bytes: u32,
    /// `true` to read and write through a buffer, as the C library does.
    pub is_buffered: bool,
    /// Probability, in tenths, that a transaction reads rather than appends; `None` for neither.
    pub read_bias: Option<u8>,
    /// Probability, in tenths, that a transaction creates rather than deletes; `None` for neither.
    pub create_bias: Option<u8>,
    /// Seed of the random numbers, at least 1.
    pub seed: u32,
    /// Random number generator.
    #[serde(default)]
    pub draws: PoolGenerator,
    /// When written data is made durable.
    #[serde(default)]
    pub fsync: Fsync,
    /// Distribution over the files.
    #[serde(default)]
    pub choice: FileChoice,
    /// `true` if the pools of all workers are in the same directories, each file used by the worker
    /// that created it; otherwise each worker has its own directories.
    #[serde(default)]
    pub is_shared: bool,
    /// Maximum number of files that each worker keeps open in its transactions until they are
    /// removed; 0 closes each file after its operation.
    #[serde(default)]
    pub keep_open: u32,
}

/// A directory for files, with its weight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PoolLocation {
    /// Directory as given, which need not be valid text nor exist; records store it as text.
    #[serde(with = "text")]
    #[schemars(with = "String")]
    pub directory: Vec<u8>,
    /// Weight relative to the other locations, at least 1.
    pub weight: u32,
    /// Position of the directory.
    #[serde(default)]
    pub place: PoolBase,
}

/// Position of a pool's location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoolBase {
    /// Below the directory of the program's files.
    #[default]
    Beneath,
    /// The cell's target with this index, from 0.
    Target(u32),
    /// Nowhere: every operation fails.
    Nowhere,
}

impl PoolLocation {
    /// A location below the directory of the program's files.
    #[must_use]
    pub fn beneath(directory: impl Into<Vec<u8>>, weight: u32) -> Self {
        Self {
            directory: directory.into(),
            weight,
            place: PoolBase::Beneath,
        }
    }
}

/// Random number generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoolGenerator {
    /// The example generator of ANSI C, with 15 bits per number.
    #[serde(rename = "congruential-15")]
    Congruential15,
    /// MT19937 with the seeding of 1999.
    #[default]
    #[serde(rename = "twister-1999")]
    Twister1999,
}

/// When written data is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fsync {
    /// Never.
    #[default]
    None,
    /// `fsync` of each written file before it is closed.
    PerFile,
    /// As `per-file`, and `fsync` of the directory after each file that was created or removed.
    PerTransaction,
}

/// Distribution over the files of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum FileChoice {
    /// All files are equally likely.
    #[default]
    Uniform,
    /// Rank r is drawn in proportion to r^-theta; ranks are scattered over the pool.
    Zipf {
        /// Skew, above 0 and not 1.
        theta: f64,
    },
}

/// A part of the life of a pool; the phases have the parts in this order.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PoolPart {
    /// Creates the subdirectories; only if there are any.
    MakeDirectories,
    /// Creates the files.
    Fill,
    /// Runs the transactions.
    Transact,
    /// Removes the remaining files and the subdirectories.
    Empty,
}

impl PoolPart {
    /// Name of its phase; creating directories and files is one phase.
    #[must_use]
    pub const fn phase_name(self) -> &'static str {
        match self {
            Self::MakeDirectories | Self::Fill => "create",
            Self::Transact => "transactions",
            Self::Empty => "delete",
        }
    }
}

impl Default for FilePool {
    fn default() -> Self {
        Self {
            // The defaults of PostMark.
            number: 500,
            transactions: 500,
            size_low_bytes: 500,
            size_high_bytes: 10_000,
            locations: Vec::new(),
            subdirectories: 0,
            read_block_bytes: 512,
            write_block_bytes: 512,
            is_buffered: true,
            read_bias: Some(5),
            create_bias: Some(5),
            seed: 42,
            draws: PoolGenerator::default(),
            fsync: Fsync::default(),
            choice: FileChoice::default(),
            is_shared: false,
            keep_open: 0,
        }
    }
}

impl FilePool {
    /// The sum of the locations' weights.
    #[must_use]
    pub fn weight_sum(&self) -> u64 {
        let weights = self
            .locations
            .iter()
            .map(|location| u64::from(location.weight));
        weights.sum()
    }

    /// `true` if its locations are targets or nowhere. Then one worker has files in all of them,
    /// without a check of free space.
    #[must_use]
    pub fn is_in_targets(&self) -> bool {
        let mut locations = self.locations.iter();
        locations.any(|location| location.place != PoolBase::Beneath)
    }

    /// Subdirectories of each location; 0 if the files are in the location itself.
    #[must_use]
    pub const fn subdirectories_count(&self) -> u32 {
        match self.subdirectories {
            0 | 1 => 0,
            count => count,
        }
    }

    /// Number of directories in all locations; they are numbered consecutively.
    #[must_use]
    pub fn directories_count(&self) -> u64 {
        let subdirectories = u64::from(self.subdirectories).max(1);
        subdirectories.saturating_mul(self.locations.len().max(1) as u64)
    }

    /// Mean size of a new file in bytes.
    #[must_use]
    pub fn mean_bytes(&self) -> u64 {
        (u64::from(self.size_low_bytes) + u64::from(self.size_high_bytes)) / 2
    }

    /// Memory that a worker's pool takes, in bytes: a table of slots, and a text twice as long as
    /// the largest file.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        2 * u64::from(self.size_high_bytes) + 2 * u64::from(self.number) * SLOT_BYTES
    }

    /// Number of transactions after which the pool is expected to be empty or full, and which of
    /// the two; `None` if its size does not drift, or the transactions end before.
    #[must_use]
    pub fn transactions_until_end(&self) -> Option<(u64, PoolEnd)> {
        let tenths = self.create_bias?;
        // The size drifts by a fifth of this per transaction.
        let drift_fifths = u64::from(tenths.abs_diff(5));
        let count = (5 * u64::from(self.number)).checked_div(drift_fifths);
        let count = count.filter(|count| *count < u64::from(self.transactions))?;
        let end = match tenths < 5 {
            true => PoolEnd::Empty,
            false => PoolEnd::Full,
        };
        Some((count, end))
    }

    /// Estimated maximum number of files: the initial number, the expected growth, and three
    /// standard deviations of it; at most the slots of the table.
    ///
    /// Source: a sum of n independent steps of +1 with chance p and -1 otherwise has the mean
    /// n (2p - 1) and the variance 4 n p (1 - p).
    fn file_count_max(&self, transactions: u32) -> u64 {
        let Some(tenths) = self.create_bias else {
            return u64::from(self.number);
        };
        let chance = f64::from(tenths) / 10.0;
        let steps = f64::from(transactions);
        let mean = steps * (2.0 * chance - 1.0);
        let deviation = (4.0 * steps * chance * (1.0 - chance)).sqrt();
        let growth = (mean + DRIFT_SIGMAS * deviation).max(0.0);
        let slots = 2 * u64::from(self.number);
        // Numbers of files are far below 2^53.
        u64::from(self.number)
            .saturating_add(growth.ceil() as u64)
            .min(slots)
    }

    /// Estimated maximum of the bytes that a worker's files take. With `is_endless`, there may be
    /// any number of transactions until the time is up.
    fn space_bytes(&self, is_endless: bool) -> u64 {
        // With any number of transactions, only the slots of the table limit the growth.
        let transactions = if is_endless {
            u32::MAX
        } else {
            self.transactions
        };
        let files = self.file_count_max(transactions);
        let (low, high) = (self.size_low_bytes, self.size_high_bytes);
        let (low, high) = (u64::from(low), u64::from(high));
        // As in PostMark, a file that has reached the upper bound is not appended to.
        let most = files.saturating_mul(high.next_multiple_of(BLOCK_BYTES));
        let mean = (low + high) / 2 + BLOCK_BYTES;
        // A transaction that appends adds at most half of what is missing to the upper bound, on
        // average.
        let append_tenths = self.read_bias.map_or(0, |tenths| 10 - u64::from(tenths));
        let appends = u64::from(transactions) * append_tenths / 10;
        let appended = appends.saturating_mul((high - low) / 2);
        files
            .saturating_mul(mean)
            .saturating_add(appended)
            .min(most)
    }

    /// Amounts in bytes that direct I/O must be able to transfer, with the keys that set them.
    #[must_use]
    pub fn direct_amounts(&self) -> Vec<(&'static str, u64)> {
        let mut sizes = vec![
            ("min_size", u64::from(self.size_low_bytes)),
            ("max_size", u64::from(self.size_high_bytes)),
        ];
        if self.size_low_bytes < self.size_high_bytes {
            // New files have any size in between, and so do the appended amounts.
            sizes.push(("max_size", u64::from(self.size_high_bytes) - 1));
        }
        if !self.is_buffered {
            sizes.push(("read_block", self.read_block_bytes.into()));
            sizes.push(("write_block", self.write_block_bytes.into()));
        }
        sizes
    }

    /// Scales the number of transactions by a factor, and the number of files by its square root.
    /// The random walk of the pool's size grows with the square root of the transactions, and a
    /// pool that runs empty would end them.
    pub(super) fn scaled(&mut self, factor: f64, (files_min, transactions_min): (u32, u32)) {
        let part = |count: u32, factor: f64, least: u32| {
            let scaled = (f64::from(count) * factor).round() as u32;
            scaled.max(least).min(count)
        };
        self.number = part(self.number, factor.sqrt(), files_min);
        self.transactions = part(self.transactions, factor, transactions_min);
    }
}

/// State of a pool that shrinks or grows for long enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolEnd {
    /// No file is left, which ends the transactions.
    Empty,
    /// The pool holds twice its initial number of files, and none is added.
    Full,
}

impl ProgramPhase {
    /// The part of a pool's life that the phase runs; `None` for a phase of acts.
    #[must_use]
    pub fn pool_part(&self) -> Option<PoolPart> {
        self.groups.iter().find_map(|group| group.pool)
    }
}

impl Program {
    /// A program with all parts of a pool; with a time, the transactions end by it.
    #[must_use]
    pub fn of_pool(pool: FilePool, time_ns: Option<u64>) -> Self {
        let phase = |part: PoolPart| {
            ProgramPart::Phase(ProgramPhase {
                name: part.phase_name().to_owned(),
                time_ns: time_ns.filter(|_| part == PoolPart::Transact),
                groups: vec![Group {
                    name: "pool".to_owned(),
                    pool: Some(part),
                    ..Group::default()
                }],
                ..ProgramPhase::default()
            })
        };
        Self {
            parts: pool.parts().into_iter().map(phase).collect(),
            pool: Some(Box::new(pool)),
            ..Self::default()
        }
    }

    /// The bytes that the files of its pools take, of all workers together.
    pub(super) fn pool_bytes(&self) -> u64 {
        let Some(pool) = self.pool.as_ref().filter(|it| !it.is_in_targets()) else {
            return 0;
        };
        let users = self.groups().filter(|group| group.pool.is_some());
        let workers = users.map(Group::worker_count).max().unwrap_or(0);
        let bytes = pool.space_bytes(self.pool_time_ns().is_some());
        bytes.saturating_mul(workers.into())
    }

    /// Time in nanoseconds that ends the transactions of its pool; `None` if their number does.
    #[must_use]
    pub fn pool_time_ns(&self) -> Option<u64> {
        self.transactions_phase()?.time_ns
    }

    /// The phase that runs the transactions of its pool.
    #[must_use]
    pub fn transactions_phase(&self) -> Option<&ProgramPhase> {
        let mut phases = self.phases().into_iter();
        phases.find(|phase| phase.pool_part() == Some(PoolPart::Transact))
    }
}

/// Stores a directory's name as text; invalid bytes become replacement characters.
mod text {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(name: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(name))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        String::deserialize(deserializer).map(String::into_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(number: u32, transactions: u32) -> FilePool {
        FilePool {
            number,
            transactions,
            ..FilePool::default()
        }
    }

    #[test]
    fn a_pool_drifts_by_the_square_root_of_its_transactions() {
        let files = |number, transactions| pool(number, transactions).file_count_max(transactions);
        // The published run of 9999 files and 5000000 transactions had 10993 at its end.
        assert_eq!(files(9999, 5_000_000), 9999 + 6709);
        assert_eq!(files(500, 500), 500 + 68);
        assert_eq!(files(1000, 5_000_000), 2000);
    }

    #[test]
    fn a_bias_makes_a_pool_grow_shrink_or_stay() {
        let files = |create_bias| {
            let pool = FilePool {
                create_bias,
                ..pool(1000, 500)
            };
            pool.file_count_max(500)
        };
        assert_eq!(files(Some(10)), 1500);
        assert_eq!(files(Some(0)), 1000);
        assert_eq!(files(None), 1000);
    }

    #[test]
    fn a_pool_needs_at_most_the_space_of_its_largest_files() {
        let long = pool(9999, 5_000_000);
        assert_eq!(long.space_bytes(false), 16_708 * 12_288);
        // Few transactions append to few of many files.
        let many = pool(1_000_000, 500).space_bytes(false);
        assert!((9_346_000_000..9_400_000_000).contains(&many), "{many}");
        let fixed = FilePool {
            size_low_bytes: 100,
            size_high_bytes: 100,
            ..pool(10, 10)
        };
        assert_eq!(fixed.space_bytes(false), 20 * 4096);
    }

    #[test]
    fn the_file_count_scales_with_the_root_of_the_transactions() {
        let mut scaled = pool(20_000, 100_000);
        scaled.scaled(0.01, (100, 500));
        assert_eq!((scaled.number, scaled.transactions), (2000, 1000));
        scaled.scaled(0.0001, (100, 500));
        assert_eq!((scaled.number, scaled.transactions), (100, 500));
        let mut few = pool(50, 60);
        few.scaled(0.1, (100, 500));
        assert_eq!((few.number, few.transactions), (50, 60));
    }
}
