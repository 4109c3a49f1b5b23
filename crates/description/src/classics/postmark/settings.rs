//! Settings of a PostMark session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Compat;
use plan::program::{FilePool, PoolLocation};

/// Default number of files and of transactions.
pub(crate) const COUNT_DEFAULT: u32 = 500;

/// Settings of a PostMark session; the default values are the original's at its start.
///
/// Every number fits a signed 32-bit integer; the original's commands accept no others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostmarkSettings {
    /// Version whose behavior and output are emulated.
    pub compat: Compat,
    /// Files created before the transactions, at least 1; twice as many may exist at the same time.
    pub number: u32,
    /// Number of transactions, at least 1.
    pub transactions: u32,
    /// Smallest size of a new file in bytes, at least 1.
    pub size_low_bytes: u32,
    /// Upper bound of the size of a new file, exclusive, and the size at which appending stops; not
    /// below `size_low_bytes`. Equal bounds make files of exactly that size.
    pub size_high_bytes: u32,
    /// Directories for the files; empty for the working directory.
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
    /// Form of the report.
    pub report: ReportForm,
}

/// Forms of PostMark's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReportForm {
    /// A page of text.
    #[default]
    Verbose,
    /// One line of numbers.
    Terse,
}

impl PostmarkSettings {
    /// Initial settings of that version.
    #[must_use]
    pub const fn new(compat: Compat) -> Self {
        Self {
            compat,
            number: COUNT_DEFAULT,
            transactions: COUNT_DEFAULT,
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
            report: ReportForm::Verbose,
        }
    }

    /// The pool for these settings; its phases do what the original does.
    #[must_use]
    pub fn pool(&self) -> FilePool {
        FilePool {
            number: self.number,
            transactions: self.transactions,
            size_low_bytes: self.size_low_bytes,
            size_high_bytes: self.size_high_bytes,
            locations: self.locations.clone(),
            subdirectories: self.subdirectories,
            read_block_bytes: self.read_block_bytes,
            write_block_bytes: self.write_block_bytes,
            is_buffered: self.is_buffered,
            read_bias: self.read_bias,
            create_bias: self.create_bias,
            seed: self.seed,
            draws: self.compat.draws(),
            ..FilePool::default()
        }
    }
}

impl Default for PostmarkSettings {
    fn default() -> Self {
        Self::new(Compat::default())
    }
}
