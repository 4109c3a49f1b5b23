//! fs_mark with every value known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SyncMethod;

/// fs_mark with every value known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FsMarkPlan {
    /// Threads; thread t works in directory `t % d` of d.
    pub thread_count: u32,
    /// Files of each thread in each iteration.
    pub file_count: u32,
    /// Bytes of each file.
    pub size_bytes: u64,
    /// Bytes of one write.
    pub write_bytes: u32,
    /// How files are made durable.
    pub sync_method: SyncMethod,
    /// How files are spread.
    pub subdirectories: Subdirectories,
    /// Characters of a name.
    pub name_length: u32,
    /// Random characters at its end; if they are more than the name has, they are the name.
    pub random_length: u32,
    /// Iterations, at least 1.
    pub iterations: u32,
    /// Whether files outlive their iteration.
    pub is_kept: bool,
    /// Whether iterations go on until the file system is full.
    pub until_full: bool,
    /// Whether the directory is made before every file.
    pub is_directory_made: bool,
}

/// How files are spread over subdirectories, which are named by two or more hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Subdirectories {
    /// There are none.
    None,
    /// So many files into each in turn, beginning with that of the second of the clock.
    RoundRobin {
        /// How many there are.
        count: u32,
        /// Files in a row; 0 leaves all in the first.
        each_count: u32,
    },
    /// All files of an iteration into that of the second of the clock.
    ByTime {
        /// How many there are.
        count: u32,
    },
}

impl FsMarkPlan {
    /// Bytes that must be free in a thread's directory before its iteration.
    #[must_use]
    pub const fn iteration_bytes(&self) -> u64 {
        self.size_bytes.saturating_mul(self.file_count as u64)
    }

    /// Writes that each file takes.
    #[must_use]
    pub const fn writes_per_file(&self) -> u64 {
        let count = self.size_bytes.div_ceil(self.write_bytes as u64);
        if count == 0 { 1 } else { count }
    }
}
