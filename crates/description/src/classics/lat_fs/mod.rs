//! lat_fs: number of files created and removed per second, as measured by lmbench.

mod program;
mod settings;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Span};

use super::error::ranged;
use super::{ClassicError, FileSync, Order};
use crate::model::OneOrMany;

pub use program::SAMPLE_PREFIX;

/// Maximum size of a write in version 3, in bytes.
const WRITE_BYTES_MAX: u64 = 128 << 10;
/// Maximum size of a file in version 1.6, in bytes.
const FILE_BYTES_MAX_1_6: u64 = 1 << 30;
const FILE_BYTES_MAX: u64 = 1 << 40;
const FILES_MAX: u32 = 100_000_000;
const SIZES: [u64; 4] = [0, 1024, 4096, 10_240];
const TABLE: &str = "lat_fs";
/// Default time for the passes of a size.
pub(crate) const BUDGET_DEFAULT: Span = Span::from_secs(5);

/// Minimum and maximum number of entries of a directory in version 3.
pub const ENTRIES_PER_DIRECTORY: (u32, u32) = (2, 1_000_000);
/// Minimum and maximum number of samples in version 3.
pub const REPETITIONS: (u32, u32) = (1, 10_000);
/// Default number of samples, of which lmbench 3 takes the median.
const SAMPLES_DEFAULT: u32 = 11;

/// Small files are created and removed repeatedly; the best or the median time counts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LatFs {
    /// Version of lmbench to follow: `1.6` creates and removes the same files in one directory and
    /// takes the best pass; `3` determines the number of files itself, creates a tree of
    /// directories and takes the median. Default: `1.6`.
    pub compat: Option<LatFsCompat>,
    /// Number of files of a pass, with `1.6` only, 1 to 100000000. Default: 1000.
    pub files: Option<u32>,
    /// Sizes of the files, each measured on its own. With `1.6`, a file is written with one call,
    /// but one above 64 MiB with several. Default: `0`, `1KiB`, `4KiB` and `10KiB`.
    pub sizes: Option<OneOrMany<Bytes>>,
    /// Time for the passes of a size, with `1.6` only. Default: 5 s.
    pub budget: Option<Span>,
    /// Order in which files are removed: `forward`, `reverse` or `random`. Default: `forward` with
    /// `1.6`, `reverse` with `3`, which creates in reverse as well.
    pub order: Option<Order>,
    /// How a file is made durable before it is closed: `none`, `fsync` or `fdatasync`. Default:
    /// `none`.
    pub sync: Option<FileSync>,
    /// Maximum number of entries of a directory, with `3` only, 2 to 1000000. Default: 100.
    pub files_per_directory: Option<u32>,
    /// Number of samples, of which the median counts, with `3` only, 1 to 10000. Default: 11.
    pub repetitions: Option<u32>,
    /// Minimum duration of a sample, with `3` only. Default: 50 ms.
    pub sample_time: Option<Span>,
}

/// Versions of lmbench that can be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub enum LatFsCompat {
    /// lmbench of 1995.
    #[default]
    #[serde(rename = "1.6")]
    V1_6,
    /// lmbench 3.
    #[serde(rename = "3")]
    V3,
}

/// lat_fs with all defaults filled in. Records of earlier versions contain it in this form.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LatFsPlan {
    /// Sizes in bytes, in the order in which they are measured.
    pub sizes_bytes: Vec<u64>,
    /// Order in which files are removed.
    pub order: Order,
    /// Sync before a new file is closed.
    pub sync: FileSync,
    /// Settings that depend on the version.
    pub form: LatFsForm,
}

/// Settings that depend on the version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "compat")]
pub enum LatFsForm {
    /// Version 1.6.
    Best {
        /// Number of files of a pass.
        file_count: u32,
        /// Time for the passes of a size, in nanoseconds.
        budget_ns: u64,
    },
    /// Version 3.
    Median {
        /// Maximum number of entries of a directory, at least 2.
        files_per_directory: u32,
        /// Number of samples, at least 1.
        repetitions: u32,
        /// Minimum duration of a sample, in nanoseconds.
        sample_ns: u64,
    },
}

