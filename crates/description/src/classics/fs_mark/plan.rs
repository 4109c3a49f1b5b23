//! fs_mark with all defaults filled in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SyncMethod;

/// fs_mark with all defaults filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FsMarkPlan {
    /// Number of threads; thread t works in directory `t % d` of d.
    pub thread_count: u32,
    /// Number of files of each thread in each iteration.
    pub file_count: u32,
    /// Size of each file in bytes.
    pub size_bytes: u64,
    /// Bytes per write.
    pub write_bytes: u32,
    /// How files are made durable.
    pub sync_method: SyncMethod,
    /// Distribution of files over subdirectories.
    pub subdirectories: Subdirectories,
    /// Length of a name in characters.
    pub name_length: u32,
    /// Number of random characters at the end of a name; if it exceeds the length, the name has
    /// only these.
    pub random_length: u32,
    /// Number of iterations, at least 1.
    pub iterations: u32,
    /// `true` if files are kept after their iteration.
    pub is_kept: bool,
    /// `true` if iterations repeat until the file system is full.
    pub until_full: bool,
    /// `true` if creating the directory is tried before every file.
    pub is_directory_made: bool,
}

/// Distribution of files over subdirectories, whose names are two or more hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Subdirectories {
    /// No subdirectories.
    None,
    /// A number of consecutive files in each in turn, starting with the one selected by the second
    /// of the clock.
    RoundRobin {
        /// Number of subdirectories.
        count: u32,
        /// Number of consecutive files; 0 puts all in the first one.
        each_count: u32,
    },
    /// All files of an iteration in the one selected by the second of the clock.
    ByTime {
        /// Number of subdirectories.
        count: u32,
    },
}

impl FsMarkPlan {
    /// Bytes that must be free in a thread's directory before its iteration.
    #[must_use]
    pub const fn iteration_bytes(&self) -> u64 {
        self.size_bytes.saturating_mul(self.file_count as u64)
    }

    /// Number of writes per file, at least 1.
    #[must_use]
    pub const fn writes_per_file(&self) -> u64 {
        let count = self.size_bytes.div_ceil(self.write_bytes as u64);
        // An empty file is written with one call of 0 bytes.
        if count == 0 { 1 } else { count }
    }
}
