//! What a PostMark run is set to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Compat;
use plan::program::{FilePool, PoolLocation};

/// Files and transactions where none are written.
pub(crate) const COUNT_DEFAULT: u32 = 500;

/// The settings of a PostMark session; the default is what the program starts with.
///
/// Every number fits a 32-bit signed integer, as the commands let no other pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The version whose results and texts are wanted.
    pub compat: Compat,
    /// Files made before the transactions, at least 1; twice as many may exist at once.
    pub number: u32,
    /// Transactions, at least 1.
    pub transactions: u32,
    /// Smallest size of a new file in bytes, at least 1.
    pub size_low_bytes: u32,
    /// One byte more than the largest new file, and the size that appending stops at; not below
    /// `size_low_bytes`. Equal bounds make files of exactly that size.
    pub size_high_bytes: u32,
    /// Where files are made; none means the working directory.
    pub locations: Vec<PoolLocation>,
    /// Subdirectories in each location; fewer than two make none.
    pub subdirectories: u32,
    /// Bytes of one read, at least 1.
    pub read_block_bytes: u32,
    /// Bytes of one write, at least 1.
    pub write_block_bytes: u32,
    /// Whether files are read and written through a buffer as the C library does it.
    pub is_buffered: bool,
    /// Chance in tenths that a transaction reads and does not append; none does neither.
    pub read_bias: Option<u8>,
    /// Chance in tenths that a transaction creates and does not delete; none does neither.
    pub create_bias: Option<u8>,
    /// Seed of the random numbers, at least 1.
    pub seed: u32,
    /// The form of the report.
    pub report: ReportForm,
}

/// The forms of PostMark's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReportForm {
    /// A page of text.
    #[default]
    Verbose,
    /// One line of numbers.
    Terse,
}

impl Settings {
    /// The settings that a program of that version starts with.
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

    /// The pool that they stand for, in whose phases all is done as the program does it.
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

impl Default for Settings {
    fn default() -> Self {
        Self::new(Compat::default())
    }
}
