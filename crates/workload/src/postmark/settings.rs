//! What a PostMark run is set to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Compat;

/// The settings of a PostMark session; the default is what the program starts with.
///
/// Every number fits a 32-bit signed integer, as the commands let no other pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub locations: Vec<Location>,
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

/// A directory for files and its share of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    /// The directory as given, which need not be text nor exist; in records it is text.
    #[serde(with = "text")]
    #[schemars(with = "String")]
    pub directory: Vec<u8>,
    /// Its weight among all locations, at least 1.
    pub weight: u32,
}

impl Location {
    /// As a workload file has it: the name, and the weight behind it unless it is 1; what is not
    /// text is shown as such.
    #[must_use]
    pub fn text(&self) -> String {
        let name = String::from_utf8_lossy(&self.directory);
        // A blank in the name would be taken for the one before a weight.
        match self.weight {
            1 if !name.contains(' ') => name.into_owned(),
            weight => format!("{name} {weight}"),
        }
    }
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
            report: ReportForm::Verbose,
        }
    }

    /// The sum of the locations' weights.
    #[must_use]
    pub fn weight_sum(&self) -> u64 {
        let weights = self.locations.iter().map(|place| u64::from(place.weight));
        weights.sum()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::new(Compat::default())
    }
}

/// A directory's name as text; what is not text is shown as such.
mod text {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(name: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(name))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        String::deserialize(deserializer).map(String::into_bytes)
    }
}