impl LatFs {
    /// The table with its passes, or all samples together, lasting for this time, if there is one
    /// and the number of files does not limit the work.
    #[must_use]
    pub(crate) fn lasting(&self, time: Option<Span>) -> Self {
        let Some(time) = time.filter(|it| it.0 > 0) else {
            return self.clone();
        };
        let mut table = self.clone();
        match table.compat.unwrap_or_default() {
            LatFsCompat::V1_6 => table.budget = Some(time),
            LatFsCompat::V3 => {
                // lmbench 3 repeats samples of a minimum length, so they share the time.
                let samples = table.repetitions.unwrap_or(SAMPLES_DEFAULT).max(1);
                table.sample_time = Some(Span((time.0 / u64::from(samples)).max(1)));
            }
        }
        table
    }

    /// Merges this table with a base table, key by key; keys of this one take precedence.
    pub(crate) fn over(self, under: Self) -> Self {
        Self {
            compat: self.compat.or(under.compat),
            files: self.files.or(under.files),
            sizes: self.sizes.or(under.sizes),
            budget: self.budget.or(under.budget),
            order: self.order.or(under.order),
            sync: self.sync.or(under.sync),
            files_per_directory: self.files_per_directory.or(under.files_per_directory),
            repetitions: self.repetitions.or(under.repetitions),
            sample_time: self.sample_time.or(under.sample_time),
        }
    }

    /// The table with all defaults filled in.
    ///
    /// # Errors
    /// A number outside its range, an empty list of sizes, or a key of the other version.
    pub fn resolve(&self) -> Result<LatFsPlan, ClassicError> {
        let compat = self.compat.unwrap_or_default();
        let default_sizes = OneOrMany::Many(SIZES.map(Bytes).to_vec());
        let sizes = self.sizes.as_ref().unwrap_or(&default_sizes).as_slice();
        if sizes.is_empty() {
            return Err(ClassicError::Empty {
                table: TABLE,
                key: "sizes",
            });
        }
        let size_max = match compat {
            LatFsCompat::V1_6 => FILE_BYTES_MAX_1_6,
            LatFsCompat::V3 => FILE_BYTES_MAX,
        };
        let size = |size: &Bytes| ranged((TABLE, "sizes"), Some(size.0), 0, (0, size_max));
        let default_order = match compat {
            LatFsCompat::V1_6 => Order::Forward,
            LatFsCompat::V3 => Order::Reverse,
        };
        Ok(LatFsPlan {
            sizes_bytes: sizes.iter().map(size).collect::<Result<_, _>>()?,
            order: self.order.unwrap_or(default_order),
            sync: self.sync.unwrap_or_default(),
            form: match compat {
                LatFsCompat::V1_6 => self.best()?,
                LatFsCompat::V3 => self.median()?,
            },
        })
    }

    fn best(&self) -> Result<LatFsForm, ClassicError> {
        let inapplicable = [
            (self.files_per_directory.is_some(), "files_per_directory"),
            (self.repetitions.is_some(), "repetitions"),
            (self.sample_time.is_some(), "sample_time"),
        ];
        refuse_foreign(&inapplicable, "compat = \"3\"")?;
        Ok(LatFsForm::Best {
            file_count: ranged((TABLE, "files"), self.files, 1000, (1, FILES_MAX))?,
            budget_ns: self.budget.unwrap_or(BUDGET_DEFAULT).0,
        })
    }

    fn median(&self) -> Result<LatFsForm, ClassicError> {
        let inapplicable = [
            (self.files.is_some(), "files"),
            (self.budget.is_some(), "budget"),
        ];
        refuse_foreign(&inapplicable, "compat = \"1.6\"")?;
        let key = (TABLE, "files_per_directory");
        Ok(LatFsForm::Median {
            files_per_directory: ranged(key, self.files_per_directory, 100, ENTRIES_PER_DIRECTORY)?,
            repetitions: ranged(
                (TABLE, "repetitions"),
                self.repetitions,
                SAMPLES_DEFAULT,
                REPETITIONS,
            )?,
            sample_ns: self.sample_time.unwrap_or(Span::from_millis(50)).0,
        })
    }
}

fn refuse_foreign(keys: &[(bool, &'static str)], other: &'static str) -> Result<(), ClassicError> {
    match keys.iter().find(|(is_written, _)| *is_written) {
        Some((_, key)) => Err(ClassicError::Needs {
            table: TABLE,
            key,
            other,
        }),
        None => Ok(()),
    }
}
